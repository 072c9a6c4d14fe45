"""A run whose folder refuses its end, was moved or deleted, or whose supervisor hangs: still seen, still stoppable, and
its end is told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.runs.news import Cursor
from dsgui.core.texts.saying import as_told
from dsgui.runs.runs import Runs
from dsgui.shell.files.json_files import json_bytes
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.processes.processes import end_tree, identify, is_alive, send_signal
from dsgui.shell.runs.adrift import adrift
from dsgui.shell.runs.kept_end import keep_end, kept_end
from dsgui.shell.runs.store import RunDirectory, Store
from tests.answers.remembered import SUPERVISION
from tests.runs.test_runs import written_run
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import Bench, bench, wait_until

pytestmark = pytest.mark.remembered(*SUPERVISION)

__all__ = ["bench"]

TRAINS = """
    import time
    for step in range(100_000):
        print(f"step={step} loss={1 / (step + 1)}")
        time.sleep(0.05)
"""


@pytest.fixture(autouse=True)
def own_data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def status_of(bench: Bench, run_id: str) -> RunStatus:
    status = bench.store.open(run_id).read_status()
    assert status
    return status


def other_server(bench: Bench) -> Runs:
    return Runs(Store(bench.store.runs_dir), Launcher(grace_s=1))


def gone(status: RunStatus) -> bool:
    return not any(is_alive(owner) for owner in status.owners)


# -- a folder that does not take the end -------------------------------------------------------------------------------


def refuse(directory: RunDirectory) -> None:
    """No state can be put here, by root either."""
    directory.state_file.unlink()
    (directory.state_file / "in the way").mkdir(parents=True)


def allow(directory: RunDirectory) -> None:
    (directory.state_file / "in the way").rmdir()
    directory.state_file.rmdir()


def start_and_refuse(bench: Bench, then: str = "raise ValueError('bad')") -> RunDirectory:
    go = bench.folder / "go"
    text = f"import pathlib, time\nprint('on')\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.02)\n{then}"
    directory = bench.store.open(bench.start(text))
    bench.wait_for_output(directory.run_id, "on")
    refuse(directory)
    go.touch()
    return directory


def test_an_end_that_the_folder_refuses_is_written_when_it_takes_it_again(bench: Bench) -> None:
    directory = start_and_refuse(bench)
    wait_until(lambda: kept_end(directory))
    summary = bench.runs.summary(directory.run_id)
    assert summary.state is RunState.FAILED
    assert "its folder can't be written (Is a directory)" in summary.problem
    allow(directory)
    wait_until(lambda: directory.read_status())
    status = status_of(bench, directory.run_id)
    assert (status.state, status.exit_code) == (RunState.FAILED, 1)
    diagnosis = directory.read_diagnosis()
    assert diagnosis
    wait_until(lambda: not kept_end(directory) and gone(status))
    assert bench.runs.summary(directory.run_id).problem == ""


def test_an_end_that_its_supervisor_could_not_write_is_settled_by_who_looks_next(bench: Bench) -> None:
    directory = start_and_refuse(bench, "print('done')")
    wait_until(lambda: kept_end(directory))
    for owner in reversed(adrift(bench.store.runs_dir)[directory.run_id].owners):
        send_signal(owner, signal.SIGKILL)
    wait_until(lambda: directory.run_id not in adrift(bench.store.runs_dir))
    assert other_server(bench).summary(directory.run_id).state is RunState.SUCCEEDED
    allow(directory)
    [listed] = other_server(bench).list()
    assert (listed.state, listed.problem) == (RunState.SUCCEEDED, "")
    assert status_of(bench, directory.run_id).state is RunState.SUCCEEDED
    assert kept_end(directory) is None


def test_a_stop_ends_the_waiting_for_the_folder_and_the_end_stays_kept(bench: Bench) -> None:
    directory = start_and_refuse(bench, "print('done')")
    wait_until(lambda: kept_end(directory))
    owners = adrift(bench.store.runs_dir)[directory.run_id].owners
    send_signal(owners[0], signal.SIGTERM)
    wait_until(lambda: not any(is_alive(owner) for owner in owners))
    assert kept_end(directory)
    allow(directory)
    assert bench.runs.summary(directory.run_id).state is RunState.SUCCEEDED


def test_a_folder_that_is_deleted_is_not_insisted_on(bench: Bench) -> None:
    directory = start_and_refuse(bench, "print('done')")
    wait_until(lambda: kept_end(directory))
    kept = kept_end(directory)
    assert kept
    owners = adrift(bench.store.runs_dir)[directory.run_id].owners
    subprocess.run(["rm", "-rf", str(directory.path)], check=True)
    wait_until(lambda: not any(is_alive(owner) for owner in owners))
    assert not kept.place.exists()


def test_an_end_is_kept_in_memory_where_the_data_folder_refuses_too(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    directory = Store(tmp_path / "runs").open(make_run(tmp_path / "runs", Made(steps=2)))
    place = keep_end(directory, RunStatus(RunState.FAILED, reasons=(as_told("so"),)), None, "full")
    assert place
    assert place.parent == Path(f"/dev/shm/dsgui-{os.geteuid()}")
    kept = kept_end(directory)
    assert kept
    assert (kept.status.reason, kept.why) == ("so", "full")
    place.unlink()


def test_an_end_that_somebody_else_could_have_put_there_is_not_believed(tmp_path: Path) -> None:
    directory = Store(tmp_path / "runs").open(make_run(tmp_path / "runs", Made(steps=2)))
    place = keep_end(directory, RunStatus(RunState.FAILED), None, "full")
    assert place
    place.parent.chmod(0o777)
    assert kept_end(directory) is None
    place.parent.chmod(0o700)
    assert kept_end(directory)
    copy = Store(tmp_path / "others").create(directory.run_id)
    assert kept_end(copy) is None  # another folder of that name
    place.write_bytes(json_bytes({"folder": directory.path.stat().st_ino, "status": 7}))
    assert kept_end(directory) is None


# -- a folder that is moved or deleted ---------------------------------------------------------------------------------


def test_a_run_whose_folder_is_moved_goes_on_there_and_can_be_stopped(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    moved = bench.folder / "my best run"
    bench.store.open(run_id).path.rename(moved)
    runs = other_server(bench)
    [listed] = runs.list()
    assert (listed.run_id, listed.state) == (run_id, RunState.RUNNING)
    assert f"was moved while it ran; it is now {moved}" in listed.problem
    at = runs.summary(run_id).step or 0
    wait_until(lambda: (runs.summary(run_id).step or 0) > at + 20)  # all that is replaced as a whole is written there
    assert not bench.store.directory(run_id).path.exists()
    runs.stop(run_id)
    directory = RunDirectory(moved, run_id)
    wait_until(lambda: (status := directory.read_status()) and not status.state.live)
    assert (directory.read_status() or RunStatus()).state is RunState.STOPPED
    assert not list(moved.glob(".*"))
    wait_until(lambda: other_server(bench).list() == [])


def test_runs_go_on_when_the_folder_of_all_of_them_is_renamed(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    moved = bench.folder / "elsewhere"
    bench.store.runs_dir.rename(moved)
    assert [run.state for run in bench.runs.list()] == [RunState.RUNNING]
    there = Runs(Store(moved), Launcher(grace_s=1))
    assert [(run.state, run.problem) for run in there.list()] == [(RunState.RUNNING, "")]
    bench.runs.stop(run_id)
    wait_until(lambda: there.summary(run_id).state is RunState.STOPPED)


def test_a_run_whose_folder_is_deleted_is_seen_and_can_be_stopped(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    owners = status_of(bench, run_id).owners
    while bench.store.directory(run_id).path.exists():  # it is written meanwhile
        subprocess.run(["rm", "-rf", str(bench.store.directory(run_id).path)], check=False, capture_output=True)
    runs = other_server(bench)
    [listed] = runs.list()
    assert (listed.run_id, listed.state) == (run_id, RunState.RUNNING)
    assert "Its folder was deleted while it ran" in listed.problem
    delta = runs.follow(run_id, Cursor())
    assert (delta.can_end, delta.problem) == (True, listed.problem)
    training = runs.alive_processes(run_id)
    assert training
    time.sleep(1.5)  # of a supervisor that would stumble over it
    assert runs.alive_processes(run_id) == training
    runs.stop(run_id)
    wait_until(lambda: not any(is_alive(owner) for owner in owners))
    assert end_tree(run_id, None, 0) == ()
    assert other_server(bench).list() == []


def test_a_supervisor_killed_after_its_folder_was_deleted_is_followed_by_another(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    status = status_of(bench, run_id)
    while bench.store.directory(run_id).path.exists():
        subprocess.run(["rm", "-rf", str(bench.store.directory(run_id).path)], check=False, capture_output=True)
    training = bench.runs.alive_processes(run_id)
    assert status.supervisor
    send_signal(status.supervisor, signal.SIGKILL)
    wait_until(lambda: len(adrift(bench.store.runs_dir)[run_id].owners) == len(status.owners))
    assert bench.runs.alive_processes(run_id) == training
    bench.runs.stop(run_id)
    wait_until(lambda: run_id not in adrift(bench.store.runs_dir))
    assert end_tree(run_id, None, 0) == ()


def test_processes_without_folder_and_supervisor_are_seen_and_ended(bench: Bench) -> None:
    run_id = bench.start("import time\nprint('on')\ntime.sleep(600)")
    bench.wait_for_output(run_id, "on")
    for owner in reversed(status_of(bench, run_id).owners):
        send_signal(owner, signal.SIGSTOP)
    bench.store.directory(run_id).path.rename(bench.folder / "away")
    for owner in reversed(adrift(bench.store.runs_dir)[run_id].owners):
        send_signal(owner, signal.SIGKILL)
    wait_until(lambda: not adrift(bench.store.runs_dir)[run_id].owners)
    runs = other_server(bench)
    [listed] = runs.list()
    assert (listed.run_id, listed.state) == (run_id, RunState.LOST)
    runs.stop(run_id)
    wait_until(lambda: not other_server(bench).list())


# -- a supervisor that hangs -------------------------------------------------------------------------------------------


def test_a_suspended_supervisor_is_said_to_be_and_stop_works(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    supervisor = status_of(bench, run_id).supervisor
    assert supervisor
    send_signal(supervisor, signal.SIGSTOP)
    wait_until(lambda: f"(process {supervisor.pid}) is suspended" in bench.runs.summary(run_id).problem)
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED
    assert bench.runs.summary(run_id).problem == ""


HANGS = """
import ctypes, pathlib, signal, sys, time
from dsgui import supervise
from dsgui.shell.runs.store import RunDirectory
from dsgui.core.texts.saying import as_told
beat = RunDirectory.beat
def late(self, monotonic_s):
    beat(self, monotonic_s - 1000)
    if (self.path / "hang").exists():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        ctypes.CDLL(None).sleep(600)
RunDirectory.beat = late
sys.argv = sys.argv[1:]
sys.exit(supervise.main())
"""


def test_a_supervisor_that_hangs_is_said_to_and_stop_ends_the_run_without_it(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script(TRAINS)))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, "{}")
    here = Path(__file__).parents[2]
    words = [sys.executable, "-c", HANGS, "dsgui.supervise", str(directory.path)]
    subprocess.run([*words, "--grace=1"], check=True, cwd=here)
    bench.wait_for_output(plan.run_id, "step=3")
    first = status_of(bench, plan.run_id).supervisor
    (directory.path / "hang").touch()
    wait_until(lambda: "has not answered for 10" in bench.runs.summary(plan.run_id).problem)
    (directory.path / "hang").unlink()
    bench.runs.stop(plan.run_id)
    delta = bench.ended(plan.run_id)
    assert delta.state is RunState.STOPPED
    assert not is_alive(first)
    assert end_tree(plan.run_id, None, 0) == ()


@pytest.mark.parametrize(
    ("ago_s", "told"), [(5.0, False), (45.0, True), (-1000.0, False), (float("nan"), False), (float("inf"), False)]
)
def test_only_a_sign_of_life_of_this_boot_that_is_old_is_told(bench: Bench, ago_s: float, told: bool) -> None:
    me = identify(os.getpid())
    directory = written_run(bench, RunStatus(RunState.RUNNING, me, None, begun_s=1.0))
    directory.beat(time.monotonic() - ago_s)
    assert ("has not answered for 45 s" in bench.runs.summary(directory.run_id).problem) == told
    directory.write_status(RunStatus(RunState.STOPPED))


# -- what a kill in the middle of a write leaves -----------------------------------------------------------------------


def old(path: Path) -> Path:
    path.write_text("{")
    os.utime(path, (1, 1))
    return path


def test_what_a_killed_write_has_left_is_removed_at_the_next_look(bench: Bench) -> None:
    directory = written_run(bench, RunStatus(RunState.RUNNING, None, None, begun_s=1.0))
    left = [old(directory.path / name) for name in (".abcd1234.tmp", ".x_yz.tmp", ".reserve")]
    fresh = directory.path / ".now.tmp"
    fresh.touch()
    mine = old(directory.path / "mine.tmp")
    assert bench.runs.list()[0].state is RunState.LOST
    assert [path.exists() for path in (*left, fresh, mine)] == [False, False, False, True, True]


def test_a_run_that_ends_leaves_nothing_half_written(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    left = old(bench.store.open(run_id).path / ".abcd1234.tmp")
    bench.runs.list()
    assert left.exists()  # somebody else's, while it goes on
    bench.runs.stop(run_id)
    bench.ended(run_id)
    assert not left.exists()


def test_a_state_that_was_damaged_while_the_run_goes_on_is_written_again(bench: Bench) -> None:
    run_id = bench.start(TRAINS)
    bench.wait_for_output(run_id, "step=3")
    state_file = bench.store.open(run_id).state_file
    state_file.unlink()
    os.mkfifo(state_file)
    wait_until(lambda: state_file.is_file())
    assert bench.runs.summary(run_id).state is RunState.RUNNING
