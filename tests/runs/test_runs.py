"""Prepare, start, list and follow: what the pages are given."""

import json
import math
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from dsgui.core.access.secrets import MASK
from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch.command import argv, shell_line
from dsgui.core.launch.state import Asked, Identity, RunState, RunStatus
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.metrics.curves import RECORD
from dsgui.core.metrics.points import Point
from dsgui.core.metrics.thinning import STRETCHES_SHOWN
from dsgui.core.runs.news import Cursor
from dsgui.runs import runs as runs_module
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.launch.ports import is_free
from dsgui.shell.logs.records import Records
from dsgui.shell.processes.processes import boot_id
from dsgui.shell.runs.store import RunDirectory, Store
from dsgui.supervise import end_lost
from tests.support.curves_json import logged
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

__all__ = ["bench"]


def written_run(bench: Bench, status: RunStatus | None) -> RunDirectory:
    """A run that another server started."""
    plan = bench.runs.prepare(bench.request(bench.script("")))
    directory = bench.store.create(plan.run_id)
    directory.write_plan(plan, CONFIG)
    if status:
        directory.write_status(status)
    return directory


def test_a_plan_is_made_without_writing_anything(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("")))
    assert list(bench.store.runs_dir.iterdir()) == []
    assert plan.working_directory == plan.run_directory == str(bench.store.runs_dir / plan.run_id)
    assert Path(plan.script).is_absolute()
    assert 1024 <= plan.master_port < 32768
    assert bench.runs.prepare(bench.request(bench.script(""))).run_id != plan.run_id


def test_what_is_started_is_what_was_shown(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("import sys; print(sys.argv)"), arguments="--a 'b c'"))
    shown = shell_line(plan)
    delta = bench.ended(bench.runs.start(plan, CONFIG))
    assert delta.about["command"].replace(" \\\n  ", " ") == shown  # a part to a line
    assert repr(list(argv(plan)[5:])) in delta.output


def test_a_relative_script_is_found_in_the_working_directory(bench: Bench) -> None:
    script = bench.script("")
    plan = bench.runs.prepare(bench.request(script.name, working_directory=str(bench.folder)))
    assert plan.script == str(script)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("", "Enter the path to your training script"),
        ("/no/such/train.py", "no file at /no/such/train.py"),
        (".", "is a folder"),
        ("~nobody-here/x.py", "can't be used"),
        ("a\0b", "can't be used"),
        ("x" * 5000, "can't be used"),
    ],
)
def test_a_script_that_cannot_run_is_refused(bench: Bench, script: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        bench.runs.prepare(bench.request(script))


def test_a_python_or_a_folder_that_is_not_there_is_refused(bench: Bench) -> None:
    script = bench.script("")
    with pytest.raises(PlanError, match="--python"):
        bench.runs.prepare(bench.request(script, target_python="/no/python"))
    for folder in ("/no/such/folder", str(script)):
        with pytest.raises(PlanError, match="Working directory"):
            bench.runs.prepare(bench.request(script, working_directory=folder))


def test_a_port_in_use_is_named_and_a_free_one_offered(bench: Bench) -> None:
    script = bench.script("")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PlanError, match=f"{port} is in use") as caught:
            bench.runs.prepare(bench.request(script, master_port=port))
    offered = int(str(caught.value).split("Use ")[1].split(",")[0])
    assert bench.runs.prepare(bench.request(script, master_port=offered)).master_port == offered
    with pytest.raises(PlanError, match="outside"):
        bench.runs.prepare(bench.request(script, master_port=70_000))


def test_a_double_click_starts_one_run(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print('once')")))
    outcomes: list[object] = []

    def click() -> None:
        try:
            outcomes.append(bench.runs.start(plan, CONFIG))
        except RunError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=click) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(plan.run_id) == 1
    assert all("started already" in str(outcome) for outcome in outcomes if outcome != plan.run_id)
    assert bench.ended(plan.run_id).output == "once\n"


def test_a_supervisor_that_cannot_start_is_told_and_kept(bench: Bench) -> None:
    runs = Runs(bench.store, Launcher(python="/no/such/python"))
    plan = runs.prepare(bench.request(bench.script("")))
    with pytest.raises(RunError, match="supervisor could not be started"):
        runs.start(plan, CONFIG)
    assert runs.summary(plan.run_id).state is RunState.FAILED


def test_another_server_finds_the_run(bench: Bench) -> None:
    run_id = bench.start("import time\nprint('step=2 loss=nan')\ntime.sleep(600)", name="mine", preset="zero2")
    second = Runs(Store(bench.store.runs_dir), Launcher(grace_s=1))
    wait_until(lambda: second.summary(run_id).step == 2)
    [summary] = second.list()
    assert (summary.run_id, summary.name, summary.state) == (run_id, "mine", RunState.RUNNING)
    assert (summary.step, summary.total, summary.loss, summary.preset) == (2, None, "NaN", "zero2")
    assert summary.to_json()["state"] == "running"
    second.stop(run_id)
    wait_until(lambda: bench.runs.summary(run_id).state is RunState.STOPPED)


def test_following_gives_only_what_is_new(bench: Bench) -> None:
    run_id = bench.start("print('step=1 loss=3')\ninput_file = open('go', 'w')\n" + "import time\ntime.sleep(600)")
    wait_until(lambda: logged(bench.runs.follow(run_id, Cursor()).curves))  # samples alone come before its line's end
    first = bench.runs.follow(run_id, Cursor())
    again = bench.runs.follow(run_id, first.cursor)
    assert (first.output, again.output, logged(again.curves)) == ("step=1 loss=3\n", "", [])
    assert first.elapsed_s is not None
    assert json.dumps(first.to_json(), allow_nan=False)
    assert first.to_json()["cursor"] == {
        "points": RECORD.size, "samples": str(first.cursor.samples[0]), "events": 0, "output": len(first.output),
        "series": 1, "turn": 0,
    }  # fmt: skip
    wait_until(lambda: bench.runs.follow(run_id, first.cursor).curves["y"])
    bench.runs.stop(run_id)
    bench.ended(run_id)


def test_news_is_quick_and_all_of_a_long_run_is_not(bench: Bench) -> None:
    directory = written_run(bench, RunStatus(RunState.SUCCEEDED, started_at=1.0, ended_at=2.0))
    records = Records(directory, lambda: 0.0, lambda: 0.0)
    cursor = bench.runs.follow(directory.run_id, Cursor()).cursor
    assert not bench.runs.is_quick(directory.run_id, Cursor())
    assert bench.runs.is_quick(directory.run_id, cursor)  # without a sample, too
    records.take_points([Point(step, None, {"loss": 1.0}) for step in range(40_000)])
    assert not bench.runs.is_quick(directory.run_id, cursor)
    assert bench.runs.is_quick(directory.run_id, bench.runs.follow(directory.run_id, cursor).cursor)


def test_a_long_run_is_thinned_for_the_screen_and_keeps_each_spike(bench: Bench) -> None:
    directory = written_run(bench, RunStatus(RunState.SUCCEEDED, started_at=1.0, ended_at=2.0))
    steps, spikes = 20_000, {(rank, step): 50.0 + rank for rank in (0, 1) for step in range(500, 20_000, 1000)}
    records = Records(directory, lambda: 0.0, lambda: 0.0)
    for step in range(steps):
        records.take_points(
            [Point(step, None, {"loss": spikes.get((rank, step), 1 / (1 + step))}, rank=rank) for rank in (0, 1)]
        )
    records.take_points([Point(5, None, {"eval_loss": math.nan}, "eval")])
    records.finish()
    with directory.points_file.open("ab") as file:
        file.write(b"cut short")
    delta = bench.runs.follow(directory.run_id, Cursor())
    points = logged(delta.curves)
    for rank in (0, 1):
        shown = {p["step"]: p["values"]["loss"] for p in points if p["rank"] == rank}
        assert STRETCHES_SHOWN / 2 < len(shown) <= 2 * STRETCHES_SHOWN
        assert max(shown) == steps - 1
        assert {(rank, step): loss for step, loss in shown.items() if loss > 2} == {
            key: value for key, value in spikes.items() if key[0] == rank
        }
    (evaluated,) = (p for p in points if p["kind"] == "eval")
    assert math.isnan(evaluated["values"]["eval_loss"])
    assert delta.cursor.points == (2 * steps + 1) * RECORD.size


def test_the_model_that_a_script_names_itself_is_the_runs_as_it_was_judged_at_its_launch(bench: Bench) -> None:
    directory = written_run(bench, RunStatus(RunState.SUCCEEDED))
    assert bench.runs.summary(directory.run_id).model == ""
    told = {"fit": "fits", "model": "google/t5-small", "guessed": False}
    directory.write_foretold(Foretold.from_json(told))
    assert bench.runs.summary(directory.run_id).model == "google/t5-small"
    directory.write_foretold(Foretold.from_json(told | {"guessed": True}))  # a size that somebody typed, say
    assert bench.runs.summary(directory.run_id).model == ""
    directory.write_foretold(Foretold.from_json(told | {"model": ["no", "name"]}))
    assert bench.runs.summary(directory.run_id).model == ""


def test_a_run_whose_machine_was_restarted_is_lost(bench: Bench) -> None:
    gone = Identity(os.getpid(), 1, "another boot")
    directory = written_run(bench, RunStatus(RunState.RUNNING, gone, gone, started_at=1.0))
    assert "restarted" in bench.runs.follow(directory.run_id, Cursor()).reason
    assert bench.runs.list()[0].state is RunState.LOST


def test_a_reused_pid_is_not_the_supervisor(bench: Bench) -> None:
    reused = Identity(os.getpid(), 1, boot_id())
    directory = written_run(bench, RunStatus(RunState.RUNNING, reused, reused, started_at=1.0))
    bench.runs.stop(directory.run_id)  # would end this very test otherwise
    assert bench.runs.summary(directory.run_id).state is RunState.LOST


def test_a_supervisor_that_never_wrote_is_pending_then_lost(bench: Bench) -> None:
    directory = written_run(bench, None)
    directory.write_asked(Asked(1, time.monotonic(), boot_id()))
    assert bench.runs.summary(directory.run_id).state is RunState.PENDING
    later = Runs(bench.store, Launcher(), monotonic=lambda: time.monotonic() + 1000)
    assert later.summary(directory.run_id).state is RunState.LOST
    directory.write_asked(Asked(1, time.monotonic(), "another boot"))
    assert bench.runs.summary(directory.run_id).state is RunState.LOST
    directory.plan_file.unlink()


def test_a_damaged_run_spoils_no_list(bench: Bench) -> None:
    good = written_run(bench, RunStatus(RunState.FAILED))
    bad = written_run(bench, RunStatus(RunState.FAILED))
    bad.plan_file.write_text("{")
    listed = {run.run_id: run for run in bench.runs.list()}
    assert (listed[good.run_id].state, listed[good.run_id].problem) == (RunState.FAILED, "")
    assert listed[bad.run_id].state is RunState.DAMAGED
    assert "plan.json can't be read" in listed[bad.run_id].problem
    delta = bench.runs.follow(bad.run_id, Cursor())
    assert (delta.state, delta.problem) == (RunState.DAMAGED, listed[bad.run_id].problem)


def test_an_alert_that_was_kept_when_sizes_had_no_unit_is_told_with_it(bench: Bench) -> None:
    directory = written_run(bench, RunStatus(RunState.FAILED))
    given = {"gpu": "0", "used": "139.9", "percent": "100"}
    kept = [
        {"kind": kind, "text": "", "step": None, "code": code, "given": given | {"total": total}}
        for kind, code, total in (("alert", "gpu_memory", "140.4"), ("calm", "gpu_memory_below", "1.1 TiB"))
    ]
    directory.events_file.write_text("".join(f"{json.dumps(one)}\n" for one in kept))
    told = bench.runs.follow(directory.run_id, Cursor()).events
    assert [one["given"]["total"] for one in told] == ["140.4 GiB", "1.1 TiB"]


def test_an_ended_run_is_listed_until_it_is_deleted(bench: Bench) -> None:
    """How often it is read is counted in `test_run_list`."""
    directory = written_run(bench, RunStatus(RunState.FAILED, started_at=1.0, ended_at=3.5))
    [summary] = bench.runs.list()
    assert summary.duration_s == 2.5
    assert bench.runs.list() == [summary]
    directory.plan_file.unlink()
    directory.state_file.unlink()
    assert bench.runs.list() == []


def test_a_run_that_is_not_there_is_an_error_with_a_sentence(bench: Bench) -> None:
    for ask in (bench.runs.summary, bench.runs.stop, bench.runs.alive_processes):
        with pytest.raises(RunError, match="was not found"):
            ask("20260131-235959-0a1b")
    with pytest.raises(RunError, match="not a run id"):
        bench.runs.follow("../../etc", Cursor())


def test_a_disk_that_takes_nothing_refuses_the_start(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("")))
    bench.store.runs_dir.rmdir()
    bench.store.runs_dir.write_text("")
    with pytest.raises(RunError, match="--runs-dir"):
        bench.runs.start(replace(plan), CONFIG)
    bench.store.runs_dir.unlink()


def test_secrets_reach_the_run_and_no_file_of_it(bench: Bench) -> None:
    script = bench.script("import os; print(len(os.environ['HF_TOKEN']))")
    plan = bench.runs.prepare(bench.request(script, secrets={"HF_TOKEN": "hf_abcdefgh"}))
    run_id = bench.runs.start(plan, CONFIG, {"HF_TOKEN": "hf_abcdefgh"})
    delta = bench.ended(run_id)
    assert "11" in delta.output
    assert 'HF_TOKEN="$HF_TOKEN"' in delta.about["command"]
    files = [path for path in bench.store.directory(run_id).path.iterdir() if path.is_file()]
    assert [path.name for path in files if b"hf_abcdefgh" in path.read_bytes()] == []


def test_a_strict_script_that_does_not_know_local_rank_is_not_given_it(bench: Bench) -> None:
    strict = "import argparse; argparse.ArgumentParser().parse_args()"
    assert "--no_local_rank" in argv(bench.runs.prepare(bench.request(bench.script(strict))))
    knows = "import argparse; p = argparse.ArgumentParser(); p.add_argument('--local_rank'); p.parse_args()"
    assert "--no_local_rank" not in argv(bench.runs.prepare(bench.request(bench.script(knows))))


def test_the_port_of_a_preview_is_held_until_the_launch(bench: Bench) -> None:
    plan = bench.runs.prepare(bench.request(bench.script("print('ran')")))
    with pytest.raises(PlanError, match="in use"):
        bench.runs.prepare(bench.request(bench.script(""), master_port=plan.master_port))
    bench.ended(bench.runs.start(plan, CONFIG))
    assert is_free(plan.master_port)


def test_two_starts_at_once_lose_no_secret(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    both, real = threading.Barrier(2), runs_module.longest_first

    def slow(values: Iterable[str]) -> tuple[str, ...]:
        known = tuple(values)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return real(known)

    class Nothing(Launcher):
        def start(self, directory: RunDirectory, secrets: Mapping[str, str]) -> None:
            pass

    runs = Runs(Store(bench.folder / "others"), Nothing())
    plans = [runs.prepare(bench.request(bench.script("print(1)"))) for _ in range(2)]
    monkeypatch.setattr(runs_module, "longest_first", slow)
    secrets = ["correct-horse-battery", "staple-and-staple"]
    starts = [
        threading.Thread(target=runs.start, args=(plan, "{}", {"MY_TOKEN": secret}))
        for plan, secret in zip(plans, secrets, strict=True)
    ]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert not [secret for secret in secrets if secret in runs.masked(" ".join(secrets))]


def test_how_long_a_run_of_another_boot_lasted_is_not_made_up(bench: Bench) -> None:
    gone = Identity(os.getpid(), 1, "another boot")
    directory = written_run(bench, RunStatus(RunState.RUNNING, gone, gone, started_at=1.0, begun_s=9e6))
    end_lost(directory, lambda: None, grace_s=0.1)
    status = directory.read_status()
    assert status is not None
    assert status.state is RunState.STOPPED
    assert status.lasted_s is None


def test_the_secrets_of_runs_that_are_deleted_are_kept_no_longer(bench: Bench) -> None:
    class Nothing(Launcher):
        def start(self, directory: RunDirectory, secrets: Mapping[str, str]) -> None:
            pass

    store = Store(bench.folder / "others")
    runs = Runs(store, Nothing(), secrets=("always-and-ever",))
    script = bench.script("print(1)")

    def start(secret: str) -> str:
        return runs.start(runs.prepare(bench.request(script)), "{}", {"MY_TOKEN": secret})

    start("correct-horse-battery")
    for number in range(20):
        shutil.rmtree(store.open(start(f"secret-of-run-{number}")).path)
    start("staple-and-staple")
    assert runs.masked("correct-horse-battery staple-and-staple always-and-ever") == " ".join([MASK] * 3)
    assert len(runs._secrets) <= 4


def test_a_name_that_nobody_typed_is_numbered_among_all_runs_of_the_folder(bench: Bench) -> None:
    launcher = cast(Launcher, SimpleNamespace(start=lambda directory, secrets: None))
    archive = Archive(bench.store, bench.runs)
    script = bench.script("pass")

    def name_of(name: str = "", numbered: bool = True) -> str:
        runs = Runs(bench.store, launcher)  # another server each time
        run_id = runs.start(runs.prepare(bench.request(script, name=name)), CONFIG, numbered=numbered)
        archive.label(run_id, {"archived": True})
        return bench.store.open(run_id).read_plan().name

    assert [name_of() for _ in range(3)] == ["train", "train 2", "train 3"]
    assert name_of("train", numbered=False) == "train"  # as it was typed
    assert name_of("train 2") == "train 4"
    assert name_of("lr 512") == "lr 512"
    assert name_of("lr 512") == "lr 512 (2)"  # its number is its own
    archive.label(bench.store.list()[-1].run_id, {"name": "mine"})
    assert name_of("mine") == "mine 2"
    bench.forget()
