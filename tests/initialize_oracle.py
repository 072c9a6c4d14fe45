"""Asks the real DeepSpeed of this environment: reads one config a line, answers "ok" or the exception that
deepspeed.initialize raises for a tiny model on one CPU rank. Each config is tried in a forked child."""

import json
import logging
import os
import socket
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr

import cpuinfo  # noqa: E402
import deepspeed  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402 — every optimizer imports it, for seconds: here once, not in each child
from deepspeed.accelerator import get_accelerator  # noqa: E402
from deepspeed.ops.op_builder.cpu import CPUAdamBuilder, ShareMemCommBuilder  # noqa: E402

logging.disable(logging.CRITICAL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(config):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
    get_accelerator().is_fp16_supported = lambda: True  # the config is judged, not this machine
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
    try:
        deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    except Exception as error:  # noqa: BLE001 — whatever DeepSpeed raises is the answer
        return f"{type(error).__name__}: {error}"[:300]
    return "ok"


def in_a_child(config):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, json.dumps(ask(config)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer or json.dumps("it crashed")


KNOWN_CPU = cpuinfo.get_cpu_info()  # DeepSpeed's CPU optimizers ask anew each time, which takes seconds
cpuinfo.get_cpu_info = lambda: KNOWN_CPU
for builder in (ShareMemCommBuilder, CPUAdamBuilder):  # loaded once here, not once in each child
    builder().load(verbose=False)
for line in sys.stdin:
    print(in_a_child(json.loads(line)), file=answers, flush=True)
