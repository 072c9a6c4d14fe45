"""A training of others that goes on is read again while its page is open: seldom, and only what changed."""

import json
import os
from pathlib import Path

import pytest

from dsgui.core.errors import PlaceError
from dsgui.core.runs.news import Cursor
from dsgui.runs.adoption import Adoption
from dsgui.runs.growing import Growing
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.curve_reader import read_points
from dsgui.shell.runs.store import Store
from tests.support.event_files import write_records

HOUR_S = 3600


class Counted(Adoption):
    """`reads`: how often files were opened."""

    reads = 0

    def read_again(self, run_id: str, settled: bool = True) -> bool:
        self.reads += 1
        return super().read_again(run_id, settled)


class Bench:
    """`now` is the time by both clocks."""

    def __init__(self, folder: Path) -> None:
        self.now, self.allowed = 1000.0, True
        self.store = Store(folder / "runs")
        self.runs = Runs(self.store, Launcher())
        self.adoption = Counted(self.store, self.check, lambda: self.now)
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

    def writes(self, text: str) -> None:
        self.log.write_text(text)
        os.utime(self.log, (self.now, self.now))

    @property
    def times(self) -> list[float]:
        """When the values that are kept were printed."""
        curves, _ = read_points(self.store.directory(self.run_id))
        return [at for curve in curves.values() for at in curve.time.tolist()]

    def steps(self, source: str) -> list[float]:
        """Those that are kept of what these files tell."""
        curves, _ = read_points(self.store.directory(self.run_id))
        return [step for curve in curves.values() if curve.series.source == source for step in curve.step.tolist()]

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


def test_what_becomes_another_is_told_anew(bench):
    bench.asks()
    bench.writes("step 1 loss 4\nstep 2 loss 3\nstep 3 loss 2\nstep 4 loss 1\n")
    assert bench.asks(30) == [1, 2, 3, 4]
    assert bench.anew
    assert bench.asks() == []
    assert not bench.anew


def test_what_becomes_known_of_when_it_began_is_told_anew(bench):
    line = "2024-05-01 12:{:02d}:00 step {} loss 1\n"
    bench.writes("".join(line.format(minute, minute) for minute in (5, 6, 7)))
    bench.asks(30)
    bench.writes("".join(line.format(minute, minute) for minute in (5, 6, 7, 8)))
    assert bench.asks(30) == [8]
    rows = [("train/loss", 4 / step, step) for step in range(1, 8)]
    write_records(bench.log.parent / "events.out.tfevents.1700000000.host.7.0", rows)
    assert sorted(bench.asks(30)) == sorted([*range(1, 8), 5, 6, 7, 8])
    assert bench.anew


def test_losses_between_lines_that_tell_the_time_are_told_as_news_and_their_times_when_it_is_still(bench):
    stamp = "[2024-05-01 12:{:02d}:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] saved\n"
    text = "".join(stamp.format(minute) + f"step {minute} loss {4 / minute}\n" for minute in range(1, 4))
    bench.writes(text)
    assert bench.asks(30) == [1, 2, 3]
    for minute in range(4, 9):
        text += stamp.format(minute) + f"step {minute} loss {4 / minute}\n"
        bench.writes(text)
        assert bench.asks(6) == [minute]
        assert not bench.anew
    bench.writes(text + stamp.format(8).replace(":00,", ":01,"))  # so near that the loss before it has a time
    assert bench.asks(6) == []
    assert bench.times[-1] != bench.times[-1]
    assert bench.asks(61) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert bench.anew
    assert bench.times[-1] == 7 * 60
    assert bench.asks(61) == []


def test_files_that_grow_side_by_side_are_told_as_news(bench):
    bench.asks()
    for last in range(4, 9):
        grow_beside(bench.log.parent, last)
        told = bench.asks(30)
        assert sorted(told) == sorted(3 * [1, 2, 3] if last == 4 else 3 * [last - 1])
        assert not bench.anew


def test_what_is_being_written_stays_as_it_was_until_it_is_whole(bench):
    state = bench.log.parent / "trainer_state.json"
    bench.asks()
    grow_beside(bench.log.parent, 4)
    bench.asks(30)
    whole = state.read_text()
    for text, at, told in (
        (whole[: len(whole) // 2], bench.now + 30, [1, 2, 3]),  # just now
        (whole.replace("4.0", "5.0"), bench.now + 60, [1, 2, 3]),
        (whole[: len(whole) // 2], bench.now - 100, []),  # and nobody has gone on writing
    ):
        state.write_text(text)
        os.utime(state, (at, at))
        bench.asks(30)
        assert bench.steps("trainer_state") == told


def grow_beside(folder: Path, last: int) -> None:
    steps = range(1, last)
    history = [{"loss": 4 / step, "step": step} for step in steps]
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": history, "global_step": last - 1}))
    rows = [("train/loss", 4 / step, step) for step in steps]
    write_records(folder / "events.out.tfevents.1700000000.host.7.0", rows)
    (folder / "Train_loss.csv").write_text("step,Train_loss\n" + "".join(f"{step},{4 / step}\n" for step in steps))


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
