"""Keys that do not do to memory what their names say. Each was put to the dry run of every release with and without it
(tests/support/memory/traps.py)."""

from collections.abc import Iterator

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.rules.base import (
    ZERO,
    Config,
    Rule,
    bf16_block,
    clearing,
    enabled,
    found,
    is_set,
    name_of,
    offload_device,
    removal,
    zero_key,
    zero_stage,
)
from dsgui.core.rules.clash import Clash, rule
from dsgui.core.rules.offload import has_zenflow
from dsgui.core.texts.saying import listed

GATHERS_AT_ONCE_SINCE = "1.13"  # torch: all_gather_into_tensor
ON_GPU_SINCE = "0.19.8"
_ACCUMULATED = "/data_types/grad_accum_dtype"
_GATHER_BUCKET, _REDUCE_BUCKET = f"{ZERO}/allgather_bucket_size", f"{ZERO}/reduce_bucket_size"
_STAGE_1_2, _ENGINE = "deepspeed/runtime/zero/stage_1_and_2.py", "deepspeed/runtime/engine.py"
_CHECKPOINTING = "/activation_checkpointing"
_FOR_NVME = {
    "offload_optimizer": ("buffer_count", "pipeline_read", "pipeline_write"),
    "offload_param": ("buffer_count", "buffer_size", "max_in_cpu"),
}


def _gathers_at_once(context: Context) -> bool:
    known = context.torch_version
    return not known or version_tuple(known) >= version_tuple(GATHERS_AT_ONCE_SINCE)


def _sized(config: Config, pointer: str) -> bool:
    value = lookup(config, pointer)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _in_fp32(config: Config) -> bool:
    return lookup(config, _ACCUMULATED) in ("fp32", "float32")


def _keeps_all(config: Config, context: Context) -> bool:
    """engine.py: _do_optimizer_sanity_check."""
    is_bf16 = enabled(config, bf16_block(config), context)
    stays = offload_device(config, "offload_optimizer") == "none"
    return is_bf16 and _in_fp32(config) and zero_stage(config) == 1 and stays


def _keeps_on_gpu(config: Config, context: Context) -> bool:
    """stage_1_and_2.py: _use_compact_grad_partition_buffer; ZenFlow and Muon have ways of their own."""
    is_16_bit = enabled(config, bf16_block(config), context) or enabled(config, "fp16", context)
    is_offloaded = zero_stage(config) in (1, 2) and offload_device(config, "offload_optimizer") == "cpu"
    other = has_zenflow(config) or name_of(config, "optimizer").lower() == "muon"
    return is_16_bit and _in_fp32(config) and is_offloaded and not other


_BUCKETS = rule(
    "DS072",
    f"deepspeed/runtime/utils.py: all_gather_dp_groups; {_ENGINE}: MEMORY_OPT_ALLREDUCE_SIZE",
    Clash(
        pointer=_GATHER_BUCKET,
        when=lambda config, context: (
            _sized(config, _GATHER_BUCKET) and _gathers_at_once(context) and not has_zenflow(config)
        ),
        says="DS072.gather_bucket",
        fix=removal(_GATHER_BUCKET),
        severity=Severity.NOTE,
    ),
    Clash(
        pointer=_REDUCE_BUCKET,
        when=lambda config, context: _sized(config, _REDUCE_BUCKET) and zero_stage(config) == 0,
        says="DS072.reduce_bucket",
        fix=removal(_REDUCE_BUCKET),
        severity=Severity.NOTE,
    ),
)
_CHECKPOINTS = rule(
    "DS073",
    "deepspeed/runtime/activation_checkpointing/checkpointing.py: configure; transformers/modeling_layers.py",
    Clash(
        pointer=_CHECKPOINTING,
        when=lambda config, context: context.integration is Integration.HF and bool(lookup(config, _CHECKPOINTING)),
        says="DS073.block",
        fix=Fix.of("remove_block", Change(_CHECKPOINTING, None), key="activation_checkpointing"),
        severity=Severity.NOTE,
    ),
)
_KEPT_WHOLE = rule(
    "DS074",
    f"{_ENGINE}: _do_optimizer_sanity_check; deepspeed/runtime/bf16_optimizer.py",
    Clash(
        pointer=_ACCUMULATED,
        when=lambda config, context: _keeps_all(config, context) and "pipeline" not in config,
        says="DS074.whole",
        fix=Fix.of("set", Change(f"{ZERO}/stage", "2"), key="stage", value="2"),
        severity=Severity.NOTE,
    ),
)
_ON_GPU = rule(
    "DS075",
    f"{_STAGE_1_2}: _build_compact_grad_partition_buffer",
    Clash(
        pointer=_ACCUMULATED,
        when=lambda config, context: _keeps_on_gpu(config, context),
        says="DS075.on_gpu",
        since=ON_GPU_SINCE,
        fix=clearing(_ACCUMULATED),
        severity=Severity.NOTE,
    ),
    since=ON_GPU_SINCE,
)


def _for_nvme(config: Config, context: Context) -> Iterator[Finding]:
    """One finding a block."""
    for block, keys in _FOR_NVME.items():
        idle = [key for key in keys if is_set(config, f"{ZERO}/{block}/{key}")]
        if idle and offload_device(config, block) == "cpu" and is_set(config, f"{ZERO}/{block}"):
            one = len(idle) == 1
            changes = (Change(f"{ZERO}/{block}/{key}", None) for key in idle)
            yield found(
                Severity.NOTE,
                f"{ZERO}/{block}/{idle[0]}",
                "DS076.key" if one else "DS076.keys",
                fix=Fix.of("remove_this" if one else "remove_these", *changes),
                block=block,
                keys=listed(idle),
            )


_NOT_CONTIGUOUS = rule(
    "DS077",
    f"{_STAGE_1_2}: contiguous_gradients",
    Clash(
        pointer=f"{ZERO}/contiguous_gradients",
        when=lambda config, context: (
            truth(zero_key(config, "contiguous_gradients", True)) is False
            and zero_stage(config) in (1, 2)
            and offload_device(config, "offload_optimizer") == "cpu"
        ),
        says="DS077.contiguous",
        fix=clearing(f"{ZERO}/contiguous_gradients"),
        severity=Severity.NOTE,
    ),
)

RULES = (
    _BUCKETS,
    _CHECKPOINTS,
    _KEPT_WHOLE,
    _ON_GPU,
    Rule("DS076", "deepspeed/runtime/swap_tensor/", _for_nvme, (Severity.NOTE,)),
    _NOT_CONTIGUOUS,
)
