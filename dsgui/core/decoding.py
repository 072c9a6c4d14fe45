"""Values out of a JSON file that may hold anything: each is what is meant, or ValueError says what stands there.

This module is sent to other machines without texts: an `Unexpected` has codes of the kind "decoding", for who tells it
to a reader."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
_SHOWN = 40
MOST_SECONDS = 1e11  # a date that the C library still writes
MOST_PID = 1 << 30


class Unexpected(ValueError):
    """`seen` stands where something else was `expected`; each a code, and what fills the code's place."""

    def __init__(self, seen: tuple[str, str], expected: tuple[str, str]) -> None:
        super().__init__(f"{' '.join(filter(None, seen))}, expected {' '.join(filter(None, expected))}")
        self.seen = seen
        self.expected = expected


def text(value: Any) -> str:
    """Raises ValueError."""
    if not isinstance(value, str):
        raise unexpected(value, "text")
    return value


def number(value: Any) -> float:
    """A finite number of seconds, steps or the like. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_SECONDS:
        raise unexpected(value, "number")
    return value


def whole(value: Any, low: int, high: int) -> int:
    """Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise unexpected(value, "whole", f"{low} – {high}")
    return value


def sequence(value: Any, most: int) -> list[Any]:
    """Raises ValueError."""
    if not isinstance(value, list) or len(value) > most:
        raise unexpected(value, "list_of_most", str(most))
    return value


def optional(read: Callable[[Any], T], value: Any) -> T | None:
    """None stays None. Raises ValueError."""
    return None if value is None else read(value)


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are texts and numbers; what is nested is left out."""
    return {name: one for name, one in value.items() if one is None or isinstance(one, str | int | float)}


def finite(literal: str) -> float:
    """For `json.loads`: a number that JSON can give back. Raises ValueError."""
    read = float(literal)
    if not math.isfinite(read):
        raise Unexpected(("value", literal[:_SHOWN]), ("json_number", ""))
    return read


def unexpected(value: Any, code: str, place: str = "") -> Unexpected:
    """The error for a value that stands where what `code` names was expected."""
    return Unexpected(_seen(value), (code, place))


def _seen(value: Any) -> tuple[str, str]:
    if isinstance(value, dict | list):  # what is in it is not looked at
        return "object" if isinstance(value, dict) else "list", str(len(value))
    if _is_long(value):
        return "long_number", ""
    return "value", value[:_SHOWN] if isinstance(value, str) else json.dumps(value, default=repr)


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > 200  # Python writes no number of thousands of digits
