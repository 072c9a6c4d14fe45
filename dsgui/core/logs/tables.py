"""Tables of steps: a line of names, `step  loss  lr` or `epoch,train_loss,val_loss`, and under it a line of numbers for
each. Keras', Lightning's and Ultralytics' CSV files, what skorch and fastai print, a loop's own.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.logs.numerals import NUMBER, canonical, evaluates
from dsgui.core.logs.readings import Form, Reading

_MOST_COLUMNS, _LONGEST_NAME = 60, 60
_MOST_COUNT = 1e15
_STEPS = frozenset({"step", "steps", "global_step", "trainer/global_step", "iteration", "iter", "iters"})
_NAME = re.compile(r"[A-Za-z_][\w./@ ()%-]*+\Z")
_RULE = re.compile(r"[\s|+:=-]{5,}\Z")
_NUMBER = re.compile(rf"(?:{NUMBER})\Z", re.IGNORECASE)
_MEASURED = ("train", "val", "eval", "test", "metrics/")
_EMPTY = frozenset({"", "-", "none", "null", "n/a"})
# What parts the cells; the last for columns that are padded with spaces.
_APART: tuple[tuple[str, Callable[[str], list[str]]], ...] = (
    ("\t", lambda text: text.split("\t")),
    (",", lambda text: text.split(",")),
    (";", lambda text: text.split(";")),
    ("|", lambda text: text.strip().strip("|").split("|")),
    ("  ", str.split),
)


@dataclass(frozen=True, slots=True)
class _Head:
    """`names` are those of the curves, "" for a column that is none."""

    split: Callable[[str], list[str]]
    names: Sequence[str]
    step: int | None
    epoch: int | None


class Table:
    """Takes each line that tells nothing otherwise, and every line while it is `open`."""

    def __init__(self) -> None:
        self._head: _Head | None = None

    @property
    def open(self) -> bool:
        """Whether the next line may be one of numbers."""
        return self._head is not None

    def begins(self, text: str) -> bool:
        """Whether a table's line of names is this one."""
        self._head = next(_heads(text), None)
        return self.open

    def line(self, text: str) -> list[Reading] | None:
        """What a line of numbers says: nothing, or of the training, of an evaluation, or both. None for the first line
        outside the table, which ends it."""
        if self._head is None or _RULE.match(text):
            return []
        found = _row(self._head, text)
        if found is None:
            self._head = None
        return found


def _heads(text: str) -> Iterator[_Head]:
    for mark, split in _APART:
        if mark in text and (head := _head([cell.strip().strip("\"'") for cell in split(text)], split)):
            yield head


def _head(cells: Sequence[str], split: Callable[[str], list[str]]) -> _Head | None:
    """None if these are no names, or if they name no step or no measured number."""
    named = [cell for cell in cells if cell]
    if not 2 <= len(cells) <= _MOST_COLUMNS or len({*named}) < len(named) or not all(map(_is_name, named)):
        return None
    lowered = [cell.lower().replace(" ", "_") for cell in cells]
    step = next((place for place, name in enumerate(lowered) if name in _STEPS), None)
    epoch = lowered.index("epoch") if "epoch" in lowered else None
    curves = ["" if place in (step, epoch) else _curve(cell) for place, cell in enumerate(cells)]
    if (step is None and epoch is None) or not any(canonical(cell) for cell in cells):
        return None
    return _Head(split, curves, step, epoch)


def _curve(cell: str) -> str:
    return canonical(cell) or (cell if cell.lower().startswith(_MEASURED) else "")


def _is_name(cell: str) -> bool:
    return len(cell) <= _LONGEST_NAME and _NAME.match(cell) is not None


def _row(head: _Head, text: str) -> list[Reading] | None:
    cells = [cell.strip() for cell in head.split(text)]
    if not cells or len(cells) > len(head.names) or len(cells) < 2:
        return None
    step, epoch = (_count(cells, place) for place in (head.step, head.epoch))
    if step is None and epoch is None:
        return None
    values = {name: float(cell) for name, cell in zip(head.names, cells, strict=False) if name and _NUMBER.match(cell)}
    if not values and not all(cell.lower() in _EMPTY or _NUMBER.match(cell) for cell in cells):
        return None
    whole = int(step) if step is not None and step == int(step) else None
    return [Reading(Form.PLAIN, part, whole, epoch, kind=kind) for kind, part in _parts(values) if part]


def _count(cells: Sequence[str], place: int | None) -> float | None:
    """A step or an epoch; None where there is none."""
    if place is None or place >= len(cells) or not _NUMBER.match(cells[place]):
        return None
    number = float(cells[place])
    return number if 0 <= number < _MOST_COUNT else None


def _parts(values: dict[str, float]) -> Iterator[tuple[str, dict[str, float]]]:
    """What was measured on held-out data is an evaluation."""
    yield "train", {name: value for name, value in values.items() if not evaluates(name)}
    yield "eval", {name: value for name, value in values.items() if evaluates(name)}
