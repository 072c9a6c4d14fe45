"""Makes steps that restart with each epoch continuous: after `[1, 12000]` comes `[2, 2000]`, which is 14000. And steps
for what names its epoch alone and was printed late."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dsgui.core.logs.readings import Reading

MOST_LATE = 300  # dicts that may come together: the shortest ones in a buffer of 8 KiB
_MOST_RANKS = 4096
_DIGITS = 4  # of an epoch, in transformers 5
_ENOUGH, _MOST_FITTED, _MOST_TRIED, _MOST_BEGINS = 40, 2000, 1000, 50
_NEAR = 0.15  # of two numbers of steps between dicts, of which a person would have chosen the rounder one
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
    redrawn: bool = False  # its bar at its beginning, once it was full
    rounds: bool = False  # and it went on so: how many of them there will be isn't known

    def count(self, step: int, total: int | None, epoch: float | None, trains: bool = True) -> int:
        """The step since the training began, for a step that may be counted within its epoch. One beyond the epoch's
        total is counted from the beginning of the training: another line of the same script says so. A total that isn't
        the training's is an evaluation's own."""
        if total is None and self.total is not None and self.base and step > self.total and epoch in (None, self.epoch):
            return step
        if epoch is not None and epoch != self.epoch:
            if self.epoch is not None and epoch > self.epoch:
                again = step <= self.last and not (self.redrawn and not self.last)
                self.base += (self.total or self.last) if again else 0
                self.begins_again = again or bool(self.begins_again)
            self.epoch, self.last, self.redrawn = epoch, step, False
        elif step > self.last:
            self.last, self.rounds = step, self.rounds or (self.redrawn and step > 1)
        self.total = total if trains and total is not None else self.total
        return self.base + step

    def redraws(self, step: int, total: int, epoch: float | None) -> None:
        """A bar that was full is drawn from its beginning in the same epoch: OpenRLHF trains on each batch of
        experience."""
        if step <= 1 and total > 1 and self.last >= total == self.total and epoch in (None, self.epoch):
            self.base, self.last, self.begins_again = self.base + total, 0, True
            self.redrawn = True

    @property
    def furthest(self) -> int:
        """The step since the training began at which its epoch is, also where a bar is drawn at 0 again."""
        return self.base + self.last

    def whole(self, total: int | None, epochs: int | None) -> int | None:
        """The number of steps, from a line or bar that says `total`, for this number of epochs."""
        if self.rounds:
            return None
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


class TrainerSteps:
    """Steps for the HF Trainer's dicts that no bar follows, by what it said before the training: each dict names its
    epoch, rounded, and between them lies the same number of steps, which shows after a few."""

    def __init__(self, total: int, per_epoch: float, begun_at: int = 0) -> None:
        self.total, self.last = total, begun_at
        self._per_epoch = per_epoch
        self._epochs: list[float] = []  # of the first dicts of the training
        self._every: int | None = None
        self._sure = self._is_open = self._begins_at_one = False

    def steps(self, held: Sequence[Reading], most: int | None = None) -> list[int | None]:
        """The step of each, at most that of the bar drawn next, which is the last one's where it can be. One that names
        no epoch has none."""
        self._learn(held)
        found = [self._step(one, self.total if most is None else most) for one in held]
        if most is not None and held[-1].epoch is not None and self._may_be(most, held[-1].epoch):
            found[-1] = self.last = most
        return found

    def drawn(self, one: Reading, step: int) -> None:
        """The bar tells its step."""
        self._learn([one])
        self.last = step

    def _learn(self, held: Sequence[Reading]) -> None:
        if not self._sure:
            logged = (one.epoch for one in held if one.kind == "train" and _counts(one.epoch))
            before, every = len(self._epochs), self._every
            self._epochs = [*self._epochs, *(epoch for epoch in logged if epoch is not None)][:_MOST_FITTED]
            if len(self._epochs) <= _ENOUGH or before // _ENOUGH != len(self._epochs) // _ENOUGH:
                self._fit()
            if before and self._every and self._every != every:
                self.last = self._every * (self._first_of(self._every) + before - 1)

    def _first_of(self, every: int) -> int:
        """Which multiple of it the first dict is of."""
        return _begin(every, [self._span(epoch, _unit(epoch, self._epochs)) for epoch in self._epochs]) or 1

    def _may_be(self, step: int, epoch: float) -> bool:
        low, high = self._span(epoch, _unit(epoch, self._epochs or [epoch]))
        return low <= step <= high

    def knows(self, one: Reading) -> bool:
        """Whether a dict's step is known without those after it."""
        if one.epoch is None or not _counts(one.epoch):
            return True
        return self._is_exact(one.epoch) or (self._sure and self._every is not None)

    def _is_exact(self, epoch: float) -> bool:
        return _unit(epoch, [*self._epochs, epoch]) * self._per_epoch < 1

    def _step(self, one: Reading, most: int) -> int | None:
        if one.epoch is None or not _counts(one.epoch) or (self._is_open and not self._is_exact(one.epoch)):
            return None
        low, high = self._span(one.epoch, _unit(one.epoch, self._epochs or [one.epoch]))
        if one.kind != "train":
            return self.last if low <= self.last <= high else max(min(round((low + high) / 2), most), 0)
        self.last = max(min(self._next(low, high), most), 0)
        return self.last

    def _next(self, low: float, high: float) -> int:
        middle, every = (low + high) / 2, self._every
        if self._begins_at_one and not self.last and low <= 1:
            return 1
        if not every:
            return round(middle)
        following = (self.last // every + 1) * every
        if low <= following <= high:
            return following
        near = round(middle / every) * every
        return near if low <= near <= high and near else round(middle)

    def _span(self, epoch: float, unit: float) -> tuple[float, float]:
        """Between which steps it was logged. Half a step more: an epoch's length is known to one micro step."""
        middle, most = epoch * self._per_epoch, unit / 2 * self._per_epoch + 0.51
        return max(middle - most, 0.0), middle + most

    def _fit(self) -> None:
        """How many steps lie between two dicts: of all numbers that fit, the one that a person would choose; open while
        that may be several. The first dict may be of the first step, whatever lies between the others
        (logging_first_step)."""
        spans = [self._span(epoch, _unit(epoch, self._epochs)) for epoch in self._epochs]
        found = _evenly_apart(spans)
        self._begins_at_one = not found and bool(spans) and spans[0][0] <= 1
        if self._begins_at_one:
            found = _evenly_apart(spans[1:])
        self._every = _chosen(found)
        self._is_open = bool(found) and self._every is None
        self._sure = len(found) == 1 or (len(spans) >= _ENOUGH and not self._is_open)


def _counts(epoch: float | None) -> bool:
    return epoch is not None and 0 <= epoch <= _MOST_EPOCH


def _evenly_apart(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The numbers whose successive multiples lie in these spans."""
    if len(spans) < 2:
        return []
    (low, high), (least, most), apart = spans[0], spans[-1], len(spans) - 1
    first = max(math.ceil((least - high) / apart), 1)
    tried = range(first, min(math.floor((most - low) / apart), first + _MOST_TRIED) + 1)
    return [every for every in tried if _begin(every, spans)]


def _chosen(found: Sequence[int]) -> int | None:
    """The only one, or the only one of the roundest where all lie near it: of 9, 10 and 11 that is 10; none where these
    may be 20 or 25."""
    best = sorted(found, key=_roundness)[:2]
    if len(best) < 2:
        return best[0] if best else None
    first, second = map(_roundness, best)
    is_near = max(found) <= best[0] * (1 + _NEAR) and min(found) >= best[0] * (1 - _NEAR)
    return best[0] if is_near and first < second and first[1] == 0 else None


def _begin(every: int, spans: Sequence[tuple[float, float]]) -> int | None:
    """The least multiple that the first may be of, where all others follow; None where none is."""
    begins = range(max(math.ceil(spans[0][0] / every), 1), math.floor(spans[0][1] / every) + 1)
    fit = (
        begin
        for begin in begins[:_MOST_BEGINS]
        if all(low <= (begin + at) * every <= high for at, (low, high) in enumerate(spans))
    )
    return next(fit, None)


def _roundness(number: int) -> tuple[int, int]:
    """First those of few digits before zeros, 5 among them before 7."""
    digits = str(number).rstrip("0")
    return len(digits), number % 5


def _unit(epoch: float, epochs: Sequence[float]) -> float:
    """What one of these was rounded to: nothing at all, as transformers 4.44 to 4.57 leave it, or as `_units` says."""
    if any(float(f"{one:.{_DIGITS}g}") != one and round(one, 2) != one for one in epochs):
        return 0.0
    if all(round(one, 2) == one for one in epochs) or not epoch:
        return 0.01
    return _unit_of_digits(epoch)


def _units(epochs: Sequence[float]) -> list[float]:
    """What each was rounded to: two decimals, as transformers before 4.44 does, or four digits."""
    if all(round(epoch, 2) == epoch for epoch in epochs):
        return [0.01] * len(epochs)
    return list(map(_unit_of_digits, epochs))


def _unit_of_digits(epoch: float) -> float:
    return 10.0 ** (math.floor(math.log10(epoch)) + 1 - _DIGITS)
