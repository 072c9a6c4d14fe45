"""A memory trap is one for DeepSpeed itself: its dry run took as much without the key, or less without the trap.

The answers of each release are read from tests/answers/memory_traps.json; the installed one is asked again."""

import json
import sys

import pytest

from differential.examples import Example
from dsgui.core.config.context import LATEST_KNOWN, Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.rules.memory_traps import RULES
from dsgui.shell.memory.asking import Worker
from tests.support.cases import each_case
from tests.support.memory.traps import ANSWERS, answers_of, asked_of, trapped

TABLE = json.loads(ANSWERS.read_text("utf-8"))
COSTLY = {"DS074", "DS075"}  # the others say that a key has no effect
every_trap = each_case("example", trapped(), ids=lambda example: example.name.removesuffix(".json"))


@every_trap
def test_the_dry_run_of_every_release_showed_it(example: Example):
    kept = TABLE[example.name]
    assert kept["asked"] == example.key, "run python -m tests.support.memory.traps"
    assert tuple(kept["answers"]) == asked_of(example)
    for release, (trap, mended) in kept["answers"].items():
        if example.rule in COSTLY:
            assert trap["gpu backward"] > 1.05 * mended["gpu backward"], release
        else:
            assert trap == mended, release


@pytest.mark.deepspeed
def test_the_installed_deepspeed_still_shows_it(checker, confirmed):
    def agrees():
        with Worker(sys.executable) as worker:
            asked = {example.name: answers_of(worker, example, checker, LATEST_KNOWN) for example in trapped()}
        assert asked == {name: kept["answers"][LATEST_KNOWN] for name, kept in TABLE.items()}

    confirmed.check("memory traps", {name: kept["answers"][LATEST_KNOWN] for name, kept in TABLE.items()}, agrees)


def found(checker, config, context):
    ids = {rule.id for rule in RULES}
    return {one.rule for one in checker.findings(Document(json.dumps(config)), context) if one.rule in ids}


BASE = {"train_batch_size": 8, "bf16": {"enabled": True}}
FP32 = {"data_types": {"grad_accum_dtype": "fp32"}}
CPU = {"offload_optimizer": {"device": "cpu"}}


@each_case(
    "config",
    [
        {"zero_optimization": {"stage": 2, "allgather_bucket_size": 1000, "zenflow": {}, **CPU}},
        {"zero_optimization": {"stage": 1}, "pipeline": {}, **FP32},
        {"zero_optimization": {"stage": 2, **CPU}, "optimizer": {"type": "Muon", "params": {}}, **FP32},
        {"zero_optimization": {"stage": 3, **CPU}, **FP32},
        {"zero_optimization": {"stage": 3, "contiguous_gradients": False, **CPU}},
        {"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme", "nvme_path": "/d", "buffer_count": 9}}},
        {"zero_optimization": {"stage": 3, "offload_param": {"device": "none", "buffer_count": 9}}},
        {"activation_checkpointing": {}},
    ],
    ids=str,
)
def test_where_a_key_counts_nothing_is_said(checker, config):
    context = Context(Integration.HF if "activation_checkpointing" in config else Integration.NATIVE, gpus_per_node=4)
    assert found(checker, BASE | config, context) == set()


def test_an_old_torch_gathers_in_buckets(checker):
    config = BASE | {"zero_optimization": {"stage": 2, "allgather_bucket_size": 1000}}
    assert found(checker, config, Context(Integration.NATIVE, torch_version="1.12.1")) == set()
    assert found(checker, config, Context(Integration.NATIVE, torch_version="2.13.0")) == {"DS072"}


def test_they_are_notes():
    assert {severity for rule in RULES for severity in rule.severities} == {Severity.NOTE}
