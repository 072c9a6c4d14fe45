"""The charts of a report and their lines: the curves of one run, or those of several runs overlaid.

A chart is plain JSON: title, `y` (what its vertical axis shows), unit, whether it begins at zero, the axis all charts
are drawn by ("step" or "time"), `limits` (heights, their texts and colours), `beyond` (what it does not show by step),
`scale` (why its vertical axis is logarithmic; "" where it is not) and `lines`, each with its run, what it is of there,
the places of its colour and dashes, whether it has `symbols`, `step`, `time` (seconds), `value` (None is a gap) and
`odd`: the places of values that are NaN or infinite, in words.
Long curves are thinned but keep every spike.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dsgui.core.metrics.chart_table import (
    CARD,
    CHARTS,
    COLOURS,
    DASHES,
    EVALUATION,
    LOGGED,
    LOSS,
    LOSSES,
    MOST_SCORES,
    READINGS,
    THROUGHPUT,
    Place,
    name_of,
    place_of,
    score_of,
    told,
)
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.performance import loss_curve, training_curve
from dsgui.core.metrics.points import figure, number_to_json
from dsgui.core.metrics.thinning import STRETCHES_SHOWN, Curve, Floats, Places, thin
from dsgui.core.sizes import GIB, gib
from dsgui.core.texts.saying import listed, words

STRETCHES = 700  # two points of each are in the report
_ODD_SHOWN = 100
_FOLDED_AWAY_AND_SHOWN = ("cpu",)
_FORETOLD = 4  # the place of a colour
_MISSED = 1.05  # times the most that is shown
_UNLIKE, _RESCALED = 10.0, (LOSS, "grad_norm")  # times as high; whose scale is then logarithmic
_MOST_TIMES = 1000  # of which it is told how many
_NOWHERE = (math.nan, math.nan)
_FEWEST_SECONDS = 5.0  # that a speed is measured over

Look = tuple[int, int]  # the places of a colour and of a dash
Drawn = tuple[str, Curve]  # what it is of in one run, and the curve
Chart = dict[str, Any]


class Single(NamedTuple):
    """The only value of a line: the title of its chart, its run, what it is of there, and the value with its unit."""

    title: str
    run: str
    what: str
    value: str


def charts(
    runs: Sequence[tuple[str, Sequence[Curve]]],
    predicted: Mapping[str, int] | None = None,
    peaks: Sequence[Mapping[str, int]] = (),
) -> list[Chart]:
    """The charts of runs, each run given as its name and all its curves; charts without a line are left out.
    `predicted`: the memory that was foretold of a single run, by device; `peaks`: the most that each had, by its
    record."""
    joined = [(name, [_placed(one) for one in _joined(curves)]) for name, curves in runs]
    axis = "time" if by_time(runs) else "step"
    found = [_chart(joined, LOSS, axis, _losses)]
    found += [_chart(joined, place.chart, axis, _picked(name), place.right) for name, place in LOGGED.items()]
    if not any(chart["lines"] for chart in found if chart["title"] == CHARTS[THROUGHPUT].title):
        found.append(_chart(joined, THROUGHPUT, axis, _speeds, words("charts_page", "steps_a_second")))
    found += [_chart(joined, EVALUATION, axis, _scored(name), name) for name in _scores(joined)[:MOST_SCORES]]
    machine = joined if axis == "time" else [(name, _stepped(curves)) for name, curves in joined]
    found += [_chart(machine, id, axis, _readings(id, len(runs) > 1), peaks=peaks) for id in _of_machine()]
    if predicted and len(runs) == 1:
        for chart in found:
            chart["limits"] += _predicted(predicted, chart["title"])
    return [chart for chart in found if chart["lines"]]


def without_dots(charts: Sequence[Chart]) -> tuple[list[Chart], list[Single]]:
    """The charts in which a line has a course, and what the others would show: no line of them has a second value."""
    dots = [chart for chart in charts if all(len(_values(line)) < 2 for line in chart["lines"])]
    return [chart for chart in charts if chart not in dots], [
        Single(chart["title"], line["run"], line["what"], f"{value} {chart['unit']}".strip())
        for chart in dots
        for line in chart["lines"]
        for value in _values(line)
    ]


def _values(line: Mapping[str, Any]) -> list[str]:
    """As they are told, those that are no number too."""
    return [*(figure(one) for one in line["value"] if one is not None), *(one["text"] for one in line["odd"])]


def _predicted(predicted: Mapping[str, int], title: str) -> list[dict[str, Any]]:
    """As `predictedLimits` of `ui/static/metrics/charts.js`."""
    device = next((one for one in ("gpu", "host") if CHARTS[f"{one}_memory"].title == title), "")
    size = predicted.get(f"{device}_bytes")
    text = words("charts_page", "limit_predicted", size=gib(size)) if size else ""
    return [{"at": size / GIB, "text": text, "colour": f"--ds-curve-{_FORETOLD}"}] if size else []


def _of_machine() -> list[str]:
    ids = dict.fromkeys(place.chart for place in READINGS.values())
    return [id for id in ids if not CHARTS[id].more or id in _FOLDED_AWAY_AND_SHOWN]


def by_time(runs: Sequence[tuple[str, Sequence[Curve]]]) -> str:
    """A sentence on why all charts of these runs are drawn by time: the training points of some runs have fewer than
    two different steps (axis.js decides likewise). "" if all have enough, and where some run has no times."""
    told = [(name, [one for one in curves if len(one)]) for name, curves in runs]
    without = [name for name, curves in told if curves and not any(_has_steps(one) for one in curves)]
    if not without or not all(_is_timed(curves) for _, curves in told if curves):
        return ""
    several = len(runs) > 1
    whose = (
        words("report_page", "whose_no_steps", runs=str(listed([f"“{name}”" for name in without])))
        if several
        else words("report_page", "no_steps")
    )
    return words("report_page", "drawn_by_time", whose=whose)


def not_drawn(runs: Sequence[tuple[str, Sequence[Curve]]]) -> str:
    """A sentence on the scores that have no chart; "" where all have one."""
    count = len(_scores(runs))
    given = {"shown": str(MOST_SCORES), "count": str(count)}
    return words("report_page", "first_scores", **given) if count > MOST_SCORES else ""


def _stepped(curves: Sequence[Curve]) -> list[Curve]:
    """With readings of the machine at the steps that were done by then, as curves.js's Clock has it: by the fullest
    curve of the training; nowhere before its first step and after its last."""
    times, steps = _clock(curves)
    if len(times) < 2:
        return list(curves)
    return [
        replace(one, step=np.interp(one.time, times, steps, left=np.nan, right=np.nan))
        if one.series.kind == "sample"
        else one
        for one in curves
    ]


def _clock(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    """When which steps were done, in the order of time."""
    clock = max(filter(_has_steps, curves), key=len, default=None)
    if clock is None:
        return np.empty(0), np.empty(0)
    known = np.isfinite(clock.step) & np.isfinite(clock.time)
    order = np.argsort(clock.time[known], kind="stable")
    return clock.time[known][order], clock.step[known][order]


def _ends(curves: Sequence[Curve]) -> tuple[float, float]:
    """The first and the last step that was done; NaN where none was told."""
    steps = _clock(curves)[1]
    return (float(steps[0]), float(steps[-1])) if len(steps) else _NOWHERE


def _is_timed(curves: Sequence[Curve]) -> bool:
    return any(bool(np.isfinite(one.time).any()) for one in curves)


def _has_steps(curve: Curve) -> bool:
    if curve.series.kind != "train":
        return False
    steps = curve.step[np.isfinite(curve.step)]
    return bool(len(steps)) and bool((steps != steps[0]).any())


def _chart(
    runs: Sequence[tuple[str, Sequence[Curve]]],
    id: str,
    axis: str,
    pick: Callable[[Sequence[Curve]], Iterator[Drawn]],
    unit: str = "",
    peaks: Sequence[Mapping[str, int]] = (),
) -> Chart:
    kind = CHARTS[id]
    tells_peak = axis == "step" and kind.unit == "GiB"
    lines: list[dict[str, Any]] = []
    drawn: list[Drawn] = []
    ends: list[tuple[float, float]] = []
    most: list[int] = []
    names: dict[str, int] = {}  # of several runs, what is of one name is dashed alike
    for run, (name, curves) in enumerate(runs):
        cards, reach = _cards(curves), _ends(curves) if tells_peak else _NOWHERE
        for place, (what, curve) in enumerate(pick(curves)):
            named = names.setdefault(what, len(names))
            colour, dash = _look(curve.series, place, cards) if len(runs) == 1 else (run, named)
            look = {"colour": colour, "dash": dash}
            symbols = {"symbols": curve.series.kind == "eval"}
            lines.append({"run": name, "what": what} | look | symbols | _line(curve, kind.scale))
            drawn.append((" · ".join(filter(None, (name * (len(runs) > 1), what))), curve))
            ends.append(reach)
            most.append(_recorded(curve.series, peaks[run] if run < len(peaks) else {}))
    if id == EVALUATION:
        shown = {"title": words("charts_page", id, name=unit), "y": unit, "unit": ""}
    else:
        shown = {"title": kind.title, "y": told(unit) or kind.label, "unit": told(unit) or kind.unit}
    limits = _cards_hold(runs[0][1]) if id == "gpu_memory" and len(runs) == 1 else []
    beyond = _peak_beyond(drawn, ends, most) if tells_peak else ""
    is_named = id == "gpu_memory" and len(runs) > 1  # what its title does not say
    told_of = {"named": is_named, "axis": axis, "zero": kind.zero, "limits": limits, "beyond": beyond}
    scale = _unlike_scale([[one for _, one in pick(curves)] for _, curves in runs]) if id in _RESCALED else ""
    return shown | told_of | {"scale": scale, "lines": lines}


def _unlike_scale(runs: Sequence[Sequence[Curve]]) -> str:
    """Why a chart of these runs has a logarithmic scale, as `timesApart` of `ui/static/metrics/traces.js`; "" where it
    has none."""
    middles = [middle for curves in runs if (middle := _middle(curves)) is not None]
    lowest = [np.min(one.value, initial=np.inf, where=np.isfinite(one.value)) for curves in runs for one in curves]
    if len(middles) < 2 or min(lowest) <= 0 or max(middles) / _UNLIKE < min(middles):
        return ""
    if max(middles) / _MOST_TIMES > min(middles):
        return words("charts_page", "unlike_far", times=f"{_MOST_TIMES:,}")
    times = max(middles) / min(middles)
    rounded = float(f"{times:.{1 if times < 100 else 0}e}")
    return words("charts_page", "unlike_scale", times=f"{rounded:,.15g}")


def _middle(curves: Sequence[Curve]) -> float | None:
    """The usual value of a run: the mean of the middle one of its points' stretches, as the page has them."""
    stretches = [_means(one.value) for one in curves if len(one)]
    if not stretches:
        return None
    mean, count = (np.concatenate(found) for found in zip(*stretches, strict=True))
    known = np.isfinite(mean)
    order = np.argsort(mean[known], kind="stable")
    left = np.cumsum(count[known][order])
    return float(mean[known][order][np.searchsorted(left, left[-1] / 2, side="right")]) if len(left) else None


def _means(value: Floats) -> tuple[Floats, Floats]:
    """Of each stretch its mean and how many points it has."""
    if len(value) <= 2 * STRETCHES_SHOWN:
        return value, np.ones(len(value))
    thinned = thin(value, STRETCHES_SHOWN)
    begins = np.arange(0, len(value), thinned.size)
    return thinned.mean, np.diff(begins, append=len(value)).astype(float)


def _recorded(series: Series, peak: Mapping[str, int]) -> int:
    """As `recorded` of `ui/static/metrics/beyond.js`."""
    if series.name == "run_bytes":
        return peak.get("host_bytes", 0)
    card = CARD.match(series.name)
    return peak.get("gpu_bytes", 0) if card and card[2] == "run_bytes" else 0


def _peak_beyond(drawn: Sequence[Drawn], ends: Sequence[tuple[float, float]], recorded: Sequence[int]) -> str:
    """`Peak 4.99 GiB (this run) before step 1`, of the line that most of it is missing of by step, as `peakBeyond` of
    `ui/static/metrics/beyond.js`. `ends`: the first and the last step of each line's run; `recorded`: the most that its
    run had by its record, 0 where that tells nothing of it."""
    found = []
    for (name, curve), reach, own in zip(drawn, ends, recorded, strict=True):
        shown, known = np.isfinite(curve.step), np.isfinite(curve.value)
        inside, outside = np.flatnonzero(shown & known), np.flatnonzero(~shown & known)
        if not len(inside) or not len(outside):
            continue
        peak = outside[curve.value[outside].argmax()]
        most, value = curve.value[inside].max(), curve.value[peak]
        if value <= _MISSED * most:
            continue
        is_before = curve.time[peak] < curve.time[inside[0]]
        whole = max(most, 0 if curve.series.node else own)
        shows = name if len(drawn) > 1 else ""
        text = _told_beyond(value, whole if is_before and 0 < own < value else 0, shows, is_before, reach)
        found.append((value / most if most > 0 else np.inf, text))
    return max(found)[1] if found else ""


def _told_beyond(value: float, peak: float, name: str, is_before: bool, reach: tuple[float, float]) -> str:
    """`peak`: what the run's record has for it instead, 0 where that is the same."""
    size, place = f"{value / GIB:.2f} GiB", f"{reach[0 if is_before else 1]:.0f}"
    main = f"{peak / GIB:.2f} GiB" if peak else size
    named = words("charts_page", "peak_of", value=main, name=name) if name else main
    if peak:
        return words("charts_page", "peak_and_before_step", peak=named, value=size, place=place)
    if is_before:
        return words("charts_page", "peak_before_step", value=named, place=place)
    return words("charts_page", "peak_after_step", value=named, place=place)


def _cards_hold(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """What the cards can hold, each size once, as `cardLimits` of `ui/static/metrics/charts.js`."""
    totals = [one for one in curves if (card := CARD.match(one.series.name)) and card[2] == "total_bytes" and len(one)]
    sizes = {round(float(one.value[-1]) / GIB, 2) for one in totals if one.value[-1] > 0}
    return [{"at": at, "text": words("charts_page", "limit_card", size=gib(at * GIB, 0))} for at in sorted(sizes)]


def _look(series: Series, before: int, cards: Mapping[tuple[str, int], int]) -> Look:
    """Of a line of one run, after so many others of its chart, as `Board.style` has it (`ui/static/metrics/board.js`):
    what the table says; a card has one colour in every chart."""
    card = _card(series)
    spot = place_of(series)
    colour = cards[card] if card else before
    if spot and spot.colour:
        colour = COLOURS.index(spot.colour)
    if spot and spot.dash:
        return colour % len(COLOURS), DASHES.index(spot.dash)
    return colour, 0  # dashed as often as the colours were all taken


def _cards(curves: Sequence[Curve]) -> dict[tuple[str, int], int]:
    """The place of each card's colour, by node and number, as `placesOfCards` of `ui/static/metrics/charts.js`."""
    shown = [one.series for one in _sampled(curves) if place_of(one.series)]
    found = sorted({card for series in shown if (card := _card(series))})
    return {card: place for place, card in enumerate(found)}


def _card(series: Series) -> tuple[str, int] | None:
    """The node and the number of the card that a reading is of."""
    found = CARD.match(series.name) if series.kind == "sample" else None
    return (series.node, int(found[1])) if found else None


# --- which curves -----------------------------------------------------------------------------------------------------


def _picked(name: str) -> Callable[[Sequence[Curve]], Iterator[Drawn]]:
    """The one curve of that name."""

    def pick(curves: Sequence[Curve]) -> Iterator[Drawn]:
        if curve := training_curve(curves, name):
            yield "", curve

    return pick


def _losses(curves: Sequence[Curve]) -> Iterator[Drawn]:
    """The training's, and its evaluation's."""
    for name, kind in sorted(_named(curves), key=lambda one: one[1] == "eval"):
        if name in LOSSES and _is_in(name, kind, LOSS) and (curve := training_curve(curves, name, kind)):
            yield name_of(curve.series, Place(LOSS)), curve


def _scores(runs: Sequence[tuple[str, Sequence[Curve]]]) -> list[str]:
    """What evaluations of any of the runs logged, in the order in which they did."""
    named = [(name, kind) for _, curves in runs for name, kind in _named(curves)]
    return list(dict.fromkeys(score_of(name) for name, kind in named if _is_in(name, kind, EVALUATION)))


def _scored(score: str) -> Callable[[Sequence[Curve]], Iterator[Drawn]]:
    def pick(curves: Sequence[Curve]) -> Iterator[Drawn]:
        for name, kind in _named(curves):
            same = _is_in(name, kind, EVALUATION) and score_of(name) == score
            if same and (curve := training_curve(curves, name, kind)):
                yield "", curve

    return pick


def _is_in(name: str, kind: str, id: str) -> bool:
    place = place_of(Series(name, kind))
    return place is not None and place.chart == id


def _named(curves: Sequence[Curve]) -> dict[tuple[str, str], None]:
    """Names and kinds."""
    return dict.fromkeys((one.series.name, one.series.kind) for one in curves)


def _speeds(curves: Sequence[Curve]) -> Iterator[Drawn]:
    """Measured between points of the loss, for a training that does not report its speed."""
    loss = loss_curve(curves)
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


def _readings(id: str, several: bool) -> Callable[[Sequence[Curve]], Iterator[Drawn]]:
    """The readings of the machine and its GPUs that belong to one chart."""

    def pick(curves: Sequence[Curve]) -> Iterator[Drawn]:
        for curve in _sampled(curves):
            place = place_of(curve.series)
            if place is None or place.chart != id or (several and (place.alone or _is_told(curves, curve, place))):
                continue
            if not place.if_any or np.nanmax(curve.value) > 0:
                yield name_of(curve.series, place), curve

    return pick


def _is_told(curves: Sequence[Curve], curve: Curve, place: Place) -> bool:
    """Whether the reading was told that another stands for."""
    if not place.unless:
        return False
    name = f"{curve.series.name.partition('.')[0]}.{place.unless}"
    return any((one.series.name, one.series.node) == (name, curve.series.node) for one in _sampled(curves))


def _sampled(curves: Sequence[Curve]) -> list[Curve]:
    """Those with readings, the launching machine's first."""
    told = (one for one in curves if one.series.kind == "sample" and np.isfinite(one.value).any())
    return sorted(told, key=lambda one: one.series.node)


def _joined(curves: Sequence[Curve]) -> list[Curve]:
    """One curve per series: telemetry is stored in several tables if its columns changed."""
    by_series: dict[Any, list[Curve]] = {}
    for curve in curves:
        by_series.setdefault(curve.series, []).append(curve)
    return [parts[0] if len(parts) == 1 else _together(parts) for parts in by_series.values()]


def _placed(curve: Curve) -> Curve:
    """What has neither a time nor a step is drawn in its order, as curves.js has it."""
    nowhere = ~np.isfinite(curve.time) & ~np.isfinite(curve.step)
    return replace(curve, step=np.where(nowhere, np.arange(len(curve)), curve.step)) if nowhere.any() else curve


def _together(parts: Sequence[Curve]) -> Curve:
    axes = ([getattr(one, axis) for one in parts] for axis in ("step", "epoch", "time", "value"))
    return Curve(parts[0].series, *(np.concatenate(values) for values in axes))


# --- their points -----------------------------------------------------------------------------------------------------


def _line(curve: Curve, scale: float) -> dict[str, Any]:
    places, odd = _places(curve)
    shown = odd if curve.series.kind != "sample" else odd[:0]
    back = _backwards(curve, places)
    return {
        "step": _numbers(np.insert(curve.step[places], back, curve.step[places][back])),
        "time": _numbers(np.insert(curve.time[places], back, curve.time[places][back])),
        "value": _numbers(np.insert(curve.value[places] / scale, back, np.nan)),
        "odd": [
            {
                "place": int(place + np.searchsorted(back, place, side="right")),  # each gap before it is one more
                "text": str(number_to_json(float(curve.value[places[place]]))),
            }
            for place in np.flatnonzero(np.isin(places, shown))
        ],
    }


def _backwards(curve: Curve, places: Places) -> Places:
    """Before which of the points there is a gap, as `points` of `ui/static/metrics/traces.js`: what begins anew, or is
    another rank's, goes not on from there. By the steps that its lines say, else by their epochs."""
    told = curve.step if np.isfinite(curve.step).any() else curve.epoch
    if curve.series.kind == "sample":
        return places[:0]
    return np.flatnonzero(np.diff(told[places]) < 0) + 1


def _places(curve: Curve) -> tuple[Places, Places]:
    """The points that are drawn, including some that are NaN or infinite, and which those are."""
    finite = np.isfinite(curve.value)
    odd = np.flatnonzero(~finite)
    odd = odd[:: max(len(odd) // _ODD_SHOWN, 1)]
    if len(curve) <= 2 * STRETCHES:
        return np.arange(len(curve)), odd
    drawn = thin(curve.value, STRETCHES).places
    return np.unique(np.concatenate([drawn[finite[drawn]], odd])), odd


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.7g}") if value - value == 0 else None for value in values.tolist()]
