"""Dry runs of several pages: one at a time, cancelled, given up, remembered; no process outlives who asked."""

import sys
import threading
from dataclasses import replace

import pytest

from dsgui.core.memory import instant
from dsgui.core.memory.answer import Answer, CannotSay, Source
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.rehearsing import key_of
from dsgui.core.texts.saying import said
from dsgui.shell.memory.dry_runs import LEASE_S, DryRuns
from tests.shell.memory.test_asking import question, workers, zero
from tests.support.run_fixtures import wait_until

MADE = Made()
CANCELLED = "The dry run was cancelled."


class Engine:
    """In place of the worker: answers when it is let go, unless it is cancelled first."""

    def __init__(self):
        self.go, self.cancelled = threading.Event(), 0
        self.asked, self.at_once, self.most_at_once = [], 0, 0

    def __call__(self, question, python, *, made, progress, cancelled):
        self.asked.append((question, python))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        progress("init", 0)
        progress("forward", 1)
        try:
            wait_until(lambda: self.go.is_set() or cancelled())
        finally:
            self.at_once -= 1
        if cancelled():
            self.cancelled += 1
            return CannotSay(said("memory_notes", "cancelled"))
        return replace(instant.answer(question, made), source=Source.DRY_RUN)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def runs(engine, clock):
    runs = DryRuns("/a/python", engine, clock)
    yield runs
    runs.close()
    assert engine.at_once == 0
    assert not [one for one in threading.enumerate() if one.name == "dry-run"]


def over(runs, session):
    wait_until(lambda: runs.progress(session).told is not None)
    return runs.progress(session).told


def test_how_far_it_is_and_its_answer(runs, engine, clock):
    asked = question(zero(2))
    runs.begin("a", asked, MADE)
    wait_until(lambda: runs.progress("a").phase == "forward")
    clock.now += 3
    going = runs.progress("a")
    assert (str(going.now()), going.seconds, going.told) == ("step 2 of 3, forward", 3, None)
    assert runs.known(key_of(asked, MADE)) is None
    engine.go.set()
    assert isinstance(over(runs, "a"), Answer)
    assert runs.known(key_of(asked, MADE)) is over(runs, "a")
    assert engine.asked == [(asked, "/a/python")]
    assert runs.progress("b") is None


def test_an_answer_is_there_at_once_for_who_asks_the_same(runs, engine):
    engine.go.set()
    runs.begin("a", question(zero(2)), MADE)
    found = over(runs, "a")
    runs.begin("b", question(zero(2)), MADE)
    assert runs.progress("b").told is found
    assert len(engine.asked) == 1


def test_one_at_a_time_in_the_order_of_asking(runs, engine):
    for number, session in enumerate("abc"):
        runs.begin(session, question(zero(2), ranks=number + 1), MADE)
    wait_until(lambda: runs.progress("a").phase)
    assert [runs.progress(session).ahead for session in "abc"] == [0, 1, 2]
    assert str(runs.progress("c").now()) == "Queued behind 2: one dry run at a time."
    engine.go.set()
    assert all(isinstance(over(runs, session), Answer) for session in "abc")
    assert [asked.group.ranks for asked, _ in engine.asked] == [1, 2, 3]
    assert engine.most_at_once == 1


@pytest.mark.parametrize("session", ["a", "b"], ids=["the one that goes on", "the one that waits"])
def test_a_cancelled_one_ends_alone(runs, engine, session):
    for number, name in enumerate("ab"):
        runs.begin(name, question(zero(2), ranks=number + 1), MADE)
    wait_until(lambda: runs.progress("a").phase)
    runs.cancel(session)
    assert str(over(runs, session).why) == CANCELLED
    engine.go.set()
    assert isinstance(over(runs, "b" if session == "a" else "a"), Answer)


def test_another_question_of_the_same_page_ends_the_first(runs, engine):
    runs.begin("a", question(zero(2)), MADE)
    wait_until(lambda: runs.progress("a").phase)
    runs.begin("a", question(zero(2)), MADE)  # the same: nothing changes
    runs.begin("a", question(zero(3)), MADE)
    wait_until(lambda: engine.cancelled == 1)
    engine.go.set()
    assert isinstance(over(runs, "a"), Answer)
    assert [asked.config["zero_optimization"]["stage"] for asked, _ in engine.asked] == [2, 3]


def test_a_page_that_has_gone_takes_its_dry_run_along(runs, engine):
    runs.begin("a", question(zero(2)), MADE)
    wait_until(lambda: engine.at_once == 1)
    runs.forget("a")
    wait_until(lambda: engine.cancelled == 1)
    assert runs.progress("a") is None


def test_a_page_that_does_not_ask_any_more_has_gone(runs, engine, clock):
    runs.begin("a", question(zero(2)), MADE)
    wait_until(lambda: engine.at_once == 1)
    clock.now += LEASE_S - 1
    runs.progress("a")
    clock.now += LEASE_S - 1
    assert runs.progress("a").told is None
    clock.now += LEASE_S + 1
    wait_until(lambda: engine.cancelled == 1)


def test_what_went_wrong_is_an_answer(clock):
    def broken(question, python, **named):
        raise ValueError("no such thing")

    runs = DryRuns("/a/python", broken, clock)
    runs.begin("a", question(zero(2)), MADE)
    assert "ValueError: no such thing" in str(over(runs, "a").why)
    runs.close()


def test_the_order_of_keys_makes_no_other_question():
    config = zero(2)
    turned = dict(reversed(config.items()))
    assert key_of(question(config), MADE) == key_of(question(turned), MADE)
    assert key_of(question(config), MADE) != key_of(question(config, ranks=3), MADE)
    assert key_of(question(config), MADE) != key_of(question(config), Made(inside=False))


@pytest.mark.deepspeed
def test_no_process_is_left_when_the_server_ends():
    runs, before = DryRuns(sys.executable), workers()
    runs.begin("a", question(zero(3)), MADE)
    wait_until(lambda: runs.progress("a").phase)
    assert workers() - before
    runs.close()
    assert workers() - before == set()
