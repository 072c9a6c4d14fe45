"""How long something took, as every page, report and command says it."""

import math

from dsgui.core.texts.saying import words


def duration(seconds: float | None) -> str:
    """`1h 02m`, `2m 03s` of less than an hour, `3s` of less than a minute; “–” where it is not known: what `duration`
    of `ui/static/common/format.js` says, halves rounded up as there. Of minutes and seconds alone `02:03` could be
    read as hours."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    minutes, rest = divmod(math.floor(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return words("runs_page", "took_hours", hours=str(hours), minutes=f"{minutes:02}")
    if minutes:
        return words("runs_page", "took_minutes", minutes=str(minutes), seconds=f"{rest:02}")
    return words("runs_page", "took_seconds", seconds=str(rest))
