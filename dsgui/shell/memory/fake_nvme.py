"""An NVMe that is not there: in a dry run DeepSpeed's swapping reads and writes nothing, and its buffers are counted.

Runs in the target environment, for `rehearsal.py`. DeepSpeed's swappers (runtime/swap_tensor) are the installed ones;
what stands in is the operator they write with (`async_io`, `gds`)."""

import os
import tempfile
import traceback
import types
from typing import Any, NamedTuple

from dsgui.shell.memory.target_modules import load

BLOCKS = ("offload_optimizer", "offload_param")
_ZERO = "/zero_optimization"
_FOLDER = "runtime/swap_tensor"
_PARAM, _OPTIMIZER = f"{_ZERO}/offload_param", f"{_ZERO}/offload_optimizer"


class Stop(NamedTuple):
    """DeepSpeed stops over its buffers in `function` of `file`, with a text that holds `words`: `code` of the
    catalogue's `memory_notes`, and the key to change."""

    file: str
    function: str
    words: str
    code: str
    key: str


# The first that fits holds, from the innermost line of the swappers outwards.
STOPS = (
    Stop("partitioned_param_swapper.py", "get_buffer", "buffer size", "small_buffers", f"{_PARAM}/buffer_size"),
    Stop("partitioned_param_swapper.py", "get_buffer", "", "few_buffers", f"{_PARAM}/buffer_count"),
    Stop("partitioned_param_swapper.py", "_allocate_and_return_buffers_for_swap_in", "already", "reads_twice",
         f"{_ZERO}/stage3_prefetch_bucket_size"),
    Stop("partitioned_param_swapper.py", "swap_in", "", "few_buffers", f"{_PARAM}/buffer_count"),
    Stop("partitioned_param_swapper.py", "swap_into_buffer", "", "few_buffers", f"{_PARAM}/buffer_count"),
    Stop("optimizer_utils.py", "_initialize_from_swapped_fp16_params", "too small", "small_buffers",
         f"{_PARAM}/buffer_size"),
    Stop("partitioned_optimizer_swapper.py", "swap_in_optimizer_state", "", "few_buffers",
         f"{_OPTIMIZER}/buffer_count"),
    Stop("optimizer_utils.py", "_swap_out_unpinned_tensors", "", "few_buffers", f"{_OPTIMIZER}/buffer_count"),
    Stop("optimizer_utils.py", "_swap_out_gradients", "", "few_buffers", f"{_OPTIMIZER}/buffer_count"),
    Stop("pipelined_optimizer_swapper.py", "_swap_in_optimizer_state", "", "few_buffers",
         f"{_OPTIMIZER}/buffer_count"),
    Stop("pipelined_optimizer_swapper.py", "_swap_out_optimizer_state", "", "few_buffers",
         f"{_OPTIMIZER}/buffer_count"),
)  # fmt: skip


def swaps(config: "dict[str, Any]") -> bool:
    return any(block.get("device") == "nvme" for block in _blocks(config))


def _blocks(config: "dict[str, Any]") -> "list[dict[str, Any]]":
    zero = config.get("zero_optimization")
    found = [zero.get(name) for name in BLOCKS] if isinstance(zero, dict) else []
    return [block for block in found if isinstance(block, dict)]


def move_away(config: "dict[str, Any]") -> None:
    """Changes the config's folders on NVMe to one of our own. DeepSpeed empties the folder it swaps to when it starts
    (partitioned_param_swapper.py:86): of a run that goes on there, nothing would be left."""
    for block in _blocks(config):
        if block.get("nvme_path"):
            block["nvme_path"] = tempfile.mkdtemp(prefix="nvme-")


def tag_of(path: str) -> str:
    """What is in a file, by DeepSpeed's name for it: `7_param`, `0_8`, `0_8_gradient_0_4096`, `exp_avg-0_8`."""
    name = os.path.basename(path)
    if "_param." in name:
        return "weight"
    return "swapped_gradient" if "_gradient_" in name else "swapped_state" if "-" in name else "swapped_master"


class Handle:
    """DeepSpeed's handle of asynchronous reads and writes (csrc/aio/py_lib/py_ds_aio.cpp), as far as its swappers use
    it. What else is asked of it is an AttributeError: then there is no number."""

    counter: Any = None

    def __init__(self, *_: Any, **__: Any) -> None:
        self._pending = 0

    def new_cpu_locked_tensor(self, count: int, example: Any) -> Any:
        """Page-locked to the byte (csrc/pin_memory/page_alloc.cpp), not by torch's allocator."""
        with self.counter.as_pinned("locked"):
            return load("torch").empty(int(count), dtype=example.dtype, device="cpu")

    def free_cpu_locked_tensor(self, tensor: Any) -> bool:
        return True

    def pin_device_tensor(self, tensor: Any) -> bool:
        return True

    unpin_device_tensor = pin_device_tensor

    def is_pinned(self, tensor: Any) -> bool:
        return bool(self.counter.is_pinned(tensor))

    def async_pread(self, buffer: Any, path: str, offset: int = 0) -> int:
        self._pending += 1
        return 0

    def async_pwrite(self, buffer: Any, path: str, offset: int = 0) -> int:
        self.counter.written(path, buffer.numel() * buffer.element_size(), tag_of(path))
        return self.async_pread(buffer, path, offset)

    def wait(self) -> int:
        """How many have ended since it was asked last."""
        ended, self._pending = self._pending, 0
        return ended


def operator(counter: Any) -> Any:
    """The library that `AsyncIOBuilder().load()` gives, or `GDSBuilder().load()`."""
    handle = type("Handle", (Handle,), {"counter": counter})
    return types.SimpleNamespace(aio_handle=handle, gds_handle=handle)


def stop_of(error: BaseException) -> "Stop | None":
    """What of the swap buffers DeepSpeed stopped over; None for another error."""
    if not isinstance(error, (AssertionError, ValueError, IndexError)):
        return None
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        folder, _, file = frame.filename.replace(os.sep, "/").rpartition("/")
        for stop in STOPS if folder.endswith(_FOLDER) else ():
            if (stop.file, stop.function) == (file, frame.name) and stop.words in str(error):
                return stop
    return None
