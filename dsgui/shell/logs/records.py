"""The files that grow with a run: output, points, samples, progress; written by its supervisor alone."""

import math
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from dsgui.core.access.secrets import Masker
from dsgui.core.errors import PatternError
from dsgui.core.logs.epochs import EpochCounts
from dsgui.core.logs.patterns import Pattern
from dsgui.core.logs.trainlog import Progress, TrainLog
from dsgui.core.metrics.curves import RECORD, Series, SeriesTable
from dsgui.core.metrics.points import OUTPUT, Event, Point, number_to_json
from dsgui.core.metrics.reached import Reached
from dsgui.core.metrics.samples import Peak, Sample, SampleTable
from dsgui.core.metrics.step_pace import StepPace
from dsgui.core.runs.alerts import Alerts
from dsgui.shell.logs.growing import Appender, OutputFile, RecordFile
from dsgui.shell.logs.past import add_past_points, past_points
from dsgui.shell.runs.store import MOST_TABLES, RunDirectory

# A parser in Python reads five to seven megabytes a second: a training that prints more must not wait for it.
_UNHURRIED_BYTES = 1 << 20
# And may take a quarter of a processor; of lines that take longer to read, half a second is read before that.
_UNHURRIED_S, _SHARE = 0.5, 0.25


@dataclass(slots=True)
class Rush:
    """Tells output that comes faster than it can be read: more than a mebibyte within a second, or, whatever the size,
    lines whose reading takes too much of a processor's time."""

    second: float = -math.inf
    bytes_: int = 0
    worked_s: float = 0.0  # by the processor, less the share of the time that passed since
    counted_at: float = -math.inf

    def adds(self, count: int, now: float) -> bool:
        """Counts; whether it is a rush by now."""
        if now - self.second >= 1:
            self.second, self.bytes_ = now, 0
        self.bytes_ += count
        self.worked_s, self.counted_at = max(self.worked_s - _SHARE * (now - self.counted_at), 0.0), now
        return self.bytes_ > _UNHURRIED_BYTES or self.worked_s > _UNHURRIED_S

    def works(self, seconds: float, now: float) -> None:
        """Reading took so much of the processor's time, and is over. When the rush is, it is soon forgotten."""
        self.worked_s, self.counted_at = min(self.worked_s + seconds, 2 * _UNHURRIED_S), now


@dataclass(slots=True)
class Pace:
    """Time left, from the steps done since the first was seen; for output that has no bar to say it."""

    first_at: float | None = None
    first_step: int = 0

    def eta_s(self, progress: Progress, now: float) -> float | None:
        if progress.eta_s is not None:
            return progress.eta_s
        if self.first_at is None or progress.step < self.first_step:
            self.first_at, self.first_step = now, progress.step
        done = progress.step - self.first_step
        if not done or progress.total is None:
            return None
        return round((now - self.first_at) / done * max(progress.total - progress.step, 0), 1)


# Of events that come by the thousand (overflows) the first tell enough, of each kind; what needs a look, and that it is
# over, must not be lost behind them.
MOST_EVENTS = 5000
_MOST_TOLD = 100_000
_TOLD = frozenset({"alert", "calm", "stop"})
_PAST_S, _LAST_PAST_S = 0.05, 10.0
_TIME_AT = struct.calcsize("<Ifd")  # in a point's record


@dataclass(slots=True)
class Past:
    """A new pattern, which first reads what was printed before."""

    pattern: Pattern
    counts: EpochCounts = field(default_factory=EpochCounts)
    parts: int = 0  # that were read
    reading: Iterator[list[Point]] | None = None

    def read(self, directory: RunDirectory, ended: Callable[[], bool]) -> Iterator[list[Point]]:
        """From where it stopped; what is yielded counts as read."""
        if self.reading is None:
            self.reading = past_points(directory, self.pattern, self.counts, ended, self.parts)
        for points in self.reading:
            self.parts += 1
            yield points

    def __getstate__(self) -> tuple[Pattern, EpochCounts, int]:
        return self.pattern, self.counts, self.parts

    def __setstate__(self, state: tuple[Pattern, EpochCounts, int]) -> None:
        self.pattern, self.counts, self.parts = state
        self.reading = None


class SampleRows:
    """Telemetry as rows of numbers, a table for each set of columns and machine, of so many at most. A machine whose
    columns come back (a card that was gone for a while) goes on with their table."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._tables = (
            directory.sample_tables()
        )  # a table's number is its place; a killed supervisor may have left some
        self._files: dict[str, tuple[SampleTable, RecordFile]] = {}  # by machine
        self._full = False

    def write(self, sample: Sample, node: str) -> None:
        """Raises OSError."""
        flat = sample.flat()
        table = SampleTable(
            ("elapsed_s", *(name for name in flat if name != "elapsed_s")),
            node,
            {gpu.index: gpu.name for gpu in sample.gpus},
        )
        known = self._files.get(table.node)
        file = known[1] if known and known[0] == table else self._turn_to(table)
        if file:
            numbers = (math.nan if (value := flat[name]) is None else value for name in table.columns)
            file.write(struct.pack(f"<{len(table.columns)}d", *numbers))

    def close(self) -> None:
        for _, file in self._files.values():
            file.close()

    def _turn_to(self, table: SampleTable) -> RecordFile | None:
        """The file for the table's rows; None where there are too many tables."""
        if table not in self._tables:
            if len(self._tables) >= MOST_TABLES:
                if not self._full:
                    note(f"more than {MOST_TABLES} sets of readings were met; further ones are left out")
                self._full = True
                return None
            self._directory.write_sample_table(len(self._tables), table)
            self._tables.append(table)
        number = self._tables.index(table)
        file = RecordFile(self._directory.samples_file(number), 8 * len(table.columns))
        if known := self._files.get(table.node):
            known[1].close()
        self._files[table.node] = table, file
        return file


# What `Records` knows beside its files.
_KEPT = (
    *(
        "log",
        "refused",
        "_masker",
        "_unmasked",
        "_in_gap",
        "_series",
        "_event_counts",
        "_alerts",
        "_elsewhere",
        "_patterns",
        "_patterns_changed",
    ),
    *("_finished", "_past", "_pace", "_rush", "_reached", "_steps", "_progress", "_peak"),
)


class Records:
    """The files that grow with the run. A disk that refuses them never stops the training. `elapsed_s` counts from the
    run's beginning, NaN where that is not known. Nothing that `masker` knows for a secret is written, and nothing else
    here sees it. `tell` is told what needs a look."""

    def __init__(
        self,
        directory: RunDirectory,
        monotonic: Callable[[], float],
        elapsed_s: Callable[[], float],
        masker: Masker | None = None,
        tell: Callable[[Event], object] = lambda event: None,
        series: Sequence[Series] = (),
    ) -> None:
        """`series`: those whose numbers are to stay what they were."""
        self._directory, self._monotonic, self._elapsed_s = directory, monotonic, elapsed_s
        self._masker, self._tell = masker or Masker(), tell
        self._hidden = lru_cache(maxsize=4096)(self._masker.text)
        self.log = TrainLog()
        self.refused = False
        self._output = OutputFile(directory)
        self._points = RecordFile(directory.points_file, RECORD.size)
        self._series, self._series_kept = SeriesTable(series), 0
        self._events, self._event_counts = Appender(directory.events_file), Counter[str]()
        self._samples = SampleRows(directory)
        self._alerts, self._elsewhere = Alerts(), dict[str, Alerts]()
        self._patterns: list[str] = []
        self._patterns_changed: float | None = None
        self._finished = self._unmasked = self._in_gap = False
        self._past: list[Past] = []
        self._pace, self._rush = Pace(), Rush()
        self._reached, self._steps = Reached(), StepPace()
        self._progress: dict[str, Any] = {}
        self._peak = Peak()
        self._before = b""  # records of points that another supervisor had written, and that come again

    def take_output(self, chunk: bytes) -> None:
        """What may be the first half of a secret waits for the rest. Output whose masking fails is kept nowhere, and
        nothing after it: what the masker holds is not known then."""
        if self._unmasked or not (chunk := self._after_gap(chunk)):
            return
        self._unmasked = True
        shown = self._masker.feed(chunk)
        self._unmasked = False
        self._take_shown(shown)

    def leave_gap(self) -> None:
        """Some output is lost here: what waits may be the first half of a secret, and the rest of the line that comes
        the second half."""
        self._masker.forget()
        self.take_output(b"\n--- dsgui lost some of the output here ---\n")
        self._in_gap = True

    def _after_gap(self, chunk: bytes) -> bytes:
        if self._in_gap:
            _, ends, chunk = chunk.partition(b"\n")
            self._in_gap = not ends
        return chunk

    def _take_shown(self, chunk: bytes) -> None:
        self._try(self._output.write, chunk)
        read = self.log.skim if self._rush.adds(len(chunk), self._monotonic()) else self.log.feed
        began = time.thread_time()
        points = read(chunk)
        self._rush.works(time.thread_time() - began, self._monotonic())
        self.take_points(points)
        now = self._elapsed_s()
        if (progress := self.log.progress) and math.isfinite(now):
            self._steps.take(progress.step, now)
        self._take_events(self.log.take_events())

    def take_sample(self, sample: Sample, node: str = "", *, is_compiling: bool = False) -> None:
        """Keeps it. While operators are compiled the run's memory is the compilers': no peak of the training."""
        self._try(partial(self._samples.write, node=node), sample)
        if not is_compiling:
            self._peak = self._peak.over(sample)
        alerts = self._alerts if not node else self._elsewhere.setdefault(node, Alerts(node))
        self._take_events(alerts.sample(sample))

    @property
    def peak(self) -> Mapping[str, int]:
        """The most memory that the run had, by device, but for its compilers'."""
        return self._peak.to_json()

    def take_points(self, points: Sequence[Point], elapsed_s: float | None = None) -> None:
        """Points of any source, as they become known; `elapsed_s` where they were logged at another time than now."""
        now = self._elapsed_s() if elapsed_s is None else elapsed_s
        for point in points:
            if point.source != OUTPUT:  # the names in a script's files have met no masker
                point = point._replace(values={self._hidden(name): value for name, value in point.values.items()})
            records = self._series.encode(point, now)
            if self._series_kept < len(self._series):  # first: who reads a record finds what it is of
                self._try(self._keep_series, self._series.all)
            if records:
                self._try(self._points.write, self._as_before(records) if self._before else records)
            self._reached.take(point, now)
            self._count(point, now)
        self._take_events(self._alerts.points(points))

    def _count(self, point: Point, now: float) -> None:
        """What files tell counts only until the output tells of steps: some number their own lines."""
        tells = point.kind == "train" and point.step is not None and math.isfinite(now)
        if tells and point.step is not None and (point.source == OUTPUT or self.log.progress is None):
            self._steps.take(int(point.step), now)

    @property
    def step(self) -> int | None:
        """The furthest step that the training has told of."""
        return self._steps.step

    def take_event(self, event: Event) -> None:
        """The first few thousand of each kind are kept."""
        self._event_counts[event.kind] += 1
        if self._event_counts[event.kind] <= (_MOST_TOLD if event.kind in _TOLD else MOST_EVENTS):
            now = self._elapsed_s()
            told = {"elapsed_s": round(now, 3) if math.isfinite(now) else None}
            self._try(self._events.write_json, event.to_json() | told)

    def look_for_patterns(self) -> None:
        """Takes up what the user has added. A new pattern first reads what was printed before, a part at each call,
        and from where it has caught up, each line as it comes."""
        self._notice_patterns()
        if self._past:
            self._read_past(_PAST_S)

    def _notice_patterns(self) -> None:
        changed = self._directory.patterns_changed()
        if changed != self._patterns_changed:
            self._patterns_changed = changed
            new = [template for template in self._directory.read_patterns() if template not in self._patterns]
            self._patterns += new
            for template in new:
                with suppress(PatternError):  # it was checked before it was kept
                    self._past.append(Past(Pattern.parse(template)))

    def _read_past(self, for_s: float) -> bool:
        """Goes on with the first pattern that has not caught up; whether it has now."""
        past = self._past[0]
        until = self._monotonic() + for_s
        for points in past.read(self._directory, lambda: self._finished):
            self.take_points(points, math.nan)
            if self._monotonic() > until:
                return False
        self.log.add_pattern(past.pattern, past.counts)
        self._past.pop(0)
        return True

    def write_progress(self) -> None:
        """Only if it changed."""
        training = self.log.phase == "training"
        self._take_events(self._alerts.progress(self.log.progress, training, self._elapsed_s()))
        if (now := self._current()) != self._progress:
            self._progress = now
            self._try(self._directory.write_progress, now)

    def state(self) -> dict[str, Any]:
        """All that whoever goes on needs, after this process was killed: it can be pickled. It holds output that was
        not masked yet, so it is for no disk."""
        kept = {name: getattr(self, name) for name in _KEPT}
        if self._finished:
            return kept
        return kept | {"output": self._output.place, "sizes": [self._points.size, self._events.size]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """To the moment when `state` was made: what was recorded after that is taken back, for it comes again."""
        for name in _KEPT:
            setattr(self, name, state[name])
        self._hidden = lru_cache(maxsize=4096)(self._masker.text)
        if self._finished:
            return
        self._try(self._output.go_back, state["output"])
        points, events = state["sizes"]
        with suppress(OSError):
            self._before = self._points.go_back(points)
        self._try(self._events.go_back, events)
        self._series_kept = 0  # written again with the next point: those that come may be others

    def forget_before(self) -> None:
        """All that was taken back has come again."""
        self._before = b""

    def _as_before(self, records: bytes) -> bytes:
        """With the times that they had before they were taken back: a page may have them."""
        again, self._before = self._before[: len(records)], self._before[len(records) :]
        return again if len(again) == len(records) and _without_times(again) == _without_times(records) else records

    @property
    def finished(self) -> bool:
        return self._finished

    def finish(self) -> None:
        """Patterns that were added at the last read all that was printed: after the log's own end, so that none reads a
        line twice."""
        try:
            self._finish_reading()
        finally:
            self._finished = True
            for file in (self._output, self._points, self._events, self._samples):
                self._try(_close, file)

    def _finish_reading(self) -> None:
        if not self._unmasked:
            self._take_shown(self._masker.finish())
        self.take_points(self.log.finish())
        self._finished = True
        self._finish_patterns()
        self._take_events(self.log.take_events())
        self.write_progress()

    def _finish_patterns(self) -> None:
        until = self._monotonic() + _LAST_PAST_S
        self._notice_patterns()
        while self._past:
            if not self._read_past(until - self._monotonic()):
                note("a pattern was added so late that it did not read all that was printed")
                return

    def read_late_patterns(self) -> None:
        """Those that were added after `finish`: from all that was printed."""
        late = [template for template in self._directory.read_patterns() if template not in self._patterns]
        for template in late:
            self._patterns.append(template)
            with suppress(PatternError, OSError):
                add_past_points(self._directory, Pattern.parse(template))

    def _take_events(self, events: Sequence[Event]) -> None:
        for event in events:
            self.take_event(event)
            if event.kind == "alert":
                self._tell(event)

    def _keep_series(self, series: Sequence[Series]) -> None:
        self._directory.write_series(series)
        self._series_kept = len(series)

    def _current(self) -> dict[str, Any]:
        progress = self.log.progress
        found = self._reached.to_json()
        if progress:
            eta_s = self._pace.eta_s(progress, self._monotonic())
            found |= {"step": progress.step, "total": progress.total, "eta_s": eta_s}
        if doing := self.log.doing:
            found |= {"doing": doing.to_json()}
        if epoch := self.log.epoch:
            found |= {"epoch": number_to_json(epoch.number), "epochs": epoch.epochs}
        if (step_s := self._steps.seconds) is not None:
            found |= {"step_s": step_s}
        if peak := self._peak.to_json():
            found |= {"peak": peak}
        return found

    def _try(self, write: Callable[[Any], None], value: Any) -> None:
        try:
            write(value)
        except OSError as error:
            if not self.refused:
                note(f"the disk refused a record: {error}")
            self.refused = True


def _without_times(records: bytes) -> list[bytes]:
    return [
        records[at : at + _TIME_AT] + records[at + _TIME_AT + 8 : at + RECORD.size]
        for at in range(0, len(records), RECORD.size)
    ]


def note(text: str) -> None:
    """A line for supervisor.log, which may lie on the very disk that is full."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _close(file: Appender | RecordFile | OutputFile | SampleRows) -> None:
    file.close()
