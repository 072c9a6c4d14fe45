"""Scalars as TensorBoard's event files: whole blocks of values at once, as arrays of bytes.

The format is the one that `core/metrics/event_file.py` reads; docs/decisions/011 says why no library is used.
TensorBoard stores values in single precision.
"""

import itertools
import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.event_file import CRC_TABLE, masked_crc
from dsgui.core.metrics.exporting import Block
from dsgui.core.metrics.points import OUTPUT
from dsgui.core.metrics.thinning import Floats

Bytes = NDArray[np.uint8]
_TABLE = np.array(CRC_TABLE, dtype=np.uint32)
_VERSION = b"\x1a\x0dbrain.Event:2"
_LONGEST_TAG_BYTES = 1000
_MOST_STEPS = 1e18  # a file that was damaged has any number


def event_file_begin(wall_time: float) -> bytes:
    """The beginning of every event file."""
    return _framed(b"\x09" + struct.pack("<d", wall_time) + _VERSION)


def event_records(block: Block, started_at: float) -> Iterator[bytes]:
    """The block's values, each series in order. `started_at` is when the run began, in unix seconds. If no step is
    known, the number of whole seconds since then is used."""
    told = np.where(np.isfinite(block.step), block.step, np.rint(block.time))
    step = np.clip(np.nan_to_num(told), -_MOST_STEPS, _MOST_STEPS).astype(np.int64)
    for number in np.unique(block.number).tolist():
        own = block.number == number
        wall_time = started_at + np.nan_to_num(block.time[own], nan=0.0)
        yield from _records(tag_of(block.series[number]), step[own].view(np.uint64), wall_time, block.value[own])


def tag_of(series: Series) -> str:
    """For telemetry the reading, preceded by the machine if it is another one; otherwise kind and name, and what
    distinguishes a rank's or a file's values from printed ones."""
    if series.kind == "sample":
        return f"{series.node}/{series.name}" if series.node else series.name
    rank = "" if series.rank is None else f"/rank {series.rank}"
    return f"{series.kind}/{series.name}{rank}" + ("" if series.source == OUTPUT else f"/{series.source}")


def _records(tag: str, step: NDArray[np.uint64], wall_time: Floats, value: Floats) -> Iterator[bytes]:
    """Batches of consecutive records with the same length."""
    widths = _varint_widths(step)
    edges = [0, *(np.flatnonzero(np.diff(widths)) + 1).tolist(), len(step)]
    for begin, end in itertools.pairwise(edges):
        part = slice(begin, end)
        yield _matrix(tag, step[part], int(widths[begin]), wall_time[part], value[part]).tobytes()


def _matrix(tag: str, step: NDArray[np.uint64], width: int, wall_time: Floats, value: Floats) -> Bytes:
    """One row per record: length and its checksum, event, checksum."""
    with np.errstate(over="ignore"):
        single = value.astype("<f4")
    named = _message(1, tag.encode("utf-8", "replace")[:_LONGEST_TAG_BYTES]) + b"\x15"
    summary = _begin(5, len(_begin(1, len(named) + 4)) + len(named) + 4) + _begin(1, len(named) + 4) + named
    rows = len(step)
    events = np.hstack(
        [
            _same(b"\x09", rows),
            _bytes_of(wall_time.astype("<f8")),
            _same(b"\x10", rows),
            _varints(step, width),
            _same(summary, rows),
            _bytes_of(single),
        ]
    )
    length = struct.pack("<Q", events.shape[1])
    head = length + struct.pack("<I", masked_crc(length))
    return np.hstack([_same(head, rows), events, _bytes_of(_masked_crcs(events))])


def _masked_crcs(rows: Bytes) -> NDArray[np.uint32]:
    crc = np.full(len(rows), 0xFFFFFFFF, dtype=np.uint32)
    for column in np.ascontiguousarray(rows.T):
        crc = _TABLE[(crc ^ column) & np.uint32(0xFF)] ^ crc >> np.uint32(8)
    crc = ~crc
    with np.errstate(over="ignore"):
        rotated: NDArray[np.uint32] = (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(0xA282EAD8)
    return rotated.astype("<u4")


def _varint_widths(values: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The number of bytes each takes, at seven bits per byte."""
    limits = np.array([1 << 7 * count for count in range(1, 10)], dtype=np.uint64)
    return np.searchsorted(limits, values, side="right") + 1


def _varints(values: NDArray[np.uint64], width: int) -> Bytes:
    shifts = np.arange(width, dtype=np.uint64) * np.uint64(7)
    found = (values[:, None] >> shifts & np.uint64(0x7F)).astype(np.uint8)
    found[:, :-1] |= 0x80
    return found


def _bytes_of(values: NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)


def _same(data: bytes, rows: int) -> Bytes:
    return np.broadcast_to(np.frombuffer(data, np.uint8), (rows, len(data)))


def _begin(field: int, length: int) -> bytes:
    """Key and length of a bytes field."""
    (width,) = _varint_widths(np.array([length], dtype=np.uint64))
    return bytes([field << 3 | 2]) + _varints(np.array([length], dtype=np.uint64), int(width)).tobytes()


def _message(field: int, body: bytes) -> bytes:
    return _begin(field, len(body)) + body


def _framed(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked_crc(length)) + body + struct.pack("<I", masked_crc(body))
