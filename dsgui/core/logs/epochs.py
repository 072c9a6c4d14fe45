"""Makes steps that restart with each epoch continuous: after `[1, 12000]` comes `[2, 2000]`, which is 14000. And steps
for what names its epoch alone and was printed late."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dsgui.core.logs.readings import Reading

MOST_LATE = 300  # dicts that may come together: the shortest ones in a buffer of 8 KiB
_MOST_RANKS = 4096
_DIGITS = 4  # of an epoch, in transformers 5
_LEAST_EPOCH, _MOST_EPOCH = 1e-6, 1e6  # that tell how long one is: an epoch may be `nan`, below 0, or not a Trainer's


@dataclass(slots=True)
class Epochs:
    """The epochs of one rank. `last` is the furthest step of its epoch: the next bar may be drawn at 0 before its epoch
    is named. `begins_again`: whether the steps restart; None before a second epoch was seen."""

    epoch: float | None = None
    last: int = 0
    total: int | None = None
    base: int = 0
    begins_again: bool | None = None

    def count(self, step: int, total: int | None, epoch: float | None, trains: bool = True) -> int:
        """The step since the training began, for a step that may be counted within its epoch. One beyond the epoch's
        total is counted from the beginning of the training: another line of the same script says so. A total that isn't
        the training's is an evaluation's own."""
        if total is None and self.total is not None and self.base and step > self.total and epoch in (None, self.epoch):
            return step
        if epoch is not None and epoch != self.epoch:
            if self.epoch is not None and epoch > self.epoch:
                again = step <= self.last
                self.base += (self.total or self.last) if again else 0
                self.begins_again = again or bool(self.begins_again)
            self.epoch, self.last = epoch, step
        elif step > self.last:
            self.last = step
        self.total = total if trains and total is not None else self.total
        return self.base + step

    @property
    def furthest(self) -> int:
        """The step since the training began at which its epoch is, also where a bar is drawn at 0 again."""
        return self.base + self.last

    def whole(self, total: int | None, epochs: int | None) -> int | None:
        """The number of steps, from a line or bar that says `total`, for this number of epochs."""
        if total is None or self.begins_again is False or (epochs is None and not self.base):
            return total
        return total * epochs if epochs else self.base + total


@dataclass(slots=True)
class EpochCounts:
    """The same for all ranks. `epoch` is the last one named by a line of its own, `Epoch 2/5`; `epochs` the number of
    epochs, if known."""

    of: dict[int | None, Epochs] = field(default_factory=dict)
    epoch: float | None = None
    epochs: int | None = None

    @property
    def counts(self) -> bool:
        """Whether any epoch was named."""
        return bool(self.of) or self.epoch is not None

    def named(self, epoch: float | None, epochs: int | None) -> None:
        """A line or bar named them. Epochs counted from 0 may end at the total or one before it, so their number stays
        unknown."""
        if epoch is not None and epochs is not None and self.epochs is None and 1 <= epoch <= epochs:
            self.epochs = epochs

    def count(self, rank: int | None, step: int, total: int | None, epoch: float | None, trains: bool = True) -> int:
        """Bounded in number of ranks."""
        return self.rank(rank).count(step, total, self.epoch if epoch is None else epoch, trains)

    def rank(self, rank: int | None) -> Epochs:
        found = self.of.get(rank)
        if found is None:
            if len(self.of) >= _MOST_RANKS:
                self.of.clear()
            found = self.of[rank] = Epochs()
        return found

    def step_of(self, reading: Reading) -> int | None:
        """The step of a line since the training began; None where it has none."""
        step, epoch = reading.step, reading.epoch
        if step is None or (epoch is None and not self.counts):
            return step
        return self.count(reading.rank, step, reading.total, epoch, reading.kind == "train")

    def adopt(self, other: "EpochCounts") -> None:
        """Ranks that only the other has counted continue from there."""
        self.of = other.of | self.of


class Bursts:
    """Steps for the HF Trainer's dicts that came late, many at once.

    Where the output goes to a file or a pipe (`python train.py > train.log 2>&1`), Python keeps what is printed until
    8 KiB have come together, while tqdm draws its bars at once. The last dict of such a burst is of the step that the
    bar shows, or of one before it: an epoch has as many steps as the burst says in which it has fewest."""

    def __init__(self) -> None:
        self._steps = self._most = math.inf

    def steps(self, held: Sequence[Reading], step: int) -> list[int]:
        """The step of each, where the bar shows `step` at the last: that one for all of the same epoch."""
        epochs = [one.epoch for one in held if one.epoch and _LEAST_EPOCH <= one.epoch <= _MOST_EPOCH]
        if len({*epochs}) < 2 or len(epochs) < len(held) or sorted(epochs) != epochs:
            return [step] * len(held)
        units = _units(epochs)
        most = step / (epochs[-1] - units[-1] / 2)
        if most < self._most:
            self._most, self._steps = most, step / epochs[-1]
        found = [min(self._place(epoch), step) for epoch in epochs]
        logged = [place for place, one in enumerate(held) if one.kind == "train"]
        even = self._evenly([epochs[place] for place in logged], [units[place] for place in logged], step)
        for place, at in zip(logged, even, strict=False):
            found[place] = at
        return found

    def _place(self, epoch: float) -> int:
        """An epoch ends with a whole step, however few samples are left for it."""
        place = epoch * self._steps
        return math.ceil(place - 0.1) if epoch == int(epoch) else round(place)

    def _evenly(self, epochs: Sequence[float], units: Sequence[float], step: int) -> list[int]:
        """Multiples of one number of steps, as the Trainer logs; none where they don't fit."""
        if len(epochs) < 2:
            return []
        apart = round((epochs[-1] - epochs[0]) * self._steps / (len(epochs) - 1))
        if not apart:
            return []
        last = min(round(epochs[-1] * self._steps / apart), step // apart)
        found = [(last - back) * apart for back in reversed(range(len(epochs)))]
        doubts = [0.51 + unit * self._steps for unit in units]
        near = (abs(at - e * self._steps) <= doubt for at, e, doubt in zip(found, epochs, doubts, strict=True))
        return found if all(near) else []


def _units(epochs: Sequence[float]) -> list[float]:
    """What each was rounded to: two decimals, as transformers before 4.44 does, or four digits."""
    if all(round(epoch, 2) == epoch for epoch in epochs):
        return [0.01] * len(epochs)
    return [10.0 ** (math.floor(math.log10(epoch)) + 1 - _DIGITS) for epoch in epochs]
