"""The order of autograd, as the hooks of DeepSpeed 0.19.8 were seen to come on one layer of transformers 5.23."""

import pytest

from dsgui.core.memory.engines.gathering import trace_of
from dsgui.core.memory.question import Model, Workload
from dsgui.core.memory.walking import walk_of

QWEN2 = {
    "model_type": "qwen2",
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256,
    "hidden_act": "silu",
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": True,
}
ATTENTION, MLP = ["q_proj", "k_proj", "v_proj", "o_proj"], ["gate_proj", "act_fn", "up_proj", "down_proj"]
BACKWARD = ["", "lm_head", "model", "norm", "0", "mlp", *reversed(MLP), "post_attention_layernorm"]
BACKWARD += ["self_attn", *reversed(ATTENTION), "input_layernorm", "embed_tokens"]
AGAIN = ["input_layernorm", "self_attn", *ATTENTION, "post_attention_layernorm", "mlp", *MLP]


def visits(checkpointing):
    """Begins, and ends with a “/”, of the backward."""
    walk = walk_of(Model("it", QWEN2), Workload(1, 16, checkpointing=checkpointing), "bf16")
    every = [(unit.name.rpartition(".")[2], begins) for unit, begins in trace_of(walk).visits]
    calls = sum(unit.call for unit in walk.units())
    return [name if begins else f"/{name}" for name, begins in every[2 * calls :]]


@pytest.mark.parametrize("checkpointing", [False, True])
def test_containers_come_before_what_they_contain_and_a_layer_again_when_it_is_needed(checkpointing):
    begun = [name for name in visits(checkpointing) if not name.startswith("/")]
    at = BACKWARD.index("down_proj") + 1
    assert begun == ([*BACKWARD[:at], *AGAIN, *BACKWARD[at:]] if checkpointing else BACKWARD)


def test_what_is_computed_again_stops_at_the_last_tensor_that_is_needed():
    """So the last module of it is left once, by its backward."""
    seen = visits(True)
    assert (seen.count("down_proj"), seen.count("/down_proj")) == (2, 1)
    assert (seen.count("up_proj"), seen.count("/up_proj")) == (2, 2)


def test_nothing_tells_when_the_backward_of_an_embedding_is_over():
    assert "/embed_tokens" not in visits(False)
