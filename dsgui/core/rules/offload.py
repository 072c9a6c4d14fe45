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
    f"{_CONFIG}, {_STAGE_3}",
    Clash(
        pointer=f"{ZERO}/offload_optimizer/ratio",
        when=lambda config, context: _partial(config),
        says="DS045.partial",
        since="0.15.0",
        fix=removal(f"{ZERO}/offload_optimizer/ratio"),
    ),
    *(
        Clash(
            pointer=f"{ZERO}/{what}/nvme_path",
            when=lambda config, context, what=what: _without_path(config, what),  # type: ignore[misc]
            says="DS045.no_path",
            given={"what": what},
        )
        for what in ("offload_optimizer", "offload_param")
    ),
    Clash(
        pointer=f"{ZERO}/offload_param",
        when=lambda config, context: offload_device(config, "offload_param") != "none" and zero_stage(config) < 3,
        says="DS045.parameters",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer=f"{ZERO}/offload_optimizer/device",
        when=lambda config, context: (
            offload_device(config, "offload_optimizer") == "nvme" and zero_stage(config) in (1, 2)
        ),
        says="DS045.nvme",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer=f"{ZERO}/offload_optimizer",
        when=lambda config, context: (
            zero_stage(config) == 0 and offload_device(config, "offload_optimizer") != "none" and _on_a_gpu(context)
        ),
        says="DS045.stage_0",
    ),
)
_ZENFLOW_BLOCK = f"{ZERO}/zenflow"
_ZENFLOW = rule(
    "DS046",
    "deepspeed/runtime/zenflow/engine.py",
    Clash(
        pointer=_ZENFLOW_BLOCK,
        when=lambda config, context: has_zenflow(config) and zero_stage(config) == 0,
        says="DS046.stage_0",
        since="0.17.5",
    ),
    Clash(
        pointer=_ZENFLOW_BLOCK,
        when=lambda config, context: (
            has_zenflow(config) and zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "cpu"
        ),
        says="DS046.offload",
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
        says="DS046.no_parameters",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: (
            value_or(config, f"{_ZENFLOW_BLOCK}/select_strategy", "auto") == "auto"
            and isinstance(lookup(config, f"{_ZENFLOW_BLOCK}/select_interval"), int)
        ),
        says="DS046.interval_chosen",
        since="0.17.5",
        fix=removal(f"{_ZENFLOW_BLOCK}/select_interval"),
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: (
            lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") in ("step", "epoch")
            and lookup(config, f"{_ZENFLOW_BLOCK}/select_interval") in ("auto", MISSING)
        ),
        says="DS046.interval_missing",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/select_interval",
        when=lambda config, context: _select_before_update(config),
        says="DS046.interval_short",
        since="0.17.5",
    ),
    Clash(
        pointer=f"{_ZENFLOW_BLOCK}/offload",
        when=lambda config, context: (
            truth(lookup(config, f"{_ZENFLOW_BLOCK}/offload")) is True
            and truth(zero_key(config, "overlap_comm")) is False
        ),
        says="DS046.overlap",
        since="0.17.5",
        fix=switched_on(f"{ZERO}/overlap_comm"),
    ),
    since="0.17.5",
)


def _select_before_update(config: Config) -> bool:
    select, update = (lookup(config, f"{_ZENFLOW_BLOCK}/{key}_interval") for key in ("select", "update"))
    steps = lookup(config, f"{_ZENFLOW_BLOCK}/select_strategy") == "step"
    return steps and isinstance(select, int) and isinstance(update, int) and select < update


RULES = (_OFFLOAD, _ZENFLOW)
