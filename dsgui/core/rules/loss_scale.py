"""fp16's loss scale: what a dynamic one needs, what a fixed one does not read, and where a fixed one fails."""

from collections.abc import Iterator

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.rules.base import (
    Config,
    Rule,
    clearing,
    enabled,
    found,
    name_of,
    offload_device,
    value_or,
    version,
    zero_stage,
)
from dsgui.core.rules.optimizer import optimizer_class
from dsgui.core.texts.saying import listed

CHECKED_SINCE = "0.19.3"
_DIVISOR = ("loss_scale_window", 0)  # steps are counted modulo the window: the first one divides by zero


def _loss_scale(config: Config, context: Context) -> Iterator[Finding]:
    """What fp16's dynamic loss scale can't work with; a fixed scale reads neither key."""
    if not (enabled(config, "fp16", context) and value_or(config, "/fp16/loss_scale", 0) in (0, "auto")):
        return
    for key, code in (("loss_scale_window", "DS022.window"), ("min_loss_scale", "DS022.minimum")):
        value = lookup(config, f"/fp16/{key}")
        if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
            yield found(
                Severity.ERROR if context.at_least(CHECKED_SINCE) or (key, value) == _DIVISOR else Severity.WARNING,
                f"/fp16/{key}",
                code,
                advice="DS022.positive",
                fix=clearing(f"/fp16/{key}"),
                value=f"{value:g}",
            )


_STEERING = ("initial_scale_power", "loss_scale_window", "hysteresis", "min_loss_scale", "consecutive_hysteresis")


def _scale_meaning(config: Config, context: Context) -> Iterator[Finding]:
    scale = lookup(config, "/fp16/loss_scale")
    if not enabled(config, "fp16", context) or isinstance(scale, bool) or not isinstance(scale, int | float):
        return
    power = value_or(config, "/fp16/initial_scale_power", 16)
    unread = [key for key in _STEERING if key in config["fp16"]]
    if scale == 0 and isinstance(power, int) and 0 <= power <= 64:
        yield found(Severity.NOTE, "/fp16/loss_scale", "DS026.dynamic", power=str(power), scale=f"{2**power:,}")
    elif scale > 0 and unread:
        fix = Fix.of("make_dynamic", Change("/fp16/loss_scale", "0"))
        keys = listed(unread)
        yield found(Severity.NOTE, "/fp16/loss_scale", "DS026.fixed", fix=fix, scale=f"{scale:g}", keys=keys)


FIXED_SCALE_WORKS_SINCE = "0.17.1"


def _fixed_scale(config: Config, context: Context) -> Iterator[Finding]:
    """FP16_Optimizer was made without timers for a fixed scale alone, and its step starts one."""
    scale, name = lookup(config, "/fp16/loss_scale"), name_of(config, "optimizer").lower()
    fused = name in ("adam", "adamw") and optimizer_class(config) == "FusedAdam"
    plain = zero_stage(config) == 0 and offload_device(config, "offload_optimizer") == "none"
    if context.at_least(FIXED_SCALE_WORKS_SINCE) or not (fused and plain and enabled(config, "fp16", context)):
        return
    if isinstance(scale, int | float) and not isinstance(scale, bool) and scale > 0:
        yield found(
            Severity.ERROR,
            "/fp16/loss_scale",
            "DS028.fixed",
            fix=Fix.of("make_dynamic", Change("/fp16/loss_scale", "0")),
            scale=f"{scale:g}",
            release=version(context),
            since=FIXED_SCALE_WORKS_SINCE,
        )


RULES = (
    Rule(
        "DS022",
        "deepspeed/runtime/precision_config.py",
        _loss_scale,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS026",
        "deepspeed/runtime/config.py: get_dynamic_loss_scale_args",
        _scale_meaning,
        (Severity.NOTE,),
    ),
    Rule(
        "DS028",
        "deepspeed/runtime/engine.py: _configure_fp16_optimizer",
        _fixed_scale,
        until=FIXED_SCALE_WORKS_SINCE,
    ),
)
