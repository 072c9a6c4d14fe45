"""The wall clock is set by an hour, in mid-run: what dsgui counts, orders and waits for does not notice.

A real server and real supervisors, all of them reading a clock that the test moves (`moved_clock.py`).
"""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from tests.answers.remembered import SERVER
from tests.runs.test_queue import UNTIL_TOLD
from tests.support.app_server import ROOT, App, running_app
from tests.support.curves_json import sampled
from tests.support.moved_clock import MovedClock, compiler
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

__all__ = ["bench"]

pytestmark = [
    pytest.mark.skipif(compiler() is None, reason="no C compiler here: the clock can't be moved"),
    pytest.mark.remembered(*SERVER),
]

HOUR = 3600
# Logs a step every tenth of a second out of a known number, and does not end when asked to.
STUBBORN_TRAINING = """
    import signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for step in range(1, 601):
        print(f"step={step}/600 loss={1 / step}")
        time.sleep(0.1)
"""
READ_CLOCK = "import time; print(time.time(), time.monotonic())"


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MovedClock:
    """What this test starts from here on reads it; this process does not."""
    clock = MovedClock(tmp_path)
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    return clock


@pytest.fixture
def server(bench: Bench, clock: MovedClock) -> Iterator[App]:
    with running_app(bench.store.runs_dir) as app:
        yield app


def seen(server: App, run_id: str) -> dict[str, Any]:
    """The run as the page is told."""
    found: dict[str, Any] = json.load(server.get(f"dsgui/runs/{run_id}"))
    return found


def listed(server: App, run_id: str) -> dict[str, Any]:
    return next(run for run in json.load(server.get("dsgui/runs"))["rows"] if run["run_id"] == run_id)


def read_clocks() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", READ_CLOCK], capture_output=True, text=True, check=True)
    wall, monotonic = done.stdout.split()
    return float(wall), float(monotonic)


@pytest.mark.parametrize("hours", [1, -1])
def test_the_shim_moves_the_wall_clock_alone(clock: MovedClock, hours: int) -> None:
    clock.move(hours * HOUR)
    wall, monotonic = read_clocks()
    assert abs(wall - time.time() - hours * HOUR) < 60
    assert abs(monotonic - time.monotonic()) < 60


@pytest.mark.parametrize("hours", [1, -1], ids=["forward", "back"])
def test_a_clock_set_by_an_hour_in_mid_run_changes_no_length(
    bench: Bench, clock: MovedClock, server: App, hours: int
) -> None:
    began = time.monotonic()
    run_id = bench.start(STUBBORN_TRAINING)
    wait_until(lambda: len(sampled(seen(server, run_id)["curves"])) >= 2)
    clock.move(hours * HOUR)
    at_the_move = len(sampled(seen(server, run_id)["curves"]))
    wait_until(lambda: len(sampled(seen(server, run_id)["curves"])) >= at_the_move + 3)

    now = seen(server, run_id)
    assert now["state"] == "running"
    assert 0 < now["elapsed_s"] < time.monotonic() - began
    assert 0 < listed(server, run_id)["duration_s"] < time.monotonic() - began
    assert 0 < now["progress"]["eta_s"] < 600
    elapsed = [sample["elapsed_s"] for sample in sampled(now["curves"])]
    assert all(0 <= later - earlier < 30 for earlier, later in itertools.pairwise(elapsed))
    (date,) = (curve for curve in bench.runs.curves(run_id) if curve.series.name == "time_s")
    dates = date.value.tolist()
    assert max(abs(later - earlier) for earlier, later in itertools.pairwise(dates)) > HOUR / 2

    bench.runs.stop(run_id)
    wait_until(lambda: seen(server, run_id)["state"] == "stopped")
    ended = seen(server, run_id)
    assert now["elapsed_s"] < ended["elapsed_s"] < time.monotonic() - began
    assert listed(server, run_id)["duration_s"] == ended["elapsed_s"]


@pytest.mark.parametrize("hours", [1, -1], ids=["forward", "back"])
def test_a_countdown_goes_on_as_it_began(bench: Bench, clock: MovedClock, server: App, hours: int) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=600))
    run_id = bench.start(STUBBORN_TRAINING)
    bench.wait_for_output(run_id, "step=1")
    asked = time.monotonic()
    bench.runs.stop(run_id)
    wait_until(lambda: seen(server, run_id)["state"] == "stopping")
    clock.move(hours * HOUR)
    left_s, waited_s = seen(server, run_id)["kill_in_s"], time.monotonic() - asked
    assert 600 - waited_s - 1 < left_s <= 600
    assert seen(server, run_id)["state"] == "stopping"
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED


def launch(bench: Bench, name: str) -> tuple[str, Path]:
    """By a process of its own, which reads the moved clock; the run ends when the returned file appears."""
    script, told = bench.script(UNTIL_TOLD, "until told.py"), bench.folder / f"{name} may end"
    config = bench.folder / "config.json"
    config.write_text(CONFIG, encoding="utf-8")
    where = ("--runs-dir", bench.store.runs_dir, "--python", bench.python, "--config", config, "--when-busy", "wait")
    command = [sys.executable, "-m", "dsgui", "launch", *where, "--name", name, "--although", script, told]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip(), told


def test_the_queue_keeps_its_order_when_the_clock_is_set_back(bench: Bench, clock: MovedClock) -> None:
    first, first_may_end = launch(bench, "first")
    bench.wait_for_output(first, "on")
    second, second_may_end = launch(bench, "second")
    wait_until(lambda: first in bench.runs.follow(second, Cursor()).reason)
    clock.move(-HOUR)
    third, third_may_end = launch(bench, "third")
    assert third < second  # a run id is a date
    # The shim does not reach the kernel, which dates files.
    early = bench.store.open(second).plan_file.stat().st_mtime - HOUR
    os.utime(bench.store.open(third).plan_file, (early, early))
    wait_until(lambda: second in bench.runs.follow(third, Cursor()).reason)
    assert [run.name for run in bench.runs.list()] == ["second", "first", "third"]  # the list is by date
    first_may_end.touch()
    bench.wait_for_output(second, "on")
    assert bench.runs.summary(third).state is RunState.QUEUED
    second_may_end.touch()
    third_may_end.touch()
    assert bench.ended(third).state is RunState.SUCCEEDED


@pytest.mark.parametrize(("hours", "kept"), [(-1, "clock_back_s"), (1, "clock_ahead_s")], ids=["back", "ahead"])
def test_a_run_remembers_how_far_the_clock_was_set(bench: Bench, clock: MovedClock, hours: int, kept: str) -> None:
    run_id = bench.start(STUBBORN_TRAINING)
    wait_until(lambda: len(sampled(bench.runs.follow(run_id, Cursor()).curves)) >= 1)
    clock.move(hours * HOUR)

    def noticed() -> bool:
        status = bench.store.open(run_id).read_status()
        return status is not None and abs(getattr(status, kept) - HOUR) < 60

    wait_until(noticed)
