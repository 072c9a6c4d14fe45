"""Two configs side by side: which keys differ, in the words each file uses for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dsgui.core.config import pointer as pointers
from dsgui.core.config.document import Document, Node


class Kind(StrEnum):
    """How a key differs; the value is the word for the page."""

    CHANGED = "changed"
    ONLY_LEFT = "only left"
    ONLY_RIGHT = "only right"


@dataclass(frozen=True, slots=True)
class Difference:
    """One key that differs. `left` and `right` are the text each file has for it, None where it has none."""

    pointer: str
    kind: Kind
    left: str | None
    right: str | None


def differences(left: Document, right: Document) -> tuple[Difference, ...]:
    """What differs, leaf by leaf: in the left file's order, then what only the right one has.

    Another spelling of the same value (`5e8`, `500000000`) is no difference. A block that one side lacks lists its
    leaves. An object against anything else, an empty object included, is one change of the whole: setting the
    changed and the right-only keys in the left file and removing its left-only ones gives the right file's values.
    """
    found = [
        Difference(pointers.join(parts), _kind(a, b), _literal(left, a), _literal(right, b))
        for parts, a, b in _leaves((), left.root, right.root)
        if not (a and b and same(a.value, b.value))
    ]
    return tuple(sorted(found, key=lambda difference: difference.kind is Kind.ONLY_RIGHT))


def same(left: Any, right: Any) -> bool:
    """Equal as JSON values: 1 is 1.0, but neither is true; the order of an object's keys does not count."""
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
    """Every leaf of either side with what the other has in its place."""
    if not _is_walked(parts, left, right):
        yield parts, left, right
        return
    a, b = _members(left), _members(right)
    for key in a | b:
        yield from _leaves((*parts, key), a.get(key), b.get(key))


def _is_walked(parts: tuple[str, ...], left: Node | None, right: Node | None) -> bool:
    """True where members are compared one by one: every side that is there has some.

    The config as a whole is always walked, so that against an empty one each key of the other is listed.
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
