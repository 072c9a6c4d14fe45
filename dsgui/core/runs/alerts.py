"""What needs attention while a run goes on: a NaN or infinite value, no step for a long time, memory near its limit, a
drop in speed. An alert is raised once, and reported once more ("calm") when it is over."""

import math
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from dsgui.core.logs.numerals import evaluates
from dsgui.core.logs.trainlog import Progress
from dsgui.core.metrics.points import OUTPUT, Event, Point
from dsgui.core.metrics.samples import SLOWDOWNS, Sample, throttle_reasons
from dsgui.core.metrics.the_loss import is_loss, the_loss
from dsgui.core.sizes import beside, gib
from dsgui.core.texts.saying import Said, listed, said

_NORM = "grad_norm"
_BARE = re.compile(r"[\d.]+\Z")

STALL_TIMES = 10  # as long as a step usually takes
_STALL_LEAST_S = 30.0
_STEPS_KNOWN = 5

MEMORY_FULL, _MEMORY_CALM = 0.95, 0.93

_MINUTE_S = 60.0
_MINUTES_KNOWN = 5
SPEED_DROP, _SPEED_CALM = 0.5, 0.75


class Alerts:
    """Takes what the supervisor sees; each call returns what changed. `now_s` counts from the beginning of the run.
    `machine` is "" for the launching machine; an alert about another one names it."""

    def __init__(self, machine: str = "") -> None:
        self._machine = machine
        self._active: set[str] = set()
        self._step = -1
        self._step_at: float | None = None
        self._took: deque[float] = deque(maxlen=50)
        self._minute: tuple[float, int] | None = None
        self._rates: deque[float] = deque(maxlen=120)

    def points(self, points: Sequence[Point]) -> list[Event]:
        """Losses and gradient norms that are NaN or infinite. An infinite norm alone is an overflow that DeepSpeed
        skips, not an alert. Sources are treated separately: a file is read later than the output."""
        return [event for point in points if self._deserves_a_look(point) for event in self._point(point)]

    def _deserves_a_look(self, point: Point) -> bool:
        """As hardly any of a million does."""
        return bool(self._active) or not all(map(math.isfinite, point.values.values()))

    def _point(self, point: Point) -> list[Event]:
        found: list[Event] = []
        for name in _watched(point.values):
            value = point.values[name]
            if math.isinf(value) and name == _NORM:
                continue
            subject, where, given = f"{name} {point.rank or 0}", "", {"name": name}
            if point.source != OUTPUT:
                subject, where = f"{subject} {point.source}", "_in_file"
                given |= {"source": point.source}
            code = "finite" if math.isfinite(value) else "nan" if math.isnan(value) else "infinite"
            found += self._set(subject, code != "finite", said("alerts", code + where, **given), point.step)
        return found

    def sample(self, sample: Sample) -> list[Event]:
        """Memory within 5 % of the total, or of what the container may use; a GPU that is throttled by heat or
        power."""
        found = self._memory("memory", "host_memory", sample.host_used_bytes, sample.host_total_bytes)
        found += self._memory("memory limit", "container_memory", sample.limit_used_bytes, sample.limit_bytes)
        for gpu in sample.gpus:
            index = str(gpu.index)
            found += self._memory(f"memory gpu{index}", "gpu_memory", gpu.used_bytes, gpu.total_bytes, gpu=index)
            if gpu.throttle is not None:
                reasons = listed(said("clocks", code) for code in throttle_reasons(gpu.throttle & SLOWDOWNS)[0])
                slowed = said("alerts", "gpu_slowed", gpu=index, reasons=reasons)
                told = slowed if reasons else said("alerts", "gpu_full_speed", gpu=index)
                found += self._set(f"clocks gpu{index}", bool(reasons), told, None)
        return found

    def progress(self, progress: Progress | None, training: bool, now_s: float) -> list[Event]:
        """No step for a long time, and a drop in speed. `training`: nothing else (an evaluation, a compiler) is
        running; otherwise time does not count."""
        if progress is None:
            return []
        if not training:
            self._step_at, self._minute = now_s, (now_s, progress.step)
        if progress.step != self._step:
            return self._stepped(progress, now_s) + self._speed(progress, now_s)
        usual, since = median(self._took) if self._took else 0.0, now_s - (self._step_at or now_s)
        over = progress.total is not None and progress.step >= progress.total
        if len(self._took) >= _STEPS_KNOWN and not over and since > max(STALL_TIMES * usual, _STALL_LEAST_S):
            stalled = said("alerts", "stalled", seconds=f"{since:.0f}", usual=f"{usual:.1f}")
            return self._set("stall", True, stalled, progress.step)
        return []

    def _stepped(self, progress: Progress, now_s: float) -> list[Event]:
        steps = progress.step - self._step
        took = now_s - (now_s if self._step_at is None else self._step_at)
        if took > 0 and steps > 0 and "stall" not in self._active:
            self._took.append(took / steps)
        self._step, self._step_at = progress.step, now_s
        return self._set("stall", False, said("alerts", "steps_go_on"), progress.step)

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
        drops = rate < SPEED_DROP * usual
        code = "slower" if drops else "as_fast_again"
        return self._set("speed", drops, said("alerts", code, rate=f"{rate:.3g}", usual=f"{usual:.3g}"), progress.step)

    def _memory(self, subject: str, code: str, used: int | None, total: int | None, **which: str) -> list[Event]:
        if not used or not total or _MEMORY_CALM * total <= used < MEMORY_FULL * total:
            return []
        figures = {"used": beside(used, total), "total": gib(total), "percent": f"{100 * used / total:.0f}"}
        full = used >= MEMORY_FULL * total
        return self._set(subject, full, said("alerts", code if full else f"{code}_below", **which, **figures), None)

    def _set(self, subject: str, wrong: bool, told: Said, step: int | None) -> list[Event]:
        """Says `told` when something begins to be wrong, and again when it is over."""
        if wrong == (subject in self._active):
            return []
        (self._active.add if wrong else self._active.discard)(subject)
        subject = f"{self._machine} {subject}" if self._machine else subject
        return [Event.of("alert" if wrong else "calm", told, step, subject, self._machine)]


def with_unit(given: Mapping[str, str]) -> Mapping[str, str]:
    """What a stored alert gives, for the text of today: sizes were kept without a unit, in GiB, and the text had it."""
    total = given.get("total", "")
    return {**given, "total": f"{total} GiB"} if _BARE.match(total) else given


def _watched(names: Iterable[str]) -> list[str]:
    """The loss that is minimized, each where that can't be told (its parts are NaN with it, and told once); the losses
    on held-out data; the norm of the gradients."""
    losses = [name for name in names if is_loss(name)]
    held_out = [name for name in losses if evaluates(name)]
    trained = [name for name in losses if name not in held_out]
    main = the_loss(trained)
    return [*([main] if main else trained), *held_out, *(name for name in names if name == _NORM)]
