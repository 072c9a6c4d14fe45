"""A fix is never half: applied, it takes its own finding away and adds no error. Where it takes more for that, the
repairs of the errors that it would add are a part of it; where that can't be had, it is not offered. A renaming is:
what stands under a misspelt key was wrong before, and is only read then."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Fix, Severity
from dsgui.core.errors import DocumentError

Check = Callable[[Document], Sequence[Finding]]
Identity = tuple[str, str, str, Severity]
_MOST_PARTS = 8  # repairs joined to one
_MOST_CHARACTERS = 400_000  # of the texts that are checked anew for one config: beyond it renamings alone are offered
_CHARACTERS_A_FINDING = 100  # what it costs to find, in characters that are read


def with_whole_fixes(
    findings: Sequence[Finding], document: Document, check: Check, before: Sequence[Finding] | None = None
) -> list[Finding]:
    """The findings, each with a fix that is whole or with none, and of its choices those that are. `before`: what
    `check` says of the document."""
    if not any(finding.fixes for finding in findings):
        return list(findings)
    before = check(document) if before is None else before
    known, told = _errors(before), Counter(finding.identity for finding in before)
    looks = _Looks(document, check, len(findings))
    whole = [replace(f, fix=_whole(f, f.fix, known, told, looks)) if f.fix else f for f in findings]
    return [_with_whole_choices(f, known, told, looks) if f.choices else f for f in whole]


def without_fixes(findings: Sequence[Finding]) -> list[Finding]:
    """The findings for who shows no fix: none is tried out."""
    return [replace(finding, fix=None, choices=()) if finding.fixes else finding for finding in findings]


def _with_whole_choices(
    finding: Finding, known: Counter[tuple[str, str]], told: Counter[Identity], looks: "_Looks"
) -> Finding:
    """Two of them make the same edits where one needs the other: it is offered once."""
    whole = {fix.id: fix for one in finding.choices if (fix := _whole(finding, one, known, told, looks))}
    return replace(finding, choices=tuple(whole.values()))


class _Looks:
    """Checks of a document after a fix; no more of them than its length and its findings allow."""

    def __init__(self, document: Document, check: Check, findings: int) -> None:
        self._document, self._check = document, check
        self._left = max(1, _MOST_CHARACTERS // (len(document.text) + _CHARACTERS_A_FINDING * findings))

    @property
    def spent(self) -> bool:
        """Whether enough was looked at."""
        return self._left == 0

    def after(self, fix: Fix) -> Sequence[Finding] | None:
        """What is found then; None where the fix can't be made."""
        self._left -= 1
        try:
            return self._check(fix.apply(self._document))
        except DocumentError:
            return None


def _whole(
    finding: Finding, fix: Fix, known: Counter[tuple[str, str]], told: Counter[Identity], looks: _Looks
) -> Fix | None:
    renaming = fix if fix.is_renaming else None
    for _ in range(_MOST_PARTS):
        if looks.spent:
            return renaming
        after = looks.after(fix)
        if after is None or _is_there(finding, after, told):
            return None if fix is renaming else renaming
        new = _errors(after) - known
        added = [f for f in after if f.severity is Severity.ERROR and (f.rule, f.pointer) in new]
        if not added:
            return fix
        following = next((f.fix for f in added if f.fix and not _touches_the_same(f.fix, fix)), None)
        if following is None:
            return renaming
        fix = _joined(fix, following)
    return renaming


def _joined(fix: Fix, following: Fix) -> Fix:
    """Both; what follows a renaming brings what was written for the key to it, and isn't told by itself."""
    changes = (*fix.changes, *following.changes)
    if fix.label.code == "rename" and following.label.code == "rewrite":
        return Fix(fix.label, changes)
    return Fix.of("both", *changes, first=fix.label, then=following.label)


def _errors(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    return Counter((f.rule, f.pointer) for f in findings if f.severity is Severity.ERROR)


def _is_there(finding: Finding, findings: Sequence[Finding], told: Counter[Identity]) -> bool:
    """Whether there are as many of its like as were told: another of the same rule may stand at the same key."""
    return sum(one.identity == finding.identity for one in findings) >= max(told[finding.identity], 1)


def _touches_the_same(one: Fix, other: Fix) -> bool:
    """Whether one would undo a part of the other."""
    places = {place for change in other.changes for place in _places(change.pointer, change.key)}
    return any(place in places for change in one.changes for place in _places(change.pointer, change.key))


def _places(pointer: str, key: str) -> tuple[str, ...]:
    return (pointer, f"{pointer.rpartition('/')[0]}/{key}") if key else (pointer,)
