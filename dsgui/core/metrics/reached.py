"""How far a training has come, told by its points as they are logged: for the list of runs, which reads no curves."""

import math
from dataclasses import dataclass
from typing import Any

from dsgui.core.metrics.points import OUTPUT, Point, number_to_json

_NO_STEP = -1


@dataclass(slots=True)
class Reached:
    """`best` is the lowest finite loss; the speed is measured between the first and the last logged step, as
    `performance.figures` does: a count that begins again is measured from there. What a script's files tell counts
    until the output tells the same."""

    printed: bool = False  # training was told of by the output
    loss: float | None = None
    best: float | None = None
    step: int = _NO_STEP
    at_s: float = math.nan
    first_step: int = _NO_STEP
    first_at_s: float = math.nan

    def take(self, point: Point, now_s: float) -> None:
        """Of the first rank's training; others tell the same."""
        if point.kind != "train" or point.rank:
            return
        if point.source == OUTPUT and not self.printed:
            self._begin_anew()
        if point.source == OUTPUT or not self.printed:
            self._take(point, now_s)

    def _begin_anew(self) -> None:
        self.printed, self.loss, self.best = True, None, None
        self.step = self.first_step = _NO_STEP

    def _take(self, point: Point, now_s: float) -> None:
        self.loss = loss = point.values.get("loss", self.loss)
        if loss is not None and math.isfinite(loss):
            self.best = loss if self.best is None else min(self.best, loss)
        if point.step is None or not math.isfinite(point.step):
            return
        if self.first_step == _NO_STEP or point.step < self.step:
            self.first_step, self.first_at_s = int(point.step), now_s
        self.step, self.at_s = int(point.step), now_s

    @property
    def steps_per_second(self) -> float | None:
        steps, seconds = self.step - self.first_step, self.at_s - self.first_at_s
        return steps / seconds if steps > 0 and seconds > 0 else None

    def to_json(self) -> dict[str, Any]:
        """As progress.json has it."""
        losses = {"loss": self.loss, "best_loss": self.best}
        found: dict[str, Any] = {name: number_to_json(one) for name, one in losses.items() if one is not None}
        if self.step != _NO_STEP:
            found |= {"step": self.step, "total": None, "eta_s": None}
        if (rate := self.steps_per_second) is not None:
            found |= {"steps_per_second": float(f"{rate:.4g}")}
        return found
