"""A run without a curve of its loss says why: page, list and report the same."""

import json
from dataclasses import replace

import pytest

from dsgui.cli import main
from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.launch.plan_json import plan_to_json
from dsgui.core.launch.state import RunState
from dsgui.core.metrics.curves import Series
from dsgui.core.runs.no_loss import Told, has_loss, no_loss
from tests.runs.test_report import report, text_of
from tests.support.made_runs import Printed, make_printed
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]
ENDED, RUNNING, FAILED = RunState.SUCCEEDED, RunState.RUNNING, RunState.FAILED
FINAL = (Series("train_runtime", "final"), Series("train_loss", "final"))
EVALUATED = (Series("eval_loss", "eval"),)


def told(arguments="--do_train", *, state=ENDED, trainer=True, series=(), phase="training", elapsed_s=300.0, **at):
    return Told(tuple(arguments.split()), trainer, state, series, phase, elapsed_s, **at)


@pytest.mark.parametrize(
    ("run", "code", "says"),
    [
        (
            told(step=250, total=250, series=FINAL),
            "logs_too_seldom",
            "No loss was printed. The HF Trainer logs every 500 steps by default and this run has 250: add "
            "--logging_steps 10.",
        ),
        (told(step=9, total=9, series=EVALUATED), "logs_too_seldom", "No training loss was printed. The HF Trainer"),
        (told(step=30, total=250, state=RUNNING), "logs_too_seldom", "No loss will be printed. The HF Trainer logs"),
        (told("--logging_steps 1000", step=1, total=250), "logs_too_seldom", "every 1,000 steps and this run has 250"),
        (told("--logging-steps=1000", step=1, total=250), "logs_too_seldom", "use --logging_steps 10."),
        (told(step=120, total=5000, state=RUNNING), "before_first_log", "and this run is at step 120. To log more"),
        (told(step=12, total=5000, state=FAILED), "before_first_log", "and this run ended at step 12: add"),
        (told("--logging_steps 0.5", step=9, total=100, state=RUNNING), "before_first_log", "logs every 50 steps"),
        (told("--logging_strategy no", step=9, total=900), "logging_off", "use --logging_steps 10 instead"),
        (told("--logging_strategy epoch", step=9, total=900, state=RUNNING), "logs_by_epoch", "No loss yet. With"),
        (told("args.json", step=9, total=90), "logs_by_file", "in the file that the script takes its arguments from"),
        (told("--config sft.yaml", step=9, total=90), "logs_by_file", "500 by default"),
        (
            told("sft.yaml", step=3, total=90, state=RUNNING),
            "logs_by_file",
            "No loss yet. The HF Trainer logs every “lo",
        ),
        (
            told("", step=9, total=90, in_code=True),
            "logs_in_code",
            "500 by default: set it in the script’s TrainingArg",
        ),
        (told("", step=9, total=90, in_code=True, state=RUNNING), "logs_in_code", "No loss yet. The HF Trainer logs"),
        (told("--train_file data.json", step=9, total=90), "logs_too_seldom", "add --logging_steps 10"),
        (told("--do_eval", series=EVALUATED, phase="evaluating"), "only_evaluates", "--do_train isn’t given"),
        (told(state=FAILED, phase="starting"), "before_training", "the run ended before its first step"),
        (told("sft.yaml", step=0, total=68, series=FINAL), "nothing_left", "already at step 68, the last one"),
        (told(step=900, total=900), "unread", "no line that dsgui reads as loss; add a pattern under “Curves and"),
        (told(trainer=False, step=9, total=90), "unread", "The script printed no line"),
        (told(trainer=False, series=EVALUATED), "unread", "The script printed no line"),
        (told(trainer=False, state=RUNNING, step=9), "unread", "So far the script printed no line"),
        (told(trainer=False, state=RUNNING, phase="starting"), "unread", "So far the script printed no line"),
        (told(trainer=False, series=FINAL, step=20, total=20), "logs_too_seldom", "The HF Trainer logs every 500"),
    ],
)
def test_the_reason_follows_from_the_arguments_and_from_how_far_the_run_came(run, code, says):
    found = no_loss(run)
    assert found is not None
    assert (found.code, says in found.text) == (code, True), found.text


@pytest.mark.parametrize(
    "run",
    [
        told(series=(Series("loss"),)),
        told(series=(Series("lm_loss"),)),
        told(state=RunState.QUEUED, phase="starting"),
        told(state=RUNNING, phase="starting"),
        told(trainer=False, state=RUNNING, phase="compiling"),
        told(trainer=False, state=RUNNING, phase="tokenizing"),
        told(trainer=False, state=RUNNING, phase="starting", elapsed_s=10.0),
        told(trainer=False, state=RunState.STOPPING, phase="importing"),
    ],
)
def test_nothing_is_said_of_a_loss_that_is_there_or_may_still_come(run):
    assert no_loss(run) is None


def test_an_evaluations_loss_is_none_of_the_training():
    assert not has_loss([*EVALUATED, *FINAL, Series("loss_scale")])


BAR = "\r{percent:3d}%|###       | {step}/250 [00:{step:02d}<00:10,  5.00it/s]"
END = (
    "\n{'train_runtime': 50.1, 'train_samples_per_second': 3.2, 'train_steps_per_second': 5.0, 'train_loss': 3.2, "
    "'epoch': 1.0}\n"
)


def hf_run(**changes):
    """The HF Trainer's output where it logs only its end."""
    bars = [(10 + second, BAR.format(percent=second * 2, step=second * 5)) for second in range(51)]
    return Printed("hf", [*bars, (61.0, END)], 65, "--do_train", ConfigArgument.HF, **changes)


IN_CODE = "from transformers import TrainingArguments\nTrainingArguments('out', deepspeed='ds.json')\n"
PARSED = "from transformers import HfArgumentParser\nHfArgumentParser(T).parse_args_into_dataclasses()\n"
ACCELERATED = "from accelerate import Accelerator\nAccelerator().prepare(model)\n"
HOW = [
    (ConfigArgument.TRAINER, IN_CODE, "", "logs_in_code"),
    (ConfigArgument.TRAINER, PARSED, "args.json", "logs_by_file"),
    (ConfigArgument.ACCELERATE, PARSED, "--do_train", "logs_too_seldom"),
    (ConfigArgument.OVERRIDE, "from llamafactory.train.tuner import run_exp", "sft.yaml", "logs_by_file"),
    (ConfigArgument.ACCELERATE, ACCELERATED, "", "unread"),
    (ConfigArgument.NATIVE, PARSED, "", "unread"),
]


@pytest.mark.parametrize(("how", "source", "arguments", "code"), HOW)
def test_a_run_is_told_so_however_its_script_gets_the_config(bench: Bench, how, source, arguments, code):
    """While it goes on: there is no train_runtime yet that would tell of the HF Trainer."""
    printed = replace(hf_run(), lines=[(1.0, BAR.format(percent=2, step=5))], arguments=arguments, reads_config=how)
    run_id = make_printed(bench.store.runs_dir, printed)
    directory = bench.store.open(run_id)
    script = bench.script(source)
    directory.plan_file.write_text(json.dumps(plan_to_json(directory.read_plan()) | {"script": str(script)}))
    found = bench.runs.summary(run_id).no_loss
    assert found
    assert found.code == code


def test_the_terminal_says_why_a_run_had_no_loss_at_its_end(bench: Bench, capsys):
    run_id = make_printed(bench.store.runs_dir, hf_run())
    assert main(["logs", "--runs-dir", str(bench.store.runs_dir), "-f", run_id]) == 0
    says = "The HF Trainer logs every 500 steps by default and this run has 250: add --logging_steps 10."
    assert f"{run_id}: No loss was printed. {says}" in capsys.readouterr().err


def test_list_report_and_news_of_a_run_say_the_same(bench: Bench, capsys):
    run_id = make_printed(bench.store.runs_dir, hf_run())
    says = "The HF Trainer logs every 500 steps by default and this run has 250: add --logging_steps 10."
    assert main(["runs", "--runs-dir", str(bench.store.runs_dir)]) == 0
    listed = capsys.readouterr().out
    assert says in listed
    assert listed.count(run_id) == 2
    assert main(["runs", "--runs-dir", str(bench.store.runs_dir), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["no_loss"]["code"] == "logs_too_seldom"
    text = text_of(report(bench, run_id))
    assert says in text
    assert "Drawn by time: no steps were logged." in text
    assert "<select" not in text
