"""Excerpts of what widely used training programs print, read as a person reads them (tests/outputs/wild/README.md)."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.metrics.points import Point
from tests.support.cases import each_case

EXCERPTS = Path(__file__).parents[2] / "outputs" / "wild" / "excerpts.txt"


@dataclass
class Excerpt:
    program: str
    output: str
    points: list[list[str]] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    phase: str = ""


def excerpts() -> list[Excerpt]:
    found = []
    for part in re.split(r"(?m)^%% ", EXCERPTS.read_text("utf-8"))[1:]:
        head, *lines = part.split("\n")
        excerpt = Excerpt(head.split(" | ")[0], "\n".join(line for line in lines if not line.startswith("=> ")))
        for kind, *rest in (line[3:].split() for line in lines if line.startswith("=> ")):
            if kind == "progress":
                excerpt.progress = rest
            elif kind == "phase":
                (excerpt.phase,) = rest
            else:
                excerpt.points.append([kind, *rest])
        found.append(excerpt)
    return found


def as_read(point: Point, expected: list[str]) -> list[str]:
    """The point as a person wrote it down: of its values only those that were named, and no other main loss."""
    where = ["-" if value is None else f"{value:g}" for value in (point.step, point.epoch)]
    rank = [] if point.rank is None else [f"r{point.rank}"]
    named = [word.split("=")[0] for word in expected if "=" in word]
    more = [name for name in ("loss", "eval_loss") if name in point.values and name not in named]
    return [point.kind, *where, *rank, *(f"{name}={point.values.get(name)}" for name in (*named, *more))]


def spelled(words: list[str]) -> list[str]:
    """Steps, epochs and values as numbers are printed."""
    numbers = [word if word == "-" else f"{float(word):g}" for word in words[1:3]]
    values = [f"{w.split('=')[0]}={float(w.split('=')[1])}" if "=" in w else w for w in words[3:]]
    return [words[0], *numbers, *values]


@each_case("excerpt", excerpts(), ids=lambda one: one.program)
@each_case("size", [1, 37, 1 << 20])
def test_an_excerpt_says_what_a_person_reads(excerpt: Excerpt, size: int) -> None:
    log, output = TrainLog(), excerpt.output.encode()
    points = [point for at in range(0, len(output), size) for point in log.feed(output[at : at + size])]
    progress, phase = log.progress, log.phase
    points += log.finish()
    expected = [spelled(words) for words in excerpt.points]
    assert [as_read(*pair) for pair in zip(points, excerpt.points, strict=False)] == expected
    assert len(points) == len(expected), points[len(expected) :]
    if excerpt.progress:
        assert progress is not None
        total = f"/{progress.total}" if "/" in excerpt.progress[0] else ""
        left = [f"{progress.eta_s:.0f}s"] if len(excerpt.progress) > 1 and progress.eta_s is not None else []
        assert [f"{progress.step}{total}", *left] == excerpt.progress
    if excerpt.phase:
        assert phase == excerpt.phase


def test_many_programs_are_read() -> None:
    assert len({one.program for one in excerpts()}) >= 75


EVALUATIONS = """
Epoch 5: Dev Loss: 0.5
Epoch 5 | CV loss: 0.5
step 10, holdout loss: 0.5
[valid] epoch 1 step 10 loss: 0.5
Validation - step: 10, loss: 0.3
Epoch 1 - avg val loss: 0.3
Epoch: 3 | val | loss: 0.3
Test set: Average loss: 0.0072, Accuracy: 9196/10000 (92%)
| epoch 081 | valid on 'valid' subset | loss 6.846 | ppl 24.41 | num_updates 10092 | best_loss 6.84088
""".strip().split("\n")


@each_case("line", EVALUATIONS)
def test_a_loss_of_an_evaluation_is_none_of_the_training(line: str) -> None:
    (point,) = TrainLog().feed(line + "\n")
    assert point.kind == "eval"
    assert "loss" not in point.values


@pytest.mark.parametrize("line", ["Best loss: 0.5", "Epoch 3 best loss: 0.5", "Best validation loss: 0.5 at epoch 3"])
def test_the_best_loss_so_far_is_no_point(line: str) -> None:
    assert TrainLog().feed(line + "\n") == []


def test_an_announced_evaluation_is_the_next_line_without_a_step_and_no_more() -> None:
    lines = ("step 1 loss: 3", "***** Evaluating perplexity *****", "loss: 2.5", "loss: 2.25", "step 2 loss: 2")
    points = TrainLog().feed("\n".join(lines) + "\n")
    assert [point.kind for point in points] == ["train", "eval", "train", "train"]
