"""Which parameters of stage 3 are whole at each module call: runtime/zero/partitioned_param_coordinator.py (whose lines
are meant) as it goes once its trace is complete, from the third forward on."""

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.engines.casting import NARROW
from dsgui.core.memory.engines.order import Act, Step, backward_of
from dsgui.core.memory.engines.swapping import Reading
from dsgui.core.memory.ledger import Ledger, slot_for
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.walk import Unit, Walk, Weight

GATHERED = slot_for(Component.GATHERED, keys=(keys.LIVE, keys.REUSE, keys.PREFETCH))
FLAT = slot_for(Component.GATHERED, keys=(keys.PREFETCH, keys.SEQUENTIAL))
PERSISTENT = slot_for(Component.GATHERED, keys=(keys.PERSISTENT, keys.ALL_PERSISTENT))
ON_THE_WAY = slot_for(Component.STAGING, keys=(keys.PARAM_DEVICE,))
SECONDARY = slot_for(Component.SECONDARY, keys=(keys.HPZ,))


@dataclass(frozen=True, slots=True)
class Trace:
    """The module calls of one forward and backward, recomputation too. `uses` are the calls of each weight; `passed`
    the elements of all calls before one; `visits` are
    their begins (True) and their ends, as far as hooks see them."""

    calls: tuple[Unit, ...]
    uses: dict[str, list[int]]
    passed: tuple[int, ...]
    queue: tuple[tuple[Weight, int], ...]
    visits: tuple[tuple[Unit, bool], ...]


@lru_cache(maxsize=32)
def trace_of(walk: Walk) -> Trace:
    visits = tuple(_visits(walk, backward_of(walk)))
    calls = [unit for unit, begins in visits if begins]
    uses: dict[str, list[int]] = {}
    queue, passed = list[tuple[Weight, int]](), [0]
    at = 0
    for number, unit in enumerate(calls):
        for weight in unit.weights:
            uses.setdefault(weight.name, []).append(number)
            queue.append((weight, number))
            at += weight.numel
        passed.append(at)
    return Trace(tuple(calls), uses, tuple(passed), tuple(queue), visits)


def _visits(walk: Walk, backward: Iterable[Step]) -> Iterator[tuple[Unit, bool]]:
    units = walk.units()
    for unit in units:
        if unit.call:
            yield unit, True
            yield unit, False
    for act, number, enters, leaves in backward:
        is_again = act is Act.AGAIN and enters
        if is_again or act is Act.ENTER:
            yield units[number], True
        if leaves and (is_again or act is Act.BACK):
            yield units[number], False


def persistent(walk: Walk, settings: Settings) -> set[str]:
    """Weights that stay whole (partition_parameters.py:1269): the small ones, as long as they are few."""
    found, total = set[str](), 0
    for weight in walk.weights().values():
        if weight.numel <= settings.persistent and total + weight.numel <= settings.all_persistent:
            found.add(weight.name)
            total += weight.numel
    return found


@dataclass(slots=True)
class _Handle:
    """A gather under way: of one weight its buffer is the weight; of several it is flat, and cut when waited for."""

    weights: list[Weight]
    left: int
    is_cut: bool = False
    flat: int = 0  # bytes


@dataclass(slots=True)
class Gathering:
    """`narrow` are bytes of an element of most weights; those `sent_narrow` are widened when they have arrived."""

    ledger: Ledger
    trace: Trace
    settings: Settings
    ranks: int
    narrow: int
    always: set[str]
    sent_narrow: frozenset[str] = frozenset()
    call: int = 0
    live: int = 0
    queue: deque[tuple[Weight, int]] = field(default_factory=deque)
    fetched_for: dict[str, int] = field(default_factory=dict)
    whole: dict[str, Weight] = field(default_factory=dict)
    flying: dict[str, _Handle] = field(default_factory=dict)
    next_use: Counter[str] = field(default_factory=Counter)
    secondary: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    decided: dict[tuple[int, str], bool] = field(default_factory=dict)
    reading: Reading = field(init=False)

    def __post_init__(self) -> None:
        self.reading = Reading(self.settings)

    def rehearse(self) -> None:
        """The first forward and backward with a complete trace, where no step came before: weights that always stay are
        not there yet. What it decides to release is cached for ever (`lru_cache`, 625)."""
        first = Gathering(Ledger(), self.trace, self.settings, self.ranks, self.narrow, self.always, self.sent_narrow)
        first.reading.away = self.reading.away
        first.missing = set(self.always)
        first.reset()
        for unit, begins in self.trace.visits:
            if begins:
                first.enter(unit)
            else:
                first.leave(unit, forward=False)
        self.decided = first.decided

    def reset(self) -> None:
        """205–258: a forward begins."""
        self._land_all()
        self.queue = deque(self.trace.queue)
        self.fetched_for = {}
        self.call = self.live = 0
        self.next_use = Counter()

    def enter(self, unit: Unit) -> None:
        """364–490: fetch what the module needs, wait for it, prefetch."""
        if unit.weights:
            wanted = [w for w in unit.weights if not self._is_there(w)]
            if wanted:
                self._gather(wanted)
            for weight in unit.weights:
                if weight.name in self.flying:
                    self._wait(weight)
            self._pass_over([w for w in unit.weights if self.fetched_for.get(w.name, -1) < self.call])
        if self.queue and self.live < self.settings.live:
            self._prefetch()
        if self.reading.away and self.settings.prefetch:
            in_flight = [w.numel for name, handle in self.flying.items() for w in handle.weights if w.name == name]
            self.reading.read_ahead(self.queue, sum(in_flight))
        self.call += 1

    def leave(self, unit: Unit, forward: bool) -> None:
        for weight in unit.weights:
            if forward and self.settings.hpz > 1:
                self._keep_secondary(weight)
            place = self.call, weight.name
            goes = self.decided.get(place)
            if goes is None:
                goes = self.decided[place] = self._may_go(weight)
            if goes:
                self._release(weight)

    def end(self) -> None:
        """After a backward nothing stays but what always does (release_backward_leftovers)."""
        self._land_all()
        for weight in list(self.whole.values()):
            self._release(weight)

    def forget_secondary(self) -> None:
        """stage3.py `invalidate_secondary_tensor`, after each step."""
        for weight in self.trace.queue:
            if weight[0].name in self.secondary:
                self.secondary.remove(weight[0].name)
                self.ledger.drop(SECONDARY, self._secondary_bytes(weight[0]))

    def _is_there(self, weight: Weight) -> bool:
        name = weight.name
        return name in self.whole or name in self.flying or (name in self.always and name not in self.missing)

    def _width(self, weight: Weight) -> int:
        return 4 if weight.wide else self.narrow

    def _padded(self, weight: Weight) -> int:
        return -(-weight.numel // self.ranks) * self.ranks * self._sent(weight)

    def _sent(self, weight: Weight) -> int:
        """Bytes of an element on its way (partition_parameters.py:56)."""
        return NARROW if weight.name in self.sent_narrow else self._width(weight)

    def _gather(self, weights: list[Weight]) -> None:
        """`__all_gather_params_`: one handle for all; N = 1 has no collective (904–914)."""
        if not weights:
            return
        self.reading.read(weights)
        for weight in weights:
            self.live += weight.numel
        if self.ranks == 1 or self.settings.is_sequential or len(weights) == 1:
            for weight in weights:
                self._take_one(weight)
                self.flying[weight.name] = _Handle([weight], 1, is_cut=True)
            return
        flat = sum([self._padded(weight) for weight in weights])
        handle = _Handle(weights, len(weights), flat=flat)
        self.ledger.take(FLAT, flat)
        self._send(flat)
        for weight in weights:
            self.flying[weight.name] = handle

    def _send(self, count: int) -> None:
        """With `offload_param` a rank's parts come to the GPU, to be sent from there (1360)."""
        if self.settings.params_at.is_on and self.ranks > 1:
            self.ledger.pass_by(ON_THE_WAY, count // self.ranks)

    def _take_one(self, weight: Weight) -> None:
        if self.ranks > 1 or self.settings.params_at.is_on:
            count = self.sizes[weight.name] = self._padded(weight)
            self.ledger.take(GATHERED, count)
            self._send(count)

    def _wait(self, weight: Weight) -> None:
        """780–801: every weight of the handle is cut out (`torch.cat`); the flat buffer goes with the last that is
        taken."""
        handle = self.flying.pop(weight.name, None)
        if handle is None:
            return
        if len(handle.weights) == 1 and weight.name in self.sent_narrow:
            self._widen(weight)
        if not handle.is_cut:
            for other in self._by_type(handle.weights):
                cat = other.numel * NARROW * (other.name in self.sent_narrow)
                self.ledger.take(FLAT, cat)
                self.ledger.take(GATHERED, other.numel * self._width(other))
                self.ledger.drop(FLAT, cat)
                self.whole[other.name] = other
            handle.is_cut = True
        self.whole[weight.name] = weight
        handle.left -= 1
        if handle.left == 0 and len(handle.weights) > 1:
            self.ledger.drop(FLAT, handle.flat)

    def _by_type(self, weights: list[Weight]) -> list[Weight]:
        """Those sent narrow arrive first (partition_parameters.py:1473)."""
        return sorted(weights, key=lambda weight: weight.name not in self.sent_narrow) if self.sent_narrow else weights

    def _widen(self, weight: Weight) -> None:
        """partition_parameters.py:708."""
        sent, self.sizes[weight.name] = self.sizes[weight.name], weight.numel * self._width(weight)
        self.ledger.take(GATHERED, self.sizes[weight.name])
        self.ledger.drop(GATHERED, sent)

    def _land_all(self) -> None:
        for name in list(self.flying):
            handle = self.flying.get(name)
            if handle is not None:
                self._wait(next(weight for weight in handle.weights if weight.name == name))

    def _pass_over(self, needed: Iterable[Weight]) -> None:
        """434–450: the queue goes on past what is here."""
        for _ in needed:
            if self.queue:
                weight, call = self.queue.popleft()
                self.fetched_for[weight.name] = call

    def _prefetch(self) -> None:
        """452–490."""
        room = min(self.settings.live - self.live, self.settings.prefetch)
        found: dict[str, Weight] = {}
        size, away, queue, fetched_for = 0, self.reading.away, self.queue, self.fetched_for
        while queue and size < room and not (away and self.reading.is_away(queue[0][0])):
            weight, call = queue.popleft()
            name = weight.name
            if fetched_for.get(name, -1) < call:
                fetched_for[name] = call
            if name not in found and not self._is_there(weight):
                found[name] = weight
                size += weight.numel
        if found:
            self._gather(list(found.values()))

    def _may_go(self, weight: Weight) -> bool:
        """630–664: not what always stays, was passed over by the prefetch, or comes again soon."""
        if weight.name in self.always or self.fetched_for.get(weight.name, -1) > self.call:
            return False
        uses = self.trace.uses[weight.name]
        at = self.next_use[weight.name]
        while at < len(uses) and uses[at] < self.call:
            at += 1
        self.next_use[weight.name] = at
        passed = self.trace.passed
        return at == len(uses) or passed[uses[at]] - passed[self.call] >= self.settings.reuse

    def _release(self, weight: Weight) -> None:
        if self.whole.pop(weight.name, None) is None:
            return
        self.live -= weight.numel
        self.reading.free(weight)
        if self.ranks > 1 or self.settings.params_at.is_on:
            self.ledger.drop(GATHERED, self._own_bytes(weight))

    def _own_bytes(self, weight: Weight) -> int:
        return self.sizes.pop(weight.name, weight.numel * self._width(weight))

    def _secondary_bytes(self, weight: Weight) -> int:
        return math.ceil(weight.numel / self.settings.hpz) * self._width(weight)

    def _keep_secondary(self, weight: Weight) -> None:
        """partition_parameters.py:1900: after its first forward each weight is kept once within a node."""
        if self.settings.hpz > 1 and weight.name not in self.secondary:
            self.secondary.add(weight.name)
            self.ledger.take(SECONDARY, self._secondary_bytes(weight))
