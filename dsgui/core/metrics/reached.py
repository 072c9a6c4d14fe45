"""How far a training has come, told by its points as they are logged: for the list of runs, which reads no curves."""

import math
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.metrics.points import OUTPUT, Point, number_to_json
from dsgui.core.metrics.the_loss import USUAL, is_loss, the_loss

_NO_STEP = -1
MEASURED_S = 5.0  # output is read a tenth of a second at a time: over less than this its own word is nearer the truth
TOLD_SPEED = ("steps_per_second", "train_steps_per_second")  # the training's, and the HF Trainer's at its end
_MOST_LOSSES = 32  # besides the usual; a script that numbers their names has none of them in the list


@dataclass(slots=True)
class _Loss:
    """`best` is the lowest finite value, `odd` the first that was none, and its step."""

    last: float = math.nan
    best: float | None = None
    odd: tuple[float, int | None] | None = None

    def take(self, value: float, step: int | None) -> None:
        self.last = value
        if math.isfinite(value):
            self.best = value if self.best is None else min(self.best, value)
        elif self.odd is None:
            self.odd = value, step


@dataclass(slots=True)
class Reached:
    """`losses` by their names; the speed is measured between the first and the last logged step, as
    `performance.figures` does: a count that begins again is measured from there; `told_rate` is what the training says
    of it. What a script's files tell counts until the output tells the same."""

    printed: bool = False  # training was told of by the output
    losses: dict[str, _Loss] = field(default_factory=dict)
    step: int = _NO_STEP
    at_step: int = _NO_STEP
    at_s: float = math.nan
    first_step: int = _NO_STEP
    first_at_s: float = math.nan
    told_rate: float | None = None

    def take(self, point: Point, now_s: float) -> None:
        """Of the first rank's training; others tell the same."""
        if not point.rank and point.kind in ("train", "final"):
            told = [rate for name in TOLD_SPEED if (rate := point.values.get(name, 0.0)) > 0]
            self.told_rate = told[0] if told else self.told_rate
        if point.kind != "train" or point.rank:
            return
        if point.source == OUTPUT and not self.printed:
            self._begin_anew()
        if point.source == OUTPUT or not self.printed:
            self._take(point, now_s)

    def _begin_anew(self) -> None:
        self.printed, self.losses = True, {}
        self.step = self.at_step = self.first_step = _NO_STEP

    def _take(self, point: Point, now_s: float) -> None:
        for name, value in point.values.items():
            if is_loss(name) and (name in self.losses or name in USUAL or len(self.losses) < _MOST_LOSSES):
                self.losses.setdefault(name, _Loss()).take(value, point.step)
        if point.step is None or not math.isfinite(point.step):
            return
        self.step = int(point.step)
        if not math.isfinite(now_s):  # a log's line without a time, among others that have one
            return
        if self.first_step == _NO_STEP or self.step < self.at_step:
            self.first_step, self.first_at_s = self.step, now_s
        self.at_step, self.at_s = self.step, now_s

    @property
    def steps_per_second(self) -> float | None:
        steps, seconds = self.at_step - self.first_step, self.at_s - self.first_at_s
        if self.told_rate is not None and not seconds >= MEASURED_S:
            return self.told_rate
        return steps / seconds if steps > 0 and seconds > 0 else None

    def to_json(self) -> dict[str, Any]:
        """As progress.json has it."""
        loss = self.losses.get(the_loss(self.losses) or "")
        told = {"loss": loss.last, "best_loss": loss.best} if loss else {}
        found: dict[str, Any] = {name: number_to_json(one) for name, one in told.items() if one is not None}
        if loss and loss.odd:
            value, step = loss.odd
            found |= {"odd_loss": {"value": number_to_json(value), "step": step}}
        if self.step != _NO_STEP:
            found |= {"step": self.step, "total": None, "eta_s": None}
        if (rate := self.steps_per_second) is not None:
            found |= {"steps_per_second": float(f"{rate:.4g}")}
        return found
