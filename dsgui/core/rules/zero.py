"""ZeRO's keys against each other, the stage, and the number of ranks."""

from collections.abc import Iterator

from dsgui.core.config.context import Context
from dsgui.core.config.conversion import truth
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.rules.base import (
    ZERO,
    Config,
    Rule,
    enabled,
    found,
    is_set,
    offload_device,
    overlaps,
    removal,
    switched_off,
    switched_on,
    value_or,
    write,
    zero_key,
    zero_stage,
)
from dsgui.core.rules.clash import Clash, rule
from dsgui.core.rules.offload import has_zenflow

_STAGE_1_2, _STAGE_3 = "deepspeed/runtime/zero/stage_1_and_2.py", "deepspeed/runtime/zero/stage3.py"
_CONFIG, _ENGINE = "deepspeed/runtime/zero/config.py", "deepspeed/runtime/engine.py"


def _scatters(config: Config) -> bool:
    return bool(zero_key(config, "reduce_scatter", True)) and zero_stage(config) >= 2


def _sums(config: Config) -> bool:
    return str(value_or(config, "/gradient_allreduce_op", "mean")).lower() == "sum"


def _no_norm(config: Config) -> bool:
    return truth(zero_key(config, "compute_grad_norm", True)) is False


def _no_wait(config: Config) -> bool:
    return truth(value_or(config, "/managed_gradient_accumulation", True)) is False


def _odd(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value % 2 == 1


def _clip_on(config: Config) -> bool:
    return value_or(config, "/gradient_clipping", 1.0) not in (0, "auto")


_PRESCALE = rule(
    "DS040",
    "Prescaled gradients",
    f"{_STAGE_1_2}, {_STAGE_3}",
    Clash(
        pointer="/prescale_gradients",
        when=lambda config, context: (
            _scatters(config) and truth(value_or(config, "/prescale_gradients", False)) is True
        ),
        says="prescale_gradients: ZeRO stage 2 and 3 can't prescale while reduce_scatter is on (it is unless "
        "switched off).",
        advice="Leave prescale_gradients out, or set zero_optimization.reduce_scatter to false.",
        fix=removal("/prescale_gradients"),
    ),
    Clash(
        pointer="/gradient_predivide_factor",
        when=lambda config, context: (
            _scatters(config) and value_or(config, "/gradient_predivide_factor", 1) not in (1, "auto")
        ),
        says="gradient_predivide_factor: ZeRO stage 2 and 3 take only 1.0 while reduce_scatter is on (it is unless "
        "switched off).",
        advice="Leave it out, or set zero_optimization.reduce_scatter to false.",
        fix=removal("/gradient_predivide_factor"),
    ),
    Clash(
        pointer="/gradient_predivide_factor",
        when=lambda config, context: (
            zero_stage(config) == 0 and lookup(config, "/gradient_predivide_factor") in (0, False)
        ),
        says="gradient_predivide_factor: gradients are divided by it, and 0 stops the first step (ZeroDivisionError).",
        advice="Leave it out for 1.0.",
        fix=removal("/gradient_predivide_factor"),
    ),
    explanation="ZeRO stage 2 and 3 add gradients up with reduce-scatter, which divides them once, afterwards. "
    "Dividing before the sum (prescale_gradients) or in two parts (gradient_predivide_factor) is possible only with "
    "reduce_scatter off; otherwise deepspeed.initialize stops.",
)
_SUM = rule(
    "DS041",
    "Summed gradients",
    f"{_ENGINE}: gradient_allreduce_op",
    Clash(
        pointer="/gradient_allreduce_op",
        when=lambda config, context: (
            _sums(config)
            and (
                zero_stage(config) == 3
                or has_zenflow(config)
                or truth(value_or(config, "/compile/deepcompile", False)) is True
            )
        ),
        says="gradient_allreduce_op: “sum” does not work with ZeRO stage 3, ZenFlow or DeepCompile.",
        advice="Use “mean”, and scale the loss in the script.",
        since="0.19.6",
        fix=Fix.of("use_text", Change("/gradient_allreduce_op", '"mean"'), value="mean"),
    ),
    explanation="gradient_allreduce_op “sum” leaves gradients undivided by the number of ranks. ZeRO stage 3, ZenFlow "
    "and DeepCompile always average, and DeepSpeed refuses the combination rather than average in silence. Use “mean” "
    "and scale the loss.",
    since="0.19.6",
)
_NORM_OFF = Fix.of("compute_norm", Change(f"{ZERO}/compute_grad_norm", None))
_NORM = rule(
    "DS042",
    "No gradient norm",
    f"{_CONFIG}, {_ENGINE}",
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and zero_stage(config) not in (1, 2),
        says="zero_optimization.compute_grad_norm: false is for ZeRO stage 1 and 2 only.",
        advice="Leave it out.",
        since="0.19.7",
        fix=_NORM_OFF,
    ),
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and zero_stage(config) in (1, 2) and _clip_on(config),
        says="zero_optimization.compute_grad_norm: without the norm there is nothing to clip by, and "
        "gradient_clipping is on (1.0 "
        "where the file does not set it).",
        advice="Set gradient_clipping to 0, or compute the norm.",
        since="0.19.7",
        fix=Fix.of("switch_clipping_off", Change("/gradient_clipping", "0")),
    ),
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and offload_device(config, "offload_optimizer") != "none",
        says="zero_optimization.compute_grad_norm: false does not work with optimizer offload.",
        advice="Leave it out.",
        since="0.19.7",
        fix=_NORM_OFF,
    ),
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: (
            _no_norm(config)
            and zero_stage(config) == 1
            and enabled(config, "bf16", context)
            and value_or(config, "/data_types/grad_accum_dtype", None) in ("fp32", "float32")
        ),
        says="zero_optimization.compute_grad_norm: false does not work at stage 1 with bf16 and gradients added up "
        "in fp32.",
        advice="Leave it out.",
        since="0.19.7",
        fix=_NORM_OFF,
    ),
    explanation="compute_grad_norm false saves a pass over the gradients. Clipping needs that norm, and clipping is "
    "on at 1.0 unless the file says 0; other stages, optimizer offload and fp32 accumulation in bf16 at stage 1 need "
    "it too. DeepSpeed stops at each of them.",
    since="0.19.7",
)


def _odd_bucket(config: Config, context: Context) -> Iterator[Finding]:
    size = zero_key(config, "allgather_bucket_size")
    if zero_stage(config) in (1, 2) and isinstance(size, int | float) and _odd(size):
        yield found(
            Severity.ERROR,
            f"{ZERO}/allgather_bucket_size",
            "zero_optimization.allgather_bucket_size: ZeRO stage 1 and 2 want an even number of elements.",
            "Make it even.",
            write(f"{ZERO}/allgather_bucket_size", str(int(size) + 1)),
        )


_BUCKETS = Rule(
    "DS043",
    "Odd bucket",
    f"{_STAGE_1_2}: nccl_start_alignment_factor",
    _odd_bucket,
    "ZeRO stage 1 and 2 align the buckets in which parameters are gathered to an even number of elements, "
    "and assert that the size given is one. Sizes are elements, so nothing is lost by adding one.",
)
_LEGACY = rule(
    "DS044",
    "The old stage 1",
    f"{_ENGINE}: zero_legacy_stage1",
    Clash(
        pointer=f"{ZERO}/legacy_stage1",
        when=lambda config, context: zero_stage(config) > 0 and truth(zero_key(config, "legacy_stage1")) is True,
        says="zero_optimization.legacy_stage1: the old implementation is gone since 0.5.9, and DeepSpeed stops when "
        "asked for it.",
        advice="Remove it.",
        fix=removal(f"{ZERO}/legacy_stage1"),
    ),
    explanation="The first implementation of ZeRO stage 1 was replaced in DeepSpeed 0.5.9. The switch that brought it "
    "back is still read, and DeepSpeed stops when it is on.",
)


def _groups(config: Config, context: Context) -> Iterator[Finding]:
    size = zero_key(config, "zero_hpz_partition_size", 1)
    size = size if isinstance(size, int) else 1
    if zero_stage(config) == 3 and 1 < size < context.world_size and context.world_size % size:
        yield found(
            Severity.ERROR,
            f"{ZERO}/zero_hpz_partition_size",
            f"zero_optimization.zero_hpz_partition_size: {size} does not divide the {context.world_size} ranks "
            f"({context.devices}).",
            "Use the number of GPUs of one node.",
            write(f"{ZERO}/zero_hpz_partition_size", str(context.gpus_per_node)),
        )


_QUANTIZED = rule(
    "DS048",
    "Quantized gradients and managed accumulation",
    f"{_STAGE_3}, {_ENGINE}: _do_sanity_check",
    Clash(
        pointer=f"{ZERO}/zero_quantized_gradients",
        when=lambda config, context: (
            zero_stage(config) == 3
            and truth(zero_key(config, "zero_quantized_gradients")) is True
            and truth(zero_key(config, "reduce_scatter", True)) is False
        ),
        says="zero_optimization.zero_quantized_gradients: needs reduce_scatter, which is off.",
        advice="Switch reduce_scatter on.",
        fix=switched_on(f"{ZERO}/reduce_scatter"),
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: _no_wait(config) and zero_stage(config) < 2 and overlaps(config),
        says="managed_gradient_accumulation: false goes with overlap_comm at ZeRO stage 2 and up only.",
        advice="Switch zero_optimization.overlap_comm off, or leave managed_gradient_accumulation out.",
        since="0.19.4",
        fix=switched_off(f"{ZERO}/overlap_comm"),
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: (
            _no_wait(config) and truth(value_or(config, "/compile/deepcompile", False)) is True
        ),
        says="managed_gradient_accumulation: false does not work with DeepCompile.",
        advice="Leave it out, or switch compile.deepcompile off.",
        since="0.19.4",
        fix=removal("/managed_gradient_accumulation"),
    ),
    explanation="Two switches that have conditions. Quantized gradients at stage 3 travel by reduce-scatter, which "
    "must be on; managed_gradient_accumulation false reduces every micro batch at once and can't be combined with "
    "overlapped communication below stage 2, nor with DeepCompile.",
)
_GATHER = f"{ZERO}/stage3_gather_16bit_weights_on_model_save"
_OLD_GATHER = ("stage3_gather_fp16_weights_on_model_save", "gather_16bit_weights_on_model_save")
_SAVING = rule(
    "DS049",
    "Saving at stage 3",
    f"{_ENGINE}: save_16bit_model",
    Clash(
        pointer=_GATHER,
        when=lambda config, context: (
            zero_stage(config) == 3
            and value_or(config, _GATHER, False) in (False, "auto")
            and not any(is_set(config, f"{ZERO}/{old}") for old in _OLD_GATHER)
        ),
        says="zero_optimization.stage3_gather_16bit_weights_on_model_save: off, so a save writes shards and no "
        "model file.",
        advice="Switch it on, or run zero_to_fp32.py, which lies in the checkpoint, afterwards.",
        fix=Fix.of("gather", Change(_GATHER, "true")),
        severity=Severity.NOTE,
    ),
    explanation="At stage 3 each rank holds a part of the model. Unless this switch is on, saving writes the parts "
    "and no file that another program can load, and the log hardly says so. Gathering costs memory and time at each "
    "save; zero_to_fp32.py in the checkpoint does it later.",
)

_ONLY_STAGE_3 = (
    *("sub_group_size", "zero_hpz_partition_size", "zero_quantized_weights", "zero_quantized_nontrainable_weights"),
    *("zero_quantized_gradients", "memory_efficient_linear", "max_live_parameters", "max_reuse_distance"),
    *("prefetch_bucket_size", "param_persistence_threshold", "model_persistence_threshold", "mics_shard_size"),
)


def _stage_3_keys(config: Config, context: Context) -> Iterator[Finding]:
    block = lookup(config, ZERO)
    if not isinstance(block, dict) or zero_stage(config) == 3 or block.get("stage") == "auto":
        return
    idle = [key for key in block if key.startswith("stage3_") or key in _ONLY_STAGE_3]
    if idle:
        it, code = ("it", "remove_this") if len(idle) == 1 else ("them", "remove_these")
        yield found(
            Severity.NOTE,
            f"{ZERO}/{idle[0]}",
            f"zero_optimization.{idle[0]}: only ZeRO stage 3 reads {', '.join(idle)}; at stage {zero_stage(config)} "
            f"DeepSpeed ignores {it}.",
            f"Remove {it}, or use stage 3.",
            Fix.of(code, *(Change(f"{ZERO}/{key}", None) for key in idle)),
        )


_OLD_FORMAT = rule(
    "DS071",
    "ZeRO as a switch",
    f"{_CONFIG}: read_zero_config_deprecated",
    *(
        Clash(
            pointer=ZERO,
            when=lambda config, context, on=on: lookup(config, ZERO) is on,  # type: ignore[misc]
            says=f"zero_optimization: {str(on).lower()} is the format of the first releases; DeepSpeed takes it for "
            "stage "
            f"{int(on)} and warns.",
            advice="Write the block.",
            fix=Fix.of("write_block", Change(ZERO, f'{{"stage": {int(on)}}}')),
            severity=Severity.WARNING,
        )
        for on in (True, False)
    ),
    explanation="In the first releases zero_optimization was true or false. DeepSpeed still reads that as stage 1 or 0 "
    "and prints a warning; no other key of ZeRO can be given that way. Write a block with a stage.",
)

RULES = (
    _PRESCALE,
    _SUM,
    _NORM,
    _BUCKETS,
    _LEGACY,
    Rule(
        "DS047",
        "Secondary partitions against the ranks",
        "deepspeed/utils/groups.py",
        _groups,
        "zero_hpz_partition_size keeps a second copy of the parameters within groups of so many ranks, usually a node. "
        "The ranks must divide into whole groups, or DeepSpeed stops; a size beyond all ranks means all of them.",
    ),
    _QUANTIZED,
    _SAVING,
    Rule(
        "DS070",
        "Keys that only ZeRO stage 3 reads",
        f"{_CONFIG}: DeepSpeedZeroConfig",
        _stage_3_keys,
        "The stage3_… keys, sub_group_size and the ZeRO++ switches steer how stage 3 divides and gathers parameters. "
        "Below stage 3 DeepSpeed takes them without a word and reads none. They do no harm; remove them, or use stage "
        "3 if that was meant.",
        (Severity.NOTE,),
    ),
    _OLD_FORMAT,
)
