"""Makes steps that restart with each epoch continuous: after `[1, 12000]` comes `[2, 2000]`, which is 14000."""

from dataclasses import dataclass, field

from dsgui.core.logs.readings import Reading

_MOST_RANKS = 4096


@dataclass(slots=True)
class Epochs:
    """The epochs of one rank. `last` is the furthest step of its epoch: the next bar may be drawn at 0 before its epoch
    is named. `begins_again`: whether the steps restart; None before a second epoch was seen."""

    epoch: float | None = None
    last: int = 0
    total: int | None = None
    base: int = 0
    begins_again: bool | None = None

    def count(self, step: int, total: int | None, epoch: float | None) -> int:
        """The step since the training began, for a step that may be counted within its epoch."""
        if epoch is not None and epoch != self.epoch:
            if self.epoch is not None and epoch > self.epoch:
                again = step <= self.last
                self.base += (self.total or self.last) if again else 0
                self.begins_again = again or bool(self.begins_again)
            self.epoch, self.last = epoch, step
        elif step > self.last:
            self.last = step
        self.total = total
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

    def count(self, rank: int | None, step: int, total: int | None, epoch: float | None) -> int:
        """Bounded in number of ranks."""
        return self.rank(rank).count(step, total, self.epoch if epoch is None else epoch)

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
        return self.count(reading.rank, step, reading.total, epoch)

    def adopt(self, other: "EpochCounts") -> None:
        """Ranks that only the other has counted continue from there."""
        self.of = other.of | self.of
