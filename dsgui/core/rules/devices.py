"""bf16, fp16, buckets and NVMe offload against every device the config will run on, and what its operators can do."""

import math
from collections.abc import Iterator

from dsgui.core.config.context import Context, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.machine.hardware import FP16_CAPABILITY, NATIVE_BF16_CAPABILITY, Hardware
from dsgui.core.rules.base import (
    Config,
    Rule,
    bf16_block,
    enabled,
    found,
    is_set,
    offload_device,
    switched_off,
    value_or,
    write,
    zero_stage,
)
from dsgui.core.rules.model import family_of
from dsgui.core.sizes import gib, in_gib

GPU_DIRECT_SINCE, BF16_ASKED_SINCE = "0.15.0", "0.16.0"


def _bf16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    block = bf16_block(config)
    if not enabled(config, block, context):
        return
    for device in context.hardware:
        finding = _bf16_on(device, f"/{block}/enabled", context, _by_argument(config, context, block))
        if finding:
            yield finding


def _bf16_on(device: Hardware, pointer: str, context: Context, argument: str) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "bf16", device.bf16, pointer, argument)
    if device.capability >= NATIVE_BF16_CAPABILITY:
        return None
    asked = context.at_least(BF16_ASKED_SINCE)
    return found(
        Severity.WARNING if _torch_emulates_bf16(context) or not asked else Severity.ERROR,
        pointer,
        f"bf16 is on and {device.title} has compute capability {_dots(device.capability)}; bf16 arithmetic needs 8.0 "
        "or higher (A100, RTX 30, H100 …). "
        + (
            "PyTorch emulates it here, so DeepSpeed's own check lets it pass and training is slow."
            if _torch_emulates_bf16(context)
            else f"DeepSpeed before {BF16_ASKED_SINCE} does not look, and PyTorch fails or emulates it."
            if not asked
            else "DeepSpeed stops with “Type bf16 is not supported on your device”."
        ),
        *_without_bf16(device.capability, pointer, context, argument),
    )


def _without_bf16(capability: tuple[int, int], pointer: str, context: Context, argument: str) -> tuple[str, Fix | None]:
    """What to train in on such a card. fp16 needs a card that DeepSpeed lets have it, and a model that does not
    overflow in it."""
    name = context.arguments.model_name_or_path if context.arguments else ""
    family = family_of(name)
    if family is None and capability >= FP16_CAPABILITY:
        fix = Fix.of("use_instead", Change(pointer, "false"), Change("/fp16/enabled", "true"), value="fp16")
        return "Use fp16 on this card, or a newer card. T5-family models overflow in fp16: train those in fp32.", fix
    why = f"Models of the {family.title} family overflow in fp16: train" if family else "Train"
    fp32 = Fix.of("train_in_fp32", Change(pointer, "false"))
    return " ".join(filter(None, (f"{why} in fp32 on this card, or use a newer card.", argument))), (
        None if argument else fp32
    )


def _torch_emulates_bf16(context: Context) -> bool:
    """torch.cuda.is_bf16_supported() counts emulation since torch 2.3; an unknown torch is taken for a current one."""
    return not context.torch_version or version_tuple(context.torch_version) >= (2, 3)


def _fp16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    if not enabled(config, "fp16", context):
        return
    for device in context.hardware:
        finding = _fp16_on(device, _by_argument(config, context, "fp16"))
        if finding:
            yield finding


def _fp16_on(device: Hardware, argument: str) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "fp16", device.fp16, "/fp16/enabled", argument)
    if device.capability >= FP16_CAPABILITY:
        return None
    return found(
        Severity.ERROR,
        "/fp16/enabled",
        f"fp16 is on and {device.title} has compute capability {_dots(device.capability)}; DeepSpeed needs 7.0 or "
        "higher and stops with “Type fp16 is not supported on your device”.",
        "Switch fp16 off. (On 6.x the environment variable DS_ALLOW_DEPRECATED_FP16=1 lets it through, slowly.)",
        Fix.of("switch_off", Change("/fp16/enabled", "false"), key="fp16"),
    )


def _by_argument(config: Config, context: Context, block: str) -> str:
    """What to do about the script's arguments where they switch `block` on; "" where the file does."""
    arguments = context.arguments
    if arguments is None or lookup(config, f"/{block}/enabled") not in (MISSING, None, "auto"):
        return ""
    return f"Leave out --{block}." if block in arguments.given else f"Pass --{block} False."


def _refused_by_accelerator(
    device: Hardware, dtype: str, supported: bool | None, pointer: str, argument: str
) -> Finding | None:
    """`argument`: what to do about the arguments, where it is they that ask for `dtype`."""
    if supported is not False:
        return None
    by = ", by the script's arguments," if argument else ""
    return found(
        Severity.ERROR,
        pointer,
        f"{dtype} is on{by}, but DeepSpeed's {device.vendor.upper()} accelerator doesn't support it on this machine; "
        f"deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        argument or f"Switch {dtype} off, or plan for another device above.",
        None if argument else Fix.of("switch_off", Change(pointer, "false"), key=dtype),
    )


def _gpu_direct(config: Config, context: Context) -> Iterator[Finding]:
    pointer = "/aio/use_gds"
    others = [device for device in context.hardware if device.vendor != "nvidia"]
    if context.at_least(GPU_DIRECT_SINCE) and lookup(config, pointer) and others:
        yield found(
            Severity.ERROR,
            pointer,
            f"aio.use_gds is on, and DeepSpeed stops on {others[0].title}: “GDS currently only supported for CUDA "
            "accelerator”.",
            "Switch it off, or plan for an NVIDIA card above.",
            switched_off(pointer),
        )


_ZERO = "/zero_optimization"
_BUCKET = f"{_ZERO}/reduce_bucket_size"
_DEFAULT_BUCKET = 5e8  # deepspeed/runtime/zero/config.py
# Model states and activations need the rest. A judgement, not DeepSpeed's: the default takes 4 GB at most.
_LARGE_SHARE = 0.5


def bucket_bytes(config: Config, context: Context) -> int:
    """What the gradient buckets take on each GPU; where the dtype isn't known yet, the least they can take.

    Stages 1 and 2 allocate one buffer of reduce_bucket_size elements in the model's dtype when backward starts, two
    with overlap_comm (stage_1_and_2.py: setup_buckets); stage 3 allocates one in the communication dtype at the start.
    """
    elements, stage = _bucket_elements(config), zero_stage(config)
    if not stage or not _has_buckets(config, stage):
        return 0
    return elements * _element_bytes(config, context, stage) * (2 if _has_two(config, stage) else 1)


def _bucket_elements(config: Config) -> int:
    """0 where the size is no number: "auto" is the Trainer's, anything else is refused by its type."""
    size = value_or(config, _BUCKET, _DEFAULT_BUCKET)
    is_number = isinstance(size, int | float) and not isinstance(size, bool) and math.isfinite(size)
    return int(size) if is_number else 0


def _has_two(config: Config, stage: int) -> bool:
    return stage < 3 and truth(value_or(config, f"{_ZERO}/overlap_comm", False)) is True


def _has_buckets(config: Config, stage: int) -> bool:
    if is_set(config, f"{_ZERO}/zenflow"):
        return False  # it manages gradients in its own way
    contiguous = truth(value_or(config, f"{_ZERO}/contiguous_gradients", True)) is True
    return contiguous or (stage < 3 and offload_device(config, "offload_optimizer") != "none")


def _element_bytes(config: Config, context: Context, stage: int) -> int:
    halves = [enabled(config, block, context) for block in ("fp16", bf16_block(config))]
    waits = any(lookup(config, f"/{block}/enabled") == "auto" for block in ("fp16", "bf16"))
    chosen = stage == 3 and is_set(config, "/communication_data_type")
    return 2 if any(halves) or waits or chosen else 4


def _buckets(config: Config, context: Context) -> Iterator[Finding]:
    need = bucket_bytes(config, context)
    for device in context.hardware:
        if device.vendor != "cpu" and device.memory_bytes and need > device.memory_bytes * _LARGE_SHARE:
            yield _bucket_finding(config, device.title, need, device.memory_bytes)


def _bucket_finding(config: Config, device: str, need: int, have: int) -> Finding:
    two = " (two buffers, for overlap_comm)" if _has_two(config, zero_stage(config)) else ""
    too_large = need > have
    return found(
        Severity.ERROR if too_large else Severity.WARNING,
        _BUCKET,
        f"reduce_bucket_size: {_bucket_elements(config):,} elements take {in_gib(need)} of the {gib(have, 0)} "
        f"of {device}{two}, beside model states and activations."
        + (" They can't be allocated: CUDA out of memory." if too_large else ""),
        "Sizes are elements, not bytes; the default of 5e8 is enough for most models.",
        write(_BUCKET, "5e8") if _bucket_elements(config) > 5e8 else None,
    )


def _nvme_without_aio(config: Config, context: Context) -> Iterator[Finding]:
    if zero_stage(config) != 3 or "async_io" not in context.missing_ops:
        return
    for block in ("offload_optimizer", "offload_param"):
        if offload_device(config, block) == "nvme":
            yield found(
                Severity.ERROR,
                f"{_ZERO}/{block}/device",
                f"{block}.device: “nvme” needs DeepSpeed's async_io operator, and the training environment can't "
                "compile "
                "it; DeepSpeed stops with “Unable to JIT load the async_io op”.",
                "Install libaio with its headers (sudo apt install libaio-dev), or offload to the CPU.",
            )


def _dots(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


RULES = (
    Rule(
        "DS030",
        "bf16 against the hardware",
        "deepspeed/accelerator/*: is_bf16_supported",
        _bf16_hardware,
        "DeepSpeed asks its accelerator whether the device has bf16 and stops when it has not. On NVIDIA cards bf16 "
        "arithmetic needs compute capability 8.0; since torch 2.3 the answer also counts emulation, so an older card "
        "passes and is slow. Use fp16 there, or fp32 for models that overflow in fp16.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS031",
        "fp16 against the hardware",
        "deepspeed/accelerator/*: is_fp16_supported",
        _fp16_hardware,
        "DeepSpeed asks its accelerator whether the device has fp16 and stops when it has not: NVIDIA cards need "
        "compute capability 7.0, and of the processors only the newest have it. Switch fp16 off there, or use bf16.",
    ),
    Rule(
        "DS032",
        "GPUDirect Storage off CUDA",
        "deepspeed/runtime/swap_tensor/aio_config.py",
        _gpu_direct,
        "aio.use_gds moves data between an NVMe drive and GPU memory past the host, which only NVIDIA's driver can do. "
        "On any other accelerator DeepSpeed stops while it reads the file, whether anything is offloaded or not.",
        since=GPU_DIRECT_SINCE,
    ),
    Rule(
        "DS034",
        "Buckets against the GPU's memory",
        "deepspeed/runtime/zero/stage_1_and_2.py, stage3.py",
        _buckets,
        "Sizes of buckets are counted in elements, and DeepSpeed allocates the reduce bucket on the device before the "
        "first step: twice with overlap_comm below stage 3, in the gradients' type. A size copied from a larger card "
        "can take most of the memory, or more than there is. The default of 5e8 is enough for most models.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS035",
        "NVMe offload without async_io",
        "deepspeed/ops/op_builder/builder.py: jit_load",
        _nvme_without_aio,
        "Offload to NVMe reads and writes through DeepSpeed's async_io operator, which is compiled on first use and "
        "needs libaio with its headers. Without them deepspeed.initialize stops. Install libaio-dev (or libaio-devel), "
        "or offload to the CPU.",
    ),
)
