"""Where a loss was no number: from where on, how often, and whether it came back; and a gradient norm that did not."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dsgui.core.metrics.thinning import Curve, Floats

# A dynamic fp16 loss scale skips steps whose norm is no number: from 2**16 it is at 1 after 17.
_MOST_SKIPPED = 20
_FEWEST = 2
Axis = Literal["step", "epoch", "value"]


@dataclass(frozen=True, slots=True)
class NotNumbers:
    """`count` of a loss's values are NaN or infinite, from `first` to `last`. As `axis` says, a place is a step, an
    epoch, or a value's place in the log from 1. `since`: where the last values of them in a row begin; `back`: where
    the first number after these is, None where there is none. `whole`: they are all in one row."""

    axis: Axis
    first: float
    last: float
    since: float
    count: int
    back: float | None
    nan: bool
    infinite: bool
    whole: bool


LossBeside = Literal["none", "finite", "zero", "then_zero"]


@dataclass(frozen=True, slots=True)
class NoNorm:
    """`numbers`: of the norm. `loss`: what was logged beside it from its first on: "zero" where each was exactly 0,
    "then_zero" where each but that of the step itself was, which came before its gradients; "none" where none was, or
    nobody knows which. `always`: no norm was a number."""

    numbers: NotNumbers
    loss: LossBeside
    always: bool

    @property
    def is_zero(self) -> bool:
        """Whether the loss after its first was logged as 0."""
        return self.loss in ("zero", "then_zero")


def no_norm(norm: Curve, loss: Curve | None) -> NoNorm | None:
    """None where it came back, or may be what the search for a loss scale skips."""
    numbers = not_numbers(norm)
    if numbers is None or numbers.back is not None:
        return None
    axis, place, value = _placed(norm)
    row = int(np.isfinite(value)[::-1].argmax()) if np.isfinite(value).any() else len(value)  # the last in a row
    found = NoNorm(numbers, _beside(loss, axis, place, len(value) - row), always=row == len(value))
    steps = numbers.last - numbers.since if axis == "step" else 0.0
    return found if row >= _FEWEST and (found.is_zero or max(row, steps) > _MOST_SKIPPED) else None


def _beside(loss: Curve | None, axis: Axis, norms: Floats, first: int) -> LossBeside:
    """By the same places; not by times: what is written at once has one. Where each norm has its loss, by their rows:
    a printed epoch is rounded, and many stand at one."""
    if loss is None or not len(loss):
        return "none"
    own, place, value = _placed(loss)
    back = np.flatnonzero(np.diff(place) < 0)  # a training that began anew in the same log
    latest = np.arange(len(place)) > (back[-1] if len(back) else -1)
    since = norms[first]
    if own == axis and np.array_equal(place, norms):
        place, since = np.arange(float(len(place))), max(float(first), float(latest.argmax()))
    if own != axis or not (latest & (place >= since)).any():
        return "none"
    place, value = place[latest], value[latest]
    if _is_zero(value[place >= since]):
        return "zero"
    return "then_zero" if _is_zero(value[place > since]) else "finite"


def _is_zero(values: Floats) -> bool:
    return len(values) > 0 and bool((values == 0).all())


def not_numbers(loss: Curve) -> NotNumbers | None:
    """None where all are numbers. Of a loss with steps, the values without one are left out; else with epochs."""
    axis, place, value = _placed(loss)
    finite = np.isfinite(value)
    odd = np.flatnonzero(~finite)
    if not len(odd):
        return None
    last = int(odd[-1])
    before = np.flatnonzero(finite[:last])
    since = int(before[-1]) + 1 if len(before) else 0
    return NotNumbers(
        axis=axis,
        first=float(place[odd[0]]),
        last=float(place[last]),
        since=float(place[since]),
        count=len(odd),
        back=float(place[last + 1]) if last + 1 < len(place) else None,
        nan=bool(np.isnan(value[odd]).any()),
        infinite=bool(np.isinf(value[odd]).any()),
        whole=int(odd[0]) == since,
    )


def _placed(curve: Curve) -> tuple[Axis, Floats, Floats]:
    """The places and the values there, without those whose place is not known."""
    axis, place = _places(curve)
    known = np.isfinite(place)
    return axis, place[known], curve.value[known]


def _places(curve: Curve) -> tuple[Axis, Floats]:
    if np.isfinite(curve.step).any():
        return "step", curve.step
    if np.isfinite(curve.epoch).any():
        return "epoch", curve.epoch
    return "value", np.arange(1.0, len(curve) + 1)
