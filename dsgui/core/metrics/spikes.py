"""Spikes of a loss: values far above those before it, to which it comes back."""

from dataclasses import dataclass

import numpy as np

from dsgui.core.metrics.thinning import Curve, Floats

_AROUND, _FEWEST = 20, 5  # values before and after one that it is held to; with fewer nothing is said
_HIGHER = 0.5  # of the usual value there: so much more at least
_NOISE = 4.0  # times as far away as nine in ten of those around it are
_MOST_LOOKED_AT = 500  # of a loss that jumps with every step


@dataclass(frozen=True, slots=True)
class Spikes:
    """The highest spike of a curve, and how many it has. `usual` is the median around it."""

    step: int
    value: float
    usual: float
    count: int


def spikes(curve: Curve) -> Spikes | None:
    """None where it has none. A loss that rises and stays there diverges, and one that ends with its highest value may;
    neither is a spike. Values without a step, and those that are no number, are left out."""
    known = np.isfinite(curve.value) & np.isfinite(curve.step)
    step, value = curve.step[known], curve.value[known]
    found = [(at, usual) for at in _jumps(value) if (usual := _usual_around(value, at)) is not None]
    if not found:
        return None
    peaks = [one for place, one in enumerate(found) if not place or one[0] - found[place - 1][0] > _AROUND // 2]
    at, usual = max(found, key=lambda one: float(value[one[0]]) - one[1])
    return Spikes(int(step[at]), float(value[at]), usual, len(peaks))


def _jumps(value: Floats) -> list[int]:
    """Where it may have one: the highest of the steps up."""
    up = np.diff(value)
    places = np.flatnonzero(up > _HIGHER / 2 * np.abs(value[:-1])) + 1
    highest = places[np.argsort(-up[places - 1], kind="stable")[:_MOST_LOOKED_AT]]
    return sorted(int(at) for at in highest)


def _usual_around(value: Floats, at: int) -> float | None:
    """The median around a spike; None where there is none."""
    before, after = value[max(at - _AROUND, 0) : at], value[at + 1 : at + 1 + _AROUND]
    if min(len(before), len(after)) < _FEWEST:
        return None
    usual = float(np.median(before))
    rise = float(value[at]) - usual
    noise = float(np.quantile(np.abs(np.concatenate([before, after]) - usual), 0.9))
    came_back = float(np.median(after)) < usual + rise / 2
    return usual if came_back and rise > max(_HIGHER * abs(usual), _NOISE * noise) else None
