"""What a user writes on a run: a name of its own, tags, a note, and whether it is archived. Kept beside the plan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dsgui.core.decoding import sequence, text
from dsgui.core.errors import RunError
from dsgui.core.texts.saying import Said, wrong

MOST_NAME, MOST_TAG, MOST_TAGS, MOST_NOTE = 120, 40, 20, 2000


@dataclass(frozen=True, slots=True)
class Label:
    """`name` is "" for the one that the run was launched with."""

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False

    def changed(self, change: Mapping[str, Any]) -> "Label":
        """With what the members of `change` say: `name`, `tags`, `add_tags`, `note`, `archived`. Raises `RunError` for
        what is too long or no such thing."""
        unknown = change.keys() - {*(one.name for one in fields(Label)), "add_tags"}
        if unknown:
            raise RunError(wrong("label.unknown", what=str(min(unknown))[:MOST_TAG]))
        try:
            return self._changed(change)
        except (TypeError, ValueError) as error:
            raise RunError(wrong("label.unreadable", why=str(error))) from error

    def _changed(self, change: Mapping[str, Any]) -> "Label":
        made = self
        if "name" in change:
            made = replace(made, name=_line("name", change["name"], MOST_NAME))
        if "tags" in change or "add_tags" in change:
            kept = change["tags"] if "tags" in change else list(made.tags)
            made = replace(made, tags=_tags([*sequence(kept, 1000), *sequence(change.get("add_tags", []), 1000)]))
        if "note" in change:
            made = replace(made, note=_bounded("note", text(change["note"]).strip(), MOST_NOTE))
        if "archived" in change:
            made = replace(made, archived=change["archived"] is True)
        return made

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "tags": list(self.tags), "note": self.note, "archived": self.archived}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Label":
        """Whoever wrote it: what is longer than dsgui writes is cut. Raises ValueError."""
        return cls(
            name=_one_line(text(value.get("name", "")))[:MOST_NAME],
            tags=tuple(_one_line(text(tag))[:MOST_TAG] for tag in sequence(value.get("tags", []), MOST_TAGS)),
            note=text(value.get("note", ""))[:MOST_NOTE],
            archived=value.get("archived", False) is True,
        )


def _tags(given: Iterable[Any]) -> tuple[str, ...]:
    """Each once, in any spelling, in the order in which they were added."""
    found: dict[str, str] = {}
    for one in given:
        if tag := _line("tag", one, MOST_TAG):
            found.setdefault(tag.casefold(), tag)
    if len(found) > MOST_TAGS:
        raise RunError(wrong("label.many_tags", count=str(len(found)), most=str(MOST_TAGS)))
    return tuple(found.values())


def _line(what: str, value: Any, most: int) -> str:
    return _bounded(what, _one_line(text(value)), most)


def _one_line(value: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in value).split())


def _long_name(given: dict[str, str]) -> Said:
    return wrong("label.long_name", count=given["count"], most=given["most"])


def _long_tag(given: dict[str, str]) -> Said:
    return wrong("label.long_tag", count=given["count"], most=given["most"])


def _long_note(given: dict[str, str]) -> Said:
    return wrong("label.long_note", count=given["count"], most=given["most"])


def _bounded(what: str, value: str, most: int) -> str:
    if len(value) > most:
        given = {"count": str(len(value)), "most": str(most)}
        too_long = {"name": _long_name, "tag": _long_tag, "note": _long_note}
        raise RunError(too_long[what](given))
    return value
