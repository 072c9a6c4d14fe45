"""Records what real trainings print: `python scripts/record_outputs.py [NAME…]` writes tests/outputs/NAME.txt.

Each is run on CPU, without the hub, by the transformers, DeepSpeed and tqdm that are installed. What names a machine is
replaced. tests/outputs/README.md says which samples are not from here.

    python scripts/record_outputs.py --run RUN_DIRECTORY --origin WHERE [--truth FOLDER_OR_CSV] NAME

keeps the output of a public script that was launched in dsgui, as tests/outputs/public/NAME.txt. Beside it are where
the script comes from, its options and the versions (NAME.json), and what its own files say it logged (NAME.csv). Its
code is not kept.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent

sys.path.insert(0, str(Path(__file__).parents[1]))

from differential.public_runs import truth_as_csv, truth_of
from dsgui.shell.runs.store import RunDirectory

MOST_BYTES = 60_000
FOLDER = Path(__file__).parents[1] / "tests" / "outputs"
TIMEOUT_S = 280

TRAINER = """
    import sys, torch
    from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments, logging
    logging.set_verbosity_info()
    more = dict(disable_tqdm=True) if "printer" in sys.argv else {}
    if "tokens" in sys.argv:
        more |= dict(include_num_input_tokens_seen="all")
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(T5Config(vocab_size=64, d_model=16, d_kv=4, d_ff=32, num_layers=1, num_heads=2,
                                                decoder_start_token_id=0))
    rows = [{"input_ids": torch.arange(1, 5), "labels": torch.arange(1, 5)}] * 48
    arguments = TrainingArguments("out", use_cpu=True, report_to="none", max_steps=6, logging_steps=2, eval_steps=3,
                                  eval_strategy="steps", save_steps=3, per_device_train_batch_size=4, **more)
    trainer = Trainer(model, arguments, train_dataset=rows, eval_dataset=rows[:24])
    trainer.train()
    print(trainer.predict(rows[:8]).metrics)
"""
NATIVE = """
    import os, sys, logging, torch, deepspeed
    from deepspeed.utils import logger
    logger.setLevel(logging.INFO)
    for handler in logger.handlers:
        handler.setLevel(logging.INFO)
    deepspeed.init_distributed("gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    groups = [{"params": model[0].parameters(), "lr": 1e-3}, {"params": model[1].parameters(), "lr": 1e-2}]
    config = {"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 2, "steps_per_print": 2,
              "wall_clock_breakdown": True, "memory_breakdown": "memory" in sys.argv, "dump_state": True,
              "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}}}
    engine, *_ = deepspeed.initialize(model=model, model_parameters=groups, config=config)
    for step in range(8):
        loss = engine(torch.ones(2, 8)).pow(2).mean()
        engine.backward(loss)
        engine.step()
    engine.save_checkpoint("saved")
"""
OVERFLOW = """
    import logging, torch, deepspeed
    from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler, LossScaler
    from deepspeed.utils import logger
    logger.setLevel(logging.INFO)
    for handler in logger.handlers:
        handler.setLevel(logging.INFO)
    deepspeed.init_distributed("gloo")
    scaler = DynamicLossScaler(2**16, 2.0, 1000, 1, 2, False, dtype=torch.half)
    for overflow in (True, True, True, False, True):
        scaler.update_scale(overflow)
    LossScaler(128.0).update_scale(True)
"""
BAR = """
    import time
    from tqdm import tqdm
    bar = tqdm(range(12), desc="Epoch 1/1")
    for step in bar:
        time.sleep(0.12)
        bar.set_postfix(loss=3 / (step + 1), lr=1e-05)
        if step == 5:
            tqdm.write("saving a picture")
"""
LOOP = """
    import json, logging
    from accelerate import Accelerator
    from accelerate.logging import get_logger
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S",
                        level=logging.INFO)
    accelerator, log = Accelerator(cpu=True), get_logger(__name__)
    log.info("***** Running training *****")
    log.info("  Num examples = 48")
    log.info("  Instantaneous batch size per device = 8")
    log.info("  Total optimization steps = 4")
    for step in range(1, 5):
        log.info(f"step {step}: loss = {2 / step:.4f}, lr = {1e-4 / step:.2e}")
        accelerator.print(json.dumps({"step": step, "metrics": {"loss": 2 / step, "lr": 1e-4}}))
    log.warning("The learning rate fell to 0.")
    accelerator.print("epoch 0: {'accuracy': 0.5}")
"""
RANKS = """
    import os
    import torch.distributed as dist
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(1, 4):
        for turn in range(dist.get_world_size()):
            if turn == rank:
                print(f"Rank[{rank}]: Epoch 1, step {step * 7} / 37256, loss {3.7812 / step + rank:.4f}", flush=True)
            dist.barrier()
    dist.destroy_process_group()
"""
TORCHRUN = ("-m", "torch.distributed.run", "--nproc_per_node=2", "--master_port=PORT")
# Name: the words that start it ("SCRIPT" is the script), the script, its own words.
OUTPUTS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "trainer": (("SCRIPT",), TRAINER, ()),
    "trainer-printer": (("SCRIPT",), TRAINER, ("printer",)),
    "trainer-tokens": (("SCRIPT",), TRAINER, ("tokens",)),
    "deepspeed": (("SCRIPT",), NATIVE, ()),
    "deepspeed-memory": (("SCRIPT",), NATIVE, ("memory",)),
    "deepspeed-overflow": (("SCRIPT",), OVERFLOW, ()),
    "tqdm": (("SCRIPT",), BAR, ()),
    "accelerate": (("SCRIPT",), LOOP, ()),
    "ranks-torchrun": ((*TORCHRUN, "--tee=3", "SCRIPT"), RANKS, ()),
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def ranked() -> dict[str, str]:
    """The environment: one rank, unless torchrun says otherwise."""
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
    quiet = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    return os.environ | alone | quiet | {"MASTER_PORT": str(free_port()), "PYTHONUNBUFFERED": "1"}


def anonymous(output: bytes, folder: str) -> bytes:
    """Without what names this machine: folders, the host, processes."""
    text = output.decode("utf-8", "replace").replace(folder, "/home/someone/training")
    for place in (sys.prefix, sys.base_prefix):
        text = text.replace(place, "/opt/python")
    text = re.sub(r"(?<![\w.])/(?:tmp|root|work)/[^\s'\"]*?(?=[^\s'\"/]*(?:[\s'\"]|\Z))", "/home/someone/", text)
    text = re.sub(r" at 0x[0-9a-f]+>", " at 0x7f>", text)
    return text.replace(socket.gethostname(), "a-machine").encode()


def record(name: str) -> bytes:
    """What the program printed, without what names this machine. Raises CalledProcessError where it failed."""
    start, source, words = OUTPUTS[name]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(dedent(source), "utf-8")
        command = [sys.executable, *(str(script) if word == "SCRIPT" else word for word in start), *words]
        command = [word.replace("PORT", str(free_port())) for word in command]
        done = subprocess.run(
            command, cwd=folder, env=ranked(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S
        )
        if done.returncode:
            sys.stdout.buffer.write(done.stdout)
            raise subprocess.CalledProcessError(done.returncode, command)
        return anonymous(done.stdout, folder)


# ----------------------------------------------------------------------------------------------- a public script's run
def keep_run(run: Path, name: str, origin: str, truth: Path | None, target: Path = FOLDER / "public") -> None:
    """Writes NAME.* into `target`. Raises OSError, or ValueError where `truth` holds nothing."""
    directory = RunDirectory(run)
    plan, state = directory.read_plan(), directory.read_status().state.value
    folders = {
        plan.run_directory: "/home/someone/runs/a-run",
        str(Path(plan.script).parent): "/home/someone/scripts",
        plan.working_directory: "/home/someone/training",
        str(Path(plan.target_python).parents[1]): "/opt/python",
    }
    about = {
        "script": Path(plan.script).name,
        "origin": origin,
        "versions": json.loads(directory.provenance_file.read_text("utf-8"))["versions"],
        "ranks": plan.ranks,
        "options": list(plan.arguments),
        "state": state,
    }
    target.mkdir(exist_ok=True)
    output = _neutral(directory.output_file.read_bytes().decode("utf-8", "replace"), folders)
    (target / f"{name}.txt").write_bytes(trimmed(anonymous(output.encode(), str(FOLDER))))
    text = _neutral(json.dumps(about, ensure_ascii=False, indent=1), folders)
    (target / f"{name}.json").write_bytes(anonymous(text.encode(), str(FOLDER)) + b"\n")
    if truth:
        (target / f"{name}.csv").write_text(truth_as_csv(truth_of(truth)), "utf-8")


def _neutral(text: str, folders: dict[str, str]) -> str:
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(folder, folders[folder])
    return text


def trimmed(output: bytes, most: int = MOST_BYTES) -> bytes:
    """At most that long where bars can be thinned: what the next redraw overwrites goes first, evenly."""
    pieces, every = output.split(b"\r"), 1
    while sum(map(len, pieces)) + len(pieces) > most and every < 1 << 12:
        every *= 2
        pieces = [piece for place, piece in enumerate(output.split(b"\r"))
                  if b"\n" in piece or place % every == 0]  # fmt: skip
    return b"\r".join(pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--run", type=Path, help="the run directory of a public script")
    parser.add_argument("--origin", default="", help="repository, path and commit of the script")
    parser.add_argument("--truth", type=Path, help="the folder the script wrote to, or a CSV")
    options = parser.parse_args()
    if options.run:
        keep_run(options.run, options.names[0], options.origin, options.truth)
        return
    for name in options.names or OUTPUTS:
        (FOLDER / f"{name}.txt").write_bytes(record(name))
        print("recorded", name)


if __name__ == "__main__":
    main()
