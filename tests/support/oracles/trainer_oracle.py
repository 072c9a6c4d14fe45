"""Asks the real HF Trainer and accelerate what they hand to `deepspeed.initialize`.

Reads one JSON question a line (`{"config": …, "arguments": …, "hidden_size": n, "world_size": n, "rocm": bool}`; all
but the first two may be left out, and the arguments are a mapping or a command line) and answers with that config, or
the error. Everything up to `deepspeed.initialize` is the real thing: TrainingArguments, Trainer.train,
Accelerator.prepare. Only the number of ranks is claimed, not run, and a device without bf16 is passed over.
"""

import functools
import gc
import importlib.metadata
import json
import logging
import os
import shlex
import sys
import tempfile
import warnings
from types import SimpleNamespace

os.environ |= {"DS_ACCELERATOR": "cpu", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.environ.get("MASTER_PORT", "0")}
answers, sys.stdout = sys.stdout, sys.stderr

import accelerate  # noqa: E402
import accelerate.utils.dataclasses  # noqa: E402
import deepspeed  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import HfArgumentParser, Trainer, TrainingArguments  # noqa: E402

# Asked thousands of times, and slow: which packages are there, and garbage among a million imported objects.
importlib.metadata.metadata = functools.cache(importlib.metadata.metadata)
importlib.metadata.version = functools.cache(importlib.metadata.version)
gc.freeze()
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
transformers.training_args.is_torch_bf16_gpu_available = lambda: True  # the config is judged, not this machine


class Handed(BaseException):
    """The config that reached `deepspeed.initialize`; no `except Exception` on the way catches it."""


def initialize(**handed):
    raise Handed(handed["config_params"])


deepspeed.initialize = initialize
sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # nothing is reduced: no shared memory needed


class Model(torch.nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.config = SimpleNamespace(**({} if hidden_size is None else {"hidden_size": hidden_size}))

    def forward(self, x):
        return {"loss": self.layer(x).sum()}


def claim(ranks, rocm):
    """Let the Trainer and accelerate count `ranks`; both ask these properties."""
    TrainingArguments.world_size = property(lambda self: ranks)
    accelerate.Accelerator.num_processes = property(lambda self: ranks)
    accelerate.utils.dataclasses.is_rocm_available = lambda: rocm


def made(given, config):
    """From a mapping, or from a command line as a script with HF's parser reads it."""
    fixed = {"output_dir": tempfile.gettempdir(), "deepspeed": config, "report_to": [], "save_strategy": "no"}
    if isinstance(given, dict):
        scripts_own = {"model_name_or_path"}
        given = {name: value for name, value in given.items() if name not in scripts_own}
        return TrainingArguments(**fixed, disable_tqdm=True, **given)
    parser = HfArgumentParser(TrainingArguments)
    parser.set_defaults(**fixed, disable_tqdm=True)
    return parser.parse_args_into_dataclasses(shlex.split(given), return_remaining_strings=True)[0]


def handed(question):
    claim(question.get("world_size", 1), question.get("rocm", False))
    data = [{"x": torch.zeros(2)}] * 64
    arguments = made(question["arguments"], question["config"])
    trainer = Trainer(Model(question.get("hidden_size", 64)), arguments, train_dataset=data)
    try:
        trainer.train()
    except Handed as caught:
        return caught.args[0]
    raise RuntimeError("DeepSpeed was not engaged")


def answer(question):
    try:
        config = handed(question)
    except SystemExit:
        return {"error": "the parser refuses the arguments"}
    except Exception as error:  # noqa: BLE001 — whatever the Trainer raises is the answer
        return {"error": f"{type(error).__name__}: {error}"}
    assert config.pop("steps_per_print") == float("inf")  # JSON has no infinity
    return {"config": config}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
