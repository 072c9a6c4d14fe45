"""Whether a training fits: an answer with its margins against the room there is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.machine.hardware import CARDS, Gpu, Hardware, card_named
from dsgui.core.machine.machine import Host
from dsgui.core.memory.answer import Answer, Component, Device, Moment, Part, Peak, Place, Source
from dsgui.core.memory.fits.overhead import (
    CONSTANTS,
    Amount,
    Constant,
    Overhead,
    asks_for_expandable,
    exactly,
    overheads,
)
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import Fit, judge
from dsgui.core.memory.question import Group
from dsgui.core.sizes import GIB
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import said

STAGE, MICRO = "/zero_optimization/stage", "/train_micro_batch_size_per_gpu"


def answer(gpu_gib: float, host_gib: float = 0.0, pinned_gib: float = 0.0, **more) -> Answer:
    """An answer whose fullest moment on the GPU is backward, and on the host init."""
    weights = Part(Component.WEIGHTS, Place.GPU, round(gpu_gib * GIB / 2), (STAGE,))
    kept = Part(Component.ACTIVATIONS, Place.GPU, round(gpu_gib * GIB / 2), (MICRO,))
    host = (
        Part(Component.MASTER, Place.HOST, round(host_gib * GIB), (STAGE,)),
        Part(Component.GRADIENTS, Place.PINNED, round(pinned_gib * GIB), (STAGE,)),
    )
    peaks = (
        Peak(Device.GPU, Moment.INIT, (weights,)),
        Peak(Device.GPU, Moment.BACKWARD, (weights, kept)),
        Peak(Device.HOST, Moment.INIT, host),
    )
    return Answer(Source.FORMULA, peaks, 10**9, 10**9, **more)


def room(gpu_gib: float | None = 24, host_gib: float | None = 128, **more) -> Room:
    sizes = {"gpu_bytes": gpu_gib, "host_bytes": host_gib}
    return Room(**{name: gib and round(gib * GIB) for name, gib in sizes.items()}, **more)


def test_far_below_the_card_fits_and_far_above_does_not():
    assert judge(answer(10), room()).fit is Fit.FITS
    red = judge(answer(40), room())
    assert (red.fit, red.fit_of(Device.GPU), red.fit_of(Device.HOST)) == (Fit.SHORT, Fit.SHORT, Fit.FITS)
    assert str(red.short[0]).startswith("Each GPU needs 44.63 GiB and has 24.00 GiB: 20.63 GiB short")


def test_between_likely_and_the_most_it_is_tight():
    """20.6 GiB with 0.8 of context, 0.6 of NCCL, 8 % of fragmentation: 23.7 is likely, 25.5 the most."""
    found = judge(answer(20.6), room())
    assert found.fit is Fit.TIGHT
    assert str(found.short[0]) == "Each GPU needs 21.73 to 25.52 GiB and has 24.00 GiB."


@pytest.mark.parametrize("has", [23.64, 31.52, 78.8, 140])
def test_a_need_that_reads_like_what_there_is_is_tight(has):
    """No "≈ 78.8 GiB of 78.8 GiB, doesn’t fit", no "0.01 GiB short"."""
    over, least_told = (judge(_taking(has + more), room(has)) for more in (0.05, 0.1))
    assert (over.fit, least_told.fit) == (Fit.TIGHT, Fit.TIGHT)
    assert str(over.short[0]).endswith(f"and has {has:.2f} GiB.")
    assert judge(_taking(has * 1.01), room(has)).fit is Fit.SHORT
    host = judge(answer(1, 1000), room(host_gib=1001)).worst(Device.HOST)  # of a host it was not seen
    assert (host.fit, host.short_by < 0.005 * 1001 * GIB) == (Fit.SHORT, True)


def _taking(likely_gib: float) -> Answer:
    """What of all it takes on the GPU is the tensors', so that so much is likely."""
    less, more = (judge(answer(gib), room()).worst(Device.GPU).amount.likely / GIB for gib in (0, 1))
    return answer((likely_gib - less) / (more - less))


def test_memory_that_others_hold_makes_it_tight_and_not_red():
    found = judge(answer(10), room(gpu_in_use=14 * GIB))
    assert found.fit is Fit.TIGHT
    assert "14.00 GiB are in use now" in str(found.short[0])


def test_the_host_holds_every_rank_of_its_node():
    one, eight = (judge(answer(1, 10, 2), room(ranks=n, ranks_per_node=n)) for n in (1, 8))
    assert one.fit is Fit.FITS
    assert eight.fit is Fit.FITS
    alone, all_of_them = (verdict.worst(Device.HOST).amount.likely / GIB for verdict in (one, eight))
    assert round(alone - 1, 1) == 12.9  # 12 of states and 0.9 of the interpreter, beside the system's 1
    assert round(all_of_them - 1, 1) == 103.2
    assert judge(answer(1, 20, 2), room(ranks=8, ranks_per_node=8)).fit_of(Device.HOST) is Fit.SHORT


def test_a_size_that_is_not_known_is_not_guessed():
    assert judge(answer(1), room(gpu_gib=None)).fit is Fit.UNKNOWN
    assert judge(answer(50), room(host_gib=None)).fit is Fit.SHORT  # whatever the host has
    told = judge(answer(1, 30), room(host_gib=None))
    assert (told.fit, told.fit_of(Device.HOST)) == (Fit.FITS, Fit.UNKNOWN)
    assert "it needs 31.90 GiB per node" in " ".join(map(str, told.notes))


def test_a_host_that_nobody_described_has_to_have_what_few_have():
    """More than the node's GPUs hold together: 24 GiB of one, 48 of two."""
    much, ordinary = judge(answer(1, 30), room(host_gib=None)), judge(answer(1, 18), room(host_gib=None))
    assert (round(much.host_asked / GIB, 1), ordinary.host_asked) == (31.9, 0)
    assert judge(answer(1, 22), room(host_gib=None, ranks=2, ranks_per_node=2)).host_asked == 0
    assert judge(answer(1, 30), room()).host_asked == 0
    many = {"ranks": 8, "ranks_per_node": 8, "host_gib": None}  # of 24 GiB each: 192 GiB together
    asked, as_a_laptop = (judge(answer(1, held), room(**many)).host_asked / GIB for held in (18, 6))
    assert (round(asked), as_a_laptop) == (152, 0)


def test_what_is_left_out_never_fits_for_sure():
    left_out = (said("memory_told", "on_cpu"),)
    assert judge(answer(1, left_out=left_out), room()).fit is Fit.TIGHT


def test_cpu_ranks_have_it_all_in_host_memory():
    found = judge(answer(6, 1), room(on_cpu=True, gpu_gib=None, ranks=2, ranks_per_node=2))
    assert found.devices == (Device.HOST,)
    backward = next(bar for bar in found.of(Device.HOST) if bar.moment == "backward")
    assert backward.amount.low / GIB > 12
    assert "CPU ranks" in " ".join(map(str, found.notes))


def test_only_swap_buffers_count_against_the_limit_of_locked_memory():
    """CUDA pins memory through its driver; mlock, which DeepSpeed's NVMe buffers use, is bounded by RLIMIT_MEMLOCK."""
    swap = Part(Component.SWAP, Place.PINNED, 4 * GIB, ("/zero_optimization/offload_param/buffer_size",))
    asked = answer(1, 1, 8)
    assert judge(asked, room(memlock_bytes=64 << 20)).fit is Fit.FITS
    swapping = replace(asked, peaks=(*asked.peaks[:2], Peak(Device.HOST, Moment.INIT, (swap,))))
    found = judge(swapping, room(memlock_bytes=64 << 20))
    assert (found.fit, found.fit_of(Device.HOST)) == (Fit.SHORT, Fit.SHORT)
    assert "a process may lock only 64 MiB" in str(found.short[-1])


@given(st.floats(0.1, 200), st.floats(0.1, 200), st.floats(1, 300))
def test_more_room_never_fits_worse_and_more_need_never_better(need, more, has):
    order = [Fit.FITS, Fit.TIGHT, Fit.SHORT]
    least, most = sorted((need, need + more))
    assert order.index(judge(answer(least), room(has)).fit) <= order.index(judge(answer(most), room(has)).fit)
    assert order.index(judge(answer(need), room(has + more)).fit) <= order.index(judge(answer(need), room(has)).fit)


def test_what_was_measured_here_takes_the_place_of_what_is_typical():
    told = overheads({Overhead.CONTEXT: Constant(exactly(3 * GIB), "NVML")})
    usual, measured = (judge(answer(10), room(overheads=one)) for one in (overheads(), told))
    grown = measured.worst(Device.GPU).amount.likely - usual.worst(Device.GPU).amount.likely
    assert grown == 3 * GIB - CONSTANTS[Overhead.CONTEXT].amount.likely
    assert "Nothing was measured" in " ".join(map(str, usual.notes))
    assert "Nothing was measured" not in " ".join(map(str, measured.notes))


def test_expandable_segments_leave_less_unused():
    assert asks_for_expandable({"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512, expandable_segments:True"})
    assert not asks_for_expandable({"PYTORCH_ALLOC_CONF": "expandable_segments:False"})
    both = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64", "PYTORCH_ALLOC_CONF": "expandable_segments:True"}
    assert not asks_for_expandable(both)
    usual, expandable = (overheads(expandable=on).fragmentation(10 * GIB) for on in (False, True))
    assert expandable.high < usual.likely


def test_every_part_and_moment_has_its_words():
    codes = {part.value for part in (*Component, *Overhead)}
    assert codes == set(TEXTS["memory_parts"]) == set(TEXTS["memory_about"])
    assert {moment.value for moment in Moment} == set(TEXTS["memory_moments"])
    assert {fit.value for fit in Fit} == set(TEXTS["memory_fits"])
    assert {place.value for place in Place} == set(TEXTS["memory_places"])


def test_every_constant_has_a_margin_and_a_source():
    for which, constant in CONSTANTS.items():
        amount = constant.amount
        assert 0 < amount.low <= amount.likely <= amount.high, which
        assert amount.low < amount.high, which
        assert constant.source
    assert Amount(1, 2, 3).plus(Amount(1, 1, 1)).times(2) == Amount(4, 6, 8)


# ------------------------------------------------------------------------------------------------------- the room
def test_a_planned_card_has_what_torch_can_have_of_it():
    found = room_of((card_named("rtx4090"),), None, Group(8, 2))
    assert (found.planned, found.ranks_per_node, found.host_bytes) == (True, 4, None)
    assert round(found.gpu_bytes / GIB, 1) == 23.6
    a10 = room_of((card_named("a10"),), None, Group())
    assert a10.gpu_bytes / GIB < 22.5  # ECC takes its part


def test_of_several_cards_the_smallest_decides_and_what_is_in_use_is_the_fullest():
    cards = tuple(Hardware("this", f"GPU {n}", "nvidia", (8, 0), gib * GIB) for n, gib in enumerate((80, 40)))
    gpus = tuple(Gpu(n, "A100", (8, 0), 40 * GIB, free_bytes=(39 - 5 * n) * GIB) for n in range(2))
    found = room_of(cards, Host(memory_bytes=100 * GIB, memory_available_bytes=70 * GIB), Group(2), gpus=gpus)
    assert round(found.gpu_bytes / GIB, 1) == 39.4
    assert 5 < found.gpu_in_use / GIB < 6
    assert (found.host_bytes / GIB, found.host_in_use / GIB, found.limited) == (100, 30, False)


def test_the_limit_of_a_control_group_is_all_there_is():
    host = Host(memory_bytes=512 * GIB, memory_available_bytes=400 * GIB, memory_limit_bytes=64 * GIB)
    found = room_of((Hardware("this", "GPU 0", "nvidia", (9, 0), 80 * GIB),), host, Group())
    assert (found.host_bytes, found.host_in_use, found.limited) == (64 * GIB, 0, True)
    other = room_of((card_named("h100"),), host, Group(), host_bytes=256 * GIB)
    assert (other.host_bytes, other.limited) == (256 * GIB, False)


def test_this_machines_memory_says_nothing_of_another():
    host = Host(memory_bytes=16 * GIB, memory_available_bytes=10 * GIB, memlock_bytes=1)
    for found in (room_of((card_named("h100"),), host, Group()), room_of((), host, Group())):
        assert (found.host_bytes, found.host_in_use, found.memlock_bytes) == (None, 0, None)


def test_locked_memory_is_bounded_unless_this_user_may_lock_freely():
    cards = (Hardware("this", "GPU 0", "nvidia", (9, 0), 80 * GIB),)
    assert room_of(cards, Host(memlock_bytes=1), Group()).memlock_bytes == 1
    assert room_of(cards, Host(memlock_bytes=1, locks_freely=True), Group()).memlock_bytes is None


def test_every_card_of_the_table_has_room():
    for card in CARDS:
        found = room_of((card,), None, Group())
        assert 0.9 * card.memory_bytes < found.gpu_bytes < card.memory_bytes, card.id
    assert room_of((Hardware("this", "CPU", "cpu"),), None, Group()).on_cpu


def test_a_single_rank_has_a_communicator_too():
    """DeepSpeed communicates with itself: 0.64 GiB on an H200."""
    for ranks, likely in ((1, 0.6), (2, 0.8)):
        bar = judge(answer(10), room(ranks=ranks)).worst(Device.GPU)
        told = {segment.code: segment.amount for segment in bar.segments}
        assert told["nccl"].likely == round(likely * GIB)
