"""How long a step takes once the training has warmed up, told by when each step was first heard of."""

from dataclasses import dataclass, field
from statistics import median

WARM_UP = 3  # the first steps: allocations, kernels and caches are made in them
_AT_ONCE_S, _APART_S = 0.02, 0.5  # output is read a tenth of a second at a time: a shorter time says little
_MOST = 400  # a pace is told by the first of them; a run logs a million


@dataclass(slots=True)
class StepPace:
    """`step` is the furthest that was told."""

    step: int | None = None
    _at_s: float = 0.0
    _from: int | None = None
    _from_s: float = 0.0
    _seconds: list[float] = field(default_factory=list)

    def take(self, step: int, now_s: float) -> None:
        """A step was told of. Quick ones share the time that they took together."""
        if self.step is not None and step <= self.step:
            return
        known = self._from is not None and now_s - self._at_s >= _AT_ONCE_S
        if known and self._at_s - self._from_s >= _APART_S and len(self._seconds) < _MOST:
            self._seconds += self._open()  # all that were told at that time are known by now
            self._begin()
        self.step, self._at_s = step, now_s
        if step >= WARM_UP and (self._from is None or now_s - self._from_s < _AT_ONCE_S):
            self._begin()

    def _begin(self) -> None:
        self._from, self._from_s = self.step, self._at_s

    def _open(self) -> list[float]:
        """What the steps took that have come since the last time was taken."""
        if self.step is None or self._from is None or self.step == self._from:
            return []
        return [(self._at_s - self._from_s) / (self.step - self._from)]

    @property
    def seconds(self) -> float | None:
        """The median; None where nothing was told after the first steps."""
        found = self._seconds or self._open()
        return float(f"{median(found):.4g}") if found else None
