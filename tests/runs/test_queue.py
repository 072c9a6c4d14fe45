"""Runs that want the same GPU: the second waits, starts anyway, or is refused; and short ones that a limit ends."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from dsgui.core.errors import RunError
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import WhenBusy
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.supervise import waits_for
from tests.support.run_fixtures import CONFIG, Bench, bench, lose, wait_until

__all__ = ["bench"]

UNTIL_TOLD = """
    import sys, time, pathlib
    print("on", flush=True)
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.05)
"""


def start(bench: Bench, name: str, when_busy: WhenBusy = WhenBusy.WAIT) -> tuple[str, Path]:
    """A run that ends when the returned file appears."""
    told = bench.folder / f"{name} may end"
    return bench.start(UNTIL_TOLD, name=name, arguments=f"'{told}'", when_busy=when_busy), told


def state(bench: Bench, run_id: str) -> RunState:
    return bench.runs.summary(run_id).state


def test_a_waiting_run_says_for_whom_and_starts_when_that_one_ends(bench: Bench) -> None:
    first, first_may_end = start(bench, "first")
    bench.wait_for_output(first, "on")
    second, second_may_end = start(bench, "second")
    wait_until(lambda: first in bench.runs.follow(second, Cursor()).reason)
    assert state(bench, second) is RunState.QUEUED
    assert bench.runs.alive_processes(second) == []
    assert bench.runs.busy() == {"cpu": ["first"]}
    planned = bench.runs.prepare(bench.request(bench.script(UNTIL_TOLD), when_busy=WhenBusy.START))
    assert bench.runs.beside(planned) == ("first",)
    assert bench.runs.beside(replace(planned, when_busy=WhenBusy.WAIT)) == ()
    first_may_end.touch()
    bench.wait_for_output(second, "on")
    assert bench.runs.follow(second, Cursor()).reason == ""
    second_may_end.touch()
    assert bench.ended(second).state is RunState.SUCCEEDED


def test_a_waiting_run_can_be_stopped(bench: Bench) -> None:
    first, first_may_end = start(bench, "first")
    second, _ = start(bench, "second")
    wait_until(lambda: state(bench, second) is RunState.QUEUED)
    bench.runs.stop(second)
    delta = bench.ended(second)
    assert (delta.state, delta.reason, delta.output) == (RunState.STOPPED, "Stopped before it started.", "")
    first_may_end.touch()
    bench.ended(first)


def test_one_may_start_anyway_and_another_refuse(bench: Bench) -> None:
    first, first_may_end = start(bench, "first")
    bench.wait_for_output(first, "on")
    second, second_may_end = start(bench, "second", WhenBusy.START)
    bench.wait_for_output(second, "on")
    with pytest.raises(RunError, match=r"this machine’s CPU in use by .*“second”"):
        start(bench, "third", WhenBusy.REFUSE)
    for run_id, may_end in ((first, first_may_end), (second, second_may_end)):
        may_end.touch()
        bench.ended(run_id)
    assert sorted(run.name for run in bench.runs.list()) == ["first", "second"]


def test_what_a_lost_run_still_uses_is_in_use(bench: Bench) -> None:
    first, first_may_end = start(bench, "first")
    bench.wait_for_output(first, "on")
    lose(bench, first)
    second, second_may_end = start(bench, "second")
    wait_until(lambda: first in bench.runs.follow(second, Cursor()).reason)
    first_may_end.touch()
    second_may_end.touch()
    assert bench.ended(second).state is RunState.SUCCEEDED


def test_what_is_waited_for_is_what_both_want(bench: Bench) -> None:
    script = bench.script("print('on')")
    mine, other, third = (
        bench.runs.prepare(bench.request(script, name=name, ranks=len(gpus), gpu_indices=gpus))
        for name, gpus in (("mine", (0, 1)), ("other", (1, 2)), ("third", (0, 3)))
    )
    assert str(waits_for(mine, [other])) == f"Waits for GPU 1: run “other” ({other.run_id}) comes first."
    assert str(waits_for(mine, [other, third])).startswith("Waits for GPUs 0, 1: run “other”")
    a, b = (replace(mine, place=Machines(text), gpu_indices=()) for text in ("w slots=2\nx slots=1", "w slots=1"))
    assert str(waits_for(a, [b])).startswith("Waits for w:0: run “mine”")
    on_cpu = bench.runs.prepare(bench.request(script))
    assert str(waits_for(on_cpu, [on_cpu])).startswith("Waits for this machine’s CPU: run “train”")


def test_runs_on_other_gpus_do_not_wait(bench: Bench) -> None:
    plans = [
        bench.runs.prepare(
            bench.request(bench.script("print('on')"), ranks=1, gpu_indices=gpus, when_busy=WhenBusy.WAIT)
        )
        for gpus in ((0,), (1,))
    ]
    assert plans[0].slots & plans[1].slots == frozenset()
    for plan in plans:
        assert bench.ended(bench.runs.start(plan, CONFIG)).state is RunState.SUCCEEDED


# Its steps follow one another until it is ended; the last is told by whoever looks.
ENDLESS = """
    import itertools, time
    for step in itertools.count(1):
        print(f"step: {step}, loss: {1 / step:.4f}", flush=True)
        time.sleep(0.05)
"""
SERVER = """
    import os, signal, sys
    from dsgui.core.launch.plan import WhenBusy
    from dsgui.shell.launch.launcher import Launcher
    from dsgui.runs.runs import Runs
    from dsgui.shell.runs.store import Store
    from pathlib import Path
    from tests.support.run_fixtures import Bench, CONFIG
    bench = Bench(Path(sys.argv[1]))
    for name in ("first", "second", "third"):
        asked = bench.request(sys.argv[2], name=name, when_busy=WhenBusy.WAIT, stop_after_steps=6)
        print(bench.runs.start(bench.runs.prepare(asked), CONFIG), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_is_stopped_once_it_has_made_its_steps(bench: Bench) -> None:
    run_id = bench.start(ENDLESS, stop_after_steps=8, stop_after_minutes=10)
    delta = bench.ended(run_id)
    assert delta.state is RunState.STOPPED
    came_to = bench.runs.summary(run_id).step  # it went on while it was told: the list and its page say this step
    at = f" (step {came_to})" if came_to != 8 else ""
    assert delta.reason.startswith(f"Stopped at its limit of 8 steps{at}: no processes are left")
    assert [event["text"] for event in delta.events if event["kind"] == "stop"] == ["Stopped at its limit of 8 steps."]
    told = bench.runs.summary(run_id)
    assert told.step is not None
    assert told.step >= 8
    assert told.step_s is not None
    assert 0.02 < told.step_s < 1
    assert bench.runs.alive_processes(run_id) == []


def test_its_limit_holds_though_its_supervisor_was_killed(bench: Bench) -> None:
    may_go_on = bench.folder / "go on"
    script = f"""
        import pathlib, time
        print("step: 1, loss: 1.0", flush=True)
        while not pathlib.Path({str(may_go_on)!r}).exists():
            time.sleep(0.02)
        for step in range(2, 10000):
            print(f"step: {{step}}, loss: 1.0", flush=True)
            time.sleep(0.05)
    """
    run_id = bench.start(script, stop_after_steps=8)
    wait_until(lambda: bench.runs.follow(run_id, Cursor()).curves["series"])
    first = bench.store.open(run_id).read_status()
    assert first is not None
    assert first.supervisor is not None
    os.kill(first.supervisor.pid, signal.SIGKILL)
    may_go_on.touch()
    assert bench.ended(run_id).reason.startswith("Stopped at its limit of 8 steps")
    last = bench.store.open(run_id).read_status()
    assert last is not None
    assert last.supervisor != first.supervisor


def test_what_waits_goes_on_when_whoever_queued_it_is_gone(bench: Bench) -> None:
    script = bench.script(ENDLESS)
    server = [sys.executable, "-c", dedent(SERVER), str(bench.folder), str(script)]
    found = subprocess.run(server, capture_output=True, text=True, timeout=90, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr
    ids = found.stdout.split()
    for run_id in ids:
        assert bench.ended(run_id).reason.startswith("Stopped at its limit of 6 steps")
    told = [bench.runs.follow(run_id, Cursor()) for run_id in ids]
    assert len(told) == 3
    for before, after in pairwise(told):
        ended, began = before.ended_at, after.started_at
        assert ended is not None
        assert began is not None
        assert ended <= began
