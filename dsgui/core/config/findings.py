"""A finding: one thing to know about a config, its location, and what to do. Findings are values, never raised."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from dsgui.core.config.document import Document
from dsgui.core.texts.saying import Said, said, sentences, words


class Severity(Enum):
    """error: it will not run · warning: it runs and probably isn't what was meant · note: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: `literal` (JSON text) goes to `pointer`; None removes what is there, or renames it to `key`."""

    pointer: str
    literal: str | None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """The one right repair: what its button says and the edits it makes."""

    label: Said
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, code: str, /, *changes: Change, **given: str | Said) -> "Fix":
        """`code` and `given` are of the catalogue's fixes."""
        return cls(said("fixes", code, **given), changes)

    @property
    def id(self) -> str:
        """The same for the same edits, whatever their label: how a page refers to the fix."""
        edits = [[change.pointer, change.literal, change.key] for change in self.changes]
        return hashlib.sha256(json.dumps(edits).encode()).hexdigest()[:16]

    @property
    def is_renaming(self) -> bool:
        """Whether it gives a misspelt key its name, and does nothing else."""
        return self.label.code == "rename" and len(self.changes) == 1

    def apply(self, document: Document) -> Document:
        """The repaired document; everything the fix does not name keeps its text."""
        for change in self.changes:
            if change.key:
                document = document.rename(change.pointer, change.key)
            elif change.literal is None:
                document = document.remove(change.pointer)
            else:
                document = document.set(change.pointer, change.literal)
        return document


@dataclass(frozen=True, slots=True)
class Finding:
    """Where (`pointer`) · what was seen and expected (`says`) · what to do (`advises`, sentence by sentence), perhaps
    with a `fix`, or where none is the one right repair, with `choices`: each would do, and who reads has to say which.
    The texts are the catalogue's: its "findings" and "advice"."""

    rule: str
    severity: Severity
    pointer: str
    says: Said
    advises: tuple[Said, ...] = ()
    fix: Fix | None = None
    source: str = ""
    choices: tuple[Fix, ...] = ()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """All that can be applied."""
        return (self.fix, *self.choices) if self.fix else self.choices

    @property
    def code(self) -> str:
        """What is said, whatever the words and figures: `DS040.predivide`."""
        return self.says.code

    @property
    def message(self) -> str:
        """What it says, in words."""
        return str(self.says)

    @property
    def advice(self) -> str:
        """What to do, in words; "" where there is nothing to do."""
        return sentences(self.advises)

    @property
    def identity(self) -> tuple[str, str, str, Severity]:
        """What it is about, whatever its words are."""
        return self.rule, self.code, self.pointer, self.severity


def has_error(findings: Iterable[Finding]) -> bool:
    """Whether one of them says that the config will not run."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def stops_before(findings: Iterable[Finding]) -> bool:
    """Whether the HF Trainer (accelerate is a part of it) stops at the errors: it comes first, and DeepSpeed only sees
    what it lets through."""
    sources = [finding.source for finding in findings if finding.severity is Severity.ERROR]
    return bool(sources) and all(source.startswith(("transformers/", "accelerate/")) for source in sources)


def refuser(findings: Iterable[Finding]) -> str:
    """Who would stop at the errors, for sentences."""
    return words("judges", "transformers_first") if stops_before(findings) else words("judges", "deepspeed_first")
