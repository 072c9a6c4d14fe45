"""Unknown keys, keys of other releases and old names: what is said of each, and what its button writes."""

import json

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.rules.keys import key_findings, nearest
from tests.support.cases import each_case

NEWEST = Context(Integration.NATIVE)
OLDEST = Context(Integration.NATIVE, deepspeed_version="0.14.5")


def found(schema, config, context=NEWEST):
    return list(key_findings(schema, config, context))


def fixed(schema, config, context=NEWEST):
    document = Document(json.dumps(config))
    for finding in found(schema, config, context):
        if finding.fix:
            document = finding.fix.apply(document)
    return document.value


def test_a_misspelt_top_level_key_is_told_apart_from_one_of_another_program(schema):
    misspelt, foreign = found(schema, {"gradient_acumulation_steps": 4, "train_iters": 100})
    assert (misspelt.rule, misspelt.severity) == ("DS004", Severity.WARNING)
    assert "Did you mean gradient_accumulation_steps?" in misspelt.advice
    assert (foreign.rule, foreign.severity) == ("DS004", Severity.NOTE)
    assert foreign.fix is None


def test_a_rename_keeps_value_and_place_and_is_not_offered_over_an_existing_key(schema):
    assert fixed(schema, {"trainBatchSize": 4, "fp16": {}}) == {"train_batch_size": 4, "fp16": {}}
    (both,) = found(schema, {"train_batchsize": 4, "train_batch_size": 8})
    assert both.fix is None


def test_a_strict_block_refuses_what_a_raw_one_ignores(schema):
    strict, raw = found(schema, {"zero_optimization": {"overlap_coms": 1}, "flops_profiler": {"enable": True}})
    assert (strict.rule, strict.severity) == ("DS002", Severity.ERROR)
    assert (raw.rule, raw.severity, raw.pointer) == ("DS004", Severity.WARNING, "/flops_profiler/enable")


def test_a_misspelt_key_that_says_auto_is_dropped_unseen_by_a_strict_block(schema):
    for context in (NEWEST, OLDEST):
        (dropped,) = found(schema, {"zero_optimization": {"reduce_bucket_sizes": "auto"}}, context)
        assert (dropped.rule, dropped.severity) == ("DS002", Severity.WARNING)
        assert dropped.fix is not None
    (late,) = found(schema, {"zero_optimization": {"leaf_module": "auto"}}, OLDEST)
    assert (late.rule, late.severity) == ("DS005", Severity.WARNING)


def test_an_old_block_is_looked_into_for_what_its_new_name_would_not_take(schema):
    inner, outer = found(schema, {"bfloat16": {"enabled": True, "enable": True}})
    assert (inner.rule, inner.pointer, inner.severity) == ("DS002", "/bfloat16/enable", Severity.ERROR)
    assert (outer.rule, outer.pointer) == ("DS006", "/bfloat16")


@pytest.mark.parametrize("key", ["_comment", "//", "#note", "$schema", "comment"])
def test_a_note_in_the_file_is_not_worth_a_word(schema, key):
    assert found(schema, {key: "lr 3e-5 diverged", "activation_checkpointing": {key: "x"}}) == []


def test_a_key_that_came_later_says_since_when_and_is_refused_or_ignored(schema):
    config = {"zero_optimization": {"zenflow": {}}, "torch_autocast": {"enabled": True}}
    strict, raw = found(schema, config, OLDEST)
    assert (strict.rule, strict.severity) == ("DS005", Severity.ERROR)
    assert "added in DeepSpeed" in strict.message
    assert "0.14.5" in strict.message
    assert (raw.rule, raw.severity) == ("DS005", Severity.WARNING)
    assert found(schema, config) == []


def test_a_removed_block_is_named_once_with_what_takes_its_place(schema):
    (finding,) = found(schema, {"curriculum_learning": {"enabled": True, "min_difficulty": 8}})
    assert (finding.rule, finding.severity, finding.pointer) == ("DS005", Severity.ERROR, "/curriculum_learning")
    assert "data_efficiency" in finding.advice
    assert found(schema, {"curriculum_learning": {"enabled": True}}, OLDEST) == []


@each_case(
    ("old", "new"),
    [
        ({"bfloat16": {"enabled": True}}, {"bf16": {"enabled": True}}),
        (
            {"zero_optimization": {"stage": 2, "cpu_offload": True}},
            {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}},
        ),
        ({"zero_optimization": {"stage": 2, "cpu_offload": False}}, {"zero_optimization": {"stage": 2}}),
        (
            {"zero_optimization": {"stage": 3, "cpu_offload_param": True, "cpu_offload_use_pin_memory": True}},
            {"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}},
        ),
        (
            {"zero_optimization": {"stage": 3, "cpu_offload_params": True}},
            {"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}},
        ),
        (
            {"zero_optimization": {"stage3_gather_fp16_weights_on_model_save": True}},
            {"zero_optimization": {"stage3_gather_16bit_weights_on_model_save": True}},
        ),
        (
            {"zero_optimization": {"prefetch_bucket_size": 5, "stage3_prefetch_bucket_size": 7}},
            {"zero_optimization": {"stage3_prefetch_bucket_size": 7}},
        ),
        ({"bfloat16": {"enabled": True}, "bf16": None}, {"bf16": {"enabled": True}}),
        ({"zero_optimization": {"stage": 1, "cpu_offload": "false"}}, {"zero_optimization": {"stage": 1}}),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_an_old_name_is_rewritten_with_the_same_meaning(schema, old, new):
    assert fixed(schema, old) == new
    assert found(schema, new) == []


def test_a_rewrite_leaves_everything_else_as_it_was_written(schema):
    text = '{\n\t"bfloat16": {"enabled" : true},\n\t"x": 5e8\n}\n'
    (first, _) = found(schema, Document(text).value)
    assert first.fix.apply(Document(text)).text == text.replace('"bfloat16"', '"bf16"')


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Train_Batch_Size", "train_batch_size"),
        ("train-batch-size", "train_batch_size"),
        ("train_micro_batchsize_per_gpu", "train_micro_batch_size_per_gpu"),
        ("gradient_cliping", "gradient_clipping"),
        ("hidden_size", ""),
    ],
)
def test_what_was_meant_is_guessed_only_when_it_is_near(schema, typed, meant):
    assert nearest(typed, schema.keys_of("")) == meant


def test_a_size_of_tensor_parallelism_is_the_one_that_switches_it_on(schema):
    """tensor_parallel.tp.tp_size alone divides nothing, and DeepSpeed reads no inference block."""
    (flat,) = found(schema, {"tensor_parallel": {"tp_size": 2}})
    assert (flat.rule, flat.severity, flat.advice) == ("DS002", Severity.ERROR, "Did you mean autotp_size?")
    assert fixed(schema, {"tensor_parallel": {"tp_size": 2}}) == {"tensor_parallel": {"autotp_size": 2}}
    (top,) = found(schema, {"tp_size": 2})
    assert (top.rule, top.message) == (
        "DS008",
        "tp_size: ignored at the top level; DeepSpeed reads it as tensor_parallel.autotp_size.",
    )
    assert fixed(schema, {"tp_size": 2}) == {"tensor_parallel": {"autotp_size": 2}}
    both = {"tensor_parallel": {"tp_size": 2, "autotp_size": 2}}
    assert found(schema, both)[0].advice == "Remove it."
    assert fixed(schema, both) == {"tensor_parallel": {"autotp_size": 2}}


@each_case(
    ("block", "key", "value"),
    [
        ("zero_optimization", "verbose", True),
        ("zero_optimization", "seed", 1),
        ("zero_optimization", "debug", True),
        ("zero_optimization", "enabled", True),
        ("zero_optimization", "output_path", "logs"),
        ("bf16", "type", "AdamW"),
        ("fp16", "params", {}),
        ("fp16", "pin_memory", True),
        ("zero_optimization", "checkpoint", "/data"),
        ("zero_optimization", "fp16", True),
        ("zero_optimization", "tp_size", 2),
    ],
)
def test_a_name_that_unrelated_blocks_use_says_nothing_about_where_it_belongs(schema, block, key, value):
    (finding,) = found(schema, {block: {key: value}})
    assert (finding.rule, finding.advice) == ("DS002", "Remove it.")
    assert fixed(schema, {block: {key: value}}) == {block: {}}


@each_case(
    ("config", "homes"),
    [
        ({"zero_optimization": {"device": "cpu"}}, "zero_optimization.offload_optimizer.device or "),
        ({"zero_optimization": {"pin_memory": True}}, "zero_optimization.offload_param.pin_memory."),
        ({"zero_optimization": {"optimizer": {"type": "AdamW"}}}, "optimizer."),
        ({"lr": 0.1}, "optimizer.params.lr."),
        ({"fp16": {"stage": 2}}, "zero_optimization.stage."),
        ({"overlap_comm": True}, "zero_optimization.overlap_comm."),
    ],
)
def test_a_telling_name_or_one_of_the_same_block_is_sent_where_it_is_read(schema, config, homes):
    (finding,) = found(schema, config)
    assert finding.rule == "DS008"
    assert homes in finding.message
    assert "data_efficiency" not in finding.message


@each_case(
    ("config", "meant"),
    [
        ({"sparse_gradient": True}, "sparse_gradients"),
        ({"elasticty": {"enabled": True}}, "elasticity"),
        ({"curriculum_learning": {"min_dificulty": 8}}, "min_difficulty"),
        ({"progressive_layer_drop": {"teta": 0.5}}, "theta"),
    ],
)
def test_a_misspelt_key_that_a_newer_release_removed_is_known_where_it_is_read(schema, config, meant):
    (finding,) = found(schema, config, OLDEST)
    assert finding.advice == f"Did you mean {meant}?"


@each_case(
    ("config", "home"),
    [
        ({"loss_scale": "dynamic"}, "fp16.loss_scale"),
        ({"offload_optimizer": "cpu"}, "zero_optimization.offload_optimizer"),
        ({"lr": "1e-4 or so"}, "optimizer.params.lr"),
        ({"reduce_bucket_size": [1]}, "zero_optimization.reduce_bucket_size"),
    ],
)
def test_a_telling_name_is_known_with_a_value_that_does_not_fit_there_but_is_not_moved(schema, config, home):
    (finding,) = found(schema, config)
    assert finding.rule == "DS008"
    assert finding.message.endswith(f"DeepSpeed reads it as {home}.")
    assert not finding.fixes


@each_case(
    ("block", "key", "value", "meant"),
    [
        ("pipeline", "pipe_partition_method", "custom", ""),  # pipeline.partition is read by nothing
        ("pipeline", "partition_method", "custom", ""),
        ("pipeline", "pipe_partition", True, "pipe_partitioned"),
        ("hybrid_engine", "tp_size", 2, "inference_tp_size"),
        ("zero_optimization", "zero_stage", 2, "stage"),
        ("zero_optimization", "overlap_comms", "true", "overlap_comm"),
        ("zero_optimization", "stge", "2", "stage"),
        ("flops_profiler", "profile_steps", "all", ""),
    ],
)
def test_what_was_meant_is_near_in_words_and_takes_the_value(schema, block, key, value, meant):
    (finding,) = found(schema, {block: {key: value}})
    assert finding.advice.startswith(f"Did you mean {meant}?" if meant else "Nothing to do if another program")
