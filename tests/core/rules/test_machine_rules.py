"""Buckets against the memory of a card, NVMe offload without async_io, cards from the table: rules and DeepSpeed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core import rules
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.machine.hardware import ALIASES, CARDS, Op, Target, card_named
from dsgui.core.rules.devices import bucket_bytes
from dsgui.core.validation.checker import Checker
from dsgui.ui.config.workbench import make_context
from tests.support.cases import each_case

SUPPORT = Path(__file__).parents[2] / "support"
BUCKET_ORACLE = "oracles/bucket_oracle.py"
NATIVE = Context(Integration.NATIVE)
BF16 = {"bf16": {"enabled": True}}
NO_AIO = (Op("async_io", installed=False, compatible=False, reason="no libaio"), Op("cpu_adam", False, True))


def config(precision=BF16, **zero):
    optimizer = {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}
    base = {"train_batch_size": 1, "zero_force_ds_cpu_optimizer": False, "optimizer": optimizer, **precision}
    return base | {"zero_optimization": zero}


def on(card, integration=Integration.NATIVE):
    return Context(integration, hardware=(card_named(card),))


def findings(config, context, rule):
    return [f for f in rules.check(config, context) if f.rule == rule]


BUCKETS = [
    (config(stage=1, reduce_bucket_size=1000), 2000),
    (config(stage=2, reduce_bucket_size=1000), 2000),
    (config(stage=2, reduce_bucket_size=1000, overlap_comm=True), 4000),
    (config({}, stage=2, reduce_bucket_size=1000), 4000),
    (config({}, stage=1, reduce_bucket_size=1000, overlap_comm=True), 8000),
    (config(stage=2, reduce_bucket_size=1000, contiguous_gradients=False), 0),
    (config(stage=2, reduce_bucket_size=1000, contiguous_gradients=False, offload_optimizer={"device": "cpu"}), 2000),
    (config(stage=3, reduce_bucket_size=1000), 2000),
    (config(stage=3, reduce_bucket_size=1000, overlap_comm=True), 2000),
    (config({}, stage=3, reduce_bucket_size=1000), 4000),
    (config(stage=3, reduce_bucket_size=1000, contiguous_gradients=False), 0),
]


@each_case(("asked", "expected"), BUCKETS)
def test_what_the_buckets_take(asked, expected):
    assert bucket_bytes(asked, NATIVE) == expected


@pytest.mark.deepspeed
def test_deepspeed_allocates_just_that(confirmed):
    def agrees():
        assert ask(BUCKET_ORACLE, [asked for asked, _ in BUCKETS]) == [expected for _, expected in BUCKETS]

    confirmed.check("what the buckets take", [BUCKETS, (SUPPORT / BUCKET_ORACLE).read_text("utf-8")], agrees)


def ask(oracle, configs):
    lines = "".join(json.dumps(each) + "\n" for each in configs)
    program = [sys.executable, str(SUPPORT / oracle)]
    done = subprocess.run(program, input=lines, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_bucket_larger_than_the_card_is_an_error_with_its_numbers_and_a_fix():
    asked = config(stage=2, reduce_bucket_size=5e9, overlap_comm=True)
    (finding,) = findings(asked, on("t4"), "DS034")
    assert finding.severity is Severity.ERROR
    assert "5,000,000,000 elements take 18.6 of the 16 GiB of T4 16 GB (two buffers" in finding.message
    repaired = finding.fix.apply(Document(json.dumps(asked))).value
    assert findings(repaired, on("t4"), "DS034") == []


def test_a_bucket_that_takes_most_of_the_card_is_a_warning():
    asked = config(stage=2, reduce_bucket_size=5e9)
    (finding,) = findings(asked, on("t4"), "DS034")
    assert (finding.severity, finding.pointer) == (Severity.WARNING, "/zero_optimization/reduce_bucket_size")
    assert findings(asked, on("a100-80"), "DS034") == []


@each_case("card", [card.id for card in CARDS])
def test_the_default_bucket_suits_every_card(card):
    assert findings(config({}, stage=2, overlap_comm=True), on(card), "DS034") == []


@pytest.mark.parametrize("size", ["auto", True, None, float("inf"), -1, []])
def test_a_size_that_is_none_takes_nothing(size):
    assert findings(config(stage=2, reduce_bucket_size=size), on("t4"), "DS034") == []


def test_precision_that_the_trainer_decides_counts_as_half():
    asked = config({"fp16": {"enabled": "auto"}}, stage=2, reduce_bucket_size=1000)
    assert bucket_bytes(asked, Context(Integration.HF)) == 2000


NVME = {"device": "nvme", "nvme_path": "/tmp"}


@pytest.mark.parametrize("block", ["offload_optimizer", "offload_param"])
def test_nvme_without_async_io_is_an_error_that_names_the_package(block):
    context = Context(Integration.NATIVE, missing_ops=frozenset({"async_io"}))
    (finding,) = findings(config(stage=3, **{block: NVME}), context, "DS035")
    assert (finding.severity, finding.pointer) == (Severity.ERROR, f"/zero_optimization/{block}/device")
    assert "libaio-dev" in finding.advice
    assert findings(config(stage=3, **{block: {"device": "cpu"}}), context, "DS035") == []
    assert findings(config(stage=2, **{block: NVME}), context, "DS035") == []  # acts as the CPU there
    assert findings(config(stage=3, **{block: NVME}), NATIVE, "DS035") == []


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/nvme_oracle.py")
def test_deepspeed_refuses_just_that_without_async_io(tmp_path):
    block = {"device": "nvme", "nvme_path": str(tmp_path)}
    refused, passed = ask("oracles/nvme_oracle.py", [config(stage=3, offload_optimizer=block), config(stage=3)])
    assert "Unable to JIT load the async_io op" in refused
    assert passed == "ok"


def test_operators_count_for_this_machine_and_not_for_a_planned_one():
    target = Target("python", versions={"deepspeed": "0.19.8"}, ops=NO_AIO)
    assert make_context(target, "native", 1, 1, "this", "").missing_ops == {"async_io"}
    assert make_context(target, "native", 1, 1, "a10", "").missing_ops == frozenset()
    assert make_context(Target("python"), "native", 1, 1, "this", "").missing_ops == frozenset()


def test_every_card_has_its_own_name_memory_and_for_nvidia_a_capability():
    assert len({card.id for card in CARDS}) == len({card.title for card in CARDS}) == len(CARDS)
    assert all(card.memory_bytes and (card.capability or card.vendor == "amd") for card in CARDS)
    assert set(ALIASES.values()) <= {card.id for card in CARDS}
    assert not ALIASES.keys() & {card.id for card in CARDS}
    assert card_named("abacus") is None


def test_validate_takes_a_card_by_its_short_name(tmp_path, capsys):
    (tmp_path / "ds.json").write_text(json.dumps(config(stage=2)))
    assert main(["validate", str(tmp_path / "ds.json"), "--device", "a100", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["devices"] == ["a100-40"]


def test_the_page_shows_these_findings_too(checker: Checker):
    text = json.dumps(config(stage=3, offload_param=NVME, reduce_bucket_size=9e9))
    context = Context(Integration.NATIVE, hardware=(card_named("t4"),), missing_ops=frozenset({"async_io"}))
    assert {"DS034", "DS035"} <= {f.rule for f in checker.findings(Document(text), context)}
