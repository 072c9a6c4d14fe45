"""“Try it” on a run's page: the trained model's answer beside its base's, as text, and the process's end."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dsgui.shell.processes.processes import descendants, snapshot
from dsgui.shell.runs.store import Store
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import wait_until
from tests.support.tiny_models import make_models

pytestmark = [pytest.mark.browser, pytest.mark.deepspeed]
LOADS_MS = 120_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trying")


@pytest.fixture(scope="module")
def run_id(folder):
    make_models(folder, "gpt2", "base")
    made = make_run(folder / "runs", Made(steps=20))
    directory = Store(folder / "runs").open(made)
    arguments = ("--output_dir", "gpt2", "--model", "base", "--source_prefix", "the ")
    plan = replace(directory.read_plan(), working_directory=str(folder), arguments=arguments)
    directory.write_plan(plan, None)
    for path in (folder / "gpt2").iterdir():
        os.utime(path, (2e9, 2e9))  # written by the run
    return made


@pytest.fixture(scope="module")
def app(folder, run_id):
    with running_app(folder / "runs") as app:
        yield app


def workers(app):
    """The app's processes that hold a model."""
    return [pid for pid in descendants([app.process.pid], snapshot()) if b"try_worker.py" in commands(pid)]


def commands(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.complete  # without a page: tests/runs/afterwards/test_trying.py
def test_a_trained_model_answers_beside_its_base_and_goes(page, app, run_id):
    page.goto(f"{app.url}?run={run_id}")
    page.locator(".ds-after > summary").click()
    page.locator(".ds-after [data-verb=try]").first.click()
    expect(page.locator(".ds-try")).to_contain_text("of memory")
    expect(page.locator("#try-template")).to_have_value("the {prompt}")
    page.click("#try-go")
    expect(page.locator("body")).to_contain_text("nothing was entered")
    page.fill("#try-prompt", "<img src=x onerror=alert(1)> cat")
    page.fill("#try-tokens", "8")
    page.click("#try-go")
    expect(page.locator("[data-of=base] pre")).not_to_be_empty(timeout=LOADS_MS)
    expect(page.locator("[data-of=trained] .ds-remark")).to_contain_text("tokens in")
    assert page.locator(".ds-try img").count() == 0
    expect(page.locator(".ds-try [role=status]")).to_contain_text("float32 on cpu")
    assert len(workers(app)) == 1
    page.click("#try-end")
    wait_until(lambda: not workers(app))
    page.click("#try-go")
    wait_until(lambda: workers(app))
    page.goto(f"{app.url}dsgui/schema.json")
    wait_until(lambda: not workers(app))
