"""A GPU that is not there, in a group of ranks that are not there: what DeepSpeed meets in a dry run.

Runs in the target environment, for `rehearsal.py`. The device is registered from Python, so torch needs no CUDA; the
accelerator answers DeepSpeed as its CUDA one does, with streams and events that do nothing."""

import os
from typing import Any

from dsgui.shell.memory.target_modules import load

NAME = "fakegpu"
_PLENTY = 1 << 50  # bytes: no config is refused for want of memory here


def register_device() -> Any:
    """The device; from here on torch knows it."""
    torch, backends = load("torch"), load("torch.utils.backend_registration")

    class Backend(backends._DummyBackendModule):  # type: ignore[misc, name-defined]
        def get_amp_supported_dtype(self) -> Any:
            return [torch.bfloat16, torch.float16]

    backends._setup_privateuseone_for_python_backend(NAME, backend_module=Backend())
    return torch.device(f"{NAME}:0")


def start_group(rank: int, ranks: int, nodes: int) -> None:
    """A process group of `ranks`, of which this process is `rank`; collectives do nothing."""
    local = -(-ranks // nodes)
    here = {"RANK": rank, "LOCAL_RANK": rank % local, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": local}
    here |= {"LOCAL_SIZE": local, "CROSS_RANK": rank // local, "CROSS_SIZE": nodes, "MASTER_PORT": 29500}
    os.environ.update({name: str(value) for name, value in here.items()}, MASTER_ADDR="127.0.0.1")
    store = load("torch.testing._internal.distributed.fake_pg").FakeStore()
    load("torch.distributed").init_process_group("fake", store=store, rank=rank, world_size=ranks)


class Nothing:
    """A stream, an event, an operator's library: whatever is called on it does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None

    def __enter__(self) -> "Nothing":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def query(self) -> bool:
        """Of an event: whether it has come. Work is done as soon as it is asked for here."""
        return True


class Builder:
    """Stands in for DeepSpeed's builders of operators: their libraries compute, and compute nothing here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def load(self, *_: Any, **__: Any) -> Any:
        return Nothing()

    def is_compatible(self, *_: Any, **__: Any) -> bool:
        return True


def accelerator(counter: Any, device: Any, devices: int, *, fakes_gpu: bool) -> Any:
    """What `deepspeed.accelerator.get_accelerator()` answers: CUDA's answers where a GPU is faked, the CPU's else."""
    base: Any = load("deepspeed.accelerator.cpu_accelerator").CPU_Accelerator

    class OnCpu(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._communication_backend_name = "fake"

        def create_op_builder(self, name: str) -> Any:
            return Builder()

        def get_op_builder(self, name: str) -> Any:
            return Builder

        def device_count(self) -> int:
            return devices

        def is_fp16_supported(self) -> bool:
            return True

        is_bf16_supported = is_fp16_supported

        def supported_dtypes(self) -> Any:
            torch = load("torch")
            return [torch.float, torch.half, torch.bfloat16]

        def available_memory(self, index: Any = None) -> int:
            return _PLENTY

        total_memory = available_memory

        def memory_allocated(self, index: Any = None) -> int:
            return 0

        max_memory_allocated = memory_cached = max_memory_cached = memory_allocated
        memory_reserved = max_memory_reserved = memory_allocated

    return with_gpu(OnCpu, counter, device)() if fakes_gpu else OnCpu()


def with_gpu(base: Any, counter: Any, device: Any) -> Any:
    """The accelerator class of a GPU: asynchronous, with pinned host memory."""
    torch = load("torch")

    class OnGpu(base):  # type: ignore[misc]
        def is_synchronized_device(self) -> bool:
            return False

        use_host_timers = resolves_data_dependency = handles_memory_backpressure = is_synchronized_device

        def device_name(self, index: Any = None) -> str:
            return NAME if index is None else str(device)

        def current_device_name(self) -> str:
            return str(device)

        def current_device(self) -> int:
            return 0

        def device(self, index: Any = None) -> Any:
            return device

        def on_accelerator(self, tensor: Any) -> bool:
            return bool(tensor.device.type == NAME)

        Stream = Event = Nothing

        def stream(self, stream: Any) -> Any:
            return Nothing()

        def current_stream(self, index: Any = None) -> Any:
            return Nothing()

        default_stream = current_stream

        def pin_memory(
            self, tensor: Any, align_bytes: int = 1, make_copy: bool = True, match_shape: bool = True
        ) -> Any:
            return pinned(counter, tensor.shape if match_shape else (tensor.numel(),), tensor.dtype)

        def pin_empty(self, *size: Any, dtype: Any, device: Any = "cpu") -> Any:
            return pinned(counter, size[0] if len(size) == 1 and not isinstance(size[0], int) else size, dtype)

        def pin_empty_like(self, tensor: Any, device: Any = "cpu", dtype: Any = None) -> Any:
            return pinned(counter, tensor.shape, dtype or tensor.dtype)

        def unpin_memory(self, tensor: Any) -> None:
            return None

        def is_pinned(self, tensor: Any) -> bool:
            return bool(counter.is_pinned(tensor))

        FloatTensor = property(lambda self: maker(torch.float32, device))
        ByteTensor = property(lambda self: maker(torch.uint8, device))
        IntTensor = property(lambda self: maker(torch.int32, device))
        LongTensor = property(lambda self: maker(torch.int64, device))
        HalfTensor = property(lambda self: maker(torch.float16, device))
        BFloat16Tensor = property(lambda self: maker(torch.bfloat16, device))
        DoubleTensor = property(lambda self: maker(torch.float64, device))

    return OnGpu


def maker(dtype: Any, device: Any) -> Any:
    """`torch.cuda.FloatTensor` and its like: a list becomes a tensor, a number one of that length."""
    torch = load("torch")

    def make(*given: Any) -> Any:
        if len(given) == 1 and not isinstance(given[0], int):
            return torch.tensor(given[0], dtype=dtype, device=device)
        return torch.empty(given, dtype=dtype, device=device)

    return make


def pinned(counter: Any, shape: Any, dtype: Any) -> Any:
    """Page-locked host memory, as the counter is told."""
    with counter.as_pinned():
        return load("torch").empty(shape, dtype=dtype, device="cpu")
