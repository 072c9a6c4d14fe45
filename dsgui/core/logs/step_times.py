"""The steps of DeepSpeed's time lines, which name none (`time (ms) | fwd: 0.59 | bwd: 1.12 | step: 2.84`).

There is one line for each whole step. DeepSpeed's progress line of a step comes before it (engine.py: step()), a
script's own line or bar usually after it; between two lines that name a step, time lines are counted.
"""

from dsgui.core.logs.readings import Form, Reading

_MOST_WAITING = 64
Timed = tuple[Reading, int | None]


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
