"""What a run trained with, as DeepSpeed got its config."""

import json
from typing import Any

import pytest

from dsgui.core.runs.what_ran import what_ran
from dsgui.core.texts.languages import speaking


def told(config: dict[str, Any], arguments: list[str] | None = None, ranks: int = 2) -> list[str]:
    return list(map(str, what_ran(config, arguments, ranks)))


def test_the_trainer_fills_what_is_auto() -> None:
    config = {
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "bf16": {"enabled": "auto"},
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "nvme"}},
    }
    words = ["--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "8", "--bf16"]
    assert told(config, words) == [
        "ZeRO stage 3",
        "optimizer on CPU",
        "parameters on NVMe",
        "bf16",
        "batch 64 = 4 × 8 steps × 2 ranks",
    ]
    assert config["bf16"] == {"enabled": "auto"}
    with speaking("zh-CN"):
        assert told(config, words)[-1] == "批大小 64 = 4 × 累积 8 步 × 2 个 rank"


@pytest.mark.parametrize(
    ("config", "ranks", "batch"),
    [
        ({"train_batch_size": 16}, 2, ["batch 16 = 8 × 2 ranks"]),
        ({"train_batch_size": 16, "train_micro_batch_size_per_gpu": 4}, 1, ["batch 16 = 4 × 4 steps"]),
        ({"train_micro_batch_size_per_gpu": 4}, 1, ["batch 4"]),
        ({"train_batch_size": 16, "sequence_parallel_size": 2}, 2, ["batch 16"]),
        ({"train_batch_size": 15}, 2, []),  # DeepSpeed refuses it
        ({"train_batch_size": 0, "train_micro_batch_size_per_gpu": True}, 2, []),
        ({"train_micro_batch_size_per_gpu": "auto"}, 2, []),
        ({}, 2, []),
    ],
)
def test_the_identity_is_told_where_it_holds(config: dict[str, Any], ranks: int, batch: list[str]) -> None:
    assert told(config, None, ranks) == ["fp32", *batch]


def test_what_hangs_on_a_default_of_the_script_is_not_told() -> None:
    config = {
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "bf16": {"enabled": "auto"},
        "zero_optimization": {"stage": 2},
    }
    assert told(config, []) == ["ZeRO stage 2"]
    assert told(config, ["--per_device_train_batch_size", "4"]) == ["ZeRO stage 2"]
    assert told(config, None) == ["ZeRO stage 2"]  # the Trainer's arguments are in its code, say
    both = ["--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "1", "--bf16"]
    assert told(config, both) == ["ZeRO stage 2", "bf16", "batch 8 = 4 × 2 ranks"]


def test_of_ranks_in_parts_no_batch_is_told() -> None:
    assert told({"train_batch_size": 15, "sequence_parallel_size": 2}, ranks=3) == ["fp32"]


@pytest.mark.parametrize(
    "held",
    [
        "[]",
        '{"zero_optimization": {"stage": true}}',
        '{"zero_optimization": {"stage": -1}}',
        '{"zero_optimization": 3}',
        '{"zero_optimization": {"stage": "two"}}',
        "{}",
    ],
)
def test_of_what_is_no_setting_nothing_is_told(held: str) -> None:
    value = json.loads(held)
    assert told(value if isinstance(value, dict) else {}) == ["fp32"]
