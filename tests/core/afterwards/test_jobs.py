"""A job after training: what it takes, where its result goes, what its worker is told."""

import re
from dataclasses import replace

import pytest

from dsgui.core.afterwards.jobs import (
    Contents,
    Job,
    Needs,
    Room,
    arguments,
    needs,
    refusal,
    shard_bytes,
    usual_name,
    warning,
)
from dsgui.core.afterwards.things import Kind, Thing, Verb
from dsgui.core.errors import PlanError
from dsgui.core.launch.checkpoint import Checkpoint, SavedBy

GIB = 1 << 30
SAVED = Checkpoint("/out/checkpoint-40", 40, SavedBy.TRAINER, 2, True)
ONE = Thing(SAVED.path, Kind.CHECKPOINT, 9, 40, "/out/checkpoint-40/global_step40", "/out/checkpoint-40", "", SAVED)
JOB = Job(Verb.CONSOLIDATE, ONE, "/out/weights-40-fp32")


def test_weights_take_their_own_size_on_disk_and_are_held_in_fp32_first() -> None:
    held = Contents(elements=GIB, largest_bytes=GIB)
    assert needs(JOB, held).disk_bytes == pytest.approx(4 * GIB, rel=0.06)
    assert needs(replace(JOB, dtype="bf16"), held).disk_bytes == pytest.approx(2 * GIB, rel=0.06)
    assert needs(JOB, held).memory_bytes == needs(replace(JOB, dtype="bf16"), held).memory_bytes
    assert (needs(JOB, held).memory_bytes or 0) > 5 * GIB


def test_what_does_not_fit_the_disk_is_refused_and_what_does_not_fit_memory_is_told() -> None:
    wanted = Needs(4 * GIB, 6 * GIB)
    assert "4.3 GB, and 3.2 GB is free" in str(refusal(wanted, Room(3 * GIB, 9 * GIB)))
    assert "6 GiB of host memory, and 5 GiB" in str(warning(wanted, Room(9 * GIB, 5 * GIB)))
    assert refusal(wanted, Room(4 * GIB, 0)) is None
    assert warning(wanted, Room(0, 6 * GIB)) is None
    assert refusal(Needs(None, None), Room(0, 0)) is None


@pytest.mark.parametrize("verb", Verb)
def test_the_trainer_takes_no_result_for_one_of_its_own_checkpoints(verb: Verb) -> None:
    """transformers removes the oldest of what matches this (`save_total_limit`)."""
    assert not re.match(".*checkpoint-([0-9]+)", usual_name(verb, ONE, "fp32"))


def test_the_worker_is_told_all_of_it() -> None:
    assert arguments(JOB) == (
        *("consolidate", "--states=/out/checkpoint-40/global_step40", "--beside=/out/checkpoint-40"),
        *("--dtype=fp32", "--shard-bytes=5000000000", "--to=/out/weights-40-fp32"),
    )


SIZES = [("5GB", 5 * 10**9), (" 500mb ", 5 * 10**8), ("1 GB", 10**9), ("200KB", 200_000), ("2GiB", 2 << 30)]


@pytest.mark.parametrize(("typed", "count"), SIZES)
def test_a_size_is_read_in_decimal_and_in_binary_units(typed: str, count: int) -> None:
    assert shard_bytes(typed) == count


@pytest.mark.parametrize("typed", ["", "0GB", "5", "5G", "-1GB", "9" * 20 + "GB"])
def test_what_is_no_size_is_told(typed: str) -> None:
    with pytest.raises(PlanError, match="5GB or 500MB"):
        shard_bytes(typed)


@pytest.mark.parametrize(
    ("changes", "verbs"),
    [
        ({}, (Verb.CONSOLIDATE, Verb.UNIVERSAL)),
        ({"shards": None}, (Verb.CONSOLIDATE,)),  # any number of ranks loads it
        ({"complete": False}, ()),
        ({"model_ranks": 2}, (Verb.UNIVERSAL,)),
    ],
)
def test_only_what_applies_is_offered(changes: dict[str, object], verbs: tuple[Verb, ...]) -> None:
    assert replace(ONE, checkpoint=replace(SAVED, **changes)).verbs == verbs  # type: ignore[arg-type]


def test_a_checkpoint_of_adapters_is_merged_and_not_consolidated() -> None:
    assert replace(ONE, adapter=True).verbs == (Verb.MERGE, Verb.UNIVERSAL)
