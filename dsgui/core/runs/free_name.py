"""The name of a run that nobody gave one: the usual one, with a number where another run has it."""

import re
from collections.abc import Collection
from itertools import count


def free_name(name: str, taken: Collection[str]) -> str:
    """`T5 translates`, then `T5 translates 2`. One that ends with a number is counted on from there."""
    if name not in taken:
        return name
    counted = re.fullmatch(r"(.+) (\d{1,2})", name)  # 512 is a size
    base, first = (counted[1], int(counted[2])) if counted else (name, 1)
    return next(one for number in count(first + 1) if (one := f"{base} {number}") not in taken)
