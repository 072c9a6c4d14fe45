"""Spikes of a loss: values far above those before it, to which it comes back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.thinning import Curve, Floats, Places

_AROUND, _FEWEST = 20, 5  # values before one that it is held to, and those after; with fewer nothing is said
_BACK = 60  # values within which it comes back: most fall slowly
_HIGHER = 0.5  # of the usual value before: so much more at least
_NOISE = 3.0  # times as far away as nine in ten of those before are
_MARGIN = 4.4  # how far a run's own noise reaches: 0 of 1,000 log-normal runs, 3 to 7 % of Laplace's
_TAIL = (0.75, 0.9, 0.99)  # where it is measured how fast a noise's tail falls
_APART = 10  # what is nearer than that is one spike
_LARGE = 1e100  # whose differences and sums may be beyond all numbers


@dataclass(frozen=True, slots=True)
class Spikes:
    """The highest spike of a curve, and how many it has. `usual` is the median before it."""

    step: float
    value: float
    usual: float
    count: int

    def to_json(self) -> Mapping[str, float]:
        """As pages tell it."""
        return {"step": self.step, "value": self.value, "count": self.count}


def spikes(curve: Curve) -> Spikes | None:
    """None where it has none. A loss that rises and stays there diverges, and one that ends with its highest value may;
    neither is a spike, nor is what its own noise reaches now and then. Values without a step, and those that are no
    number, are left out."""
    known = np.isfinite(curve.value) & np.isfinite(curve.step)
    step, value = curve.step[known], curve.value[known]
    if len(value) <= 2 * _FEWEST:
        return None
    most = float(np.abs(value).max())
    scaled = value / most if most > _LARGE else value
    peaks = _peaks(scaled)
    usual, are = _usual_before(scaled, peaks)
    found, usual = peaks[are], usual[are]
    if not len(found):
        return None
    highest = int(np.argmax(scaled[found] - usual))
    at, unit = found[highest], most if most > _LARGE else 1.0
    return Spikes(float(step[at]), float(value[at]), float(usual[highest]) * unit, len(found))


def _peaks(value: Floats) -> Places:
    """Where it may have one: the highest of the values, near to each other, that its noise does not reach."""
    logs = np.log(value) if value.min() > 0 else value  # a noise is usually in proportion
    middle = _block_medians(logs)
    noise = logs - middle
    lowest = np.minimum(middle, np.concatenate([middle[:1].repeat(_AROUND), middle])[: len(middle)])
    high = np.flatnonzero(logs - lowest > _reach(noise))
    if not len(high):
        return high
    first = np.flatnonzero(np.diff(high, prepend=-_APART - 1) > _APART)
    ends = np.append(first[1:], len(high))
    return np.array([high[a:b][value[high[a:b]].argmax()] for a, b in zip(first, ends, strict=True)])


def _reach(noise: Floats) -> float:
    """How far the noise of a curve as long as this goes up, if its tail falls as an exponential one's or faster."""
    half, *above = np.quantile(noise, [0.5, *_TAIL])
    tail = min((one - half) / np.log(0.5 / (1 - share)) for one, share in zip(above, _TAIL, strict=True))
    return float(half + tail * (np.log(len(noise) / 2) + _MARGIN))


def _block_medians(value: Floats) -> Floats:
    """For each value the median of the `_AROUND` values among which it is."""
    whole = len(value) // _AROUND * _AROUND
    if not whole:
        return np.full(len(value), np.median(value))
    medians = np.median(value[:whole].reshape(-1, _AROUND), axis=1).repeat(_AROUND)
    rest = np.full(len(value) - whole, np.median(value[-_AROUND:]))
    return np.concatenate([medians, rest])


def _usual_before(value: Floats, peaks: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """The median before each, and whether it is a spike."""
    usual, are = np.zeros(len(peaks)), np.zeros(len(peaks), dtype=bool)
    for place, at in enumerate(peaks):
        before, after = value[max(at - _AROUND, 0) : at], value[at + 1 : at + 1 + _BACK]
        if min(len(before), len(after)) < _FEWEST:
            continue
        usual[place] = np.median(before)
        rise = value[at] - usual[place]
        noise = np.quantile(np.abs(before - usual[place]), 0.9)
        came_back = np.median(after[-_AROUND:]) < usual[place] + rise / 2
        are[place] = came_back and rise > max(_HIGHER * abs(usual[place]), _NOISE * noise)
    return usual, are
