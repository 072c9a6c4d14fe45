"""Where a loss was no number: from where on, how often, and whether it came back; and a gradient norm that did not."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dsgui.core.metrics.thinning import Curve, Floats

# A dynamic fp16 loss scale skips steps whose norm is no number: from 2**16 it is at 1 after 17.
_MOST_SKIPPED = 20
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class NotNumbers:
    """`count` of a loss's values are NaN or infinite, from `first` to `last`. As `axis` says, a place is a step, an
    epoch, or a value's place in the log from 1. `since`: where the last values of them in a row begin; `back`: where
    the first number after these is, None where there is none. `whole`: they are all in one row."""

    axis: Literal["step", "epoch", "value"]
    first: float
    last: float
    since: float
    count: int
    back: float | None
    nan: bool
    infinite: bool
    whole: bool


@dataclass(frozen=True, slots=True)
class NoNorm:
    """`numbers`: of the norm. `zero`: every loss logged after its first was exactly 0; that of the step itself came
    before its gradients. `always`: no norm was a number."""

    numbers: NotNumbers
    zero: bool
    always: bool


def no_norm(norm: Curve, loss: Curve | None) -> NoNorm | None:
    """None where it came back, or may be what the search for a loss scale skips."""
    numbers = not_numbers(norm)
    if numbers is None or numbers.back is not None:
        return None
    finite = np.flatnonzero(np.isfinite(norm.value))
    first = int(finite[-1]) + 1 if len(finite) else 0
    began = norm.time[first]
    zero = loss is not None and (_is_zero(loss.value[loss.time > began]) or _is_zero(loss.value[loss.time >= began]))
    steps = numbers.last - numbers.since if numbers.axis == "step" else 0.0
    count = len(norm) - first
    if count < _FEWEST or not (zero or max(count, steps) > _MOST_SKIPPED):
        return None
    return NoNorm(numbers, zero, always=not len(finite))


def _is_zero(values: Floats) -> bool:
    return len(values) > 0 and bool((values == 0).all())


def not_numbers(loss: Curve) -> NotNumbers | None:
    """None where all are numbers. Of a loss with steps, the values without one are left out; else with epochs."""
    axis, place = _axis(loss)
    known = np.isfinite(place)
    place, value = place[known], loss.value[known]
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


def _axis(loss: Curve) -> tuple[Literal["step", "epoch", "value"], Floats]:
    if np.isfinite(loss.step).any():
        return "step", loss.step
    if np.isfinite(loss.epoch).any():
        return "epoch", loss.epoch
    return "value", np.arange(1.0, len(loss) + 1)
