"""What the page says of a run's checkpoints: which can be resumed from, and how a script without an option resumes."""

import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import expect

from dsgui.core.launch.plan import StartedBy
from dsgui.core.launch.state import Identity, RunState
from dsgui.shell.afterwards.worker_files import WEIGHTS_WORKER
from dsgui.shell.runs.store import Store
from tests.answers.remembered import BROWSER
from tests.runs.test_archive import NATIVE, save_states
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]
WITHOUT_OPTION = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--save_dir")
    args = parser.parse_args()
    engine = None
    engine.save_checkpoint(args.save_dir)
"""


def run_of(runs_dir, folder, source):
    """A run of this script that saved two checkpoints, the second one cut short."""
    folder.mkdir()
    (folder / "train.py").write_text(dedent(source))
    run_id = make_run(runs_dir, Made(steps=20))
    directory = Store(runs_dir).open(run_id)
    plan = replace(
        directory.read_plan(),
        script=str(folder / "train.py"),
        working_directory=str(folder),
        arguments=("--save_dir", "saved"),
    )
    directory.write_plan(plan, None)
    save_states(folder / "saved/global_step10", ranks=2)
    save_states(folder / "saved/global_step20", ranks=2, missing=1)
    return run_id


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def ids(folder):
    runs_dir = folder / "runs"
    sources = {"with": NATIVE, "without": WITHOUT_OPTION}
    return {name: run_of(runs_dir, folder / name, source) for name, source in sources.items()}


@pytest.fixture(scope="module")
def app(folder, ids):
    with running_app(folder / "runs") as app:
        yield app


def test_a_native_script_is_resumed_by_its_own_options_and_not_from_half_a_checkpoint(page, app, ids, folder):
    page.goto(f"{app.url}?run={ids['with']}")
    expect(page.locator("#checkpoint")).to_have_value(f"{folder}/with/saved/global_step10")
    expect(page.locator("#checkpoint option:disabled")).to_have_text("global_step20 (incomplete)")
    expect(page.locator(".ds-resume-note")).to_be_hidden()
    page.click("#resume-run")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#loaded-run")).to_contain_text("Cloned from")
    expect(page.locator("#command")).to_contain_text(f"--load_dir {folder}/with/saved --ckpt_id global_step10")


def test_a_lost_run_has_a_card_as_a_failed_one_with_what_is_known_and_its_checkpoint_to_resume_from(page, app, folder):
    runs_dir = folder / "runs"
    directory = Store(runs_dir).open(run_of(runs_dir, folder / "lost", NATIVE))
    gone, status = Identity(os.getpid(), 1, "another boot"), directory.read_status()
    directory.output_file.write_text("loading\nstep 19\nstep 20\n")
    running = replace(status, state=RunState.RUNNING, supervisor=gone, process=gone, ended_at=None, lasted_s=None)
    directory.write_status(running)
    with page.expect_response(re.compile("/judged$")) as judged:  # what the checks before a start say of it
        page.goto(f"{app.url}?run={directory.run_id}")
    assert judged.value.json()["diagnosis"]["signature"] == "lost"  # and it takes nothing away
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("lost")
    card = page.locator(".ds-diagnosis")
    expect(card.locator("h3")).to_have_text("The machine was restarted, or this run is from another machine")
    expect(page.locator(".ds-reason")).to_be_hidden()
    expect(card.locator("dl > div")).to_have_text(
        [
            "Last recordedstep 20 of 20",
            re.compile(r"Recorded for\d+s"),
            f"Newest complete checkpoint{folder}/lost/saved/global_step10",
            f"Output{directory.output_file}",
        ]
    )
    expect(card.locator("pre")).to_have_text("loading\nstep 19\nstep 20")
    expect(card.get_by_role("button")).to_have_text(["Resume from global_step10", "See the output"])
    expect(page.locator(".ds-output")).not_to_have_attribute("open", "")  # its end is told already
    expect(page.locator(".ds-run-head #clone-run")).to_be_visible()  # where it is of every run
    expect(page.locator("#checkpoint")).to_have_count(0)  # the one that can be resumed from is offered already
    expect(page.get_by_role("button", name="Clone and edit")).to_have_count(1)
    page.click("#see-output")
    expect(page.locator(".ds-output .ds-log mark")).to_have_text("step 20")
    page.click("#resume-lost")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#command")).to_contain_text(f"--load_dir {folder}/lost/saved --ckpt_id global_step10")


def test_a_lost_job_leads_to_its_output_though_there_is_nothing_else_to_do(page, app, folder):
    runs_dir = folder / "runs"
    directory = Store(runs_dir).open(make_run(runs_dir, Made(steps=1)))
    directory.write_plan(replace(directory.read_plan(), started_by=StartedBy.PYTHON), None)
    directory.output_file.write_text("converting\n")
    gone = Identity(os.getpid(), 1, "another boot")
    status = replace(directory.read_status(), state=RunState.RUNNING, supervisor=gone, process=gone, ended_at=None)
    directory.write_status(status)
    page.goto(f"{app.url}?run={directory.run_id}")
    card = page.locator(".ds-diagnosis")
    expect(card.locator("pre")).to_have_text("converting")
    expect(card.get_by_role("button")).to_have_text(["See the output"])
    page.click("#see-output")
    expect(page.locator(".ds-output .ds-log mark")).to_have_text("converting")


def test_a_run_with_a_damaged_plan_tells_the_file_what_is_left_and_what_to_do(page, app, folder):
    runs_dir = folder / "runs"
    directory = Store(runs_dir).open(make_run(runs_dir, Made(steps=20)))
    directory.plan_file.write_text('{"name": "cut')
    page.goto(f"{app.url}?run={directory.run_id}")
    card = page.locator(".ds-diagnosis")
    expect(card.locator("h3")).to_have_text("plan.json is damaged")
    expect(card).to_contain_text("Restore plan.json from a backup or another copy of this folder")
    expect(card.locator("dl > div")).to_have_text(
        [
            "Statesucceeded",
            re.compile("^Command.*deepspeed.launcher.runner"),
            "Still readablestate.json, points.bin, ds_config.json, samples-0.bin",
            f"Folder{directory.path}",
        ]
    )
    expect(page.locator(".ds-problem")).to_be_hidden()  # the card says it
    expect(page.locator("#report-run, #clone-run")).to_have_count(0)  # none can be had of it
    expect(page.locator("#delete-run")).to_be_visible()
    card.get_by_text("ds_config.json as launched").click()
    expect(card.locator("details pre")).to_have_text(directory.read_config())
    with page.expect_download() as saved:
        page.click("#save-config")
    assert Path(saved.value.path()).read_text() == directory.read_config()
    page.click("#open-config")
    expect(page.get_by_role("tab", name="1 · Configure")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#config-json .cm-content")).to_have_text(directory.read_config())


def test_of_a_damaged_run_a_config_that_is_none_is_kept_and_not_opened(page, app, folder):
    directory = Store(folder / "runs").open(make_run(folder / "runs", Made(steps=20)))
    directory.plan_file.write_text("{")
    directory.config_file.write_text('{"bf16": ')
    page.goto(f"{app.url}?run={directory.run_id}")
    expect(page.locator("#save-config")).to_be_visible()
    expect(page.locator("#open-config")).to_have_count(0)


def test_on_a_phone_what_can_be_done_with_a_run_takes_two_rows(page, app, ids):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{app.url}?run={ids['with']}")
    expect(page.locator("#delete-run")).to_be_visible()
    acts = page.locator(".ds-run-head .ds-actions .ds-step").all()
    assert len(acts) == 6  # with the checkpoint's name
    boxes = sorted((one.bounding_box() for one in acts), key=lambda box: box["y"])
    assert max(box["x"] + box["width"] for box in boxes) <= 390
    rows = 1 + sum(after["y"] - before["y"] > 12 for before, after in pairwise(boxes))
    assert rows == 2, [(box["x"], box["y"], box["width"]) for box in boxes]


def test_a_script_without_an_option_is_told_how_to_resume_and_what_is_left_after_training(page, app, ids, folder):
    page.goto(f"{app.url}?run={ids['without']}")
    note = page.locator(".ds-after .ds-resume-note")  # not before the charts
    expect(note).to_contain_text("It saved global_step10, but the script has no option to resume.")
    expect(note).to_contain_text(f'model_engine.load_checkpoint("{folder}/without/saved")')
    expect(page.locator("#clone-run")).to_be_visible()
    expect(page.locator("#resume-run")).to_have_count(0)
    after = page.locator(".ds-after")
    after.locator("> summary").click()
    expect(after.locator("tr[data-name=global_step10] [data-verb]")).to_have_text(["Weights…", "Universal…"])
    expect(after.locator("tr[data-name=global_step20] [data-verb]")).to_have_count(0)
    after.locator("tr[data-name=global_step10] [data-verb=consolidate]").click()
    expect(page.locator("#after-to")).to_have_value(f"{folder}/without/saved/weights-10-fp32")
    page.select_option("#after-dtype", "bf16")
    expect(page.locator("#after-to")).to_have_value(f"{folder}/without/saved/weights-10-bf16")
    expect(page.locator("#after-start")).to_be_enabled()
    page.fill("#after-to", "/elsewhere")
    expect(after.locator("[role=status]")).to_contain_text("outside the folders")
    expect(page.locator("#after-start")).to_be_disabled()
    page.click("#after-clean")
    expect(after.locator(".ds-after-old li")).to_have_text(
        [re.compile("global_step20 .* will be deleted"), re.compile("global_step10 .* kept: newest")]
    )
    page.click("#after-delete")
    expect(after.locator("tr[data-name]")).to_have_count(1)
    assert [one.name for one in (folder / "without/saved").iterdir() if one.is_dir()] == ["global_step10"]


def test_what_a_killed_job_left_is_named_and_deleted(page, app, ids, folder):
    """Its end was written by nobody; the run it was for lists it."""
    runs_dir = folder / "runs"
    job = Store(runs_dir).open(make_run(runs_dir, Made(steps=1)))
    to = folder / "with/saved/weights-10-fp32"
    asked = {"script": str(WEIGHTS_WORKER), "arguments": ("consolidate", f"--to={to}"), "started_by": StartedBy.PYTHON}
    job.write_plan(replace(job.read_plan(), parent=ids["with"], **asked), None)
    part = to.with_name(".weights-10-fp32.part")
    part.mkdir(exist_ok=True)
    (part / "model.safetensors").write_bytes(b"1" * 2000)
    page.goto(f"{app.url}?run={ids['with']}")
    page.locator(".ds-after > summary").click()
    row = page.locator("tr[data-name='.weights-10-fp32.part']")
    expect(row).to_contain_text("2.0 KB")
    row.get_by_role("button").click()
    page.get_by_role("button", name="Delete, freeing 2.0 KB").click()
    expect(row).to_have_count(0)
    assert not part.exists()
