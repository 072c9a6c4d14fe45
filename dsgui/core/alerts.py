"""What needs a look while a run goes on: a value that is no number, no step for long, memory near its limit, a drop in
speed. An alert is told once, and once more ("calm") when it is over."""

import math
from collections import deque
from collections.abc import Sequence
from statistics import median

from dsgui.core.points import Event, Point
from dsgui.core.telemetry import SLOWDOWNS, Sample, throttle_reasons
from dsgui.core.trainlog import Progress

_NAMES = frozenset({"loss", "grad_norm", "eval_loss"})
_GIB = 1 << 30

STALL_TIMES = 10  # as long as a step usually takes
_STALL_LEAST_S = 30.0
_STEPS_KNOWN = 5

MEMORY_FULL, _MEMORY_CALM = 0.95, 0.93

_MINUTE_S = 60.0
_MINUTES_KNOWN = 5
SPEED_DROP, _SPEED_CALM = 0.5, 0.75


class Alerts:
    """Fed what the supervisor sees; each call returns what changed. `now_s` counts from the run's beginning."""

    def __init__(self) -> None:
        self._active: set[str] = set()
        self._step = -1
        self._step_at: float | None = None
        self._took: deque[float] = deque(maxlen=50)
        self._minute: tuple[float, int] | None = None
        self._rates: deque[float] = deque(maxlen=120)

    def points(self, points: Sequence[Point]) -> list[Event]:
        """Losses and gradient norms that are NaN or infinite. An infinite norm alone is an overflow that DeepSpeed
        skips, and no alert."""
        found: list[Event] = []
        for point in points:
            for name in _NAMES & point.values.keys():
                value, subject = point.values[name], f"{name} {point.rank or 0}"
                wrong = math.isnan(value) or (math.isinf(value) and name != "grad_norm")
                word = "NaN" if math.isnan(value) else "infinite"
                found += self._set(subject, wrong, f"{name} is {word}.", point.step)
        return found

    def sample(self, sample: Sample) -> list[Event]:
        """Memory within 5 % of what there is, or of what the container may use; a card that is too hot or short of
        power."""
        found = self._memory("memory", "Main memory", sample.host_used_bytes, sample.host_total_bytes)
        found += self._memory("memory limit", "Memory of this container", sample.limit_used_bytes, sample.limit_bytes)
        for gpu in sample.gpus:
            found += self._memory(f"memory gpu{gpu.index}", f"GPU {gpu.index}", gpu.used_bytes, gpu.total_bytes)
            if gpu.throttle is not None:
                reasons = ", ".join(throttle_reasons(gpu.throttle & SLOWDOWNS))
                text = (
                    f"GPU {gpu.index} is slowed down: {reasons}." if reasons else f"GPU {gpu.index} is not slowed down."
                )
                found += self._set(f"clocks gpu{gpu.index}", bool(reasons), text, None)
        return found

    def progress(self, progress: Progress | None, training: bool, now_s: float) -> list[Event]:
        """No step for long, and a drop in speed. `training`: nothing else (an evaluation, a compiler) is under way."""
        if progress is None:
            return []
        if progress.step != self._step:
            return self._stepped(progress, now_s) + self._speed(progress, now_s)
        usual, since = median(self._took) if self._took else 0.0, now_s - (self._step_at or now_s)
        over = progress.total is not None and progress.step >= progress.total
        known = len(self._took) >= _STEPS_KNOWN and training and not over
        if known and since > max(STALL_TIMES * usual, _STALL_LEAST_S):
            return self._set(
                "stall", True, f"No step for {since:.0f} s; one usually takes {usual:.1f} s.", progress.step
            )
        return []

    def _stepped(self, progress: Progress, now_s: float) -> list[Event]:
        steps = progress.step - self._step
        if self._step_at is not None and steps > 0 and "stall" not in self._active:
            self._took.append((now_s - self._step_at) / steps)
        self._step, self._step_at = progress.step, now_s
        return self._set("stall", False, "Steps go on.", progress.step)

    def _speed(self, progress: Progress, now_s: float) -> list[Event]:
        if self._minute is None or progress.step < self._minute[1]:
            self._minute = now_s, progress.step
        began, first = self._minute
        if now_s - began < _MINUTE_S:
            return []
        rate, self._minute = (progress.step - first) / (now_s - began), (now_s, progress.step)
        usual = median(self._rates) if len(self._rates) >= _MINUTES_KNOWN else None
        self._rates.append(rate)
        if usual is None or (rate >= SPEED_DROP * usual and rate < _SPEED_CALM * usual):
            return []
        text = f"{rate:.3g} steps/s in the last minute; {usual:.3g} were usual."
        return self._set("speed", rate < SPEED_DROP * usual, text, progress.step)

    def _memory(self, subject: str, name: str, used: int | None, total: int | None) -> list[Event]:
        if not used or not total or _MEMORY_CALM * total <= used < MEMORY_FULL * total:
            return []
        text = f"{name}: {used / _GIB:.1f} of {total / _GIB:.1f} GiB are in use ({100 * used / total:.0f} %)."
        return self._set(subject, used >= MEMORY_FULL * total, text, None)

    def _set(self, subject: str, wrong: bool, text: str, step: int | None) -> list[Event]:
        if wrong == (subject in self._active):
            return []
        (self._active.add if wrong else self._active.discard)(subject)
        return [Event("alert" if wrong else "calm", text, step, subject)]
