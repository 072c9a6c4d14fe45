"""Asks the real DeepSpeed of this environment, in a process of its own: reads one JSON question a line
(`{"config": …, "world_size": n}`) and answers with the solved batch or the exception."""

import json
import logging
import os
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr

import deepspeed.comm as dist  # noqa: E402
from deepspeed.runtime.config import DeepSpeedConfig  # noqa: E402

logging.disable(logging.CRITICAL)


def answer(question):
    dist.get_rank = lambda group=None: 0
    dist.get_world_size = lambda group=None: question["world_size"]
    try:
        config = DeepSpeedConfig(question["config"])
    except Exception as error:  # noqa: BLE001 — whatever DeepSpeed raises is the answer
        return {"verdict": "reject", "message": f"{type(error).__name__}: {error}"}
    batch = config.train_batch_size, config.train_micro_batch_size_per_gpu, config.gradient_accumulation_steps
    return {"verdict": "ok", "batch": batch}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
