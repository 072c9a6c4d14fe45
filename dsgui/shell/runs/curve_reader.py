"""Reads the curves of a run: its points and its telemetry, from where the last reading stopped."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.curves import RECORD, Series
from dsgui.core.metrics.exporting import Block
from dsgui.core.metrics.samples import SampleTable
from dsgui.core.metrics.thinning import Curve
from dsgui.shell.runs.store import RunDirectory, size_of

_RECORDS = np.dtype([("number", "<u4"), ("epoch", "<f4"), ("step", "<f8"), ("time", "<f8"), ("value", "<f8")])
assert _RECORDS.itemsize == RECORD.size
BLOCK_ROWS = 1 << 16
# Eight million points: more memory than their curves take is not given to one run.
MOST_POINT_BYTES = 256 << 20
NEWS_BYTES = 32 << 20  # of one answer to a page, which asks again
_END_BYTES = 1 << 18  # evaluations are seldom, and at the end
_MAPPED_BYTES = 1 << 20  # more than that is not copied


def read_points(
    directory: RunDirectory, offset: int = 0, wanted: Collection[int] | None = None, most_bytes: int = MOST_POINT_BYTES
) -> tuple[dict[int, Curve], int]:
    """The curves of what the training logged from byte `offset` on, by their numbers, all or those `wanted`, and the
    offset after them; of a longer file the first 256 MiB."""
    raw, end = _rows(directory.points_file, offset, _RECORDS.itemsize, most_bytes)
    if not len(raw):
        return {}, end
    records, series = raw.view(_RECORDS), directory.read_series()
    numbers = [number for number in np.unique(records["number"]).tolist() if number < len(series)]
    numbers = [number for number in numbers if wanted is None or number in wanted]
    parts = {number: records[records["number"] == number] for number in numbers}
    return {number: _curve(series[number], part) for number, part in parts.items()}, end


def last_values(directory: RunDirectory) -> dict[str, float]:
    """The last value of each curve that the end of the points tells, by its name."""
    width = _RECORDS.itemsize
    raw, _ = _rows(directory.points_file, max(size_of(directory.points_file) // width * width - _END_BYTES, 0), width)
    if not len(raw):
        return {}
    records, series = raw.view(_RECORDS)[::-1], directory.read_series()
    numbers, places = np.unique(records["number"], return_index=True)
    values = zip(numbers.tolist(), records["value"][places].tolist(), strict=True)
    found: dict[str, float] = {}
    for number, value in values:
        if number < len(series):
            found.setdefault(series[number].name, value)
    return found


def read_samples(
    directory: RunDirectory,
    tables: Sequence[SampleTable],
    offsets: Sequence[int] = (),
    wanted: Collection[tuple[int, int]] | None = None,
    most_bytes: int | None = None,
) -> tuple[dict[tuple[int, int], Curve], tuple[int, ...]]:
    """The curves of the telemetry from the byte offset of each of its tables on, by table and column, and the offsets
    after them. What a machine did not tell is left out."""
    curves: dict[tuple[int, int], Curve] = {}
    ends = []
    for number, table in enumerate(tables):
        begin = offsets[number] if number < len(offsets) else 0
        raw, end = _rows(directory.samples_file(number), begin, 8 * len(table.columns), most_bytes)
        ends.append(end)
        if len(raw):
            rows = raw.view("<f8").reshape(-1, len(table.columns))
            places = range(1, len(table.columns))
            chosen = [place for place in places if wanted is None or (number, place) in wanted]
            curves |= {(number, place): curve for place, curve in _sampled(table, rows, chosen)}
    return curves, tuple(ends)


def sample_series(table: SampleTable, place: int) -> Series:
    """The curve of one column."""
    return _sample_series(table.columns[place], table.node)


@lru_cache(maxsize=4096)
def _sample_series(column: str, node: str) -> Series:
    return Series(column, "sample", None, "telemetry", node)


def _sampled(table: SampleTable, rows: NDArray[np.float64], places: Iterable[int]) -> Iterator[tuple[int, Curve]]:
    unknown = np.full(len(rows), np.nan)
    silent = np.flatnonzero(np.isnan(rows).all(axis=0)).tolist()
    for place in places:
        if place not in silent:
            yield place, Curve(sample_series(table, place), unknown, unknown, rows[:, 0], rows[:, place])


def _curve(series: Series, records: NDArray[np.void]) -> Curve:
    return Curve(series, records["step"], records["epoch"].astype(np.float64), records["time"], records["value"])


def _rows(path: Path, offset: int, width: int, most_bytes: int | None = None) -> tuple[NDArray[np.uint8], int]:
    """Whole rows of `width` bytes, at most so many, and where they end: one that is being written waits."""
    offset -= offset % width
    length = max(size_of(path) - offset, 0)
    length = (length if most_bytes is None else min(length, most_bytes)) // width * width
    if not length:
        return np.empty(0, np.uint8), offset
    if length >= _MAPPED_BYTES:
        return np.memmap(path, np.uint8, "r", offset, (length,)), offset + length
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # the layers of `open` cost more than what is read
    try:
        read = os.pread(file, length, offset)
    finally:
        os.close(file)
    whole = len(read) // width * width  # not so where the file was taken away meanwhile
    return np.frombuffer(read, np.uint8, whole), offset + whole


def point_blocks(directory: RunDirectory, rows: int = BLOCK_ROWS) -> Iterator[Block]:
    """All that the training logged, as it was kept, some rows at a time."""
    raw, _ = _rows(directory.points_file, 0, _RECORDS.itemsize)
    series = directory.read_series()  # after the records: each of them is of one that is known by now
    records = raw.view(_RECORDS)
    for begin in range(0, len(records), rows):
        part = records[begin : begin + rows]
        part = part[part["number"] < len(series)]
        epoch = part["epoch"].astype(np.float64)
        yield Block(series, part["number"].astype(np.intp), part["step"], epoch, part["time"], part["value"])


def sample_blocks(directory: RunDirectory, rows: int = BLOCK_ROWS) -> Iterator[Block]:
    """All telemetry, without what a machine did not tell; table after table."""
    for number, table in enumerate(directory.sample_tables()):
        width = len(table.columns)
        raw, _ = _rows(directory.samples_file(number), 0, 8 * width)
        values = raw.view("<f8").reshape(-1, width)
        series = [sample_series(table, place) for place in range(1, width)]
        for begin in range(0, len(values), max(rows // width, 1)):
            part = values[begin : begin + max(rows // width, 1)]
            told = ~np.isnan(part[:, 1:])
            unknown = np.full(int(told.sum()), np.nan)
            time = np.broadcast_to(part[:, :1], told.shape)[told]
            yield Block(series, np.nonzero(told)[1], unknown, unknown, time, part[:, 1:][told])
