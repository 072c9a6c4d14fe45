"""Whatever lies in a run's folder: that run says what is wrong with which file, the others are listed, nothing hangs,
no memory is filled, and the run can be deleted."""

import json
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from dsgui.core.errors import DsguiError, PlaceError
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.runs.label import Label
from dsgui.core.runs.news import Cursor
from dsgui.core.runs.report_page import Assets
from dsgui.core.texts.saying import as_told
from dsgui.runs import runs as runs_module
from dsgui.runs.archive import Archive
from dsgui.runs.export import Exports
from dsgui.runs.inspection import Inspection
from dsgui.runs.late_diagnosis import Diagnoses
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import RunDirectory, Store
from tests.answers.remembered import SUPERVISION
from tests.support.made_runs import Made, make_run

PATIENCE_S = 60
MOST_BYTES = 100 << 20


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    (path / "below").mkdir(parents=True)


def dangling(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def loop(path: Path) -> None:
    path.symlink_to(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def listening(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def deep(path: Path) -> None:
    levels = 1_000 if path.suffix == ".bin" else 100_000
    path.write_bytes(b'{"state":' * levels + b"1" + b"}" * levels)


def rather_deep(path: Path) -> None:
    path.write_bytes(b'{"a":' * 900 + b"1" + b"}" * 900)


def huge(path: Path) -> None:
    with path.open("wb") as file:  # numbers may be many: they are given out in pieces
        file.truncate(1 << 20 if path.suffix == ".bin" else 128 << 20)


def junk(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(4096))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def another_kind(path: Path) -> None:
    path.write_text("[1, 2, 3]")


def strange_values(path: Path) -> None:
    """Each member of the object is something else than before."""
    known = json.loads(path.read_text()) if path.suffix == ".json" else {}
    path.unlink()
    path.write_text(json.dumps({name: [[{"x": [1]}]] for name in known or {"a": 1}}))


def big_numbers(path: Path) -> None:
    known = json.loads(path.read_text()) if path.suffix == ".json" else {}
    path.unlink()
    numbers = {name: 10**4000 if isinstance(value, int | float) else value for name, value in known.items()}
    path.write_text(json.dumps(numbers).replace('"finished"', "1e400"))


NO_FILES = (fifo, folder, dangling, loop, endless, terminal, listening)
CONTENTS = (deep, rather_deep, huge, junk, empty, another_kind, strange_values, big_numbers)
DOCUMENTS = ("plan.json", "state.json", "asked.json", "progress.json", "series.json", "samples-0.json")
KEPT_LATER = ("diagnosis.json", "provenance.json", "patterns.json", "label.json")
OTHERS = ("points.bin", "events.jsonl", "output.log", "ds_config.json", "samples-0.bin", "supervisor.log", "beat")
WITH_NUMBERS = ("plan.json", "state.json", "asked.json", "progress.json")


class Looked:
    """Everything that reads runs, on one folder of them."""

    def __init__(self, runs_dir: Path) -> None:
        self.store = Store(runs_dir)
        self.runs = Runs(self.store, Launcher())
        self.archive, self.inspection = Archive(self.store, self.runs), Inspection(self.store, self.runs)
        self.exports, self.reports = (
            Exports(self.store, self.runs),
            Reports(self.store, self.runs, assets=lambda: Assets("", "", "")),
        )

    def questions(self, run_id: str, sound: str, out: Path) -> Iterator[Callable[[], object]]:
        runs, inspection, archive = self.runs, self.inspection, self.archive
        yield lambda: runs.summary(run_id).to_json()
        yield lambda: runs.follow(run_id, Cursor()).to_json()
        yield lambda: runs.follow(run_id, Cursor(32, (8,), 5, 7, 1)).to_json()
        yield lambda: sum(map(len, runs.output(run_id)))  # a block at a time
        yield lambda: runs.output_end(run_id)
        yield lambda: runs.output_size(run_id)
        yield lambda: runs.shown_config(run_id)
        yield lambda: runs.window(run_id, ["0", "0.1"], "step", 0, 10)
        yield lambda: len(runs.curves(run_id))
        yield lambda: runs.alive_processes(run_id)
        yield lambda: runs.may_go_on(run_id)
        yield lambda: runs.stop(run_id)
        yield lambda: runs.save_and_stop(run_id)
        yield lambda: archive.about(run_id)
        yield lambda: archive.clone(run_id).notes
        yield lambda: archive.repaired(run_id).notes
        yield lambda: archive.resumed(run_id, "/nowhere").notes
        yield lambda: archive.removal(run_id).to_json()
        yield lambda: inspection.search(run_id, "o")
        yield lambda: inspection.search(run_id, "", errors=True)
        yield lambda: inspection.output_around(run_id, 3)
        yield lambda: inspection.output_around(run_id, -1)
        yield lambda: inspection.pattern(run_id, "loss {loss}")
        yield lambda: inspection.add_pattern(run_id, "loss {loss}")
        yield lambda: inspection.compare([sound, run_id])
        yield lambda: len(self.reports.html([sound, run_id]))
        yield lambda: sum(len(piece) for piece in self.exports.csv(run_id))
        yield lambda: sum(len(piece) for piece in self.exports.tensorboard(run_id))
        yield lambda: self.exports.write_csv(run_id, out / "points.csv")
        yield lambda: runs.busy()


@contextmanager
def soon() -> Iterator[None]:
    """What is within ends in time: a signal interrupts whatever waits."""

    def give_up(*_: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def a_run(runs_dir: Path) -> RunDirectory:
    made = Made(steps=20, output="one\ntwo Error: no\n", events={5: "saved"})
    directory = Store(runs_dir).open(make_run(runs_dir, made))
    directory.write_provenance({"python": "3.11", "versions": {"torch": "2"}, "git": None})
    directory.write_patterns(["x {loss}"])
    directory.write_label(Label("finished", ("tag",), "a note"))
    directory.write_diagnosis({"signature": "unknown", "title": "t", "meaning": "m", "advice": ["a"]})
    directory.beat(1.0)
    directory.supervisor_log.write_text("said\n")
    return directory


def hurt(directory: RunDirectory, name: str, how: Callable[[Path], None]) -> None:
    path = directory.path / name
    if how not in (strange_values, big_numbers):
        path.unlink()
    how(path)


def read_by_all(looked: Looked, bad: str, sound: str, out: Path) -> None:
    """Each answers, or says why not; a page can be given the answer."""
    for number, question in enumerate(looked.questions(bad, sound, out)):
        with soon(), suppress(DsguiError):
            answer = question()
            try:
                json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
            except ValueError as error:
                raise AssertionError(f"question {number}: {error}") from error


def start_of_peak() -> int:
    """Bytes of this process now; the kernel's mark of the most begins here."""
    Path("/proc/self/clear_refs").write_text("5")
    return most_memory()


def most_memory() -> int:
    """Bytes of this process when it was largest."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


@pytest.mark.remembered(*SUPERVISION)
@pytest.mark.parametrize("how", [*NO_FILES, *CONTENTS], ids=lambda how: how.__name__)
def test_a_damaged_run_says_so_and_everything_else_goes_on(tmp_path: Path, how: Callable[[Path], None]) -> None:
    runs_dir = tmp_path / "runs"
    sound = a_run(runs_dir)
    before = start_of_peak()
    for name in (*DOCUMENTS, *KEPT_LATER, *OTHERS):
        bad = a_run(runs_dir)
        hurt(bad, name, how)
        looked = Looked(runs_dir)
        with soon():
            listed = {run.run_id: run for run in looked.runs.list()}
        assert set(listed) == {sound.run_id, bad.run_id}, name
        assert (listed[sound.run_id].state, listed[sound.run_id].problem) == (RunState.SUCCEEDED, "")
        json.dumps([run.to_json() for run in listed.values()], allow_nan=False)
        with soon():
            problem = looked.runs.follow(bad.run_id, Cursor()).problem
        if how in NO_FILES or name in (WITH_NUMBERS if how is big_numbers else (*DOCUMENTS, *KEPT_LATER)):
            assert name in problem, (name, problem)
        if name in ("plan.json", "state.json"):
            assert listed[bad.run_id].state is RunState.DAMAGED, name
            assert name in listed[bad.run_id].problem
        read_by_all(looked, bad.run_id, sound.run_id, tmp_path / name)
        with soon():
            looked.archive.delete(bad.run_id)
        assert not bad.path.exists(), name
        assert [run.run_id for run in looked.runs.list()] == [sound.run_id], name
    assert most_memory() - before < MOST_BYTES, f"{most_memory() - before:,}"


def test_a_run_that_is_damaged_after_it_was_listed_says_so_as_well(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    looked = Looked(tmp_path)
    assert [run.state for run in looked.runs.list()] == [RunState.SUCCEEDED]
    directory.state_file.unlink()
    os.mkfifo(directory.state_file)
    assert [(run.state, "named pipe" in run.problem) for run in looked.runs.list()] == [(RunState.DAMAGED, True)]


def test_a_state_that_is_none_is_told_in_short(tmp_path: Path) -> None:
    a_run(tmp_path).state_file.write_text('{"state": "Flying"}')
    assert [run.problem for run in Looked(tmp_path).runs.list()] == [
        "Damaged: state.json has an unexpected value: Flying."
    ]


OUT_OF_MEMORY = """step 3
Traceback (most recent call last):
  File "train.py", line 88, in <module>
    loss = engine(batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB.
"""


def test_why_a_run_failed_that_left_no_diagnosis_is_read_from_its_output(tmp_path: Path) -> None:
    run_id = make_run(tmp_path, Made(steps=3, output=OUT_OF_MEMORY, state=RunState.FAILED))
    looked = Looked(tmp_path)
    told = looked.archive.about(run_id)["diagnosis"]
    assert told["title"] == "The GPU ran out of memory while training"
    assert told["remedies"]
    assert "ran out of memory" in looked.reports.html([run_id])
    made = make_run(tmp_path, Made(steps=3, output=OUT_OF_MEMORY))  # it caught that, and went on
    assert looked.archive.about(made)["diagnosis"] is None


def test_a_script_that_may_not_be_read_is_not_read_to_tell_why_its_run_failed(tmp_path: Path) -> None:
    """Others may have written the plan."""
    run_id = make_run(tmp_path, Made(steps=3, output=OUT_OF_MEMORY, state=RunState.FAILED))
    directory, asked = Store(tmp_path).open(run_id), list[Path]()

    def check(path: Path) -> None:
        asked.append(path)
        raise PlaceError(as_told("not here"))

    found = Diagnoses(check).of(directory)
    assert found is not None
    assert str(found.title) == "The GPU ran out of memory while training"
    assert asked == [Path(directory.read_plan().script)]


def test_of_a_failed_run_that_tells_nothing_its_exit_code_and_last_line_are_told(tmp_path: Path) -> None:
    looked = Looked(tmp_path)
    printed = make_run(tmp_path, Made(steps=3, output="loading\nbye\n", state=RunState.FAILED))
    told = looked.archive.about(printed)["diagnosis"]
    assert told["title"] == "It ended with exit code 1 and no traceback"
    assert (told["meaning"], told["quote"]) == ("The last line of its output:", "bye")
    directory = looked.store.open(printed)
    directory.write_status(RunStatus(RunState.FAILED))
    told = looked.archive.about(printed)["diagnosis"]
    assert told["title"] == "It failed without a traceback; its exit code is unknown"
    directory.write_status(RunStatus(RunState.FAILED, reasons=(as_told("Its disk is full."),)))
    assert looked.archive.about(printed)["diagnosis"] is None  # what its page says as well


def test_a_run_without_a_state_began_when_its_id_says_not_when_its_folder_was_copied(tmp_path: Path) -> None:
    directory = Store(tmp_path).create("20250131-235959-0a1b")
    for path in a_run(tmp_path / "runs").path.iterdir():
        (directory.path / path.name).write_bytes(path.read_bytes())
    directory.state_file.write_text("{")
    looked = Looked(tmp_path)
    [run] = [one for one in looked.runs.list() if one.run_id == directory.run_id]
    assert run.started_at == time.mktime((2025, 1, 31, 23, 59, 59, 0, 0, -1))
    directory.samples_file(0).unlink()
    assert looked.runs.follow(directory.run_id, Cursor()).elapsed_s is None
    directory.state_file.write_text('{"state": "flying", "started_at": 1700000000.5}')  # by it the list is ordered
    assert looked.runs.summary(directory.run_id).started_at == 1700000000.5


def test_a_lost_run_without_a_state_did_not_last_until_its_folder_was_copied(tmp_path: Path) -> None:
    """Its start is that of its id; its files may have any date."""
    store = Store(tmp_path)
    directory, written = store.create("20250131-235959-0a1b"), a_run(tmp_path / "runs")
    directory.plan_file.write_bytes(
        written.plan_file.read_bytes().replace(*map(str.encode, (written.run_id, directory.run_id)))
    )
    seen = Looked(tmp_path).runs.summary(directory.run_id)
    assert (seen.state, seen.duration_s) == (RunState.LOST, None)
    state = {
        "state": "running",
        "started_at": time.time() - 50,
        "supervisor": {"pid": 1, "start_time": 1, "boot_id": "x"},
    }
    directory.state_file.write_text(json.dumps(state))  # what its supervisor wrote came with a date
    seen = Looked(tmp_path).runs.summary(directory.run_id)
    assert seen.state is RunState.LOST
    assert seen.duration_s == pytest.approx(50, abs=10)


def test_a_plan_of_another_run_is_no_plan(tmp_path: Path) -> None:
    """To stop the copy would end the other's processes."""
    directory = a_run(tmp_path)
    copy = Store(tmp_path).create("20260131-235959-0a1b")
    for path in directory.path.iterdir():
        (copy.path / path.name).write_bytes(path.read_bytes())
    listed = {run.run_id: run for run in Looked(tmp_path).runs.list()}
    assert listed[copy.run_id].state is RunState.DAMAGED
    assert f"the plan of run {directory.run_id}" in listed[copy.run_id].problem


def test_a_folder_whose_plan_was_removed_is_listed_and_can_be_deleted(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    directory.plan_file.unlink()
    looked = Looked(tmp_path)
    [run] = looked.runs.list()
    assert (run.state, "plan.json" in run.problem) == (RunState.DAMAGED, True)
    looked.archive.delete(run.run_id)
    assert list(tmp_path.iterdir()) == []


def test_what_a_deletion_that_was_killed_has_left_goes_with_the_next(tmp_path: Path) -> None:
    gone, next_one = a_run(tmp_path), a_run(tmp_path)
    gone.path.rename(gone.path.with_name(f".{gone.run_id}.deleted"))
    Looked(tmp_path).archive.delete(next_one.run_id)
    assert list(tmp_path.iterdir()) == []


def test_what_only_looks_like_left_by_a_deletion_stays(tmp_path: Path) -> None:
    kept = tmp_path / ".notes.deleted"
    kept.mkdir()
    Looked(tmp_path).archive.delete(a_run(tmp_path).run_id)
    assert list(tmp_path.iterdir()) == [kept]


def test_more_events_than_are_read_at_once_come_with_the_next_question(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    with directory.events_file.open("ab") as file:
        file.write(b'{"kind": "alert", "text": "%s"}\n' % (b"x" * 200) * 40_000)
    runs, cursor, seen = Looked(tmp_path).runs, Cursor(), 0
    while news := (delta := runs.follow(directory.run_id, cursor)).events:
        seen, cursor = seen + len(news), delta.cursor
    assert seen >= 40_000


def test_a_line_without_end_is_not_waited_for(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    huge(directory.events_file)
    _, offset = directory.read_lines(directory.events_file, 0)
    assert 0 < offset <= 8 << 20


def test_a_name_of_a_piece_of_output_that_no_file_can_begin_at_is_none(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    directory.output_tail(10**25).write_bytes(b"x")
    looked = Looked(tmp_path)
    assert "two" in looked.runs.output_end(directory.run_id)[0]
    assert looked.inspection.search(directory.run_id, "two")["matches"]


def test_a_diagnosis_of_strange_values_is_none(tmp_path: Path) -> None:
    directory = a_run(tmp_path)
    fix = {"label": "y", "changes": [{"pointer": {"a": 1}, "literal": 3}]}
    known = {"signature": "u", "title": "t", "meaning": "m", "advice": ["a"], "remedies": [{"label": "x", "fix": fix}]}
    directory.write_diagnosis(known)
    assert directory.read_diagnosis() is None


def test_a_long_name_does_not_fill_the_list(tmp_path: Path) -> None:
    run_id = make_run(tmp_path, Made(name="n" * 100_000, steps=2))
    assert len(Looked(tmp_path).runs.summary(run_id).name) == 300


def test_long_curves_are_given_to_a_page_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = a_run(tmp_path)
    monkeypatch.setattr(runs_module, "NEWS_BYTES", 320)
    runs, cursor, ends = Looked(tmp_path).runs, Cursor(), [0]
    while (cursor := runs.follow(directory.run_id, cursor).cursor).points > ends[-1]:
        ends.append(cursor.points)
    assert ends[-1] == directory.points_file.stat().st_size
    assert {after - before for before, after in pairwise(ends[:-1])} == {320}
