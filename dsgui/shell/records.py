"""The files that grow with a run: output, points, samples, progress; written by its supervisor alone."""

import math
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dsgui.core.trainlog import Point, Progress, TrainLog, number_to_json
from dsgui.shell.store import Appender, OutputFile, RunDirectory

# A parser in Python reads five to seven megabytes a second: a training that prints more must not wait for it.
_UNHURRIED_BYTES = 1 << 20


@dataclass(slots=True)
class Rush:
    """Tells output that comes faster than it can be read: more than a mebibyte within a second."""

    second: float = -math.inf
    bytes_: int = 0

    def adds(self, count: int, now: float) -> bool:
        """Counts; whether it is a rush by now."""
        if now - self.second >= 1:
            self.second, self.bytes_ = now, 0
        self.bytes_ += count
        return self.bytes_ > _UNHURRIED_BYTES


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


class Records:
    """The files that grow with the run. A disk that refuses them never stops the training."""

    def __init__(self, directory: RunDirectory, monotonic: Callable[[], float]) -> None:
        self._directory, self._monotonic = directory, monotonic
        self.log = TrainLog()
        self.refused = False
        self._output = OutputFile(directory)
        self._points = Appender(directory.points_file)
        self._samples = Appender(directory.samples_file)
        self._pace, self._rush = Pace(), Rush()
        self._loss: float | None = None
        self._progress: dict[str, Any] = {}

    def take_output(self, chunk: bytes) -> None:
        self._try(self._output.write, chunk)
        read = self.log.skim if self._rush.adds(len(chunk), self._monotonic()) else self.log.feed
        self._take_points(read(chunk))

    def take_sample(self, sample: dict[str, Any]) -> None:
        self._try(self._samples.write_json, sample)

    def write_progress(self) -> None:
        """Only if it changed."""
        if (now := self._current()) != self._progress:
            self._progress = now
            self._try(self._directory.write_progress, now)

    def finish(self) -> None:
        self._take_points(self.log.finish())
        self.write_progress()
        for file in (self._output, self._points, self._samples):
            self._try(_close, file)

    def _take_points(self, points: list[Point]) -> None:
        for point in points:
            self._try(self._points.write_json, point.to_json())
            if point.kind == "train" and not point.rank:
                self._loss = point.values.get("loss", self._loss)

    def _current(self) -> dict[str, Any]:
        progress = self.log.progress
        found: dict[str, Any] = {} if self._loss is None else {"loss": number_to_json(self._loss)}
        if progress:
            eta_s = self._pace.eta_s(progress, self._monotonic())
            found |= {"step": progress.step, "total": progress.total, "eta_s": eta_s}
        return found

    def _try(self, write: Callable[[Any], None], value: Any) -> None:
        try:
            write(value)
        except OSError as error:
            if not self.refused:
                note(f"the disk refused a record: {error}")
            self.refused = True


def note(text: str) -> None:
    """A line for supervisor.log, which may lie on the very disk that is full."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _close(file: Appender | OutputFile) -> None:
    file.close()
