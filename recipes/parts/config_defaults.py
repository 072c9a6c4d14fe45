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


def decided_by(config_file: str | None) -> dict[str, Any]:
    """Trainer arguments by name, for each number or switch that the config gives; "auto" and absent keys decide
    nothing. A file that can't be read decides nothing either: the Trainer says what is wrong with it."""
    if not config_file:
        return {}
    try:
        config = json.loads(Path(config_file).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    found = {name: _at(config, path) for path, name in FOLLOWED.items()}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
