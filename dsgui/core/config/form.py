"""The form's side of a field: typed text ⇄ JSON literal, and what the form shows for a document in one release."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import version_tuple
from dsgui.core.config.document import Document, json_text
from dsgui.core.config.pointer import MISSING, lookup, split
from dsgui.core.config.schema import Active, Field, FieldKind, Schema
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import words


# ----------------------------------------------------------------------------------------- typed text ⇄ JSON literal
def literal_for(field: Field, typed: str) -> str | None:
    """The JSON text for what was typed into a field; None unsets it. Numbers stay as typed. What does not fit the
    field is kept as a JSON string, so that nothing typed is lost and a finding can name it."""
    text = typed.strip()
    if not text:
        return None
    if text == "auto":
        return '"auto"'
    if text == "null" or (text.startswith('"') and _is_json(text)):
        return text
    if field.kind is FieldKind.LIST:
        return _list_literal(text)
    if field.kind is FieldKind.OBJECT and _is_json(text):
        return text
    if field.kind is FieldKind.TEXT or (field.kind is FieldKind.CHOICE and text in field.choices):
        return json_text(typed)
    return text if _is_scalar(text) else json_text(typed)


def shown_text(field: Field, literal: str) -> str:
    """What a field shows for a value: text without its quotes, unless they are what distinguishes it from a number."""
    if not literal.startswith('"'):
        return literal
    text = str(json.loads(literal))
    return text if literal_for(field, text) == literal or literal_for(field, text) is None else literal


def _list_literal(text: str) -> str:
    if text.startswith("["):
        return text if _is_json(text) else json_text(text)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return "[" + ", ".join(part if _is_scalar(part) else json_text(part) for part in parts) + "]"


def _is_json(text: str) -> bool:
    try:
        return len(Document('{"v": ' + text + "}").root.members) == 1
    except DocumentError:
        return False


def _is_scalar(text: str) -> bool:
    return text[0] not in '[{"' and _is_json(text)


# ------------------------------------------------------------------------------------------------------- form state
@dataclass(frozen=True, slots=True)
class FormState:
    """What the form shows for a document. `values`: text by pointer, set fields only. `idle`: fields whose `active`
    condition does not hold. `not_taken`: by the name of the chosen optimizer or scheduler, the parameters it does not
    take."""

    values: dict[str, str]
    idle: tuple[str, ...]
    not_taken: dict[str, tuple[str, ...]]


class Form:
    """The form for one DeepSpeed release. `absent`: why a field is not there, by pointer. `defaults`: those that differ
    from the newest release's, as text. Neither depends on a document, and the page asks for them once."""

    def __init__(self, schema: Schema, release: str) -> None:
        self._fields = schema.fields
        here = schema.at(release).fields
        self.absent = {p: _absence(f, release) for p, f in schema.fields.items() if p not in here}
        self.defaults = {p: default_text(f) for p, f in here.items() if f.default != schema.fields[p].default}
        self._typed = _by_block(here)
        self._conditions = _by_condition(here)

    def state(self, document: Document) -> FormState:
        """What the form shows for `document`."""
        config = document.value
        idle = tuple(p for active, pointers in self._conditions.items() if not active.holds(config) for p in pointers)
        return FormState(dict(self._values(document)), idle, self._not_taken(config))

    def _values(self, document: Document) -> Iterator[tuple[str, str]]:
        for pointer, node in document.nodes:
            field = self._fields.get(pointer)
            if field:
                yield pointer, shown_text(field, document.text[node.start : node.end])

    def _not_taken(self, config: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for block, fields in self._typed.items():
            kind = lookup(config, f"/{block}/type")
            if isinstance(kind, str) and kind:
                found[kind] = tuple(f.pointer for f, takers in fields if kind.lower() not in takers)
        return found


def _by_block(fields: Mapping[str, Field]) -> dict[str, list[tuple[Field, set[str]]]]:
    """The fields that only some types take, with those types in lower case, by the block whose `type` decides."""
    found: dict[str, list[tuple[Field, set[str]]]] = {}
    for pointer, field in fields.items():
        if field.for_types:
            found.setdefault(split(pointer)[0], []).append((field, {name.lower() for name in field.for_types}))
    return found


def _by_condition(fields: Mapping[str, Field]) -> dict[Active, list[str]]:
    """Pointers by the condition they share, so that each condition is evaluated once."""
    found: dict[Active, list[str]] = {}
    for pointer, field in fields.items():
        if field.active:
            found.setdefault(field.active, []).append(pointer)
    return found


def default_text(field: Field) -> str:
    """A field's default as the form shows it: "" where DeepSpeed has none."""
    if field.default is MISSING or field.default is None:
        return ""
    return field.default if isinstance(field.default, str) else json.dumps(field.default)


def _absence(field: Field, release: str) -> str:
    if field.since and version_tuple(release) < version_tuple(field.since):
        return words("configs", "came_with", since=field.since, release=release)
    if field.removed:
        return words("configs", "removed_in", removed=field.removed)
    return words("configs", "not_in", release=release)
