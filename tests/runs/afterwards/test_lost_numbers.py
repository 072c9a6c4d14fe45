"""A run whose loss became NaN says so on its page and in the list, however it ended."""

from pathlib import Path

import pytest

from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.launch.state import RunState
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.support.made_runs import Made, Printed, make_printed, make_run


def looked_at(folder: Path, made: Made) -> tuple[Runs, Archive, str]:
    run_id, store = make_run(folder, made), Store(folder)
    runs = Runs(store, Launcher())
    return runs, Archive(store, runs), run_id


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.SUCCEEDED, RunState.STOPPED])
def test_it_leads_however_the_run_ended(tmp_path: Path, state: RunState) -> None:
    runs, archive, run_id = looked_at(tmp_path, Made(steps=12, nan_at=(6, 7), state=state))
    told = archive.about(run_id)["diagnosis"]
    assert told["title"] == "The loss was NaN at steps 6–7"
    assert [one["button"] for one in told["remedies"]] == ["Clone with learning rate 2.5e-5"]
    assert archive.repaired(run_id).request.arguments == "--learning_rate 2.5e-5"
    assert runs.summary(run_id).odd_loss == {"value": "NaN", "step": 6}


def test_of_a_loss_that_stayed_a_number_nothing_is_told(tmp_path: Path) -> None:
    runs, archive, run_id = looked_at(tmp_path, Made(steps=12))
    assert archive.about(run_id)["diagnosis"] is None
    assert runs.summary(run_id).odd_loss is None


TRAINER = """
from transformers import HfArgumentParser, Trainer, TrainingArguments
(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(args=args).train()
"""


def logged(*rows: str) -> list[tuple[float, str]]:
    """As the HF Trainer prints them, a second apart."""
    return [(float(at), "{" + row + "}\n") for at, row in enumerate(rows, 1)]


def test_a_norm_that_stays_nan_leads_with_what_the_trainer_made_of_the_loss(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER)
    rows = [f"'loss': 0.0, 'grad_norm': nan, 'epoch': {step / 10}, 'step': {step}" for step in (10, 20, 30)]
    run_id = make_printed(tmp_path, Printed("nan", logged(*rows), seconds=5, reads_config=ConfigArgument.HF))
    store = Store(tmp_path)
    archive = Archive(store, Runs(store, Launcher()))
    told = archive.about(run_id)["diagnosis"]
    assert told["title"] == "The gradient norm was NaN from step 10 on, and the loss 0"
    key = told["remedies"][-1]["key"]
    assert archive.repaired(run_id, key).request.arguments == "--logging_nan_inf_filter false"


def test_a_last_line_without_a_step_takes_no_page_away(tmp_path: Path) -> None:
    rows = [f"'loss': 1.0, 'grad_norm': nan, 'step': {step}" for step in (10, 20)]
    run_id = make_printed(tmp_path, Printed("odd", logged(*rows, "'loss': 0.8, 'grad_norm': 1.0"), seconds=5))
    store = Store(tmp_path)
    assert Archive(store, Runs(store, Launcher())).about(run_id)["diagnosis"] is None
