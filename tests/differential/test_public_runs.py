"""`differential/public_runs.py` finds every difference between a run and its script's own files."""

import json
import math
from dataclasses import replace

import pytest

from differential.public_runs import (
    Shown,
    Truth,
    Value,
    Verdict,
    close,
    compare,
    main,
    shown_by,
    truth_as_csv,
    truth_of,
)
from tests.support.made_runs import Made, make_run

STEPS = 20


@pytest.fixture
def run(tmp_path):
    """A run of 20 steps that was never run."""
    return tmp_path / "runs" / make_run(tmp_path / "runs", Made(steps=STEPS))


@pytest.fixture
def folder(run, tmp_path):
    """What its script would have written."""
    curves = shown_by(run).curves
    losses, rates = curves["train", "loss", "output"], curves["train", "learning_rate", "output"]
    log = [
        {"step": loss.step, "epoch": loss.epoch, "loss": loss.value, "learning_rate": rate.value}
        for loss, rate in zip(losses, rates, strict=True)
    ]
    log += [
        {"step": one.step, "epoch": one.epoch, "eval_loss": one.value} for one in curves["eval", "eval_loss", "output"]
    ]
    out = tmp_path / "out"
    out.mkdir()
    write_state(out, log_history=log, global_step=STEPS, max_steps=STEPS)
    return out


def write_state(out, **changes):
    file = out / "trainer_state.json"
    file.write_text(json.dumps((json.loads(file.read_text()) if file.exists() else {}) | changes))


def wrong(run, folder, state="succeeded"):
    return {
        row.what: row.verdict for row in compare(truth_of(folder, state), shown_by(run)) if row.verdict != Verdict.EQUAL
    }


def changed(folder, place, **values):
    log = json.loads((folder / "trainer_state.json").read_text())["log_history"]
    log[place] |= values
    write_state(folder, log_history=log)


def test_a_run_that_shows_what_the_script_wrote_is_equal(run, folder, capsys):
    assert main([str(run), str(folder)]) == 0
    assert "losses" in capsys.readouterr().out


def test_one_other_loss_is_found(run, folder):
    changed(folder, 7, loss=9.0)
    assert wrong(run, folder) == {"train loss: values": Verdict.DIFFERS}


def test_one_other_learning_rate_is_found(run, folder):
    changed(folder, 3, learning_rate=1.0)
    assert wrong(run, folder) == {"train learning_rate: values": Verdict.DIFFERS}


def test_another_step_and_another_epoch_are_found(run, folder):
    changed(folder, 0, step=5, epoch=0.7)
    assert {"train loss: steps", "train loss: epochs"} <= wrong(run, folder).keys()


def test_a_point_that_is_not_shown_is_found(run, folder):
    log = json.loads((folder / "trainer_state.json").read_text())["log_history"]
    write_state(folder, log_history=[*log, {"step": STEPS + 1, "loss": 1.0, "epoch": 4.0}])
    assert wrong(run, folder)["train loss: values"] == Verdict.DIFFERS


def test_another_total_and_another_end_are_found(run, folder):
    write_state(folder, max_steps=250)
    assert wrong(run, folder, "failed") == {"total steps": Verdict.DIFFERS, "end state": Verdict.DIFFERS}


def test_a_metric_that_is_not_shown_is_missing(run, folder, capsys):
    (folder / "all_results.json").write_text('{"perplexity": 12.5, "eval_loss": 1.0, "epoch": 3.0}')
    assert wrong(run, folder) == {"metric perplexity": Verdict.MISSING}
    assert main([str(run), str(folder), "--all"]) == 1
    assert "12.5" in capsys.readouterr().out


def test_the_evaluation_after_the_training_is_no_point_too_many(run, folder):
    """The Trainer writes its state before it."""
    state = json.loads((folder / "trainer_state.json").read_text())
    write_state(folder, log_history=state["log_history"][:-1])
    assert wrong(run, folder)
    (folder / "eval_results.json").write_text('{"eval_loss": 1.0}')
    assert not wrong(run, folder)


def test_a_truth_that_is_kept_as_csv_is_the_same(run, folder, tmp_path):
    (folder / "all_results.json").write_text('{"perplexity": 12.5}')
    truth, file = truth_of(folder), tmp_path / "truth.csv"
    file.write_text(truth_as_csv(truth), "utf-8")
    kept = truth_of(file)
    assert truth_as_csv(kept) == file.read_text("utf-8")
    assert compare(kept, shown_by(run)) == compare(truth, shown_by(run))
    assert replace(kept, curves={}) == replace(truth, curves={})


def test_event_files_are_read_by_tensorboards_own_reader(run, tmp_path):
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path / "logs") as writer:
        for one in shown_by(run).curves["train", "loss", "output"]:
            writer.add_scalar("train/loss", one.value, int(one.step))
    assert not wrong(run, tmp_path / "logs")


def test_a_folder_without_a_truth_is_said(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(run), str(tmp_path / "runs")])
    assert "trainer_state.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "printed", "same"),
    [(14.2891, 14.29, True), (14.2891, 14.28, False), (1e-5, 1e-5, True), (0.0228, 0.0228, True), (2.0, 2.01, False),
     (float("nan"), float("nan"), True), (float("nan"), 1.0, False)],
)  # fmt: skip
def test_a_number_is_equal_as_it_is_printed(written, printed, same):
    assert close(written, printed) is same


def test_a_loss_printed_without_steps_is_compared_by_the_file_that_has_them():
    printed = [Value(math.nan, math.nan, 2.0), Value(math.nan, math.nan, 1.0)]
    filed = [Value(10, math.nan, 2.0), Value(20, math.nan, 1.0)]
    both = {("train", "loss", "output"): printed, ("train", "loss", "tensorboard"): filed}
    rows = compare(Truth({("train", "loss"): filed}), Shown(both, None, None, "succeeded"))
    assert all(row.verdict == Verdict.EQUAL for row in rows)
    alone = Shown({("train", "loss", "output"): printed}, None, None, "succeeded")
    rows = compare(Truth({("train", "loss"): filed}), alone)
    assert [row.what for row in rows if row.verdict != Verdict.EQUAL] == ["train loss: steps"]
