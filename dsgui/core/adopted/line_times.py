"""When the lines of a log were printed, told by the times that they begin with.

Loggers write them: DeepSpeed `[2024-05-01 12:00:00,123] [INFO]` (deepspeed/utils/logging.py), transformers
`[INFO|trainer.py:2067] 2024-05-01 12:00:00,123 >>`, its examples `05/01/2024 12:00:00 - INFO -`, containers
`2024-05-01T12:00:00.123Z`. Times without a zone are those of some machine: what counts is how far they lie apart.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from functools import lru_cache

_MOST_MARKS = 4000  # as finely as a screen shows
_SOON_S, _SOON = 2.0, 1 / 200  # of all the time: a line without a time was printed before the next that has one
_DAY_S = 86_400
_YEARS = range(1990, 2101)  # others are told where nothing is known: 0000-00-00, 0001-01-01
_BACK_S = 60.0  # processes that print to one log are not exactly in order
_FEWEST = 2

STAMP = re.compile(
    rb"^[ \t]*+(?>(?:\x1b\[[\d;]*+m)*)"
    rb"(?>(?:[A-Za-z][\w.-]{0,63}+: |\d{1,4}+: )?)"  # the host, as pdsh tells it, or the task, as srun does
    rb"(?>(?:\[[A-Za-z][^\]\r\n]{0,120}+\]:?+ ?+)?)"  # [rank0]: or [INFO|trainer.py:2067]
    rb"[\[(]?+"
    rb"(\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4})"
    rb"[ T](\d\d):(\d\d):(\d\d)(?>(?:[.,](\d{1,9}+))?)"
    rb"(?>( ?+(?:Z|[+-]\d\d:?+\d\d))?)(?![\d:]| ?+[AaPp][Mm]\b)(?>( - [A-Z]{4,8} - )?)",
    re.MULTILINE,
)
# LLaMA-Factory's "1 day, 0:02:03" and ms-swift's "21h 35m 49s" since the training began.
_ELAPSED_KEY = b'"elapsed_time": "'
_SINCE = re.compile(
    rb'^.{0,2000}?"elapsed_time": "(?:(?:(\d{1,5}) days?, )?(\d{1,6}):(\d\d):(\d\d)(?:\.\d{1,9})?'
    rb'|(?:(\d{1,5})d ?)?(?:(\d{1,6})h ?)?(?:(\d{1,6})m ?)?(?:(\d{1,9})s)?)"',
    re.MULTILINE,
)


class Unclear(Enum):
    """Why a log's times can't be used."""

    AMBIGUOUS = "ambiguous"
    BACKWARDS = "backwards"


@dataclass(frozen=True, slots=True)
class LineTimes:
    """`marks`: from which byte on lines were printed at which time, in unix seconds; NaN where that is not known.
    Times without a zone count as UTC; then `zoned` is False. `span` is the first and the last, None where there is
    none. What follows a time within `soon_s` counts as printed with it. `lasted_s`: the last, where they are told since
    the training began; then there is no `span`."""

    marks: Sequence[tuple[int, float]] = ()
    span: tuple[float, float] | None = None
    zoned: bool = True
    unclear: Unclear | None = None
    soon_s: float = 0.0
    lasted_s: float | None = None

    def until(self, at: float) -> "LineTimes":
        """Of a log that was last written to at that time: if soon after the last of its times, the lines after that
        have it, as they will have it when the next one comes."""
        if self.span is None or not 0 <= at - self.span[1] <= self.soon_s or not math.isnan(self.marks[-1][1]):
            return self
        return replace(self, marks=self.marks[:-1])

    def shifted(self, by_s: float) -> "LineTimes":
        """All of them later."""
        span = self.span and (self.span[0] + by_s, self.span[1] + by_s)
        return replace(self, marks=tuple((place, at + by_s) for place, at in self.marks), span=span)


@dataclass(slots=True)
class _Stretch:
    """Lines that begin at `start`, whose times are alike: from `at` to `last`, in the line that ends at `end`."""

    start: int
    end: int
    at: float
    last: float


@dataclass(slots=True)
class _Way:
    """The times of a log, read in one of the ways in which they are written."""

    stretches: list[_Stretch] = field(default_factory=list)
    count: int = 0
    days: set[bytes] = field(default_factory=set)
    levelled: int = 0
    backwards: bool = False
    wrong: bool = False
    latest: float = -math.inf
    finest: float = 0.0

    def take(self, place: tuple[int, int], at: float, date: bytes, levelled: bool) -> None:
        """A line from one byte to another."""
        self.count += 1
        self.levelled += levelled
        if len(self.days) < _FEWEST:
            self.days.add(date)
        self.backwards = self.backwards or at < self.latest - _BACK_S
        self.latest = max(at, self.latest)
        self._add(_Stretch(*place, at, at))
        if len(self.stretches) > 2 * _MOST_MARKS:
            self._coarsen()

    def _add(self, one: _Stretch) -> None:
        last = self.stretches[-1] if self.stretches else None
        if last and abs(one.last - last.at) <= self.finest:
            last.end, last.last = one.end, max(one.last, last.last)
        else:
            self.stretches.append(one)

    def _coarsen(self) -> None:
        before, self.stretches = self.stretches, []
        self.finest = max(2 * self.finest, (self.latest - before[0].at) / _MOST_MARKS)
        for one in before:
            self._add(one)

    @property
    def soon_s(self) -> float:
        """By how much another time may come later."""
        return max(_SOON_S, _SOON * (self.latest - self.stretches[0].at), self.finest)

    def marks(self) -> Iterator[tuple[int, float]]:
        """A line without a time of its own has that of the line before, where the next time comes soon."""
        if not self.stretches:
            return
        soon = self.soon_s
        for one, after in zip(self.stretches, [*self.stretches[1:], None], strict=True):
            yield one.start, one.at
            if after is None or (one.end < after.start and after.at - one.last > soon):
                yield one.end, math.nan


class TimesReader:
    """Takes a log, block by block of whole lines."""

    def __init__(self) -> None:
        self._ways: dict[str, _Way] = {}
        self._offset = 0

    def feed(self, block: bytes) -> None:
        for match in STAMP.finditer(block):
            ends = block.find(b"\n", match.end()) + 1 or len(block)
            date, hour, minute, second, part, zone, levelled = match.groups()
            clock = 3600 * int(hour) + 60 * int(minute) + int(second) + float(b"." + part if part else 0)
            for name, midnight in _days(date, zone) if clock < _DAY_S else ():
                way = self._ways.get(name) or self._ways.setdefault(name, _Way())
                if midnight is None:
                    way.wrong = name in _SLASHED  # what can't be meant; else a date that is none
                else:
                    stretch = (self._offset + match.start(), self._offset + ends)
                    way.take(stretch, midnight + clock, date, levelled is not None)
        if _ELAPSED_KEY in block:
            self._feed_elapsed(block)
        self._offset += len(block)

    def _feed_elapsed(self, block: bytes) -> None:
        way = self._ways.setdefault(_ELAPSED, _Way())
        for match in _SINCE.finditer(block):
            ends = block.find(b"\n", match.end()) + 1 or len(block)
            days, hours, minutes, seconds = (int(match[one] or match[one + 4] or 0) for one in range(1, 5))
            at = ((24 * days + hours) * 60 + minutes) * 60 + seconds
            way.take((self._offset + match.start(), self._offset + ends), at, b"", levelled=False)

    def skip(self, part: bytes) -> bytes:
        """The beginning of a line that is too long to be read; the rest of it has no time."""
        self._offset += len(part)
        return b""

    def finish(self) -> LineTimes:
        """By the way in which most lines are written."""
        ways = {name: way for name, way in self._ways.items() if way.count >= _FEWEST and not way.wrong}
        if not ways:
            return LineTimes(unclear=Unclear.AMBIGUOUS if _any_slashed(self._ways) else None)
        name = max(ways, key=lambda name: ways[name].count)
        if name in _SLASHED:
            name = _settled({one: ways[one] for one in _SLASHED if one in ways})
        if not name:
            return LineTimes(unclear=Unclear.AMBIGUOUS)
        if ways[name].backwards:
            return LineTimes(unclear=Unclear.BACKWARDS)
        way = ways[name]
        if name == _ELAPSED:
            return LineTimes(tuple(way.marks()), lasted_s=way.latest)
        first = min(one.at for one in way.stretches)
        return LineTimes(tuple(way.marks()), (first, way.latest), zoned=name == _ZONED, soon_s=way.soon_s)


_ELAPSED = "elapsed"
_ZONED, _PLAIN, _MONTH_FIRST, _DAY_FIRST = "zoned", "plain", "month_first", "day_first"
_SLASHED = (_MONTH_FIRST, _DAY_FIRST)


def _any_slashed(ways: Iterable[str]) -> bool:
    return any(name in _SLASHED for name in ways)


def _settled(ways: dict[str, _Way]) -> str:
    """Which number of 05/01/2024 is the month: what can't be is out; the examples of transformers begin with it; and
    within one day it changes nothing but the date. "" where nobody knows."""
    forward = [name for name, way in ways.items() if not way.backwards]
    if len(forward) < 2:
        return next(iter(forward or ways))
    way = ways[_MONTH_FIRST]
    return _MONTH_FIRST if way.levelled or len(way.days) < _FEWEST else ""


@lru_cache(maxsize=64)
def _days(date: bytes, zone: bytes | None) -> tuple[tuple[str, float | None], ...]:
    """The beginning of its day, in each way in which the date may be meant; None where there is no such date."""
    apart = _zone(zone and zone.strip())
    first, second, third = date.replace(b"/", b"-").split(b"-")
    if int(first if len(first) == 4 else third) not in _YEARS:
        return ()
    if len(first) == 4:
        return ((_PLAIN if apart is None else _ZONED, _midnight(first, second, third, apart)),)
    return (
        (_MONTH_FIRST, _midnight(third, first, second, apart)),
        (_DAY_FIRST, _midnight(third, second, first, apart)),
    )


def _zone(text: bytes | None) -> timezone | None:
    if text is None or text == b"Z":
        return UTC if text else None
    minutes = 60 * int(text[1:3]) + int(text[-2:])
    return timezone(timedelta(minutes=minutes if text[:1] == b"+" else -minutes)) if minutes < 1440 else None


def _midnight(year: bytes, month: bytes, day: bytes, zone: timezone | None) -> float | None:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=zone or UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def cut(pieces: Iterable[bytes], marks: Sequence[tuple[int, float]]) -> Iterator[tuple[bytes, float]]:
    """A log's pieces cut at the marks, each with its time."""
    offset, place, at = 0, 0, math.nan
    for piece in pieces:
        begin = 0
        while place < len(marks) and marks[place][0] < offset + len(piece):
            end = marks[place][0] - offset
            if end > begin:
                yield piece[begin:end], at
                begin = end
            at = marks[place][1]
            place += 1
        if begin < len(piece):
            yield piece[begin:], at
        offset += len(piece)
