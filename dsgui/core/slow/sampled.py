"""What was sampled and logged while a run trained, as arrays on one clock: what the causes are told from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsgui.core.metrics.performance import loss_curve
from dsgui.core.metrics.points import Event
from dsgui.core.metrics.samples import SLOWDOWNS
from dsgui.core.metrics.thinning import Curve, Floats

Moment = tuple[float, Event]  # seconds since the run began
_GPU = re.compile(r"gpu(\d+)\.(\w+)\Z")
_WORK_MS = ("forward_ms", "backward_inner_ms", "backward_ms")  # what a rank does alone: the others wait in the rest
_FEWEST_OF_A_RANK = 5  # the first steps compile, and are slower on every rank
_FEWEST_STEPS = 4  # between logged points: a median of fewer is one of them


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU while the run trained: `busy` in percent, `cpu` of its machine at the same moments (NaN: not known)."""

    node: str
    index: int
    busy: Floats
    cpu: Floats
    pcie_bytes_s: Floats
    slowed: Floats  # 1 where its clocks were held down by heat or power supply, 0 otherwise

    @property
    def name(self) -> str:
        return f"{self.node}: GPU {self.index}" if self.node else f"GPU {self.index}"


@dataclass(frozen=True, slots=True)
class Pauses:
    """What interrupted the steps, in seconds: how much longer than usual it took to the next logged step."""

    trained_s: float
    evaluation_s: float
    checkpoint_s: float


@dataclass(frozen=True, slots=True)
class Readings:
    """`trained` is how many samples fell into the training. A figure that nobody took is None, or an empty array."""

    trained: int
    cards: tuple[Card, ...]
    cpu: Floats
    own_cpu: Floats  # of the run's processes, at the same moments; NaN: not known
    swap: Floats
    processes: int | None
    pauses: Pauses | None
    rank_ms: dict[int, float]


def readings(curves: Sequence[Curve], moments: Sequence[Moment]) -> Readings:
    """Of one run, from all its curves, telemetry too, and its events."""
    clock = loss_curve(curves) or _longest(curves)
    if clock is None:
        return Readings(0, (), np.empty(0), np.empty(0), np.empty(0), None, None, {})
    stops = _stops(clock, curves, moments)
    begin, end = float(clock.time[0]), float(clock.time[-1])
    sampled = {key: _during(curve, begin, end, stops) for key, curve in _sampled(curves).items()}
    times, cpu = sampled.get(("", "cpu_percent"), _NONE)
    processes = sampled.get(("", "run_processes"), _NONE)[1]
    return Readings(
        trained=len(times) or max((len(one[0]) for one in sampled.values()), default=0),
        cards=tuple(_cards(sampled)),
        cpu=cpu[np.isfinite(cpu)],
        own_cpu=_at(times, sampled.get(("", "run_cpu_percent"), _NONE))[np.isfinite(cpu)],
        swap=_finite(sampled.get(("", "swap_used_bytes"), _NONE)[1]),
        processes=int(np.nanmedian(processes)) if np.isfinite(processes).any() else None,
        pauses=_pauses(clock, stops),
        rank_ms=_rank_ms(curves),
    )


_Sampled = tuple[Floats, Floats]  # seconds, values
_NONE: _Sampled = (np.empty(0), np.empty(0))


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _longest(curves: Sequence[Curve]) -> Curve | None:
    trained = [one for one in curves if one.series.kind == "train" and len(one) > 1]
    return max(trained, key=len, default=None)


def _sampled(curves: Sequence[Curve]) -> dict[tuple[str, str], _Sampled]:
    """Times and values by node and name; telemetry may lie in several tables."""
    parts: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        if curve.series.kind == "sample":
            parts.setdefault((curve.series.node, curve.series.name), []).append(curve)
    return {
        key: (np.concatenate([one.time for one in found]), np.concatenate([one.value for one in found]))
        for key, found in parts.items()
    }


def _during(sampled: _Sampled, begin: float, end: float, stops: Sequence[tuple[float, float, str]]) -> _Sampled:
    """What was read between the first and the last logged step, and not while it evaluated or saved."""
    time, value = sampled
    inside = (time >= begin) & (time <= end)
    for first, last, _ in stops:
        inside &= ~((time > first) & (time < last))
    return time[inside], value[inside]


def _cards(sampled: dict[tuple[str, str], _Sampled]) -> list[Card]:
    found = []
    for (node, name), (time, busy) in sorted(sampled.items()):
        match = _GPU.match(name)
        if match is None or match[2] != "utilisation_percent" or not np.isfinite(busy).any():
            continue
        told = np.isfinite(busy)
        time, busy = time[told], busy[told]
        other = {what: sampled.get((node, f"gpu{match[1]}.{what}"), _NONE) for what in _BESIDE}
        pcie = _at(time, other["pcie_rx_bytes_s"]) + _at(time, other["pcie_tx_bytes_s"])
        throttle = np.nan_to_num(_at(time, other["throttle"])).astype(np.int64)
        cpu = _at(time, sampled.get((node, "cpu_percent"), _NONE))
        found.append(Card(node, int(match[1]), busy, cpu, pcie, ((throttle & SLOWDOWNS) != 0).astype(float)))
    return found


_BESIDE = ("pcie_rx_bytes_s", "pcie_tx_bytes_s", "throttle")


def _at(times: Floats, sampled: _Sampled) -> Floats:
    """The readings last taken before these times; NaN where there is none."""
    time, value = sampled
    if not len(time):
        return np.full(len(times), np.nan)
    places = np.searchsorted(time, times, side="right") - 1
    return np.where(places >= 0, value[places.clip(0)], np.nan)


def _stops(clock: Curve, curves: Sequence[Curve], moments: Sequence[Moment]) -> list[tuple[float, float, str]]:
    """Between which two logged steps it evaluated or saved; an evaluation that also saved is one."""
    evaluations = [float(at) for one in curves if one.series.kind == "eval" for at in one.time]
    told = [(at, "evaluation") for at in evaluations]
    told += [(at, event.kind) for at, event in moments if event.kind in ("evaluation", "checkpoint")]
    kinds: dict[int, str] = {}
    for at, kind in told:
        place = int(np.searchsorted(clock.time, at, side="right")) - 1
        if 0 <= place < len(clock) - 1:
            kinds[place] = "evaluation" if "evaluation" in (kind, kinds.get(place)) else kind
    return [(float(clock.time[at]), float(clock.time[at + 1]), kind) for at, kind in sorted(kinds.items())]


def _pauses(clock: Curve, stops: Sequence[tuple[float, float, str]]) -> Pauses | None:
    """How long they took is what is more than the steps between them usually take. None where too few are logged."""
    known = np.isfinite(clock.step)
    step, time = clock.step[known], clock.time[known]
    steps, seconds = np.diff(step), np.diff(time)
    ordinary = (steps > 0) & ~np.isin(time[:-1], [first for first, _, _ in stops])
    if ordinary.sum() < _FEWEST_STEPS:
        return None
    usual = float(np.median(seconds[ordinary] / steps[ordinary]))
    took = {"evaluation": 0.0, "checkpoint": 0.0}
    for first, last, kind in stops:
        at = int(np.searchsorted(time, first))
        between = float(steps[at]) if at < len(steps) and steps[at] > 0 else 0.0
        took[kind] += max(last - first - usual * between, 0.0)
    return Pauses(float(time[-1] - time[0]), took["evaluation"], took["checkpoint"])


def _rank_ms(curves: Sequence[Curve]) -> dict[int, float]:
    """What each rank's own work in a step took, where two ranks or more say."""
    for name in _WORK_MS:
        mine = [one for one in curves if one.series.name == name and len(one) >= _FEWEST_OF_A_RANK]
        found = {one.series.rank or 0: float(np.nanmedian(one.value)) for one in mine if np.isfinite(one.value).any()}
        if len(found) > 1:
            return found
    return {}
