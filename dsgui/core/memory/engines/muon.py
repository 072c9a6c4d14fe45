"""What Muon adds to an engine (runtime/zero/muon/original_muon.py, whose lines are meant): groups of matrices, their
momentum, and the matrices of Newton and Schulz."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Place
from dsgui.core.memory.ledger import Ledger, Slot, slot_for
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.tape import Tape, Tensor
from dsgui.core.memory.walk import Weight

_STEPS, _RESTART = 5, 2
_HALF, _FLOAT = 2, 4  # bytes; what is iterated is always narrow
_CACHE = 256 << 20  # bytes: stage3.py:243, stage_1_and_2.py:410
_KEYS = (keys.OPTIMIZER, keys.STAGE)
MOMENTUM = slot_for(Component.MOMENTS, keys=(*_KEYS, keys.OPTIMIZER_DEVICE))
MOMENTUM_ON_HOST = slot_for(Component.MOMENTS, Place.HOST, (keys.OPTIMIZER_DEVICE, keys.OPTIMIZER))
UPDATE = slot_for(Component.STEP, keys=_KEYS)
GATHERED = slot_for(Component.STAGING, keys=_KEYS)


def halves(groups: Iterable[Sequence[Weight]], *, sorts: bool) -> Iterator[tuple[Weight, ...]]:
    """engine.py:2426: of each group its matrices, then the rest, which Adam trains. Matrices are sorted by their shape,
    the largest first (`MuonWithAuxAdam.__init__`), where they have one: divided ones don't."""
    for group in groups:
        matrices = [weight for weight in group if weight.for_muon]
        if sorts:
            matrices.sort(key=lambda weight: (weight.rows, weight.columns), reverse=True)
        yield from (tuple(half) for half in (matrices, [one for one in group if not one.for_muon]) if half)


def has_matrices(group: Sequence[Weight], settings: Settings) -> bool:
    return settings.is_muon and bool(group) and group[0].for_muon


@dataclass(frozen=True, slots=True)
class Update:
    """Bytes of one `muon_update`: the most at once, and what is left, the `result`."""

    most: int
    result: int


def update_of(weight: Weight, element: int, settings: Settings) -> Update:
    """`element`: bytes of one of its gradient."""
    is_half = element == _HALF and settings.precision == "fp16"
    return _update(*sorted((weight.rows, weight.columns)), element, is_half, settings.ns_method == "standard")


@lru_cache(maxsize=512)
def _update(short: int, long: int, element: int, is_half: bool, is_standard: bool) -> Update:
    """198–243: the momentum and the gradient become one, are orthogonalized, and come back in the gradient's dtype."""
    tape, numel = Tape(), short * long
    tape.top = 2 * numel * element  # 218: lerp and where
    first = [_normed(tape, numel, element, is_half, is_standard)]
    narrow = (_iterated if is_standard or short == long else _by_gram)(tape, first, short)
    if element == _FLOAT or is_half is is_standard:  # 239: gram's is fp16, the other's bf16
        narrow = tape.make(numel, element)
    result = tape.make(numel, element)
    del narrow
    return Update(tape.top, result.numel * element)


def _normed(tape: Tape, numel: int, element: int, is_half: bool, is_standard: bool) -> Tensor:
    """71–79 and 110–121: divided by its norm, gram's in fp32 where it was fp16, and cast."""
    copies = (element == _FLOAT or is_half) if is_standard else is_half
    wide = _HALF if is_standard else _FLOAT if is_half else element
    held = tape.make(numel, wide) if copies else None
    quotient = tape.make(numel, wide)
    if is_standard:
        del held
        return quotient
    return tape.make(numel, _HALF)


def _iterated(tape: Tape, first: list[Tensor], short: int) -> Tensor:
    """81–84. Names live on into the next round; nobody else holds the `first`."""
    found = first.pop()
    square, numel = short * short, found.numel
    for _ in range(_STEPS):
        a = tape.make(square, _HALF)
        b = _polynomial(tape, square)
        scaled, multiplied = tape.make(numel, _HALF), tape.make(numel, _HALF)
        found = tape.make(numel, _HALF)
        del scaled, multiplied
    del a, b
    return found


def _polynomial(tape: Tape, square: int) -> Tensor:
    """`b * A + c * A @ A`"""
    first, second = tape.make(square, _HALF), tape.make(square, _HALF)
    product = tape.make(square, _HALF)
    del second
    result = tape.make(square, _HALF)
    del first, product
    return result


def _sum(tape: Tape, square: int) -> Tensor:
    """`a * R + Z @ R`"""
    first, second = tape.make(square, _HALF), tape.make(square, _HALF)
    result = tape.make(square, _HALF)
    del first, second
    return result


def _by_gram(tape: Tape, first: list[Tensor], short: int) -> Tensor:
    """132–161: the iteration is on the small square matrix."""
    found = first.pop()
    square, numel = short * short, found.numel
    r = tape.make(square, _HALF)
    q: Tensor | None = None
    z = rz = q
    for number in range(_STEPS):
        if number == _RESTART:
            found = tape.make(numel, _HALF)
            r, q = tape.make(square, _HALF), None
        z = _polynomial(tape, square)
        q = tape.make(square, _HALF) if q is None else _sum(tape, square)
        if number < _STEPS - 1 and number + 1 != _RESTART:
            rz = _sum(tape, square)
            r = _sum(tape, square)
    found = tape.make(numel, _HALF)
    del r, q, z, rz
    return found


@dataclass(slots=True)
class Names:
    """Tensors by the names that Python has for them: what is named anew is there before the old one goes."""

    ledger: Ledger
    slot: Slot = UPDATE
    _held: dict[str, int] = field(default_factory=dict)

    def put(self, name: str, *counts: int) -> None:
        for count in counts:
            self.ledger.take(self.slot, count)
        self.drop(name)
        self._held[name] = sum(counts)

    def update(self, name: str, update: Update) -> None:
        self.ledger.pass_by(self.slot, update.most)
        self.put(name, update.result)

    def drop(self, *names: str) -> None:
        for name in names:
            self.ledger.drop(self.slot, self._held.pop(name, 0))

    def end(self) -> None:
        self.drop(*list(self._held))


@dataclass(slots=True)
class Scratch:
    """Buffers of all-gathers that are kept for the next one of their size, the oldest going first (stage3.py:2099,
    stage_1_and_2.py:1993)."""

    ledger: Ledger
    _kept: "OrderedDict[tuple[int, ...], tuple[int, ...]]" = field(default_factory=OrderedDict)

    def take(self, key: tuple[int, ...], *counts: int) -> tuple[int, ...]:
        """Those that are too large to be kept: to be dropped once they were read."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return ()
        room = _CACHE - sum(counts)
        for count in counts:
            self.ledger.take(GATHERED, count)
        if room < 0:
            return counts
        while self._kept and sum(map(sum, self._kept.values())) > room:
            self.drop(self._kept.popitem(last=False)[1])
        self._kept[key] = counts
        return ()

    def drop(self, counts: Iterable[int]) -> None:
        for count in counts:
            self.ledger.drop(GATHERED, count)
