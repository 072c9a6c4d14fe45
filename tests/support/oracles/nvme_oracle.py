"""Asks the real DeepSpeed of this environment, with a C compiler that fails so that async_io can't be compiled: reads
one config a line, answers "ok" or what deepspeed.initialize raises for a tiny model on one CPU rank."""

import json
import logging
import os
import socket
import sys

os.environ.update(DS_ACCELERATOR="cpu", CC="false")
answers, sys.stdout = sys.stdout, sys.stderr

import deepspeed  # noqa: E402
import torch  # noqa: E402
from deepspeed.ops.op_builder import PinMemoryBuilder  # noqa: E402

logging.disable(logging.CRITICAL)
PinMemoryBuilder.load = lambda self, verbose=False: None  # loaded first, and compiles for a minute


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(config):
    model = torch.nn.Linear(8, 8)
    try:
        deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    except Exception as error:  # noqa: BLE001 — whatever DeepSpeed raises is the answer
        return f"{type(error).__name__}: {error}"
    return "ok"


os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), file=answers, flush=True)
