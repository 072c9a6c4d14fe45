"""JSON pointers (RFC 6901): the name of a place in a config, such as `/zero_optimization/stage`."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from dsgui.core.texts.saying import words


class Missing:
    """The type of `MISSING`: a place that the config does not have (unlike `None`, which is JSON's null)."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


@lru_cache(maxsize=4096)
def split(pointer: str) -> tuple[str, ...]:
    """`/a/b~1c` → `("a", "b/c")`; the empty pointer is the whole document."""
    if not pointer:
        return ()
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.removeprefix("/").split("/"))


def join(parts: Sequence[object]) -> str:
    """The inverse of `split`."""
    return "".join(["/" + _escaped(str(part)) for part in parts])


def child(pointer: str, part: str) -> str:
    """The pointer of the member `part` of the value at `pointer`."""
    return f"{pointer}/{_escaped(part)}"


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1") if "~" in part or "/" in part else part


def dotted(pointer: str) -> str:
    """The spelling used in text: `/fp16/enabled` → `fp16.enabled`."""
    return ".".join(split(pointer)) or words("configs", "the_config")


def lookup(value: Any, pointer: str) -> Any:
    """The value at `pointer`, or `MISSING`."""
    for part in split(pointer):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value
