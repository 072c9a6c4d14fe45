"""Values out of a JSON file that may hold anything: each is what is meant, or ValueError says what stands there."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
_SHOWN = 40
MOST_SECONDS = 1e11  # a date that the C library still writes
MOST_PID = 1 << 30


def text(value: Any) -> str:
    """Raises ValueError."""
    if not isinstance(value, str):
        raise _unexpected(value, "a text")
    return value


def number(value: Any) -> float:
    """A finite number of seconds, steps or the like. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_SECONDS:
        raise _unexpected(value, "a number")
    return value


def whole(value: Any, low: int, high: int) -> int:
    """Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _unexpected(value, f"a whole number of {low} to {high}")
    return value


def sequence(value: Any, most: int) -> list[Any]:
    """Raises ValueError."""
    if not isinstance(value, list) or len(value) > most:
        raise _unexpected(value, f"a list of at most {most}")
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
        raise ValueError(f"{literal[:_SHOWN]} is not a JSON number")
    return read


def _unexpected(value: Any, expected: str) -> ValueError:
    if isinstance(value, dict | list):  # what is in it is not looked at
        seen = f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    else:
        seen = value[:_SHOWN] if isinstance(value, str) else "a long number" if _is_long(value) else repr(value)
    return ValueError(f"{seen} stands where {expected} was expected")


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > 200  # Python writes no number of thousands of digits
