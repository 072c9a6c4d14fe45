"""Two configs side by side: which keys differ, with each value as its file spells it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dsgui.core.config import pointer as pointers
from dsgui.core.config.document import Document, Node


class Kind(StrEnum):
    """How a key differs; the value is the word on the page."""

    CHANGED = "changed"
    ONLY_LEFT = "only left"
    ONLY_RIGHT = "only right"


@dataclass(frozen=True, slots=True)
class Difference:
    """One key that differs. `left` and `right` are its text in each file, None where it is absent."""

    pointer: str
    kind: Kind
    left: str | None
    right: str | None


def differences(left: Document, right: Document) -> tuple[Difference, ...]:
    """What differs, leaf by leaf: in the left file's order, then what only the right one has.

    Two spellings of the same value (`5e8`, `500000000`) are equal. A block that one side lacks is listed leaf by leaf.
    An object compared with anything else, including an empty object, is a single change: setting the changed and the
    right-only keys in the left file, and removing its left-only ones, yields the right file's values.
    """
    found = [
        Difference(pointers.join(parts), _kind(a, b), _literal(left, a), _literal(right, b))
        for parts, a, b in _leaves((), left.root, right.root)
        if not (a and b and same(a.value, b.value))
    ]
    return tuple(sorted(found, key=lambda difference: difference.kind is Kind.ONLY_RIGHT))


def leaves(document: Document) -> dict[str, str]:
    """Every leaf by its pointer, as the file spells it."""
    found = _leaves((), document.root, None)
    return {pointers.join(parts): document.text[node.start : node.end] for parts, node, _ in found if node}


def same(left: Any, right: Any) -> bool:
    """Equal as JSON values: 1 equals 1.0, but neither equals true; the order of an object's keys does not matter."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _leaves(
    parts: tuple[str, ...], left: Node | None, right: Node | None
) -> Iterator[tuple[tuple[str, ...], Node | None, Node | None]]:
    """Every leaf of either side, with what the other side has there."""
    if not _is_walked(parts, left, right):
        yield parts, left, right
        return
    a, b = _members(left), _members(right)
    for key in a | b:
        yield from _leaves((*parts, key), a.get(key), b.get(key))


def _is_walked(parts: tuple[str, ...], left: Node | None, right: Node | None) -> bool:
    """True where members are compared one by one: each side that exists has some.

    The config as a whole is always walked, so that compared with an empty one each key of the other is listed.
    """
    return not parts or all(node.members for node in (left, right) if node)


def _members(node: Node | None) -> dict[str, Node]:
    return {member.key: member.node for member in node.members} if node else {}


def _kind(left: Node | None, right: Node | None) -> Kind:
    if left is None:
        return Kind.ONLY_RIGHT
    return Kind.ONLY_LEFT if right is None else Kind.CHANGED


def _literal(document: Document, node: Node | None) -> str | None:
    return document.text[node.start : node.end] if node else None
