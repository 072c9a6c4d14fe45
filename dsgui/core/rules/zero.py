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
from dsgui.core.texts.saying import listed

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
    f"{_STAGE_1_2}, {_STAGE_3}",
    Clash(
        pointer="/prescale_gradients",
        when=lambda config, context: (
            _scatters(config) and truth(value_or(config, "/prescale_gradients", False)) is True
        ),
        says="DS040.prescale",
        fix=removal("/prescale_gradients"),
    ),
    Clash(
        pointer="/gradient_predivide_factor",
        when=lambda config, context: (
            _scatters(config) and value_or(config, "/gradient_predivide_factor", 1) not in (1, "auto")
        ),
        says="DS040.predivide",
        fix=removal("/gradient_predivide_factor"),
    ),
    Clash(
        pointer="/gradient_predivide_factor",
        when=lambda config, context: (
            zero_stage(config) == 0 and lookup(config, "/gradient_predivide_factor") in (0, False)
        ),
        says="DS040.zero",
        fix=removal("/gradient_predivide_factor"),
    ),
)
_SUM = rule(
    "DS041",
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
        says="DS041.sum",
        since="0.19.6",
        fix=Fix.of("use_text", Change("/gradient_allreduce_op", '"mean"'), value="mean"),
    ),
    since="0.19.6",
)
_NORM_OFF = Fix.of("compute_norm", Change(f"{ZERO}/compute_grad_norm", None))
_NORM = rule(
    "DS042",
    f"{_CONFIG}, {_ENGINE}",
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and zero_stage(config) not in (1, 2),
        says="DS042.stages",
        since="0.19.7",
        fix=_NORM_OFF,
    ),
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and zero_stage(config) in (1, 2) and _clip_on(config),
        says="DS042.clipping",
        since="0.19.7",
        fix=Fix.of("switch_clipping_off", Change("/gradient_clipping", "0")),
    ),
    Clash(
        pointer=f"{ZERO}/compute_grad_norm",
        when=lambda config, context: _no_norm(config) and offload_device(config, "offload_optimizer") != "none",
        says="DS042.offload",
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
        says="DS042.fp32_sums",
        since="0.19.7",
        fix=_NORM_OFF,
    ),
    since="0.19.7",
)


def _odd_bucket(config: Config, context: Context) -> Iterator[Finding]:
    size = zero_key(config, "allgather_bucket_size")
    if zero_stage(config) in (1, 2) and isinstance(size, int | float) and _odd(size):
        yield found(
            Severity.ERROR,
            f"{ZERO}/allgather_bucket_size",
            "DS043.odd",
            fix=write(f"{ZERO}/allgather_bucket_size", str(int(size) + 1)),
        )


_BUCKETS = Rule(
    "DS043",
    f"{_STAGE_1_2}: nccl_start_alignment_factor",
    _odd_bucket,
)
_LEGACY = rule(
    "DS044",
    f"{_ENGINE}: zero_legacy_stage1",
    Clash(
        pointer=f"{ZERO}/legacy_stage1",
        when=lambda config, context: zero_stage(config) > 0 and truth(zero_key(config, "legacy_stage1")) is True,
        says="DS044.legacy",
        fix=removal(f"{ZERO}/legacy_stage1"),
    ),
)


def _groups(config: Config, context: Context) -> Iterator[Finding]:
    size = zero_key(config, "zero_hpz_partition_size", 1)
    size = size if isinstance(size, int) else 1
    if zero_stage(config) == 3 and 1 < size < context.world_size and context.world_size % size:
        yield found(
            Severity.ERROR,
            f"{ZERO}/zero_hpz_partition_size",
            "DS047.no_divisor",
            fix=write(f"{ZERO}/zero_hpz_partition_size", str(context.gpus_per_node)),
            size=str(size),
            ranks=str(context.world_size),
            devices=context.devices_told,
        )


_QUANTIZED = rule(
    "DS048",
    f"{_STAGE_3}, {_ENGINE}: _do_sanity_check",
    Clash(
        pointer=f"{ZERO}/zero_quantized_gradients",
        when=lambda config, context: (
            zero_stage(config) == 3
            and truth(zero_key(config, "zero_quantized_gradients")) is True
            and truth(zero_key(config, "reduce_scatter", True)) is False
        ),
        says="DS048.scatter",
        fix=switched_on(f"{ZERO}/reduce_scatter"),
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: _no_wait(config) and zero_stage(config) < 2 and overlaps(config),
        says="DS048.overlap",
        since="0.19.4",
        fix=switched_off(f"{ZERO}/overlap_comm"),
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: (
            _no_wait(config) and truth(value_or(config, "/compile/deepcompile", False)) is True
        ),
        says="DS048.compile",
        since="0.19.4",
        fix=removal("/managed_gradient_accumulation"),
    ),
)
_GATHER = f"{ZERO}/stage3_gather_16bit_weights_on_model_save"
_OLD_GATHER = ("stage3_gather_fp16_weights_on_model_save", "gather_16bit_weights_on_model_save")
_SAVING = rule(
    "DS049",
    f"{_ENGINE}: save_16bit_model",
    Clash(
        pointer=_GATHER,
        when=lambda config, context: (
            zero_stage(config) == 3
            and value_or(config, _GATHER, False) in (False, "auto")
            and not any(is_set(config, f"{ZERO}/{old}") for old in _OLD_GATHER)
        ),
        says="DS049.shards",
        fix=Fix.of("gather", Change(_GATHER, "true")),
        severity=Severity.NOTE,
    ),
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
        code, fix = ("DS070.key", "remove_this") if len(idle) == 1 else ("DS070.keys", "remove_these")
        yield found(
            Severity.NOTE,
            f"{ZERO}/{idle[0]}",
            code,
            fix=Fix.of(fix, *(Change(f"{ZERO}/{key}", None) for key in idle)),
            first=idle[0],
            keys=listed(idle),
            stage=str(zero_stage(config)),
        )


_OLD_FORMAT = rule(
    "DS071",
    f"{_CONFIG}: read_zero_config_deprecated",
    *(
        Clash(
            pointer=ZERO,
            when=lambda config, context, on=on: lookup(config, ZERO) is on,  # type: ignore[misc]
            says="DS071.switch",
            given={"value": str(on).lower(), "stage": str(int(on))},
            fix=Fix.of("write_block", Change(ZERO, f'{{"stage": {int(on)}}}')),
            severity=Severity.WARNING,
        )
        for on in (True, False)
    ),
)

RULES = (
    _PRESCALE,
    _SUM,
    _NORM,
    _BUCKETS,
    _LEGACY,
    Rule(
        "DS047",
        "deepspeed/utils/groups.py",
        _groups,
    ),
    _QUANTIZED,
    _SAVING,
    Rule(
        "DS070",
        f"{_CONFIG}: DeepSpeedZeroConfig",
        _stage_3_keys,
        (Severity.NOTE,),
    ),
    _OLD_FORMAT,
)
