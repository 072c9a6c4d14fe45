"""What a training logged: points of its curves, and events beside them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dsgui.core.texts.saying import Said

OUTPUT = "output"  # the source of what the training printed


class Point(NamedTuple):
    """One logged step. `step` is None if unknown; a value may be NaN or infinite. `source` is where it was read:
    "output", or a kind of file that the script writes ("csv_monitor", "tensorboard", "trainer_state").

    A tuple, since a run may log millions of points: a frozen dataclass takes more than twice as long to create."""

    step: int | None
    epoch: float | None
    values: Mapping[str, float]
    kind: str = "train"  # "train", "eval" or "final"
    rank: int | None = None
    source: str = OUTPUT


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a moment of the training: a checkpoint saved, an overflow, an alert of dsgui's own.
    `step` is None if unknown; `text` is what was printed, or the words of `said`, about `machine`."""

    kind: str  # "checkpoint", "evaluation", "overflow", "warning", "error", "stop", "alert", "calm"
    text: str
    step: int | None = None
    subject: str = ""  # what an alert is about; "calm" with the same takes it back

    said: Said | None = None
    machine: str = ""

    @classmethod
    def of(cls, kind: str, said: Said, step: int | None = None, subject: str = "", machine: str = "") -> "Event":
        """An event of dsgui's own."""
        return cls(kind, f"{machine}: {said}" if machine else str(said), step, subject, said, machine)

    def to_json(self) -> dict[str, Any]:
        """`text` is always there, for readers that don't know the code."""
        found: dict[str, Any] = {"kind": self.kind, "text": self.text, "step": self.step}
        found |= {name: value for name in ("subject", "machine") if (value := getattr(self, name))}
        return found | (self.said.to_json() if self.said else {})


def figure(value: float) -> str:
    """Four digits, as people write them: 27,710 and not 2.771e+04."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1e4 <= abs(rounded) < 1e12 else f"{value:.4g}"


def number_to_json(value: float) -> float | str:
    """A number, or "NaN", "Infinity", "-Infinity": JSON has none of these."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
