"""The schema and presentation documents as fields: what a key is, and where and when the form shows it.

A field is declared once, in `schemas/ds_config.schema.json`; `schemas/presentation.json` says only where and when it is
shown. Nothing here knows a key by name.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from dsgui.core.config.pointer import MISSING, dotted, join, lookup, split
from dsgui.core.config.versions import at_version
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, listed, phrase


class FieldKind(Enum):
    """Which control a field gets; the page's script distinguishes controls by its value."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LIST = "list"
    OBJECT = "object"
    TEXT = "text"


_MOST_VIEWS = 32
_NONE: Mapping[str, Any] = {}
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
    """A field has an effect only while the value at `pointer` is one of `values`; otherwise `otherwise` is shown."""

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
    the block: "pydantic" (converts, refuses unknown keys) or "raw" (takes values as they are)."""

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
    exclusive_maximum: float | None = None
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
        """Whether "auto" is filled in here, and is not one of the choices anyway."""
        return bool(self.auto) and "auto" not in self.choices

    @property
    def expected(self) -> Said:
        """What the key takes, for sentences: `an integer of 1 or more, or “auto”`."""
        itself = self.expected_itself
        return phrase("or_auto", expected=itself) if self.takes_auto else itself

    @property
    def expected_itself(self) -> Said:
        """The same without “auto”."""
        if self.choices:
            return phrase("one_of", choices=listed(json.dumps(choice) for choice in self.choices))
        return self._in_range(phrase(_NOUNS[self.kind]))

    def _in_range(self, noun: Said) -> Said:
        low, above = self.minimum, self.exclusive_minimum
        if low is not None:
            noun = phrase("from", expected=noun, low=f"{low:g}")
        elif above is not None:
            noun = phrase("above", expected=noun, low=f"{above:g}")
        has_low, high, below = (low, above) != (None, None), self.maximum, self.exclusive_maximum
        if high is not None:
            return phrase("and_at_most" if has_low else "at_most", expected=noun, high=f"{high:g}")
        if below is not None:
            return phrase("and_below" if has_low else "below", expected=noun, high=f"{below:g}")
        return noun


_NOUNS = {
    FieldKind.INTEGER: "whole_number",
    FieldKind.NUMBER: "number",
    FieldKind.BOOLEAN: "true_or_false",
    FieldKind.LIST: "list",
    FieldKind.OBJECT: "object",
    FieldKind.TEXT: "text",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One tab of the form."""

    id: str
    title: str
    intro: str
    fields: tuple[Field, ...]


class Schema:
    """Both documents joined. `document` is the JSON Schema itself, for validators; `version` the DeepSpeed release that
    it describes, "" for all releases at once."""

    def __init__(self, document: Mapping[str, Any], presentation: Mapping[str, Any], version: str = "") -> None:
        self.document = document
        self.version = version
        self._presentation = presentation
        self._views: dict[str, Schema] = {}

    def at(self, version: str) -> "Schema":
        """The schema for DeepSpeed `version`: exactly its keys, defaults and ranges."""
        if version not in self._views:
            if len(self._views) >= _MOST_VIEWS:  # releases are names that a request may make up
                self._views.clear()
            self._views[version] = Schema(at_version(self.document, version), self._presentation, version)
        return self._views[version]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The tabs of the form; for one release, without the fields that it does not have."""
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

    def homes(self, key: str) -> tuple[str, ...]:
        """Every place where the schema has a key of that name, without old names."""
        return self._homes.get(key, ())

    @cached_property
    def _homes(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for pointer in _pointers(self.document, ""):
            key = split(pointer)[-1]
            found[key] = (*found.get(key, ()), pointer)
        return found

    def model_of(self, pointer: str) -> str:
        """How DeepSpeed reads the block that contains `pointer`."""
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
            exclusive_maximum=main.get("exclusiveMaximum"),
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
    """The schema of the member or item `part`: a declared key, a member of a map with free names, or an item of a
    list."""
    main = main_branch(node)
    child: Mapping[str, Any] | None = main.get("properties", _NONE).get(part)
    if child is not None:
        return child
    free = main.get("items") if part.isdecimal() and "items" in main else main.get("additionalProperties")
    return free if isinstance(free, Mapping) else None


def _pointers(node: Mapping[str, Any], pointer: str) -> Iterator[str]:
    """Every key inside `node` that is not deprecated."""
    for key, child in main_branch(node).get("properties", _NONE).items():
        if not child.get("deprecated"):
            yield pointer + join((key,))
            yield from _pointers(child, pointer + join((key,)))


def _kind(main: Mapping[str, Any]) -> FieldKind:
    if "enum" in main:
        return FieldKind.CHOICE
    types = main.get("type", "string")
    first = types if isinstance(types, str) else next((t for t in types if t != "null"), "string")
    return _KINDS.get(first, FieldKind.TEXT)
