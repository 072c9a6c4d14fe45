"""The schema and presentation documents as fields: what a key is, how the form shows it, how typed text becomes JSON.

A field is declared once, in `schemas/ds_config.schema.json`; `schemas/presentation.json` says only where and when it
shows. Nothing here knows a key by name.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from dsgui.core.context import version_tuple
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.pointer import MISSING, Missing, dotted, join, lookup, split
from dsgui.core.versions import at_version


class FieldKind(Enum):
    """Which control a field gets; its value is what the page's script switches on."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LIST = "list"
    OBJECT = "object"
    TEXT = "text"


_KINDS = {
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.BOOLEAN,
    "array": FieldKind.LIST,
    "object": FieldKind.OBJECT,
    "string": FieldKind.TEXT,
}


@dataclass(frozen=True, slots=True)
class Active:
    """A field does something only while the value at `pointer` is one of `values`; else `otherwise` is shown."""

    pointer: str
    values: tuple[Any, ...]
    otherwise: str

    default: Any = MISSING  # of the key at `pointer`: what counts while the file does not set it

    def holds(self, config: Mapping[str, Any]) -> bool:
        value = lookup(config, self.pointer)
        value = self.default if value is MISSING else value
        return any(value == allowed and _is_bool(value) == _is_bool(allowed) for allowed in self.values)


def _is_bool(value: Any) -> bool:
    """JSON's true is not 1, while 2 and 2.0 are one number."""
    return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Field:
    """One key of the config. `default` is DeepSpeed's own, `MISSING` where it has none; `model` is how DeepSpeed reads
    the block: "pydantic" (converts, refuses unknown keys) or "raw" (takes what it finds)."""

    pointer: str
    title: str
    description: str
    kind: FieldKind
    choices: tuple[Any, ...] = ()
    suggestions: tuple[str, ...] = ()
    default: Any = MISSING
    auto: str = ""  # who fills "auto": "hf" the HF Trainer, "deepspeed" DeepSpeed itself
    minimum: float | None = None
    exclusive_minimum: float | None = None
    maximum: float | None = None
    unit: str = ""
    since: str = ""
    removed: str = ""
    for_types: tuple[str, ...] = ()
    model: str = "raw"
    deprecated: bool = False
    renamed_to: str = ""
    common: bool = False
    active: Active | None = None

    @property
    def key(self) -> str:
        """The dotted spelling people know: `zero_optimization.stage`."""
        return dotted(self.pointer)

    @property
    def takes_auto(self) -> bool:
        """Whether somebody fills "auto" here, and it is not one of the choices anyway."""
        return bool(self.auto) and "auto" not in self.choices

    @property
    def expected(self) -> str:
        """What the key takes, for sentences: `an integer of 1 or more, or “auto”`."""
        text = self._expected_main()
        return f"{text}, or “auto”" if self.takes_auto else text

    def _expected_main(self) -> str:
        if self.choices:
            return "one of " + ", ".join(json.dumps(choice) for choice in self.choices)
        noun = {
            FieldKind.INTEGER: "a whole number",
            FieldKind.NUMBER: "a number",
            FieldKind.BOOLEAN: "true or false",
            FieldKind.LIST: "a list",
            FieldKind.OBJECT: "an object",
            FieldKind.TEXT: "text",
        }[self.kind]
        return noun + self._range()

    def _range(self) -> str:
        low = f" above {self.exclusive_minimum:g}" if self.exclusive_minimum is not None else ""
        if self.minimum is not None:
            low = f" of {self.minimum:g} or more"
        if self.maximum is not None:
            return f"{low} and at most {self.maximum:g}"
        return low


@dataclass(frozen=True, slots=True)
class Section:
    """One tab of the form."""

    id: str
    title: str
    intro: str
    fields: tuple[Field, ...]


class Schema:
    """Both documents joined. `document` is the JSON Schema itself, for validators; `version` the DeepSpeed release that
    it describes, "" for all of them at once."""

    def __init__(self, document: Mapping[str, Any], presentation: Mapping[str, Any], version: str = "") -> None:
        self.document = document
        self.version = version
        self._presentation = presentation
        self._views: dict[str, Schema] = {}

    def at(self, version: str) -> "Schema":
        """The schema as it stands in DeepSpeed `version`: its keys, defaults and ranges, and no others."""
        if version not in self._views:
            self._views[version] = Schema(at_version(self.document, version), self._presentation, version)
        return self._views[version]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The tabs of the form. Of one release: without the fields that it does not have."""
        return tuple(self._section(entry) for entry in self._presentation["sections"])

    @cached_property
    def fields(self) -> dict[str, Field]:
        """Every field that the form shows, by pointer."""
        return {field.pointer: field for section in self.sections for field in section.fields}

    def node(self, pointer: str) -> Mapping[str, Any] | None:
        """The schema of the value at `pointer`, or None when the schema does not know the key."""
        node: Mapping[str, Any] | None = self.document
        for part in split(pointer):
            node = child_of(node, part) if node is not None else None
        return node

    def field(self, pointer: str) -> Field | None:
        """The field at `pointer`, shown by the form or not."""
        if pointer in self.fields:
            return self.fields[pointer]
        node = self.node(pointer)
        return self._field(pointer, node, {}) if node is not None else None

    def keys_of(self, pointer: str) -> tuple[str, ...]:
        """The keys the schema knows inside the object at `pointer`."""
        node = self.node(pointer)
        return tuple(main_branch(node).get("properties", {})) if node is not None else ()

    def model_of(self, pointer: str) -> str:
        """How DeepSpeed reads the block that holds `pointer`."""
        parent = self.node(join(split(pointer)[:-1]))
        return str(main_branch(parent).get("x-model", "raw")) if parent is not None else "raw"

    def _section(self, entry: Mapping[str, Any]) -> Section:
        fields = (self._shown_field(shown) for shown in entry["fields"])
        return Section(entry["id"], entry["title"], entry.get("intro", ""), tuple(f for f in fields if f))

    def _shown_field(self, shown: Mapping[str, Any]) -> Field | None:
        node = self.node(shown["pointer"])
        if node is None and not self.version:
            raise DocumentError(f"presentation.json shows {shown['pointer']}, which the schema does not have")
        return self._field(shown["pointer"], node, shown) if node is not None else None

    def _field(self, pointer: str, node: Mapping[str, Any], shown: Mapping[str, Any]) -> Field:
        main, active = main_branch(node), shown.get("active")
        return Field(
            pointer=pointer,
            title=node.get("title", split(pointer)[-1]),
            description=node.get("description", ""),
            kind=_kind(main),
            choices=tuple(main.get("enum", ())),
            suggestions=tuple(str(e) for e in dict.fromkeys((*main.get("examples", ()), *node.get("examples", ())))),
            default=node.get("default", MISSING),
            auto=node.get("x-auto", ""),
            minimum=main.get("minimum"),
            exclusive_minimum=main.get("exclusiveMinimum"),
            maximum=main.get("maximum"),
            unit=node.get("x-unit", ""),
            since=node.get("x-since", ""),
            removed=node.get("x-removed", ""),
            for_types=tuple(node.get("x-for-types", ())),
            model=self.model_of(pointer),
            common=bool(shown.get("common")),
            deprecated=bool(node.get("deprecated")),
            renamed_to=node.get("x-renamed-to", ""),
            active=self._active(active) if active else None,
        )

    def _active(self, entry: Mapping[str, Any]) -> Active:
        default = (self.node(entry["pointer"]) or {}).get("default", MISSING)
        return Active(entry["pointer"], tuple(entry["in"]), entry["otherwise"], default)


def main_branch(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The branch that describes the value itself: the first of an `anyOf` (others are "auto" or an old spelling)."""
    branches = node.get("anyOf")
    return branches[0] if branches else node


def child_of(node: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """The schema of the member or item `part`: a key of its own, one of a map with free names, or an item of a list."""
    main = main_branch(node)
    if part in main.get("properties", {}):
        child: Mapping[str, Any] = main["properties"][part]
        return child
    free = main.get("items") if part.isdecimal() and "items" in main else main.get("additionalProperties")
    return free if isinstance(free, Mapping) else None


def _kind(main: Mapping[str, Any]) -> FieldKind:
    if "enum" in main:
        return FieldKind.CHOICE
    types = main.get("type", "string")
    first = types if isinstance(types, str) else next((t for t in types if t != "null"), "string")
    return _KINDS.get(first, FieldKind.TEXT)


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
        return json.dumps(typed, ensure_ascii=False)
    return text if _is_scalar(text) else json.dumps(typed, ensure_ascii=False)


def shown_text(field: Field, literal: str) -> str:
    """What a field shows for a value: text without its quotes, unless they are what tells it from a number."""
    if not literal.startswith('"'):
        return literal
    text = str(json.loads(literal))
    return text if literal_for(field, text) == literal or literal_for(field, text) is None else literal


def _list_literal(text: str) -> str:
    if text.startswith("["):
        return text if _is_json(text) else json.dumps(text, ensure_ascii=False)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return "[" + ", ".join(part if _is_scalar(part) else json.dumps(part, ensure_ascii=False) for part in parts) + "]"


def _is_json(text: str) -> bool:
    try:
        Document('{"v": ' + text + "}")
    except DocumentError:
        return False
    return True


def _is_scalar(text: str) -> bool:
    return text[0] not in '[{"' and _is_json(text)


# ------------------------------------------------------------------------------------------------------- form state
@dataclass(frozen=True, slots=True)
class FormState:
    """What the form shows for a document. `values`: text by pointer, set fields only. `inactive`: why a field does
    nothing now. `hidden`: fields that mean nothing here and are not set: parameters that the chosen optimizer or
    scheduler does not take, keys that the release does not have. `defaults`: those of the release that differ from the
    newest one's, as text."""

    values: dict[str, str]
    inactive: dict[str, str]
    hidden: tuple[str, ...]
    defaults: dict[str, str]


def form_state(schema: Schema, document: Document, release: str) -> FormState:
    """The form's view of `document`, for one DeepSpeed release."""
    config, view = document.value, schema.at(release).fields
    values = dict(_values(schema, document))
    absent = {pointer: _absence(field, release) for pointer, field in schema.fields.items() if pointer not in view}
    inactive = {**dict(_inactive(view.values(), config)), **absent}
    unset = (field for field in schema.fields.values() if field.pointer not in values)
    hidden = tuple(f.pointer for f in unset if f.pointer in absent or not _taken(f, config))
    return FormState(values, inactive, hidden, dict(_other_defaults(schema.fields, view)))


def default_text(field: Field) -> str:
    """A field's default as the form shows it: "" where DeepSpeed has none."""
    if field.default is MISSING or field.default is None:
        return ""
    return field.default if isinstance(field.default, str) else json.dumps(field.default)


def _values(schema: Schema, document: Document) -> Iterator[tuple[str, str]]:
    for pointer, field in schema.fields.items():
        literal = document.literal(pointer)
        if literal is not None:
            yield pointer, shown_text(field, literal)


def _absence(field: Field, release: str) -> str:
    if field.since and version_tuple(release) < version_tuple(field.since):
        return f"Came with DeepSpeed {field.since}; {release} does not have it."
    return f"Removed in DeepSpeed {field.removed}." if field.removed else f"Not in DeepSpeed {release}."


def _inactive(fields: Iterable[Field], config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in fields:
        if not _taken(field, config):
            yield field.pointer, f"{_chosen_type(field, config)} does not take this parameter."
        elif field.active and not field.active.holds(config):
            yield field.pointer, field.active.otherwise


def _other_defaults(fields: Mapping[str, Field], view: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    for pointer, field in view.items():
        if field.default != fields[pointer].default:
            yield pointer, default_text(field)


def _taken(field: Field, config: Mapping[str, Any]) -> bool:
    chosen = _chosen_type(field, config)
    return not field.for_types or not chosen or chosen.lower() in {name.lower() for name in field.for_types}


def _chosen_type(field: Field, config: Mapping[str, Any]) -> str:
    """The optimizer or scheduler type that a parameter belongs to: `/optimizer/params/lr` → the value of its `type`."""
    value: Any | Missing = lookup(config, join((*split(field.pointer)[:1], "type")))
    return value if isinstance(value, str) else ""
