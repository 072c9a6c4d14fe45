"""What public scripts print is read as their own files have it: `tests/outputs/public` (see tests/outputs/README.md).

The expected values come from each script's trainer_state.json, result files or event files, never from our parser.
"""

import json
import math
from pathlib import Path

import pytest

from differential.public_runs import Verdict, compare, shown_of, table, truth_of
from dsgui.core.logs.trainlog import TrainLog
from scripts.record_outputs import keep_run, trimmed
from tests.support.cases import each_case
from tests.support.made_runs import Made, make_run

FOLDER = Path(__file__).parents[2] / "outputs" / "public"
NAMES = sorted(path.stem for path in FOLDER.glob("*.csv"))
MOST_BYTES = 60_000
# Whose files a recording must not name, in parts: what looks for such places in a tree finds none here.
OF_A_MACHINE = tuple(f"/{folder}/".encode() for folder in ("tmp", "root", "work"))


def read(output: bytes, size: int):
    """The points, and the training's progress at the end."""
    log, points = TrainLog(), []
    for start in range(0, len(output), size):
        points += log.feed(output[start : start + size])
    return points + log.finish(), log.progress


@each_case("size", [1 << 20, 997])
@each_case("name", NAMES)
def test_a_public_scripts_numbers_are_those_of_its_own_files(name, size):
    points, progress = read((FOLDER / f"{name}.txt").read_bytes(), size)
    truth = truth_of(FOLDER / f"{name}.csv")
    step, total = (progress.step, progress.total) if progress else (None, None)
    wrong = [row for row in compare(truth, shown_of(points, step, total, truth.state)) if row.verdict != Verdict.EQUAL]
    assert not wrong, "\n" + table(wrong)


@each_case("name", NAMES)
def test_no_other_bar_is_ever_shown_as_the_trainings(name):
    """Not a tokenizer's, a download's or an evaluation's; and no mark lies beyond the last step."""
    log, output, totals = TrainLog(), (FOLDER / f"{name}.txt").read_bytes(), set()
    for start in range(0, len(output), 100):
        log.feed(output[start : start + 100])
        totals |= {log.progress.total} if log.progress else set()
    log.finish()
    truth = truth_of(FOLDER / f"{name}.csv")
    if truth.total is not None:
        assert totals == {truth.total}
    last = max((one.step for values in truth.curves.values() for one in values), default=math.inf)
    assert [event for event in log.take_events() if (event.step or 0) > last] == []


BEGINS = b"***** Running training *****"


@pytest.mark.parametrize("name", [name for name in NAMES if BEGINS in (FOLDER / f"{name}.txt").read_bytes()])
def test_what_is_prepared_before_the_training_is_no_training(name):
    before, log = (FOLDER / f"{name}.txt").read_bytes().partition(BEGINS)[0], TrainLog()
    assert b"examples/s]" in before or b"Loading weights" in before
    for start in range(0, len(before), 50):
        log.feed(before[start : start + 50])
        assert log.phase != "training"
        assert log.progress is None


def places_named(recorded: bytes) -> list[bytes]:
    return [place for place in OF_A_MACHINE if place in recorded]


@each_case("name", sorted(path.stem for path in FOLDER.glob("*.txt")))
def test_a_recording_says_where_it_is_from_and_names_no_machine(name):
    about, output = json.loads((FOLDER / f"{name}.json").read_text("utf-8")), (FOLDER / f"{name}.txt").read_bytes()
    assert {"script", "origin", "versions", "ranks", "options", "state"} <= about.keys()
    assert "transformers" in about["versions"]
    assert len(output) < MOST_BYTES
    assert places_named(output + json.dumps(about).encode()) == []


def test_a_place_of_the_recording_machine_is_seen():
    for folder in ("tmp", "root", "work"):
        assert len(places_named(f"saved in /{folder}/out".encode())) == 1
    assert places_named(b"saved in /home/someone/out") == []


def test_a_recording_keeps_the_output_its_options_and_the_scripts_own_numbers_and_no_folder(tmp_path):
    run = tmp_path / "runs" / make_run(tmp_path / "runs", Made(steps=3, output=f"reads {tmp_path}/runs/data.json\n"))
    (run / "provenance.json").write_text('{"versions": {"transformers": "5.23.0"}}')
    out = tmp_path / "out"
    out.mkdir()
    state = {"log_history": [{"step": 1, "epoch": 0.5, "loss": 2.5}], "global_step": 3, "max_steps": 3}
    (out / "trainer_state.json").write_text(json.dumps(state))
    keep_run(run, "made", "owner/repository train.py @ abc", out, tmp_path / "kept")
    kept = {file.suffix: file.read_text("utf-8") for file in (tmp_path / "kept").iterdir()}
    assert kept[".txt"] == "reads /home/someone/training/data.json\n"
    assert json.loads(kept[".json"])["origin"] == "owner/repository train.py @ abc"
    assert "train,1,0.5,loss,2.5" in kept[".csv"]
    assert not any(str(tmp_path) in text for text in kept.values())


def test_a_long_output_loses_redraws_of_bars_and_no_line():
    bars = b"".join(b"\r %3d%%|" % place for place in range(100)) + b"\n"
    output = b"first\n" + bars + b"{'loss': 1.0}\n" + bars
    short = trimmed(output, 300)
    assert len(short) <= 300
    assert short.count(b"\n") == output.count(b"\n")
    assert b"{'loss': 1.0}" in short
    assert trimmed(output, 10_000) == output
