"""The schema is a valid 2020-12 schema, complete and explained, and the presentation shows each of its leaves once."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dsgui.core.config.pointer import join, split
from tests.support.cases import each_case

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas/ds_config.schema.json").read_text("utf-8"))
PRESENTATION = json.loads((ROOT / "schemas/presentation.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

SECTIONS = [
    *("batch", "precision", "optimizer", "scheduler", "zero", "offload", "activation", "parallel", "data"),
    *("checkpoint", "compile", "io", "logging", "autotuning", "other", "removed"),
]
# A leaf without a default is one that DeepSpeed requires, or derives when it is absent and does not take as null.
WITHOUT_DEFAULT = {
    *("/optimizer/params/max_grad_norm", "/sequence_parallel_size", "/data_parallel_size", "/tensor_parallel/dtype"),
    *("/expert_parallel/load_balance_coeff", "/expert_parallel/expert_w3"),
    *("/zero_optimization/zeropp_loco_param/err_beta", "/zero_optimization/zeropp_loco_param/reset_T"),
    "/torch_autocast/dtype",
    "/torch_autocast/lower_precision_safe_modules",
    "/optimizer/type",
    "/optimizer/params/momentum",
    "/optimizer/params/muon_lr",
    "/optimizer/params/adam_lr",
    "/scheduler/type",
    "/scheduler/params/total_num_steps",
    "/scheduler/params/cycle_min_lr",
    "/scheduler/params/cycle_max_lr",
}
# Blocks whose code indexes its keys while the block is on: what is needed then has no default.
READ_WHILE_ON = (
    *("/data_efficiency/", "/curriculum_learning/", "/compression_training/", "/progressive_layer_drop/"),
    *("/weight_quantization/quantized_initialization/", "/weight_quantization/post_init_quant"),
)
FILLED_BY_HF = {
    *("/train_batch_size", "/train_micro_batch_size_per_gpu", "/gradient_accumulation_steps", "/gradient_clipping"),
    *(f"/optimizer/params/{key}" for key in ("lr", "betas", "eps", "weight_decay")),
    *(f"/scheduler/params/{k}" for k in ("warmup_min_lr", "warmup_max_lr", "warmup_num_steps", "total_num_steps")),
    *("/fp16/enabled", "/bf16/enabled", "/zero_optimization/stage", "/zero_optimization/reduce_bucket_size"),
    *(
        f"/zero_optimization/stage3_{key}"
        for key in ("prefetch_bucket_size", "param_persistence_threshold", "gather_16bit_weights_on_model_save")
    ),
    *(f"/zero_optimization/offload_{what}/{key}" for what in ("param", "optimizer") for key in ("device", "nvme_path")),
}
VENDOR = {
    *("x-model", "x-auto", "x-unit", "x-since", "x-removed", "x-removed-message", "x-renamed-to"),
    *("x-for-types", "x-default-for-types", "x-before", "x-values-since", "x-values-removed"),
}


def main_branch(node):
    return node["anyOf"][0] if "anyOf" in node else node


def walk(node, path=(), deprecated=False):
    """Every key: its pointer, its schema, and whether it or a block around it is deprecated."""
    for key, child in main_branch(node).get("properties", {}).items():
        old = deprecated or child.get("deprecated", False)
        yield join((*path, key)), child, old
        yield from walk(child, (*path, key), old)


NODES = list(walk(SCHEMA))
LEAVES = {pointer: node for pointer, node, _ in NODES if "properties" not in main_branch(node)}
CURRENT = {pointer for pointer, _, deprecated in NODES if pointer in LEAVES and not deprecated}
SHOWN = [field for section in PRESENTATION["sections"] for field in section["fields"]]


def refused(config):
    return [error.json_path for error in VALIDATOR.iter_errors(config)]


# -------------------------------------------------------------------------------------------------------- the schema
def test_it_is_a_valid_2020_12_schema_with_a_name():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$id"].startswith("urn:")
    assert SCHEMA["title"]
    assert SCHEMA["description"]


@each_case(("pointer", "node"), [(p, n) for p, n, _ in NODES], ids=[p for p, _, _ in NODES])
def test_every_key_is_titled_and_explained(pointer, node):
    assert 0 < len(node["title"]) <= 45
    assert node["title"][0] != " "
    assert 20 <= len(node["description"]) <= 400
    assert node["description"].endswith((".", ")"))


@each_case("pointer", LEAVES)
def test_every_leaf_has_a_type_and_a_default_it_accepts(pointer):
    node = LEAVES[pointer]
    assert "$ref" not in node
    assert {"type", "enum"} & main_branch(node).keys()
    assert "default" in node or pointer in WITHOUT_DEFAULT or pointer.startswith(READ_WHILE_ON)
    if "default" in node:
        assert list(Draft202012Validator(node).iter_errors(node["default"])) == []
    for kind, value in node.get("x-default-for-types", {}).items():
        assert kind in node["x-for-types"] if "x-for-types" in node else True
        assert list(Draft202012Validator(node).iter_errors(value)) == []


def test_no_two_current_keys_of_a_block_share_a_title():
    seen = {}
    for pointer in CURRENT:
        seen.setdefault((split(pointer)[:-1], LEAVES[pointer]["title"]), []).append(pointer)
    assert [pointers for pointers in seen.values() if len(pointers) > 1] == []


def test_every_block_says_how_deepspeed_reads_it():
    for pointer, node, _ in [("", SCHEMA, False), *NODES]:
        main = main_branch(node)
        if "properties" in main:
            assert main["x-model"] in {"pydantic", "raw"}, pointer
            assert ("additionalProperties" in main) == (main["x-model"] == "pydantic"), pointer


def test_auto_is_offered_where_the_hf_trainer_fills_it():
    assert {pointer for pointer, node in LEAVES.items() if node.get("x-auto") == "hf"} == FILLED_BY_HF
    assert {node["x-auto"] for node in LEAVES.values() if "x-auto" in node} == {"hf", "deepspeed"}
    for pointer in FILLED_BY_HF:
        assert LEAVES[pointer]["x-auto"] == "hf"
        assert LEAVES[pointer]["anyOf"][1:] == [{"const": "auto"}]


def test_vendor_keywords_are_known_and_renames_lead_to_a_current_key():
    pointers = {pointer: deprecated for pointer, _, deprecated in NODES}
    for pointer, node, _ in NODES:
        assert {key for key in {**node, **main_branch(node)} if key.startswith("x-")} <= VENDOR, pointer
        if "x-renamed-to" in node:
            assert pointers[node["x-renamed-to"]] is False, pointer


@each_case(
    "config",
    [
        {},
        {"zero_optimization": {"reduce_bucket_size": 5e8, "stage": 2.0}},
        {"zero_optimization": {"stage3_prefetch_bucket_size": 0.94e6, "max_live_parameters": 1e9}},
        {"zero_optimization": True, "allgather_size": 5e8},
        {"zero_optimization": {"offload_param": None, "overlap_comm": None, "zenflow": {}}},
        {"zero_optimization": {"cpu_offload": True, "cpu_offload_use_pin_memory": True}},
        {"bf16": None, "bfloat16": {"enabled": True}},
        {"communication_data_type": "FP16", "log_level": "Debug", "gradient_allreduce_op": "SUM"},
        {"data_types": {"grad_accum_dtype": "bfloat16"}, "torch_autocast": {"dtype": "torch.float16"}},
        {"optimizer": {"type": "NAdam", "params": {"lr": 1e-3, "momentum_decay": 4e-3}}},
        {"scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": [1e-3, 1e-4], "warmup_type": "cubic"}}},
        {"fp16": {"enabled": False, "loss_scale_window": 0}},
        {"train_batch_size": None, "train_micro_batch_size_per_gpu": 1},
        {"some_future_key": {"anything": 1}, "activation_checkpointing": {"typo": 1}},
    ],
    ids=json.dumps,
)
def test_what_deepspeed_accepts_is_not_refused(config):
    assert refused(config) == []


@each_case(
    "config",
    [
        {"train_batch_size": 0},
        {"train_micro_batch_size_per_gpu": 8.5},
        {"zero_optimization": {"stage": 4}},
        {"zero_optimization": {"overlap_coms": True}},
        {"zero_optimization": {"reduce_bucket_size": 0}},
        {"zero_optimization": {"stage3_max_live_parameters": -1}},
        {"zero_optimization": {"reduce_bucket_size": 943718.4}},
        {"zero_optimization": {"offload_optimizer": {"device": "gpu"}}},
        {"zero_optimization": {"offload_optimizer": {"ratio": 1.5}}},
        {"zero_optimization": None},
        {"bf16": {"enabled": True, "loss_scale": 0}},
        {"fp16": {"loss_scale": -1}},
        {"fp16": {"min_loss_scale": 1e-10}},
        {"fp16": None},
        {"communication_data_type": "bfloat16"},
        {"steps_per_print": 0},
        {"scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 0}}},
    ],
    ids=json.dumps,
)
def test_what_deepspeed_refuses_is_refused(config):
    assert refused(config) != []


# -------------------------------------------------------------------------------------------------- the presentation
def test_the_sections_come_in_the_agreed_order_with_an_intro_and_few_common_fields():
    assert [section["id"] for section in PRESENTATION["sections"]] == SECTIONS
    for section in PRESENTATION["sections"]:
        assert section["title"]
        assert section["intro"].endswith(".")
        assert 0 < sum(field.get("common", False) for field in section["fields"]) <= 8


def test_every_current_leaf_is_shown_exactly_once():
    shown = [field["pointer"] for field in SHOWN]
    assert sorted(set(shown)) == sorted(shown)
    assert set(shown) <= LEAVES.keys()
    assert set(shown) >= CURRENT


def test_the_presentation_repeats_nothing_of_the_schema():
    assert all(field.keys() <= {"pointer", "common", "active"} for field in SHOWN)


@each_case("field", [f for f in SHOWN if "active" in f], ids=lambda field: field["pointer"])
def test_a_condition_names_another_key_and_values_it_can_take(field):
    active = field["active"]
    assert active.keys() == {"pointer", "in", "otherwise"}
    assert active["pointer"] != field["pointer"]
    assert active["otherwise"].endswith(".")
    watched = Draft202012Validator(LEAVES[active["pointer"]])
    assert active["in"]
    assert [value for value in active["in"] if not watched.is_valid(value)] == []


# --------------------------------------------------------------------------------------------- the installed DeepSpeed
@pytest.mark.deepspeed
@pytest.mark.remembered("schemas", "scripts/schema_against_deepspeed.py")
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_the_schema_says_what_the_installed_deepspeed_says():
    script = ROOT / "scripts/schema_against_deepspeed.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert run.stdout.splitlines() == [], run.stderr[-2000:]
    assert run.returncode == 0, run.stderr[-2000:]
