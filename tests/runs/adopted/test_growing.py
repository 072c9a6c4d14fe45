"""A training of others that goes on is read again while its page is open: seldom, and only what changed."""

import os
from pathlib import Path

import pytest

from dsgui.core.errors import PlaceError
from dsgui.core.runs.news import Cursor
from dsgui.runs.adoption import Adoption
from dsgui.runs.growing import Growing
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.support.event_files import write_records

HOUR_S = 3600


class Counted(Adoption):
    """`reads`: how often files were opened."""

    reads = 0

    def read_again(self, run_id: str) -> bool:
        self.reads += 1
        return super().read_again(run_id)


class Bench:
    """`now` is the time by both clocks."""

    def __init__(self, folder: Path) -> None:
        self.now, self.allowed = 1000.0, True
        self.store = Store(folder / "runs")
        self.runs = Runs(self.store, Launcher())
        self.adoption = Counted(self.store, self.check)
        self.growing = Growing(self.adoption, lambda: self.now, lambda: self.now)
        self.log = folder / "out" / "train.log"
        self.log.parent.mkdir()
        self.prints(1, 2, 3)
        self.run_id = self.adoption.add(str(self.log.parent)).added[0].run_id
        self.cursor = Cursor()

    def check(self, path: Path) -> None:
        if not self.allowed:
            raise PlaceError(f"{path}: not allowed")

    def prints(self, *steps: int) -> None:
        with self.log.open("a") as file:
            file.writelines(f"step {step} loss {4 / step}\n" for step in steps)
        os.utime(self.log, (self.now, self.now))

    def asks(self, after_s: float = 1.0) -> list[float]:
        """What a page does each second; the steps that it is told, `anew` or as news."""
        self.now += after_s
        if self.growing.is_due(self.run_id):
            self.growing.look(self.run_id)
        delta = self.runs.follow(self.run_id, self.cursor)
        self.cursor, self.anew = delta.cursor, delta.anew
        return [step for one in delta.curves["y"] for step in steps_of(delta.curves["x"][one["x"]]["step"])]


def steps_of(coded: dict) -> list[float]:
    if "v" in coded:
        return coded["v"]
    total, found = 0, []
    for difference in coded["d"]:
        total += difference
        found.append(total / 10 ** coded["k"])
    return found


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_what_is_printed_later_is_told_as_news(bench):
    assert bench.asks() == [1, 2, 3]
    assert (bench.growing.told(bench.run_id).growing, bench.growing.told(bench.run_id).seen) == (True, False)
    bench.prints(4, 5)
    assert bench.asks() == []
    assert bench.asks(5) == [4, 5]
    assert not bench.anew
    assert bench.growing.told(bench.run_id).seen
    assert bench.growing.told(bench.run_id).read_s == 0
    assert bench.runs.summary(bench.run_id).step == 5
    bench.asks(61)
    told = bench.growing.told(bench.run_id)
    assert (told.growing, told.seen) == (True, False)  # it may have ended


def test_nothing_is_opened_where_nothing_changed_and_an_old_training_is_looked_at_seldom(bench):
    for _ in range(200):
        bench.asks(5)
    assert bench.adoption.reads == 1  # the first look of this server
    bench.asks(HOUR_S)
    assert bench.growing.told(bench.run_id) is None
    bench.now += 10
    assert not bench.growing.is_due(bench.run_id)
    bench.now += 30
    assert bench.growing.is_due(bench.run_id)


def test_what_comes_between_is_told_anew(bench):
    bench.asks()
    rows = [("train/loss", 4 / step, step) for step in range(1, 8)]
    write_records(bench.log.parent / "events.out.tfevents.1700000000.host.7.0", rows)
    told = bench.asks(30)
    assert bench.anew
    assert sorted(told) == sorted([*range(1, 8), 1, 2, 3])
    assert bench.asks() == []
    assert not bench.anew


def test_the_longer_reading_takes_the_rarer_it_is(bench):
    lying = bench.adoption.lying

    def slow(run_id: str):
        bench.now += 3
        return lying(run_id)

    bench.adoption.lying = slow
    bench.asks()
    bench.now += 59
    assert not bench.growing.is_due(bench.run_id)
    bench.now += 1
    assert bench.growing.is_due(bench.run_id)


def test_a_folder_that_is_gone_or_closed_is_said_and_what_was_read_stays(bench):
    bench.asks()
    bench.allowed = False
    bench.asks(30)
    assert "not allowed" in bench.growing.told(bench.run_id).problem
    bench.allowed = True
    bench.log.parent.rename(bench.log.parent.with_name("away"))
    bench.asks(30)
    assert "no such folder" in bench.growing.told(bench.run_id).problem
    assert bench.runs.summary(bench.run_id).step == 3


def test_no_run_and_a_run_of_dsguis_own_are_not_looked_at(bench):
    assert not bench.growing.is_due("../../etc")
    assert not bench.growing.is_due("none")
    assert bench.growing.told("none") is None
