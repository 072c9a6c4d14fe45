"""Trainer arguments that a DeepSpeed config already decides.

The HF Trainer compares its arguments with the numbers in the config and stops at a difference
(transformers/integrations/deepspeed.py, `fill_match`). What the command line leaves out therefore follows the config.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Place in the config → the Trainer's argument.
FOLLOWED = {
    ("train_micro_batch_size_per_gpu",): "per_device_train_batch_size",
    ("gradient_accumulation_steps",): "gradient_accumulation_steps",
    ("gradient_clipping",): "max_grad_norm",
    ("optimizer", "params", "lr"): "learning_rate",
    ("optimizer", "params", "betas", 0): "adam_beta1",
    ("optimizer", "params", "betas", 1): "adam_beta2",
    ("optimizer", "params", "eps"): "adam_epsilon",
    ("optimizer", "params", "weight_decay"): "weight_decay",
    ("scheduler", "params", "warmup_num_steps"): "warmup_steps",
    ("fp16", "enabled"): "fp16",
    ("bf16", "enabled"): "bf16",
}


def decided_by(config: str | None) -> dict[str, Any]:
    """Trainer arguments by name, for each number or switch that the config, a file or JSON, gives; "auto" and absent
    keys decide nothing. A file that can't be read decides nothing either: the Trainer says what is wrong with it."""
    read = read_config(config)
    found = {name: _at(read, path) for path, name in FOLLOWED.items()}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def read_config(config: str | None) -> dict[str, Any]:
    """A config given by its file or as JSON, as the Trainer takes it; empty for one that can't be read."""
    if not config:
        return {}
    try:
        read = json.loads(config if config.startswith("{") else Path(config).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
