"""`python -m dsgui launch | runs | logs | stop`: the same runs without a browser."""

import json
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.commands import launch as launch_command
from dsgui.commands import why
from dsgui.core.config.findings import Change, Fix
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import ConfigArgument, Here, Place, WhenBusy
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.texts.saying import as_told
from dsgui.runs.archive import Archive
from dsgui.shell.config.catalog import Catalog
from tests.answers.remembered import SUPERVISION
from tests.runs.test_archive import RANK_1_IS_KILLED
from tests.runs.test_queue import UNTIL_TOLD
from tests.support.app_server import ROOT
from tests.support.run_fixtures import Bench, bench, wait_until

__all__ = ["bench"]


@pytest.fixture
def dsgui(bench: Bench, capsys: pytest.CaptureFixture[str]):
    """Runs a command on the bench's runs; returns exit code, stdout and stderr."""

    def run(command: str, *arguments: str):
        code = main([command, "--runs-dir", str(bench.store.runs_dir), *arguments])
        return code, *capsys.readouterr()

    return run


def launch(bench: Bench, dsgui, text: str, *options: str, arguments: tuple[str, ...] = ()):
    config = bench.folder / "ds.json"
    config.write_text('{"train_batch_size": 8, "zero_optimization": {"stage": 0}}')
    script = bench.script(text)
    return dsgui("launch", "--config", str(config), "--python", str(bench.python), *options, str(script), *arguments)


def test_launch_follow_list_and_logs_tell_the_same(bench: Bench, dsgui) -> None:
    source = "import os, sys; print('step=1 loss=2'); print(sys.argv[1:3], os.environ['NOTE'])"
    code, out, err = launch(
        bench, dsgui, source, "-f", "--env", "NOTE=it's", "--name", "mine", arguments=("--a", "b c")
    )
    assert code == 0
    run_id, *printed = out.splitlines()
    assert "['--a', 'b c'] it's" in printed
    assert f"{run_id}: succeeded." in err
    assert dsgui("logs", "last")[1].splitlines() == printed
    code, out, _ = dsgui("runs")
    assert [out.splitlines()[1].split()[place] for place in (0, 1, 2, 3, -1)] == [run_id, "succeeded", "1", "2", "mine"]
    (told,) = json.loads(dsgui("runs", "--format", "json")[1])
    assert (told["run_id"], told["state"], told["loss"]) == (run_id, "succeeded", 2)


def test_a_dry_run_prints_the_command_and_starts_nothing(bench: Bench, dsgui) -> None:
    code, out, _ = launch(bench, dsgui, "", "--dry-run", "--gpus", "1,0", arguments=("--flag",))
    assert code == 0
    assert "--include=localhost:0,1" in out
    assert out.rstrip().endswith("ds_config.json")
    assert "No runs in" in dsgui("runs")[1]


def test_a_search_that_has_no_value_lists_nothing(bench: Bench, dsgui) -> None:
    code, out, err = dsgui("runs", "t5", "lr>=")
    assert (code, out) == (2, "")
    assert "Finish `lr>=` with a value, e.g. lr>=1e-4" in err


def test_a_bundled_recipe_begins_in_the_runs_own_folder_as_on_the_page(bench: Bench, dsgui) -> None:
    config = bench.folder / "ds.json"
    config.write_text('{"train_batch_size": 8}')
    shown = ("launch", "--config", str(config), "--python", str(bench.python), "--dry-run", "--although")
    recipe = Catalog().recipe("classification")
    assert f"cd {bench.store.runs_dir}/" in dsgui(*shown, str(recipe))[1]
    assert f"cd {recipe.parent} " in dsgui(*shown, "--cwd", str(recipe.parent), str(recipe))[1]
    assert f"cd {bench.folder}" in dsgui(*shown, str(bench.script("", recipe.name)))[1]


@pytest.mark.parametrize(
    ("recipe", "ends"),
    [("translation", "“unknown options: --lr_rate 3”"), ("pretraining", "--adam_beta2 0.95”")],
)
def test_an_option_that_a_bundled_recipe_does_not_have_is_told_before_it_ends_there(
    bench: Bench, dsgui, recipe: str, ends: str
) -> None:
    """In the words that it ends with (tests/project/test_recipe_refusals.py). It follows the config where its command
    line says nothing, so that one of Adam's two numbers is enough to differ."""
    config = bench.folder / "ds.json"
    betas = {"optimizer": {"type": "AdamW", "params": {"betas": [0.8, 0.98]}}}
    config.write_text(json.dumps({"train_batch_size": 8, "zero_optimization": {"stage": 0}, **betas}))
    words = (str(Catalog().recipe(recipe)), "--lr_rate", "3", "--adam_beta2", "0.95")
    _, _, err = dsgui("launch", "--config", str(config), "--ranks", "1", "--dry-run", *words)
    told = " ".join(err.split())
    assert ends in told
    assert "--lr_rate is not an option of this script." in told
    assert ("[0.8, 0.98] in the file, adam_beta2 0.95 from the arguments" in told) == (recipe == "translation")


def test_a_reader_that_has_enough_is_no_error() -> None:
    line = f"{sys.executable} -m dsgui rules | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (141, "")


def test_stop_says_that_nothing_is_left(bench: Bench, dsgui) -> None:
    _, out, _ = launch(bench, dsgui, "import time; print('on', flush=True); time.sleep(600)")
    run_id = out.strip()
    bench.wait_for_output(run_id, "on")
    told: list[tuple[int, str, str]] = []
    follower = threading.Thread(target=lambda: told.append(dsgui("stop", run_id[:-2])))
    follower.start()
    follower.join(60)
    assert told[0][0] == 0
    assert told[0][1] == f"{run_id}: stopped\n"
    assert bench.runs.alive_processes(run_id) == []


def test_a_follower_is_told_what_a_queued_run_waits_for(bench: Bench) -> None:
    told = bench.folder / "first may end"
    first = bench.start(UNTIL_TOLD, name="first", arguments=f"'{told}'")
    bench.wait_for_output(first, "on")
    config = bench.folder / "ds.json"
    config.write_text("{}")
    words = ("--runs-dir", bench.store.runs_dir, "--python", bench.python, "--config", config, "--when-busy", "wait")
    command = [sys.executable, "-m", "dsgui", "launch", *words, "--although", "-f", bench.script("print('go')", "b.py")]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as follower:
        assert follower.stderr is not None
        line = next((line for line in follower.stderr if "queued" in line), "")
        told.touch()
        rest, _ = follower.communicate(timeout=60)
    assert f"queued. Waits for this machine’s CPU: run “first” ({first}) comes first." in line
    assert rest.splitlines()[-1] == "go"
    assert follower.returncode == 0


def test_on_the_cpu_runs_start_beside_each_other_as_on_the_page(bench: Bench, dsgui) -> None:
    told = bench.folder / "first may end"
    _, first, _ = launch(bench, dsgui, UNTIL_TOLD, arguments=(str(told),))
    bench.wait_for_output(first.strip(), "on")
    code, out, _ = launch(bench, dsgui, "print('beside it')", "-f")
    assert (code, "beside it" in out) == (0, True)
    assert bench.runs.summary(first.strip()).state is RunState.RUNNING
    told.touch()
    bench.ended(first.strip())
    plans = [bench.store.open(run.run_id).read_plan() for run in bench.runs.list()]
    assert {plan.when_busy for plan in plans} == {WhenBusy.START}
    assert [WhenBusy.usual(on_gpus) for on_gpus in (True, False)] == [WhenBusy.WAIT, WhenBusy.START]


def test_a_failed_run_followed_to_its_end_is_exit_code_1(bench: Bench, dsgui) -> None:
    code, _, err = launch(bench, dsgui, "raise ValueError('bad')", "-f")
    assert code == 1
    assert "failed. Ended with exit code 1: ValueError: bad." in err
    assert "It ended with ValueError" in err


def test_the_terminal_gives_the_pages_reason_and_diagnosis_with_the_rank(bench: Bench, dsgui) -> None:
    code, out, err = launch(bench, dsgui, RANK_1_IS_KILLED, "-f", "--although")
    assert code == 1
    run_id = out.split()[0]
    about = Archive(bench.store, bench.runs).about(run_id)["diagnosis"]
    assert f"{run_id}: failed. {bench.ended(run_id).reason}" in err
    assert f"{about['title']} (rank 1)\n  {about['meaning']}\n  - {about['advice'][0]}" in err


@pytest.mark.deepspeed
@pytest.mark.remembered(*SUPERVISION)
def test_what_deepspeed_itself_refuses_is_no_advice(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(why, "_WAIT_S", 90.0)
    given = {"ranks": 1, "target_python": sys.executable, "config_argument": ConfigArgument.NATIVE}
    plan = bench.runs.prepare(bench.request(bench.script("x"), **given))
    directory = bench.store.create(plan.run_id)
    directory.write_plan(plan, '{"train_batch_size": 2, "optimizer": {"type": "SGD", "params": {"lr": 0.1}}}')
    directory.write_status(RunStatus(RunState.FAILED, started_at=time.time(), ended_at=time.time() + 1))
    changes = [Change("/optimizer/params/lr", literal) for literal in ("-1", "0.2")]
    remedies = tuple(Remedy(as_told(f"lr {change.literal}"), Fix(as_told("lr"), (change,))) for change in changes)
    words = as_told("It failed")
    directory.write_diagnosis(Diagnosis("unknown", words, words, (words,), remedies=remedies).to_json())
    why.tell_why(bench.runs, bench.store.runs_dir, plan.run_id)
    told = capsys.readouterr().err
    assert "  Change: lr 0.2." in told
    assert "  Not offered: lr -1: DeepSpeed itself refuses it: ValueError: Invalid learning rate: -1" in told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("logs", "nothing"), "not found"),
        (("stop", "../../etc"), "not found"),
        (("stop", ""), "the id is empty"),  # with one run, every run's id would begin so
        (("launch", "--config", "/no/such.json", "x.py"), "/no/such.json: file not found"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(dsgui, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = dsgui(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("other", [("--gpus", "0,1"), ("--hostfile", "hosts")])
def test_slurm_beside_machines_or_gpus_of_ones_own_is_refused(bench: Bench, dsgui, other: tuple[str, str]) -> None:
    """None of the two is left out without a word."""
    (bench.folder / "hosts").write_text("worker-0 slots=2\n")
    place = other[0], str(bench.folder / "hosts") if other[0] == "--hostfile" else other[1]
    code, out, err = launch(bench, dsgui, "", "--dry-run", "--slurm-nodes", "2", *place)
    assert (code, out) == (2, "")
    assert "Leave out" in err
    assert "Slurm" in err


def test_ranks_that_contradict_slurms_gpus_are_refused(bench: Bench, dsgui) -> None:
    """--ranks is never left out without a word: one rank trains on each GPU."""
    code, out, err = launch(bench, dsgui, "", "--dry-run", "--slurm-nodes", "2", "--gpus-per-node", "4", "--ranks", "3")
    assert (code, out) == (2, "")
    assert "--ranks 3: with --slurm-nodes 2 and --gpus-per-node 4 there is one rank per GPU, 4 per node and 8" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "job", "ranks"),
    [
        (("--slurm-nodes", "2", "--gpus-per-node", "4"), SlurmJob(2, 4), 8),
        (("--slurm-nodes", "2", "--gpus-per-node", "4", "--ranks", "4"), SlurmJob(2, 4), 8),
        (("--slurm-nodes", "2", "--gpus-per-node", "4", "--ranks", "8"), SlurmJob(2, 4), 8),
        (("--slurm-nodes", "2", "--ranks", "3"), SlurmJob(2, 3, on_cpu=True), 6),
        (("--slurm-nodes", "2"), SlurmJob(2, 1, on_cpu=True), 2),
        (("--ranks", "3"), Here(), 3),
        ((), Here(), 1),
    ],
)
def test_ranks_are_those_that_the_options_ask_for(words: tuple[str, ...], job: Place, ranks: int) -> None:
    parser = ArgumentParser()
    launch_command.add_arguments(parser)
    request = launch_command._request(parser.parse_args(["--config", "c.json", *words, "train.py"]), "{}")
    assert (request.place, request.place.ranks(request.ranks)) == (job, ranks)


def test_a_size_that_no_model_has_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for size in ("1e999", "0", "1e16", "0.2", "seven"):
        with pytest.raises(SystemExit):
            main(["doctor", "--config", "x.json", "--parameters", size])
        assert f"“{size}” is not a number of parameters such as 7B" in capsys.readouterr().err


def test_save_is_refused_for_a_script_that_cannot(bench: Bench, dsgui) -> None:
    _, out, _ = launch(bench, dsgui, "import time; print('on', flush=True); time.sleep(600)")
    code, _, err = dsgui("stop", "--save", out.strip())
    assert code == 2
    assert "--enable_jit_checkpoint" in err
    assert bench.runs.summary(out.strip()).state in (RunState.PENDING, RunState.QUEUED, RunState.RUNNING)
    wait_until(lambda: bench.runs.summary(out.strip()).state is RunState.RUNNING)


def test_an_ambiguous_beginning_names_the_candidates(bench: Bench, dsgui) -> None:
    for _ in range(2):
        launch(bench, dsgui, "")
    code, _, err = dsgui("logs", "2")
    assert code == 2
    assert "2 runs start with it" in err
    assert Path(bench.store.runs_dir).is_dir()


SCRIPT = (
    "from transformers import HfArgumentParser, TrainingArguments\n"
    "print(HfArgumentParser(TrainingArguments).parse_args_into_dataclasses())"
)
MICRO = (
    '{"train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 1}}'
)


@pytest.fixture
def trainer(bench: Bench, dsgui):
    """A dry run of a script with the HF Trainer's arguments."""
    config = bench.folder / "micro.json"
    config.write_text(MICRO)
    script = bench.script(SCRIPT)

    def run(*words: str, options: tuple[str, ...] = ()):
        asked = ("--dry-run", "--config", str(config), "--python", sys.executable, *options)
        return dsgui("launch", *asked, str(script), *words)

    return run


def test_a_config_that_contradicts_the_arguments_is_told_and_stops_the_start(trainer) -> None:
    code, _, err = trainer("--per_device_train_batch_size", "4")
    told = " ".join(err.split())
    assert code == 1
    assert "train_micro_batch_size_per_gpu: 8 in the file, 4 from the arguments." in told
    assert "Pass --per_device_train_batch_size 8, or write “auto”" in told
    code, _, err = trainer("--per_device_train_batch_size", "8")
    assert (code, "Config and arguments" in err) == (0, False)


def test_an_option_that_is_gone_and_a_file_that_is_not_there_are_told(trainer) -> None:
    code, _, err = trainer("--overwrite_output_dir", "--resume_from_checkpoint", "out/checkpoint-5")
    told = " ".join(err.split())
    assert code == 1
    assert "Remove --overwrite_output_dir." in told
    assert "out/checkpoint-5 does not exist." in told


def test_logging_is_added_and_said_and_left_out_when_asked(trainer) -> None:
    right = ("--per_device_train_batch_size", "8")
    _, out, err = trainer(*right)
    assert "--logging_steps 10 --deepspeed" in out
    assert "dsgui: added --logging_steps 10: the HF Trainer would log every 500 steps." in err
    _, out, err = trainer(*right, options=("--no-logging-steps",))
    assert "--logging_steps" not in out + err
    _, out, err = trainer(*right, "--logging_steps", "3")
    assert out.count("--logging_steps") == 1
    assert "added" not in err


@pytest.mark.parametrize("command", [["launch", "train.py"], ["doctor"]])
def test_a_config_that_is_not_there_is_told_in_a_sentence_with_where_it_was_looked_for(
    command, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    name, *script = command
    assert main([name, "--config", "nope.json", *script]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"dsgui: nope.json: file not found in {tmp_path}")
    assert "Check the path" in told
    assert "Errno" not in told


def test_a_recipe_is_called_as_on_the_page_and_numbered(bench: Bench, dsgui, monkeypatch) -> None:
    monkeypatch.setattr("dsgui.shell.launch.launcher.Launcher.start", lambda self, directory, secrets: None)
    config = bench.folder / "ds.json"
    config.write_text("{}")
    given = ("--config", str(config), "--python", str(bench.python), "--although")
    recipe = str(Catalog().recipe("translation"))
    made = [dsgui("launch", *given, *named, recipe)[1].strip() for named in ((), (), ("--name", "T5 translates"))]
    names = [bench.store.open(run_id).read_plan().name for run_id in made]
    assert names == ["T5 translates", "T5 translates 2", "T5 translates"]
    bench.forget()
