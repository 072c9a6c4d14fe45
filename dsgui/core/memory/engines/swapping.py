"""What NVMe takes of host memory, and where DeepSpeed stops over its swap buffers: runtime/swap_tensor (whose lines are
meant)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Place
from dsgui.core.memory.ledger import slot_for
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.walk import Weight

_LEAST = 1 << 20  # bytes: swap_tensor/constants.py, MIN_AIO_BYTES
_ALIGNED = 1024  # bytes a thread: AIO_ALIGNED_BYTES
OPTIMIZER_COUNT = f"{keys.ZERO}/offload_optimizer/buffer_count"
PARAM_SIZE, PARAM_COUNT = f"{keys.ZERO}/offload_param/buffer_size", f"{keys.ZERO}/offload_param/buffer_count"
MAX_IN_CPU = f"{keys.ZERO}/offload_param/max_in_cpu"
OPTIMIZER_BUFFERS = slot_for(Component.SWAP, Place.PINNED, (keys.SUB_GROUP, OPTIMIZER_COUNT))
PARAM_KEYS = (PARAM_SIZE, PARAM_COUNT)
PARAM_BUFFERS = slot_for(Component.SWAP, Place.PINNED, PARAM_KEYS)
PARAM_TWIN = slot_for(Component.SWAP, Place.HOST, PARAM_KEYS)
WAY_BACK = slot_for(Component.SWAP, Place.PINNED, (keys.SUB_GROUP, MAX_IN_CPU))
FIRST_MOMENTS = slot_for(Component.MOMENTS, Place.HOST, (keys.SUB_GROUP, keys.OPTIMIZER_DEVICE))
FEW, SMALL, TWICE = "few_buffers", "small_buffers", "reads_twice"


class Stops(Exception):
    """DeepSpeed would stop over its swap buffers: `code` of the catalogue's `memory_notes`, and the `key` to change."""

    def __init__(self, code: str, key: str) -> None:
        super().__init__(code, key)
        self.code, self.key = code, key


def swaps(settings: Settings, numel: int, width: int) -> bool:
    """Whether a tensor is long enough to leave memory (optimizer_utils.py, `is_swappable_tensor`)."""
    return numel * width >= max(_LEAST, settings.block)


def aligned(settings: Settings, numel: int, width: int) -> int:
    unit = _ALIGNED * settings.threads // width
    return -(-numel // unit) * unit


def written(settings: Settings, part: int) -> int:
    """Elements of a gradient's part that go to NVMe (optimizer_utils.py:444)."""
    unit = _ALIGNED * settings.threads // settings.master
    return part // unit * unit if swaps(settings, part, settings.master) else 0


def optimizer_buffers(settings: Settings, longest: int) -> int:
    """Bytes of one of them: optimizer_utils.py:185, room for the longest sub-group."""
    return aligned(settings, longest, settings.master) * settings.master


def param_buffers(settings: Settings) -> int:
    """Bytes of all of them: partitioned_param_swapper.py:104–131."""
    at, b = settings.params_at, settings.weight
    return aligned(settings, at.buffer_size, b) * b * at.buffer_count


def check_states(settings: Settings) -> None:
    """A sub-group's weights, gradients and moments are in buffers at once (partitioned_optimizer_swapper.py:83)."""
    if settings.optimizer_at.buffer_count < 2 + settings.moments:
        raise Stops(FEW, OPTIMIZER_COUNT)


def check_part(settings: Settings, part: int) -> None:
    """A weight's part is written from one buffer (partitioned_param_swapper.py:354)."""
    if not settings.params_at.buffer_count:
        raise Stops(FEW, PARAM_COUNT)
    if part > settings.params_at.buffer_size:
        raise Stops(SMALL, PARAM_SIZE)


def check_fast(settings: Settings, longest: int) -> None:
    """`fast_init` reads a whole sub-group into a buffer (optimizer_utils.py:303)."""
    at, m = settings.params_at, settings.master
    if aligned(settings, at.buffer_size, settings.weight) < aligned(settings, longest, m):
        raise Stops(SMALL, PARAM_SIZE)


def in_memory(settings: Settings, groups: list[list[int]]) -> Iterator[tuple[int, list[bool]]]:
    """stage3.py:888–911: how many elements of each optimizer group stay in host memory (`max_in_cpu`), and which of its
    sub-groups fit into them."""
    before = 0
    for sizes in groups:
        room = sum(sizes)
        if settings.params_at.is_nvme and before + room > settings.params_at.max_in_cpu:
            room = max(0, settings.params_at.max_in_cpu - before)
        before += sum(sizes)
        offset, fits = 0, list[bool]()
        for size in sizes:
            fits.append(not settings.params_at.is_nvme or offset + size <= room)
            offset += size
        yield room, fits


@dataclass(slots=True)
class Reading:
    """Which weights that are on NVMe have a buffer now: from when they are read until they are divided again."""

    settings: Settings
    away: set[str] = field(default_factory=set)  # weights that are on NVMe
    _read: set[str] = field(default_factory=set)

    def is_away(self, weight: Weight) -> bool:
        """Not in a buffer."""
        return weight.name in self.away and weight.name not in self._read

    @property
    def _free(self) -> int:
        return self.settings.params_at.buffer_count - len(self._read)

    def read(self, weights: Iterable[Weight]) -> None:
        """partitioned_param_swapper.py:282."""
        wanted = {weight.name for weight in weights if self.is_away(weight)}
        if len(wanted) > self._free:
            raise Stops(FEW, PARAM_COUNT)
        self._read |= wanted

    def read_ahead(self, queue: Iterable[tuple[Weight, int]], in_flight: int) -> None:
        """partitioned_param_coordinator.py:667: as far ahead as twice of what is under way."""
        passed, found = 0, list[Weight]()
        for weight, _ in queue:
            if passed > 2 * in_flight or len(found) >= self._free:
                break
            if self.is_away(weight):
                found.append(weight)
            passed += weight.numel
        if len({weight.name for weight in found}) < len(found):
            raise Stops(TWICE, keys.PREFETCH)
        self._read |= {weight.name for weight in found}

    def free(self, weight: Weight) -> None:
        self._read.discard(weight.name)
