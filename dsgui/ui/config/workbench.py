"""The Configure page's logic: the form, the JSON text, presets and fixes, each as a function of what is on the page.

The text is the single state. A form edit, a fix, a preset or an upload makes a new text; form and findings are views.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config import accelerate_yaml
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding
from dsgui.core.config.form import Form, default_text, literal_for
from dsgui.core.config.loose_json import lines_told, noted, tidy
from dsgui.core.config.python_words import as_json_words
from dsgui.core.config.schema import Field, Schema
from dsgui.core.errors import DocumentError
from dsgui.core.imported.recognising import recognised
from dsgui.core.launch.circumstances import run_context
from dsgui.core.launch.planned import MOST_HOST_GIB, Planned
from dsgui.core.launch.spec import host_gib
from dsgui.core.machine.hardware import Target
from dsgui.core.memory.fits.as_fixed import AsFixed, plainly_fixed
from dsgui.core.oracle.agreement import merge
from dsgui.core.oracle.answers import Answer, Question
from dsgui.core.texts.saying import said, words
from dsgui.core.validation.check_report import subject
from dsgui.core.validation.checker import Checker
from dsgui.core.validation.mending import Mending, mending
from dsgui.core.validation.wide_fix import WideFix, wide_fix
from dsgui.ui.common.documents import check_size, read_document, remember
from dsgui.ui.common.findings_view import (
    ALL,
    CONVERT,
    MOST_SHOWN,
    Readable,
    blank_html,
    broken_html,
    findings_html,
    place_of,
    sendable,
    without_key,
)
from dsgui.ui.config.context_bar import Launched

MAX_RANKS = 4096
_HERE = Launched()
_MOST_RELEASES = 32  # remembered; their names come from the page


FormValue = dict[str, Any]
# The HF Trainer insists on the one, DeepSpeed's schedulers on the other, even when nothing is in it.
_KEPT_EMPTY = ("/zero_optimization", "/scheduler/params")


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows for one text: the text itself, the findings panel, the form's state; what was found, and the
    fix of several of these."""

    text: str
    findings: str
    form: dict[str, Any]
    found: tuple[Finding, ...] = ()
    wide: WideFix | None = None


def form_model(schema: Schema) -> list[dict[str, Any]]:
    """The form's fixed part, once per page: sections with fields as JSON for `static/config/form.js`."""
    return [
        {
            "id": section.id,
            "title": section.title,
            "intro": section.intro,
            "fields": [_field_model(f) for f in section.fields],
        }
        for section in schema.sections
    ]


def _field_model(field: Field) -> dict[str, Any]:
    model = {
        "pointer": field.pointer,
        "key": field.key,
        "title": field.title,
        "help": field.description,
        "kind": field.kind.value,
        "choices": [c if isinstance(c, str) else json.dumps(c) for c in field.choices],
        "suggestions": list(field.suggestions),
        "default": default_text(field),
        "auto": field.takes_auto,
        "least": field.minimum,
        "unit": field.unit,
        "removed": field.removed,
        "common": field.common,
        "otherwise": field.active.otherwise if field.active else "",
    }
    return {name: value for name, value in model.items() if value not in (None, "", [], False)}


def make_context(
    target: Target,
    integration: str,
    gpus: float | None,
    nodes: float | None,
    device: str,
    version: str,
    launched: Launched = _HERE,
) -> Context:
    """The context the bar on the page describes, for what 2 · Launch has; what is empty or out of range counts as 1."""
    return run_context(
        target,
        Integration(integration),
        _count(nodes),
        _count(gpus),
        place=launched.place,
        planned=Planned(device, version),
        arguments=launched.arguments,
    )


def _count(value: float | None) -> int:
    return min(max(int(value or 1), 1), MAX_RANKS)


def odd_counts(gpus: float | None, nodes: float | None) -> tuple[str, ...]:
    """A sentence for each of the bar's two numbers that is none to check for."""
    asked = {"bar_gpus": gpus, "bar_nodes": nodes}
    return tuple(_odd_count(name, n) for name, n in asked.items() if n is None or _count(n) != n)


def odd_host(typed: str | None) -> tuple[str, ...]:
    """A sentence on what was typed for the host's memory and says none."""
    text = (typed or "").strip()
    if not text or host_gib(text):
        return ()
    return (words("reading", "host_odd", typed=text[:40], most=f"{MOST_HOST_GIB:,}"),)


def _odd_count(name: str, n: float | None) -> str:
    given = {"name": words("reading", name), "count": str(_count(n))}
    if n is None:
        return words("reading", "count_empty", **given)
    return words("reading", "count_outside", seen=f"{n:g}", most=str(MAX_RANKS), **given)


class Workbench:
    """Makes a `View` of whatever happened on the page. A text that is not JSON is a view too, not an error."""

    def __init__(self, checker: Checker, answered: Callable[[Question], Answer | None] = lambda question: None) -> None:
        """`answered` knows what the real DeepSpeed has answered to a question, if it was asked."""
        self._checker, self._answered = checker, answered
        self._schema = checker.schema
        self._forms: dict[str, Form] = {}
        self._numbers = {pointer: number for number, pointer in enumerate(self._schema.fields)}

    def show(self, text: str, context: Context) -> View:
        """The view of `text`; while it is broken, or there is none yet, the form is told so and keeps what it shows."""
        if not text.strip():
            return View(text, blank_html(), {"broken": words("configure_page", "blank"), "blank": True})
        try:
            document = read_document(text)
        except DocumentError as error:
            return _broken(text, error)
        return self._view(document, context)

    def edit(self, form: Mapping[str, Any], text: str, context: Context) -> View:
        """The view after the form's pending edits (`form["edits"]`: pointer → typed text) went into `text`."""
        given = form.get("edits")
        edits = {str(p): str(typed) for p, typed in given.items()} if isinstance(given, dict) else {}
        try:
            document = read_document(text)
            for pointer, typed in edits.items():
                document = self._apply(document, pointer, typed)
        except DocumentError:
            return self.show(text, context)
        return self._view(document, context, acked=edits)

    def fix(self, rule: str, pointer: str, fix: str, text: str, context: Context) -> str:
        """`text` after the fix so named was applied; unchanged when the finding is no longer there."""
        try:
            document = read_document(_converted(text) if fix == CONVERT else text)
        except DocumentError:
            mend = _mending(text)
            return mend.apply(text) if mend and mend.id == fix else text
        if fix == ALL:
            return self._plainly_fixed(document, context).document.text
        for finding in self._checker.findings(document, context):
            for one in finding.fixes:
                if (finding.rule, finding.pointer, one.id) == (rule, pointer, fix):
                    return one.apply(document).text
        return document.text

    def plainly_fixed(self, text: str, context: Context) -> AsFixed | None:
        """What fixing all of its errors with one right fix makes of `text`; None where it can't be read."""
        try:
            return self._plainly_fixed(read_document(text), context)
        except DocumentError:
            return None

    def _plainly_fixed(self, document: Document, context: Context) -> AsFixed:
        found = self._checker.findings(document, context)
        return plainly_fixed(document, found, lambda one: self._checker.findings(one, context))

    def findings(self, text: str, context: Context, fixes: bool = False) -> list[Finding]:
        """The findings of `text`, without fixes unless they are asked for. Raises `DocumentError` when it can't be
        read."""
        return self._findings(read_document(text), context, fixes)

    def _findings(self, document: Document, context: Context, fixes: bool) -> list[Finding]:
        """dsgui's own, and DeepSpeed's answer where it was asked about this very text and context."""
        return self._merged(self._checker.findings(document, context, fixes=fixes), document, context)

    def _merged(self, findings: list[Finding], document: Document, context: Context) -> list[Finding]:
        """With DeepSpeed's answer, where it was asked."""
        answer = self._answered(Question.of(document.text, context))
        if answer is None or answer.release != context.release:
            return findings
        return list(merge(findings, answer, document, context, self._schema.fields).findings)

    def _apply(self, document: Document, pointer: str, typed: str) -> Document:
        field = self._schema.fields.get(pointer)
        if field is None:  # not a field of the form: a stale page or somebody else's request
            return document
        literal = literal_for(field, typed)
        if literal is None:
            return document.clear(pointer, keep=_KEPT_EMPTY)
        if pointer.startswith("/zero_optimization/") and document.value.get("zero_optimization") is True:
            document = document.set("/zero_optimization", '{"stage": 1}')  # what true means; its place becomes a block
        try:
            return document.set(pointer, literal)
        except DocumentError:  # deeper than a config goes, say: kept as text, so that a finding names it
            return document.set(pointer, json.dumps(typed))

    def _view(self, document: Document, context: Context, acked: Mapping[str, str] | None = None) -> View:
        own = self._checker.findings(document, context)
        findings = self._merged(own, document, context)
        problems: dict[str, str] = {}
        for finding in findings:
            problems.setdefault(finding.pointer, finding.severity.value)
        form = self._state(document, context.release) | {"problems": problems, "acked": dict(acked or {})}
        form["native"] = context.integration is Integration.NATIVE
        remember(document)
        # DeepSpeed's answer is about this text alone: what a fix takes away is told of dsgui's own findings.
        told = {one.identity for one in findings}
        wide = wide_fix(
            [one for one in own if one.identity in told],
            document,
            lambda one: self._checker.findings(one, context, fixes=False),
        )
        form["found"] = [_found(finding, document) for finding in findings[:MOST_SHOWN]]
        return View(document.text, findings_html(findings, subject(context), wide=wide), form, tuple(findings), wide)

    def _state(self, document: Document, release: str) -> FormValue:
        """The form's state with fields named by their number in `form_model`: it travels with every keystroke."""
        state = self.form(release).state(document)
        return {
            "release": release,
            "values": state.values,
            "idle": [self._numbers[pointer] for pointer in state.idle],
            "not_taken": {kind: [self._numbers[p] for p in pointers] for kind, pointers in state.not_taken.items()},
        }

    def form(self, release: str) -> Form:
        """The form for one DeepSpeed release."""
        if release not in self._forms:
            if len(self._forms) >= _MOST_RELEASES:
                self._forms.clear()
            self._forms[release] = Form(self._schema, release)
        return self._forms[release]


def _broken(text: str, error: DocumentError) -> View:
    """The view of a text that is no JSON."""
    run = _run_in(text)
    if run:
        return View(text, broken_html(error, None, run), {"broken": str(error)})
    found, place = _mending(text), place_of(error)
    form = {"broken": str(error)} | ({"place": {"line": place[0], "column": place[1]}} if place else {})
    return View(
        text, broken_html(error, readable(text), mended=(found, found.apply(text)) if found else None, text=text), form
    )


def _mending(text: str) -> Mending | None:
    try:
        check_size(text)
    except DocumentError:
        return None
    return mending(text)


def _found(finding: Finding, document: Document) -> dict[str, Any]:
    """A finding at its place: the line of its key, or of the block around a key that is missing."""
    place = finding.pointer
    while place and document.node(place) is None:
        place = place.rpartition("/")[0]
    line = document.line_of(place) or 1
    text = sendable(without_key(finding))
    told = {"pointer": finding.pointer, "severity": finding.severity.value, "text": text, "line": line}
    return told | {"rule": finding.rule}


def readable(text: str) -> Readable | None:
    """What a text that is no JSON says all the same, as hjson or as accelerate's YAML; None when it says nothing."""
    for read in (_hjson, _accelerate):
        try:
            check_size(text)
            return read(text)
        except DocumentError:
            continue
    return None


def _run_in(text: str) -> str:
    """Where a text belongs that is what another tool has of a run; "" for any other."""
    if accelerate_yaml.is_one(text) or text.lstrip().startswith("{"):
        return ""
    try:
        outline = recognised(text)
    except DocumentError:
        return ""
    return words("imported", "is_run", kind=str(outline.source), button=words("imported", "paste")) if outline else ""


def _hjson(text: str) -> Readable:
    """Python's words as the values they were meant as: hjson would take each for a text, comma and all."""
    meant, lines = as_json_words(text)
    tidied = tidy(meant)
    note = (noted(words("form_page", "python_words"), lines_told(lines)),) if lines else ()
    return Readable(
        tidied.text,
        (*note, *tidied.notes),
        words("form_page", "python_kind") if lines else words("reading", "as_hjson"),
    )


def _accelerate(text: str) -> Readable:
    if not accelerate_yaml.is_one(text):  # reading YAML takes seconds where any broken text may come with any keystroke
        raise DocumentError(said("reading", "not_accelerate"))
    found = accelerate_yaml.read(text)
    if not found.text:
        raise DocumentError(said("reading", "points_to", path=found.config_file))
    return Readable(found.text, found.notes, words("reading", "is_accelerate"))


def _converted(text: str) -> str:
    found = readable(text)
    return found.text if found else text
