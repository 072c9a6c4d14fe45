"""A run resumed in a browser, from a checkpoint that the bundled recipe wrote under the real DeepSpeed."""

import json

import pytest
from playwright.sync_api import expect

from tests.support.curves_json import logged

pytestmark = pytest.mark.browser

COMPILES_MS = 480_000
SHORT = "--max_steps {steps} --logging_steps 1 --save_strategy steps --save_steps 4 --eval_strategy no"


def state(page):
    return page.locator(".ds-run-head .ds-state")


def press_launch(page):
    """Waits for the page of the new run; returns its id."""
    before = page.url
    expect(page.locator("#launch")).to_be_enabled()
    page.click("#launch")
    page.wait_for_url(lambda url: "run=" in url and url != before)
    return page.url.split("run=")[1]


def about(app, run_id):
    return json.load(app.get(f"dsgui/runs/{run_id}/about"))


def steps_of(app, run_id):
    run = json.load(app.get(f"dsgui/runs/{run_id}"))
    points = [point for point in logged(run["curves"]) if point["kind"] == "train" and point["source"] == "output"]
    return [point["step"] for point in points if "loss" in point["values"]]


# Cheaper: what the page does, test_browser_checkpoints.py; other ranks, tests/runs/test_archive.py::test_a_launch_that
# resumes…; a trainer that goes on, tests/real_deepspeed/test_real_resume.py::test_a_trainer_run_goes_on….
@pytest.mark.complete
@pytest.mark.deepspeed
def test_a_run_is_resumed_from_the_checkpoint_that_the_recipe_wrote(page, app):
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#command")).to_contain_text("translation.py")
    page.get_by_label("Arguments for the script").fill(SHORT.format(steps=8))
    expect(page.locator("#command")).to_contain_text("--save_steps 4")
    first = press_launch(page)
    expect(state(page)).to_have_text("succeeded", timeout=COMPILES_MS)
    found = about(app, first)["checkpoints"]
    assert [(one["name"], one["shards"], one["complete"], one["problem"]) for one in found] == [
        ("checkpoint-8", 2, True, ""),
        ("checkpoint-4", 2, True, ""),
    ]
    # The name is whole above a row of all that can be done with the run.
    name = page.locator(".ds-run-title")
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth")
    ends = [page.locator(one).bounding_box() for one in ("#resume-run", "#delete-run")]
    assert abs(ends[0]["y"] - ends[1]["y"]) < ends[0]["height"] / 2
    page.select_option("#checkpoint", label="checkpoint-4")
    page.click("#resume-run")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#loaded-run")).to_contain_text("Cloned from")
    expect(page.locator("#command")).to_contain_text("--resume_from_checkpoint")
    expect(page.locator("#command")).to_contain_text("checkpoint-4")
    page.fill("#ranks input", "1")
    verdict = page.locator("#preflight")
    expect(verdict).to_contain_text("checkpoint-4 was saved with 2 ranks, but this run would use 1")
    expect(page.locator("#launch")).to_be_disabled()
    page.fill("#ranks input", "2")
    expect(verdict).not_to_contain_text("was saved by")
    second = press_launch(page)
    assert second != first
    expect(state(page)).to_have_text("succeeded", timeout=COMPILES_MS)
    assert steps_of(app, first) == list(range(1, 9))
    assert steps_of(app, second) == [5, 6, 7, 8]
