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
    "Bucket sizes without effect",
    f"deepspeed/runtime/utils.py: all_gather_dp_groups; {_ENGINE}: MEMORY_OPT_ALLREDUCE_SIZE",
    Clash(
        pointer=_GATHER_BUCKET,
        when=lambda config, context: (
            _sized(config, _GATHER_BUCKET) and _gathers_at_once(context) and not has_zenflow(config)
        ),
        says="zero_optimization.allgather_bucket_size: has no effect. With torch 1.13 and newer, stages 1 and 2 gather "
        "the weights in one call and in place; other stages have no such bucket.",
        advice="Remove it. A smaller reduce_bucket_size saves memory at stages 1 to 3.",
        fix=removal(_GATHER_BUCKET),
        severity=Severity.NOTE,
    ),
    Clash(
        pointer=_REDUCE_BUCKET,
        when=lambda config, context: _sized(config, _REDUCE_BUCKET) and zero_stage(config) == 0,
        says="zero_optimization.reduce_bucket_size: has no effect at stage 0, which reduces gradients 500 million "
        "elements at a time.",
        advice="Remove it, or use stage 1 or higher.",
        fix=removal(_REDUCE_BUCKET),
        severity=Severity.NOTE,
    ),
    explanation="allgather_bucket_size was the size in which stages 1 and 2 gathered updated weights. Where torch has "
    "all_gather_into_tensor, DeepSpeed gathers them at once, in place: the key changes neither memory nor messages. "
    "Stage 0 reduces gradients in buckets of a fixed size, whatever reduce_bucket_size says.",
)
_CHECKPOINTS = rule(
    "DS073",
    "Activation checkpointing under the HF Trainer",
    "deepspeed/runtime/activation_checkpointing/checkpointing.py: configure; transformers/modeling_layers.py",
    Clash(
        pointer=_CHECKPOINTING,
        when=lambda config, context: context.integration is Integration.HF and bool(lookup(config, _CHECKPOINTING)),
        says="activation_checkpointing: has no effect on models of transformers, which don't call "
        "deepspeed.checkpointing.",
        advice="Start the script with --gradient_checkpointing. Keep the block only for a model of your own that "
        "calls it.",
        fix=Fix.of("remove_block", Change(_CHECKPOINTING, None), key="activation_checkpointing"),
        severity=Severity.NOTE,
    ),
    explanation="The block sets up deepspeed.checkpointing, and only a model that calls deepspeed.checkpointing."
    "checkpoint uses it, as Megatron's do. Models of transformers checkpoint with torch's own function, switched on by "
    "--gradient_checkpointing. With the block alone they keep all their activations.",
)
_KEPT_WHOLE = rule(
    "DS074",
    "fp32 gradients that ZeRO does not divide",
    f"{_ENGINE}: _do_optimizer_sanity_check; deepspeed/runtime/bf16_optimizer.py",
    Clash(
        pointer=_ACCUMULATED,
        when=lambda config, context: _keeps_all(config, context) and "pipeline" not in config,
        says="data_types.grad_accum_dtype: fp32 with bf16 at stage 1 makes every GPU keep all gradients in fp32: 4 "
        "bytes a parameter that ZeRO does not divide.",
        advice="Use stage 2, which divides them, unless the model is a PipelineModule.",
        fix=Fix.of("set", Change(f"{ZERO}/stage", "2"), key="stage", value="2"),
        severity=Severity.NOTE,
    ),
    explanation="With bf16, fp32 accumulation and no offload, stage 1 is another class, BF16_Optimizer. It keeps the "
    "gradients of all parameters in fp32 for the whole training, beside those of the backward pass: of all forms of "
    "stage 1 the one that takes most memory. Stage 2 adds up in fp32 too, and each GPU keeps its own part.",
)
_ON_GPU = rule(
    "DS075",
    "fp32 gradients on the GPU despite offload",
    f"{_STAGE_1_2}: _build_compact_grad_partition_buffer",
    Clash(
        pointer=_ACCUMULATED,
        when=lambda config, context: _keeps_on_gpu(config, context),
        says="data_types.grad_accum_dtype: fp32 keeps this rank's gradients in fp32 on the GPU until the step, though "
        "the optimizer is in host memory.",
        advice="Clear it to save 4 bytes a parameter, divided by the ranks, of GPU memory.",
        since=ON_GPU_SINCE,
        fix=clearing(_ACCUMULATED),
        severity=Severity.NOTE,
    ),
    explanation="Since DeepSpeed 0.19.8 stages 1 and 2 add fp32 gradients up in one buffer on the GPU, as large as the "
    "rank's part, also with offload_optimizer. Without the key gradients go to host memory as they are reduced.",
    since=ON_GPU_SINCE,
)


def _for_nvme(config: Config, context: Context) -> Iterator[Finding]:
    """One finding a block."""
    for block, keys in _FOR_NVME.items():
        idle = [key for key in keys if is_set(config, f"{ZERO}/{block}/{key}")]
        if idle and offload_device(config, block) == "cpu" and is_set(config, f"{ZERO}/{block}"):
            it, code = ("it", "remove_this") if len(idle) == 1 else ("them", "remove_these")
            yield found(
                Severity.NOTE,
                f"{ZERO}/{block}/{idle[0]}",
                f"zero_optimization.{block}: only the device “nvme” reads {', '.join(idle)}; with “cpu” DeepSpeed "
                f"ignores {it}.",
                f"Remove {it}.",
                Fix.of(code, *(Change(f"{ZERO}/{block}/{key}", None) for key in idle)),
            )


_NOT_CONTIGUOUS = rule(
    "DS077",
    "Contiguous gradients with offload",
    f"{_STAGE_1_2}: contiguous_gradients",
    Clash(
        pointer=f"{ZERO}/contiguous_gradients",
        when=lambda config, context: (
            truth(zero_key(config, "contiguous_gradients", True)) is False
            and zero_stage(config) in (1, 2)
            and offload_device(config, "offload_optimizer") == "cpu"
        ),
        says="zero_optimization.contiguous_gradients: false has no effect with optimizer offload, which needs the "
        "buffer.",
        advice="Leave it out. To save memory lower reduce_bucket_size, the buffer's size.",
        fix=clearing(f"{ZERO}/contiguous_gradients"),
        severity=Severity.NOTE,
    ),
    explanation="contiguous_gradients copies gradients into a buffer of reduce_bucket_size elements before they are "
    "reduced. At stages 1 and 2 with an offloaded optimizer DeepSpeed allocates that buffer whatever the key says.",
)

RULES = (
    _BUCKETS,
    _CHECKPOINTS,
    _KEPT_WHOLE,
    _ON_GPU,
    Rule(
        "DS076",
        "Offload keys that only NVMe reads",
        "deepspeed/runtime/swap_tensor/",
        _for_nvme,
        "buffer_count, buffer_size, max_in_cpu and the pipeline switches size the buffers through which states are "
        "swapped to NVMe. With the device “cpu” nothing is swapped and none of them changes memory: max_in_cpu does "
        "not limit what host memory holds.",
        (Severity.NOTE,),
    ),
    _NOT_CONTIGUOUS,
)
