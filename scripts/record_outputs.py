"""Records what real trainings print: `python scripts/record_outputs.py [NAME…]` writes tests/outputs/NAME.txt.

Each is run on CPU, without the hub, by the transformers, DeepSpeed and tqdm that are installed. What names a machine is
replaced. tests/outputs/README.md says which samples are not from here.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent

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


def main() -> None:
    for name in sys.argv[1:] or OUTPUTS:
        (FOLDER / f"{name}.txt").write_bytes(record(name))
        print("recorded", name)


if __name__ == "__main__":
    main()
