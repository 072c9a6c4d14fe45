"""Steps of lines that name none, by those of others.

`EngineLosses`: a script that logs as often as its engine does, or at every second or third of its lines, `Loss: 9.97`
right after `step=90, skipped=17, …`. Where another loss comes before the engine's next line, or one came before its
first, or at steps that are no multiple of how far they lie apart, which step each is of can't be told.

`StepTimes`: DeepSpeed's time lines, which name none (`time (ms) | fwd: 0.59 | bwd: 1.12 | step: 2.84`).

There is one line for each whole step. DeepSpeed's progress line of a step comes before it (engine.py: step()), a
script's own line or bar usually after it; between two lines that name a step, time lines are counted.
"""

from collections.abc import Iterator

from dsgui.core.logs.readings import Form, Reading
from dsgui.core.metrics.points import Point

_MOST_WAITING = 64
Timed = tuple[Reading, int | None]
Told = tuple[Point, str]  # and the line that told it


class EngineLosses:
    """Takes losses and the engine's steps; returns the losses that are to be drawn, with their steps where these can be
    told. The first waits for the second, which shows how often the script logs."""

    def __init__(self) -> None:
        self._at: int | None = None  # the engine's last step, if no loss came since
        self._last: int | None = None  # the step that the last loss came after
        self._told: bool | None = None  # whether losses come after their steps; None before two did
        self._waiting: Told | None = None

    def engine_is_at(self, step: int) -> None:
        self._at = step or None

    def takes(self, point: Point, text: str) -> Iterator[Told]:
        at, self._at = self._at, None
        last, self._last = self._last, at
        if self._waiting:
            self._told = at is not None and last is not None and at > last and last % (at - last) == 0
            first, of = self._waiting
            self._waiting = None
            yield first._replace(step=last if self._told else None), of
        elif self._told is None and at is not None:
            self._waiting = point, text
            return  # until the next, or the end
        self._told = bool(self._told) and at is not None
        yield point._replace(step=at if self._told else None), text

    def finish(self) -> Iterator[Told]:
        if self._waiting:
            (point, text), self._waiting = self._waiting, None
            yield point._replace(step=None if self._at else self._last), text


class StepTimes:
    """Takes time lines and the steps that other lines name; returns the time lines with their steps."""

    def __init__(self) -> None:
        self.begun = False  # a time line has come
        self._at: int | None = None  # the step of the last time line, or a step that was named since
        self._named = False  # since the last time line
        self._by_engine = False
        self._script_comes_after = False
        self._whole_steps = False
        self._waiting: list[Reading] = []

    def takes(self, reading: Reading) -> list[Timed]:
        """The readings whose step is now known; those of micro steps only if there are none of whole steps."""
        self.begun = True
        if reading.form is Form.MICRO_TIMES:
            return [] if self._whole_steps else self._wait(reading)
        if not self._whole_steps:
            self._whole_steps = True
            self._waiting.clear()
        if self._at is None or (self._script_comes_after and not self._by_engine):
            return self._wait(reading)
        self._at += 0 if self._named else 1
        self._named = False
        return [(reading, self._at)]

    def engine_is_at(self, step: int) -> list[Timed]:
        """DeepSpeed's own line; its time line follows. Before the first step it says 0."""
        timed = self._release(step - 1)
        self._at, self._named, self._by_engine = step, step > 0, True
        return timed

    def script_is_at(self, step: int) -> list[Timed]:
        """A script's line or a bar of the training."""
        if self._by_engine:
            return []
        self._script_comes_after = self._script_comes_after or bool(self._waiting)
        timed = self._release(step)
        self._at, self._named = step, True
        return timed

    def finish(self) -> list[Timed]:
        return self._release(None if self._at is None else self._at + len(self._waiting))

    def _wait(self, reading: Reading) -> list[Timed]:
        self._waiting.append(reading)
        return self._release(None) if len(self._waiting) > _MOST_WAITING else []

    def _release(self, last: int | None) -> list[Timed]:
        waiting, self._waiting = self._waiting, []
        if last is None or not self._whole_steps:
            return [(one, last) for one in waiting]
        first = last - len(waiting) + 1
        return [(one, place if place >= 0 else None) for place, one in enumerate(waiting, first)]
