"""Other configs for the same training, and the cheapest that fits."""

import json
from dataclasses import replace

import pytest

from dsgui.core.memory.answer import Answer, CannotSay, Device
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit, judge
from dsgui.core.memory.instant import answer
from dsgui.core.memory.planner import Means, changed, cheapest_fit, ladder, means_of
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.core.texts.english import TEXTS

GIB = 1 << 30
# A small Llama: what differs between configs is the same as with a large one, and quick.
LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 4,
    "intermediate_size": 5504,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "vocab_size": 32000,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "max_position_embeddings": 4096,
}
CONFIG = {"bf16": {"enabled": True}, "zero_optimization": {"stage": 1}, "optimizer": {"type": "AdamW"}}


def asked(config=CONFIG, ranks=4, micro_batch=2, length=2048):
    return Question(Model("small", LLAMA), config, Workload(micro_batch, length), Group(ranks))


def means(gpu_bytes, host_bytes=None, nvme_path=""):
    return Means(Room(gpu_bytes=int(gpu_bytes), host_bytes=host_bytes, ranks_per_node=4, ranks=4), nvme_path)


def gpu(rung_or_answer):
    found = getattr(rung_or_answer, "answer", rung_or_answer)
    return found.worst(Device.GPU).count


def applied(config, changes):
    return changed(config, {change.pointer: json.loads(change.literal) for change in changes})


def test_a_config_that_fits_is_left_as_it_is():
    rung = cheapest_fit(asked(), means(80 * GIB))
    assert rung.moves == ()
    assert rung.changes == ()
    assert rung.slower == 1.0


@pytest.mark.parametrize("share", [0.7, 0.5, 0.3, 0.2])
def test_the_cheapest_fit_fits_when_its_edits_are_made(share):
    question = asked()
    given = means(gpu(answer(question)) * share + 3 * GIB, 200 * GIB)
    rung = cheapest_fit(question, given)
    edited = Question(question.model, applied(question.config, rung.changes), rung.workload, question.group)
    assert gpu(answer(edited)) == gpu(rung)
    assert judge(answer(edited), given.room).fit is Fit.FITS
    assert rung.moves != ()


def test_less_room_never_gives_a_faster_config():
    question = asked()
    full = gpu(answer(question))
    rungs = [cheapest_fit(question, means(full * share + 3 * GIB)) for share in (1.5, 0.8, 0.6, 0.4, 0.25)]
    assert [rung.slower for rung in rungs] == sorted(rung.slower for rung in rungs)


def test_a_smaller_micro_batch_keeps_the_batch():
    question = asked(CONFIG | {"gradient_accumulation_steps": 2})
    rungs = [rung for rung in ladder(question, means(80 * GIB)) if "micro_batch" in rung.moves]
    assert rungs != []
    for rung in rungs:
        config = applied(question.config, rung.changes)
        assert config["gradient_accumulation_steps"] * rung.workload.micro_batch == 4
        assert config["train_micro_batch_size_per_gpu"] == rung.workload.micro_batch


def test_what_the_host_has_no_room_for_is_not_moved_there():
    question = asked()
    tight = gpu(answer(question)) * 0.2 + 3 * GIB
    with_room, without = cheapest_fit(question, means(tight, 500 * GIB)), cheapest_fit(question, means(tight, 1 << 20))
    assert any(move.startswith("offload") for move in with_room.moves) or without is None
    assert without is None or not any(move.startswith("offload") for move in without.moves)


def test_no_two_rungs_are_called_the_same():
    workload = replace(asked().workload, micro_batch=8)
    rungs = ladder(replace(asked(), workload=workload), means(80 * GIB))
    assert sum("micro_batch" in rung.moves for rung in rungs) > 1
    names = [" + ".join(map(str, rung.said())) for rung in rungs]
    assert len(set(names)) == len(names)
    assert any("Micro batch 4, 2 accumulation steps" in name for name in names)


def test_nothing_fits_into_nothing():
    assert cheapest_fit(asked(), means(1 << 20)) is None


LARGE = Model("large", LLAMA | {"hidden_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 64})


def test_nvme_is_offered_where_a_folder_is_known():
    question = replace(asked(ranks=1), model=LARGE)
    assert not any("nvme" in move for rung in ladder(question, means(80 * GIB)) for move in rung.moves)
    rungs = ladder(question, means(GIB, nvme_path="/nvme"))
    rung = next(rung for rung in rungs if "offload_optimizer_nvme" in rung.moves)
    assert applied(CONFIG, rung.changes)["zero_optimization"]["offload_optimizer"]["nvme_path"] == "/nvme"
    assert {move for rung in rungs for move in rung.moves} <= set(TEXTS["memory_moves"])


def test_no_plan_with_nvme_is_one_that_deepspeed_stops_at():
    """A part of the words' embedding is longer than a swap buffer by default (1e8)."""
    question = replace(asked(ranks=1), model=LARGE)
    zero = {"stage": 3, "offload_param": {"device": "nvme", "nvme_path": "/nvme"}}
    assert answer(replace(question, config=CONFIG | {"zero_optimization": zero})).why.code == "small_buffers"
    rungs = ladder(question, means(GIB, nvme_path="/nvme"))
    offered = [applied(CONFIG, rung.changes) for rung in rungs if "offload_param_nvme" in rung.moves]
    assert offered != []
    for config in offered:
        assert config["zero_optimization"]["offload_param"]["buffer_size"] == 263_000_000
        assert isinstance(answer(replace(question, config=config)), Answer)


def test_a_room_offers_its_folder_as_far_as_it_has_bytes_free():
    question = replace(asked(ranks=1), model=LARGE)
    some, few = Nvme("/nvme", 10**15), Nvme("/nvme", 1 << 20)
    room = Room(gpu_bytes=24 * GIB, host_bytes=40 * GIB)
    found = [cheapest_fit(question, means_of(replace(room, nvme=one), Made())) for one in (some, few, None)]
    assert found[0].moves == ("stage_3", "offload_optimizer_nvme")
    assert found[1:] == [None, None]


def test_a_folder_says_nothing_of_another_that_the_config_offloads_to():
    zero = {"stage": 3, "offload_optimizer": {"device": "nvme", "nvme_path": "/other"}}
    question = replace(asked(CONFIG | {"zero_optimization": zero}, ranks=1), model=LARGE)
    room = replace(means(200 * GIB).room, nvme=Nvme("/nvme", 1))
    found = answer(question)
    assert judge(found, room.of_config(question.config)).fit is Fit.FITS
    same = {"zero_optimization": zero | {"offload_optimizer": {"device": "nvme", "nvme_path": "/nvme"}}}
    slashed = {"zero_optimization": zero | {"offload_optimizer": {"device": "nvme", "nvme_path": "/nvme/"}}}
    assert room.of_config(slashed) == room
    left = {"zero_optimization": zero | {"offload_optimizer": {"device": "cpu", "nvme_path": "/other"}}}
    assert room.of_config(left) == room
    verdict = judge(found, room.of_config(same))
    assert verdict.fit is Fit.SHORT
    assert str(verdict.short[0]).startswith("The NVMe folder needs")


def test_the_ladder_goes_from_the_fastest_to_the_leanest():
    rungs = ladder(asked(), means(80 * GIB))
    assert () in [rung.moves for rung in rungs]
    assert [rung.slower for rung in rungs] == sorted(rung.slower for rung in rungs)
    takes = [(gpu(rung), rung.answer.worst(Device.HOST).count) for rung in rungs if rung.moves]
    for index, (of_gpu, of_host) in enumerate(takes):
        assert not any(other[0] <= of_gpu and other[1] <= of_host for other in takes[:index])
    assert len(rungs) >= 5


def test_what_has_no_case_has_no_ladder():
    config = CONFIG | {"compile": {"deepcompile": True}}
    assert isinstance(ladder(asked(config), means(GIB)), CannotSay)
    assert isinstance(cheapest_fit(asked(config), means(GIB)), CannotSay)
