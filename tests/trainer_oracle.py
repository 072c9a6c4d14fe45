"""Asks the real HF Trainer what it fills into a config: reads one JSON question a line (`{"config": …, "arguments": …,
"steps": n}`) and answers with the filled config, or the error."""

import json
import os
import sys
from types import SimpleNamespace

os.environ["DS_ACCELERATOR"] = "cpu"
answers, sys.stdout = sys.stdout, sys.stderr

from transformers import TrainingArguments  # noqa: E402


def filled(question):
    arguments = TrainingArguments(
        output_dir="output", use_cpu=True, deepspeed=question["config"], **question["arguments"]
    )
    model = SimpleNamespace(config=SimpleNamespace(hidden_size=64))
    arguments.hf_deepspeed_config.trainer_config_finalize(arguments, model, question["steps"])
    config = arguments.hf_deepspeed_config.config
    config.pop("steps_per_print", None)  # infinity
    return {"config": config}


def answer(question):
    try:
        return filled(question)
    except Exception as error:  # noqa: BLE001 — whatever the Trainer raises is the answer
        return {"error": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
