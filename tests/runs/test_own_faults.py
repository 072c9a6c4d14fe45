"""A fault of dsgui's own ends no training: it is told once, what can go on does, and how the run ended is written."""

import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Delta
from tests.answers.remembered import SUPERVISION
from tests.runs.test_guardian import STEPS, assert_nothing_left, assert_whole, kill, status_of, steps_of
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

pytestmark = pytest.mark.remembered(*SUPERVISION)

__all__ = ["bench"]

FAULTY = """
import importlib, pathlib, sys
sys.argv.pop()  # it looks like what dsgui starts: a supervisor is known by its command line
begins, where, name = pathlib.Path(sys.argv.pop(1)), *sys.argv.pop(1).rsplit(".", 1)
from dsgui import supervise
for length in range(where.count(".") + 1, 0, -1):
    try:
        owner = importlib.import_module(".".join(where.split(".")[:length]))
        break
    except ImportError:
        pass
for part in where.split(".")[length:]:
    owner = getattr(owner, part)
real = getattr(owner, name)
def faulty(*given, **named):
    if begins.exists():
        raise RuntimeError("a fault of dsgui")
    return real(*given, **named)
setattr(owner, name, faulty)
supervise.main()
"""
SECRET = "hf_" + "Zq7" * 11


def faulty_run(bench: Bench, what: str, script: str, at_once: bool = False) -> str:
    """A run whose supervisor fails at `what`, from the first time on or from when the file "begins" is there."""
    plan = bench.runs.prepare(bench.request(bench.script(script)))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    if at_once:
        begins(bench).touch()
    command = [
        sys.executable,
        "-c",
        FAULTY,
        str(begins(bench)),
        what,
        str(directory.path),
        "--grace=1",
        "dsgui.supervise",
    ]
    with open(directory.supervisor_log, "ab") as log:
        subprocess.run(command, cwd=Path(__file__).parents[2], timeout=60, check=False, stderr=log)
    return plan.run_id


def begins(bench: Bench) -> Path:
    return bench.folder / "begins"


def assert_told_once(bench: Bench, delta: Delta) -> None:
    assert [event["kind"] for event in delta.events if event.get("code") == "own_fault"] == ["alert"]
    log = bench.store.open(delta.run_id).supervisor_log.read_text()
    assert log.count("a fault of dsgui's own; the training goes on") == 1
    assert "RuntimeError: a fault of dsgui" in log


@pytest.mark.parametrize(
    "what",
    [
        "dsgui.core.logs.trainlog.TrainLog.feed",
        "dsgui.shell.logs.records.Records.take_points",
        "dsgui.shell.logs.records.Records.take_sample",
        "dsgui.shell.logs.records.Records.write_progress",
        "dsgui.shell.logs.records.Records.look_for_patterns",
        "dsgui.shell.logs.sources.SourceReader.take",
        "dsgui.shell.metrics.telemetry.Telemetry.sample",
        "dsgui.shell.processes.ends.Ends.take",
        "dsgui.supervise.is_guarded",
        "dsgui.supervise.members",
        "dsgui.supervise.Supervisor._looks_over",
    ],
)
def test_a_fault_while_a_run_is_followed_ends_no_training_and_all_output_is_kept(bench: Bench, what: str) -> None:
    run_id = faulty_run(bench, what, STEPS.format(steps=200, pause=0.01, code=0))
    bench.wait_for_output(run_id, "step=20 ")
    begins(bench).touch()
    delta = bench.ended(run_id)
    assert (delta.state, delta.exit_code) == (RunState.SUCCEEDED, 0), delta.reason
    lines = bench.store.open(run_id).output_file.read_text().splitlines()
    assert lines == [f"step={step} loss={1 / step:.6f} lr=0.1" for step in range(1, 201)]
    assert_told_once(bench, delta)
    assert_nothing_left(bench, run_id)


@pytest.mark.parametrize("code", [0, 3])
@pytest.mark.parametrize(
    "what",
    [
        "dsgui.core.logs.trainlog.TrainLog.finish",
        "dsgui.supervise.Supervisor._judge",
        "dsgui.supervise.Supervisor._diagnose",
        "dsgui.supervise.remove_shared_buffers",
        "dsgui.supervise.adding",
    ],
)
def test_a_fault_at_the_end_hides_no_end(bench: Bench, what: str, code: int) -> None:
    run_id = faulty_run(bench, what, STEPS.format(steps=5, pause=0.01, code=code), at_once=True)
    delta = bench.ended(run_id)
    assert (delta.state, delta.exit_code) == (RunState.FAILED if code else RunState.SUCCEEDED, code), delta.reason
    assert_whole(bench, run_id, 5)
    assert "supervisor failed" not in delta.reason


@pytest.mark.parametrize("what", ["make_telemetry", "make_nodes"])
def test_a_run_without_readings_is_a_run(bench: Bench, what: str) -> None:
    place = {"make_telemetry": "dsgui.supervise._telemetry", "make_nodes": "dsgui.shell.metrics.nodes.Nodes.__init__"}
    run_id = faulty_run(bench, place[what], STEPS.format(steps=50, pause=0.01, code=0), at_once=True)
    delta = bench.ended(run_id)
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert_whole(bench, run_id, 50)
    assert_told_once(bench, delta)


@pytest.mark.parametrize("what", ["_follow", "_finish"])
@pytest.mark.parametrize("code", [0, 3])
def test_where_nothing_can_be_recorded_the_training_goes_on_and_its_end_is_told(
    bench: Bench, what: str, code: int
) -> None:
    """More is printed than a pipe holds: somebody must take it."""
    script = f"""
        import sys, time
        for _ in range(300):
            print("x" * 10_000, flush=True)
            time.sleep(0.002)
        open({str(bench.folder / "done")!r}, "w").close()
        sys.exit({code})
    """
    run_id = faulty_run(bench, f"dsgui.supervise.Supervisor.{what}", script, at_once=True)
    delta = bench.ended(run_id)
    assert (bench.folder / "done").exists()
    assert (delta.state, delta.exit_code) == (RunState.FAILED if code else RunState.SUCCEEDED, code), delta.reason
    assert "Records of it are missing: dsgui's supervisor failed: RuntimeError('a fault of dsgui')" in delta.reason
    assert_nothing_left(bench, run_id)


def test_a_run_that_cannot_be_recorded_can_be_stopped(bench: Bench) -> None:
    script = "import time\nprint('on', flush=True)\ntime.sleep(600)"
    run_id = faulty_run(bench, "dsgui.supervise.Supervisor._follow", script, at_once=True)
    wait_until(lambda: bench.runs.alive_processes(run_id))
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED
    assert_nothing_left(bench, run_id)


def test_where_its_end_cannot_be_looked_for_a_run_can_be_stopped(bench: Bench) -> None:
    script = "import time\nprint('on', flush=True)\ntime.sleep(600)"
    run_id = faulty_run(bench, "dsgui.supervise.Supervisor._looks_over", script, at_once=True)
    bench.wait_for_output(run_id, "on")
    bench.runs.stop(run_id)
    bench.ended(run_id)
    assert_nothing_left(bench, run_id)


def test_output_whose_masking_fails_is_kept_nowhere(bench: Bench) -> None:
    """Nor what comes after it: the fault may have come between the two halves of a secret."""
    run_id = faulty_run(
        bench,
        "dsgui.core.access.secrets.find",
        f"""
        import pathlib, time
        for step in range(1, 100):
            print(f"step={{step}} loss=0.5 key={SECRET[:12]}", end="", flush=True)
            time.sleep(0.005)
            print("{SECRET[12:]}", flush=True)
            time.sleep(0.005)
            if step == 50:
                pathlib.Path({str(begins(bench))!r}).touch()
            if step == 60:
                pathlib.Path({str(begins(bench))!r}).unlink()
        """,
    )
    delta = bench.ended(run_id)
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert steps_of(bench, run_id)[:20] == list(range(1, 21))
    assert len(steps_of(bench, run_id)) < 99
    for path in bench.store.open(run_id).path.rglob("*"):
        told = path.read_bytes() if path.is_file() else b""
        assert SECRET[:12].encode() not in told, path
        assert SECRET[12:].encode() not in told, path
    assert_told_once(bench, delta)


def test_where_no_supervisor_can_take_over_the_training_goes_on_to_its_end(bench: Bench) -> None:
    """The one that was begun was killed, and no other can read what it left: at last the output is only taken."""
    script = f"""
        import time
        for step in range(1500):
            print("x" * 10_000, flush=True)
            time.sleep(0.002)
        open({str(bench.folder / "done")!r}, "w").close()
    """
    program = "import dsgui.supervise, dsgui.shell.launch.guardian as g\n"
    program += "dsgui.supervise._MOST_FAULTS = 2\n" + FAULTY
    plan = bench.runs.prepare(bench.request(bench.script(script)))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    what = "dsgui.supervise.Supervisor._restore"
    command = [
        sys.executable,
        "-c",
        program,
        str(begins(bench)),
        what,
        str(directory.path),
        "--grace=1",
        "dsgui.supervise",
    ]
    subprocess.run(command, cwd=Path(__file__).parents[2], timeout=60, check=False)
    bench.wait_for_output(plan.run_id, "xxx")
    begins(bench).touch()
    kill(status_of(bench, plan.run_id).supervisor)
    wait_until(lambda: (bench.folder / "done").exists())
    delta = bench.ended(plan.run_id)
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert "Records of it are missing" in delta.reason
