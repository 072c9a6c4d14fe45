"""The name of a run that nobody gave one: the usual one, with a number where another run has it."""

import re
from collections.abc import Collection
from itertools import count

_DIGITS = 2  # 512 is a size


def free_name(name: str, taken: Collection[str]) -> str:
    """`T5 translates`, then `T5 translates 2`. A number that a name ends with is its own, as in `Llama 3`, which is
    followed by `Llama 3 (2)`; it counts runs where one of them is called as the rest of the name."""
    if name not in taken:
        return name
    base, written, first = _counted(name, taken)
    return next(one for number in count(first + 1) if (one := f"{base} {written.format(number)}") not in taken)


def _counted(name: str, taken: Collection[str]) -> tuple[str, str, int]:
    """What is counted, how its number is written, and the last one."""
    if found := re.fullmatch(r"(.+) \((\d{1,2})\)", name):
        return found[1], "({})", int(found[2])
    found = re.fullmatch(r"(.+) (\d+)", name)
    if found and found[1] in taken and len(found[2]) <= _DIGITS:
        return found[1], "{}", int(found[2])
    return (name, "({})", 1) if found else (name, "{}", 1)
