"""Which checkpoints go by a rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.afterwards.pruning import Rule, Why, going, judged
from dsgui.core.afterwards.things import Kind, Thing
from dsgui.core.errors import PlanError
from dsgui.core.launch.checkpoint import Checkpoint, SavedBy


def saved(step: int, *, by: SavedBy = SavedBy.TRAINER, complete: bool = True, newest: bool = True) -> Thing:
    path = f"/out/checkpoint-{step}"
    return Thing(path, Kind.CHECKPOINT, step, step, path, checkpoint=Checkpoint(path, step, by, 2, complete, 1, newest))


def steps(things: list[Thing], rule: Rule, **known: object) -> list[int]:
    return [one.step for one in going(judged(things, rule, **known))]  # type: ignore[arg-type]


TEN = [saved(step) for step in range(10, 101, 10)]


def test_the_latest_the_best_and_every_kth_stay() -> None:
    assert steps(TEN, Rule(last=2, every=50), best="/out/checkpoint-20") == [80, 70, 60, 40, 30, 10]
    assert steps(TEN, Rule(last=2, every=50, best=False), best="/out/checkpoint-20") == [80, 70, 60, 40, 30, 20, 10]


def test_each_says_why_it_stays() -> None:
    found = {one.thing.step: one.why for one in judged(TEN, Rule(2, 50), best="/out/checkpoint-20")}
    assert (found[100], found[90], found[50], found[20], found[10]) == (Why.NEWEST, Why.LAST, Why.EVERY, Why.BEST, None)


def test_what_latest_names_stays_where_the_engine_saved_though_it_is_not_the_last() -> None:
    engines = [saved(step, by=SavedBy.ENGINE, newest=step == 20) for step in (10, 20, 30)]
    assert steps(engines, Rule(last=0)) == [30, 10]


def test_what_is_being_written_stays_and_so_does_the_one_before_it() -> None:
    things = [saved(10), saved(20), saved(30, complete=False)]
    assert steps(things, Rule(last=0), live=True) == [10]
    assert steps(things, Rule(last=0)) == [30, 10]  # cut off, and nobody writes it any more


def test_what_a_live_run_goes_on_from_stays_and_so_does_its_best() -> None:
    known = {"best": "/out/checkpoint-10", "in_use": ["/out/checkpoint-20"], "live": True}
    assert steps([saved(10), saved(20), saved(30), saved(40)], Rule(0, 0, best=False), **known) == [30]


@given(st.sets(st.integers(1, 500)), st.integers(0, 5), st.integers(0, 50))
def test_something_to_go_on_from_always_stays(taken: set[int], last: int, every: int) -> None:
    gone = set(steps([saved(step) for step in taken], Rule(last, every)))
    assert gone <= taken
    assert not taken or max(taken) not in gone
    assert len(taken - gone) >= min(len(taken), last)


@pytest.mark.parametrize("typed", ["-1", "two", "1e3", "9" * 30, "٣"])
def test_no_count_is_told(typed: str) -> None:
    with pytest.raises(PlanError, match="whole number"):
        Rule.of(typed, "0", True)
