"""A run held point by point against what its script wrote itself.

    python -m differential.public_runs RUN_DIRECTORY TRUTH [--ended STATE] [--all]

TRUTH is the folder the script wrote to (`trainer_state.json` and `*_results.json` of the HF Trainer, TensorBoard's
event files) or a CSV with the columns kind, step, epoch, name, value: what is known of a script that writes no file
(kinds train, eval, final; metric: what it wrote at its end; progress: its last step and its total). The truth is read
by other code than dsgui's monitor. Exit code: 0 all equal, 1 something differs.
"""

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from dsgui.core.metrics.points import OUTPUT, Point
from dsgui.shell.runs.curve_reader import read_points
from dsgui.shell.runs.store import RunDirectory

# What is printed has four significant digits (transformers/trainer_callback.py, ProgressCallback), or four decimals
# (the blocks of trainer_pt_utils.log_metrics, which cut a duration to hundredths); an epoch is kept as a 32-bit float.
_RELATIVE, _ABSOLUTE, _HUNDREDTH = 6e-4, 5.1e-5, 0.0101
_STATE, _FINAL, _TRAIN, _EVAL = "trainer_state.json", "final", "train", "eval"
_METRIC, _PROGRESS, _PROGRESS_NAMES = "metric", "progress", ("step", "total")
_COLUMNS = ("kind", "step", "epoch", "name", "value")
_NO_METRIC = ("epoch", "step", "total_flos")
_ASPECTS = {"learning_rate": "learning rates", "perplexity": "evaluation", "accuracy": "evaluation"}


class Verdict(Enum):
    EQUAL = "equal"
    DIFFERS = "DIFFERS"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True)
class Value:
    """One number of a curve, at its place; NaN for a place that nobody knows."""

    step: float
    epoch: float
    value: float


@dataclass(frozen=True, slots=True)
class Truth:
    """What the script's own files say. `curves` by kind and name, in the order in which they were logged."""

    curves: Mapping[tuple[str, str], Sequence[Value]]
    metrics: Mapping[str, float] = field(default_factory=dict)
    step: float | None = None
    total: float | None = None
    state: str = "succeeded"


@dataclass(frozen=True, slots=True)
class Shown:
    """What dsgui shows. `curves` by kind, name and source."""

    curves: Mapping[tuple[str, str, str], Sequence[Value]]
    step: float | None
    total: float | None
    state: str

    def of(self, kind: str, name: str) -> tuple[Sequence[Value], str]:
        """The curve whose places are known, as printed rather than from a file, and its source."""
        found = {source: values for (k, n, source), values in self.curves.items() if (k, n) == (kind, name)}
        source = min(found, key=lambda one: (not _has_steps(found[one]), one != OUTPUT), default="")
        return found.get(source, ()), source

    def last(self, name: str) -> Iterator[float]:
        """The last values of that name, of every kind and source: what is printed first."""
        named = sorted((source != OUTPUT, values) for (_, n, source), values in self.curves.items() if n == name)
        return (values[-1].value for _, values in named if values)


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: of one column of a curve, or of one number. `size` is how many values it holds."""

    aspect: str
    what: str
    truth: str
    shown: str
    verdict: Verdict
    size: int = 1


def _has_steps(values: Sequence[Value]) -> bool:
    return not all(math.isnan(one.step) for one in values)


# ------------------------------------------------------------------------------------------------------- the two sides
def truth_of(place: Path, state: str = "succeeded") -> Truth:
    """`place`: a CSV file, or the folder that the script wrote to. Raises OSError or ValueError where it is neither."""
    if place.is_file():
        return _from_csv(place, state)
    if (place / _STATE).is_file():
        return _from_trainer(place, state)
    return Truth(_from_event_files(place), state=state)


def _from_trainer(folder: Path, state: str) -> Truth:
    written = json.loads((folder / _STATE).read_text("utf-8"))
    curves: dict[tuple[str, str], list[Value]] = {}
    for entry in written["log_history"]:
        kind = _kind(entry)
        for name, value in entry.items():
            if name not in _NO_METRIC and isinstance(value, int | float):
                place = Value(entry["step"], entry.get("epoch", math.nan), value)
                curves.setdefault((kind, name), []).append(place)
    return Truth(curves, _metrics(folder), written["global_step"], written["max_steps"], state)


def _kind(entry: Mapping[str, Any]) -> str:
    if any(name.startswith("eval_") for name in entry):
        return _EVAL
    return _FINAL if "train_runtime" in entry else _TRAIN


def _metrics(folder: Path) -> dict[str, float]:
    """What the script wrote at its end, of training, evaluation and prediction."""
    metrics: dict[str, float] = {}
    for file in sorted(folder.glob("*_results.json")):
        written = json.loads(file.read_text("utf-8"))
        metrics |= {name: value for name, value in written.items() if isinstance(value, int | float)}
    return {name: value for name, value in metrics.items() if name not in _NO_METRIC}


def _from_csv(file: Path, state: str) -> Truth:
    curves: dict[tuple[str, str], list[Value]] = {}
    numbers: dict[str, dict[str, float]] = {_METRIC: {}, _PROGRESS: {}}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            kind, value = row.get("kind") or _TRAIN, _number(row["value"])
            if kind in numbers:
                numbers[kind][row["name"]] = value
            else:
                place = Value(_number(row.get("step")), _number(row.get("epoch")), value)
                curves.setdefault((kind, row["name"]), []).append(place)
    return Truth(curves, numbers[_METRIC], *map(numbers[_PROGRESS].get, _PROGRESS_NAMES), state)


def _number(text: str | None) -> float:
    return float(text) if text else math.nan


def _from_event_files(folder: Path) -> dict[tuple[str, str], list[Value]]:
    """By TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    files = sorted(folder.rglob("events.out.tfevents.*"))
    if not files:
        raise ValueError(
            f"{folder}: neither {_STATE} nor TensorBoard's event files. Name the folder the script wrote to."
        )
    curves: dict[tuple[str, str], list[Value]] = {}
    for place in dict.fromkeys(file.parent for file in files):
        events = EventAccumulator(str(place), size_guidance={"scalars": 0}).Reload()
        for tag in events.Tags()["scalars"]:
            if tag != "epoch":  # accelerate's examples log it as a number
                values = [Value(one.step, math.nan, one.value) for one in events.Scalars(tag)]
                curves.setdefault(_named(tag), []).extend(values)
    return curves


def _named(tag: str) -> tuple[str, str]:
    group, _, rest = tag.partition("/")
    if group.lower() == _TRAIN:
        return _TRAIN, rest
    return (_EVAL if group.lower() in ("eval", "test") else _TRAIN), tag.replace("/", "_")


def truth_as_csv(truth: Truth) -> str:
    """What `truth_of` reads again, but for the end state."""
    curves = (
        (kind, one.step, one.epoch, name, one.value) for (kind, name), values in truth.curves.items() for one in values
    )
    metrics = ((_METRIC, math.nan, math.nan, name, value) for name, value in truth.metrics.items())
    progress = ((_PROGRESS, math.nan, math.nan, name, getattr(truth, name)) for name in _PROGRESS_NAMES)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(map(_cell, row) for row in (*curves, *metrics, *progress) if row[-1] is not None)
    return out.getvalue()


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else f"{value:.10g}"


def shown_by(run: Path) -> Shown:
    """What the run directory holds. Raises OSError where it is none."""
    directory = RunDirectory(run)
    series, (curves, _) = directory.read_series(), read_points(directory)
    shown: dict[tuple[str, str, str], list[Value]] = {}
    for number, curve in curves.items():
        one = series[number]
        rows = zip(curve.step.tolist(), curve.epoch.tolist(), curve.value.tolist(), strict=True)
        shown.setdefault((one.kind, one.name, one.source), []).extend(Value(*row) for row in rows)
    state = json.loads(directory.state_file.read_text("utf-8"))["state"]
    progress = _json_or_nothing(directory.progress_file)
    return Shown(shown, progress.get("step"), progress.get("total"), state)


def shown_of(points: Iterable[Point], step: float | None, total: float | None, state: str) -> Shown:
    """What is read from an output, as a run directory would show it."""
    shown: dict[tuple[str, str, str], list[Value]] = {}
    for point in points:
        for name, value in point.values.items():
            place = Value(_or_nan(point.step), _or_nan(point.epoch), value)
            shown.setdefault((point.kind, name, OUTPUT), []).append(place)
    return Shown(shown, step, total, state)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _json_or_nothing(file: Path) -> Mapping[str, Any]:
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


# --------------------------------------------------------------------------------------------------------- comparing
def compare(truth: Truth, shown: Shown) -> list[Row]:
    """Every comparison there is: curves with their steps and epochs, metrics, progress, end state."""
    rows = [
        row for (kind, name), values in truth.curves.items() for row in _curve_rows(kind, name, values, truth, shown)
    ]
    rows += [_metric_row(name, value, shown) for name, value in truth.metrics.items()]
    rows += _number_rows("last step", truth.step, shown.step) + _number_rows("total steps", truth.total, shown.total)
    return [*rows, Row("end state", "end state", truth.state, shown.state, _verdict(truth.state == shown.state))]


def _curve_rows(kind: str, name: str, expected: Sequence[Value], truth: Truth, shown: Shown) -> Iterator[Row]:
    found, source = shown.of(kind, name)
    if (
        kind == _EVAL
        and len(found) == len(expected) + 1
        and close(truth.metrics.get(name, math.nan), found[-1].value, name)
    ):
        found = found[:-1]  # the evaluation after the training: trainer_state.json was written before it
    what = f"{kind} {name}" + (f" ({source})" if source not in ("", OUTPUT) else "")
    for column, aspect in (("value", _aspect(kind, name)), ("step", "steps"), ("epoch", "epochs")):
        wanted = [getattr(one, column) for one in expected]
        if not all(map(math.isnan, wanted)):  # the script's file knows it
            yield _column_row(aspect, f"{what}: {column}s", name, wanted, [getattr(one, column) for one in found])


def _aspect(kind: str, name: str) -> str:
    if kind == _EVAL or name.startswith(("eval_", "predict_", "test_", "perplexity")):
        return "evaluation"
    if kind == _FINAL or name.startswith("train_"):
        return "totals"
    return _ASPECTS.get(name, "losses" if "loss" in name else "other values")


def _column_row(aspect: str, what: str, name: str, expected: Sequence[float], found: Sequence[float]) -> Row:
    if not found:
        return Row(aspect, what, str(len(expected)), "none", Verdict.MISSING, len(expected))
    same = sum(close(one, other, name) for one, other in zip(expected, found, strict=False))
    verdict = _verdict(same == len(expected) == len(found))
    return Row(aspect, what, str(len(expected)), f"{len(found)}, {same} equal", verdict, len(expected))


def _metric_row(name: str, value: float, shown: Shown) -> Row:
    """Equal where it is shown at all: evaluated once more, a script's file only keeps the last."""
    found = list(shown.last(name))
    if not found:
        return Row(_aspect("", name), f"metric {name}", f"{value:g}", "none", Verdict.MISSING)
    nearest = min(found, key=lambda one: abs(one - value))
    return Row(_aspect("", name), f"metric {name}", f"{value:g}", f"{nearest:g}", _verdict(close(value, nearest, name)))


def _number_rows(what: str, expected: float | None, found: float | None) -> list[Row]:
    if expected is None:
        return []
    verdict = Verdict.MISSING if found is None else _verdict(expected == found)
    return [Row("progress", what, f"{expected:g}", "none" if found is None else f"{found:g}", verdict)]


def _verdict(equal: bool) -> Verdict:
    return Verdict.EQUAL if equal else Verdict.DIFFERS


def close(expected: float, found: float, name: str = "") -> bool:
    """Whether `found` is `expected` as printed under that name; two NaN are the same."""
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    return math.isclose(
        expected, found, rel_tol=_RELATIVE, abs_tol=_HUNDREDTH if name.endswith("_runtime") else _ABSOLUTE
    )


# ------------------------------------------------------------------------------------------------------------- telling
def summary(rows: Sequence[Row]) -> str:
    """A line for each aspect: of how many values all is equal."""
    aspects = dict.fromkeys(row.aspect for row in rows)
    return _columns([(aspect, *_told([row for row in rows if row.aspect == aspect])) for aspect in aspects])


def _told(rows: Sequence[Row]) -> tuple[str, str]:
    worst = next(
        (v for v in (Verdict.MISSING, Verdict.DIFFERS) if any(row.verdict is v for row in rows)), Verdict.EQUAL
    )
    names = ", ".join(row.what for row in rows if row.verdict is not Verdict.EQUAL)
    return str(sum(row.size for row in rows)), f"{worst.value}: {names}" if names else worst.value


def table(rows: Sequence[Row]) -> str:
    """Every comparison."""
    cells = [(row.what, row.truth, row.shown, row.verdict.value) for row in rows]
    return _columns([("what", "script's file", "dsgui", ""), *cells])


def _columns(cells: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m differential.public_runs", description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="a run directory")
    parser.add_argument("truth", type=Path, help="the folder the script wrote to, or a CSV")
    parser.add_argument("--ended", default="succeeded", help="the end state expected (default: succeeded)")
    parser.add_argument("--all", action="store_true", help="print every comparison, not a line for each aspect")
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        rows = compare(truth_of(options.truth, options.ended), shown_by(options.run))
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"{type(error).__name__}: {error}")
    print(table(rows) if options.all else summary(rows))
    return int(any(row.verdict is not Verdict.EQUAL for row in rows))


if __name__ == "__main__":
    sys.exit(main())
