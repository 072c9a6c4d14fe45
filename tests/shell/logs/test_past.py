"""A user's own pattern reads the lines printed before it was added, and those that come after, in their order."""

import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.errors import PatternError, RunError
from dsgui.core.launch.state import RunState
from dsgui.core.logs.patterns import MOST_PATTERNS
from dsgui.core.runs.news import Cursor
from dsgui.runs.inspection import Inspection
from tests.support.curves_json import logged
from tests.support.run_fixtures import Bench, bench, wait_until

__all__ = ["bench"]

TEMPLATE = "it {step} : quality={quality}"
GOES_ON = """
    import pathlib, time
    for step in range(1, 6000):
        print(f"it {step} : quality={step / 10}")
    while not pathlib.Path("go").exists():
        time.sleep(0.05)
    for step in range(6000, 6005):
        print(f"it {step} : quality={step / 10}")
    time.sleep(600)
"""


def quality(bench: Bench, run_id: str) -> list[int]:
    curve = next((one for one in bench.runs.curves(run_id) if one.series.name == "quality"), None)
    return [] if curve is None else [int(step) for step in curve.step]


def test_a_pattern_added_in_mid_run_finds_what_was_printed_and_what_is_printed_later(bench: Bench) -> None:
    run_id = bench.start(GOES_ON)
    bench.wait_for_output(run_id, "it 5999 ")
    Inspection(bench.store, bench.runs).add_pattern(run_id, TEMPLATE)
    wait_until(lambda: len(quality(bench, run_id)) == 5999)
    (bench.store.directory(run_id).path / "go").touch()
    wait_until(lambda: len(quality(bench, run_id)) == 6004)
    assert quality(bench, run_id) == list(range(1, 6005))
    bench.runs.stop(run_id)
    bench.ended(run_id)


def test_a_pattern_is_added_to_a_run_that_has_ended_once(bench: Bench) -> None:
    run_id = bench.start("print('step=1 loss=3'); print('it 1 : quality=0.5')")
    assert bench.ended(run_id).state is RunState.SUCCEEDED
    for _ in range(2):
        Inspection(bench.store, bench.runs).add_pattern(run_id, TEMPLATE)
    points = logged(bench.runs.follow(run_id, Cursor()).curves)
    assert {point["source"]: point["values"] for point in points} == {
        "output": {"loss": 3.0}, "pattern": {"quality": 0.5},
    }  # fmt: skip
    assert len(points) == 2


def test_what_is_no_pattern_or_one_too_many_is_refused(bench: Bench) -> None:
    run_id = bench.start("print('it 1 : quality=0.5')")
    bench.ended(run_id)
    inspection = Inspection(bench.store, bench.runs)
    with pytest.raises(PatternError):
        inspection.add_pattern(run_id, "no number")
    for number in range(MOST_PATTERNS):
        inspection.add_pattern(run_id, f"it {{step}} number{number}={{value}}")
    with pytest.raises(RunError, match="at most"):
        inspection.add_pattern(run_id, TEMPLATE)
    assert inspection.pattern(run_id, TEMPLATE)["matches"] == [
        {"line": "it 1 : quality=0.5", "found": "step 1 · quality 0.5"}
    ]
    assert "no number" in inspection.pattern(run_id, "no number")["problem"]


def test_a_line_that_is_half_printed_when_the_pattern_comes_is_read_once_and_whole(bench: Bench) -> None:
    run_id = bench.start(
        """
        import pathlib, sys, time
        print("it 1 : quality=0.5")
        sys.stdout.write("it 2 : quality=0.")
        sys.stdout.flush()
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
        print("75", flush=True)
        time.sleep(600)
        """
    )
    bench.wait_for_output(run_id, "it 2 ")
    Inspection(bench.store, bench.runs).add_pattern(run_id, TEMPLATE)
    wait_until(lambda: quality(bench, run_id) == [1])
    (bench.store.directory(run_id).path / "go").touch()
    wait_until(lambda: len(quality(bench, run_id)) == 2)
    (curve,) = (one for one in bench.runs.curves(run_id) if one.series.name == "quality")
    assert curve.value.tolist() == [0.5, 0.75]
    bench.runs.stop(run_id)
    bench.ended(run_id)


def test_a_pattern_added_between_the_last_line_and_the_last_state_is_read(bench: Bench, monkeypatch) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print('it 1 : quality=2')\nprint('it 2 : quality=3')")))
    bench.store.write_plan(bench.store.create(plan.run_id), plan, "{}")
    command = [sys.executable, "-c", _LATE, str(bench.store.runs_dir), plan.run_id, TEMPLATE]
    subprocess.run(command, cwd=Path(__file__).parents[3], timeout=60, check=True)
    assert bench.runs.summary(plan.run_id).state is RunState.SUCCEEDED
    assert quality(bench, plan.run_id) == [1, 2]


_LATE = """
import sys
from pathlib import Path
from dsgui.runs.inspection import Inspection
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from dsgui.supervise import Supervisor, _telemetry

store, run_id, template = Store(Path(sys.argv[1])), sys.argv[2], sys.argv[3]

class Late(Supervisor):
    def _judge(self, exit_code):  # the records have ended, the state has not
        Inspection(store, Runs(store, Launcher())).add_pattern(run_id, template)
        return super()._judge(exit_code)

directory = store.open(run_id)
plan = directory.read_plan()
Late(directory, plan, lambda: _telemetry(plan), grace_s=1).run(lambda: None)
"""
