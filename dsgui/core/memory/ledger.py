"""What an engine allocates and frees, in order; and from that, what is alive at the fullest instant of each moment."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from dsgui.core.memory.answer import DEVICE_OF, Component, Device, Moment, Part, Peak, Place

BLOCK = 512  # bytes: torch's CUDA caching allocator rounds each block up to so many (c10/cuda/CUDACachingAllocator.cpp)
_LOCKED = {Component.SWAP}  # page-locked by DeepSpeed itself, to the byte (csrc/aio/py_lib/deepspeed_pin_tensor.cpp)
_HOST_PLACES = {Place.GPU: Place.HOST, Place.PINNED: Place.HOST}


def rounded(count: int, place: Place) -> int:
    """Bytes that a tensor of `count` bytes takes in `place`. Pinned blocks are powers of two
    (torch's CachingHostAllocator)."""
    if count <= 0:
        return 0
    if place is Place.GPU:
        return -(-count // BLOCK) * BLOCK
    return 1 << (count - 1).bit_length() if place is Place.PINNED else count


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
class Ledger:
    """Grows as the engine goes. `on_cpu`: the ranks train on the CPU, so its tensors are in host memory, and nothing is
    pinned (accelerator/cpu_accelerator.py:283)."""

    on_cpu: bool = False
    _slots: list[Slot] = field(default_factory=list)
    _known: dict[Slot, tuple[int, Place]] = field(default_factory=dict)
    _numbers: list[int] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _begun: list[tuple[Moment | None, int]] = field(default_factory=list)

    def begin(self, moment: Moment | None) -> None:
        """What follows belongs to `moment`; to none: it is prepared, and not judged."""
        self._begun.append((moment, len(self._counts)))

    def take(self, what: Slot, count: int, times: int = 1) -> None:
        """`times` tensors of `count` bytes come alive."""
        if count and times:
            number, place = self._place(what)
            self._numbers.append(number)
            self._counts.append(rounded(count, place) * times)

    def drop(self, what: Slot, count: int, times: int = 1) -> None:
        self.take(what, count, -times)

    def pass_by(self, what: Slot, count: int) -> None:
        """A tensor that lives for a moment only."""
        self.take(what, count)
        self.drop(what, count)

    def peaks(self) -> tuple[Peak, ...]:
        """Of each moment and each device that it has anything on."""
        found = (self._peak(moment, device) for device in Device for moment in Moment)
        return tuple(peak for peak in found if peak is not None)

    def alive(self) -> dict[Component, int]:
        """Bytes of each component now."""
        found: Counter[Component] = Counter()
        for number, count in zip(self._numbers, self._counts, strict=True):
            found[self._slots[number].component] += count
        return {component: count for component, count in found.items() if count}

    def most(self, place: Place, moment: Moment | None = None) -> int:
        """The most bytes in one place alone, of one moment or ever."""
        running = self._running([number for number, one in enumerate(self._slots) if one.place is place])
        within = self._within(moment) if moment else [slice(0, len(running))]
        return max((int(running[part].max()) for part in within if running[part].size), default=0)

    def _place(self, what: Slot) -> tuple[int, Place]:
        found = self._known.get(what)
        if found is None:
            place = _HOST_PLACES.get(what.place, what.place) if self.on_cpu else what.place
            self._slots.append(slot_for(what.component, place, what.keys))
            rounds_as = Place.HOST if what.component in _LOCKED and place is Place.PINNED else place
            found = self._known[what] = len(self._slots) - 1, rounds_as
        return found

    def _running(self, numbers: list[int]) -> np.ndarray:
        ours = np.isin(np.array(self._numbers, dtype=np.int32), numbers)
        return np.cumsum(np.where(ours, np.array(self._counts, dtype=np.int64), 0))

    def _within(self, moment: Moment) -> Iterator[slice]:
        """Its stretches, each with the state that it begins in."""
        ends = [start for _, start in self._begun[1:]] + [len(self._counts)]
        for (begun, start), end in zip(self._begun, ends, strict=True):
            if begun is moment:
                yield slice(max(start - 1, 0), max(end, 1))

    def _peak(self, moment: Moment, device: Device) -> Peak | None:
        ours = {number: one for number, one in enumerate(self._slots) if DEVICE_OF[one.place] is device}
        running = self._running(list(ours))
        stretches = [part for part in self._within(moment) if running[part].size]
        if not ours or not stretches:
            return None
        fullest = max(stretches, key=lambda part: running[part].max())
        at = fullest.start + int(running[fullest].argmax())
        return Peak(device, moment, self._parts(ours, at)) if running[at] else None

    def _parts(self, ours: dict[int, Slot], at: int) -> tuple[Part, ...]:
        """What is alive after event `at`, the largest first."""
        alive = np.bincount(self._numbers[: at + 1], weights=self._counts[: at + 1], minlength=len(self._slots))
        parts = [Part(one.component, one.place, int(alive[number]), one.keys) for number, one in ours.items()]
        return tuple(sorted((part for part in parts if part.count), key=lambda part: -part.count))
