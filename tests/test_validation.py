"""Findings that come from the schema: types, ranges, unknown keys, and "auto" where it means nothing."""

import json

import pytest

from dsgui.core.context import Context, Integration
from dsgui.core.document import Document
from dsgui.core.findings import Severity

HF, NATIVE = Context(Integration.HF), Context(Integration.NATIVE)


def found(checker, config, context=NATIVE):
    config = {"train_batch_size": 1, **config}
    return checker.findings(Document(json.dumps(config)), context)


def test_a_wrong_type_names_what_was_seen_and_what_was_expected(checker):
    (finding,) = found(checker, {"train_batch_size": "many"})
    assert finding.message == 'train_batch_size: "many" is not a whole number of 1 or more, or “auto”.'
    assert finding.severity is Severity.ERROR


def test_sizes_may_be_spelt_5e8_but_not_have_a_fraction(checker):
    assert found(checker, {"zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8}}) == []
    (finding,) = found(checker, {"zero_optimization": {"stage": 2, "reduce_bucket_size": 943718.4}})
    assert finding.pointer == "/zero_optimization/reduce_bucket_size"


def test_an_unknown_key_of_a_strict_block_is_refused_with_a_suggestion_and_a_fix(checker):
    (finding,) = found(checker, {"zero_optimization": {"stge": 2}})
    assert finding.rule == "DS002"
    assert finding.advice == "Did you mean stage?"
    repaired = finding.fix.apply(Document('{"zero_optimization": {"stge": 2}}'))
    assert repaired.value == {"zero_optimization": {"stage": 2}}


def test_what_deepspeed_converts_is_a_note_not_an_error(checker):
    for config in (
        {"fp16": {"enabled": "true"}},
        {"zero_optimization": {"stage": "2"}},
        {"zero_optimization": {"reduce_bucket_size": "500000000"}},
    ):
        assert [f.severity for f in found(checker, config)] == [Severity.NOTE], config


def test_auto_that_hf_does_not_fill_is_an_error_with_a_fix(checker):
    (finding,) = found(checker, {"zero_optimization": {"stage": 2, "overlap_comm": "auto"}}, HF)
    assert (finding.rule, finding.severity) == ("DS003", Severity.ERROR)
    assert finding.fix.changes[0].literal is None


def test_auto_natively_is_dropped_by_pydantic_blocks_and_breaks_raw_keys(checker):
    (dropped,) = found(checker, {"zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}})
    assert dropped.severity is Severity.WARNING
    (broken,) = found(checker, {"gradient_clipping": "auto"})
    assert broken.severity is Severity.ERROR


@pytest.mark.parametrize(
    "config", [{"zero_optimization": True}, {"my own key": {"deep": [1]}}, {"optimizer": {"x": 1}}]
)
def test_what_deepspeed_accepts_or_ignores_is_no_error(checker, config):
    assert not [f for f in found(checker, config) if f.severity is Severity.ERROR]


def test_errors_come_first(checker):
    text = '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": -1}'
    severities = [f.severity.rank for f in checker.findings(Document(text), HF)]
    assert severities == sorted(severities)
    assert severities[0] == 0


def test_every_preset_passes_for_the_context_it_names(checker, catalog):
    for preset in catalog.presets():
        context = Context(preset.integration, nodes=preset.nodes, gpus_per_node=preset.gpus)
        errors = [f.message for f in checker.findings(Document(preset.text), context) if f.severity is Severity.ERROR]
        assert errors == [], preset.id
