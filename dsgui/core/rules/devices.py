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
    advised,
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
from dsgui.core.sizes import beside, gib
from dsgui.core.texts.saying import Said

GPU_DIRECT_SINCE, BF16_ASKED_SINCE = "0.15.0", "0.16.0"


def _bf16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    block = bf16_block(config)
    if not enabled(config, block, context):
        return
    for device in context.hardware:
        finding = _bf16_on(device, f"/{block}/enabled", context, _by_argument(config, context, block))
        if finding:
            yield finding


def _bf16_on(device: Hardware, pointer: str, context: Context, argument: Said | None) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "bf16", device.bf16, pointer, argument)
    if device.capability >= NATIVE_BF16_CAPABILITY:
        return None
    severity, code = _bf16_outcome(context)
    advice, fix = _without_bf16(device.capability, pointer, context, argument)
    return found(
        severity,
        pointer,
        code,
        advice=advice,
        fix=fix,
        device=device.title,
        capability=_dots(device.capability),
        since=BF16_ASKED_SINCE,
    )


def _bf16_outcome(context: Context) -> tuple[Severity, str]:
    if _torch_emulates_bf16(context):
        return Severity.WARNING, "DS030.emulated"
    if context.at_least(BF16_ASKED_SINCE):
        return Severity.ERROR, "DS030.refused"
    return Severity.WARNING, "DS030.not_asked"


def _without_bf16(
    capability: tuple[int, int], pointer: str, context: Context, argument: Said | None
) -> tuple[tuple[Said, ...], Fix | None]:
    """What to train in on such a card. fp16 needs a card that DeepSpeed lets have it, and a model that does not
    overflow in it."""
    name = context.arguments.model_name_or_path if context.arguments else ""
    family = family_of(name)
    if family is None and capability >= FP16_CAPABILITY:
        fix = Fix.of("use_instead", Change(pointer, "false"), Change("/fp16/enabled", "true"), value="fp16")
        return (advised("DS030.use_fp16"),), fix
    fp32 = advised("DS030.family_fp32", family=family.title) if family else advised("DS030.use_fp32")
    if argument:
        return (fp32, argument), None
    return (fp32,), Fix.of("train_in_fp32", Change(pointer, "false"))


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


def _fp16_on(device: Hardware, argument: Said | None) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "fp16", device.fp16, "/fp16/enabled", argument)
    if device.capability >= FP16_CAPABILITY:
        return None
    return found(
        Severity.ERROR,
        "/fp16/enabled",
        "DS031.capability",
        fix=Fix.of("switch_off", Change("/fp16/enabled", "false"), key="fp16"),
        device=device.title,
        capability=_dots(device.capability),
    )


def _by_argument(config: Config, context: Context, block: str) -> Said | None:
    """What to do about the script's arguments where they switch `block` on; None where the file does."""
    arguments = context.arguments
    if arguments is None or lookup(config, f"/{block}/enabled") not in (MISSING, None, "auto"):
        return None
    return advised("DS030.leave_out" if block in arguments.given else "DS030.pass_false", option=f"--{block}")


# What is said of a type that the accelerator has not: where the file asks for it, and where the arguments do.
_UNSUPPORTED = {"bf16": "DS030.unsupported", "fp16": "DS031.unsupported"}
_UNSUPPORTED_ARGUMENT = {"bf16": "DS030.unsupported_argument", "fp16": "DS031.unsupported_argument"}


def _refused_by_accelerator(
    device: Hardware, dtype: str, supported: bool | None, pointer: str, argument: Said | None
) -> Finding | None:
    """`argument`: what to do about the arguments, where it is they that ask for `dtype`."""
    if supported is not False:
        return None
    return found(
        Severity.ERROR,
        pointer,
        _UNSUPPORTED_ARGUMENT[dtype] if argument else _UNSUPPORTED[dtype],
        advice=(argument,) if argument else "",
        fix=None if argument else Fix.of("switch_off", Change(pointer, "false"), key=dtype),
        dtype=dtype,
        accelerator=device.vendor.upper(),
    )


def _gpu_direct(config: Config, context: Context) -> Iterator[Finding]:
    pointer = "/aio/use_gds"
    others = [device for device in context.hardware if device.vendor != "nvidia"]
    if context.at_least(GPU_DIRECT_SINCE) and lookup(config, pointer) and others:
        yield found(
            Severity.ERROR,
            pointer,
            "DS032.no_cuda",
            fix=switched_off(pointer),
            device=others[0].title,
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
    too_large, two = need > have, _has_two(config, zero_stage(config))
    return found(
        Severity.ERROR if too_large else Severity.WARNING,
        _BUCKET,
        _LARGE[too_large, two],
        advice="DS034.elements",
        fix=write(_BUCKET, "5e8") if _bucket_elements(config) > 5e8 else None,
        elements=f"{_bucket_elements(config):,}",
        need=beside(need, have),
        have=gib(have, 0),
        device=device,
    )


# By whether they are more than there is, and whether there are two of them.
_LARGE = {
    (False, False): "DS034.large",
    (False, True): "DS034.two_large",
    (True, False): "DS034.too_large",
    (True, True): "DS034.two_too_large",
}


def _nvme_without_aio(config: Config, context: Context) -> Iterator[Finding]:
    if zero_stage(config) != 3 or "async_io" not in context.missing_ops:
        return
    for block in ("offload_optimizer", "offload_param"):
        if offload_device(config, block) == "nvme":
            yield found(
                Severity.ERROR,
                f"{_ZERO}/{block}/device",
                "DS035.no_async_io",
                block=block,
            )


def _dots(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


RULES = (
    Rule(
        "DS030",
        "deepspeed/accelerator/*: is_bf16_supported",
        _bf16_hardware,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS031",
        "deepspeed/accelerator/*: is_fp16_supported",
        _fp16_hardware,
    ),
    Rule(
        "DS032",
        "deepspeed/runtime/swap_tensor/aio_config.py",
        _gpu_direct,
        since=GPU_DIRECT_SINCE,
    ),
    Rule(
        "DS034",
        "deepspeed/runtime/zero/stage_1_and_2.py, stage3.py",
        _buckets,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS035",
        "deepspeed/ops/op_builder/builder.py: jit_load",
        _nvme_without_aio,
    ),
)
