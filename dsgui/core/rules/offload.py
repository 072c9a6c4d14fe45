"""Moving ZeRO's states to the host or to NVMe: against the stage, the device, and ZenFlow's conditions."""

from dsgui.core.config.context import Context
from dsgui.core.config.conversion import truth
from dsgui.core.config.findings import Change, Fix, Severity
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.rules.base import (
    ZERO,
    Config,
    is_set,
    offload_device,
    removal,
    switched_on,
    value_or,
    zero_key,
    zero_stage,
)
from dsgui.core.rules.clash import Clash, rule

_CONFIG, _STAGE_3 = "deepspeed/runtime/zero/config.py", "deepspeed/runtime/zero/stage3.py"


def has_zenflow(config: Config) -> bool:
    return isinstance(zero_key(config, "zenflow"), dict)


def _partial(config: Config) -> bool:
    ratio = value_or(config, f"{ZERO}/offload_optimizer/ratio", 1.0)
    return isinstance(ratio, int | float) and ratio < 1 and zero_stage(config) != 3


def _without_path(config: Config, what: str) -> bool:
    is_nvme = zero_stage(config) == 3 and offload_device(config, what) == "nvme"
    return is_nvme and not is_set(config, f"{ZERO}/{what}/nvme_path")


def _on_a_gpu(context: Context) -> bool:
    return any(device.vendor != "cpu" for device in context.hardware)


_OFFLOAD = rule(
    "DS045",
    "Offload against the stage",
    f"{_CONFIG}, {_STAGE_3}",
    Clash(
        pointer=f"{ZERO}/offload_optimizer/ratio",
        when=lambda config, context: _partial(config),
        says="zero_optimization.offload_optimizer.ratio: only ZeRO stage 3 can offload a part of the optimizer.",
        advice="Leave it out, or use stage 3.",
        since="0.15.0",
        fix=removal(f"{ZERO}/offload_optimizer/ratio"),
    ),
    *(
        Clash(
            pointer=f"{ZERO}/{what}/nvme_path",
            when=lambda config, context, what=what: _without_path(config, what),  # type: ignore[misc]
            says=f"zero_optimization.{what}.nvme_path: missing; with device nvme at stage 3 DeepSpeed has nowhere "
            "to write.",
            advice="Give a folder on a local NVMe drive.",
        )
        for what in ("offload_optimizer", "offload_param")
    ),
    Clash(
        pointer=f"{ZERO}/offload_param",
        when=lambda config, context: offload_device(config, "offload_param") != "none" and zero_stage(config) < 3,
        says="zero_optimization.offload_param: only stage 3 divides parameters; below it DeepSpeed ignores the block.",
        advice="Use stage 3, or remove the block.",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer=f"{ZERO}/offload_optimizer/device",
        when=lambda config, context: (
            offload_device(config, "offload_optimizer") == "nvme" and zero_stage(config) in (1, 2)
        ),
        says="zero_optimization.offload_optimizer.device: at stage 1 and 2 “nvme” is treated as “cpu”: nothing goes "
        "to the drive.",
        advice="Write “cpu”, or use stage 3.",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer=f"{ZERO}/offload_optimizer",
        when=lambda config, context: (
            zero_stage(config) == 0 and offload_device(config, "offload_optimizer") != "none" and _on_a_gpu(context)
        ),
        says="zero_optimization.offload_optimizer: at stage 0 it passes deepspeed.initialize, and the first step on a "
        "GPU stops: "
        "DeepSpeed's CPU optimizer meets parameters on the GPU.",
        advice="Use stage 1 or higher, or remove the block.",
    ),
    explanation="What offload does depends on the ZeRO stage. Parameters are divided only at stage 3, so below it "
    "offload_param is ignored; an optimizer “on NVMe” at stage 1 and 2 lies in host memory; a part of the "
    "optimizer can be offloaded at stage 3 only, and NVMe needs a folder. At stage 0 an offloaded optimizer "
    "passes deepspeed.initialize and fails at the first step on a GPU.",
)
_ZENFLOW_BLOCK = f"{ZERO}/zenflow"
_ZENFLOW = rule(
    "DS046",
    "ZenFlow",
    "deepspeed/runtime/zenflow/engine.py",
    Clash(
        pointer=_ZENFLOW_BLOCK,
        when=lambda config, context: has_zenflow(config) and zero_stage(config) == 0,
        says="zero_optimization.zenflow: works on ZeRO's gradients; at stage 0 the first step stops.",
        advice="Use stage 1 or higher, or remove the block.",
        since="0.17.5",
    ),
    Clash(
        pointer=_ZENFLOW_BLOCK,
        when=lambda config, context: (
            has_zenflow(config) and zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "cpu"
        ),
        says="zero_optimization.zenflow: needs the optimizer in host memory, and offload_optimizer.device is not "
        "“cpu”.",
        advice="Offload the optimizer to the CPU.",
        since="0.17.5",
        fix=Fix.of("offload_optimizer", Change(f"{ZERO}/offload_optimizer/device", '"cpu"')),
    ),
    Clash(
        pointer=_ZENFLOW_BLOCK,
        when=lambda config, context: (
            has_zenflow(config)
            and zero_stage(config) in (1, 2)
            and offload_device(config, "offload_optimizer") == "cpu"
            and lookup(config, "/optimizer/params") in (MISSING, None)
        ),
        says="zero_optimization.zenflow: below stage 3 DeepSpeed makes a second optimizer with optimizer.params of "
        "this "
        "file, and stops with a TypeError where the file has none.",
        advice="Choose the optimizer here, with its params (an empty object will do), or use stage 3.",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: (
            value_or(config, f"{_ZENFLOW_BLOCK}/select_strategy", "auto") == "auto"
            and isinstance(lookup(config, f"{_ZENFLOW_BLOCK}/select_interval"), int)
        ),
        says="zero_optimization.zenflow.select_interval: the strategy “auto” chooses the interval itself and refuses "
        "a number.",
        advice="Leave it out, or choose the strategy “step” or “epoch”.",
        since="0.17.5",
        fix=removal(f"{_ZENFLOW_BLOCK}/select_interval"),
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: (
            lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") in ("step", "epoch")
            and lookup(config, f"{_ZENFLOW_BLOCK}/select_interval") in ("auto", MISSING)
        ),
        says="zero_optimization.zenflow.select_interval: the strategies “step” and “epoch” need a number.",
        advice="Give the number of steps or epochs.",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: _select_before_update(config),
        says="zero_optimization.zenflow.select_interval: gradients can't be selected more often than they are applied "
        "(update_interval).",
        advice="Raise select_interval to update_interval or more.",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/offload",
        when=lambda config, context: (
            truth(lookup(config, f"{_ZENFLOW_BLOCK}/offload")) is True
            and truth(zero_key(config, "overlap_comm")) is False
        ),
        says="zero_optimization.zenflow.offload: the offloaded selective optimizer needs overlap_comm, which is off.",
        advice="Switch overlap_comm on.",
        since="0.17.5",
        fix=switched_on(f"{ZERO}/overlap_comm"),
    ),
    explanation="ZenFlow updates the most important gradients at once on the GPU and the rest later on the CPU. It "
    "needs ZeRO and the optimizer offloaded to the CPU, an interval that fits its strategy, and overlap_comm when its "
    "own optimizer is offloaded; DeepSpeed checks these one after the other.",
    since="0.17.5",
)


def _select_before_update(config: Config) -> bool:
    select, update = (lookup(config, f"{_ZENFLOW_BLOCK}/{key}_interval") for key in ("select", "update"))
    steps = lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") == "step"
    return steps and isinstance(select, int) and isinstance(update, int) and select < update


RULES = (_OFFLOAD, _ZENFLOW)
