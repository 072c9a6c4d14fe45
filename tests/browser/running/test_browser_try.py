"""“Try it” on a run's page: the trained model's answer beside its base's, as text, and the process's end. Without a
model: what the real process answers, tests/runs/afterwards/test_trying.py asks."""

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import expect

from dsgui.shell.processes.processes import descendants, snapshot
from dsgui.shell.runs.store import Store
from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

# As try_worker.py answers; both models say what they were asked.
WORKER = """
    import json, sys
    say = lambda **told: print(json.dumps(told), flush=True)
    sys.stdin.readline()
    say(phase="loading")
    say(loaded={"device": "cpu", "dtype": "float32", "parameters": "1", "seconds": "0"})
    for line in sys.stdin:
        asked = json.loads(line)["prompt"]
        told = {"tokens": 3, "seconds": 0.1, "stopped": ""}
        say(answers={of: {"text": f"{of}: {asked}", **told} for of in ("trained", "base")})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trying")


@pytest.fixture(scope="module")
def run_id(folder):
    made = make_run(folder / "runs", Made(steps=20))
    directory = Store(folder / "runs").open(made)
    arguments = ("--output_dir", "trained", "--model", "base", "--source_prefix", "the ")
    plan = replace(directory.read_plan(), working_directory=str(folder), arguments=arguments)
    directory.write_plan(replace(plan, target_python=str(python_in(folder))), None)
    for name in ("trained", "base"):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text("{}")
        (folder / name / "model.safetensors").write_text("x" * 1000)
    for path in (folder / "trained").iterdir():
        os.utime(path, (2e9, 2e9))  # written by the run
    return made


def python_in(folder):
    """An interpreter that is this one but for the process that holds a model."""
    (folder / "worker.py").write_text(dedent(WORKER))
    python, worker = shlex.quote(sys.executable), shlex.quote(str(folder / "worker.py"))
    text = f'#!/bin/sh\ncase "$1" in */try_worker.py) exec {python} {worker} "$1";; esac\nexec {python} "$@"\n'
    (folder / "python").write_text(text)
    (folder / "python").chmod(0o755)
    return folder / "python"


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


def test_a_trained_model_answers_beside_its_base_and_goes(page, app, run_id):
    page.goto(f"{app.url}?run={run_id}")
    page.locator(".ds-after > summary").click()
    page.locator(".ds-after [data-verb=try]").first.click()
    expect(page.locator(".ds-try")).to_contain_text("of memory")
    expect(page.locator("#try-template")).to_have_value("the {prompt}")
    page.click("#try-go")
    expect(page.locator("body")).to_contain_text("enter the text for the model to continue")
    asked = "<img src=x onerror=alert(1)> cat"
    page.fill("#try-prompt", asked)
    page.fill("#try-tokens", "8")
    page.click("#try-go")
    for of in ("base", "trained"):
        expect(page.locator(f"[data-of={of}] pre")).to_have_text(f"{of}: the {asked}")
    expect(page.locator("[data-of=trained] .ds-remark")).to_contain_text("tokens in")
    assert page.locator(".ds-try img").count() == 0
    expect(page.locator(".ds-try [role=status]")).to_contain_text("float32 on cpu")
    assert len(workers(app)) == 1
    page.click("#try-end")
    wait_until(lambda: not workers(app))
    page.click("#try-go")
    wait_until(lambda: workers(app))
    page.close()
    wait_until(lambda: not workers(app))
