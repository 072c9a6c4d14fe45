"""Runs that end too early under the real DeepSpeed and go on from their last checkpoint, exact to the step.

Each script waits at a step of its own, so that a test ends it at a known place and not after a time.
"""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import RunState
from dsgui.runs.archive import Archive
from tests.answers.remembered import TRAINING
from tests.support.run_fixtures import Bench, bench, wait_until

__all__ = ["bench"]

pytestmark = [pytest.mark.deepspeed, pytest.mark.remembered(*TRAINING)]
STARTS_S = 480  # DeepSpeed compiles its operators in the first run on a machine
# Waits, or ends without a word, when a step comes for the first time.
HOLD = """
    import os, time
    from pathlib import Path
    FOLDER = Path(__file__).parent

    def first_time(step, ending):
        mark = FOLDER / f"reached {step}"
        if mark.exists():
            return
        mark.touch()
        if ending == "crash":
            os._exit(3)
        time.sleep(600)
"""
NATIVE = """
    import argparse, deepspeed, torch
    from hold import first_time
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int)
    parser.add_argument("--save_dir", required=True)
    parser.add_argument("--load_dir")
    parser.add_argument("--ckpt_id")
    parser = deepspeed.add_config_arguments(parser)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1))
    engine, *_ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters())
    begin = 0
    if args.load_dir:
        _, state = engine.load_checkpoint(args.load_dir, args.ckpt_id)
        begin = state["step"]
    rank = torch.distributed.get_rank()
    for step in range(begin + 1, 9):
        torch.manual_seed(step * 2 + rank)
        loss = (engine(torch.randn(2, 4)) - 1).square().mean()
        engine.backward(loss)
        engine.step()
        if rank == 0:
            print(f"step={step} loss={loss.item():.9g}", flush=True)
        if step % 2 == 0 and step <= 4:
            engine.save_checkpoint(args.save_dir, client_state={"step": step})
        if step == 6:
            first_time(step, "kill")
    torch.distributed.destroy_process_group()
"""
TRAINER = """
    import torch
    from hold import first_time
    from transformers import (HfArgumentParser, T5Config, T5ForConditionalGeneration, Trainer, TrainerCallback,
                              TrainingArguments)
    ENDS = {6: "crash", 10: "kill", 14: "stop"}

    class Ends(TrainerCallback):
        def on_step_begin(self, args, state, control, **kwargs):  # when the step before was printed
            if state.global_step in ENDS:
                first_time(state.global_step, ENDS[state.global_step])

    (training,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(T5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0))
    rows = [{"input_ids": torch.randint(3, 32, (4,)), "labels": torch.randint(3, 32, (4,))} for _ in range(40)]
    trainer = Trainer(model, training, train_dataset=rows, callbacks=[Ends()])
    trainer.train(resume_from_checkpoint=training.resume_from_checkpoint)
    trainer.save_state()
"""
CONFIG = {"optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}}, "zero_optimization": {"stage": 2}}
STEPS = "--max_steps 16 --save_steps 4 --logging_steps 1 --per_device_train_batch_size 2 --learning_rate 0.01"
CPU = "--use_cpu --report_to none"


def request(bench: Bench, source: str, arguments: str, how: ConfigArgument, ranks: int) -> LaunchRequest:
    bench.script(HOLD, "hold.py")
    batch = "auto" if how is ConfigArgument.HF else 2
    return bench.request(
        bench.script(source),
        arguments=arguments,
        ranks=ranks,
        config_argument=how,
        config_text=json.dumps(CONFIG | {"train_micro_batch_size_per_gpu": batch}),
        target_python=sys.executable,
        working_directory=str(bench.folder),
    )


def start(bench: Bench, asked: LaunchRequest) -> str:
    return bench.runs.start(bench.runs.prepare(asked), asked.config_text)


def wait_for_mark(bench: Bench, run_id: str, step: int) -> None:
    wait_until(lambda: (bench.folder / f"reached {step}").exists() or not is_live(bench, run_id), STARTS_S)
    wait_until(lambda: step in losses(bench, run_id) or not is_live(bench, run_id))


def is_live(bench: Bench, run_id: str) -> bool:
    return bench.runs.summary(run_id).state.live


def losses(bench: Bench, run_id: str) -> dict[int, float]:
    """What the page shows, by step."""
    for curve in bench.runs.curves(run_id):
        if (curve.series.kind, curve.series.name, curve.series.source) == ("train", "loss", "output"):
            steps, values = curve.step.tolist(), curve.value.tolist()
            assert len(set(steps)) == len(steps)
            return dict(zip(map(int, steps), values, strict=True))
    return {}


def kill_all(bench: Bench, run_id: str) -> None:
    for pid in bench.runs.alive_processes(run_id):
        os.kill(pid, signal.SIGKILL)


def whole(archive: Archive, run_id: str) -> list[str]:
    return [one["name"] for one in archive.about(run_id)["checkpoints"] if not one["problem"]]


def test_a_native_run_that_was_killed_goes_on_after_its_last_checkpoint(bench: Bench) -> None:
    archive = Archive(bench.store, bench.runs)
    asked = request(bench, NATIVE, "--save_dir saved", ConfigArgument.NATIVE, 2)
    first = start(bench, asked)
    wait_for_mark(bench, first, 6)
    kill_all(bench, first)
    assert bench.ended(first, 60).state is RunState.FAILED
    assert whole(archive, first) == ["global_step4", "global_step2"]

    made = archive.resumed(first, str(bench.folder / "saved/global_step4"))
    assert made.request.arguments == f"--save_dir saved --load_dir {bench.folder}/saved --ckpt_id global_step4"
    second = start(bench, made.request)
    assert bench.ended(second, STARTS_S).state is RunState.SUCCEEDED
    before, after = losses(bench, first), losses(bench, second)
    assert list(before) == [1, 2, 3, 4, 5, 6]
    assert list(after) == [5, 6, 7, 8]
    assert {step: after[step] for step in (5, 6)} == {step: before[step] for step in (5, 6)}
    assert whole(archive, second) == []  # it saved none: those there are the first one's


def test_a_trainer_run_goes_on_after_a_crash_a_kill_and_a_stop(bench: Bench) -> None:
    archive = Archive(bench.store, bench.runs)
    asked = request(bench, TRAINER, f"--output_dir out {STEPS} {CPU}", ConfigArgument.HF, 1)
    seen: dict[int, float] = {}
    for ends_at, begins_at, ending in ((6, 1, "crash"), (10, 5, "kill"), (14, 9, "stop"), (16, 13, "")):
        run_id = start(bench, asked)
        if ending in ("kill", "stop"):
            wait_for_mark(bench, run_id, ends_at)
            kill_all(bench, run_id) if ending == "kill" else bench.runs.stop(run_id)
        delta = bench.ended(run_id, STARTS_S)
        expected = {"stop": RunState.STOPPED, "": RunState.SUCCEEDED}.get(ending, RunState.FAILED)
        assert delta.state is expected, delta.output[-3000:]
        told = losses(bench, run_id)
        assert list(told) == list(range(begins_at, ends_at + 1))
        assert all(seen[step] == told[step] for step in seen if step in told)  # what was trained twice came out alike
        seen |= told
        if ending:
            newest = f"checkpoint-{ends_at - 2}"
            assert whole(archive, run_id) == [newest]  # its own: those before belong to the run it went on from
            asked = archive.resumed(run_id, str(bench.folder / "out" / newest)).request
    history = json.loads(Path(bench.folder, "out/trainer_state.json").read_text())["log_history"]
    assert seen == {entry["step"]: float(f"{entry['loss']:.4g}") for entry in history if "loss" in entry}
