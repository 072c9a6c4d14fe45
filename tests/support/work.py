"""How much work a function is, said the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType


def calls_in(does: Callable[[], object]) -> int:
    """How many functions of Python it calls."""
    count = 0

    def note(_frame: FrameType, event: str, _given: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        does()
    finally:
        sys.setprofile(before)
    return count
