"""Everything of torch and DeepSpeed that a dry run replaces, in one table: where it is, and why.

Runs in the target environment, for `rehearsal.py`. Each row is looked for before anything is replaced: where a release
has moved one, nothing can be said with it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dsgui.shell.memory import autocast, fake_nvme
from dsgui.shell.memory.fake_machine import Nothing
from dsgui.shell.memory.target_modules import load

_CHECKS = "asserts that ranks have the same lists; there is one rank here, and no list in a tensor without storage"
_SWAPPERS = ("async_io", "gds")  # NAME of their builders
_LOCKS = "used, not replaced: locks its buffers by that operator, to the byte; older releases lock them by torch"
_SWAPS = "used, not replaced: moves what is on NVMe through buffers that are counted"
_READS = "reads a value of a tensor, which has none"


class Row(NamedTuple):
    """`make(original, setting)` gives what stands in its place. `on_gpu`: only where a GPU is faked. `newer`: releases
    that lack it need nothing in its place."""

    module: str
    attribute: str
    why: str
    make: "Callable[[Any, Any], Any]"
    on_gpu: bool = False
    newer: bool = False
    swapping: bool = False


class Moved(Exception):
    """Something is not where it was; names it."""


class Setting:
    """What replacements need to know. The counter is the question's, and comes after them."""

    def __init__(self, device: Any, is_fake: "Callable[[Any], bool]") -> None:
        self.device, self.is_fake = device, is_fake
        self.counter: Any = None


def nothing(original: Any, setting: Setting) -> Any:
    return lambda *_, **__: None


def kept(original: Any, setting: Setting) -> Any:
    return original


def not_traced(original: Any, setting: Setting) -> Any:
    """transformers 5 takes a tensor without storage for a traced one, and then keeps masks that hide nothing."""
    return lambda tensor=None: False if setting.is_fake(tensor) else original(tensor)


def address(original: Any, setting: Setting) -> Any:
    """Equal for all that are fake: alignment is checked by it."""
    return lambda tensor: 0 if setting.is_fake(tensor) else original(tensor)


def as_list(original: Any, setting: Setting) -> Any:
    return lambda tensor: [0] * tensor.numel() if setting.is_fake(tensor) else original(tensor)


def listed(original: Any, setting: Setting) -> Any:
    """A list of numbers becomes a tensor on the host, which any device may be indexed by."""
    torch = load("torch")

    def tensors(index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(map(tensors, index))
        numbers = isinstance(index, list) and all(isinstance(one, int) for one in index)
        if not numbers:
            return index
        return torch.tensor(index) if index else torch.tensor([], dtype=torch.long)  # it would be of floats

    return lambda tensor, index: original(tensor, tensors(index))


def made_on_device(original: Any, setting: Setting) -> Any:
    torch = load("torch")

    def tensor(data: Any, *more: Any, device: Any = None, **named: Any) -> Any:
        if device is None or torch.device(device).type == "cpu":
            return original(data, *more, **named)
        here = original(data, *more, **named)
        return torch.empty(here.shape, dtype=here.dtype, device=device)

    return tensor


def pinned_copy(original: Any, setting: Setting) -> Any:
    def pin_memory(tensor: Any, *_: Any, **__: Any) -> Any:
        if setting.counter.is_pinned(tensor):
            return tensor
        with setting.counter.as_pinned():
            return torch_empty(tensor.shape, dtype=tensor.dtype, device="cpu")

    torch_empty = load("torch").empty
    return pin_memory


def not_compiled(original: Any, setting: Setting) -> Any:
    def compile(function: Any = None, **named: Any) -> Any:
        return function if function is not None else (lambda given: given)

    return compile


def exchange(parameter: Any, changed: Any) -> None:
    """Gives a parameter another tensor's data; it stays the same object."""
    if parameter.device == changed.device:
        parameter.data = changed
        return
    torch = load("torch")
    other = torch.nn.Parameter(changed, requires_grad=parameter.requires_grad)
    torch._C._swap_tensor_impl(parameter, other)
    parameter.__dict__, other.__dict__ = other.__dict__, parameter.__dict__
    for name, value in other.__dict__.items():  # what was noted on it (`use_muon`) stays
        parameter.__dict__.setdefault(name, value)


def forget_value(tensor: Any) -> None:
    """A buffer that was made of a number has it; torch would compute with that on a device that can't."""
    if getattr(tensor, "constant", None) is not None:
        tensor.constant = None


def moved_in_place(original: Any, setting: Setting) -> Any:
    """As torch does it for dense tensors: the parameter stays, its data is exchanged."""

    def apply(module: Any, change: Any, recurse: bool = True) -> Any:
        for child in module.children() if recurse else ():
            child._apply(change)
        for parameter in module._parameters.values():
            if parameter is not None:
                with load("torch").no_grad():
                    exchange(parameter, change(parameter))
        for name, buffer in module._buffers.items():
            if buffer is not None:
                forget_value(buffer)
                module._buffers[name] = change(buffer)
        return module

    return apply


def no_library(original: Any, setting: Setting) -> Any:
    """What swaps to NVMe has an operator that says what it locks; of others nothing is asked."""
    return lambda builder, *_, **__: (
        fake_nvme.operator(setting.counter) if getattr(builder, "NAME", "") in _SWAPPERS else Nothing()
    )


def flash_attention(original: Any, setting: Setting) -> Any:
    """What a fused kernel keeps: its inputs, its result, and a float a row (the log of the sum)."""
    torch = load("torch")

    class Fused(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, query: Any, key: Any, value: Any, mask: Any) -> Any:
            rows, heads, length, _ = query.shape
            out = query.new_empty(rows, length, heads, value.shape[-1]).transpose(1, 2)
            sums = torch.empty(query.shape[:-1], dtype=torch.float32, device=query.device)
            ctx.save_for_backward(query, key, value, mask, out, sums)
            return out

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            query, key, value, mask, _, sums = ctx.saved_tensors
            torch.empty_like(sums)
            learned = mask is not None and mask.requires_grad
            wanted = torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)
            return (*wanted, torch.empty_like(mask) if learned else None)

    def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, *_: Any, **__: Any) -> Any:
        if torch.is_autocast_enabled(query.device.type):
            query, key, value, attn_mask = map(autocast.narrowed, (query, key, value, attn_mask))
        return Fused.apply(query, key, value, attn_mask)

    return attention


def casts(original: Any, setting: Setting) -> Any:
    """With the device's own casts from now on."""
    autocast.install()

    def clear() -> None:
        original()
        autocast.forget()

    return clear


def steps_at_once(original: Any, setting: Setting) -> Any:
    return lambda scaler, optimizer, *given, **named: optimizer.step(*given, **named)


def whole_kernel(original: Any, setting: Setting) -> Any:
    """An operator that CUDA computes in one kernel, so for what it gives alone."""
    torch = load("torch")
    library = torch.library.Library("aten", "IMPL")
    library.impl(original.__name__, lambda gradient, given: torch.empty_like(given), "PrivateUse1")
    _KERNELS.append(library)
    return original


_KERNELS: "list[Any]" = []  # a kernel goes with its library
_COMPOSED = "a device without a kernel of its own computes it in several steps, each with a result"

TABLE = (
    Row("torch", "Tensor.data_ptr", "a tensor without storage has no address", address),
    Row("torch", "Tensor.tolist", _READS, as_list),
    Row("torch", "_C._swap_tensor_impl", "used, not replaced: a parameter moves between devices by it", kept),
    Row("torch.nn", "Module._apply", "exchanges whole tensors where they have no storage, and refuses some",
        moved_in_place),
    Row("torch", "tensor", "fills a new tensor's storage", made_on_device, True),
    Row("torch", "Tensor.__getitem__", "a list as an index would be made on the device, past what stands in for it",
        listed, True),
    Row("torch", "compile", "compiles kernels, for a machine that is not there", not_compiled),
    Row("torch", "Tensor.pin_memory", "needs CUDA; what it would lock is counted", pinned_copy, True),
    Row("torch", "Tensor.record_stream", "streams are not there", nothing, True),
    Row("torch.nn.functional", "scaled_dot_product_attention", "no kernel of the device is there to choose",
        flash_attention, True),
    Row("torch", "clear_autocast_cache", "the device has no table of what autocast casts, so neither a cache of it",
        casts, True),
    Row("torch.amp.grad_scaler", "GradScaler.step", _READS, steps_at_once, True),
    Row("torch.amp.grad_scaler", "GradScaler.update", _READS, nothing, True),
    Row("torch.amp.grad_scaler", "GradScaler.unscale_", _READS, nothing, True),
    Row("torch", "ops.aten.silu_backward", _COMPOSED, whole_kernel, True),
    Row("torch", "ops.aten.mish_backward", _COMPOSED, whole_kernel, True),
    Row("transformers.masking_utils", "is_tracing", "a tensor without storage is none that is traced", not_traced,
        newer=True),
    Row("deepspeed.comm.torch", "build_shm_op", "would compile an operator and keep shared memory", nothing),
    Row("deepspeed.ops.op_builder.builder", "OpBuilder.load", "would compile an operator, which would compute",
        no_library),
    Row("deepspeed.ops.op_builder.async_io", "AsyncIOBuilder.load", "used, not replaced: gives what reads and writes "
        "NVMe; what stands in does neither", kept, swapping=True),
    Row("deepspeed.ops.op_builder.pin_memory", "PinMemoryBuilder.load", _LOCKS, kept, swapping=True),
    Row("deepspeed.runtime.swap_tensor.utils", "SwapBufferManager", _LOCKS, kept, swapping=True),
    Row("deepspeed.runtime.swap_tensor.partitioned_param_swapper", "AsyncPartitionedParameterSwapper._configure_aio",
        "used, not replaced: empties the folder that it swaps to, so a dry run gives it one of its own", kept,
        swapping=True),
    Row("deepspeed.runtime.swap_tensor.partitioned_param_swapper",
        "AsyncPartitionedParameterSwapper.reserve_partitioned_swap_space", _LOCKS, kept, swapping=True),
    Row("deepspeed.runtime.swap_tensor.partitioned_optimizer_swapper",
        "PartitionedOptimizerSwapper.swap_in_optimizer_state", _SWAPS, kept, swapping=True),
    Row("deepspeed.runtime.swap_tensor.optimizer_utils", "OptimizerSwapper._swap_out_gradients", _SWAPS, kept,
        swapping=True),
    Row("deepspeed.runtime.zero.utils", "assert_ints_same_as_other_ranks", _CHECKS, nothing),
    Row("deepspeed.runtime.zero.stage3", "assert_ints_same_as_other_ranks", _CHECKS, nothing),
    Row("deepspeed.runtime.zero.partition_parameters", "assert_ints_same_as_other_ranks", _CHECKS, nothing),
    Row("deepspeed.runtime.zero.partitioned_param_coordinator", "assert_ints_same_as_other_ranks", _CHECKS, nothing),
)  # fmt: skip


def look_for_swapping() -> None:
    """Looks for what a dry run with NVMe needs of DeepSpeed. Raises `Moved`."""
    for row in TABLE:
        if row.swapping:
            owner_of(row)


def is_there(row: Row) -> bool:
    try:
        return bool(owner_of(row))
    except Moved:
        return False


def owner_of(row: Row) -> "tuple[Any, str]":
    """What holds the attribute, and its name there. Raises `Moved`."""
    try:
        # A package's attribute may hide the module of the same name (deepspeed.comm.torch).
        load(row.module)
        owner: Any = load("sys").modules[row.module]
        *path, name = row.attribute.split(".")
        for step in path:
            owner = getattr(owner, step)
        getattr(owner, name)
    except (ImportError, AttributeError):
        raise Moved(f"{row.module}.{row.attribute}") from None
    return owner, name


def replace(setting: Setting, of: str, *, fakes_gpu: bool) -> None:
    """Looks for the rows `of` torch or DeepSpeed, then replaces them. torch's come first: DeepSpeed keeps originals
    when it is imported. Raises `Moved` before anything of them is replaced."""
    rows = [row for row in TABLE if row.module.split(".")[0] == of and (fakes_gpu or not row.on_gpu)]
    rows = [row for row in rows if not row.swapping and (not row.newer or is_there(row))]
    found = [owner_of(row) for row in rows]
    for row, (owner, name) in zip(rows, found):  # noqa: B905 — Python 3.9 must read this file
        setattr(owner, name, row.make(getattr(owner, name), setting))
