"""Finished runs sharpen a machine's constants: a few runs, no outliers, and no “fits” out of nothing."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.machine import Host
from dsgui.core.memory.answer import Device, Place
from dsgui.core.memory.fits.foretold import Foretold, _bars
from dsgui.core.memory.fits.learning import seen_in
from dsgui.core.memory.fits.overhead import CONSTANTS, ON_THE_CPU, Overhead, exactly
from dsgui.core.memory.fits.room import room_of
from dsgui.core.memory.fits.sharpened import CPU, ENOUGH, MOST_KINDS, MOST_RUNS, Seen, Sharpened
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment, judge
from dsgui.core.memory.question import Group
from dsgui.core.sizes import GIB
from tests.core.memory.fits.test_verdict import answer

CARD, RELEASE = "GPU 0: H100", "0.19.8"


def gib(count: float) -> int:
    return round(count * GIB)


def bar(device: Device, tensors: float, **beside: float) -> Bar:
    parts = [Segment("weights", Place.GPU, exactly(gib(tensors)))]
    parts += [Segment(code, Place.GPU, exactly(gib(count))) for code, count in beside.items()]
    return Bar(device, "step", tuple(parts), None)


def foretold(*bars: Bar, ranks: int = 2, card: str = CARD) -> Foretold:
    return Foretold(Fit.FITS, bars, release=RELEASE, card=card, ranks_per_node=ranks, on_cpu=not card)


HOST, GPU = (
    bar(Device.HOST, 3, interpreter=1.8, system=1, dataloader=0.6),
    bar(Device.GPU, 5, cuda_context=0.5, nccl=0.5),
)


def test_what_a_rank_takes_beside_its_tensors_is_what_was_measured_less_the_rest() -> None:
    told = seen_in("r", foretold(HOST, GPU), {"host_bytes": gib(5.6), "gpu_bytes": gib(6.1)})
    assert told == Seen("r", CARD, RELEASE, gib(1.0), gib(0.6))
    on_cpu = foretold(bar(Device.HOST, 3, interpreter=0.7), card="")
    assert seen_in("r", on_cpu, {"host_bytes": gib(3.8)}) == Seen("r", CPU, RELEASE, gib(0.4), alone=False)


@pytest.mark.parametrize(
    ("said", "host"),
    [
        (foretold(HOST), 0.1),  # the peak was between two polls
        (foretold(HOST), 30),  # something else was measured
        (foretold(bar(Device.HOST, 90, interpreter=1.8)), 91.8),  # a percent of the tensors is as much
        (foretold(), 5),
        (foretold(HOST, card="", ranks=2), None),
    ],
)
def test_a_run_that_can_not_tell_tells_nothing(said: Foretold, host: float | None) -> None:
    assert seen_in("r", said, {} if host is None else {"host_bytes": gib(host)}) is None


def test_what_the_allocator_keeps_on_an_empty_card_is_not_taken_for_the_context() -> None:
    """GPT-2 medium on an H200: 2.2 GiB of tensors and 1.4 beside them were predicted, 4.9 GiB were in use."""
    seen = bar(Device.GPU, 2.2, cuda_context=0.8, nccl=0.6)
    assert seen_in("r", foretold(HOST, seen, ranks=1), {"gpu_bytes": gib(4.9)}) is None
    told = seen_in("r", foretold(HOST, seen, ranks=1), {"gpu_bytes": gib(4.0)})
    assert told is not None
    assert told.context == pytest.approx(gib(1.2), abs=2)


def test_runs_of_one_rank_say_nothing_of_runs_of_many() -> None:
    """What a rank takes beside its tensors has NCCL's share in it, as far as that was estimated wrongly."""
    alone = seen_in("r", foretold(GPU, ranks=1), {"gpu_bytes": gib(6.1)})
    assert alone is not None
    every = Sharpened().adding(alone)
    assert every.constants(CARD, RELEASE) == {}
    assert set(every.constants(CARD, RELEASE, alone=True)) == {Overhead.CONTEXT}
    assert Sharpened.from_json(json.loads(json.dumps(every.to_json()))) == every


def sharpened(*counts: float, device: str = CARD, release: str = RELEASE) -> Sharpened:
    found = Sharpened()
    for number, count in enumerate(counts):
        found = found.adding(Seen(f"{device}-{number}", device, release, gib(count), gib(count)))
    return found


def test_three_runs_make_a_constant_smaller_and_fewer_only_larger() -> None:
    usual = CONSTANTS[Overhead.INTERPRETER].amount
    for few in (sharpened(0.4), sharpened(0.4, 0.45)):
        amount = few.constants(CARD, RELEASE)[Overhead.INTERPRETER].amount
        assert (amount.likely, amount.high) == (usual.likely, usual.high)
    assert sharpened(2.5).constants(CARD, RELEASE)[Overhead.INTERPRETER].amount.likely == gib(2.5)
    told = sharpened(0.62, 0.7, 0.66).constants(CARD, RELEASE)[Overhead.INTERPRETER]
    assert (told.amount.low, told.amount.likely, told.runs) == (gib(0.62), gib(0.66), 3)
    assert gib(0.7) <= told.amount.high < usual.high


def test_an_outlier_counts_for_nothing_and_one_release_is_none_of_anothers() -> None:
    told = sharpened(0.62, 0.7, 0.66, 2.9).constants(CARD, RELEASE)[Overhead.INTERPRETER]
    assert told.amount.likely < gib(0.8)
    assert told.amount.high == gib(0.9)  # what is usually likely: the rest of the memory was estimated, too
    assert sharpened(0.62, 0.7, 0.66).constants(CARD, "0.18.9") == {}
    assert sharpened(0.62, 0.7, 0.66).constants(CPU, RELEASE) == {}


def test_what_is_kept_is_bounded_and_a_run_counts_once() -> None:
    found = sharpened(*([0.6] * 50))
    assert len(found.seen) == MOST_RUNS
    assert found.adding(found.seen[-1]).seen == found.seen
    for number in range(MOST_KINDS + 9):
        found = found.adding(Seen(str(number), f"card {number}", RELEASE, gib(1)))
    assert len({(one.device, one.release) for one in found.seen}) == MOST_KINDS
    assert Sharpened.from_json(json.loads(json.dumps(found.to_json()))) == found
    for damaged in ({}, {"runs": [{}]}, {"runs": [{"run_id": 1, "device": "", "release": ""}]}, {"runs": 3}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            Sharpened.from_json(damaged)


@given(st.lists(st.floats(0.3, 4), min_size=1, max_size=12))
def test_no_constant_is_ever_less_than_what_most_runs_took(counts: list[float]) -> None:
    amount = sharpened(*counts).constants(CPU, RELEASE) or sharpened(*counts, device=CPU).constants(CPU, RELEASE)
    told = amount[Overhead.INTERPRETER].amount
    last = sorted(map(gib, counts[-MOST_RUNS:]))
    assert told.low <= told.likely <= told.high
    assert told.high >= last[(len(last) - 1) // 2]
    if len(last) < ENOUGH:
        assert told.high >= ON_THE_CPU.amount.high


def test_the_verdict_reckons_with_them_and_says_from_how_many_runs_they_are() -> None:
    here = Hardware("this", CARD, "nvidia", (9, 0), 80 * GIB)
    known, host = sharpened(0.62, 0.7, 0.66), Host(memory_bytes=100 * GIB)
    usual = room_of((here,), host, Group(2))
    told = room_of((here,), host, Group(2), sharpened=known, release=RELEASE)
    planned = room_of((replace(here, id="h100"),), host, Group(2), sharpened=known, release=RELEASE)
    assert told.overheads.of(Overhead.INTERPRETER).likely == gib(0.66)
    assert planned.overheads == usual.overheads
    notes = {one.code: str(one) for one in judge(answer(10), told).notes}
    assert "from 3 runs on this machine" in notes["from_runs"]
    assert "not_measured" not in notes
    assert "from_runs" not in {one.code for one in judge(answer(10), usual).notes}


def test_a_file_can_not_make_a_rank_take_nothing() -> None:
    nothing = Sharpened(tuple(Seen(str(number), CARD, RELEASE, interpreter=0, context=0) for number in range(5)))
    assert nothing.constants(CARD, RELEASE) == {}


@pytest.mark.parametrize("wrong", [{"moment": "lunch"}, {"part": "renamed"}])
def test_a_part_or_a_moment_that_nobody_knows_is_no_prediction(wrong: dict[str, str]) -> None:
    part = {"part": wrong.get("part", "weights"), "place": "gpu", "bytes": 1}
    bar = {"device": "gpu", "moments": [{"moment": wrong.get("moment", "init"), "parts": [part]}]}
    with pytest.raises(ValueError, match=r"lunch|renamed"):
        list(_bars(bar))
