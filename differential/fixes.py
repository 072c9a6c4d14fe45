"""Every fix that is offered for a config, applied; and all error fixes in turn."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.machine.hardware import CARDS, Hardware
from dsgui.core.validation.checker import Checker

_MOST_TURNS = 60
_CPU = Hardware("cpu", "CPU", "cpu", bf16=True, fp16=False)
_V100 = next(card for card in CARDS if card.id == "v100")
# Who reads it, on how many ranks, in which release, on what.
SURROUNDINGS = (
    ("0.19.8", ()),
    ("0.19.8", (_CPU,)),
    ("0.19.8", (_V100,)),
    ("0.16.9", ()),
    ("0.14.5", ()),
)


def contexts(ranks: tuple[int, ...] = (1, 2, 8)) -> list[Context]:
    """Both readers on each number of ranks, in each of the surroundings."""
    return [
        Context(reader, gpus_per_node=size, deepspeed_version=release, hardware=hardware)
        for reader in Integration
        for size in ranks
        for release, hardware in SURROUNDINGS
    ]


@dataclass(frozen=True)
class Half:
    """A fix that left something: its own finding, or errors that were not there before. Below a misspelt key they were
    there, unread: a renaming may bring them to light."""

    finding: Finding
    stays: bool
    added: tuple[str, ...]


def halves(checker: Checker, document: Document, context: Context) -> Iterator[Half]:
    """The fixes of a config that are none."""
    before = checker.findings(document, context)
    for finding in before:
        for fix in finding.fixes:
            after = checker.findings(fix.apply(document), context, fixes=False)
            stays = _said(finding) in {_said(other) for other in after}
            new = {} if fix.is_renaming else _errors(after) - _errors(before)
            added = tuple(f"{rule} {pointer}" for rule, pointer in new)
            if stays or added:
                yield Half(finding, stays, added)


def _said(finding: Finding) -> tuple[str, str, str]:
    """Another finding of the same rule may be at the same key, and says something else."""
    return finding.rule, finding.pointer, finding.message


def _errors(findings: list[Finding]) -> Counter[tuple[str, str]]:
    """A template is told once, wherever its first placeholder stands."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    return Counter((f.rule, "" if "looks like a template" in f.message else f.pointer) for f in errors)


@dataclass(frozen=True)
class Repaired:
    """A config after all error fixes, and the errors that are left: none has a fix."""

    document: Document
    fixes: tuple[str, ...]
    left: tuple[Finding, ...]


def repaired(checker: Checker, document: Document, context: Context) -> Repaired:
    """The fix of the first error that has one, again and again. Raises `RecursionError` where that has no end."""
    done: list[str] = []
    for _ in range(_MOST_TURNS):
        errors = [f for f in checker.findings(document, context) if f.severity is Severity.ERROR]
        fix = next((finding.fix for finding in errors if finding.fix), None)
        if fix is None:
            return Repaired(document, tuple(done), tuple(errors))
        document = fix.apply(document)
        done.append(str(fix.label))
    raise RecursionError(f"the fixes have no end: {', '.join(done[-4:])}")
