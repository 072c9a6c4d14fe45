"""Steps that begin again with each epoch, made to go on: after `[1, 12000]` comes `[2, 2000]`, which is 14000."""

from dataclasses import dataclass, field

from dsgui.core.logs.readings import Reading

_MOST_RANKS = 4096


@dataclass(slots=True)
class Epochs:
    """Of one rank. `last` is the furthest step of its epoch: the next bar may be drawn at 0 before its epoch is named.
    `begins_again`: whether the steps do; None before a second epoch was seen."""

    epoch: float | None = None
    last: int = 0
    total: int | None = None
    base: int = 0
    begins_again: bool | None = None

    def count(self, step: int, total: int | None, epoch: float | None) -> int:
        """The step since the training began, of one that may be of its epoch."""
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
        """How many steps there will be, of a line or bar that says `total`, where there will be so many epochs."""
        if total is None or self.begins_again is False or (epochs is None and not self.base):
            return total
        return total * epochs if epochs else self.base + total


@dataclass(slots=True)
class EpochCounts:
    """The same for every rank. `epoch` is the last that a line of its own named, `Epoch 2/5`; `epochs` how many there
    will be, where that is known."""

    of: dict[int | None, Epochs] = field(default_factory=dict)
    epoch: float | None = None
    epochs: int | None = None

    @property
    def counts(self) -> bool:
        """Whether an epoch was named at all."""
        return bool(self.of) or self.epoch is not None

    def named(self, epoch: float | None, epochs: int | None) -> None:
        """A line or bar named them. Epochs that count from 0 may end with the number before the last or with that one:
        how many there will be stays open."""
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
        """Ranks that only the other has counted go on as it did."""
        self.of = other.of | self.of
