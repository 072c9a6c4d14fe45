"""A run whose loss became NaN says so on its page and in the list, however it ended."""

from pathlib import Path

import pytest

from dsgui.core.launch.state import RunState
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.support.made_runs import Made, make_run


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
