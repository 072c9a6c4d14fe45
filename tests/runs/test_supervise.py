"""One run, from its first process to its last: real supervisors, real processes, small scripts."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from dsgui.core.errors import RunError
from dsgui.core.launch.command import MARKER
from dsgui.core.launch.state import Asked, RunState
from dsgui.core.logs.phases import Since, known_phase
from dsgui.core.logs.trainlog import Progress
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.logs.records import Pace, Rush
from dsgui.shell.machine.leftovers import build_locks, remove_shared_buffers, remove_stale_locks
from dsgui.shell.processes import processes
from dsgui.shell.processes.processes import (
    Kin,
    boot_id,
    descendants,
    forbidden,
    identify,
    is_alive,
    members,
    send_signal,
    snapshot,
)
from dsgui.shell.runs.store import Store
from dsgui.supervise import phase_of, why_they_stay
from tests.answers.remembered import SUPERVISION
from tests.support.curves_json import logged, sampled
from tests.support.run_fixtures import Bench, bench, exists, lose, wait_until

__all__ = ["bench"]

pytestmark = pytest.mark.remembered(*SUPERVISION)

FAMILY = """
    import os, signal, subprocess, sys, time
    if sys.argv[1:2] == ["stubborn"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(1, b"stubborn %d\\n" % os.getpid())
        time.sleep(600)
    def detach():
        # Twice forked, in a session of its own: nobody's child any more.
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(1, b"stray %d\\n" % os.getpid())
                time.sleep(600)
            os._exit(0)
        os.wait()
    detach()
    subprocess.Popen([sys.executable, "-u", __file__, "stubborn"])
    {then}
"""


def printed_pids(output: str) -> dict[str, int]:
    words = (line.split() for line in output.splitlines())
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdecimal()}


def start_family(bench: Bench, then: str = "time.sleep(600)") -> tuple[str, dict[str, int]]:
    run_id = bench.start(FAMILY.format(then=then))
    # Each name comes in one write with its pid: a child that is cut off in mid-line dies of its broken pipe.
    bench.wait_for_output(run_id, "stubborn")
    bench.wait_for_output(run_id, "stray")
    return run_id, printed_pids(bench.runs.follow(run_id, Cursor()).output)


STOPPED_WHILE_IT_STARTS = """
import os, pathlib, signal, sys
from dsgui import supervise
from dsgui.shell.runs.store import RunDirectory
write = supervise.Supervisor._write
def stopped_at_once(self, **changes):
    write(self, **changes)
    if not changes:
        os.kill(os.getpid(), signal.SIGTERM)
supervise.Supervisor._write = stopped_at_once
supervise.supervise(RunDirectory(pathlib.Path(sys.argv[1])), lambda: None, 1)
"""


def test_a_stop_between_the_first_state_and_the_first_process_is_no_lost_run(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print('on')")))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, "{}")
    subprocess.run([sys.executable, "-c", STOPPED_WHILE_IT_STARTS, str(directory.path)], check=True)
    delta = bench.runs.follow(plan.run_id, Cursor())
    assert (delta.state, delta.reason, delta.output) == (RunState.STOPPED, "Stopped before it started.", "")
    assert not list(directory.path.glob(".reserve*"))


def test_a_stop_before_the_first_state_is_kept_until_there_is_one(bench: Bench) -> None:
    """The supervisor is loading then: a signal would end it, and the run would have failed."""
    slow = bench.folder / "slow python"
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    slow.chmod(0o755)
    bench.runs = Runs(bench.store, Launcher(str(slow), grace_s=1))
    plan = bench.runs.prepare(bench.request(bench.script("import time; time.sleep(600)")))
    starting = threading.Thread(target=bench.runs.start, args=(plan, "{}"))
    starting.start()
    wait_until(lambda: bench.store.directory(plan.run_id).supervisor_log.exists())
    bench.runs.stop(plan.run_id)
    starting.join()
    assert bench.ended(plan.run_id).state is RunState.STOPPED


def test_a_stop_that_reaches_nobody_in_time_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would look like one that was heard."""
    monkeypatch.setattr("dsgui.runs.runs._LOADED_S", 0.2)
    plan = bench.runs.prepare(bench.request(bench.script("pass")))
    asked = Asked(1, time.monotonic(), boot_id())
    bench.store.write_plan(bench.store.create(plan.run_id), plan, "{}", asked)
    with pytest.raises(RunError, match="still starting"):
        bench.runs.stop(plan.run_id)
    bench.forget()


def test_a_run_that_ends_well_keeps_all_it_said(bench: Bench) -> None:
    run_id = bench.start("""
        import os
        for step in range(1, 4):
            print(f"step={step} loss={3 / step} lr=0.1")
        print(os.environ["DSGUI_RUN_ID"], os.environ["PYTHONUNBUFFERED"], os.getcwd())
    """)
    delta = bench.ended(run_id)
    assert (delta.state, delta.reason, delta.exit_code) == (RunState.SUCCEEDED, "", 0)
    assert [(point["step"], point["values"]["loss"]) for point in logged(delta.curves)] == [
        (1, 3.0),
        (2, 1.5),
        (3, 1.0),
    ]
    assert f"{run_id} 1 {bench.store.directory(run_id).path}" in delta.output
    speed = bench.runs.summary(run_id).steps_per_second
    assert delta.progress == {"step": 3, "total": None, "eta_s": None, "steps_per_second": speed}
    assert len(sampled(delta.curves)) >= 1
    assert sampled(delta.curves)[0]["host_total_bytes"] > 0
    assert bench.store.directory(run_id).config_file.read_text() == '{"train_batch_size": 8}'


def test_a_script_that_dies_at_once_says_why(bench: Bench) -> None:
    delta = bench.ended(bench.start("def f():\n    raise ValueError('bad è')\nf()"))
    assert (delta.state, delta.exit_code) == (RunState.FAILED, 1)
    assert delta.reason == "Ended with exit code 1: ValueError: bad è."


def test_a_silent_script_is_fine_and_a_silent_failure_says_its_code(bench: Bench) -> None:
    assert bench.ended(bench.start("")).state is RunState.SUCCEEDED
    delta = bench.ended(bench.start("raise SystemExit(3)"))
    assert (delta.state, delta.reason) == (RunState.FAILED, "Ended with exit code 3, without any message.")


def test_exit_code_0_is_no_success_when_a_rank_was_killed(bench: Bench) -> None:
    delta = bench.ended(
        bench.start("""
        print("[2026-11-21 05:52:21,303] [INFO] [launch.py:245:main] process 61 spawned with command: ['python']")
        print("[2026-11-21 05:52:29,908] [ERROR] [launch.py:285:sigkill_handler] ['x'] exits with return code = -9")
    """)
    )
    assert (delta.state, delta.exit_code) == (RunState.FAILED, 0)
    assert "SIGKILL" in delta.reason


def test_an_abort_after_the_last_metrics_is_a_success(bench: Bench) -> None:
    delta = bench.ended(bench.start("import os\nprint({'train_runtime': '1', 'train_loss': '2'})\nos.abort()"))
    assert delta.state is RunState.SUCCEEDED
    assert "SIGABRT" in delta.reason


def test_a_python_that_cannot_start_is_a_failed_run(bench: Bench) -> None:
    bench.python.write_text("#!/no/such/interpreter\n")
    delta = bench.ended(bench.start(""))
    assert delta.state is RunState.FAILED
    assert "could not be started" in delta.reason


def test_stop_ends_the_stubborn_and_the_stray(bench: Bench) -> None:
    run_id, pids = start_family(bench)
    assert all(exists(pid) for pid in pids.values())
    assert set(pids.values()) < set(bench.runs.alive_processes(run_id))
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert (delta.state, delta.reason) == (RunState.STOPPED, "Stopped on request: no processes are left.")
    assert not any(exists(pid) for pid in pids.values())
    assert bench.runs.alive_processes(run_id) == []


def test_a_process_that_ends_is_told_from_one_that_goes_on() -> None:
    with subprocess.Popen(["true"]) as ended:
        wait_until(lambda: (stat := processes.read_stat(ended.pid)) is not None and stat.zombie)
        stat = processes.read_stat(ended.pid)
        assert stat is not None
        assert stat.exiting
    own = processes.read_stat(os.getpid())
    assert own is not None
    assert not own.exiting


def test_a_guardian_on_its_way_out_is_no_process_that_a_run_left(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no command line any more by which it could be known: seen on a busy machine."""
    run_id, pids = start_family(bench)
    status = bench.store.open(run_id).read_status()
    assert status is not None
    owners = {owner.pid for owner in status.owners}
    leaving = {pid for pid, one in snapshot().items() if pid in owners and one.parent in owners}
    words, stat = processes._words, processes.read_stat
    monkeypatch.setattr(processes, "_words", lambda pid: [] if pid in leaving else words(pid))
    assert leaving & set(bench.runs.alive_processes(run_id)), "the test would show nothing"
    monkeypatch.setattr(processes, "read_stat", partial(_as_exiting, stat, leaving))
    assert not leaving & set(bench.runs.alive_processes(run_id))
    assert set(pids.values()) <= set(bench.runs.alive_processes(run_id))


def _as_exiting(
    stat: Callable[[int], processes.ProcessStat | None], leaving: set[int], pid: int
) -> processes.ProcessStat | None:
    found = stat(pid)
    return replace(found, exiting=True) if found and pid in leaving else found


def test_a_stop_counts_down_and_a_second_one_kills_at_once(bench: Bench) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=600))
    run_id, pids = start_family(bench)
    bench.runs.stop(run_id)
    wait_until(lambda: bench.runs.summary(run_id).state is RunState.STOPPING)
    left_s = bench.runs.follow(run_id, Cursor()).kill_in_s
    assert left_s is not None
    assert 500 < left_s <= 600
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert (delta.state, delta.kill_in_s) == (RunState.STOPPED, None)
    assert not any(exists(pid) for pid in pids.values())


def test_a_second_stop_kills_what_a_lost_run_left_too(bench: Bench) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=600))
    run_id, pids = start_family(bench)
    lose(bench, run_id)
    bench.runs.stop(run_id)
    wait_until(lambda: bench.runs.summary(run_id).state is RunState.STOPPING)
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED
    assert not any(exists(pid) for pid in pids.values())


def test_save_and_stop_reaches_the_ranks_alone(bench: Bench) -> None:
    run_id = bench.start(
        """
        import os, signal, subprocess, sys, time
        if sys.argv[1] == "rank":
            worker = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)  # as a DataLoader's
            signal.signal(signal.SIGTERM, lambda *_: (print("saved", worker.poll()), worker.communicate(), sys.exit(0)))
            print("on", flush=True)
            while True:
                signal.pause()
        signal.signal(signal.SIGTERM, lambda *_: print("the launcher was told"))
        subprocess.run([sys.executable, "-u", __file__, "rank"], env={**os.environ, "RANK": "0", "LOCAL_RANK": "0"})
        """,
        arguments="launcher --enable_jit_checkpoint True",
    )
    bench.wait_for_output(run_id, "on")
    assert bench.runs.follow(run_id, Cursor()).can_save
    bench.runs.save_and_stop(run_id)
    delta = bench.ended(run_id)
    assert (delta.state, delta.reason) == (RunState.STOPPED, "It saved and exited as requested.")
    assert "saved None" in delta.output  # its worker was still there
    assert "the launcher was told" not in delta.output


def test_what_the_launcher_leaves_behind_is_ended_too(bench: Bench) -> None:
    run_id, pids = start_family(bench, "time.sleep(1)")
    delta = bench.ended(run_id)
    assert delta.state is RunState.SUCCEEDED
    assert "2 processes it left behind were ended" in delta.reason
    assert not any(exists(pid) for pid in pids.values())


def test_a_run_that_floods_its_output_while_it_is_stopped_still_ends(bench: Bench) -> None:
    run_id = bench.start("""
        import signal, sys
        signal.signal(signal.SIGTERM, lambda *_: (sys.stdout.write("x" * 3_000_000 + "\\nsaved\\n"), sys.exit(0)))
        print("on")
        while True:
            signal.pause()
    """)
    bench.wait_for_output(run_id, "on")
    bench.runs.stop(run_id)
    assert bench.ended(run_id).output.endswith("saved\n")


def test_killed_guardians_and_supervisor_mean_lost_and_stop_still_ends_the_run(bench: Bench) -> None:
    run_id, pids = start_family(bench)
    assert bench.runs.summary(run_id).state is RunState.RUNNING
    lose(bench, run_id)
    delta = bench.runs.follow(run_id, Cursor())
    assert delta.state is RunState.LOST
    assert delta.alive == 3
    assert "3 processes still run; Stop ends them" in delta.reason
    assert [run.state for run in bench.runs.list()] == [RunState.LOST]
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert delta.state is RunState.STOPPED
    assert not any(exists(pid) for pid in pids.values())
    assert [run.state for run in bench.runs.list()] == [RunState.STOPPED]


def test_a_lost_run_with_nothing_left_stays_lost(bench: Bench) -> None:
    run_id = bench.start("import time\nprint('on')\ntime.sleep(600)")
    bench.wait_for_output(run_id, "on")
    status = bench.store.open(run_id).read_status()
    assert status is not None
    assert status.process is not None
    lose(bench, run_id)
    send_signal(status.process, signal.SIGKILL)
    wait_until(lambda: not is_alive(status.process))
    bench.runs.stop(run_id)
    delta = bench.runs.follow(run_id, Cursor())
    assert (delta.state, delta.alive) == (RunState.LOST, 0)
    assert delta.elapsed_s is not None


def test_output_that_is_no_text_is_kept_and_shown(bench: Bench) -> None:
    run_id = bench.start(r"""
        import os
        os.write(1, b"\xff\xfe\x80 \x1b[31mred\x1b[0m\nstep=1 loss=2\n" + "è".encode()[:1])
    """)
    delta = bench.ended(run_id)
    assert b"\xff\xfe\x80 \x1b[31mred" in bench.store.directory(run_id).output_file.read_bytes()
    assert "red" in delta.output
    assert [point["step"] for point in logged(delta.curves)] == [1]


def test_a_hundred_thousand_lines_are_all_kept(bench: Bench) -> None:
    run_id = bench.start("for n in range(100_000):\n    print('line', n)\nprint('step=1 loss=2')", environment={})
    delta = bench.ended(run_id)
    assert delta.state is RunState.SUCCEEDED
    assert bench.store.directory(run_id).output_file.read_bytes().count(b"\n") == 100_001
    assert len(logged(delta.curves)) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield folder
    # The supervisor has said its last word, and may not be gone yet: what it has open goes with it.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_said_and_the_training_goes_on(tmp_path: Path, small_disk: Path) -> None:
    bench = Bench(tmp_path)
    bench.store = Store(small_disk)
    bench.runs = Runs(bench.store, Launcher(grace_s=1))
    done, told = tmp_path / "done", tmp_path / "told"
    run_id = bench.start(
        f"""
        import pathlib, time
        for n in range(40):
            print("x" * 100_000, flush=True)
        while not pathlib.Path({str(told)!r}).exists():
            time.sleep(0.05)
        for n in range(40):  # what the last state was given up for is taken at once
            print("x" * 100_000, flush=True)
        time.sleep(1.5)
        pathlib.Path({str(done)!r}).touch()
        """,
        working_directory=str(tmp_path),
    )
    wait_until(lambda: "The disk is full" in bench.runs.follow(run_id, Cursor()).reason)
    assert bench.runs.summary(run_id).state is RunState.RUNNING
    told.touch()
    delta = bench.ended(run_id)
    assert done.exists()
    assert delta.state is RunState.SUCCEEDED
    assert "parts of this run's records are missing" in delta.reason


def test_one_line_of_a_hundred_megabytes_costs_the_supervisor_little(bench: Bench) -> None:
    ordinary, _ = supervisors_peak(bench, "import time\nprint('step=1 loss=2')\ntime.sleep(1)")
    highest, run_id = supervisors_peak(bench, "import sys\nsys.stdout.write('x' * 100_000_000 + '\\nstep=1 loss=2\\n')")
    assert [point["step"] for point in logged(bench.ended(run_id).curves)] == [1]
    assert 0 < highest < ordinary + (32 << 20)
    assert bench.store.directory(run_id).output_file.stat().st_size < 70 << 20


def supervisors_peak(bench: Bench, script: str) -> tuple[int, str]:
    """The most resident bytes that a run's supervisor had while it was seen (VmHWM), and the run's id."""
    run_id = bench.start(script)
    status = bench.store.open(run_id).read_status()
    assert status is not None
    assert status.supervisor is not None
    highest = 0
    while bench.runs.summary(run_id).state.live:
        with suppress(OSError):  # it has ended
            fields = Path(f"/proc/{status.supervisor.pid}/status").read_text("utf-8").split()
            highest = int(fields[fields.index("VmHWM:") + 1]) << 10 if "VmHWM:" in fields else highest
    return highest, run_id


def test_awkward_paths_and_arguments_arrive_unchanged(bench: Bench) -> None:
    folder = bench.folder / 'it\'s "a" folder\n$HOME è'
    folder.mkdir()
    other = Bench(folder)
    script = other.script("import os, sys; print(os.getcwd()); print(sys.argv[1:])", "tr ain'è.py")
    working_directory = folder / "w d"
    working_directory.mkdir()
    arguments = "--note 'two words' --quote \"it's\" è"
    request = other.request(script, arguments=arguments, working_directory=str(working_directory))
    delta = other.ended(other.runs.start(other.runs.prepare(request), "{}"))
    assert delta.state is RunState.SUCCEEDED, delta.reason
    assert str(working_directory) in delta.output
    config = str(other.store.directory(delta.run_id).config_file)
    assert repr(["--note", "two words", "--quote", "it's", "è", "--deepspeed", config]) in delta.output


def test_nothing_of_dsgui_reaches_the_runs_python_path(bench: Bench) -> None:
    source = "import json, os, sys\nprint(json.dumps([os.environ.get('PYTHONPATH'), *sys.path]))"
    delta = bench.ended(bench.start(source))
    given, *searched = json.loads(delta.output.splitlines()[-1])
    assert given == os.environ.get("PYTHONPATH")
    assert str(Path(__file__).parents[2]) not in searched  # an environment inside the checkout is another matter


def own_children() -> set[str]:
    """Those that ended as well, until they are waited for; another module's browser may be among them."""
    return {pid for of_thread in Path("/proc/self/task").glob("*/children") for pid in of_thread.read_text().split()}


def test_a_supervisor_leaves_this_process_no_child_and_no_descriptor(bench: Bench) -> None:
    before, children = set(os.listdir("/proc/self/fd")), own_children()
    run_id = bench.start("import time\ntime.sleep(600)")
    assert own_children() == children
    assert set(os.listdir("/proc/self/fd")) == before
    bench.runs.stop(run_id)
    bench.ended(run_id)


def test_only_proven_processes_are_a_runs(bench: Bench) -> None:
    run_id = "20260131-235959-0a1b"
    waits, piped = [sys.executable, "-c", "input()"], subprocess.PIPE
    with subprocess.Popen(waits, stdin=piped, start_new_session=True) as foreign:
        planted = identify(foreign.pid)  # a state that somebody wrote may name any process
        assert members(run_id) == members(run_id, planted) == set()
        foreign.communicate(b"\n")
    marked = {**os.environ, MARKER: run_id}
    with subprocess.Popen(waits, stdin=piped, start_new_session=True, env=marked) as other:
        identity = identify(other.pid)
        assert identity is not None
        # Linux closes what ends Popen's wait before the new environment can be read.
        wait_until(lambda: members(run_id, identity) == {other.pid})
        reused = type(identity)(identity.pid, identity.start_time - 1, identity.boot_id)
        assert members("20260131-235959-0a1c", reused) == set()
        assert not is_alive(reused)
        assert not send_signal(reused, signal.SIGKILL)
        assert not is_alive(type(identity)(identity.pid, identity.start_time, "another boot"))
        assert is_alive(identity)
        other.communicate(b"\n")
    assert identify(other.pid) is None


def test_kin_are_those_that_a_look_at_everything_finds_however_late_they_come() -> None:
    kin = Kin([os.getpid()])
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    parent = f"import subprocess, sys, time; subprocess.Popen({sleeper!r}); time.sleep(60)"
    started: list[psutil.Popen] = []
    try:
        for _ in range(3):
            assert kin.look().keys() == descendants([os.getpid()], snapshot())
            started.append(psutil.Popen([sys.executable, "-c", parent]))
            child = psutil.Process(started[-1].pid)
            wait_until(child.children)
            assert {child.pid, child.children()[0].pid} <= kin.look().keys()
        assert kin.look().keys() == descendants([os.getpid()], snapshot())
    finally:
        for process in started:
            for one in (*process.children(), process):
                one.kill()
            process.wait()
    assert not kin.look().keys() & {process.pid for process in started}


def test_a_rush_is_more_than_a_mebibyte_within_a_second() -> None:
    rush = Rush()
    assert not rush.adds(1 << 20, now=5.0)
    assert rush.adds(1, now=5.9)
    assert not rush.adds(1, now=6.1)


def test_a_rush_is_also_what_takes_long_to_read_however_few_bytes_it_is() -> None:
    rush = Rush()
    for second in range(3):  # a chunk that takes ten seconds to read
        assert not rush.adds(1000, now=20.0 * second)
        rush.works(0.1, now=20.0 * second + 0.1)
    rush.works(10.0, now=51.0)
    assert rush.adds(1000, now=51.5)
    assert not rush.adds(1000, now=54.0)  # it is over: nothing is passed over for long


def test_lines_that_are_read_quickly_are_no_rush() -> None:
    rush = Rush()
    for tenth in range(100):
        assert not rush.adds(100_000, now=tenth / 10)
        rush.works(0.02, now=tenth / 10 + 0.02)


def test_only_this_runs_shared_buffers_are_removed(tmp_path: Path) -> None:
    mine = [f"deepspeed_allreduce_buffer_{os.getuid()}_127.0.0.1_29500_{rank}" for rank in (0, 1)]
    others = [
        f"deepspeed_allreduce_buffer_{os.getuid()}_127.0.0.1_29501_0",
        f"deepspeed_allreduce_buffer_{os.getuid() + 1}_127.0.0.1_29500_0",
        "other_29500_0",
    ]
    for name in mine + others:
        (tmp_path / name).write_bytes(b"")
    assert sorted(remove_shared_buffers(29500, tmp_path)) == mine
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_a_run_removes_the_buffers_it_left(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print(open('/dev/shm/' + __import__('sys').argv[1], 'w'))")))
    name = f"deepspeed_allreduce_buffer_{os.getuid()}_127.0.0.1_{plan.master_port}_0"
    run_id = bench.runs.start(replace(plan, arguments=(name,)), "{}")
    delta = bench.ended(run_id)
    assert name in delta.output
    assert not Path("/dev/shm", name).exists()


def test_a_compiler_at_work_is_seen_though_nothing_is_printed(bench: Bench) -> None:
    (bench.folder / "cc1plus").symlink_to("/bin/sleep")
    run_id = bench.start("import subprocess, sys; subprocess.run([sys.argv[1], '600'])", arguments="../../cc1plus")
    wait_until(lambda: bench.runs.follow(run_id, Cursor()).phase == "compiling")
    bench.runs.stop(run_id)
    bench.ended(run_id)
    assert phase_of("training", {"cc1plus"}) == "training"
    assert phase_of("starting", {"python"}) == "starting"
    assert phase_of("first_step", {"cc1plus"}) == "compiling"  # one operator is built, the next is not


def test_a_run_that_has_told_a_value_starts_no_more(bench: Bench) -> None:
    """“Starting for 3 min: still loading PyTorch” stood beside its loss."""
    run_id = bench.start("import time; print({'eval_loss': 6.2}, flush=True); time.sleep(600)")
    wait_until(lambda: bench.runs.follow(run_id, Cursor()).phase == "first_values")
    bench.runs.stop(run_id)
    bench.ended(run_id)
    assert [known_phase("starting", kinds) for kinds in ({"eval", "train"}, {"eval"}, set())] == [
        "training",
        "first_values",
        "starting",
    ]
    assert known_phase("compiling", {"eval"}) == "compiling"


def test_several_operators_are_one_wait_since_the_first() -> None:
    """“About a minute” was told anew for each."""
    since = Since()
    assert since.of("importing", "starting", 2.0) == 2.0
    assert since.of("compiling", "importing", 20.0) == 20.0
    assert since.of("first_step", "compiling", 90.0) == 90.0
    assert since.of("compiling", "first_step", 95.0) == 20.0
    assert since.of("importing", "compiling", 110.0) == 110.0
    assert since.of("compiling", "importing", 112.0) == 20.0


def test_a_phase_of_a_start_says_no_time_of_those_before_it() -> None:
    """“Compiling operators 01:41 / Longer than usual” after one second of it."""
    since = Since()
    assert since.of("compiling", "importing", 100.0) == 100.0
    assert since.of("first_step", "compiling", 300.0) == 300.0
    assert since.of("compiling", "first_step", 400.0) == 400.0
    assert since.of("training", "compiling", 450.0) == 450.0
    assert since.of("compiling", "training", 451.0) == 451.0


def test_a_run_stopped_while_it_compiles_leaves_no_lock_that_others_would_wait_for(bench: Bench) -> None:
    builds = bench.folder / "torch_extensions"
    for op in ("mine", "other"):
        (builds / op).mkdir(parents=True)
    run_id = bench.start(f"""
        import os, time
        baton = os.open({str(builds / "mine/lock")!r}, os.O_CREAT | os.O_EXCL)  # as torch/utils/file_baton.py
        print("on")
        time.sleep(600)
    """)
    bench.wait_for_output(run_id, "on")
    with (builds / "other/lock").open("w"):
        bench.runs.stop(run_id)
        bench.ended(run_id)
        assert not (builds / "mine/lock").exists()
        assert remove_stale_locks([builds / "other/lock"]) == []
    assert remove_stale_locks([builds / "other/lock"]) == [str(builds / "other/lock")]


def test_a_lock_that_an_earlier_killed_build_left_does_not_hold_up_a_new_run(bench: Bench) -> None:
    builds = bench.folder / "torch_extensions"
    for op in ("stale", "py311_cpu/stale", "held"):
        (builds / op).mkdir(parents=True)
        (builds / op / "lock").touch()
    with (builds / "held/lock").open("w"):
        bench.ended(bench.start("print('on')", environment={"TORCH_EXTENSIONS_DIR": str(builds)}))
        assert build_locks(builds) == {builds / "held/lock"}


def test_the_time_left_follows_from_the_steps_done() -> None:
    pace = Pace()
    assert pace.eta_s(Progress(10, 110), 100.0) is None
    assert pace.eta_s(Progress(30, 110), 110.0) == 40.0
    assert pace.eta_s(Progress(30, None), 110.0) is None
    assert pace.eta_s(Progress(30, 110, 7.0), 110.0) == 7.0
    assert pace.eta_s(Progress(5, 110), 120.0) is None  # began again


def end_beside(bench: Bench, run_id: str) -> None:
    """As a second server does, which has not seen that another ends the run."""
    Launcher(grace_s=3).end(bench.store.open(run_id))


def test_two_that_end_what_a_lost_run_left_are_one(bench: Bench) -> None:
    run_id, pids = start_family(bench)
    lose(bench, run_id)
    directory = bench.store.open(run_id)
    end_beside(bench, run_id)
    first = directory.read_status()
    assert first
    assert first.state is RunState.STOPPING
    end_beside(bench, run_id)
    second = directory.read_status()
    assert second
    assert second.supervisor == first.supervisor
    delta = bench.ended(run_id)
    assert delta.state is RunState.STOPPED
    assert all(str(pid) in delta.reason for pid in pids.values()), delta.reason
    status = directory.read_status()
    assert status
    wait_until(lambda: not is_alive(status.supervisor))
    end_beside(bench, run_id)  # it was asked for when the run was lost still
    assert directory.read_status() == status


def test_a_process_that_may_not_be_signalled_is_said_to_be_anothers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    own = identify(os.getpid())
    assert own
    assert forbidden([own.pid, 1 << 22]) == set()
    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)
    monkeypatch.setattr(os, "kill", refuse)
    assert not send_signal(own, signal.SIGCONT)
    assert forbidden([own.pid]) == {own.pid}
    assert str(why_they_stay([own.pid, 1])) == (
        f"dsgui is not allowed to signal processes 1, {own.pid}, which run as another user. End them as that user; "
        "the run ends with them."
    )


def test_a_process_that_survives_sigkill_waits_for_the_kernel() -> None:
    assert str(why_they_stay([os.getpid()])).endswith("don't exit even after SIGKILL; waiting for the kernel.")
