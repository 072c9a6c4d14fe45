"""Runs that want the same GPU: the second waits, starts anyway, or is refused."""

from dataclasses import replace
from pathlib import Path

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
