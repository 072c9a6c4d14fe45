"""bf16 and fp16 against every device the config will run on."""

from collections.abc import Iterator

from dsgui.core.context import Context, version_tuple
from dsgui.core.findings import Change, Finding, Fix, Severity
from dsgui.core.hardware import FP16_CAPABILITY, NATIVE_BF16_CAPABILITY, Hardware
from dsgui.core.pointer import lookup
from dsgui.core.rules.base import (
    Config,
    Rule,
    bf16_block,
    enabled,
    found,
)

GPU_DIRECT_SINCE, BF16_ASKED_SINCE = "0.15.0", "0.16.0"


def _bf16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    block = bf16_block(config)
    if not enabled(config, block, context):
        return
    for device in context.hardware:
        finding = _bf16_on(device, f"/{block}/enabled", context)
        if finding:
            yield finding


def _bf16_on(device: Hardware, pointer: str, context: Context) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "bf16", device.bf16, pointer)
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
        "Use fp16 on this card, or a newer card." + " T5-family models overflow in fp16: train those in fp32.",
        _bf16_to_fp16(pointer) if device.capability >= FP16_CAPABILITY else None,
    )


def _bf16_to_fp16(pointer: str) -> Fix:
    return Fix("Use fp16 instead", (Change(pointer, "false"), Change("/fp16/enabled", "true")))


def _torch_emulates_bf16(context: Context) -> bool:
    """torch.cuda.is_bf16_supported() counts emulation since torch 2.3; an unknown torch is taken for a current one."""
    return not context.torch_version or version_tuple(context.torch_version) >= (2, 3)


def _fp16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    if not enabled(config, "fp16", context):
        return
    for device in context.hardware:
        finding = _fp16_on(device)
        if finding:
            yield finding


def _fp16_on(device: Hardware) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "fp16", device.fp16, "/fp16/enabled")
    if device.capability >= FP16_CAPABILITY:
        return None
    return found(
        Severity.ERROR,
        "/fp16/enabled",
        f"fp16 is on and {device.title} has compute capability {_dots(device.capability)}; DeepSpeed needs 7.0 or "
        "higher and stops with “Type fp16 is not supported on your device”.",
        "Switch fp16 off. (On 6.x the environment variable DS_ALLOW_DEPRECATED_FP16=1 lets it through, slowly.)",
        Fix("Switch fp16 off", (Change("/fp16/enabled", "false"),)),
    )


def _refused_by_accelerator(device: Hardware, dtype: str, supported: bool | None, pointer: str) -> Finding | None:
    if supported is not False:
        return None
    return found(
        Severity.ERROR,
        pointer,
        f"{dtype} is on and DeepSpeed's {device.vendor.upper()} accelerator answers that this machine has none; "
        f"deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        f"Switch {dtype} off, or plan for another device above.",
        Fix(f"Switch {dtype} off", (Change(pointer, "false"),)),
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
            Fix("Switch use_gds off", (Change(pointer, "false"),)),
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
)
