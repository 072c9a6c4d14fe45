"""One more place where a run can train is a class on each floor and a line in each `where.py`: all else follows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.launch.state import RunState
from tests.answers.remembered import SERVER
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

__all__ = ["bench"]

pytestmark = pytest.mark.remembered(*SERVER, "tests/runs/boxed.py")

ROOT = Path(__file__).parents[2]
TRAIN = """
    import os, time
    print("trains in", os.environ["BOX"], os.path.exists(os.environ["LID"]), flush=True)
    time.sleep(600)
"""
PANEL = """
import json
import gradio as gr
from types import SimpleNamespace
from dsgui.ui.launch.desk import build_desk
target = SimpleNamespace(gpus=())
services = SimpleNamespace(target=lambda: target, recipes={"translation": "t.py"}, gpu_use=lambda: ())
with gr.Blocks() as page:
    desk = build_desk(services, 1, {})
(shows,) = (one for one in page.fns.values() if one.targets == [(desk["where"]._id, "change")])
visible = [update.visible for update in shows.fn("box")[:len(desk["where"].choices)]]
print(desk["where"].choices[-1][0], desk["box"].label, desk.asks[-1].button.value, visible, sep=" | ")
print("changes", desk["when_busy"] in shows.outputs, [id for id, *_ in json.loads(desk["when_busy"].props["options"])])
"""


class Boxed:
    """dsgui's command line, with a Python that knows boxes."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._python = bench, bench.folder / "boxed-python"
        boxed = f'#!/bin/sh\nBOXED_PYTHON="$0" exec "{sys.executable}" "{ROOT}/tests/runs/boxed.py" "$@"\n'
        self._python.write_text(boxed, encoding="utf-8")
        self._python.chmod(0o755)
        self._config = bench.folder / "ds_config.json"
        self._config.write_text(CONFIG, encoding="utf-8")

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
        return subprocess.run(
            [self._python, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    def dsgui(self, verb: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return self.run("-m", "dsgui", verb, "--runs-dir", str(self._bench.store.runs_dir), *words, **more)

    def launch(self, colour: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        script, python = str(self._bench.script(TRAIN)), str(self._bench.python)
        given = ("--box", colour, "--config", str(self._config), "--python", python, *words, script)
        return self.dsgui("launch", "--reader", "none", "--although", *given, **more)


@pytest.fixture
def boxed(bench: Bench) -> Boxed:
    return Boxed(bench)


def test_a_run_in_a_box_is_previewed_started_followed_and_stopped(bench: Bench, boxed: Boxed) -> None:
    assert " env BOX=red " in boxed.launch("red", "--dry-run").stdout
    assert bench.runs.list() == []
    run_id = boxed.launch("red").stdout.strip()
    directory = bench.store.open(run_id)
    bench.wait_for_output(run_id, "trains in red True")
    told = json.loads(directory.plan_file.read_text("utf-8"))
    assert (told["box"], told["machines"], told["slurm"]) == ({"colour": "red"}, None, None)
    assert (directory.path / "box.txt").read_text("utf-8") == "red"
    (listed,) = json.loads(boxed.dsgui("runs", "--format", "json").stdout)
    assert listed["devices"] == "the red box"
    refused = boxed.launch("red", "--when-busy", "refuse")
    assert "in use by" in refused.stderr, refused
    other = boxed.launch("blue", "--when-busy", "refuse").stdout.strip()  # it is not in the way
    for one in (run_id, other):
        assert boxed.dsgui("stop", one).returncode == 0
    assert bench.ended(run_id).state is RunState.FOREIGN  # here nobody knows boxes
    told = boxed.dsgui("logs", "--follow", run_id).stderr
    assert f"{run_id}: stopped." in told
    assert "here or on the red box" in told
    assert not (directory.path / "lid").exists()
    wait_until(lambda: not bench.runs.summary(other).state.live)


def test_what_a_box_can_t_take_is_said_before_anything_is_written(bench: Bench, boxed: Boxed) -> None:
    assert "“r3d” is no colour" in boxed.launch("r3d").stderr
    assert "there is none on this machine" in boxed.launch("red", NO_BOXES="1").stderr
    assert "options of “Slurm” and “A box”" in boxed.launch("red", "--slurm-nodes", "1").stderr
    assert bench.runs.list() == []


def test_the_page_has_its_panel(boxed: Boxed) -> None:
    told = boxed.run("-c", PANEL)
    assert "A box | Colour of the box | Check box | [False, False, False, True]\n" in told.stdout, told
    # A clone says “refuse”: it still does at another place. Nothing said is what is usual there.
    assert "changes False ['', 'wait', 'start', 'refuse']\n" in told.stdout
