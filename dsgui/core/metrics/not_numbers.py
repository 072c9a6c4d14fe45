"""Where a loss was no number: from which step on, how often, and whether it came back."""

from dataclasses import dataclass

import numpy as np

from dsgui.core.metrics.thinning import Curve


@dataclass(frozen=True, slots=True)
class NotNumbers:
    """`count` of a loss's values are NaN or infinite, from step `first` to `last`. `since`: where the last values of
    them in a row begin; `back`: the step of the first number after these, None where there is none. `whole`: they are
    all in one row."""

    first: int
    last: int
    since: int
    count: int
    back: int | None
    nan: bool
    infinite: bool
    whole: bool


def not_numbers(loss: Curve) -> NotNumbers | None:
    """None where all are numbers. Values without a step are left out."""
    known = np.isfinite(loss.step)
    step, value = loss.step[known], loss.value[known]
    finite = np.isfinite(value)
    odd = np.flatnonzero(~finite)
    if not len(odd):
        return None
    last = int(odd[-1])
    before = np.flatnonzero(finite[:last])
    since = int(before[-1]) + 1 if len(before) else 0
    return NotNumbers(
        first=int(step[odd[0]]),
        last=int(step[last]),
        since=int(step[since]),
        count=len(odd),
        back=int(step[last + 1]) if last + 1 < len(step) else None,
        nan=bool(np.isnan(value[odd]).any()),
        infinite=bool(np.isinf(value[odd]).any()),
        whole=int(odd[0]) == since,
    )
