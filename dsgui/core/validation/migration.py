"""What changes for one config when it moves to another DeepSpeed release: what breaks, what heals, what differs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, dotted, join, lookup, split
from dsgui.core.config.schema import Field, Schema
from dsgui.core.rules.base import found
from dsgui.core.texts.saying import Said, phrase
from dsgui.core.validation.checker import Checker


@dataclass(frozen=True, slots=True)
class Migration:
    """`appears`: findings that the new release adds. `goes`: those that only the old one has. `defaults`: keys the
    config leaves out whose default is another one there; each has a fix that writes the old default down."""

    release: str
    target: str
    appears: tuple[Finding, ...]
    goes: tuple[Finding, ...]
    defaults: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to act on."""
        return (*self.appears, *self.defaults)


def migration(checker: Checker, document: Document, context: Context, target: str) -> Migration:
    """What changes for `document` between the release of `context` and DeepSpeed `target`."""
    now = checker.findings(document, context, fixes=False)
    moved = replace(context, deepspeed_version=target)
    then = checker.findings(document, moved)
    defaults = tuple(
        checker.whole(_default_changes(checker.schema, document, context.release, target), document, moved)
    )
    appears, goes = _without_notes_on(defaults, _beyond(then, now)), _without_notes_on(defaults, _beyond(now, then))
    return Migration(context.release, target, tuple(appears), tuple(goes), defaults)


def _without_notes_on(defaults: Iterable[Finding], findings: Iterable[Finding]) -> Iterator[Finding]:
    """A note on a key whose default changes would say the same twice."""
    told = {finding.pointer for finding in defaults}
    return (f for f in findings if f.severity is not Severity.NOTE or f.pointer not in told)


def _beyond(some: Iterable[Finding], others: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of `some` that `others` does not have: an old warning that became an error counts."""
    known = {(finding.rule, finding.pointer, finding.severity) for finding in others}
    return (f for f in some if (f.rule, f.pointer, f.severity) not in known)


def _default_changes(schema: Schema, document: Document, release: str, target: str) -> Iterator[Finding]:
    old, new = schema.at(release).fields, schema.at(target).fields
    for pointer in (p for p in old if p in new):
        parent = join(split(pointer)[:-1])
        applies = isinstance(lookup(document.value, parent), dict) and document.node(pointer) is None
        if applies and old[pointer].default != new[pointer].default:
            yield _default_change(old[pointer], new[pointer], release, target)


def _default_change(old: Field, new: Field, release: str, target: str) -> Finding:
    before, after = _shown(old), _shown(new)
    fix = None
    if old.default is not MISSING and old.default is not None:
        fix = Fix.of("write_down", Change(old.pointer, json.dumps(old.default)), value=before)
    return found(
        Severity.NOTE,
        old.pointer,
        "DS007.default",
        advice="DS007.write_down" if fix else "DS007.set",
        fix=fix,
        source="deepspeed/runtime/constants.py",
        key=dotted(old.pointer),
        before=before,
        after=after,
        release=release,
        target=target,
    )


def _shown(field: Field) -> str | Said:
    return phrase("none") if field.default is MISSING else json.dumps(field.default)
