"""Trains a tiny T5 for three steps with the real HF Trainer, once for each config given as JSON; prints a JSON text for
each: the error it ended with, "" where it trained."""

import json
import os
import sys
import tempfile

os.environ |= {"DS_ACCELERATOR": "cpu", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.environ.get("MASTER_PORT", "0")}
answers, sys.stdout = sys.stdout, sys.stderr

import torch  # noqa: E402
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments  # noqa: E402

SIZE = {"vocab_size": 32, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
ROWS = [{"input_ids": torch.arange(4), "labels": torch.arange(4)}] * 4


def end(config, folder):
    model = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0, pad_token_id=0, **SIZE))
    brief = {"max_steps": 3, "logging_steps": 1, "per_device_train_batch_size": 1}
    quiet = {"report_to": [], "save_strategy": "no", "disable_tqdm": True}
    try:
        arguments = TrainingArguments(output_dir=folder, deepspeed=config, use_cpu=True, **brief, **quiet)
        Trainer(model=model, args=arguments, train_dataset=ROWS).train()
    except Exception as error:  # noqa: BLE001 — whatever it raises is the answer
        return f"{type(error).__name__}: {error}"
    return ""


with tempfile.TemporaryDirectory() as folder:
    for words in sys.argv[1:]:
        print(json.dumps(end(json.loads(words), folder)), file=answers, flush=True)
