"""What NVMe takes, and where DeepSpeed stops over its swap buffers: the formula alone. Against the dry run:
`tests/shell/memory/test_asking.py`."""

import pytest

from dsgui.core.memory.answer import CannotSay, Component, Device, Moment, Place
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Model, Question, Workload

MI = 1 << 20
WIDE = {
    "model_type": "llama",
    "hidden_size": 1024,
    "num_hidden_layers": 2,
    "intermediate_size": 2816,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "vocab_size": 4096,
    "tie_word_embeddings": False,
}
NVME = {"device": "nvme", "nvme_path": "/nvme"}
PARTS = NVME | {"buffer_size": 8 * MI, "buffer_count": 6, "max_in_cpu": 0}
LEAN = {"stage3_max_live_parameters": 1, "stage3_max_reuse_distance": 0, "stage3_prefetch_bucket_size": 0}


def asked(ranks=1, **zero):
    config = {"bf16": {"enabled": True}, "optimizer": {"type": "AdamW"}, "zero_optimization": {"stage": 3, **zero}}
    return Question(Model("wide", WIDE), config, Workload(1, 64), Group(ranks), by_decay=False)


def host(found, moment, component, place):
    """Bytes of a part of the host at a moment."""
    peak = next(peak for peak in found.of(Device.HOST) if peak.moment is moment)
    return sum(part.count for part in peak.parts if (part.component, part.place) == (component, place))


def test_the_first_step_has_moments_beside_the_buffers():
    found = answer(asked(offload_optimizer=NVME))
    part = 4 * found.parameters
    assert host(found, Moment.STEP, Component.SWAP, Place.PINNED) == pytest.approx(4 * part, rel=0.001)
    assert host(found, Moment.STEP, Component.MOMENTS, Place.HOST) == 2 * part
    assert host(found, Moment.FORWARD, Component.MOMENTS, Place.HOST) == 0


def test_the_buffers_of_parameters_have_a_pageable_twin_for_a_moment():
    found = answer(asked(offload_param=PARTS, **LEAN))
    assert host(found, Moment.INIT, Component.SWAP, Place.HOST) == 6 * 8 * MI * 2
    assert host(found, Moment.FORWARD, Component.SWAP, Place.HOST) == 0


@pytest.mark.parametrize("ranks", [1, 8])
def test_what_is_written_back_has_a_buffer_for_whole_weights_on_every_rank(ranks):
    """stage3.py:1014 takes `ds_numel` of a parameter where its part was meant."""
    found = answer(asked(ranks, offload_param=PARTS, **LEAN))
    locked = host(found, Moment.FORWARD, Component.SWAP, Place.PINNED)
    assert locked == pytest.approx(6 * 8 * MI * 2 + 2 * found.parameters, rel=0.001)


@pytest.mark.parametrize(
    ("zero", "code", "key"),
    [
        ({"offload_optimizer": NVME | {"buffer_count": 3}}, "few_buffers", "offload_optimizer/buffer_count"),
        ({"offload_param": PARTS | {"buffer_size": MI}}, "small_buffers", "offload_param/buffer_size"),
        ({"offload_param": PARTS | {"buffer_count": 0}}, "few_buffers", "offload_param/buffer_count"),
        ({"offload_param": PARTS}, "few_buffers", "offload_param/buffer_count"),  # what is kept whole keeps its buffer
    ],
)
def test_where_deepspeed_would_stop_there_is_a_key_and_no_number(zero, code, key):
    found = answer(asked(**zero))
    assert isinstance(found, CannotSay)
    assert (found.why.code, dict(found.why.given)) == (code, {"key": f"/zero_optimization/{key}"})


@pytest.mark.parametrize("key", ["pipeline_read", "pipeline_write"])
def test_pipelined_swapping_has_no_formula(key):
    found = answer(asked(offload_optimizer=NVME | {key: True}))
    assert str(found.why) == f"There is no formula for a config with /zero_optimization/offload_optimizer/{key}."
    assert not isinstance(answer(asked(offload_optimizer={"device": "cpu", key: True})), CannotSay)
