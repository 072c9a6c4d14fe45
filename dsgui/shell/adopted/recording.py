"""What was read of a training is kept as a run's own files are: points, output, events, progress."""

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from dsgui.core.access.secrets import Masker
from dsgui.core.adopted.line_times import LineTimes, TimesReader, cut
from dsgui.core.adopted.lying import Lying
from dsgui.core.adopted.timed import span
from dsgui.core.diagnosis.diagnosis import Diagnosis, diagnose
from dsgui.core.diagnosis.ending import likely_code, verdict_of_log
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.launch.state import OF_OTHERS, RunState, RunStatus
from dsgui.core.metrics.curves import RECORD, Series
from dsgui.core.sizes import file_size
from dsgui.core.texts.saying import said
from dsgui.shell.adopted.told import Told
from dsgui.shell.adopted.walking import open_inside
from dsgui.shell.logs.records import Records
from dsgui.shell.runs.store import RunDirectory

_PIECE_BYTES = 1 << 16
_MOST_LOG_BYTES = 512 << 20
_LONGEST_S = 60.0  # of reading a log: what is left after that is skimmed
_HURRY = 1e9
_UNKNOWN_RANKS = 2  # more than one: a traceback that names none may be any rank's


class _Unhurried:
    """A clock for reading what was printed long ago: no output comes too fast, until it takes too long to read."""

    def __init__(self) -> None:
        self._until = time.monotonic() + _LONGEST_S
        self._ticks = count(1)

    def __call__(self) -> float:
        return _HURRY if time.monotonic() > self._until else 1000.0 * next(self._ticks)


def keep(directory: RunDirectory, root: Path, told: Told, masker: Masker, series: Sequence[Series] = ()) -> None:
    """Into a new folder. `series` are the curves that were known before, whose numbers stay. Raises OSError where the
    disk takes it not."""
    known = span(told.points)
    began = known[0] if known else math.nan
    # What a log's lines say of the time can't be held against other files: they were written by another clock.
    marks = _times(root, told.log, told) if told.log and not known else LineTimes()
    told.span, told.lasted_s = known or marks.span, marks.lasted_s
    now = math.nan
    records = Records(directory, _Unhurried(), lambda: now, masker, series=series)
    try:
        for point, at in told.points:
            now = at - began
            records.take_points([point], now)
        for piece, at in cut(_pieces(root, told.log, told), marks.marks) if told.log else ():
            now = at - (marks.span[0] if marks.span else 0.0)
            records.take_output(piece)
    finally:
        records.finish()
    told.ending, told.phase = (records.log.ending, records.log.phase) if told.log else (None, told.phase)
    told.goes_beyond = marks.span is not None and _last_is_untimed(directory)
    records.read_late_patterns()
    if records.refused:
        raise OSError(str(said("files", "not_writable")))
    if not directory.series_file.exists():
        directory.write_series(list(series))
    _keep_progress(directory, told)


def _last_is_untimed(directory: RunDirectory) -> bool:
    """Whether it is not known when the last value was logged."""
    with suppress(OSError), directory.points_file.open("rb") as file:
        file.seek(-RECORD.size, os.SEEK_END)
        return math.isnan(RECORD.unpack(file.read(RECORD.size))[3])
    return False


def _times(root: Path, log: Lying, told: Told) -> LineTimes:
    """When its lines were printed. Times without a zone are taken for those of this machine."""
    reader, rest = TimesReader(), b""
    for piece in _pieces(root, log, None):
        whole, ends, rest = (rest + piece).rpartition(b"\n")
        reader.feed(whole + ends)
        rest = rest if len(rest) < _PIECE_BYTES else reader.skip(rest)
    reader.feed(rest)
    found = reader.finish()
    if found.unclear:
        told.note_unclear(found.unclear, log)
    if not found.zoned and found.span is not None:
        here = datetime.fromtimestamp(found.span[0], UTC).replace(tzinfo=None).timestamp()
        found = found.shifted(here - found.span[0])
    return found.until(log.changed_ns / 1e9)


def _pieces(root: Path, log: Lying, told: Told | None) -> Iterator[bytes]:
    """`told` is told how much of it was read."""
    read = 0
    try:
        with open_inside(root, log.path) as file:
            while read < _MOST_LOG_BYTES and (piece := file.read(_PIECE_BYTES)):
                read += len(piece)
                yield piece
    except OSError as error:
        if told:
            told.note("unreadable", file=log.path, why=str(error.strerror or error))
        return
    if told is None:
        return
    told.read.append(log)
    if read < log.size:
        told.note("too_large", file=log.path, size=file_size(log.size), most=file_size(read))


def _keep_progress(directory: RunDirectory, told: Told) -> None:
    """Nothing is under way any more."""
    found = {name: one for name, one in directory.read_progress().items() if name not in ("doing", "eta_s")}
    if told.step >= 0 and found.get("step", -1) <= told.step:
        found |= {"step": told.step, "total": told.total}
    if "step" in found:
        found |= {"total": found.get("total") or told.total, "eta_s": None}
    directory.write_progress(found)


def diagnosis_of(told: Told) -> Diagnosis | None:
    """Why it failed, as far as its log tells; nothing is changed about a training of others."""
    if told.ending is None or told.state is not RunState.FAILED:
        return None
    ranks = len(told.ending.spawned) or _UNKNOWN_RANKS
    return replace(diagnose(told.ending, likely_code(None, told.ending), Circumstances(ranks=ranks)), remedies=())


def status_of(told: Told, folder: str) -> RunStatus:
    """As its page says it."""
    known = told.span
    failed = verdict_of_log(told.ending) if told.ending else None
    told.state, why = failed or (RunState.ELSEWHERE, ())
    phase = told.phase if failed and told.ending and not told.ending.trained else "training"
    reasons = [said("reasons", OF_OTHERS, folder=folder), *why]
    if known is None:
        told_by = [] if told.lasted_s or phase != "training" else [said("reasons", "no_times")]
        return RunStatus(told.state, reasons=(*reasons, *told_by), lasted_s=told.lasted_s, phase=phase)
    began, ended = known
    return RunStatus(
        told.state,
        reasons=tuple(reasons),
        started_at=began,
        ended_at=None if told.goes_beyond else ended,
        lasted_s=None if told.goes_beyond else ended - began,
        phase=phase,
    )
