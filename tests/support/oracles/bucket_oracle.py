"""Asks the real DeepSpeed of this environment: reads one config a line, answers the bytes of the gradient buckets that
one CPU rank has allocated when a backward pass begins."""

import json
import logging
import os
import socket
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr

import deepspeed  # noqa: E402
import torch  # noqa: E402
from deepspeed.accelerator import get_accelerator  # noqa: E402

logging.disable(logging.CRITICAL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def held(optimizer):
    """The bytes of all buckets; stage 3 has one buffer a bucket, the others a list."""
    buffers = [bucket.buffer for bucket in optimizer.ipg_buckets.values()]
    tensors = [t for each in buffers for t in (each if isinstance(each, list) else [each]) if t is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def ask(config):
    model = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    optimizer, seen = engine.optimizer, []
    if hasattr(optimizer, "setup_buckets"):
        ready = optimizer.setup_buckets
        optimizer.setup_buckets = lambda: (ready(), seen.append(held(optimizer)))
    else:
        seen.append(held(optimizer))
    engine.backward(engine(torch.ones(1, 8, dtype=next(model.parameters()).dtype)).sum())
    engine.destroy()
    return seen[0]


os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
get_accelerator().is_fp16_supported = lambda: True
for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), file=answers, flush=True)
