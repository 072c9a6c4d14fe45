"""An optimizer or scheduler block without a type under the real HF Trainer, which trains for it."""

import json
from pathlib import Path

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Severity
from dsgui.core.rules import check
from tests.support.recipes import python

TRAIN = Path(__file__).parents[1] / "support" / "oracles" / "training_oracle.py"
HF = Context(Integration.HF)
STAGE = {"train_micro_batch_size_per_gpu": "auto", "zero_allow_untested_optimizer": True}
BLOCKS = {
    "no blocks": {},
    "an empty scheduler": {"scheduler": {}},
    "a scheduler of type null": {"optimizer": {"type": "Adam", "params": {"lr": "auto"}}, "scheduler": {"type": None}},
    "a scheduler without a name": {"scheduler": {"type": ""}},
    "an empty optimizer": {"optimizer": {}},
    "an optimizer of type null": {"optimizer": {"type": None, "params": {"lr": "auto"}}},
    "an optimizer without a name": {"optimizer": {"type": ""}},
}


@pytest.mark.deepspeed
@pytest.mark.parametrize("stage", [0, 1, 3])
def test_what_is_said_of_it_is_what_the_trainer_does(confirmed, tmp_path, stage):
    configs = {name: {**STAGE, "zero_optimization": {"stage": stage}, **blocks} for name, blocks in BLOCKS.items()}
    told = {name: _errors(config) for name, config in configs.items()}
    assert [name for name, found in told.items() if not found] == ["no blocks"]

    def agree():
        done = python([str(TRAIN), *map(json.dumps, configs.values())], tmp_path)
        ends = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('"')]
        assert [bool(end) for end in ends] == [bool(found) for found in told.values()], done.stderr[-2000:]
        quoted = [part for found in told.values() for part in found.split("“")[1:] if "requires" in part]
        assert all(any(part.split("”")[0] in end for end in ends) for part in quoted)

    confirmed.check(f"blocks without a type at stage {stage}", [configs, told, TRAIN.read_text("utf-8")], agree)


def _errors(config: dict) -> str:
    return " ".join(str(one.says) for one in check(config, HF) if one.severity is Severity.ERROR)
