"""Trainings that dsgui did not start, as runs of its list: read-only, whole or not at all, and read again."""

import json
import math
import os
import subprocess
import sys
from datetime import datetime
from html import escape
from pathlib import Path

import pytest

from dsgui.core.access.secrets import Masker
from dsgui.core.errors import DsguiError, PlaceError, RunError
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.runs.adoption import Adoption
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.export import Exports
from dsgui.runs.inspection import Inspection
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.support.event_files import write_records

EVENTS = "events.out.tfevents.1700000000.host.7.0"
OUTPUTS = Path(__file__).parents[2] / "outputs"


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "runs")
        self.runs = Runs(self.store, Launcher())
        self.adoption = Adoption(self.store)
        self.archive = Archive(self.store, self.runs)

    def add(self, folder: Path | str, name: str = "") -> str:
        (added,) = self.adoption.add(str(folder), name).added
        return added.run_id

    def curve(self, run_id: str, name: str, source: str, kind: str = "train"):
        wanted = (name, source, kind)
        found = [c for c in self.runs.curves(run_id) if (c.series.name, c.series.source, c.series.kind) == wanted]
        (curve,) = found
        return curve

    def refused(self, folder: Path | str) -> str:
        """What is said, when nothing is left behind of the attempt."""
        with pytest.raises(DsguiError) as error:
            self.adoption.add(str(folder))
        left = [name for name in os.listdir(self.store.runs_dir) if name != ".queue.lock"]
        assert left == []
        told = str(error.value)
        assert "\n" not in told
        assert "Traceback" not in told
        return told


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def state(*steps: int, total: int = 40) -> str:
    history = [{"loss": 4 / step, "learning_rate": 1e-3, "epoch": step / 8, "step": step} for step in steps]
    judged = [{"eval_loss": 1.5, "eval_runtime": 0.1, "epoch": 5.0, "step": steps[-1]}]
    told = {"log_history": history + judged, "global_step": steps[-1], "max_steps": total, "logging_steps": 5}
    return json.dumps(told)


def output_dir(folder: Path, *steps: int, events: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trainer_state.json").write_text(state(*steps))
    (folder / "training_args.bin").write_bytes(b"\x80\x04cos\nsystem\n")
    if events:
        rows = [("train/loss", 4 / step, step) for step in steps]
        write_records(folder / "runs" / "May05_host" / EVENTS, rows)
    return folder


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(one): (one.lstat().st_mtime_ns, one.lstat().st_size) for one in [folder, *folder.rglob("*")]}


def test_an_output_folder_of_the_trainer_becomes_a_run_and_stays_as_it_was(bench, tmp_path):
    folder = output_dir(tmp_path / "my out", 5, 10, 15, 20, events=True)
    (folder / "ds_config.json").write_text('{"zero_optimization": {"stage": 2}}')
    before = listing(folder)
    run_id = bench.add(folder)
    assert listing(folder) == before
    loss = bench.curve(run_id, "loss", "trainer_state")
    assert loss.step.tolist() == [5, 10, 15, 20]
    assert loss.value.tolist() == [0.8, 0.4, 4 / 15, 0.2]
    assert not any(map(math.isnan, loss.time))  # lent by the event file
    assert bench.curve(run_id, "eval_loss", "trainer_state", "eval").value.tolist() == [1.5]
    one = bench.runs.summary(run_id)
    assert (one.state, one.name, one.step, one.total, one.loss) == (RunState.ELSEWHERE, "my out", 20, 40, 0.2)
    assert one.started_at == 1_700_000_000.0
    assert one.problem == ""
    told = bench.archive.about(run_id)
    assert "stage" in told["config"]
    assert told["adopted"]["folder"] == str(folder)
    assert "--logging_steps 5" in told["adopted"]["settings"]
    assert any("pickle" in note for note in told["adopted"]["notes"])


def test_without_event_files_it_is_by_step_and_that_is_said(bench, tmp_path):
    run_id = bench.add(output_dir(tmp_path / "out", 5, 10))
    delta = bench.runs.follow(run_id, Cursor())
    assert "no usable times" in delta.reason
    assert (delta.started_at, delta.elapsed_s, delta.can_end, delta.can_save) == (None, None, False, False)
    assert all(map(math.isnan, bench.curve(run_id, "loss", "trainer_state").time))


def test_of_checkpoints_alone_the_last_one_tells(bench, tmp_path):
    for step in (5, 10):
        output_dir(tmp_path / "out" / f"checkpoint-{step}", *range(5, step + 1, 5))
    (tmp_path / "out" / "checkpoint-15").mkdir()
    (tmp_path / "out" / "checkpoint-15" / "trainer_state.json").write_text(state(5, 10, 15)[:-30])  # half written
    run_id = bench.add(tmp_path / "out")
    assert bench.curve(run_id, "loss", "trainer_state").step.tolist() == [5, 10]
    assert any("half written" in note for note in bench.archive.about(run_id)["adopted"]["notes"])


def test_event_files_alone_tell_steps_and_times(bench, tmp_path):
    write_records(tmp_path / "tb" / EVENTS, [("loss", 1.0, 0), ("loss", 0.5, 10), ("val/loss", 0.7, 10)])
    run_id = bench.add(tmp_path / "tb")
    loss = bench.curve(run_id, "loss", "tensorboard")
    assert loss.step.tolist() == [0, 10]
    assert bench.runs.summary(run_id).duration_s == 1.0
    assert bench.curve(run_id, "val/loss", "tensorboard", "eval").value.tolist() == pytest.approx([0.7])


def test_deepspeeds_tables_count_samples(bench, tmp_path):
    (tmp_path / "csv").mkdir()
    rows = [(16 * step, 2 / step) for step in range(1, 5)]
    table = "".join(f"{samples},{value}\r\n" for samples, value in rows)
    (tmp_path / "csv" / "Train_Samples_lr.csv").write_text(f"step,lr\r\n{table}")
    (tmp_path / "csv" / "Train_Samples_train_loss.csv").write_text(f"step,train_loss\r\n{table}x,y\r\n")
    run_id = bench.add(tmp_path / "csv")
    assert bench.curve(run_id, "loss", "csv_monitor").step.tolist() == [1, 2, 3, 4]
    assert any("rows that are not two numbers" in note for note in bench.archive.about(run_id)["adopted"]["notes"])


@pytest.mark.parametrize("name", ["trainer.txt", "deepspeed.txt", "tqdm.txt"])
def test_a_log_is_read_as_the_output_of_a_run(bench, tmp_path, name):
    (tmp_path / "train.log").write_bytes((OUTPUTS / name).read_bytes())
    run_id = bench.add(tmp_path / "train.log")
    expected = json.loads((OUTPUTS / name).with_suffix(".points.json").read_text())["points"]
    kept = sum(len(curve) for curve in bench.runs.curves(run_id))
    assert kept == sum(len(one["values"]) for one in expected)
    assert "".join(bench.runs.output(run_id))


def timed_log(dates):
    return "".join(f"[{date},000] [INFO] step {n} loss {4 / n}\nplain\n" for n, date in enumerate(dates, 1))


def test_a_logs_own_times_are_when_its_lines_were_printed(bench, tmp_path):
    (tmp_path / "train.log").write_text(timed_log(f"2024-05-01 12:00:{2 * n:02d}" for n in range(20)))
    run_id = bench.add(tmp_path / "train.log")
    loss = bench.curve(run_id, "loss", "output")
    assert loss.time.tolist() == [2.0 * n for n in range(20)]
    one = bench.runs.summary(run_id)
    assert (one.started_at, one.duration_s) == (datetime(2024, 5, 1, 12).timestamp(), 38.0)  # by this machine's clock
    assert "no usable times" not in bench.runs.follow(run_id, Cursor()).reason


def test_a_log_whose_steps_have_no_times_has_no_duration(bench, tmp_path):
    """Megatron's iterations after DeepSpeed's start: the last time is not that of the last step."""
    told = timed_log(f"2024-05-01 12:00:{2 * n:02d}" for n in range(20))
    (tmp_path / "train.log").write_text(
        told + "".join(f" iteration {n}/ 100 | lm loss: 3E+00 |\n" for n in range(21, 60))
    )
    os.utime(tmp_path / "train.log", (1, 1))
    one = bench.runs.summary(bench.add(tmp_path / "train.log"))
    assert (one.started_at, one.duration_s) == (datetime(2024, 5, 1, 12).timestamp(), None)


def test_a_logs_unclear_times_are_not_used_and_that_is_said(bench, tmp_path):
    (tmp_path / "train.log").write_text(timed_log(f"05/0{n}/2024 12:00:00" for n in range(1, 6)))
    run_id = bench.add(tmp_path / "train.log")
    assert all(map(math.isnan, bench.curve(run_id, "loss", "output").time))
    assert any("which number" in note for note in bench.archive.about(run_id)["adopted"]["notes"])
    assert "no usable times" in bench.runs.follow(run_id, Cursor()).reason


def test_a_folder_of_several_adds_each_under_its_own_name(bench, tmp_path):
    for name in ("first", "second"):
        output_dir(tmp_path / "sweep" / name, 5, 10)
    answer = bench.adoption.add(str(tmp_path / "sweep"), "mine")
    assert [one.name for one in answer.added] == ["mine/first", "mine/second"]
    assert len(bench.runs.list()) == 2


def test_no_more_than_fifty_are_added_at_once_and_that_is_said(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("dsgui.runs.adoption.MOST_RUNS", 2)
    for number in range(3):
        output_dir(tmp_path / "sweep" / str(number), 5)
    answer = bench.adoption.add(str(tmp_path / "sweep"))
    assert len(answer.added) == 2
    assert "3 trainings were found" in str(answer.notes[0])


def test_list_comparison_report_export_and_label_work_as_for_any_run(bench, tmp_path):
    first = bench.add(output_dir(tmp_path / "a", 5, 10, events=True))
    second = bench.add(output_dir(tmp_path / "b", 5, 10, 15))
    told = Inspection(bench.store, bench.runs).compare([first, second])
    assert [run["figures"]["final_loss"] for run in told["runs"]] == pytest.approx([0.4, 4 / 15])
    page = Reports(bench.store, bench.runs).html([first, second])
    assert str(tmp_path / "a") in page
    exports = Exports(bench.store, bench.runs)
    assert "trainer_state" in b"".join(exports.csv(second)).decode()
    assert b"".join(exports.tensorboard(second))[:2] == b"PK"
    bench.archive.label(first, {"name": "renamed", "add_tags": ["old"], "archived": True})
    assert bench.runs.summary(first).name == "renamed"
    assert Inspection(bench.store, bench.runs).slow(first)["code"]


def test_nothing_that_changes_its_files_or_needs_a_command_is_done(bench, tmp_path):
    folder = output_dir(tmp_path / "out", 5, 10)
    (folder / "checkpoint-10").mkdir()
    before = listing(folder)
    run_id = bench.add(folder)
    after = AfterTraining(bench.store, bench.runs, bench.archive)
    for act in (
        lambda: bench.archive.clone(run_id),
        lambda: bench.archive.resumed(run_id, str(folder / "checkpoint-10")),
        lambda: bench.archive.repaired(run_id),
        lambda: after.things(run_id),
        lambda: after.start(run_id, {"verb": "consolidate"}),
        lambda: bench.runs.save_and_stop(run_id),
    ):
        with pytest.raises(RunError):
            act()
    bench.runs.stop(run_id)
    assert bench.archive.stake(run_id)["checkpoint"] is None
    assert after.told(run_id)["is_job"]  # the page shows none of it
    bench.archive.delete(run_id)
    assert listing(folder) == before
    assert bench.runs.list() == []


def test_it_is_read_again_where_it_has_grown_and_keeps_what_was_written_on_it(bench, tmp_path):
    folder = output_dir(tmp_path / "out", 5, 10, events=True)
    run_id = bench.add(folder)
    bench.archive.label(run_id, {"note": "mine"})
    assert not bench.adoption.read_again(run_id)
    (folder / "trainer_state.json").write_text(state(5, 10, 15, 20))
    assert bench.adoption.read_again(run_id)
    assert bench.curve(run_id, "loss", "trainer_state").step.tolist() == [5, 10, 15, 20]
    one = bench.runs.summary(run_id)
    assert (one.step, one.note, one.problem) == (20, "mine", "")
    again = bench.adoption.add(str(folder)).added[0]  # the folder named once more
    assert (again.run_id, again.again, again.changed) == (run_id, True, False)
    assert [one.name for one in bench.store.runs_dir.iterdir() if one.name.endswith(".adding")] == []


def test_what_is_gone_is_said_and_what_was_read_is_kept(bench, tmp_path):
    folder = output_dir(tmp_path / "out", 5, 10)
    run_id = bench.add(folder)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(DsguiError, match="no such folder"):
        bench.adoption.read_again(run_id)
    folder.mkdir()
    with pytest.raises(RunError, match="no longer there"):
        bench.adoption.read_again(run_id)
    assert bench.curve(run_id, "loss", "trainer_state").step.tolist() == [5, 10]


def test_a_damaged_event_file_tells_what_comes_before(bench, tmp_path):
    file = write_records(tmp_path / "tb" / EVENTS, [("loss", 1.0, step) for step in range(20)])
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(bytes(data))
    run_id = bench.add(tmp_path / "tb")
    assert 0 < len(bench.curve(run_id, "loss", "tensorboard")) < 20
    assert any("damaged" in note for note in bench.archive.about(run_id)["adopted"]["notes"])


def test_nan_is_a_value_and_what_needs_a_look(bench, tmp_path):
    (tmp_path / "trainer_state.json").write_text('{"log_history": [{"loss": NaN, "step": 1}, {"loss": 1, "step": 2}]}')
    run_id = bench.add(tmp_path / "trainer_state.json")
    events = bench.runs.follow(run_id, Cursor()).events
    assert [event["kind"] for event in events] == ["alert", "calm"]
    assert math.isnan(bench.curve(run_id, "loss", "trainer_state").value[0])


def test_nan_has_its_diagnosis_without_what_only_a_run_of_dsgui_can_be_cloned_with(bench, tmp_path):
    rows = "".join(f"{{'loss': {loss}, 'grad_norm': nan, 'epoch': 0.0}}\n" for loss in (1.968, 0.0, 0.0))
    (tmp_path / "train.log").write_text(rows)
    told = bench.archive.about(bench.add(tmp_path / "train.log"))["diagnosis"]
    assert told["title"] == "The gradient norm was NaN from epoch 0 on, and the loss 0 after that"
    assert not told["remedies"]


def test_bad_input_is_one_sentence_and_leaves_nothing(bench, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no such folder" in bench.refused(tmp_path / "missing")
    assert "contains no files" in bench.refused(empty)
    assert "nothing was entered" in bench.refused("  ")
    assert "can’t" in bench.refused("a\0b") or "can't" in bench.refused("a\0b")
    (empty / "model.safetensors").write_bytes(bytes(100))
    assert "model.safetensors" in bench.refused(empty)
    (empty / "train.log").write_bytes(os.urandom(100_000))
    assert "neither training values" in bench.refused(empty)
    for text in ("", "{", "[]", '{"log_history": 5}', "[" * 200_000, '{"log_history": []}'):
        (empty / "trainer_state.json").write_text(text)
        assert "nothing was added" in bench.refused(empty)
    (empty / "trainer_state.json").unlink()
    (empty / "events.out.tfevents.1.host.1.0").write_bytes(os.urandom(5000))
    assert "nothing was added" in bench.refused(empty)
    os.mkfifo(tmp_path / "pipe")
    assert "pipe" in bench.refused(tmp_path / "pipe")
    assert "own folder of runs" in bench.refused(bench.store.runs_dir)


def test_huge_files_are_read_in_part_and_that_is_said(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("dsgui.shell.adopted.recording._MOST_LOG_BYTES", 1 << 16)
    (tmp_path / "train.log").write_text("".join(f"step {n} loss {1 / n}\n" for n in range(1, 20_000)))
    run_id = bench.add(tmp_path / "train.log")
    assert 100 < len(bench.curve(run_id, "loss", "output")) < 10_000
    assert any("were read" in note for note in bench.archive.about(run_id)["adopted"]["notes"])
    monkeypatch.setattr("dsgui.shell.adopted.told._MOST_STATE_BYTES", 10)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "trainer_state.json").write_text(state(5, 10))
    with pytest.raises(RunError, match="nothing was added"):
        bench.add(tmp_path / "out")


def test_where_nothing_may_be_named_nothing_is_read(bench, tmp_path):
    def refuse(path: Path) -> None:
        raise PlaceError(f"{path}: not allowed")

    folder = output_dir(tmp_path / "out", 5)
    run_id = bench.add(folder)
    guarded = Adoption(bench.store, refuse)
    for act in (lambda: guarded.add(str(folder)), lambda: guarded.read_again(run_id)):
        with pytest.raises(PlaceError, match="not allowed"):
            act()


def test_secrets_in_a_log_are_masked(bench, tmp_path):
    (tmp_path / "train.log").write_text("login with topsecretvalue99\n" + "step 1 loss 2.0\nstep 2 loss 1.0\n" * 3)
    adoption = Adoption(bench.store, masker=lambda: Masker(["topsecretvalue99"]))
    run_id = adoption.add(str(tmp_path / "train.log")).added[0].run_id
    assert "topsecretvalue99" not in "".join(bench.runs.output(run_id))


def test_a_run_of_dsguis_own_is_not_read_again(bench, tmp_path):
    run_id = bench.add(output_dir(tmp_path / "out", 5))
    (bench.store.directory(run_id).path / "adopted.json").unlink()
    with pytest.raises(RunError):
        bench.adoption.read_again(run_id)


# Each reads the folder before either has added it.
_ADDS = """
import sys, time
from pathlib import Path
from dsgui.runs.adoption import Adoption
from dsgui.shell.runs.store import Store
runs, folder, mine, others = map(Path, sys.argv[1:])
class Together(Adoption):
    def _read(self, found, group):
        mine.touch()
        while not others.exists():
            time.sleep(0.001)
        return super()._read(found, group)
(added,) = Together(Store(runs)).add(str(folder)).added
print(added.run_id, added.again)
"""


FAILURES = Path(__file__).parents[2] / "examples" / "failures"
DIED = [("torch-without-cuda-device", "torch-without-cuda"), ("weights-missing", "file-missing"), ("killed", "killed")]


@pytest.mark.parametrize(("name", "signature"), DIED)
def test_a_launch_that_died_before_its_first_step_is_a_run_that_failed(bench, name, signature):
    run_id = bench.add(FAILURES / f"{name}.log")
    one, about = bench.runs.summary(run_id), bench.archive.about(run_id)
    assert (one.state, one.step, one.loss, one.adopted) == (RunState.FAILED, None, None, True)
    assert about["diagnosis"]["signature"] == signature
    assert about["diagnosis"]["remedies"] == []  # it can't be started again
    assert "Trained elsewhere" in bench.runs.follow(run_id, Cursor()).reason
    assert "Ended with exit code" in bench.runs.follow(run_id, Cursor()).reason or signature == "killed"
    assert escape(about["diagnosis"]["title"]) in Reports(bench.store, bench.runs).html([run_id])


def test_a_training_that_died_later_keeps_its_curve_and_tells_why(bench, tmp_path):
    died = (FAILURES / "cuda-memory.log").read_text()
    (tmp_path / "train.log").write_text("".join(f"step {n} loss {1 / n}\n" for n in range(1, 9)) + died)
    run_id = bench.add(tmp_path / "train.log")
    assert bench.runs.summary(run_id).state is RunState.FAILED
    assert bench.archive.about(run_id)["diagnosis"]["signature"] == "cuda-memory"
    assert len(bench.curve(run_id, "loss", "output")) == 8
    (tmp_path / "train.log").write_text("".join(f"step {n} loss {1 / n}\n" for n in range(1, 30)))  # begun anew
    assert bench.add(tmp_path / "train.log") == run_id
    assert bench.runs.summary(run_id).state is RunState.ELSEWHERE
    assert bench.archive.about(run_id)["diagnosis"] is None


def test_a_failure_without_times_has_no_date_of_its_own(bench, tmp_path):
    told = (FAILURES / "no-gpu.log").read_text()
    (tmp_path / "train.log").write_text(told)
    run_id = bench.add(tmp_path / "train.log")
    one = bench.runs.summary(run_id)
    assert (one.state, one.started_at, one.duration_s) == (RunState.FAILED, None, None)
    assert "Its log ends with a failure: RuntimeError: Found no NVIDIA" in bench.runs.follow(run_id, Cursor()).reason


def test_a_training_that_was_interrupted_did_not_fail(bench, tmp_path):
    lines = 'step 1 loss 2\nstep 2 loss 1\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
    (tmp_path / "train.log").write_text(lines + "KeyboardInterrupt\n")
    run_id = bench.add(tmp_path / "train.log")
    assert bench.runs.summary(run_id).state is RunState.STOPPED
    assert bench.archive.about(run_id)["diagnosis"] is None


NO_TRAINING = [
    "GET / 200\nGET /a 404\n",
    'Traceback (most recent call last):\n  File "/srv/site-packages/flask/app.py", line 1, in f\nValueError: no\n',
    "error: unrecognized arguments: --port\n",
]


@pytest.mark.parametrize("text", NO_TRAINING)
def test_a_log_of_something_else_is_refused_and_that_is_said(bench, tmp_path, text):
    (tmp_path / "server.log").write_text(text)
    assert "neither training values nor a launch of DeepSpeed" in bench.refused(tmp_path / "server.log")


def test_a_launch_under_way_is_a_run_where_it_is_named_and_none_in_its_folder(bench, tmp_path):
    begun = "[2026-01-31 12:00:00,000] [INFO] [launch.py:152:main] WORLD INFO DICT: {'localhost': [0]}\n"
    (tmp_path / "train.err").write_text(begun)
    assert "neither training values" in bench.refused(tmp_path)
    assert bench.runs.summary(bench.add(tmp_path / "train.err")).state is RunState.ELSEWHERE


def test_two_processes_that_add_a_folder_at_once_add_it_once(bench, tmp_path):
    folder, first, second = output_dir(tmp_path / "out", 5, 10), tmp_path / "first", tmp_path / "second"
    command = [sys.executable, "-c", _ADDS, str(bench.store.runs_dir), str(folder)]
    both = [
        subprocess.Popen([*command, str(mine), str(others)], stdout=subprocess.PIPE, text=True)
        for mine, others in ((first, second), (second, first))
    ]
    told = sorted(one.communicate(timeout=60)[0].split() for one in both)
    (run,) = bench.runs.list()
    assert told == [[run.run_id, "False"], [run.run_id, "True"]]
    assert [one.name for one in bench.store.runs_dir.iterdir() if one.name.endswith(".adding")] == []


def test_two_trainings_never_become_one(bench):
    """Logs are told of together where something lies beside them that they may all be of."""
    folder = bench.folder / "logs"
    folder.mkdir()
    for name, loss in (("a", 3.0), ("b", 7.0)):
        lines = (f"step: {step} loss: {loss / step}" for step in range(1, 20))
        (folder / f"{name}.log").write_text("\n".join(lines))
    ids = [one.run_id for one in bench.adoption.add(str(folder)).added]
    before = [bench.curve(run_id, "loss", "output").value.tolist() for run_id in ids]
    output_dir(folder, 5, 10)
    for run_id in ids:
        with pytest.raises(RunError):
            bench.adoption.read_again(run_id)
    assert [bench.curve(run_id, "loss", "output").value.tolist() for run_id in ids] == before
    assert before[0] != before[1]
