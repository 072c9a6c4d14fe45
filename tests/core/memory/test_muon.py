"""What Muon adds to the formula. Whole trainings with it are among `dry_runs.jsonl`."""

import pytest

from dsgui.core.memory.answer import Answer, Place
from dsgui.core.memory.engines.muon import Scratch, halves, update_of
from dsgui.core.memory.instant import answer
from dsgui.core.memory.ledger import Ledger
from dsgui.core.memory.question import Group, Model, Question
from dsgui.core.memory.settings import settings_of
from dsgui.core.memory.walk import Weight

MUON = {"optimizer": {"type": "Muon", "params": {"lr": 1e-3}}, "bf16": {"enabled": True}}
GPT2 = Model("gpt2", {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 512})
WIDE, TALL, WORDS = (
    Weight("up.weight", 32, rows=4),
    Weight("down.weight", 32, rows=8),
    Weight("embed.weight", 64, rows=8),
)
BIAS = Weight("up.bias", 4, decays=False)
MIB = 1 << 20


def asked(*, ranks=2, release="0.19.8", params=None, **zero):
    optimizer = {"type": "Muon", "params": {"lr": 1e-3, **(params or {})}}
    return Question(
        GPT2, {**MUON, "optimizer": optimizer, "zero_optimization": zero}, group=Group(ranks), release=release
    )


def test_matrices_are_a_group_of_their_own_the_tallest_first_unless_they_are_divided():
    group = (WIDE, BIAS, TALL, WORDS)
    assert list(halves([group], sorts=True)) == [(TALL, WIDE), (BIAS, WORDS)]
    assert list(halves([group, (BIAS,)], sorts=False)) == [(WIDE, TALL), (BIAS, WORDS), (BIAS,)]


def test_an_update_needs_more_than_its_result_and_the_same_whichever_side_is_longer():
    settings = settings_of(MUON)
    found = update_of(Weight("a", 64 * 16, rows=64), 4, settings)
    assert found == update_of(Weight("b", 64 * 16, rows=16), 4, settings)
    assert found.result == 64 * 16 * 4
    assert found.most >= 2 * found.result  # lerp, then where


@pytest.mark.parametrize(
    ("question", "code", "key"),
    [
        (asked(stage=3), "muon_scatters", "/zero_optimization/reduce_scatter"),
        (asked(stage=2, release="0.19.7"), "no_optimizer", "/optimizer/type"),
        (asked(stage=2, params={"per_head_muon": True}), "no_muon", "/optimizer/params/per_head_muon"),
        (
            asked(stage=3, reduce_scatter=False, offload_optimizer={"device": "nvme", "nvme_path": "/x"}),
            "no_muon",
            "/zero_optimization/offload_optimizer/device",
        ),
        (
            asked(stage=3, reduce_scatter=False, offload_optimizer={"device": "cpu", "ratio": 0.5}),
            "no_muon",
            "/zero_optimization/offload_optimizer/ratio",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_has_no_case_is_said(question, code, key):
    found = answer(question)
    assert (found.why.code, dict(found.why.given)["key"]) == (code, key)


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_every_stage_has_a_case(stage):
    assert isinstance(answer(asked(stage=stage, reduce_scatter=False)), Answer)


def test_buffers_of_gathers_stay_until_others_need_their_room():
    ledger = Ledger()
    scratch = Scratch(ledger)
    assert scratch.take((1,), 100 * MIB, 20 * MIB) == ()
    assert scratch.take((2,), 100 * MIB) == ()
    assert scratch.take((1,), 100 * MIB, 20 * MIB) == ()  # once more: it is there, and the other is now the older one
    assert ledger.now(Place.GPU) == 220 * MIB
    assert scratch.take((3,), 50 * MIB) == ()
    assert ledger.now(Place.GPU) == 170 * MIB
    large = scratch.take((4,), 300 * MIB)  # too large to be kept
    assert ledger.now(Place.GPU) == 470 * MIB
    scratch.drop(large)
    assert ledger.now(Place.GPU) == 170 * MIB
