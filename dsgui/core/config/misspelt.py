"""A key that is missing because it is misspelt: it is renamed before anything else. A fix that wrote the key anew would
leave what was meant for it unread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding
from dsgui.core.config.pointer import MISSING, child, dotted, join, lookup, split
from dsgui.core.texts.saying import said

_WAITS = "rename_first"


def renamed_first(findings: Sequence[Finding], config: Mapping[str, Any]) -> list[Finding]:
    """The findings; whose fix would write a key that only awaits its renaming has none, and says so."""
    misspelt = _misspelt(findings, config)
    return [_waiting(finding, misspelt) for finding in findings] if misspelt else list(findings)


def in_order(findings: Sequence[Finding], document: Document) -> list[Finding]:
    """Renamings that others wait for; then errors first, in the order of the text within a severity."""
    starts = {pointer: node.start for pointer, node in document.nodes}
    first = {id(finding) for finding in awaited(findings)}
    return sorted(findings, key=lambda f: (id(f) not in first, f.severity.rank, starts.get(f.pointer, 0)))


def awaited(findings: Iterable[Finding]) -> list[Finding]:
    """The findings of misspelt keys that others wait for."""
    every = list(findings)
    names = {dict(one.given)["wrong"] for finding in every for one in finding.advises if one.code == _WAITS}
    return [finding for finding in every if dotted(finding.pointer) in names and not waits(finding)]


def waits(finding: Finding) -> bool:
    """Whether it has no fix because the key that it misses is there, misspelt."""
    return any(one.code == _WAITS for one in finding.advises)


def _misspelt(findings: Sequence[Finding], config: Mapping[str, Any]) -> dict[str, str]:
    """What is not there → the key that is meant for it."""
    names: dict[str, str] = {}
    for finding in findings:
        if finding.fix and finding.fix.is_renaming:
            meant = child(join(split(finding.pointer)[:-1]), finding.fix.changes[0].key)
            if lookup(config, meant) is MISSING:
                names.setdefault(meant, finding.pointer)
    return names


def _waiting(finding: Finding, misspelt: Mapping[str, str]) -> Finding:
    written = [change.pointer for change in finding.fix.changes if change.literal is not None] if finding.fix else []
    meant = next((key for key in misspelt if any(f"{one}/".startswith(f"{key}/") for one in written)), "")
    if not meant:
        return finding
    advice = said("advice", _WAITS, wrong=dotted(misspelt[meant]), meant=dotted(meant))
    return replace(finding, fix=None, advises=(advice,))
