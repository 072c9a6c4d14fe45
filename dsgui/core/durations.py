"""How long something took, as every page, report and command says it."""

import math


def duration(seconds: float | None) -> str:
    """`1:02:03`, or `02:03` of less than an hour; “–” where it is not known: what `duration` of
    `ui/static/common/format.js` says, halves rounded up as there."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    minutes, rest = divmod(math.floor(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
