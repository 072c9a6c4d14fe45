"""A run outlives its supervisor: whichever of dsgui's processes is killed, the training goes on with all points."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from dsgui.core.diagnosis.ending import verdict
from dsgui.core.launch.plan import WhenBusy
from dsgui.core.launch.state import Identity, RunState, RunStatus
from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.texts.saying import sentences
from dsgui.runs.runs import Runs
from dsgui.shell.files.in_memory import file_in_memory
from dsgui.shell.launch.keeping import Keeping
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.processes.processes import is_alive, members, read_stat, send_signal
from dsgui.shell.runs.curve_reader import read_points
from dsgui.shell.runs.store import Store
from tests.answers.remembered import SUPERVISION
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

pytestmark = pytest.mark.remembered(*SUPERVISION)

__all__ = ["bench"]

CSV_CONFIG = """{"train_batch_size": 8, "csv_monitor": {"enabled": true, "output_path": "logs", "job_name": "ds"}}"""
KERNEL = tuple(map(int, os.uname().release.split(".")[:2]))
STEPS = """
    import os, time
    for step in range(1, {steps} + 1):
        print(f"step={{step}} loss={{1 / step:.6f}} lr=0.1", flush=True)
        time.sleep({pause})
    raise SystemExit({code})
"""


def status_of(bench: Bench, run_id: str) -> RunStatus:
    status = bench.store.open(run_id).read_status()
    assert status is not None
    return status


def kill(victim: Identity | None) -> None:
    assert victim is not None
    send_signal(victim, signal.SIGKILL)
    wait_until(lambda: not is_alive(victim))


def steps_of(bench: Bench, run_id: str) -> list[float]:
    """Of each record of the loss, in the order in which they lie in the file."""
    directory = bench.store.open(run_id)
    curves = read_points(directory)[0]
    return next((curve.step.tolist() for curve in curves.values() if curve.series.name == "loss"), [])


def assert_nothing_left(bench: Bench, run_id: str) -> None:
    status = status_of(bench, run_id)
    wait_until(lambda: not any(map(is_alive, status.owners)))
    assert bench.runs.alive_processes(run_id) == []


def assert_whole(bench: Bench, run_id: str, steps: int) -> None:
    assert steps_of(bench, run_id) == list(range(1, steps + 1))
    output = bench.store.open(run_id).output_file.read_text()
    assert output == "".join(f"step={step} loss={1 / step:.6f} lr=0.1\n" for step in range(1, steps + 1))


# Cheaper: another exit code reaches whoever takes over, test_a_launcher_whose_parent_is_suspended…[3].
@pytest.mark.parametrize("code", [0, pytest.param(3, marks=pytest.mark.complete)])
def test_a_training_outlives_its_supervisors_and_no_point_is_lost(bench: Bench, code: int) -> None:
    run_id = bench.start(STEPS.format(steps=400, pause=0.005, code=code))
    for number in (50, 150, 250):
        bench.wait_for_output(run_id, f"step={number} ")
        kill(status_of(bench, run_id).supervisor)
    delta = bench.ended(run_id)
    assert (delta.state, delta.exit_code) == (RunState.FAILED if code else RunState.SUCCEEDED, code), delta.reason
    assert_whole(bench, run_id, 400)
    assert_nothing_left(bench, run_id)


# Cheaper: each of the three once, in the order [2, 1, 0]; the supervisor again and again, the test above.
@pytest.mark.parametrize(
    "victims", [(2, 1, 0), *(pytest.param(one, marks=pytest.mark.complete) for one in ((1, 0, 2), (2, 0), (0, 1)))]
)
def test_a_training_outlives_its_guardians_in_any_order(bench: Bench, victims: Sequence[int]) -> None:
    run_id = bench.start(STEPS.format(steps=400, pause=0.01, code=0))
    bench.wait_for_output(run_id, "step=20 ")
    first = status_of(bench, run_id)
    for victim in victims:  # 0 is whoever supervises then
        kill(status_of(bench, run_id).supervisor if victim == 0 else first.guardians[victim - 1])
        wait_until(lambda: (now := status_of(bench, run_id)) and any(map(is_alive, now.guardians)))
        wait_until(lambda: is_alive(status_of(bench, run_id).supervisor))
    delta = bench.ended(run_id)
    # Without the guardians that were its parents only the kernel knows: for ever since 6.15, before that for a moment.
    if len(victims) < 3 or KERNEL >= (6, 15):
        assert (delta.state, delta.exit_code) == (RunState.SUCCEEDED, 0), delta.reason
    assert_whole(bench, run_id, 400)
    assert_nothing_left(bench, run_id)


def test_a_stop_reaches_a_run_whose_supervisor_is_being_replaced(bench: Bench) -> None:
    run_id = bench.start(STEPS.format(steps=100_000, pause=0.01, code=0))
    bench.wait_for_output(run_id, "step=20 ")
    status = status_of(bench, run_id)
    for guardian in status.guardians:  # so that none is started until the guardians run on
        send_signal(guardian, signal.SIGSTOP)
    kill(status.supervisor)
    assert bench.runs.summary(run_id).state is RunState.RUNNING
    bench.runs.stop(run_id)
    for guardian in status.guardians:
        send_signal(guardian, signal.SIGCONT)
    assert bench.ended(run_id).state is RunState.STOPPED
    steps = steps_of(bench, run_id)
    assert steps == list(range(1, len(steps) + 1))
    assert_nothing_left(bench, run_id)


def test_a_stop_goes_on_when_the_supervisor_is_killed_meanwhile(bench: Bench) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=2))
    run_id = bench.start("""
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("stubborn", flush=True)
        time.sleep(600)
    """)
    bench.wait_for_output(run_id, "stubborn")
    bench.runs.stop(run_id)
    wait_until(lambda: status_of(bench, run_id).state is RunState.STOPPING)
    due_s = status_of(bench, run_id).kill_due_s
    kill(status_of(bench, run_id).supervisor)
    delta = bench.ended(run_id)
    assert delta.state is RunState.STOPPED
    assert due_s is not None
    assert time.monotonic() < due_s + 10
    assert_nothing_left(bench, run_id)


def test_what_waits_in_the_queue_goes_on_waiting_without_its_supervisor(bench: Bench) -> None:
    first = bench.start("import time\nprint('on', flush=True)\ntime.sleep(600)")
    script = bench.script(STEPS.format(steps=5, pause=0, code=0), "second.py")
    plan = bench.runs.prepare(bench.request(script, when_busy=WhenBusy.WAIT))
    second = bench.runs.start(plan, CONFIG)
    wait_until(lambda: status_of(bench, second).reason)
    before = status_of(bench, second).supervisor
    kill(before)
    wait_until(lambda: status_of(bench, second).supervisor != before)
    assert bench.runs.summary(second).state is RunState.QUEUED
    bench.runs.stop(first)
    assert bench.ended(second).state is RunState.SUCCEEDED
    assert_whole(bench, second, 5)


KILLED_BETWEEN = """
import os, pathlib, signal, sys
from dsgui import supervise
tell, once = supervise.Keeping.tell, pathlib.Path(sys.argv.pop(1))
def told(self, **fact):
    if {when!r} in fact and not once.exists():
        once.touch()
        {before}
        os.kill(os.getpid(), signal.SIGKILL)
    tell(self, **fact)
supervise.Keeping.tell = told
supervise.main()
"""


@pytest.mark.parametrize(
    ("when", "before"),
    [
        ("starting", ""),  # before the launcher was started
        ("starting", "tell(self, **fact)"),
        ("launcher", ""),  # after it was started, and nobody knows its pid
        ("launcher", "import time; time.sleep(1)"),  # when it may have ended
        ("launcher", "tell(self, **fact)"),
        ("over", ""),  # when the end is written
    ],
)
@pytest.mark.parametrize("steps", [1, 100])
def test_a_launcher_is_started_once_wherever_its_supervisor_is_killed(
    bench: Bench, when: str, before: str, steps: int
) -> None:
    plan = bench.runs.prepare(bench.request(bench.script(STEPS.format(steps=steps, pause=0.005, code=0))))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    program = KILLED_BETWEEN.format(when=when, before=before)
    # It looks like what dsgui starts: a supervisor is known by its command line.
    command = [sys.executable, "-c", program, str(bench.folder / "once"), str(directory.path), "dsgui.supervise"]
    subprocess.run(command[:-1], cwd=Path(__file__).parents[2], timeout=60, check=False)
    delta = bench.ended(plan.run_id)
    assert (bench.folder / "once").exists()
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert_whole(bench, plan.run_id, steps)


def test_nothing_unmasked_is_on_the_disk_however_often_the_supervisor_is_killed(bench: Bench) -> None:
    secret = "hf_" + "Zq7" * 11
    run_id = bench.start(
        f"""
        import sys, time
        for step in range(1, 200):
            sys.stdout.write(f"step={{step}} loss=0.5 key=")
            sys.stdout.flush()
            time.sleep(0.01)
            print("{secret}"[:12], end="", flush=True)
            time.sleep(0.01)
            print("{secret}"[12:], flush=True)
        """
    )
    for number in (20, 60, 100):
        bench.wait_for_output(run_id, f"step={number} ")
        kill(status_of(bench, run_id).supervisor)
    bench.ended(run_id)
    assert steps_of(bench, run_id) == list(range(1, 200))
    for path in bench.store.open(run_id).path.rglob("*"):
        assert not path.is_file() or secret[:12].encode() not in path.read_bytes(), path


def test_what_a_script_writes_to_files_is_neither_lost_nor_doubled(bench: Bench) -> None:
    script = bench.script(
        """
        import csv, os, time
        os.makedirs("logs/ds", exist_ok=True)
        with open("logs/ds/Train_Samples_train_loss.csv", "w", newline="") as file:
            file.write("step,Train_Samples_train_loss\\n")
            for step in range(1, 301):
                file.write(f"{step},{1 / step}\\n"); file.flush()
                print(f"step={step} loss={1 / step:.6f} lr=0.1", flush=True)
                time.sleep(0.02)
    """
    )
    run_id = bench.runs.start(bench.runs.prepare(bench.request(script, config_text=CSV_CONFIG)), CSV_CONFIG)
    for number in (90, 150, 210, 270):
        bench.wait_for_output(run_id, f"step={number} ")
        kill(status_of(bench, run_id).supervisor)
    assert bench.ended(run_id).state is RunState.SUCCEEDED
    curves = read_points(bench.store.open(run_id))[0]
    assert {curve.series.source for curve in curves.values()} == {"output", "csv_monitor"}
    for curve in curves.values():
        if curve.series.name == "loss":
            assert [round(1 / value) for value in curve.value] == list(range(1, 301)), curve.series


def test_what_a_page_has_read_stays_as_it_was(bench: Bench) -> None:
    run_id = bench.start(STEPS.format(steps=300, pause=0.01, code=0))
    directory = bench.store.open(run_id)
    seen = b""
    for number in (60, 130, 200):
        bench.wait_for_output(run_id, f"step={number} ")
        seen = directory.points_file.read_bytes()
        kill(status_of(bench, run_id).supervisor)
    bench.ended(run_id)
    assert directory.points_file.read_bytes().startswith(seen)
    assert_whole(bench, run_id, 300)


def test_output_goes_from_the_pipe_to_memory_and_stays_there_until_it_is_recorded() -> None:
    keeping = Keeping.make()
    os.write(keeping.into, b"one two three")
    assert keeping.take(7) == b"one two"
    keeping.save(b"after two")
    assert keeping.take(100) == b" three"
    with pytest.raises(BlockingIOError):
        keeping.take(1)
    other = Keeping(keeping.descriptors)  # as another process has it
    assert other.load() == b"after two"
    assert b"".join(other.unsaved()) == b" three"
    other.save(b"after three")
    assert Keeping(keeping.descriptors).load() == b"after three"
    os.close(keeping.into)
    assert other.take(1) == b""
    for descriptor in (*keeping.descriptors[:1], *keeping.descriptors[2:]):
        os.close(descriptor)


def test_what_is_about_to_guard_a_run_is_none_of_its_processes(bench: Bench) -> None:
    run_id = bench.start("import time\nprint('on', flush=True)\ntime.sleep(600)")
    bench.wait_for_output(run_id, "on")
    owners = [one.pid for one in status_of(bench, run_id).owners]
    known = members(run_id, status_of(bench, run_id).process, owners)
    # The supervisor is below the guardians, and here nobody has said that it is an owner.
    assert members(run_id, status_of(bench, run_id).process, owners[1:]) == known
    assert known == {status_of(bench, run_id).process.pid}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ("process 7 spawned with command: [python]\nProcess 7 exits successfully.\n", RunState.SUCCEEDED),
        ("process 7 spawned with command: [python]\n", RunState.FAILED),
        ("process 7 spawned with command: [python]\n[python] exits with return code = 3\n", RunState.FAILED),
        ("{'train_runtime': 1.5, 'epoch': 1.0}\n", RunState.SUCCEEDED),
        ("step=1 loss=0.5\n", RunState.FAILED),
    ],
)
def test_where_nobody_was_told_the_exit_code_the_output_decides(lines: str, state: RunState) -> None:
    log = TrainLog()
    log.feed(lines)
    log.finish()
    found, reasons = verdict(None, log.ending, 0)
    assert found is state
    if state is RunState.FAILED and "return code" not in lines:
        told = "It ended with an unknown exit code, since dsgui's own processes were killed too"
        assert sentences(reasons).startswith(told)


def test_however_many_guardians_were_killed_the_state_that_names_them_can_be_read() -> None:
    keeping = Keeping.make()
    for number in range(1, 100):  # one comes every ten seconds where something kills them
        keeping.tell(guardian=Identity(number, number, "boot").to_json())
    status = RunStatus(guardians=keeping.facts.guardians)
    for descriptor in keeping.descriptors:
        os.close(descriptor)
    assert RunStatus.from_json(status.to_json()) == status
    assert [one.pid for one in status.guardians][-2:] == [98, 99]


def test_whoever_starts_a_run_is_told_so_by_the_next_supervisor_where_the_first_is_killed(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("import time\nprint('on', flush=True)\ntime.sleep(600)")))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    program = "import sys; sys.argv.pop()\n" + KILLED_BETWEEN.format(when="launcher", before="tell(self, **fact)")
    command = [sys.executable, "-c", program, str(bench.folder / "once"), str(directory.path), "dsgui.supervise"]
    subprocess.run(command, cwd=Path(__file__).parents[2], timeout=20, check=False)  # it would wait for the run's end
    assert (bench.folder / "once").exists()
    assert bench.runs.summary(plan.run_id).state is RunState.RUNNING


def test_a_stop_that_reaches_all_of_them_at_once_is_one_stop(bench: Bench) -> None:
    """As at a logout, a shutdown, `systemctl stop`, or a kill by name: a second Stop would kill at once."""
    bench.runs = Runs(bench.store, Launcher(grace_s=60))
    run_id = bench.start("""
        import pathlib, signal, sys, time
        def save(*_):
            while not pathlib.Path(__file__).with_name("go-on").exists():
                time.sleep(0.01)
            print("saved", flush=True)
            sys.exit()
        signal.signal(signal.SIGTERM, save)
        print("on", flush=True)
        time.sleep(600)
    """)
    bench.wait_for_output(run_id, "on")
    status = status_of(bench, run_id)
    for owner in status.owners:
        send_signal(owner, signal.SIGTERM)
    wait_until(lambda: status_of(bench, run_id).state is RunState.STOPPING)
    (bench.folder / "go-on").touch()
    delta = bench.ended(run_id)
    assert (delta.state, delta.output) == (RunState.STOPPED, "on\nsaved\n")


def test_what_is_asked_of_one_process_twice_or_of_another_later_is_asked_twice() -> None:
    keeping = Keeping.make()
    for pid, at_s in ((7, 1.0), (8, 1.1), (9, 1.1), (8, 5.0), (8, 5.5), (7, 5.6)):
        keeping.tell(asked=(signal.SIGTERM, pid, at_s))
    keeping.tell(asked=(signal.SIGUSR1, 8, 5.6))
    asked = keeping.facts.asked
    for descriptor in keeping.descriptors:
        os.close(descriptor)
    assert asked == (signal.SIGTERM, signal.SIGTERM, signal.SIGTERM, signal.SIGUSR1)


NO_MORE_PROCESSES = """
import os, pathlib, sys
refused, tried, fork = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1)), os.fork
def limited():
    if refused.exists():
        with tried.open("a") as file:
            print(os.getpid(), file=file)
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return fork()
os.fork = limited
from dsgui import supervise
supervise.main()
"""


def test_a_training_outlives_a_time_in_which_no_process_can_be_started(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script(STEPS.format(steps=400, pause=0.01, code=0))))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    refused, tried = bench.folder / "refused", bench.folder / "tried"
    command = [sys.executable, "-c", NO_MORE_PROCESSES, str(refused), str(tried), str(directory.path)]
    subprocess.run(command, cwd=Path(__file__).parents[2], timeout=20, check=False)
    bench.wait_for_output(plan.run_id, "step=20 ")
    refused.touch()
    guardians = status_of(bench, plan.run_id).guardians
    kill(status_of(bench, plan.run_id).supervisor)
    wait_until(lambda: tried.exists() and {str(one.pid) for one in guardians} <= set(tried.read_text().split()))
    refused.unlink()
    assert bench.ended(plan.run_id).state is RunState.SUCCEEDED
    assert_whole(bench, plan.run_id, 400)


def test_what_waits_in_the_queue_goes_on_waiting_while_the_folder_of_all_runs_is_away(bench: Bench) -> None:
    first = bench.start("import time\nprint('on', flush=True)\ntime.sleep(600)")
    plan = bench.runs.prepare(bench.request(bench.script("print('second')", "second.py"), when_busy=WhenBusy.WAIT))
    second = bench.runs.start(plan, CONFIG)
    wait_until(lambda: status_of(bench, second).reason)
    away = bench.folder / "away"
    bench.store.runs_dir.rename(away)
    there = Store(away).open(second)
    wait_until(lambda: (status := there.read_status()) and "No such file" in status.reason)
    away.rename(bench.store.runs_dir)
    wait_until(lambda: "comes first" in status_of(bench, second).reason)
    bench.runs.stop(first)
    assert bench.ended(second).state is RunState.SUCCEEDED


SHORT_FOR_A_WHILE = """
import pathlib, sys, threading
short, start, load = pathlib.Path(sys.argv.pop(1)), threading.Thread.start, None
from dsgui import supervise
load = supervise.Keeping.load
def check(name, error):
    if short.exists() and short.read_text().startswith(name):
        with short.open("a") as file:
            file.write(".")
        raise error
def started(thread):
    check("thread", RuntimeError("can't start new thread"))
    start(thread)
def loaded(keeping):
    check("memory", MemoryError())
    return load(keeping)
threading.Thread.start, supervise.Keeping.load = started, loaded
supervise.main()
"""


# Cheaper: the other fault is raised in the same start of a supervisor, [thread].
@pytest.mark.parametrize("what", ["thread", pytest.param("memory", marks=pytest.mark.complete)])
def test_a_training_outlives_a_time_in_which_no_supervisor_can_take_over(bench: Bench, what: str) -> None:
    plan = bench.runs.prepare(bench.request(bench.script(STEPS.format(steps=400, pause=0.01, code=0))))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    short = bench.folder / "short"
    command = [sys.executable, "-c", SHORT_FOR_A_WHILE, str(short), str(directory.path)]
    subprocess.run(command, cwd=Path(__file__).parents[2], timeout=20, check=False)
    bench.wait_for_output(plan.run_id, "step=20 ")
    short.write_text(what)
    kill(status_of(bench, plan.run_id).supervisor)
    wait_until(lambda: short.read_text().count(".") >= 3)
    short.unlink()
    assert bench.ended(plan.run_id).state is RunState.SUCCEEDED
    assert_whole(bench, plan.run_id, 400)


# Cheaper: that exit code 0 is a success for whoever takes over, test_a_training_outlives_its_supervisors…[0].
@pytest.mark.parametrize("code", [pytest.param(0, marks=pytest.mark.complete), 3])
def test_a_launcher_whose_parent_is_suspended_is_seen_to_have_ended(bench: Bench, code: int) -> None:
    run_id = bench.start(STEPS.format(steps=150, pause=0.01, code=code))
    bench.wait_for_output(run_id, "step=20 ")
    status = status_of(bench, run_id)
    parent = status.guardians[-1]
    send_signal(parent, signal.SIGSTOP)
    kill(status.supervisor)
    wait_until(lambda: is_alive(status_of(bench, run_id).supervisor))
    launcher = read_stat(status.process.pid)  # type: ignore[union-attr]
    assert launcher
    assert launcher.parent == parent.pid
    delta = bench.ended(run_id)
    assert (delta.state, delta.exit_code) == (RunState.FAILED if code else RunState.SUCCEEDED, code), delta.reason
    assert_whole(bench, run_id, 150)
    assert_nothing_left(bench, run_id)


@pytest.fixture
def keeping() -> Iterator[Keeping]:
    keeping = Keeping.make()
    yield keeping
    for descriptor in keeping.descriptors:
        os.close(descriptor)


def test_what_cannot_be_saved_takes_no_memory_without_end(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsgui.shell.launch.keeping.MOST_UNSAVED_BYTES", 1000)
    keeping.save(b"state")
    for number in range(100):
        os.write(keeping.into, b"%0100d" % number)
        assert keeping.take(100) == b"%0100d" % number
    assert keeping.unsaved_bytes <= 1100
    other = Keeping(keeping.descriptors)
    other.load()
    assert other.has_gap
    other.save(b"state again")
    assert not other.has_gap


UNSAVED = """
import pathlib, sys
sys.argv.pop()
refused = pathlib.Path(sys.argv.pop(1))
from dsgui import supervise
from dsgui.shell.launch import keeping
keeping.MOST_UNSAVED_BYTES = 2000
save = supervise.Keeping.save
def saved(self, state):
    if refused.exists():
        raise MemoryError("no more")
    save(self, state)
supervise.Keeping.save = saved
supervise.main()
"""


def test_where_no_state_could_be_saved_no_half_of_a_secret_is_written_by_the_next_supervisor(bench: Bench) -> None:
    secret = "hf_" + "Zq7" * 11
    script = f"""
        import time
        for step in range(1, 300):
            print(f"step={{step}} loss=0.5 key={secret[:12]}", end="", flush=True)
            time.sleep(0.005)
            print("{secret[12:]}", flush=True)
            time.sleep(0.005)
    """
    plan = bench.runs.prepare(bench.request(bench.script(script)))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    refused = bench.folder / "refused"
    command = [sys.executable, "-c", UNSAVED, str(refused), str(directory.path), "dsgui.supervise"]
    with open(directory.supervisor_log, "ab") as log:
        subprocess.run(command, cwd=Path(__file__).parents[2], timeout=60, check=False, stderr=log)
    bench.wait_for_output(plan.run_id, "step=20 ")
    refused.touch()
    bench.wait_for_output(plan.run_id, "step=150 ")
    said_before = directory.supervisor_log.read_text().count("the state could not be kept")
    kill(status_of(bench, plan.run_id).supervisor)
    refused.unlink()
    assert bench.ended(plan.run_id).state is RunState.SUCCEEDED
    assert said_before == 1  # once, not with every line; the next supervisor may begin before it is allowed again
    assert steps_of(bench, plan.run_id)[-1] == 299
    assert "--- dsgui lost some of the output here ---" in directory.output_file.read_text()
    for path in directory.path.rglob("*"):
        told = path.read_bytes() if path.is_file() else b""
        assert secret[:12].encode() not in told, path
        assert secret[-12:].encode() not in told, path


def test_a_run_whose_state_cannot_be_kept_is_not_started(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print('on', flush=True)")))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    refused = bench.folder / "refused"
    refused.touch()
    command = [sys.executable, "-c", UNSAVED, str(refused), str(directory.path), "dsgui.supervise"]
    subprocess.run(command, cwd=Path(__file__).parents[2], timeout=60, check=False)
    delta = bench.ended(plan.run_id)
    assert (delta.state, delta.output) == (RunState.FAILED, "")
    assert "It could not be started: there is no memory for its state." in delta.reason


SLOW_TO_START = """
import os, pathlib, sys, time
sys.argv.pop()
go_on, once = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
from dsgui import supervise
be, slow = supervise.Keeping.be_launcher, {slow}
def begun(self):
    first = not once.exists()
    once.touch()
    slow == "after" and be(self)
    while first and not go_on.exists():
        time.sleep(0.01)
    slow == "before" and be(self)
supervise.Keeping.be_launcher = begun
supervise.main()
"""


@pytest.mark.parametrize("slow", ["before", "after"])
def test_a_launcher_that_is_slow_to_start_is_not_started_beside_another(bench: Bench, slow: str) -> None:
    """Its supervisor is killed while it is neither quite a supervisor's copy any more nor the launcher yet; the next
    one can't tell whether it will be."""
    starts = bench.folder / "starts"
    script = f"""
        import os, time
        with open({str(starts)!r}, "a") as file:
            file.write("started\\n")
        for step in range(1, 51):
            print(f"step={{step}} loss={{1 / step:.6f}} lr=0.1", flush=True)
            time.sleep(0.01)
    """
    plan = bench.runs.prepare(bench.request(bench.script(script)))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, CONFIG)
    go_on, once = bench.folder / "go-on", bench.folder / "once"
    program = SLOW_TO_START.format(slow=repr(slow))
    command = [sys.executable, "-c", program, str(go_on), str(once), str(directory.path), "dsgui.supervise"]
    starting = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    wait_until(once.exists)
    before = status_of(bench, plan.run_id).supervisor
    kill(before)
    wait_until(lambda: (now := status_of(bench, plan.run_id)).supervisor != before and now.state is RunState.RUNNING)
    go_on.touch()
    starting.wait(60)
    delta = bench.ended(plan.run_id)
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert_whole(bench, plan.run_id, 50)
    wait_until(lambda: not members(plan.run_id))
    assert starts.read_text() == "started\n"


def test_of_two_that_would_be_the_launcher_one_ends(keeping: Keeping) -> None:
    children = []
    for _ in range(8):
        if not (child := os.fork()):
            with suppress(BaseException):
                keeping.be_launcher()
                os._exit(7)
            os._exit(1)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0] * 7 + [7]
    assert keeping.facts.launcher
    assert keeping.facts.launcher.pid == children[codes.index(7)]


def test_what_was_stopped_before_it_was_the_launcher_is_none(keeping: Keeping) -> None:
    keeping.tell(launcher=None)
    if not (child := os.fork()):
        with suppress(BaseException):
            keeping.be_launcher()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert keeping.facts.launcher is None


@pytest.mark.skipif(KERNEL < (6, 3), reason="kernels before 6.3 know no such seal")
def test_nothing_can_be_executed_from_what_is_kept_in_memory(keeping: Keeping) -> None:
    for descriptor in keeping.descriptors[2:]:
        assert not os.fstat(descriptor).st_mode & 0o111
        with pytest.raises(PermissionError):
            os.fchmod(descriptor, 0o700)


def test_a_kernel_that_does_not_know_the_seal_keeps_files_in_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    make = os.memfd_create

    def of_before(name: str, flags: int) -> int:
        if flags & ~0x7:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return make(name, flags)

    monkeypatch.setattr(os, "memfd_create", of_before)
    descriptor = file_in_memory("here")
    assert os.write(descriptor, b"x") == 1
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)
