"""Which charts a report has, and their lines: the curves of one run, or those of several over each other.

A chart is plain JSON: title, unit, whether it begins at zero, its usual axis ("step" or "time") and `lines`, each with
its run, what it is of there, the places of its colour and dashes, `step`, `time` (seconds), `value` (None is a gap) and
`odd`: the places where the value is no number, in words. Long curves are thinned, and each spike is still there.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dsgui.core.metrics.performance import training_curve
from dsgui.core.metrics.points import number_to_json
from dsgui.core.metrics.thinning import Curve, Floats, Places, thin

STRETCHES = 700  # two points of each are in the report
_ODD_SHOWN = 100
_MOST_EVALUATED = 6
_GIB = float(1 << 30)
_CARD = re.compile(r"gpu(\d+)\.(\w+)\Z")
_HOST = {"host_used_bytes": "machine, all processes", "run_bytes": "this run"}
_ON_CARD = {"used_bytes": "all processes", "run_bytes": "this run"}
_TRAINING = (
    ("Loss", (("loss", "train"), ("eval_loss", "eval"))),
    ("Learning rate", (("learning_rate", "train"),)),
    ("Gradient norm", (("grad_norm", "train"),)),
    ("Loss scale", (("loss_scale", "train"),)),
    ("Samples/s", (("samples_per_second", "train"),)),
    ("Tokens/s", (("tokens_per_second", "train"),)),
)
_SPOKEN = {"loss": "training", "eval_loss": "evaluation"}
_NOT_A_SCORE = re.compile(r"_(runtime|per_second|samples|loss|preparation_time)\Z|_mem_")
_FEWEST_SECONDS = 5.0  # that a speed is measured over

Drawn = tuple[str, Curve]  # what it is of in one run, and the curve
Chart = dict[str, Any]


def charts(runs: Sequence[tuple[str, Sequence[Curve]]]) -> list[Chart]:
    """The charts of runs, each by its name with all its curves; those without a line are left out."""
    joined = [(name, _joined(curves)) for name, curves in runs]
    axis = "time" if by_time(runs) else "step"
    found = [_chart(joined, title, "", axis, _pick(wanted)) for title, wanted in _TRAINING]
    if not any(chart["lines"] for chart in found[-2:]):
        found.append(_chart(joined, "Steps/s", "", axis, _speeds))
    found += [_chart(joined, name, "", axis, _pick(((name, "eval"),))) for name in _evaluated(joined)]
    found += [
        _chart(joined, "Host memory", "GiB", "time", _host_memory, _GIB, zero=True),
        _chart(joined, "GPU memory", "GiB", "time", _card_memory, _GIB, zero=True),
        _chart(joined, "Utilisation", "%", "time", _utilisation, zero=True),
    ]
    return [chart for chart in found if chart["lines"]]


def by_time(runs: Sequence[tuple[str, Sequence[Curve]]]) -> str:
    """Why all charts of these runs are drawn by time, in a sentence: the training points of some have no two different
    steps (axis.js decides the same). "" where each has them."""
    told = ((name, [one for one in curves if len(one)]) for name, curves in runs)
    without = [name for name, curves in told if curves and not any(_has_steps(one) for one in curves)]
    whose = f"{', '.join(without)} logged no steps" if len(runs) > 1 else "no steps were logged"
    return f"Drawn by time: {whose}." if without else ""


def _has_steps(curve: Curve) -> bool:
    if curve.series.kind != "train":
        return False
    steps = curve.step[np.isfinite(curve.step)]
    return bool(len(steps)) and bool((steps != steps[0]).any())


def _chart(
    runs: Sequence[tuple[str, Sequence[Curve]]],
    title: str,
    unit: str,
    axis: str,
    pick: Callable[[Sequence[Curve]], Iterator[Drawn]],
    scale: float = 1.0,
    zero: bool = False,
) -> Chart:
    lines = []
    for run, (name, curves) in enumerate(runs):
        for place, (what, curve) in enumerate(pick(curves)):
            look = {"colour": place, "dash": 0} if len(runs) == 1 else {"colour": run, "dash": place}
            lines.append({"run": name, "what": what} | look | _line(curve, scale))
    return {"title": title, "unit": unit, "axis": axis, "zero": zero, "lines": lines}


# --- which curves -----------------------------------------------------------------------------------------------------


def _pick(wanted: Sequence[tuple[str, str]]) -> Callable[[Sequence[Curve]], Iterator[Drawn]]:
    def pick(curves: Sequence[Curve]) -> Iterator[Drawn]:
        for name, kind in wanted:
            if curve := training_curve(curves, name, kind):
                yield _SPOKEN.get(name, ""), curve

    return pick


def _speeds(curves: Sequence[Curve]) -> Iterator[Drawn]:
    """Measured between points of the loss, for a training that does not tell its speed."""
    loss = training_curve(curves, "loss")
    if loss is None:
        return
    known = np.flatnonzero(np.isfinite(loss.step))
    stretch = max(_FEWEST_SECONDS, float(loss.time[-1] - loss.time[0]) / STRETCHES)
    at = known[np.unique(loss.time[known] // stretch, return_index=True)[1]]
    if len(at) < 3:  # one speed is in the table of figures
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.diff(loss.step[at]) / np.diff(loss.time[at])
    good = np.isfinite(speed) & (speed >= 0)
    later = at[1:][good]
    yield "", Curve(loss.series, loss.step[later], loss.epoch[later], loss.time[later], speed[good])


def _evaluated(runs: Sequence[tuple[str, Sequence[Curve]]]) -> list[str]:
    """The scores of evaluations, in the order in which they were logged."""
    names = (one.series.name for _, curves in runs for one in curves if one.series.kind == "eval")
    return [name for name in dict.fromkeys(names) if not _NOT_A_SCORE.search(name)][:_MOST_EVALUATED]


def _host_memory(curves: Sequence[Curve]) -> Iterator[Drawn]:
    for curve in _sampled(curves):
        if curve.series.name in _HOST:
            yield _where(curve, _HOST[curve.series.name]), curve


def _card_memory(curves: Sequence[Curve]) -> Iterator[Drawn]:
    for curve in _sampled(curves):
        if (match := _CARD.match(curve.series.name)) and match[2] in _ON_CARD:
            yield _where(curve, f"GPU {match[1]}, {_ON_CARD[match[2]]}"), curve


def _utilisation(curves: Sequence[Curve]) -> Iterator[Drawn]:
    for curve in _sampled(curves):
        if curve.series.name == "cpu_percent":
            yield _where(curve, "CPU"), curve
        elif (match := _CARD.match(curve.series.name)) and match[2] == "utilisation_percent":
            yield _where(curve, f"GPU {match[1]}"), curve


def _sampled(curves: Sequence[Curve]) -> list[Curve]:
    """Those that told something, the launching machine's first."""
    told = (one for one in curves if one.series.kind == "sample" and np.isfinite(one.value).any())
    return sorted(told, key=lambda one: one.series.node)


def _where(curve: Curve, what: str) -> str:
    return f"{curve.series.node}: {what}" if curve.series.node else what


def _joined(curves: Sequence[Curve]) -> list[Curve]:
    """One curve for each series: telemetry is kept in several tables where what it reads has changed."""
    by_series: dict[Any, list[Curve]] = {}
    for curve in curves:
        by_series.setdefault(curve.series, []).append(curve)
    return [parts[0] if len(parts) == 1 else _together(parts) for parts in by_series.values()]


def _together(parts: Sequence[Curve]) -> Curve:
    axes = ([getattr(one, axis) for one in parts] for axis in ("step", "epoch", "time", "value"))
    return Curve(parts[0].series, *(np.concatenate(values) for values in axes))


# --- their points -----------------------------------------------------------------------------------------------------


def _line(curve: Curve, scale: float) -> dict[str, Any]:
    places, odd = _places(curve)
    shown = odd if curve.series.kind != "sample" else odd[:0]
    return {
        "step": _numbers(curve.step[places]),
        "time": _numbers(curve.time[places]),
        "value": _numbers(curve.value[places] / scale),
        "odd": [
            {"place": int(place), "text": str(number_to_json(float(curve.value[places[place]])))}
            for place in np.flatnonzero(np.isin(places, shown))
        ],
    }


def _places(curve: Curve) -> tuple[Places, Places]:
    """Which points are drawn, some of those that are no number among them, and these."""
    finite = np.isfinite(curve.value)
    odd = np.flatnonzero(~finite)
    odd = odd[:: max(len(odd) // _ODD_SHOWN, 1)]
    if len(curve) <= 2 * STRETCHES:
        return np.arange(len(curve)), odd
    drawn = thin(curve.value, STRETCHES).places
    return np.unique(np.concatenate([drawn[finite[drawn]], odd])), odd


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.7g}") if value - value == 0 else None for value in values.tolist()]
