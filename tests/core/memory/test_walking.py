"""A `config.json` as a walk: what there is no case for is said, and what is measured once stands for all layers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.families import stack
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.question import Lora, Model, Workload
from dsgui.core.memory.walk import Walk
from dsgui.core.memory.walking import FAMILIES, walk_of
from tests.support.cases import each_case
from tests.support.memory.model_configs import REAL, SMALL
from tests.support.memory.walk_peaks import peaks
from tests.support.work import calls_in


def walked(config, dtype="bf16", **workload):
    walk = walk_of(Model("it", config), Workload(**workload), dtype)
    assert isinstance(walk, Walk), walk.why
    return walk


LLAMA = SMALL["llama"]
REFUSED = {
    "no_type": {"hidden_size": 4096},
    "unknown_family": {"model_type": "mamba"},
    "remote_code": LLAMA | {"auto_map": {"AutoModelForCausalLM": "modeling.Mine"}},
    "vision": LLAMA | {"vision_config": {"hidden_size": 1}},
    "experts": LLAMA | {"num_local_experts": 8},
    "experts ": LLAMA | {"model_type": "deepseek_v3", "n_routed_experts": 8},
    "vision ": {"model_type": "gemma3", "text_config": LLAMA},
    "quantized": LLAMA | {"quantization_config": {"bits": 4}},
    "model_key": LLAMA | {"model_type": "stablelm", "qk_layernorm": True},
    "model_key ": LLAMA | {"model_type": "stablelm", "head_dim": 64},
    "model_key  ": LLAMA | {"model_type": "gpt_neox", "head_dim": 64},
    "model_key   ": LLAMA | {"model_type": "phi", "head_dim": 64},
    "bad_count": LLAMA | {"hidden_size": "4096"},
    "bad_rate": LLAMA | {"attention_dropout": 2},
    "bad_kinds": LLAMA | {"layer_types": ["full_attention"]},
    "bad_kinds ": LLAMA | {"model_type": "smollm3", "no_rope_layers": [1]},
    "bad_rate ": LLAMA | {"model_type": "glm", "partial_rotary_factor": 2},
    "bad_count ": LLAMA | {"num_hidden_layers": 10**6},
    "not_divisible": LLAMA | {"hidden_size": 250},
    "unknown_activation": LLAMA | {"hidden_act": "mine"},
}


@each_case("code", REFUSED)
def test_what_there_is_no_case_for_is_said(code):
    answer = walk_of(Model("it", REFUSED[code]), Workload(), "bf16")
    assert isinstance(answer, CannotSay)
    assert answer.why.code == code.strip()


@pytest.mark.parametrize(
    ("code", "config", "workload"),
    [
        ("unknown_attention", LLAMA, Workload(attention="flex_attention")),
        ("no_attention", SMALL["t5"], Workload(attention="flash_attention_2")),
        ("attention_formula", SMALL["gptj"], Workload(attention="flash_attention_2")),
        ("no_target", LLAMA, Workload(lora=Lora(8, ("c_attn",)))),
        ("not_divisible", LLAMA | {"num_key_value_heads": 3}, Workload()),
        ("more_tokens", SMALL["gpt2"], Workload(length=1025)),
    ],
)
def test_a_workload_that_the_model_has_no_case_for_is_said(code, config, workload):
    answer = walk_of(Model("it", config), workload, "bf16")
    assert isinstance(answer, CannotSay)
    assert answer.why.code == code


def test_code_beside_the_weights_is_passed_over_where_transformers_has_the_class_of_that_name():
    phi = SMALL["phi3"] | {"auto_map": {"AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM"}}
    assert "own_class" in [one.code for one in walked(phi).assumed]
    assert walk_of(Model("it", phi | {"model_type": "llama"}), Workload(), "bf16").why.code == "remote_code"
    assert walk_of(Model("it", phi | {"auto_map": {"AutoConfig": "m.C"}}), Workload(), "bf16").why.code == "remote_code"


def test_a_share_of_a_head_is_read_by_its_old_names_and_its_new_one():
    neox, names = SMALL["gpt_neox"], ("rotary_pct", "partial_rotary_factor")
    whole = [walked(neox | {name: 1.0}) for name in names] + [walked(neox | {"rope_parameters": {names[1]: 1.0}})]
    assert len({peaks(one) for one in whole}) == 1
    assert peaks(whole[0]) != peaks(walked(neox))


def test_a_head_that_config_json_tells_is_as_wide_in_every_product():
    weights = {one.name: one.numel for one in walked(SMALL["starcoder2"] | {"head_dim": 64}).weights().values()}
    layer = "model.layers.0.self_attn"
    assert [weights[f"{layer}.{name}.weight"] for name in ("q_proj", "k_proj", "o_proj")] == [
        256 * 8 * 64,
        256 * 2 * 64,
        8 * 64 * 256,
    ]
    same = walked(SMALL["stablelm"] | {"head_dim": 32})
    assert list(same.weights()) == list(walked(SMALL["stablelm"]).weights())


def test_attention_and_mlp_of_stablelm_read_one_norm_where_they_are_beside_each_other():
    beside = walked(SMALL["stablelm"] | {"use_parallel_residual": True}).weights().values()
    assert not [one.name for one in beside if "post_attention_layernorm" in one.name]
    behind = walked(SMALL["stablelm"]).weights().values()
    assert len(behind) == len(beside) + 2 * 4


MORE = ("layer_types", "head_dim", "sliding_window", "sliding_window_pattern", "use_sliding_window", "n_inner")
JUNK = st.none() | st.booleans() | st.integers(-3, 10) | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@given(st.sampled_from(sorted(SMALL)), st.data())
def test_a_damaged_config_gets_a_walk_or_a_sentence(name, data):
    config = SMALL[name]
    damaged = data.draw(st.dictionaries(st.sampled_from([*sorted(config), *MORE]), JUNK, max_size=3))
    answer = walk_of(Model("it", config | damaged), Workload(length=8), "bf16")
    assert isinstance(answer, Walk) or str(answer.why)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_layers_that_are_measured_once_stand_for_all(monkeypatch, name, checkpointing):
    deep = (
        SMALL[name] | {"n_layer": 9}
        if "n_layer" in SMALL[name]
        else SMALL[name] | {"num_hidden_layers": 9, "num_layers": 9}
    )
    short = walked(deep, micro_batch=2, length=64, checkpointing=checkpointing)
    monkeypatch.setattr(stack, "representatives", lambda kinds: [(index, (index,)) for index in range(len(kinds))])
    whole = walked(deep, micro_batch=2, length=64, checkpointing=checkpointing)
    assert [unit.name for unit in short.units()] == [unit.name for unit in whole.units()]
    assert list(short.weights()) == list(whole.weights())
    assert peaks(short) == pytest.approx(peaks(whole), rel=0.002)


def test_each_family_has_a_small_config_that_is_held_against_its_class():
    assert {config["model_type"] for config in SMALL.values()} == set(FAMILIES)


def test_what_was_taken_for_granted_is_said():
    codes = {note.code for note in walked(SMALL["gemma2"]).assumed}
    assert codes == {"no_padding", "eager_instead"}
    assert not walked(LLAMA, attention="flash_attention_2").assumed
    assert "fused_in_fp32" in {note.code for note in walked(SMALL["qwen2"], dtype="fp32").assumed}


def test_a_walk_takes_no_time():
    config, _ = REAL["Llama-2-7b"]
    assert calls_in(lambda: walked(config, length=4096, checkpointing=True)) < 15_000


@pytest.mark.parametrize(
    ("text", "count"), [("7B", 7e9), ("770M", 770e6), (" 1.5 b ", 1.5e9), ("70B", 70e9), ("30M", 30e6)]
)
def test_a_size_gets_a_shape_with_as_many_parameters(text, count):
    model = model_of_size(text)
    assert isinstance(model, Model)
    assert model.guessed
    weights = walked(model.config).weights().values()
    assert sum(weight.numel for weight in weights) == pytest.approx(count, rel=0.02)


@each_case("text", ["", "7", "B", "0B", "-1B", "1M", "99999999B", "7 GB", "7B" * 100])
def test_what_is_no_size_is_said(text):
    assert isinstance(model_of_size(text), CannotSay)
