"""Curves as they are stored: a list of series, and records of a fixed length.

A run may log a million steps and be watched for days: a reader reads arrays, not text, and continues from the byte
where it stopped.
"""

import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.decoding import optional, text, whole
from dsgui.core.metrics.points import OUTPUT, Point
from dsgui.core.metrics.readable import readable

# Series number, epoch, step, seconds since the run began, value; NaN where a step or an epoch is not known.
RECORD = struct.Struct("<Ifddd")
MOST_SERIES = 400
_USUAL = {"kind": "train", "source": OUTPUT, "node": ""}


@dataclass(frozen=True, slots=True)
class Series:
    """One curve. `kind` as a point's, or "sample" for telemetry, whose `node` is "" for the launching machine. The
    names come from scripts and other machines and are made readable here."""

    name: str
    kind: str = "train"
    rank: int | None = None
    source: str = OUTPUT
    node: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", readable(self.name))
        object.__setattr__(self, "node", readable(self.node))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "rank": self.rank, "source": self.source, "node": self.node}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Series":
        """Raises KeyError, TypeError or ValueError for what is none."""
        kind, source, node = (text(value.get(name, usual)) for name, usual in _USUAL.items())
        rank = optional(lambda one: whole(one, 0, 1 << 31), value.get("rank"))
        return cls(text(value["name"]), kind, rank, source, node)


class SeriesTable:
    """Numbers for series, in order of appearance."""

    def __init__(self, known: Iterable[Series] = ()) -> None:
        self._numbers: dict[Series, int] = {series: number for number, series in enumerate(known)}
        # A training logs the same few sets of names again and again: for each, their numbers and all records' format.
        self._shapes: dict[tuple[Any, ...], tuple[tuple[int | None, ...], struct.Struct]] = {}

    def __reduce__(self) -> tuple[type["SeriesTable"], tuple[list[Series]]]:
        return SeriesTable, (self.all,)

    def encode(self, point: Point, elapsed_s: float) -> bytes:
        """The point's records. Values of series beyond the limit are dropped."""
        key = (point.kind, point.rank, point.source, *point.values)
        numbers, packer = self._shapes.get(key) or self._shape(key, point)
        step = math.nan if point.step is None else point.step
        epoch = math.nan if point.epoch is None else _single(point.epoch)
        fields: list[float] = []
        for number, value in zip(numbers, point.values.values(), strict=True):
            if number is not None:
                fields += (number, epoch, step, elapsed_s, value)
        return packer.pack(*fields)

    @property
    def all(self) -> list[Series]:
        """The series so far; a number is an index into this list."""
        return list(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def _shape(self, key: tuple[Any, ...], point: Point) -> tuple[tuple[int | None, ...], struct.Struct]:
        numbers = tuple(self._number(Series(name, point.kind, point.rank, point.source)) for name in point.values)
        kept = sum(number is not None for number in numbers)
        if len(self._shapes) >= MOST_SERIES:
            self._shapes.clear()
        self._shapes[key] = numbers, struct.Struct("<" + RECORD.format[1:] * kept)
        return self._shapes[key]

    def _number(self, series: Series) -> int | None:
        if series not in self._numbers and len(self._numbers) < MOST_SERIES:
            self._numbers[series] = len(self._numbers)
        return self._numbers.get(series)


def _single(value: float) -> float:
    """`struct` refuses to pack values that are too large for four bytes."""
    return value if abs(value) < 1e38 or not math.isfinite(value) else math.nan
