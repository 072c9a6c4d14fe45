"""Points that a script writes to files: by DeepSpeed's own monitors, by torch's writer, by the HF Trainer."""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import islice

import pytest

from dsgui.core.launch.log_folders import NEWEST, Sources, sources
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.logged_files import Batch, CsvFile, history_points, named
from dsgui.core.runs.news import Cursor
from dsgui.shell.logs.sources import SourceReader, Watch
from tests.answers.remembered import TRAINING
from tests.support.event_files import write_scalars
from tests.support.run_fixtures import Bench, bench, wait_until  # noqa: F401  bench is a fixture

TRAINER = """
import sys, torch
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments
torch.manual_seed(0)
model = T5ForConditionalGeneration(T5Config(
    vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0))
row = {"input_ids": torch.tensor([3, 4, 5]), "labels": torch.tensor([5, 4, 3])}
resumed = len(sys.argv) > 2
arguments = TrainingArguments(
    sys.argv[1], max_steps=8 if resumed else 4, per_device_train_batch_size=2, logging_steps=1, save_steps=2,
    eval_strategy="steps", eval_steps=2, report_to="tensorboard", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=[row] * 64, eval_dataset=[row] * 2)
trainer.train(resume_from_checkpoint=sys.argv[2] if resumed else None)
trainer.save_state()
"""


@pytest.fixture
def plan(bench):  # noqa: F811
    return bench.runs.prepare(bench.request(bench.script("pass")))


def with_arguments(plan, *words):
    return replace(plan, arguments=words, working_directory="/work dir")


def look_until_quiet(watch):
    points = watch.look()
    while watch.more:
        points += watch.look()
    return points


# --- where it looks ---------------------------------------------------------------------------------------------------


def test_the_folders_are_those_of_the_config_and_the_arguments(plan):
    config = {
        "csv_monitor": {"enabled": True, "output_path": "logs", "job_name": "job"},
        "tensorboard": {"enabled": True},
        "train_batch_size": 16,
    }
    given = with_arguments(plan, "--output_dir", "out", "--logging_dir=/tb", "--resume_from_checkpoint", "out/c-1")
    given = replace(given, environment={"TENSORBOARD_LOGGING_DIR": "tb2"})
    found = sources(given, config)
    assert found.csv == ("/work dir/logs/job",)
    assert set(found.events) == {
        ("/work dir/DeepSpeedJobName", 0),
        ("/work dir/out/runs", 2),
        ("/tb", 2),
        ("/work dir/tb2", 2),
        ("/work dir/runs", 2),
    }
    assert found.states == (("/work dir/out", 0),)
    assert found.batch == 16
    assert found.resumes == "/work dir/out/c-1"


@pytest.mark.parametrize("block", [{"enabled": False}, {}, 7, {"enabled": True, "output_path": 3}])
def test_a_monitor_that_is_off_or_misspelt_is_not_looked_for(plan, block):
    found = sources(with_arguments(plan), {"csv_monitor": block, "tensorboard": block, "train_batch_size": "auto"})
    assert found.csv == ()
    assert found.batch is None
    assert found.events == (("/work dir/trainer_output/runs", 2), ("/work dir/runs", 2))


def test_trackers_are_searched_below_what_the_arguments_name_and_the_working_directory(plan):
    given = ("--project_dir", "logs", "--save_path=/out", "--tb-dir", "/tb", "--load_checkpoint_dir", "/exp")
    given = with_arguments(plan, *given, "--data_dir", "/data", "--cache_dir", "/c", "--lr", "1")
    found = sources(given, {}).searched
    assert found == tuple((folder, 3) for folder in ("/work dir/logs", "/tb", "/exp", "/out", "/work dir"))


def test_all_of_a_runs_own_folder_is_looked_at_where_no_option_tells(plan):
    assert sources(plan, {}).states == ((plan.run_directory, 4),)
    assert sources(with_arguments(plan, "--resume_from_checkpoint", "True"), {}).resumes == NEWEST
    assert sources(with_arguments(plan, "--resume_from_checkpoint", "False"), {}).resumes == ""


@pytest.mark.parametrize(
    ("tag", "kind", "name"),
    [
        ("Train/Samples/train_loss", "train", "loss"),
        ("Train/Samples/lr", "train", "learning_rate"),
        ("Train_Samples_loss_scale", "train", "loss_scale"),
        ("Train/Samples/eval_loss", "eval", "eval_loss"),
        ("train/loss", "train", "loss"),
        ("Train/loss", "train", "loss"),
        ("Eval/loss", "eval", "eval_loss"),
        ("train/grad_norm", "train", "grad_norm"),
        ("train/train_runtime", "final", "train_runtime"),
        ("eval/loss", "eval", "eval_loss"),
        ("my/own", "train", "my/own"),
        ("val/accuracy", "eval", "val/accuracy"),
        ("Loss/train", "train", "loss"),
        ("Loss/val", "eval", "eval_loss"),
        ("Accuracy/test", "eval", "test_accuracy"),
        ("Loss/other", "train", "Loss/other"),
        ("hparam/loss", "final", "loss"),
        ("loss", "train", "loss"),
    ],
)
def test_names_become_those_of_the_output(tag, kind, name):
    found = named(tag)
    assert (found.kind, found.name) == (kind, name)


# --- DeepSpeed's monitors ---------------------------------------------------------------------------------------------

MONITORED = """
import os, pathlib, time
import deepspeed
from deepspeed.monitor.config import get_monitor_config
from deepspeed.monitor.monitor import MonitorMaster
import json
deepspeed.init_distributed("gloo", rank=0, world_size=1, verbose=False)
config = json.load(open(pathlib.Path(__file__).parent / "monitored.json"))
monitor = MonitorMaster(get_monitor_config(config))
def steps(begin, end):
    for step in range(begin, end):
        samples = step * 8
        monitor.write_events([("Train/Samples/train_loss", 4 / step, samples), ("Train/Samples/lr", 1e-3, samples)])
        monitor.write_events([("mine", 7.0, step)])
steps(1, 4)
print("written", flush=True)
while not os.path.exists(pathlib.Path(__file__).parent / "go on"):
    time.sleep(0.05)
steps(4, 6)
"""


@pytest.mark.deepspeed
@pytest.mark.remembered(*TRAINING)
def test_what_deepspeeds_monitors_write_arrives_while_the_run_goes_on_and_to_its_end(bench):  # noqa: F811
    folder = bench.folder
    blocks = {
        key: {"enabled": True, "output_path": str(folder / key), "job_name": "job"}
        for key in ("csv_monitor", "tensorboard")
    }
    old = folder / "csv_monitor/job/Train_Samples_lr.csv"
    old.parent.mkdir(parents=True)
    old.write_text("step,lr\r\n8,0.5\r\n")
    config = json.dumps(blocks | {"train_batch_size": 8})
    (folder / "monitored.json").write_text(config)
    port = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    request = bench.request(bench.script(MONITORED), environment=port, config_text=config)
    run_id = bench.runs.start(bench.runs.prepare(request), config)
    bench.wait_for_output(run_id, "written", 120)
    wait_until(lambda: {"csv_monitor", "tensorboard"} <= {one.series.source for one in bench.runs.curves(run_id)}, 30)
    assert bench.runs.summary(run_id).state.live
    (folder / "go on").touch()
    ended = bench.ended(run_id, 60)
    assert ended.state.value == "succeeded", ended.output
    curves = {one.series: one for one in bench.runs.curves(run_id) if one.series.kind != "sample"}
    for source in ("csv_monitor", "tensorboard"):
        loss = curves[Series("loss", source=source)]
        assert loss.step.tolist() == [1, 2, 3, 4, 5]
        assert loss.value.tolist() == pytest.approx([4 / step for step in range(1, 6)])
        assert curves[Series("mine", source=source)].step.tolist() == [1, 2, 3, 4, 5]
        assert len(curves[Series("learning_rate", source=source)]) == 5  # without the 0.5 of the day before


def csv(stem, batch=None):
    return CsvFile(stem, Batch(batch))


def test_steps_are_samples_by_the_batch_size_and_a_half_line_waits():
    file = csv("Train_Samples_train_loss", 4)
    assert file.feed(b"step,train_loss\r\n4,2.5\r\n8,1") == history_like("loss", [(1, 2.5)])
    assert file.feed(b".5\r\n") == history_like("loss", [(2, 1.5)])


def history_like(name, rows):
    return [one._replace(source="csv_monitor") for one in history_points({"step": s, name: v} for s, v in rows)]


def test_without_a_batch_size_it_is_the_first_difference():
    batch = Batch()
    rate, loss = CsvFile("Train_Samples_lr", batch), CsvFile("Train_Samples_loss_scale", batch)
    assert loss.feed(b"step,loss_scale\n64,2.0\n96,2.0\n") == []
    assert rate.feed(b"step,lr\n32,0.1\n") == []
    assert [point.step for point in rate.feed(b"64,0.1\n")] == [1, 2]
    assert [point.step for point in loss.finish()] == [2, 3]


def test_without_a_difference_the_step_is_not_known():
    file = csv("Train_Samples_lr")
    assert file.feed(b"step,lr\n32,0.1\n") == []
    assert [(point.step, dict(point.values)) for point in file.finish()] == [(None, {"learning_rate": 0.1})]


def test_x_of_the_users_own_names_is_steps():
    assert [point.step for point in csv("mine", 8).feed(b"step,mine\n8,1\n")] == [8]


def test_rows_that_are_none_are_counted_and_passed_over():
    file = csv("mine")
    points = file.feed(b"step,mine\n1,x\n2\n" + b"9" * 9000 + b"\n3,nan\n" + b'4,"tensor(1.0, device=0)"\n5,1\n')
    assert [point.step for point in points] == [3, 5]
    assert file.bad_rows == 4


# --- the HF Trainer ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A watch made before the real Trainer wrote, and what it saw; then another for a run that resumes."""
    folder = tmp_path_factory.mktemp("trainer")
    script = folder / "script.py"
    script.write_text(TRAINER)
    watched = Sources(events=((str(folder / "runs"), 2),), states=((str(folder), 0),))

    def train(*resume):
        watch = Watch(replace(watched, resumes="".join(resume)))
        command = [sys.executable, str(script), str(folder), *resume]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | {"RANK": "-1"})
        assert done.returncode == 0, done.stderr
        return look_until_quiet(watch) + watch.finish()

    return train(), train(str(folder / "checkpoint-4"))


def rows(points, source, name):
    return [(point.step, point.values[name]) for point in points if point.source == source and name in point.values]


@pytest.mark.deepspeed
@pytest.mark.remembered(*TRAINING)
def test_the_trainers_losses_are_read_from_both_its_files(trained):
    first, _ = trained
    for source in ("trainer_state", "tensorboard"):
        losses = rows(first, source, "loss")
        assert [step for step, _ in losses] == [1, 2, 3, 4]
        assert [step for step, _ in rows(first, source, "eval_loss")] == [2, 4]
        assert {point.kind for point in first if "eval_loss" in point.values} == {"eval"}
        assert [point.kind for point in first if point.source == source and "train_loss" in point.values] == ["final"]
        assert all(point.epoch is not None for point in first if "loss" in point.values)
    assert rows(first, "trainer_state", "loss") == [
        (step, pytest.approx(value, rel=1e-6)) for step, value in rows(first, "tensorboard", "loss")
    ]


@pytest.mark.deepspeed
@pytest.mark.remembered(*TRAINING)
def test_a_run_that_resumes_has_no_points_of_the_run_before(trained):
    _, second = trained
    for source in ("trainer_state", "tensorboard"):
        assert [step for step, _ in rows(second, source, "loss")] == [5, 6, 7, 8]


def state(*entries):
    return json.dumps({"log_history": list(entries)})


def entry(step, **values):
    return {"step": step, "epoch": step / 10} | values


def test_only_the_new_entries_of_a_state_become_points(tmp_path):
    (tmp_path / "checkpoint-1").mkdir()
    watch = Watch(Sources(states=((str(tmp_path), 0),)))
    assert watch.look() == []
    (tmp_path / "checkpoint-1/trainer_state.json").write_text(state(entry(1, loss=3)))
    assert rows(watch.look(), "trainer_state", "loss") == [(1, 3)]
    assert watch.look() == []
    (tmp_path / "trainer_state.json").write_text(state(entry(1, loss=3), entry(2, loss=2.5), "?", entry(2, eval_f1=1)))
    points = watch.look()
    assert rows(points, "trainer_state", "loss") == [(2, 2.5)]
    assert rows(points, "trainer_state", "eval_f1") == [(2, 1)]


def test_a_state_of_a_run_before_is_not_read_and_with_the_newest_resumed_its_entries_are_not_this_runs(tmp_path):
    (tmp_path / "checkpoint-2").mkdir()
    (tmp_path / "checkpoint-2/trainer_state.json").write_text(state(entry(1, loss=3), entry(2, loss=2)))
    watch = Watch(Sources(states=((str(tmp_path), 0),), resumes=NEWEST))
    assert watch.look() == []
    (tmp_path / "trainer_state.json").write_text(state(*(entry(step, loss=1) for step in (1, 2, 3))))
    assert rows(watch.look(), "trainer_state", "loss") == [(3, 1)]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"log_history": 3}', "[" * 100_000, '{"log_history": [{"a": 1e999}]}']
)
def test_a_state_that_is_none_harms_nothing(tmp_path, text):
    watch = Watch(Sources(states=((str(tmp_path), 0),)))
    (tmp_path / "trainer_state.json").write_text(text)
    assert [dict(point.values) for point in watch.look()] in ([], [{"a": float("inf")}])


# --- any file ---------------------------------------------------------------------------------------------------------


def test_event_files_from_before_and_links_and_pipes_are_left_alone(tmp_path):
    write_scalars(tmp_path, [("old", 1.0, 1)])
    watch = Watch(Sources(csv=(str(tmp_path),), events=((str(tmp_path), 0),), states=((str(tmp_path), 0),)))
    elsewhere = write_scalars(tmp_path / "elsewhere", [("linked", 1.0, 1)])
    (tmp_path / "events.out.tfevents.9.link").symlink_to(elsewhere)
    os.mkfifo(tmp_path / "events.out.tfevents.9.pipe")
    os.mkfifo(tmp_path / "loss.csv")
    os.mkfifo(tmp_path / "trainer_state.json")
    (tmp_path / "events.out.tfevents.9.folder").mkdir()
    write_scalars(tmp_path, [("new", 1.0, 1)])
    assert [dict(point.values) for point in look_until_quiet(watch)] == [{"new": 1.0}]


def test_an_event_file_of_another_living_process_is_left_alone(bench):  # noqa: F811
    folder = bench.folder / "runs there"
    run_id = bench.start(
        """
        import os, sys, time
        while not os.path.exists(sys.argv[1] + "/go on"):
            time.sleep(0.05)
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter(sys.argv[1])
        writer.add_scalar("ours", 1.0, 1)
        writer.close()
        time.sleep(3)
        """,
        arguments=(str(folder),),
        environment={"TENSORBOARD_LOGGING_DIR": str(folder)},
    )
    wait_until(lambda: bench.runs.summary(run_id).state.value == "running")
    write_scalars(folder, [("another's", 1.0, 1)])  # by this process, which lives and is not the run's
    (folder / "go on").touch()
    assert bench.ended(run_id, 120).state.value == "succeeded"
    assert {one.series.name for one in bench.runs.curves(run_id) if one.series.source == "tensorboard"} == {"ours"}


TRACKED = """
import accelerate, pathlib, sys, time
accelerator = accelerate.Accelerator(cpu=True, log_with="tensorboard", project_dir=sys.argv[2])
accelerator.init_trackers("nlp_example", {"lr": 0.1})
for epoch in range(3):
    print(f"step={epoch} loss={3 - epoch}", flush=True)
    accelerator.log({"loss": float(3 - epoch), "accuracy": 0.25 * epoch}, step=epoch)
accelerator.end_training()
"""


@pytest.mark.deepspeed
@pytest.mark.remembered(*TRAINING)
def test_what_accelerates_tracker_writes_is_found_and_the_loss_is_one_curve(bench):  # noqa: F811
    project = bench.folder / "project"
    write_scalars(project / "nlp_example", [("of the day before", 1.0, 1)])
    run_id = bench.start(TRACKED, arguments=("--project_dir", str(project)))
    assert bench.ended(run_id, 120).state.value == "succeeded"
    curves = {one.series: one for one in bench.runs.curves(run_id) if one.series.source in ("output", "tensorboard")}
    accuracy = curves[Series("accuracy", source="tensorboard")]
    assert list(zip(accuracy.step.tolist(), accuracy.value.tolist(), strict=True)) == [(0, 0), (1, 0.25), (2, 0.5)]
    # Of one name and kind: the page shows the fullest.
    assert {(one.name, one.kind) for one in curves} == {("loss", "train"), ("accuracy", "train")}


def test_a_search_goes_three_folders_deep_and_into_no_checkpoint_other_run_or_package(tmp_path):
    searched = Sources(searched=((str(tmp_path), 3),))
    write_scalars(tmp_path / "a/b", [("old", 1.0, 1)])
    watch = Watch(searched)
    for place in ("a/b/c", "here", "a/b/c/d", ".git/x", "checkpoint-3", "global_step3", "node_modules", "run"):
        write_scalars(tmp_path / place, [(place, 1.0, 1)])
    (tmp_path / "run/plan.json").touch()
    assert {name for point in look_until_quiet(watch) for name in point.values} == {"a/b/c", "here"}
    write_scalars(tmp_path / "late", [("late", 1.0, 1)])
    assert {name for point in watch.finish() for name in point.values} == {"late"}


def test_a_search_lists_a_bounded_part_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("dsgui.shell.logs.sources._MOST_ENTRIES", 50)
    for number in range(40):
        (tmp_path / f"{number} x").mkdir()
        for name in "abc":
            (tmp_path / f"{number} x" / name).touch()
    listed = []
    monkeypatch.setattr(
        "dsgui.shell.logs.sources.islice", lambda entries, most: listed.append(most) or islice(entries, most)
    )
    assert Watch(Sources(searched=((str(tmp_path), 3),))).look() == []
    assert listed[:4] == [50, 10, 7, 4]
    assert listed.count(0) > 30


def test_a_file_is_read_only_where_it_grew_and_a_broken_one_once(tmp_path, capfd):
    watch = Watch(Sources(events=((str(tmp_path), 0),)))
    path = write_scalars(tmp_path, [("loss", float(step), step) for step in range(5)])
    content = path.read_bytes()
    path.write_bytes(content[:200])
    first = look_until_quiet(watch)
    with path.open("ab") as file:
        file.write(content[200:] + b"no record, but long enough to be one")
    assert [point.step for point in first + look_until_quiet(watch)] == [0, 1, 2, 3, 4]
    assert f"{path}: not read beyond byte {len(content)}" in capfd.readouterr().err
    assert look_until_quiet(watch) == []
    assert capfd.readouterr().err == ""


def test_a_csv_file_that_is_written_anew_is_read_from_its_beginning(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("step,mine\n1,1\n2,2\n")
    watch = Watch(Sources(csv=(str(tmp_path),)))
    path.write_text("step,mine\n7,1\n")
    assert [point.step for point in watch.look()] == [7]
    path.write_text("1,1\n")
    assert [point.step for point in watch.look()] == [1]


def test_one_look_reads_a_bounded_part_and_no_file_waits_for_ever(tmp_path):
    watch = Watch(Sources(csv=(str(tmp_path),)))
    for name in "abcdefgh":
        (tmp_path / f"{name}.csv").write_text("step,x\n" + "".join(f"{step},1\n" for step in range(20_000)))
    points = watch.look()
    assert watch.more
    assert 0 < len(points) < 45_000
    points += look_until_quiet(watch)
    assert len(points) == 8 * 20_000


def test_a_folder_that_goes_away_harms_nothing(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    watch = Watch(Sources(csv=(str(folder),), events=((str(folder), 2),), states=((str(folder), 1),)))
    (folder / "a.csv").write_text("1,1\n")
    assert len(watch.look()) == 1
    (folder / "a.csv").unlink()
    folder.rmdir()
    assert watch.look() == []


class HungWatch:
    """A disk that does not answer."""

    more = moved = False

    def __init__(self):
        self.answers = threading.Event()

    def state(self):
        return {}

    def look(self):
        self.answers.wait(60)
        return []

    def finish(self):
        return []


def test_a_disk_that_hangs_holds_up_nobody():
    disk = HungWatch()
    reader = SourceReader(disk, look_s=0.01)
    reader.start()
    begun = time.monotonic()
    assert reader.take() == []
    assert reader.finish(timeout_s=0.2) == []
    assert time.monotonic() - begun < 20
    disk.answers.set()
    wait_until(lambda: not reader._thread.is_alive(), 15)


def test_a_run_that_never_began_has_nothing_to_finish():
    assert SourceReader(HungWatch()).finish() == []


def test_a_run_without_files_has_the_output_as_its_only_source(bench: Bench):  # noqa: F811
    run_id = bench.start("print('step=1 loss=2.5')\n")
    bench.ended(run_id)
    assert {one.series.source for one in bench.runs.curves(run_id)} == {"output", "telemetry"}
    assert bench.runs.follow(run_id, Cursor()).state.value == "succeeded"
