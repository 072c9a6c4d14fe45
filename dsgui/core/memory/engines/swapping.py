"""What NVMe takes of host memory: runtime/swap_tensor (whose lines are meant). Not held against the dry run yet."""

from collections.abc import Iterator

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Place
from dsgui.core.memory.ledger import Slot, slot_for
from dsgui.core.memory.settings import Settings

_LEAST = 1 << 20  # bytes: swap_tensor/constants.py, MIN_AIO_BYTES
_ALIGNED = 1024  # bytes a thread: AIO_ALIGNED_BYTES
OPTIMIZER_BUFFERS = slot_for(
    Component.SWAP, Place.PINNED, (keys.SUB_GROUP, f"{keys.ZERO}/offload_optimizer/buffer_count")
)
PARAM_KEYS = (f"{keys.ZERO}/offload_param/buffer_size", f"{keys.ZERO}/offload_param/buffer_count")
PARAM_BUFFERS = slot_for(Component.SWAP, Place.PINNED, PARAM_KEYS)
PARAM_BUFFERS_ON_GPU = slot_for(Component.SWAP, Place.GPU, PARAM_KEYS)


def swaps(settings: Settings, numel: int, width: int) -> bool:
    """Whether a tensor is long enough to leave memory (optimizer_utils.py, `is_swappable_tensor`)."""
    return numel * width >= max(_LEAST, settings.block)


def _aligned(settings: Settings, numel: int, width: int) -> int:
    unit = _ALIGNED * settings.threads // width
    return -(-numel // unit) * unit


def optimizer_buffers(settings: Settings, longest: int) -> int:
    """Bytes: optimizer_utils.py:185, room for the longest sub-group, `buffer_count` times."""
    m = settings.master
    return _aligned(settings, longest, m) * m * settings.optimizer_at.buffer_count


def param_buffers(settings: Settings) -> tuple[Slot, int]:
    """partitioned_param_swapper.py:104–131."""
    at, b = settings.params_at, settings.weight
    slot = PARAM_BUFFERS_ON_GPU if settings.to_gpu else PARAM_BUFFERS
    return slot, _aligned(settings, at.buffer_size, b) * b * at.buffer_count


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
