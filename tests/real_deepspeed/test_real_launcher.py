"""What can go wrong with a run, under the real DeepSpeed launcher and two real ranks on the CPU.

`test_supervise.py` has the same cases, and more, with a stand-in for the launcher that starts at once.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, StartedBy
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.processes.processes import identify, send_signal
from tests.answers.remembered import TRAINING
from tests.runs.test_supervise import printed_pids
from tests.support.run_fixtures import Bench, bench, exists, lose, wait_until

__all__ = ["bench"]

pytestmark = [pytest.mark.deepspeed, pytest.mark.remembered(*TRAINING)]
# DeepSpeed compiles its operators in the first run on a machine.
STARTS_S = 480
GRACE_S = 3.0
CONFIG = json.dumps(
    {
        "train_micro_batch_size_per_gpu": 2,
        "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}},
    }
)
# Two words of its arguments: what each rank does about TERM, and what rank 0 starts beside the training.
TRAIN = """
    import argparse, os, signal, subprocess, sys, time
    import deepspeed, torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int)
    parser.add_argument("--stubborn", action="store_true")
    parser.add_argument("--stray", action="store_true")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--deepspeed", required=True)
    options = parser.parse_args()
    model = torch.nn.Linear(4, 1)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=options.deepspeed)
    rank = torch.distributed.get_rank()
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.stray and rank == 0 and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            print("stray", os.getpid(), flush=True)
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"], {})  # unmarked
        os._exit(0)
    print(f"rank{rank} {os.getpid()}", flush=True)
    for step in range(1, options.steps + 1):
        loss = engine(torch.ones(2, 4)).square().mean()
        engine.backward(loss)
        engine.step()
        if rank == 0 and not (options.quiet and step > 3):
            print(f"step={step} loss={loss.item():.4f}", flush=True)
        time.sleep(0.05)
    torch.distributed.destroy_process_group()
    print("trained to the end", flush=True)
"""


def request(script: Path, *words: str, launcher: StartedBy = StartedBy.DEEPSPEED) -> LaunchRequest:
    folder = str(script.parent)
    how = ConfigArgument.HF  # --deepspeed FILE
    return LaunchRequest(
        name="",
        script=str(script),
        arguments=words,
        ranks=2,
        gpu_indices=(),
        master_port=None,
        working_directory=folder,
        config_text=CONFIG,
        config_argument=how,
        target_python=sys.executable,
        environment={},
        started_by=launcher,
    )


def start(bench: Bench, *words: str, **changes: StartedBy) -> tuple[str, dict[str, int]]:
    """A run whose two ranks train; its id, and the pids it printed."""
    plan = bench.runs.prepare(request(bench.script(TRAIN), *words, **changes))
    run_id = bench.runs.start(plan, CONFIG)
    wait_until(lambda: trains(bench, run_id), STARTS_S)
    return run_id, printed_pids(bench.runs.follow(run_id, Cursor()).output)


def trains(bench: Bench, run_id: str) -> bool:
    now = bench.runs.follow(run_id, Cursor())
    assert now.state.live, now.output[-3000:]
    return "step=3" in now.output and "rank1" in now.output


def launcher_of(bench: Bench, run_id: str) -> psutil.Process:
    """DeepSpeed's runner, the first process of the run."""
    status = bench.store.open(run_id).read_status()
    assert status is not None
    assert status.process is not None
    return psutil.Process(status.process.pid)


# torchrun's ranks are the run's as DeepSpeed's are; that it starts them: test_awkward_names_reach_the_ranks_as_they_are
@pytest.mark.parametrize(
    "launcher", [StartedBy.DEEPSPEED, pytest.param(StartedBy.TORCHRUN, marks=pytest.mark.complete)]
)
def test_ranks_that_ignore_term_and_a_stray_are_gone_soon_after_the_grace(bench: Bench, launcher: StartedBy) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=GRACE_S))
    run_id, pids = start(bench, "--stubborn", "--stray", launcher=launcher)
    assert pids.keys() == {"rank0", "rank1", "stray"}
    assert set(pids.values()) < set(bench.runs.alive_processes(run_id))
    began = time.monotonic()
    bench.runs.stop(run_id)
    wait_until(lambda: not any(map(exists, pids.values())))
    took_s = time.monotonic() - began
    delta = bench.ended(run_id)
    assert (delta.state, delta.reason) == (RunState.STOPPED, "Stopped on request: no processes are left.")
    assert bench.runs.alive_processes(run_id) == []
    assert took_s + 0.2 >= GRACE_S  # they were given the time
    assert took_s <= GRACE_S + 10  # a second, where the machine is idle


def test_a_second_stop_kills_ranks_at_once(bench: Bench) -> None:
    bench.runs = Runs(bench.store, Launcher(grace_s=600))
    run_id, pids = start(bench, "--stubborn")
    bench.runs.stop(run_id)
    wait_until(lambda: bench.runs.summary(run_id).state is RunState.STOPPING)
    assert all(map(exists, pids.values()))
    began = time.monotonic()
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED
    assert not any(map(exists, pids.values()))
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("which", ["the runner", pytest.param("launch.py", marks=pytest.mark.complete)])
def test_a_launcher_that_is_killed_alone_is_no_success_and_leaves_no_rank(bench: Bench, which: str) -> None:
    run_id, pids = start(bench)
    runner = launcher_of(bench, run_id)
    victim = runner if which == "the runner" else runner.children()[0]
    assert victim.pid not in pids.values()
    killed = identify(victim.pid)
    assert killed is not None
    send_signal(killed, signal.SIGKILL)
    delta = bench.ended(run_id)
    assert delta.state is RunState.FAILED, delta.reason
    assert not any(map(exists, pids.values()))
    assert bench.runs.alive_processes(run_id) == []


def test_a_rank_that_is_killed_fails_the_run_and_takes_the_other_with_it(bench: Bench) -> None:
    run_id, pids = start(bench)
    os.kill(pids["rank1"], signal.SIGKILL)
    wait_until(lambda: not bench.runs.summary(run_id).state.live, 60)
    delta = bench.ended(run_id)
    assert delta.state is RunState.FAILED
    assert "SIGKILL" in delta.reason
    assert not any(map(exists, pids.values()))


def test_a_run_whose_owners_are_all_killed_leaves_ranks_that_are_reported_and_can_be_stopped(bench: Bench) -> None:
    run_id, pids = start(bench, "--quiet")
    lose(bench, run_id)
    lost = bench.runs.follow(run_id, Cursor())
    assert lost.alive >= 4  # the runner, launch.py and two ranks
    assert f"{lost.alive} processes still run; Stop ends them" in lost.reason
    time.sleep(2)  # nothing may turn it into an ending meanwhile
    assert bench.runs.summary(run_id).state is RunState.LOST
    assert all(map(exists, pids.values()))
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert delta.state is RunState.STOPPED
    assert not any(map(exists, pids.values()))


@pytest.mark.parametrize("launcher", [StartedBy.DEEPSPEED, StartedBy.TORCHRUN])
def test_awkward_names_reach_the_ranks_as_they_are(bench: Bench, launcher: StartedBy) -> None:
    folder = bench.folder / 'it\'s "a" folder\n$HOME `x` è ☃'
    folder.mkdir()
    there = Bench(folder)
    script = there.script(
        """
        import os, sys, torch, deepspeed
        deepspeed.init_distributed("gloo")
        if torch.distributed.get_rank() == 0:
            print("got", sys.argv[-3:], os.getcwd() == os.path.dirname(os.path.abspath(__file__)), flush=True)
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
        """,
        "tr ain'\"\n$è☃.py",
    )
    plan = there.runs.prepare(request(script, "two words", launcher=launcher))
    run_id = there.runs.start(plan, CONFIG)
    wait_until(lambda: not there.runs.summary(run_id).state.live, STARTS_S)
    delta = there.runs.follow(run_id, Cursor())
    config = str(there.store.directory(run_id).config_file)
    assert f"got {['two words', '--deepspeed', config]!r} True" in delta.output, delta.output[-3000:]
    assert delta.state is RunState.SUCCEEDED, delta.reason
