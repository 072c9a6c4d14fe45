"""What a training logged: points of its curves, and events beside them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

OUTPUT = "output"  # the source of what the training printed


@dataclass(frozen=True, slots=True, init=False)
class Point:
    """One logged step. `step` is None where nothing said it; a value may be NaN or infinite. `source` is where it was
    read: "output", or a kind of file that the script writes ("csv_monitor", "tensorboard", "trainer_state")."""

    step: int | None
    epoch: float | None
    values: Mapping[str, float]
    kind: str = "train"  # "train", "eval" or "final"
    rank: int | None = None
    source: str = OUTPUT

    def __init__(
        self,
        step: int | None,
        epoch: float | None,
        values: Mapping[str, float],
        kind: str = "train",
        rank: int | None = None,
        source: str = OUTPUT,
    ) -> None:
        # What a frozen dataclass makes by itself takes more than twice as long, and a run logs points by the million.
        _SET[0](self, step)
        _SET[1](self, epoch)
        _SET[2](self, values)
        _SET[3](self, kind)
        _SET[4](self, rank)
        _SET[5](self, source)


_SET: tuple[Callable[[Point, Any], None], ...] = tuple(
    getattr(Point, one).__set__ for one in ("step", "epoch", "values", "kind", "rank", "source")
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a moment of the training: a checkpoint saved, an overflow, an alert of dsgui's own.
    `step` is None where nothing said it; `text` is what was printed, or a sentence."""

    kind: str  # "checkpoint", "evaluation", "overflow", "warning", "error", "stop", "alert", "calm"
    text: str
    step: int | None = None
    subject: str = ""  # what an alert is about; "calm" with the same takes it back

    def to_json(self) -> dict[str, Any]:
        subject = {"subject": self.subject} if self.subject else {}
        return {"kind": self.kind, "text": self.text, "step": self.step} | subject


def number_to_json(value: float) -> float | str:
    """A number, or "NaN", "Infinity", "-Infinity": JSON has none of these."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
