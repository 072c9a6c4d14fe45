"""The bar of the training among the bars that are drawn: evaluation and preparation draw others, with other totals."""

import re
from dataclasses import dataclass

from dsgui.core.bars import described_values

_TRAINS = re.compile(r"epoch|train|step|iter", re.IGNORECASE)
_EVALUATES = re.compile(r"\b(?:eval|val|dev\b|test|infer|predict)", re.IGNORECASE)


def may_train(description: str) -> bool:
    """Whether what stands before a bar (`Epoch 1:`, `Map:`) leaves it open that this is the training's."""
    if not description.endswith(":") or _TRAINS.search(description):
        return True
    return bool(described_values(description)) and not _EVALUATES.search(description)


@dataclass(slots=True)
class TrainingBar:
    """The first without a description, or with one that speaks of training. `total` is None before it was drawn."""

    total: int | None = None
    step: int = 0

    def is_this(self, step: int, total: int, trained: bool) -> bool:
        """A bar that filled up before anything was trained was an evaluation's or a preparation's."""
        if self.total is None or (self.total != total and not trained and self.step >= self.total):
            self.total = total
        return self.total == total


@dataclass(slots=True)
class Epochs:
    """Steps that begin again with each epoch, made to go on."""

    epoch: float | None = None
    last: int = 0
    total: int | None = None
    base: int = 0

    def count(self, step: int, total: int | None, epoch: float | None) -> int:
        if self.epoch is not None and epoch is not None and epoch > self.epoch and step <= self.last:
            self.base += self.total or self.last
        self.epoch, self.last, self.total = epoch, step, total
        return self.base + step
