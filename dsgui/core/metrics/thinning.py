"""Curves as arrays, and fewer points that look the same: each interval keeps its lowest and its highest value.

A screen has a few thousand columns, a run logs a million steps; a spike of a single step must still be shown.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.points import number_to_json

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

# A screen shows some thousand columns; a run logs a million lines. Of each of so many stretches two points are shown.
STRETCHES_SHOWN = 1000
_ODD_SHOWN = 200
_FEW = 40  # of so many numpy's calls take longer than Python's own numbers
_TIME_DECIMALS, _EPOCH_DECIMALS = 2, 5
_POWERS = 340  # of ten, more than a float has
# 10 ** n, for a negative n 1, which is found at the array's end; none so large that a product is infinite.
_UP = 10.0 ** np.concatenate([np.arange(_POWERS).clip(0, 300), np.zeros(_POWERS)])
_MOST_WHOLE = 1 << 53  # a larger whole number is no exact float


@dataclass(frozen=True, slots=True)
class Curve:
    """Arrays of equal length; NaN where a step or an epoch is not known. `time` is seconds since the run began. A value
    may be NaN or infinite; in a sample NaN means that there was no reading."""

    series: Series
    step: Floats
    epoch: Floats
    time: Floats
    value: Floats

    def __len__(self) -> int:
        return len(self.value)

    def between(self, axis: str, low: float, high: float) -> "Curve":
        """The part whose `axis` ("step", "epoch" or "time") lies in a range, plus one point on either side."""
        x = getattr(self, axis)
        inside = np.flatnonzero((x >= low) & (x <= high))
        part = slice(max(inside[0] - 1, 0), inside[-1] + 2) if len(inside) else slice(0, 0)
        return Curve(self.series, self.step[part], self.epoch[part], self.time[part], self.value[part])


@dataclass(frozen=True, slots=True)
class Thinned:
    """`places` are two indices per bucket of `size` points (the last may have fewer): those of its lowest and its
    highest value, in order. `mean` has one value per bucket, that of its finite values."""

    size: int
    places: Places
    mean: Floats
    odd: Places


def thin(value: Floats, most: int) -> Thinned:
    """At most `most` buckets of equal size. `odd` says where values are NaN or infinite."""
    size = max(-(-len(value) // most), 1)
    finite = np.isfinite(value)
    whole = len(value) // size * size
    lowest = _extremes(np.where(finite, value, np.inf), whole, size, np.argmin)
    highest = _extremes(np.where(finite, value, -np.inf), whole, size, np.argmax)
    places = np.empty(2 * len(lowest), dtype=np.intp)
    places[0::2], places[1::2] = np.minimum(lowest, highest), np.maximum(lowest, highest)
    begins = np.arange(0, len(value), size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.add.reduceat(np.where(finite, value, 0.0), begins) / np.add.reduceat(finite, begins, dtype=float)
    return Thinned(size, places, mean, np.flatnonzero(~finite))


def _extremes(value: Floats, whole: int, size: int, pick: Any) -> Places:
    found = pick(value[:whole].reshape(-1, size), axis=1) + np.arange(0, whole, size)
    rest = [whole + pick(value[whole:])] if whole < len(value) else []
    return np.concatenate([found, np.array(rest, dtype=np.intp)])


def to_json(curves: Iterable[tuple[str, Curve]], most: int) -> dict[str, Any]:
    """Named curves for the page: `x` has the shared steps, times and epochs, `y` the values of each.

    A curve of at most `2 * most` points is sent unchanged; a longer one as two points per bucket for `most` buckets,
    with their means. Numbers are encoded as differences where that is shorter."""
    shared: dict[bytes, int] = {}
    x: list[dict[str, Any]] = []

    def place_of(curve: Curve, places: Places | slice) -> int:
        axes = curve.step[places], curve.time[places], curve.epoch[places]
        key = b"".join(axis.tobytes() for axis in axes)
        if key not in shared:
            shared[key] = len(x)
            step, time, epoch = axes
            coded = {"time": _coded(time, _TIME_DECIMALS), "epoch": _coded(epoch, _EPOCH_DECIMALS)}
            x.append({"step": _coded(step, 0)} | coded)
        return shared[key]

    y: list[dict[str, Any]] = []
    for name, curve in curves:
        if len(curve) <= 2 * most:
            y.append({"id": name, "x": place_of(curve, slice(None)), "v": numbers(curve.value)})
            continue
        thinned = thin(curve.value, most)
        one = {
            "id": name,
            "x": place_of(curve, thinned.places),
            "v": numbers(curve.value[thinned.places]),
            "size": thinned.size,
            "count": len(curve),
            "mean": numbers(thinned.mean),
            "last": numbers(curve.value[-1:])[0],
        }
        if len(thinned.odd) and curve.series.kind != "sample":
            shown = thinned.odd[:_ODD_SHOWN]
            one |= {"odd": {"x": place_of(curve, shown), "v": numbers(curve.value[shown])}}
        y.append(one)
    return {"x": x, "y": y}


def numbers(values: Floats) -> list[float | str]:
    """Six digits each, which is more than a screen shows; NaN and infinity as words."""
    if len(values) <= _FEW:
        return [_six_digits(value) for value in values.tolist()]
    finite = np.isfinite(values)
    known = values if finite.all() else np.where(finite, values, 0.0)
    size = np.abs(known)
    # By a power of ten on the side where it is exact: the quotient is then the float that is written the shortest.
    digits = 5 - np.floor(np.log10(np.where(size, size, 1.0))).astype(np.intp)
    up, down = _UP[digits], _UP[-digits]
    short: list[float | str] = (np.rint(known / down * up) / up * down).tolist()
    if known is not values:
        for place in np.flatnonzero(~finite).tolist():
            short[place] = number_to_json(float(values[place]))
    return short


def _six_digits(value: float) -> float | str:
    return float(f"{value:.6g}") if math.isfinite(value) else number_to_json(value)


def _coded(values: Floats, decimals: int) -> dict[str, Any] | None:
    """`{"d": differences, "k": decimals}` in units of the last decimal; with gaps, or if a value has more digits than a
    float, `{"v": values}`; None if no value is known."""
    if len(values) <= _FEW:
        return _few_coded(values.tolist(), decimals)
    known = np.isfinite(values)
    if not known.any():
        return None
    if not known.all() or max(values.max(), -values.min()) > _MOST_WHOLE / 10**decimals:
        return {"v": [round(value, decimals) if math.isfinite(value) else None for value in values.tolist()]}
    whole = np.rint(values * 10**decimals).astype(np.int64)
    return {"d": [int(whole[0]), *(whole[1:] - whole[:-1]).tolist()], "k": decimals}


def _few_coded(values: Sequence[float], decimals: int) -> dict[str, Any] | None:
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return None
    if len(known) < len(values) or max(map(abs, known)) > _MOST_WHOLE / 10**decimals:
        return {"v": [round(value, decimals) if math.isfinite(value) else None for value in values]}
    whole = [round(value * 10**decimals) for value in values]
    return {"d": [whole[0], *(after - before for before, after in pairwise(whole))], "k": decimals}
