"""How sizes are said: bytes inside, GiB on screen."""

MIB, GIB = 1 << 20, 1 << 30


def in_gib(count: float, digits: int = 1) -> str:
    """The number alone, for a sentence that has the unit."""
    return f"{count / GIB:.{digits}f}"


def gib(count: float, digits: int = 1) -> str:
    """`1.5 GiB`."""
    return f"{in_gib(count, digits)} GiB"


def size(count: int) -> str:
    """`1.5 GiB`, `8 MiB`: for sentences."""
    unit, name = (GIB, "GiB") if count >= GIB else (MIB, "MiB")
    return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
