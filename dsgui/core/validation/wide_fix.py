"""The fix of one finding that takes several away at once: what who has many of them presses first."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Fix
from dsgui.core.errors import DocumentError

_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class WideFix:
    """`fix` is that of `finding`; `mended` are all the findings that it takes away, its own among them."""

    finding: Finding
    fix: Fix
    mended: tuple[Finding, ...]


def wide_fix(
    found: Sequence[Finding], document: Document, check: Callable[[Document], Sequence[Finding]]
) -> WideFix | None:
    """The one that writes to the places of the most findings, if it does take several of them away: `check`, of which
    `found` is the answer for the document as it is, looks."""
    places = Counter(one.pointer for one in found)
    fixes = {one.fix.id: (one, one.fix) for one in found if one.fix}
    widest = max(fixes.values(), key=lambda one: _reaches(one[1], places), default=None)
    if widest is None or _reaches(widest[1], places) < _SEVERAL:
        return None
    try:
        left = Counter(one.identity for one in check(widest[1].apply(document)))
    except DocumentError:
        return None
    mended = tuple(one for one in found if not left[one.identity])
    return WideFix(*widest, mended) if len(mended) >= _SEVERAL else None


def _reaches(fix: Fix, places: Mapping[str, int]) -> int:
    """At how many findings, counted by their places, it changes something."""
    return sum(places[pointer] for pointer in {change.pointer for change in fix.changes})
