"""What a run achieved and what it used, as a few figures derived from its curves."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dsgui.core.metrics.chart_table import EVALUATION, LOSS, place_of
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.points import OUTPUT, number_to_json
from dsgui.core.metrics.reached import MEASURED_S, TOLD_SPEED
from dsgui.core.metrics.spikes import Spikes, spikes
from dsgui.core.metrics.the_loss import the_loss
from dsgui.core.metrics.thinning import Curve, Floats

_GPU_USED = re.compile(r"gpu(\d+)\.used_bytes\Z")
_GPU_OF_RUN = re.compile(r"gpu(\d+)\.run_bytes\Z")
# What scripts call the loss of an evaluation.
_EVAL_LOSSES = ("eval_loss", "loss", "validation_loss", "val_loss", "valid_loss", "test_loss")
Card = tuple[str, int]  # node ("" for the machine that launched) and physical index


@dataclass(frozen=True, slots=True)
class Figures:
    """A figure is None if the curves don't tell.

    `final_loss` is the last one logged, `best_loss` the lowest finite one, both of training; `final_loss` is NaN if the
    last one is, and `loss_spike` its highest spike; `eval_loss` and `best_eval_loss` are the same of the evaluations',
    and `scores` the last value of everything else they logged, by name.

    `steps_per_second` is measured between the first and the last logged step, so that loading and compiling don't
    count; where too little time lies between them, it is what the training itself reported last, as samples/s and
    tokens/s always are. Memory: `host` is all that is in use on the machine, `run` what the run's own processes use
    there, `run_gpu` what they use of the GPU where that is most, `gpu` all that is in use on a GPU, by (node, index);
    what a run had none of it has no figure of, as its record has none (`samples.Peak`). A mean is that of the
    telemetry's samples. `duration_s` is the time of the last value."""

    final_loss: float | None = None
    best_loss: float | None = None
    loss_spike: Spikes | None = None
    eval_loss: float | None = None
    best_eval_loss: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    steps: int | None = None
    steps_per_second: float | None = None
    samples_per_second: float | None = None
    tokens_per_second: float | None = None
    host_peak_bytes: int | None = None
    host_mean_bytes: int | None = None
    run_peak_bytes: int | None = None
    run_mean_bytes: int | None = None
    run_gpu_peak_bytes: int | None = None
    run_gpu_mean_bytes: int | None = None
    gpu_peak_bytes: Mapping[Card, int] = field(default_factory=dict)
    gpu_mean_bytes: Mapping[Card, int] = field(default_factory=dict)
    duration_s: float | None = None

    def told(self, duration_s: float | None, peak: Mapping[str, int], step: int | None = None) -> "Figures":
        """With what the run's own record tells, where it does: how long it took, the most memory it had (`host_bytes`,
        `gpu_bytes`), and how far it came, which is further than the last step that it logged values of."""
        host, host_mean = _recorded(self.run_peak_bytes, self.run_mean_bytes, peak.get("host_bytes"))
        gpu, gpu_mean = _recorded(self.run_gpu_peak_bytes, self.run_gpu_mean_bytes, peak.get("gpu_bytes"))
        return replace(
            self,
            duration_s=self.duration_s if duration_s is None else duration_s,
            steps=max((one for one in (self.steps, step) if one is not None), default=None),
            run_peak_bytes=host,
            run_mean_bytes=host_mean,
            run_gpu_peak_bytes=gpu,
            run_gpu_mean_bytes=gpu_mean,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: a loss may be "NaN", "Infinity" or "-Infinity"; the GPUs are a list. What evaluations
        found is told of runs together (`evaluation_rows`)."""
        apart = ("eval_loss", "best_eval_loss", "scores", "loss_spike")
        plain = {name: getattr(self, name) for name in self.__slots__ if not name.startswith(("gpu_", *apart))}
        loss = None if self.final_loss is None else number_to_json(self.final_loss)
        gpus = [
            {"node": node, "index": index, "peak_bytes": peak, "mean_bytes": self.gpu_mean_bytes[node, index]}
            for (node, index), peak in self.gpu_peak_bytes.items()
        ]
        told = self.loss_spike.to_json() if self.loss_spike else None
        return plain | {"final_loss": loss, "loss_spike": told, "gpus": gpus}


def figures(curves: Sequence[Curve]) -> Figures:
    """The figures of one run, from all its curves (telemetry too), in any order."""
    loss = loss_curve(curves)
    final, best = _losses(loss)
    evaluated = _evaluated(curves)
    eval_loss = next((name for name in _EVAL_LOSSES if name in evaluated), "")
    final_eval, best_eval = _losses(evaluated.pop(eval_loss, None))
    host, run = _memory(curves, "host_used_bytes"), _had(_memory(curves, "run_bytes"))
    cards = _cards(curves, _GPU_USED)
    own = _had(max(_cards(curves, _GPU_OF_RUN).values(), key=lambda values: float(values.max()), default=np.empty(0)))
    return Figures(
        final_loss=final,
        best_loss=best,
        loss_spike=spikes(loss) if loss else None,
        eval_loss=final_eval,
        best_eval_loss=best_eval,
        scores={name: float(curve.value[-1]) for name, curve in evaluated.items()},
        steps=_steps(curves),
        steps_per_second=_rate(loss, curves),
        samples_per_second=_last_told(curves, ("train_samples_per_second", "samples_per_second")),
        tokens_per_second=_last_told(curves, ("train_tokens_per_second", "tokens_per_second")),
        host_peak_bytes=_peak(host),
        host_mean_bytes=_mean(host),
        run_peak_bytes=_peak(run),
        run_mean_bytes=_mean(run),
        run_gpu_peak_bytes=_peak(own),
        run_gpu_mean_bytes=_mean(own),
        gpu_peak_bytes={card: peak for card, used in cards.items() if (peak := _peak(used)) is not None},
        gpu_mean_bytes={card: mean for card, used in cards.items() if (mean := _mean(used)) is not None},
        duration_s=max((float(np.nanmax(one.time)) for one in curves if np.isfinite(one.time).any()), default=None),
    )


def loss_curve(curves: Sequence[Curve]) -> Curve | None:
    """The training's loss, whatever its script calls it."""
    trained = {one.series.name for one in curves if one.series.kind == "train" and len(one)}
    name = the_loss(trained)
    return None if name is None else training_curve(curves, name)


def training_curve(curves: Sequence[Curve], name: str, kind: str = "train") -> Curve | None:
    """The one curve that represents a name: preferably the first rank's, printed rather than from a file, and the
    longest."""
    named = [one for one in curves if one.series.name == name and one.series.kind == kind and len(one)]
    return max(named, key=lambda one: (not one.series.rank, one.series.source == OUTPUT, len(one)), default=None)


def _losses(loss: Curve | None) -> tuple[float | None, float | None]:
    if loss is None:
        return None, None
    finite = loss.value[np.isfinite(loss.value)]
    return float(loss.value[-1]), float(finite.min()) if len(finite) else None


def _evaluated(curves: Sequence[Curve]) -> dict[str, Curve]:
    """What evaluations logged, by name, without what they took."""
    series = [one.series for one in curves if one.series.kind == "eval" and len(one)]
    names = dict.fromkeys(one.name for one in series if (place := place_of(one)) and place.chart in (LOSS, EVALUATION))
    return {name: curve for name in names if (curve := training_curve(curves, name, "eval"))}


def _trained(curves: Sequence[Curve]) -> list[Curve]:
    return [one for one in curves if one.series.kind == "train" and np.isfinite(one.step).any()]


def _steps(curves: Sequence[Curve]) -> int | None:
    return max((int(np.nanmax(curve.step)) for curve in _trained(curves)), default=None)


def _rate(loss: Curve | None, curves: Sequence[Curve]) -> float | None:
    """From the loss if possible, otherwise from the curve that covers the longest time."""
    speeds = [(speed, curve) for curve in _trained(curves) if (speed := _speed(curve)) is not None]
    of_loss = [speed for speed, curve in speeds if curve is loss]
    longest = max(speeds, key=lambda one: float(one[1].time[-1] - one[1].time[0]), default=None)
    found = of_loss[0] if of_loss else longest[0] if longest else None
    if found is None or found[1] < MEASURED_S:
        told = _last_told(curves, TOLD_SPEED)
        return told if told is not None or found is None else found[0]
    return found[0]


def _speed(curve: Curve) -> tuple[float, float] | None:
    """Steps per second from the first to the last point of the last run of increasing steps, and the seconds between
    them: a training that is resumed or restarts its count is measured from there."""
    known = np.isfinite(curve.step)
    step, time = curve.step[known], curve.time[known]
    falls = np.flatnonzero(np.diff(step) < 0)
    begin = falls[-1] + 1 if len(falls) else 0
    steps, seconds = float(step[-1] - step[begin]), float(time[-1] - time[begin])
    return (steps / seconds, seconds) if steps > 0 and seconds > 0 else None


def _last_told(curves: Sequence[Curve], names: Sequence[str]) -> float | None:
    """The last finite value of the first of `names` that was logged in training or at its end."""
    for name in names:
        for curve in sorted(curves, key=lambda one: (bool(one.series.rank), one.series.source != OUTPUT)):
            finite = curve.value[np.isfinite(curve.value)]
            if curve.series.name == name and curve.series.kind in ("train", "final") and len(finite):
                return float(finite[-1])
    return None


def _memory(curves: Sequence[Curve], name: str) -> Floats:
    """For the launching machine; if it reported nothing, for the one that used most."""
    by_node = _joined({one.series: one for one in curves if one.series.name == name}, curves)
    readings = {series.node: values for series, values in by_node.items()}
    if "" in readings or not readings:
        return readings.get("", np.empty(0))
    return max(readings.values(), key=lambda values: float(values.max()))


def _had(values: Floats) -> Floats:
    """None of them where all are nought."""
    return values if values.any() else np.empty(0)


def _recorded(peak: int | None, mean: int | None, told: int | None) -> tuple[int | None, int | None]:
    """A peak and its mean by what the record tells of the peak: over more samples than that has a mean is no higher."""
    found = peak if told is None else told
    return found, mean if mean is None or found is None else min(mean, found)


def _cards(curves: Sequence[Curve], reading: re.Pattern[str]) -> dict[Card, Floats]:
    wanted = {one.series: one for one in curves if reading.match(one.series.name)}
    found = {
        (series.node, int(match[1])): values
        for series, values in _joined(wanted, curves).items()
        if (match := reading.match(series.name))
    }
    return dict(sorted(found.items()))


def _joined(wanted: Mapping[Series, Curve], curves: Sequence[Curve]) -> dict[Series, Floats]:
    """The finite readings of telemetry series, each of which may span several tables; only series that have any."""
    sampled = [series for series in wanted if series.kind == "sample"]
    joined = {series: np.concatenate([one.value for one in curves if one.series == series]) for series in sampled}
    finite = {series: values[np.isfinite(values)] for series, values in joined.items()}
    return {series: values for series, values in finite.items() if len(values)}


def _peak(values: Floats) -> int | None:
    return int(values.max()) if len(values) else None


def _mean(values: Floats) -> int | None:
    return int(values.mean()) if len(values) else None
