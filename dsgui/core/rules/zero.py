"""ZeRO's keys against each other, the stage, and the number of ranks."""

from collections.abc import Iterator

from dsgui.core.context import Context
from dsgui.core.conversion import truth
from dsgui.core.findings import Change, Finding, Fix, Severity
from dsgui.core.pointer import MISSING, lookup
from dsgui.core.rules.base import Config, Rule, enabled, found, is_set, offload_device, value_or, zero_stage
from dsgui.core.rules.clash import Clash, rule

_ZERO = "/zero_optimization"
_STAGE_1_2, _STAGE_3 = "deepspeed/runtime/zero/stage_1_and_2.py", "deepspeed/runtime/zero/stage3.py"
_CONFIG, _ENGINE = "deepspeed/runtime/zero/config.py", "deepspeed/runtime/engine.py"


def _zero(config: Config, key: str, default: object = None) -> object:
    return value_or(config, f"{_ZERO}/{key}", default)


def _write(pointer: str, literal: str, label: str = "") -> Fix:
    key = pointer.rpartition("/")[2]
    return Fix(label or f"Set {key} to {literal}", (Change(pointer, literal),))


def _scatters(config: Config) -> bool:
    return bool(_zero(config, "reduce_scatter", True)) and zero_stage(config) >= 2


def _overlaps(config: Config) -> bool:
    return truth(_zero(config, "overlap_comm")) is True


def _sums(config: Config) -> bool:
    return str(value_or(config, "/gradient_allreduce_op", "mean")).lower() == "sum"


def _has_zenflow(config: Config) -> bool:
    return isinstance(_zero(config, "zenflow"), dict)


def _no_norm(config: Config) -> bool:
    return truth(_zero(config, "compute_grad_norm", True)) is False


def _no_wait(config: Config) -> bool:
    return truth(value_or(config, "/managed_gradient_accumulation", True)) is False


def _odd(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value % 2 == 1


def _partial(config: Config) -> bool:
    ratio = value_or(config, f"{_ZERO}/offload_optimizer/ratio", 1.0)
    return isinstance(ratio, int | float) and ratio < 1 and zero_stage(config) != 3


def _without_path(config: Config, what: str) -> bool:
    is_nvme = zero_stage(config) == 3 and offload_device(config, what) == "nvme"
    return is_nvme and not is_set(config, f"{_ZERO}/{what}/nvme_path")


def _clip_on(config: Config) -> bool:
    return value_or(config, "/gradient_clipping", 1.0) not in (0, "auto")


def _on_a_gpu(context: Context) -> bool:
    return any(device.vendor != "cpu" for device in context.hardware)


_PRESCALE = rule(
    "DS040",
    "Prescaled gradients",
    f"{_STAGE_1_2}, {_STAGE_3}",
    Clash(
        "/prescale_gradients",
        lambda config, context: _scatters(config) and truth(value_or(config, "/prescale_gradients", False)) is True,
        "prescale_gradients: ZeRO stage 2 and 3 can't prescale while reduce_scatter is on (it is unless switched off).",
        "Leave prescale_gradients out, or set zero_optimization.reduce_scatter to false.",
        fix=Fix("Remove prescale_gradients", (Change("/prescale_gradients", None),)),
    ),
    Clash(
        "/gradient_predivide_factor",
        lambda config, context: (
            _scatters(config) and value_or(config, "/gradient_predivide_factor", 1) not in (1, "auto")
        ),
        "gradient_predivide_factor: ZeRO stage 2 and 3 take only 1.0 while reduce_scatter is on (it is unless "
        "switched off).",
        "Leave it out, or set zero_optimization.reduce_scatter to false.",
        fix=Fix("Remove gradient_predivide_factor", (Change("/gradient_predivide_factor", None),)),
    ),
)
_SUM = rule(
    "DS041",
    "Summed gradients",
    f"{_ENGINE}: gradient_allreduce_op",
    Clash(
        "/gradient_allreduce_op",
        lambda config, context: (
            _sums(config)
            and (
                zero_stage(config) == 3
                or _has_zenflow(config)
                or truth(value_or(config, "/compile/deepcompile", False)) is True
            )
        ),
        "gradient_allreduce_op: “sum” does not work with ZeRO stage 3, ZenFlow or DeepCompile.",
        "Use “mean”, and scale the loss in the script.",
        since="0.19.6",
        fix=_write("/gradient_allreduce_op", '"mean"', "Use “mean”"),
    ),
)
_NORM_OFF = Fix("Compute the norm", (Change(f"{_ZERO}/compute_grad_norm", None),))
_NORM = rule(
    "DS042",
    "No gradient norm",
    f"{_CONFIG}, {_ENGINE}",
    Clash(
        f"{_ZERO}/compute_grad_norm",
        lambda config, context: _no_norm(config) and zero_stage(config) not in (1, 2),
        "zero_optimization.compute_grad_norm: false is for ZeRO stage 1 and 2 only.",
        "Leave it out.",
        "0.19.7",
        _NORM_OFF,
    ),
    Clash(
        f"{_ZERO}/compute_grad_norm",
        lambda config, context: _no_norm(config) and zero_stage(config) in (1, 2) and _clip_on(config),
        "zero_optimization.compute_grad_norm: without the norm there is nothing to clip by, and "
        "gradient_clipping is on (1.0 "
        "where the file does not set it).",
        "Set gradient_clipping to 0, or compute the norm.",
        "0.19.7",
        _write("/gradient_clipping", "0", "Switch clipping off"),
    ),
    Clash(
        f"{_ZERO}/compute_grad_norm",
        lambda config, context: _no_norm(config) and offload_device(config, "offload_optimizer") != "none",
        "zero_optimization.compute_grad_norm: false does not work with optimizer offload.",
        "Leave it out.",
        "0.19.7",
        _NORM_OFF,
    ),
    Clash(
        f"{_ZERO}/compute_grad_norm",
        lambda config, context: (
            _no_norm(config)
            and zero_stage(config) == 1
            and enabled(config, "bf16", context)
            and value_or(config, "/data_types/grad_accum_dtype", None) in ("fp32", "float32")
        ),
        "zero_optimization.compute_grad_norm: false does not work at stage 1 with bf16 and gradients added up in fp32.",
        "Leave it out.",
        "0.19.7",
        _NORM_OFF,
    ),
)
_BUCKETS = rule(
    "DS043",
    "Odd bucket",
    f"{_STAGE_1_2}: nccl_start_alignment_factor",
    Clash(
        f"{_ZERO}/allgather_bucket_size",
        lambda config, context: zero_stage(config) in (1, 2) and _odd(_zero(config, "allgather_bucket_size")),
        "zero_optimization.allgather_bucket_size: ZeRO stage 1 and 2 want an even number of elements.",
        "Make it even.",
    ),
)
_LEGACY = rule(
    "DS044",
    "The old stage 1",
    f"{_ENGINE}: zero_legacy_stage1",
    Clash(
        f"{_ZERO}/legacy_stage1",
        lambda config, context: zero_stage(config) > 0 and truth(_zero(config, "legacy_stage1")) is True,
        "zero_optimization.legacy_stage1: the old implementation is gone since 0.5.9, and DeepSpeed stops when "
        "asked for it.",
        "Remove it.",
        fix=Fix("Remove legacy_stage1", (Change(f"{_ZERO}/legacy_stage1", None),)),
    ),
)
_OFFLOAD = rule(
    "DS045",
    "Offload against the stage",
    f"{_CONFIG}, {_STAGE_3}",
    Clash(
        f"{_ZERO}/offload_optimizer/ratio",
        lambda config, context: _partial(config),
        "zero_optimization.offload_optimizer.ratio: only ZeRO stage 3 can offload a part of the optimizer.",
        "Leave it out, or use stage 3.",
        fix=Fix("Remove ratio", (Change(f"{_ZERO}/offload_optimizer/ratio", None),)),
    ),
    *(
        Clash(
            f"{_ZERO}/{what}/nvme_path",
            lambda config, context, what=what: _without_path(config, what),  # type: ignore[misc]
            f"zero_optimization.{what}.nvme_path: missing; with device nvme at stage 3 DeepSpeed has nowhere to write.",
            "Give a folder on a local NVMe drive.",
        )
        for what in ("offload_optimizer", "offload_param")
    ),
    Clash(
        f"{_ZERO}/offload_param",
        lambda config, context: offload_device(config, "offload_param") != "none" and zero_stage(config) < 3,
        "zero_optimization.offload_param: only stage 3 divides parameters; below it DeepSpeed ignores the block.",
        "Use stage 3, or remove the block.",
        severity=Severity.WARNING,
    ),
    Clash(
        f"{_ZERO}/offload_optimizer/device",
        lambda config, context: offload_device(config, "offload_optimizer") == "nvme" and zero_stage(config) in (1, 2),
        "zero_optimization.offload_optimizer.device: at stage 1 and 2 “nvme” is treated as “cpu”: nothing goes "
        "to the drive.",
        "Write “cpu”, or use stage 3.",
        severity=Severity.WARNING,
    ),
    Clash(
        f"{_ZERO}/offload_optimizer",
        lambda config, context: (
            zero_stage(config) == 0 and offload_device(config, "offload_optimizer") != "none" and _on_a_gpu(context)
        ),
        "zero_optimization.offload_optimizer: at stage 0 it passes deepspeed.initialize, and the first step on a "
        "GPU stops: "
        "DeepSpeed's CPU optimizer meets parameters on the GPU.",
        "Use stage 1 or higher, or remove the block.",
    ),
)
_ZENFLOW_BLOCK = f"{_ZERO}/zenflow"
_ZENFLOW = rule(
    "DS046",
    "ZenFlow",
    "deepspeed/runtime/zenflow/engine.py",
    Clash(
        _ZENFLOW_BLOCK,
        lambda config, context: _has_zenflow(config) and zero_stage(config) == 0,
        "zero_optimization.zenflow: works on ZeRO's gradients; at stage 0 the first step stops.",
        "Use stage 1 or higher, or remove the block.",
        "0.17.5",
    ),
    Clash(
        _ZENFLOW_BLOCK,
        lambda config, context: (
            _has_zenflow(config) and zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "cpu"
        ),
        "zero_optimization.zenflow: needs the optimizer in host memory, and offload_optimizer.device is not “cpu”.",
        "Offload the optimizer to the CPU.",
        "0.17.5",
        _write(f"{_ZERO}/offload_optimizer/device", '"cpu"', "Offload the optimizer to the CPU"),
    ),
    Clash(
        f"{_ZENFLOW_BLOCK}/select_interval",
        lambda config, context: (
            value_or(config, f"{_ZENFLOW_BLOCK}/select_strategy", "auto") == "auto"
            and isinstance(lookup(config, f"{_ZENFLOW_BLOCK}/select_interval"), int)
        ),
        "zero_optimization.zenflow.select_interval: the strategy “auto” chooses the interval itself and refuses "
        "a number.",
        "Leave it out, or choose the strategy “step” or “epoch”.",
        "0.17.5",
        Fix("Remove select_interval", (Change(f"{_ZENFLOW_BLOCK}/select_interval", None),)),
    ),
    Clash(
        f"{_ZENFLOW_BLOCK}/select_interval",
        lambda config, context: (
            lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") in ("step", "epoch")
            and lookup(config, f"{_ZENFLOW_BLOCK}/select_interval") in ("auto", MISSING)
        ),
        "zero_optimization.zenflow.select_interval: the strategies “step” and “epoch” need a number.",
        "Give the number of steps or epochs.",
        "0.17.5",
    ),
    Clash(
        f"{_ZENFLOW_BLOCK}/select_interval",
        lambda config, context: _select_before_update(config),
        "zero_optimization.zenflow.select_interval: gradients can't be selected more often than they are applied "
        "(update_interval).",
        "Raise select_interval to update_interval or more.",
        "0.17.5",
    ),
    Clash(
        f"{_ZENFLOW_BLOCK}/offload",
        lambda config, context: (
            truth(lookup(config, f"{_ZENFLOW_BLOCK}/offload")) is True and truth(_zero(config, "overlap_comm")) is False
        ),
        "zero_optimization.zenflow.offload: the offloaded selective optimizer needs overlap_comm, which is off.",
        "Switch overlap_comm on.",
        "0.17.5",
        _write(f"{_ZERO}/overlap_comm", "true", "Switch overlap_comm on"),
    ),
)


def _select_before_update(config: Config) -> bool:
    select, update = (lookup(config, f"{_ZENFLOW_BLOCK}/{key}_interval") for key in ("select", "update"))
    steps = lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") == "step"
    return steps and isinstance(select, int) and isinstance(update, int) and select < update


def _groups(config: Config, context: Context) -> Iterator[Finding]:
    size = _zero(config, "zero_hpz_partition_size", 1)
    size = size if isinstance(size, int) else 1
    if zero_stage(config) == 3 and 1 < size < context.world_size and context.world_size % size:
        yield found(
            Severity.ERROR,
            f"{_ZERO}/zero_hpz_partition_size",
            f"zero_optimization.zero_hpz_partition_size: {size} does not divide the {context.world_size} ranks "
            f"({context.devices}).",
            "Use the number of GPUs of one node.",
            _write(f"{_ZERO}/zero_hpz_partition_size", str(context.gpus_per_node)),
        )


_QUANTIZED = rule(
    "DS048",
    "Quantized gradients and managed accumulation",
    f"{_STAGE_3}, {_ENGINE}: _do_sanity_check",
    Clash(
        f"{_ZERO}/zero_quantized_gradients",
        lambda config, context: (
            zero_stage(config) == 3
            and truth(_zero(config, "zero_quantized_gradients")) is True
            and truth(_zero(config, "reduce_scatter", True)) is False
        ),
        "zero_optimization.zero_quantized_gradients: needs reduce_scatter, which is off.",
        "Switch reduce_scatter on.",
        fix=_write(f"{_ZERO}/reduce_scatter", "true", "Switch reduce_scatter on"),
    ),
    Clash(
        "/managed_gradient_accumulation",
        lambda config, context: _no_wait(config) and zero_stage(config) < 2 and _overlaps(config),
        "managed_gradient_accumulation: false goes with overlap_comm at ZeRO stage 2 and up only.",
        "Switch zero_optimization.overlap_comm off, or leave managed_gradient_accumulation out.",
        "0.19.4",
        _write(f"{_ZERO}/overlap_comm", "false", "Switch overlap_comm off"),
    ),
    Clash(
        "/managed_gradient_accumulation",
        lambda config, context: _no_wait(config) and truth(value_or(config, "/compile/deepcompile", False)) is True,
        "managed_gradient_accumulation: false does not work with DeepCompile.",
        "Leave it out, or switch compile.deepcompile off.",
        "0.19.4",
        Fix("Remove managed_gradient_accumulation", (Change("/managed_gradient_accumulation", None),)),
    ),
)
_GATHER = f"{_ZERO}/stage3_gather_16bit_weights_on_model_save"
_SAVING = rule(
    "DS049",
    "Saving at stage 3",
    f"{_ENGINE}: save_16bit_model",
    Clash(
        _GATHER,
        lambda config, context: (
            zero_stage(config) == 3
            and value_or(config, _GATHER, False) in (False, "auto")
            and not is_set(config, f"{_ZERO}/stage3_gather_fp16_weights_on_model_save")
        ),
        "zero_optimization.stage3_gather_16bit_weights_on_model_save: off, so a save writes shards and no model file.",
        "Switch it on, or run zero_to_fp32.py, which lies in the checkpoint, afterwards.",
        fix=_write(_GATHER, "true", "Gather the model when saving"),
        severity=Severity.NOTE,
    ),
)

RULES = (
    _PRESCALE,
    _SUM,
    _NORM,
    _BUCKETS,
    _LEGACY,
    _OFFLOAD,
    _ZENFLOW,
    Rule("DS047", "Secondary partitions against the ranks", "deepspeed/utils/groups.py", _groups),
    _QUANTIZED,
    _SAVING,
)
