"""What a user's own pattern finds in the output that was printed before it was added."""

import fcntl
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dsgui.core.logs.epochs import EpochCounts
from dsgui.core.logs.patterns import SOURCE, Pattern
from dsgui.core.metrics.curves import RECORD, SeriesTable
from dsgui.core.metrics.points import Point
from dsgui.shell.logs.growing import RecordFile
from dsgui.shell.logs.output_search import blocks
from dsgui.shell.runs.store import RunDirectory

_LINE_BYTES = 1 << 15  # as `core.logs.trainlog` cuts them
_LINES = 2000


@contextmanager
def adding(directory: RunDirectory) -> Iterator[None]:
    """Held while patterns are changed, and by the supervisor while it writes the last state: a pattern is read either
    by it or by who adds it."""
    folder = os.open(directory.path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def past_points(
    directory: RunDirectory, pattern: Pattern, counts: EpochCounts, ended: Callable[[], bool], read: int = 0
) -> Iterator[list[Point]]:
    """The points of all that is kept, some lines at a time; some may have none. `counts` goes on with steps that begin
    again. While the output has not `ended` its last line may be half: it is left to whoever reads on. The first parts,
    so many, were `read` before."""
    for _, block in blocks(directory):
        if not ended():
            block = block[: block.rfind(b"\n") + 1]
        lines = block.replace(b"\r", b"\n").split(b"\n")
        for begin in range(0, len(lines), _LINES):
            if read:
                read -= 1
                continue
            texts = (line[:_LINE_BYTES].decode("utf-8", "replace") for line in lines[begin : begin + _LINES])
            yield [point for text in texts if (point := _point(pattern, text, counts))]


def _point(pattern: Pattern, text: str, counts: EpochCounts) -> Point | None:
    found = pattern.read(text)
    if found is None:
        return None
    return Point(counts.step_of(found), found.epoch, found.values, found.kind, found.rank, SOURCE)


def add_past_points(directory: RunDirectory, pattern: Pattern) -> None:
    """Adds them to a run that has ended, when nobody else writes its points. At what time they were printed is not
    known any more. Raises OSError."""
    table = SeriesTable(directory.read_series())
    known = len(table)
    file = RecordFile(directory.points_file, RECORD.size)
    try:
        for points in past_points(directory, pattern, EpochCounts(), ended=lambda: True):
            records = b"".join(table.encode(point, math.nan) for point in points)
            if len(table) > known:
                directory.write_series(table.all)
                known = len(table)
            if records:
                file.write(records)
    finally:
        file.close()
