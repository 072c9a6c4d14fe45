"""What an engine allocates and frees, in order; and from that, what is alive at the fullest instant of each moment."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise

from dsgui.core.memory.answer import DEVICE_OF, Component, Device, Kept, Moment, Part, Peak, Place

LARGE_PINNED = 64 << 20  # bytes, as `UNROUNDED_MIB` asks torch to leave blocks alone
BLOCK = 512  # bytes: torch's CUDA caching allocator rounds each block up to so many (c10/cuda/CUDACachingAllocator.cpp)
_LOCKED = {Component.SWAP}  # page-locked by DeepSpeed itself, to the byte (csrc/aio/py_lib/deepspeed_pin_tensor.cpp)
_GPU, _PINNED = Place.GPU, Place.PINNED  # of thousands of calls, each look at the enum costs as much as the sum
_HOST_PLACES = {Place.GPU: Place.HOST, Place.PINNED: Place.HOST}


def rounded(count: int, place: Place) -> int:
    """Bytes that a tensor of `count` bytes takes in `place`. Pinned blocks are powers of two
    (torch's CachingHostAllocator)."""
    if count <= 0:
        return 0
    if place is _GPU:
        return -(-count // BLOCK) * BLOCK
    return 1 << (count - 1).bit_length() if place is _PINNED else count


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """What a tensor is for, where it is and what governs it: a `Part` without its bytes. Made by `slot_for`, so that
    the same is one object: thousands of tensors are noted by it."""

    component: Component
    place: Place
    keys: tuple[str, ...]


@lru_cache(maxsize=512)
def slot_for(component: Component, place: Place = Place.GPU, keys: tuple[str, ...] = ()) -> Slot:
    return Slot(component, place, keys)


@dataclass(slots=True)
class Pins:
    """Pinned blocks by their size. torch gives none of them back: one that is freed waits for another of its size
    (c10/core/CachingHostAllocator.h)."""

    kept: int = 0  # bytes of those that wait now
    _waiting: Counter[int] = field(default_factory=Counter)

    def take(self, size: int, times: int = 1) -> None:
        """`times` blocks come alive; go, where it is less than none."""
        found = min(times, self._waiting[size])
        self._waiting[size] -= found
        self.kept -= found * size


@dataclass(slots=True)
class Waiting:
    """What is kept after each event that pins or frees: as torch rounds blocks, and with large ones as they are."""

    events: list[tuple[int, Kept]] = field(default_factory=list)
    _rounded: Pins = field(default_factory=Pins)
    _exact: Pins = field(default_factory=Pins)

    def take(self, event: int, count: int, times: int) -> None:
        size = rounded(count, Place.PINNED)
        self._rounded.take(size, times)
        self._exact.take(count if count > LARGE_PINNED else size, times)
        kept = self._rounded.kept
        self.events.append((event, Kept(kept, kept - self._exact.kept)))

    def beside(self, live: Sequence[int], stretches: Iterable[tuple[int, int]]) -> Kept:
        """What they add to the most of `live`, the bytes of the host after each event, within these events."""
        every = list(stretches)
        most = max((max(live[start:end], default=0) for start, end in every), default=0)
        found = Kept()
        for start, end in every:
            for (first, kept), (after, _) in pairwise([*self._within(start, end), (end, Kept())]):
                above = max(live[first:after], default=0) + kept.count - most
                if above > found.count:
                    found = Kept(above, min(kept.rounding, above))
        return found

    def _within(self, start: int, end: int) -> list[tuple[int, Kept]]:
        """What is kept from `start` on, by the event that it is so from."""
        at = bisect_right(self.events, start, key=lambda pair: pair[0])
        before = self.events[at - 1][1] if at else Kept()
        last = bisect_left(self.events, end, key=lambda pair: pair[0])
        return [(start, before), *self.events[at:last]]


@dataclass(slots=True)
class Ledger:
    """Grows as the engine goes. `on_cpu`: the ranks train on the CPU, so its tensors are in host memory, and nothing is
    pinned (accelerator/cpu_accelerator.py:283)."""

    on_cpu: bool = False
    _slots: list[Slot] = field(default_factory=list)
    _known: dict[Slot, tuple[int, Place]] = field(default_factory=dict)
    _numbers: list[int] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _elsewhere: list[int] = field(default_factory=list)  # events that are not the GPU's: few, of thousands
    _roundings: dict[int, int] = field(default_factory=dict)  # by event: of large pinned blocks
    _begun: list[tuple[Moment | None, int]] = field(default_factory=list)
    _waiting: Waiting = field(default_factory=Waiting)

    def begin(self, moment: Moment | None) -> None:
        """What follows belongs to `moment`; to none: it is prepared, and not judged."""
        self._begun.append((moment, len(self._counts)))

    def take(self, what: Slot, count: int, times: int = 1) -> None:
        """`times` tensors of `count` bytes come alive."""
        if count and times:
            number, place = self._known.get(what) or self._place(what)
            self._numbers.append(number)
            # As `rounded` has it; the GPU's is written out, since nearly all of the thousands of calls are its.
            if place is _GPU and count > 0:
                self._counts.append(-(-count // BLOCK) * BLOCK * times)
                return
            if place is _PINNED:
                self._pin(count, times)
            if what.place is not _GPU or self.on_cpu:
                self._elsewhere.append(len(self._counts))
            self._counts.append(rounded(count, place) * times)

    def _pin(self, count: int, times: int) -> None:
        event = len(self._counts)
        if count > LARGE_PINNED:
            self._roundings[event] = (rounded(count, _PINNED) - count) * times
        self._waiting.take(event, count, times)

    def drop(self, what: Slot, count: int, times: int = 1) -> None:
        if not count or not times:
            return
        number, place = self._known.get(what) or self._place(what)
        if place is _GPU and count > 0:  # as in `take`
            self._numbers.append(number)
            self._counts.append(-(-count // BLOCK) * -BLOCK * times)
        else:
            self.take(what, count, -times)

    def pass_by(self, what: Slot, count: int) -> None:
        """A tensor that lives for a moment only."""
        if not count:
            return
        number, place = self._known.get(what) or self._place(what)
        if place is not _GPU:
            self.take(what, count)
            self.take(what, count, -1)
            return
        size = rounded(count, place)
        self._numbers += (number, number)
        self._counts += (size, -size)

    def take_all(self, what: Slot, counts: Iterable[int], times: int = 1) -> None:
        """One tensor after the other, with nothing between them: as one event, where nothing is pinned."""
        number, place = self._known.get(what) or self._place(what)
        if place is not _GPU:
            for count in counts:
                self.take(what, count, times)
            return
        size = sum(rounded(count, place) for count in counts)
        if size:
            self._numbers.append(number)
            self._counts.append(size * times)

    def peaks(self) -> tuple[Peak, ...]:
        """Of each moment and each device that it has anything on."""
        found = [(one, at) for device in Device for one, at in self._fullest(device)]
        parts = self._parts_at({at for _, at in found})
        peaks = [Peak(device, moment, self._of(device, parts[at], at)) for (device, moment), at in found]
        return tuple(peak for peak in peaks if peak.parts)

    def pins_kept(self) -> dict[Moment, Kept]:
        """What pinned blocks that are free add to the host's peak of each moment."""
        if not self._waiting.events:
            return {}
        live = self._running({place for place in Place if DEVICE_OF[place] is Device.HOST})
        found = {
            moment: self._waiting.beside(live, [(part.start, part.stop) for part in self._within(moment)])
            for moment in Moment
        }
        return {moment: kept for moment, kept in found.items() if kept.count}

    def alive(self) -> dict[Component, int]:
        """Bytes of each component now."""
        found: Counter[Component] = Counter()
        for number, count in zip(self._numbers, self._counts, strict=True):
            found[self._slots[number].component] += count
        return {component: count for component, count in found.items() if count}

    def most(self, place: Place, moment: Moment | None = None) -> int:
        """The most bytes in one place alone, of one moment or ever."""
        running = self._running({place})
        within = list(self._within(moment)) if moment else [slice(0, len(running))]
        return max((max(running[part], default=0) for part in within), default=0)

    def now(self, place: Place) -> int:
        """Bytes in one place at its end."""
        return sum(
            count
            for number, count in zip(self._numbers, self._counts, strict=True)
            if self._slots[number].place is place
        )

    def _place(self, what: Slot) -> tuple[int, Place]:
        """The number of a slot that is met for the first time, and how its bytes are rounded."""
        place = _HOST_PLACES.get(what.place, what.place) if self.on_cpu else what.place
        self._slots.append(slot_for(what.component, place, what.keys))
        rounds_as = Place.HOST if what.component in _LOCKED and place is _PINNED else place
        found = self._known[what] = len(self._slots) - 1, rounds_as
        return found

    def _running(self, places: Collection[Place]) -> list[int]:
        """After each event the bytes that are in one of these places."""
        counts = list(self._counts) if _GPU in places else [0] * len(self._counts)
        for event in self._elsewhere:
            counts[event] = self._counts[event] if self._slots[self._numbers[event]].place in places else 0
        return list(accumulate(counts))

    def _within(self, moment: Moment) -> Iterator[slice]:
        """Its stretches, each with the state that it begins in."""
        ends = [start for _, start in self._begun[1:]] + [len(self._counts)]
        for (begun, start), end in zip(self._begun, ends, strict=True):
            if begun is moment:
                yield slice(max(start - 1, 0), max(end, 1))

    def _fullest(self, device: Device) -> Iterator[tuple[tuple[Device, Moment], int]]:
        """The event after which most is on a device, of each moment."""
        places = {place for place in Place if DEVICE_OF[place] is device}
        running = self._running(places) if any(one.place in places for one in self._slots) else []
        for moment in Moment:
            stretches = [(max(running[part]), part) for part in self._within(moment) if running[part]]
            most, part = max(stretches, key=lambda pair: pair[0], default=(0, slice(0)))
            if most:
                yield (device, moment), part.start + running[part].index(most)

    def _parts_at(self, events: set[int]) -> dict[int, list[int]]:
        """Bytes of each slot after each of these events."""
        alive, found, start = [0] * len(self._slots), dict[int, list[int]](), 0
        for event in sorted(events):
            for number, count in zip(self._numbers[start : event + 1], self._counts[start : event + 1], strict=True):
                alive[number] += count
            found[event], start = list(alive), event + 1
        return found

    def _of(self, device: Device, alive: list[int], at: int) -> tuple[Part, ...]:
        """The largest first."""
        pairs, added = enumerate(zip(self._slots, alive, strict=True)), self._rounding_at(at)
        parts = [
            Part(one.component, one.place, count, one.keys, rounding=added[number])
            for number, (one, count) in pairs
            if count
        ]
        ours = (part for part in parts if DEVICE_OF[part.place] is device)
        return tuple(sorted(ours, key=lambda part: -part.count))

    def _rounding_at(self, at: int) -> Counter[int]:
        """What large pinned blocks are rounded up by after an event, by slot."""
        found = Counter[int]()
        for event, count in self._roundings.items():
            if event <= at:
                found[self._numbers[event]] += count
        return found
