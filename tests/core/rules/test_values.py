"""Findings that come from the schema: types, ranges, unknown keys, and "auto" where it means nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.machine.hardware import CARDS, Hardware
from tests.support.cases import each_case

HF, NATIVE = Context(Integration.HF), Context(Integration.NATIVE)


def found(checker, config, context=NATIVE):
    config = {"train_batch_size": 1, "optimizer": {"type": "AdamW", "params": {}}, **config}
    config.setdefault("zero_optimization", {"stage": 0})
    config.setdefault("gradient_clipping", 1.0)
    return checker.findings(Document(json.dumps(config)), context)


def test_a_wrong_type_names_what_was_seen_and_what_was_expected(checker):
    (finding,) = found(checker, {"train_batch_size": "many"})
    assert finding.message == 'train_batch_size: "many" is not a whole number of 1 or more.'
    assert finding.severity is Severity.ERROR


def test_sizes_may_be_spelt_5e8_but_not_have_a_fraction(checker):
    assert found(checker, {"zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8}}) == []
    (finding,) = found(checker, {"zero_optimization": {"stage": 2, "reduce_bucket_size": 943718.4}})
    assert finding.pointer == "/zero_optimization/reduce_bucket_size"


def test_an_unknown_key_of_a_strict_block_is_refused_with_a_suggestion_and_a_fix(checker):
    (finding,) = found(checker, {"zero_optimization": {"stge": 2}})
    assert finding.rule == "DS002"
    assert finding.advice == "Did you mean stage?"
    text = '{"zero_optimization": {"stge": 2e0, "overlap_comm": true}}'
    assert finding.fix.apply(Document(text)).text == text.replace("stge", "stage")


def test_what_deepspeed_converts_is_a_note_not_an_error(checker):
    for config in (
        {"fp16": {"enabled": "true"}},
        {"zero_optimization": {"stage": "2"}},
        {"zero_optimization": {"reduce_bucket_size": "500000000"}},
        {"zero_optimization": {"reduce_bucket_size": "5.0"}},
        {"zero_optimization": {"reduce_bucket_size": "+500_000_000"}},
        {"zero_optimization": {"overlap_comm": 1.0}},
        {"data_efficiency": {"data_sampling": {"dynamic_batching": {"min_batch_size": "2"}}}},
    ):
        assert [f.severity for f in found(checker, config)] == [Severity.NOTE], config


@each_case(
    "config",
    [
        {"zero_optimization": {"stage": "10"}},
        {"zero_optimization": {"reduce_bucket_size": "5e8"}},
        {"zero_optimization": {"offload_optimizer": {"device": "cpu", "ratio": "10"}}},
        {"zero_optimization": {"overlap_comm": 2}},
        {"fp16": {"loss_scale": "true"}},
        {"flops_profiler": {"enabled": "yes"}},
        {"torch_autocast": {"dtype": "abc"}},  # read whether autocast is on or not
        {"data_efficiency": {"data_sampling": {"dynamic_batching": {"min_batch_size": "abc"}}}},
        {"train_batch_size": False},
    ],
)
def test_what_deepspeed_can_not_convert_is_an_error(checker, config):
    assert [f.severity for f in found(checker, config)] == [Severity.ERROR]


def test_a_fix_leaves_the_block_that_the_trainer_insists_on(checker):
    config = {"train_batch_size": "auto", "zero_optimization": {"round_robin_gradients": "auto"}}
    (finding,) = [f for f in found(checker, config, HF) if f.fix]
    assert finding.fix.apply(Document(json.dumps(config))).value["zero_optimization"] == {}


def test_natively_every_auto_can_be_written_out_at_once(checker, catalog):
    preset = next(p for p in catalog.presets() if p.integration is Integration.HF)
    document = Document(preset.text)
    fixes = [f.fix for f in checker.findings(document, NATIVE) if f.fix and "every “auto”" in str(f.fix.label)]
    assert len(fixes) == 1
    fixed = fixes[0].apply(document)
    assert '"auto"' not in fixed.text
    assert not checker.has_error(fixed, NATIVE)


def test_what_counts_as_convertible_follows_the_release(checker):
    def severities(config, release):
        context = Context(Integration.NATIVE, deepspeed_version=release)
        return {f.severity for f in checker.findings(Document(json.dumps(config)), context)}

    for config, old, new in (
        ({"train_batch_size": 1, "fp16": {"loss_scale": -1}}, "0.18.7", "0.18.8"),
        ({"train_batch_size": 1, "fp16": {"min_loss_scale": True}}, "0.19.2", "0.19.3"),
        ({"train_batch_size": 1, "csv_monitor": {"job_name": 1}}, "0.14.5", "0.15.0"),
    ):
        assert Severity.ERROR not in severities(config, old), (config, old)
        assert Severity.ERROR in severities(config, new), (config, new)
    assert Severity.ERROR in severities({"train_batch_size": 1, "zero_optimization": {"stage": "1"}}, "0.14.5")


def test_a_raw_switch_takes_numbers_for_true_and_false(checker):
    for value in (0, 1):
        (finding,) = found(checker, {"wall_clock_breakdown": value})
        assert (finding.severity, str(bool(value)).lower() in finding.message) == (Severity.WARNING, True)


@pytest.mark.parametrize(
    ("config", "counted"),
    [
        ({"activation_checkpointing": {"number_checkpoints": False}}, "0"),
        ({"activation_checkpointing": {"number_checkpoints": True}}, "1"),
        ({"steps_per_print": -5}, "5"),
    ],
)
def test_what_deepspeed_counts_all_the_same_is_a_warning_that_says_as_what(checker, config, counted):
    document = Document(json.dumps({"train_batch_size": 8} | config))
    (found,) = [one for one in checker.findings(document, Context(Integration.NATIVE)) if one.rule == "DS001"]
    assert (found.severity, found.code) == (Severity.WARNING, "DS001.counted")
    assert found.message.endswith(f"DeepSpeed counts it as {counted}.")


def test_auto_that_hf_does_not_fill_is_an_error_with_a_fix(checker):
    config = {"train_batch_size": 8, "zero_optimization": {"stage": 2, "overlap_comm": "auto"}}
    (finding,) = found(checker, config, HF)
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


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(["auto", "1e999", "true", 1e200, 10**290, -1, 0]),
    lambda v: (
        st.lists(v, max_size=2) | st.dictionaries(st.sampled_from(["enabled", "stage", "params", "x"]), v, max_size=2)
    ),
    max_leaves=4,
)
keys = [
    "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping",
    "zero_optimization", "fp16", "bf16", "bfloat16", "amp", "optimizer", "scheduler", "unheard of",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(keys), json_values, max_size=5), st.sampled_from(["0.14.5", "0.19.8"]))
def test_no_config_whatever_breaks_the_checks_and_every_fix_can_be_applied(checker, config, version):
    document = Document(json.dumps(config))
    hardware = (*CARDS[:2], Hardware("this", "CPU", "cpu", bf16=True, fp16=False))
    for reader in Integration:
        context = Context(reader, gpus_per_node=2, deepspeed_version=version, hardware=hardware)
        for finding in checker.findings(document, context):
            assert finding.message
            if finding.fix:
                assert finding.fix.apply(document).text != document.text


def test_every_preset_passes_for_the_context_it_names(checker, catalog):
    for preset in catalog.presets():
        context = Context(preset.integration, nodes=preset.nodes, gpus_per_node=preset.gpus)
        errors = [f.message for f in checker.findings(Document(preset.text), context) if f.severity is Severity.ERROR]
        assert errors == [], preset.id
