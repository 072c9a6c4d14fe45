"""How sizes are said: bytes inside; memory in GiB on screen, files and what is free of a disk in GB, as the page and
file managers count them."""

from decimal import ROUND_HALF_UP, Decimal

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
_OF_FILES = ("bytes", "KB", "MB", "GB", "TB")


def in_gib(count: float, digits: int = 1) -> str:
    """The number alone, for a sentence that has the unit."""
    return f"{count / GIB:.{digits}f}"


def gib(count: float, digits: int = 1) -> str:
    """`1.5 GiB`; `1.8 TiB` from what is said as 1024 GiB on, as `gib` of `ui/static/common/format.js` has it."""
    return f"{count / TIB:.1f} TiB" if _is_of_tib(count, digits) else f"{in_gib(count, digits)} GiB"


def _is_of_tib(count: float, digits: int) -> bool:
    return float(in_gib(count, digits)) >= TIB / GIB


def roughly(count: float) -> str:
    """How much memory there is too little: `171 GiB`, `1.3 GiB`, `0.01 GiB`; as `roughly` of `format.js` has it."""
    if count > 0 and float(in_gib(count, 2)) == 0:
        return "<0.01 GiB"
    digits = next((digits for digits, below in ((2, 1), (1, 10)) if float(in_gib(count, digits)) < below), 0)
    return gib(count, digits)


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two sizes that are said next to each other, as `roughly` has them; where both round alike, with as many digits
    more as it takes: `90.9 GiB` and `91.2 GiB`."""
    told = roughly(one), roughly(other)
    for digits in range(1, 4):
        if told[0] != told[1] or one == other:
            break
        told = f"{in_gib(one, digits)} GiB", f"{in_gib(other, digits)} GiB"
    return told


def about(count: float, limit: float | None = None) -> str:
    """What a prediction is good for, `≈ 171 GiB`, as the page's bars have it; so near to its `limit` that rounding
    might say the other of the two to be more, with a digit more."""
    return f"≈ {gib(count) if limit is not None and abs(count - limit) < GIB else roughly(count)}"


def beside(count: float, other: float, digits: int = 1) -> str:
    """`1.5`, where `other`, which is said next to it, has the unit."""
    return gib(count, digits) if _is_of_tib(max(count, other), digits) else in_gib(count, digits)


def size(count: int) -> str:
    """Of memory, `1.5 GiB`, `8 MiB`: for sentences."""
    unit, name = (GIB, "GiB") if count >= GIB else (MIB, "MiB")
    return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"


def file_size(count: int) -> str:
    """Of files, `1.5 GB`, `12 MB`: what `size` of `ui/static/common/format.js` says of them."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_OF_FILES) - 1:
        value, unit = value / 1000, unit + 1
    digits = Decimal("0.1") if unit and value < 10 else Decimal(1)
    number = str(Decimal(value).quantize(digits, ROUND_HALF_UP))
    return f"{number} {_OF_FILES[unit]}"
