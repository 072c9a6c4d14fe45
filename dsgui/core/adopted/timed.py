"""Points of a training's files together with when they were logged, as far as any file tells."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dsgui.core.metrics.event_file import Scalar
from dsgui.core.metrics.logged_files import TENSORBOARD, Batch, Named, named, stretches
from dsgui.core.metrics.points import Point

_MOST_DATE = 1e11
_MOST_STEP = 1 << 53  # a larger one is no exact float


class Timed(NamedTuple):
    """`at` is unix seconds, NaN where it is not known."""

    point: Point
    at: float = math.nan


def without_repeated(files: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The scalars of a training's event files, the files in the order they were begun: what was resumed from an earlier
    step tells again what came after that, and the later counts. By tag: an evaluation afterwards takes nothing back."""
    begins: dict[str, int] = {}
    kept: list[list[Scalar]] = []
    for scalars in reversed(files):
        kept.append([one for one in scalars if one.step < begins.get(one.tag, one.step + 1)])
        for one in scalars:
            begins[one.tag] = min(one.step, begins.get(one.tag, one.step))
    together = [one for scalars in reversed(kept) for one in scalars]
    return together if len(files) < 2 else sorted(together, key=lambda one: (_date(one.wall_time), one.step))


def timed_points(scalars: Sequence[Scalar], batch: Batch) -> Iterator[Timed]:
    """Those of one step as one point of each kind. DeepSpeed's count samples; `batch` is learned from them."""
    names = {scalar.tag: named(scalar.tag) for scalar in scalars}
    for scalar in scalars:
        if names[scalar.tag].by_samples:
            batch.learn(names[scalar.tag].name, scalar.step)
    for begin, end in stretches(scalars):
        yield from _of_step([(names[one.tag], one) for one in scalars[begin:end]], batch)


def _of_step(told: Sequence[tuple[Named, Scalar]], batch: Batch) -> Iterator[Timed]:
    epoch = next((scalar.value for name, scalar in told if name == Named("train", "epoch")), None)
    groups: dict[tuple[str, bool], dict[str, float]] = {}
    for name, scalar in told:
        if name != Named("train", "epoch"):
            groups.setdefault((name.kind, name.by_samples), {})[name.name] = scalar.value
    counted = told[0][1].step if 0 <= told[0][1].step < _MOST_STEP else None
    for (kind, by_samples), values in groups.items():
        step = batch.step(counted) if by_samples else counted
        yield Timed(Point(step, epoch, values, kind, source=TENSORBOARD), _date(told[0][1].wall_time))


def _date(at: float) -> float:
    return at if 0 < at < _MOST_DATE else math.nan


def lent(points: Iterable[Point], timed: Iterable[Timed]) -> list[Timed]:
    """The points with the times at which others of the same step were logged."""
    times: dict[tuple[str, int], float] = {}
    steps: dict[int, float] = {}
    for point, at in timed:
        if point.step is not None and math.isfinite(at):
            times.setdefault((point.kind, point.step), at)
            steps.setdefault(point.step, at)
    return [Timed(one, _time_of(one, times, steps)) for one in points]


def _time_of(point: Point, times: dict[tuple[str, int], float], steps: dict[int, float]) -> float:
    if point.step is None:
        return math.nan
    return times.get((point.kind, point.step), steps.get(point.step, math.nan))


def span(timed: Iterable[Timed]) -> tuple[float, float] | None:
    """When the first and the last were logged; None where no time is known."""
    known = [at for _, at in timed if math.isfinite(at)]
    return (min(known), max(known)) if known else None


def furthest(timed: Sequence[Timed]) -> int:
    """The last step of the training that they tell of."""
    return max((one.step for one, _ in timed if one.step is not None and one.kind == "train"), default=-1)
