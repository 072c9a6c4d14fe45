"""Many runs: what a look at the list costs, counted in files that are opened, and that nothing is missed for it."""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core.launch.state import Asked, RunState, RunStatus
from dsgui.core.runs.label import Label
from dsgui.core.runs.news import Listed, Window
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.run_index import RunIndex
from dsgui.shell.runs.store import Store
from dsgui.shell.runs.turns import Queue
from tests.support.made_runs import FIRST_OF_MANY, make_many
from tests.support.run_fixtures import wait_until

FEW, MANY = 250, 500
_heard: list[Callable[[str, str], None]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _heard and event in ("open", "os.listdir", "os.scandir"):
        _heard[-1](event, str(arguments[0]))


sys.addaudithook(_hear)  # can't be taken away again


def opened(folder: Path, look: Callable[[], object]) -> list[str]:
    """What is opened and listed in the folder while `look` works, in any thread."""
    found: list[str] = []
    _heard.append(lambda event, path: found.append(path) if path.startswith(str(folder)) else None)
    try:
        look()
    finally:
        _heard.pop()
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Path, list[str]]]:
    """Folders of few and of many runs, which no test changes; the ids, oldest first."""
    folders = {count: tmp_path_factory.mktemp("runs") for count in (FEW, MANY)}
    return {count: (folder, make_many(folder, count)) for count, folder in folders.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "runs"
    shutil.rmtree(tmp_path / "runs")


def runs_of(folder: Path) -> Runs:
    return Runs(Store(folder), Launcher())


def names(listed: Listed) -> list[str]:
    return [run.name for run in listed.rows]


def settled(runs: Runs, window: Window) -> Listed:
    """Once the order is known and nothing is left to be read."""
    found: list[Listed] = []

    def is_settled() -> bool:
        ordered = runs._index.is_ordered  # of the list that is asked for now, not of the next
        found.append(runs.listed(window))
        return ordered and not found[-1].unread

    wait_until(is_settled)
    return found[-1]


def test_the_first_rows_cost_the_same_however_many_runs_there_are(folder: Path) -> None:
    costs = []
    for count in (FEW, MANY):
        ids = make_many(folder / str(count), count)
        runs = runs_of(folder / str(count))
        looked = opened(folder, lambda runs=runs: runs.listed(Window(count=40)))
        # The places and the dates of the others are read from a thread.
        own = [path for path in looked if path.endswith(".json") and not path.endswith(("asked.json", "state.json"))]
        read = [Path(path) for path in own]
        assert {path.parent.name for path in read} == set(ids[-41:])  # each row says what differs from the one before
        costs.append(len(read))
        settled(runs, Window())
    # What is damaged is looked at as well, the settings of the run before, and what the first of these is called.
    assert costs[0] == costs[1] <= 40 * 9 + 1


def test_what_a_run_changed_is_told_in_the_language_of_whoever_asks(folder: Path) -> None:
    """The line is read once, for all who look at it."""
    first, second = make_many(folder, 2)
    for run_id, ranks in ((first, 4), (second, 2)):
        plan = Store(folder).open(run_id).plan_file
        plan.write_text(json.dumps(json.loads(plan.read_text()) | {"gpu_indices": [], "ranks": ranks}))
        os.utime(plan, (FIRST_OF_MANY, FIRST_OF_MANY))  # what was written just now is read again
    runs = runs_of(folder)

    def devices() -> list[object]:
        row = next(row for row in settled(runs, Window()).rows if row.run_id == second)
        return [(one["before"], one["after"]) for one in row.to_json()["differs"] if one["key"] == "devices"]

    with speaking("zh-CN"):
        assert devices() == [("4 个 rank", "2 个 rank")]
    assert devices() == [("4 ranks", "2 ranks")]


def test_a_search_finds_what_the_list_shows_in_the_language_of_whoever_searches(folder: Path) -> None:
    run_id, *_ = make_many(folder, 1)
    plan = Store(folder).open(run_id).plan_file
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"gpu_indices": [], "ranks": 3}))
    os.utime(plan, (FIRST_OF_MANY, FIRST_OF_MANY))  # what was written just now is read again
    runs = runs_of(folder)

    def found(*words: str) -> bool:
        return settled(runs, Window(words=words)).fits > 0

    assert found("3", "ranks", "succeeded")
    with speaking("zh-CN"):
        assert found("3", "个", "成功")
        assert not found("ranks")
    assert not found("个")


def test_it_is_told_what_the_run_is_called_from_which_a_run_differs(folder: Path) -> None:
    first, second, third = make_many(folder, 3)
    runs = runs_of(folder)

    def bases() -> dict[str, str]:
        return dict(settled(runs, Window(count=1)).bases)

    plan = Store(folder).open(third).plan_file
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"parent": first, "ranks": 7}))
    os.utime(plan, (FIRST_OF_MANY, FIRST_OF_MANY))
    name = Store(folder).open(first).read_plan().name
    assert bases() == {first: name}
    Store(folder).open(first).write_label(Label(name="the first"))
    assert bases() == {first: "the first"}  # though no file of the run that differs has changed
    settled(runs, Window())  # also once it was listed itself
    Store(folder).open(first).write_label(Label(name="anew"))
    assert bases() == {first: "anew"}
    assert second not in bases()
    shutil.rmtree(Store(folder).open(first).path)
    assert bases() == {first: ""}


def test_another_look_at_runs_that_have_ended_opens_nothing(made) -> None:
    folder, _ = made[MANY]
    runs = runs_of(folder)
    told = settled(runs, Window(count=40))
    assert (told.total, told.fits, len(told.rows)) == (MANY, MANY, 40)
    wait_until(lambda: opened(folder, lambda: runs.listed(Window(count=40))) == [])
    again = runs.listed(Window(count=40, since=told.since))
    assert (again.ids, again.rows) == (None, ())


def test_what_another_server_told_counts_for_nothing(made) -> None:
    folder, _ = made[FEW]
    told = settled(runs_of(folder), Window(count=3))
    again = settled(runs_of(folder), Window(count=3, since=told.since))
    assert names(again) == names(told) == [f"many-{FEW - 1 - number}" for number in range(3)]
    assert again.ids == tuple(run.run_id for run in told.rows)
    for wrong in ("x", "1-2-3", "--", told.since.replace("-", "-x")):
        assert len(runs_of(folder).listed(Window(count=3, since=wrong)).rows) == 3


def test_every_window_shows_its_part_and_only_that_is_read(made) -> None:
    folder, ids = made[MANY]
    runs = runs_of(folder)
    settled(runs, Window())
    looked = opened(folder, lambda: names(runs.listed(Window(first=400, count=3))))
    assert {Path(path).relative_to(folder).parts[0] for path in looked} <= set(ids[96:100])
    assert names(runs.listed(Window(first=400, count=3))) == ["many-99", "many-98", "many-97"]
    assert names(runs.listed(Window(first=498, count=30))) == ["many-1", "many-0"]
    assert names(runs.listed(Window(first=5000, count=30))) == []
    assert runs.listed(Window(find=ids[7])).place == MANY - 8
    assert runs.listed(Window(find="none")).place is None


def test_a_search_finds_the_oldest_run_and_says_what_is_still_to_be_read(made) -> None:
    folder, ids = made[MANY]
    runs = runs_of(folder)
    first = runs.listed(Window(words=("many-0",)))
    assert (first.fits, first.unread) == (0, MANY - 200)
    found = settled(runs, Window(words=("many-0",)))
    assert [run.run_id for run in found.rows] == [ids[0]]
    assert (found.total, found.fits) == (MANY, 1)
    assert runs.listed(Window(words=("failed", "t5-small"))).fits == len([n for n in range(MANY) if n % 3 == 1])
    wait_until(lambda: opened(folder, lambda: runs.listed(Window(words=("many-0",)))) == [])


def test_what_is_compared_is_read_once(made) -> None:
    folder, _ = made[FEW]
    runs = runs_of(folder)
    for words, count in ((("stage=3", "gpus=2"), FEW), (("stage=2",), 0), (("loss<1", "model=t5-small"), FEW)):
        assert settled(runs, Window(words=words)).fits == count
    wait_until(lambda: opened(folder, lambda: runs.listed(Window(words=("stage=2",)))) == [])


def test_the_runs_that_are_shown_are_listed_whatever_else_is(folder: Path) -> None:
    ids = make_many(folder, 5)
    runs = runs_of(folder)
    Store(folder).open(ids[0]).write_label(Label(archived=True))
    away = Window(held=(ids[0],))
    assert names(settled(runs, away)) == ["many-0", "many-4", "many-3", "many-2", "many-1"]
    told = runs.listed(away)
    assert (told.total, told.fits, told.held) == (4, 5, 1)
    assert names(runs.listed(Window(held=(ids[2],)))) == ["many-4", "many-3", "many-2", "many-1"]  # as it stood
    compared = runs.listed(Window(held=(ids[0], ids[2], "gone")))
    assert names(compared) == ["many-0", "many-2", "many-4", "many-3", "many-1"]
    assert compared.held == 1
    assert names(runs.listed(Window(words=("many-4",), held=(ids[2],)))) == ["many-2", "many-4"]


def test_archived_runs_that_would_fit_are_counted(folder: Path) -> None:
    ids = make_many(folder, 5)
    runs = runs_of(folder)
    for run_id in ids[:2]:
        Store(folder).open(run_id).write_label(Label(archived=True))
    told = settled(runs, Window(words=("stage=3",)))
    assert (told.fits, told.archived_fit) == (3, 2)
    assert runs.listed(Window(words=("many-4",))).archived_fit == 0
    assert runs.listed(Window(words=("stage=3",), archived=True)).archived_fit == 0  # they are in the list
    assert runs.listed(Window()).archived_fit == 0


def test_a_run_that_was_added_or_deleted_between_two_looks_is_noticed(folder: Path) -> None:
    ids = make_many(folder, 5)
    runs = runs_of(folder)
    wait_until(lambda: opened(folder, lambda: runs.listed(Window())) == [])  # nothing is listed anew
    told = runs.listed(Window())
    shutil.copytree(folder / ids[0], folder / "20260101-000000-0000")
    added = runs.listed(Window(since=told.since))
    assert added.ids == (*reversed(ids[1:]), "20260101-000000-0000", ids[0])  # it has the place of the one it copies
    assert [run.run_id for run in added.rows] == ["20260101-000000-0000"]
    shutil.rmtree(folder / ids[3])
    assert ids[3] not in (runs.listed(Window(since=added.since)).ids or ())
    assert runs.listed(Window()).total == 5
    (folder / "20260101-000000-ffff").mkdir()  # nothing in it yet
    wait_until(lambda: opened(folder, lambda: runs.listed(Window())) == [])
    shutil.copy(folder / ids[0] / "plan.json", folder / "20260101-000000-ffff")
    assert runs.listed(Window()).total == 6


def test_of_runs_that_were_listed_only_those_that_changed_are_told_again(folder: Path) -> None:
    ids = make_many(folder, 5)
    runs = runs_of(folder)
    told = settled(runs, Window())
    state = Store(folder).open(ids[2])
    state.write_status(RunStatus(RunState.FAILED, reasons=(as_told("changed"),), lasted_s=1.0))
    again = runs.listed(Window(since=told.since))
    assert [(run.run_id, run.duration_s) for run in again.rows] == [(ids[2], 1.0)]
    assert runs.listed(Window(since=again.since)).rows == ()
    assert runs.listed(Window(words=("failed",))).fits == 3


def test_runs_are_in_the_order_of_their_dates_whatever_their_ids(folder: Path) -> None:
    ids = make_many(folder, 210)
    late = RunStatus(RunState.SUCCEEDED, started_at=FIRST_OF_MANY + 999 * 3600, ended_at=FIRST_OF_MANY + 1000 * 3600)
    Store(folder).open(ids[0]).write_status(late)  # its command was previewed long before it was launched
    runs = runs_of(folder)
    assert names(settled(runs, Window(count=2))) == ["many-0", "many-209"]
    assert runs.ids()[0] == ids[0]
    assert [run.name for run in runs.newest(2)] == ["many-0", "many-209"]


def test_runs_of_two_machines_stand_in_the_order_of_their_dates(folder: Path) -> None:
    """Each machine counted its own launches; those of one second stay as they were launched."""
    ids = make_many(folder, 4)
    for run_id, place in zip(ids, (7, 9, 2, 1), strict=True):
        Store(folder).open(run_id).write_asked(Asked(place, 0.0, ""))
    for run_id in ids[1:3]:
        at_once = RunStatus(RunState.SUCCEEDED, started_at=FIRST_OF_MANY + 3600, ended_at=FIRST_OF_MANY + 7200)
        Store(folder).open(run_id).write_status(at_once)
    index = RunIndex(Store(folder))
    assert index.newest_first() == (ids[3], ids[1], ids[2], ids[0])
    assert index.last_place() == 9


def test_a_run_that_waited_stands_where_it_began(folder: Path) -> None:
    ids = make_many(folder, 4)
    run, began = Store(folder).open(ids[1]), FIRST_OF_MANY + 3600
    run.write_status(RunStatus(RunState.QUEUED, started_at=began))
    index = RunIndex(Store(folder))
    assert index.newest_first() == (ids[3], ids[2], ids[1], ids[0])
    run.write_status(RunStatus(RunState.RUNNING, started_at=began + 9 * 3600))
    assert index.newest_first() == (ids[1], ids[3], ids[2], ids[0])
    assert not [path for path in opened(folder, index.newest_first) if path.endswith("state.json")]


def test_a_training_of_others_stands_where_its_date_has_it(folder: Path) -> None:
    """It was added last."""
    ids = make_many(folder, 4)
    added = {"20260101-000000-0000": 1.5, "20260101-000000-0001": 99.0, "20260101-000000-0002": None}
    for place, (run_id, hours) in enumerate(added.items(), 10):
        shutil.copytree(folder / ids[0], folder / run_id)
        run = Store(folder).open(run_id)
        run.write_asked(Asked(place, 0.0, ""))
        run.adopted_file.write_text("{}")
        began = None if hours is None else FIRST_OF_MANY + hours * 3600
        run.write_status(RunStatus(RunState.ELSEWHERE, started_at=began))
    early, late, undated = added
    index = RunIndex(Store(folder))
    assert index.newest_first() == (undated, late, ids[3], ids[2], early, ids[1], ids[0])
    assert index.last_place() == 12


def test_a_run_launched_while_another_thread_reads_the_places_is_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who began to look before the launch ends last, and knows nothing of the new run."""
    oldest, *_ = make_many(folder, 4)
    index = RunIndex(Store(folder))
    read, held, go_on = RunIndex._read_place, threading.Event(), threading.Event()

    def reading(self: RunIndex, run_id: str) -> int:
        if run_id == oldest and threading.current_thread() is slow:
            held.set()
            go_on.wait(30)
        elif run_id == oldest:
            go_on.set()
            slow.join(30)
        return read(self, run_id)

    monkeypatch.setattr(RunIndex, "_read_place", reading)
    slow = threading.Thread(target=index.newest_first)
    slow.start()
    assert held.wait(30)
    new = folder / "20260101-000000-0000"
    shutil.copytree(folder / oldest, new)
    (new / "asked.json").write_text(json.dumps(Asked(77, 0.0, "").to_json()))
    (new / "state.json").unlink()  # its date is its id's
    assert index.newest_first()[0] == new.name
    assert index.last_place() == 77


def test_a_run_that_was_away_has_its_place_again_when_it_is_back(folder: Path, tmp_path: Path) -> None:
    ids = make_many(folder, 4)
    Store(folder).open(ids[0]).write_asked(Asked(99, 0.0, ""))
    (folder / ids[0]).rename(tmp_path / "away")
    index = RunIndex(Store(folder), lambda: [ids[0]])
    assert (index.newest_first()[0], index.last_place()) == (ids[0], 4)
    (tmp_path / "away").rename(folder / ids[0])
    assert (index.newest_first()[-1], index.last_place()) == (ids[0], 99)


def test_a_launch_reads_only_the_runs_it_does_not_know(folder: Path) -> None:
    ids = make_many(folder, 20)
    queue = Queue(Store(folder))
    assert (queue.next_place(), queue.holders()) == (21, [])
    new = folder / "20260101-000000-0000"
    shutil.copytree(folder / ids[0], new)
    (new / "asked.json").write_text(json.dumps(Asked(77, 0.0, "").to_json()))
    looked = opened(folder, lambda: (queue.next_place(), queue.holders()))
    assert {Path(path) for path in looked} <= {folder, new / "asked.json", new / "state.json"}
    assert queue.next_place() == 78


def test_of_runs_that_have_ended_a_launch_reads_the_state_and_no_more(made) -> None:
    folder, _ = made[FEW]
    looked = opened(folder, Queue(Store(folder)).holders)
    assert {os.path.basename(path) for path in looked} == {folder.name, "state.json"}


def test_a_run_whose_place_can_not_be_read_is_listed_by_its_date(folder: Path) -> None:
    ids = make_many(folder, 4)
    (folder / ids[2] / "asked.json").unlink()
    os.mkfifo(folder / ids[2] / "asked.json")
    (folder / ids[3] / "asked.json").write_text("[" * 5000)
    assert runs_of(folder).ids() == (ids[3], ids[2], ids[1], ids[0])


def test_the_command_shows_the_newest_and_says_how_many_there_are(made, capsys) -> None:
    folder, ids = made[FEW]

    def listed(*words: str) -> str:
        assert main(["runs", "--runs-dir", str(folder), *words]) == 0
        return capsys.readouterr().out

    text = listed()
    assert text.splitlines()[1].startswith(ids[-1])
    assert text.endswith(f"Showing 50 of {FEW} runs. Add --limit 0 for all, or words to search for.\n")
    assert len(listed("--limit", "0").splitlines()) == FEW + 1
    assert "Showing 2 of 83 runs" in listed("--limit", "2", "FAILED", "t5-small")
    assert ids[0] in listed("many-0")
    assert "No run in" in listed("nowhere")
    assert len(json.loads(listed("--format", "json"))) == FEW
    assert [run["name"] for run in json.loads(listed("--format", "json", "--limit", "1"))] == [f"many-{FEW - 1}"]


def test_the_newest_are_listed_without_reading_the_others(folder: Path) -> None:
    ids = make_many(folder, 20)
    looked = opened(folder, lambda: runs_of(folder).newest(3))
    assert {Path(path).parent.name for path in looked if path.endswith("progress.json")} == set(ids[-3:])


def test_further_columns_are_read_for_the_rows_in_sight_and_for_all_when_sorted_by_one(folder: Path) -> None:
    ids = make_many(folder, FEW)
    store = Store(folder)
    store.open(ids[0]).config_file.write_text('{"zero_optimization": {"stage": 10}}')
    store.open(ids[1]).config_file.write_text('{"zero_optimization": {"stage": 9}}')
    runs = runs_of(folder)
    stage, bleu = "config:zero_optimization.stage", "metrics:eval_bleu"
    runs.list()
    read = opened(folder, lambda: runs.listed(Window(count=3, more=(stage, bleu))))
    assert {Path(path).parent.name for path in read if Path(path) != folder} == set(ids[-3:])
    assert runs.listed(Window(count=1, more=(stage, bleu))).more == {ids[-1]: {stage: "3", bleu: "30"}}
    assert runs.listed(Window(count=1)).more == {}
    found = settled(runs, Window(count=3, sort=stage, descending=True))
    assert names(found) == ["many-0", "many-1", f"many-{FEW - 1}"]
    offered = runs.columns(Window())  # of those in sight, which are the same
    assert (offered[stage], offered[bleu], offered["arguments:model_name_or_path"]) == (False, False, False)
    assert runs.columns(Window(words=("many-1",)))[stage]


def test_tags_of_archived_runs_count_where_these_are_listed(folder: Path) -> None:
    ids = make_many(folder, 3)
    Store(folder).open(ids[0]).write_label(Label(tags=("lora",), archived=True))
    runs = runs_of(folder)
    assert runs.listed(Window()).tagged == 0
    assert runs.listed(Window(archived=True)).tagged == 1


def test_a_launch_looks_only_at_the_names_of_runs_that_are_new(folder: Path) -> None:
    ids = make_many(folder, 4)
    runs = runs_of(folder)
    known = runs._names_taken()
    assert known == {run_id: f"many-{number}" for number, run_id in enumerate(ids)}
    assert [path for path in opened(folder, lambda: runs._names_taken(known)) if path.endswith(".json")] == []
    shutil.rmtree(folder / ids[0])
    assert set(runs._names_taken(known).values()) == {"many-1", "many-2", "many-3"}
    assert ids[0] not in runs._launched_as
