"""What training scripts write to files, as points: DeepSpeed's CSV and TensorBoard monitors, the HF Trainer's states.

Names are translated to those of the output (`Train/Samples/lr` → `learning_rate`, `train/loss` → `loss`). DeepSpeed's
monitors count samples where others count steps (deepspeed/runtime/engine.py, `global_samples`); the HF Trainer puts
`train/`, `eval/` or `test/` before what it prints (transformers/integrations, `rewrite_logs`) and logs the epoch as a
value.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.metrics.event_file import Scalar
from dsgui.core.metrics.points import Point

CSV, TENSORBOARD, TRAINER_STATE = "csv_monitor", "tensorboard", "trainer_state"
_BY_SAMPLES = ("Train/Samples/", "Train_Samples_")
_OF_DEEPSPEED = {"train_loss": "loss", "lr": "learning_rate"}
_EVALUATED = frozenset({"eval", "test", "val", "valid", "validation"})
# `Loss/train`, as the documentation of torch.utils.tensorboard has it: the measure before the part of the data.
_MEASURES = {
    "loss": "loss",
    "accuracy": "accuracy",
    "acc": "accuracy",
    "perplexity": "perplexity",
    "lr": "learning_rate",
}
_OF_PART = {"train": "train", "training": "train", **dict.fromkeys(_EVALUATED, "eval")}
_HYPERPARAMETERS = "hparam"  # the metrics of add_hparams: of the whole training, at step 0
_LONGEST_LINE_BYTES = 4096
_LONGEST_NAME = 200
_MOST_WAITING = 10_000  # values whose step is not known yet
_MOST_STEP = 1 << 53  # a larger one is no exact float


@dataclass(frozen=True, slots=True)
class Named:
    """A tag in dsgui's words. `by_samples`: its x counts samples, not steps."""

    kind: str
    name: str
    by_samples: bool = False


def named(tag: str) -> Named:
    """For any tag; an unknown one keeps its name."""
    for prefix in _BY_SAMPLES:
        if tag.startswith(prefix):
            rest = tag[len(prefix) :]
            kind = "eval" if rest.startswith("eval_") else "train"
            return Named(kind, _OF_DEEPSPEED.get(rest, rest)[:_LONGEST_NAME], True)
    group, slash, rest = tag.partition("/")
    if group == _HYPERPARAMETERS and slash:
        return Named("final", rest[:_LONGEST_NAME])
    if group.lower() in _MEASURES and (found := _OF_PART.get(rest.lower())):
        measure = _MEASURES[group.lower()]
        return Named(
            found, measure if found == "train" else f"{'test' if rest.lower() == 'test' else 'eval'}_{measure}"
        )
    if slash and group.lower() in ("eval", "test"):
        return Named("eval", f"{group.lower()}_{rest}"[:_LONGEST_NAME])
    if slash and group.lower() == "train":
        return Named("final" if _is_final(rest) else "train", rest[:_LONGEST_NAME])
    return Named("eval" if group.lower() in _EVALUATED else "train", tag[:_LONGEST_NAME])


def _is_final(name: str) -> bool:
    """What the HF Trainer logs at the end of training."""
    return name.startswith("train_") or name == "total_flos"


@dataclass(slots=True)
class Batch:
    """Samples per step: from the config, or from the distance between the first two values of one name, since
    DeepSpeed's engine logs the learning rate (and a pipeline engine the loss) with every step."""

    size: int | None = None
    _first: dict[str, int] = field(default_factory=dict)

    def learn(self, name: str, samples: int | None) -> None:
        if self.size is None and samples is not None and name in ("learning_rate", "loss"):
            first = self._first.setdefault(name, samples)
            self.size = samples - first if samples > first else None

    def step(self, samples: int | None) -> int | None:
        """None if it is not known, or if no step ends there."""
        return None if samples is None or not self.size or samples % self.size else samples // self.size


class Steps:
    """Converts samples to steps. Points wait, a bounded number of them, until it is known how many samples per step
    has. Their `step` is samples until then."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._waiting: list[Point] = []

    def take(self, points: Iterable[Point]) -> list[Point]:
        """The points whose steps are now known."""
        for point in points:
            for name in point.values:
                self._batch.learn(name, point.step)
            self._waiting.append(point)
        return self.finish() if self._batch.size or len(self._waiting) > _MOST_WAITING else []

    def finish(self) -> list[Point]:
        """All of them, without a step if it can't be known."""
        waited, self._waiting = self._waiting, []
        return [point._replace(step=self._batch.step(point.step)) for point in waited]


class CsvFile:
    """One file of DeepSpeed's csv_monitor: rows of x and value, after a header (deepspeed/monitor/csv_monitor.py, whose
    file name is the tag with `_` for `/`)."""

    def __init__(self, stem: str, batch: Batch) -> None:
        self.bad_rows = 0
        self._named = named(stem)
        self._steps = Steps(batch)
        self._rest = b""

    def feed(self, data: bytes) -> list[Point]:
        """An incomplete line waits."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[: _LONGEST_LINE_BYTES + 1]
        points = [point for line in lines if (point := self._row(line.strip()))]
        return self._steps.take(points) if self._named.by_samples else points

    def finish(self) -> list[Point]:
        """What waited for a step that is not known."""
        return self._steps.finish()

    def _row(self, line: bytes) -> Point | None:
        x, comma, value = line.partition(b",")
        if not line or x == b"step":
            return None
        try:
            if not comma or len(line) > _LONGEST_LINE_BYTES:
                raise ValueError("not a row of two numbers")
            return Point(_step(int(x)), None, {self._named.name: float(value)}, self._named.kind, source=CSV)
        except ValueError:
            self.bad_rows += 1
            return None


class ScalarPoints:
    """TensorBoard scalars, grouped by step."""

    def __init__(self, batch: Batch) -> None:
        self._steps = Steps(batch)

    def take(self, scalars: Sequence[Scalar]) -> list[Point]:
        """The scalars of one step in one call become one point per kind."""
        known: list[Point] = []
        for place, end in stretches(scalars):
            told = [(named(scalar.tag), scalar) for scalar in scalars[place:end]]
            epoch = next((scalar.value for name, scalar in told if name == Named("train", "epoch")), None)
            known += self._points(told, epoch)
        return known

    def finish(self) -> list[Point]:
        """What waited for a step that is not known."""
        return self._steps.finish()

    def _points(self, told: Sequence[tuple[Named, Scalar]], epoch: float | None) -> list[Point]:
        groups: dict[tuple[str, bool], dict[str, float]] = {}
        for name, scalar in told:
            if name != Named("train", "epoch"):
                groups.setdefault((name.kind, name.by_samples), {})[name.name] = scalar.value
        step, points = _step(told[0][1].step), []
        for (kind, by_samples), values in groups.items():
            point = Point(step, epoch, values, kind, source=TENSORBOARD)
            points += self._steps.take([point]) if by_samples else [point]
        return points


def stretches(scalars: Sequence[Scalar]) -> Iterable[tuple[int, int]]:
    """Where the scalars of one step begin and end; a repeated tag begins a new group."""
    begin, tags = 0, set[str]()
    for place, scalar in enumerate(scalars):
        if place > begin and (scalar.step != scalars[begin].step or scalar.tag in tags):
            yield begin, place
            begin, tags = place, set()
        tags.add(scalar.tag)
    if scalars:
        yield begin, len(scalars)


def history(text: str | bytes) -> list[Any]:
    """The `log_history` of a trainer_state.json; empty if there is none, or if it is only half written."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = value.get("log_history") if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def history_points(entries: Iterable[Any]) -> list[Point]:
    """The points of some entries of a `log_history` (transformers/trainer_callback.py, TrainerState)."""
    points = []
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        numbers = {str(name)[:_LONGEST_NAME]: float(value) for name, value in entry.items() if _is_number(value)}
        step, epoch = numbers.pop("step", None), numbers.pop("epoch", None)
        if "lr" in numbers:  # of a script's own loop
            numbers.setdefault("learning_rate", numbers.pop("lr"))
        if numbers:
            whole = None if step is None or not math.isfinite(step) else _step(int(step))
            points.append(Point(whole, epoch, numbers, _history_kind(numbers), source=TRAINER_STATE))
    return points


def _history_kind(values: Mapping[str, float]) -> str:
    if "train_runtime" in values:
        return "final"
    return "eval" if any(name.startswith(("eval_", "test_")) for name in values) else "train"


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < _MOST_STEP)


def _step(value: int) -> int | None:
    return value if 0 <= value < _MOST_STEP else None
