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

CHECKED_SINCE = "0.19.3"
_DIVISOR = ("loss_scale_window", 0)  # steps are counted modulo the window: the first one divides by zero


def _loss_scale(config: Config, context: Context) -> Iterator[Finding]:
    """What fp16's dynamic loss scale can't work with; a fixed scale reads neither key."""
    if not (enabled(config, "fp16", context) and value_or(config, "/fp16/loss_scale", 0) in (0, "auto")):
        return
    for key, effect in (
        ("loss_scale_window", "the scale is raised every so many steps"),
        ("min_loss_scale", "a floor"),
    ):
        value = lookup(config, f"/fp16/{key}")
        if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
            yield found(
                Severity.ERROR if context.at_least(CHECKED_SINCE) or (key, value) == _DIVISOR else Severity.WARNING,
                f"/fp16/{key}",
                f"fp16.{key}: {value:g} is not above 0, and the loss scale is dynamic ({effect}).",
                "Give a positive number, or clear it for the default.",
                clearing(f"/fp16/{key}"),
            )


_STEERING = ("initial_scale_power", "loss_scale_window", "hysteresis", "min_loss_scale", "consecutive_hysteresis")


def _scale_meaning(config: Config, context: Context) -> Iterator[Finding]:
    scale = lookup(config, "/fp16/loss_scale")
    if not enabled(config, "fp16", context) or isinstance(scale, bool) or not isinstance(scale, int | float):
        return
    power = value_or(config, "/fp16/initial_scale_power", 16)
    unread = [key for key in _STEERING if key in config["fp16"]]
    if scale == 0 and isinstance(power, int) and 0 <= power <= 64:
        message = f"fp16.loss_scale: 0 means a dynamic scale; it starts at 2^{power} = {2**power:,}."
        yield found(Severity.NOTE, "/fp16/loss_scale", message, code="dynamic")
    elif scale > 0 and unread:
        message = f"fp16.loss_scale: {scale:g} is a fixed scale, so DeepSpeed does not read {', '.join(unread)}."
        fix = Fix.of("make_dynamic", Change("/fp16/loss_scale", "0"))
        yield found(Severity.NOTE, "/fp16/loss_scale", message, "Write 0 for a dynamic scale.", fix)


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
            f"fp16.loss_scale: {scale:g} is a fixed scale; without ZeRO, DeepSpeed {version(context)} stops at the "
            "first step (a TypeError: it made no timers for that case).",
            f"Write 0 for a dynamic scale, use ZeRO stage 1, or DeepSpeed {FIXED_SCALE_WORKS_SINCE} or newer.",
            Fix.of("make_dynamic", Change("/fp16/loss_scale", "0")),
        )


RULES = (
    Rule(
        "DS022",
        "fp16 dynamic loss scale",
        "deepspeed/runtime/precision_config.py",
        _loss_scale,
        "With loss_scale 0 DeepSpeed raises the scale every loss_scale_window steps and never lets it fall below "
        "min_loss_scale, so both must be above 0. Since 0.19.3 it checks that; older releases divide by zero or let "
        "the scale fall to nothing later in the run.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS026",
        "What the loss scale means",
        "deepspeed/runtime/config.py: get_dynamic_loss_scale_args",
        _scale_meaning,
        "fp16.loss_scale 0 does not switch scaling off: it makes the scale dynamic, starting at 2 to the power of "
        "initial_scale_power. Any other number is a fixed scale, and then DeepSpeed reads none of the keys that steer "
        "a dynamic one. A fixed scale never reacts to an overflow; prefer 0.",
        (Severity.NOTE,),
    ),
    Rule(
        "DS028",
        "A fixed loss scale without ZeRO",
        "deepspeed/runtime/engine.py: _configure_fp16_optimizer",
        _fixed_scale,
        "Before 0.17.1 DeepSpeed made its fp16 optimizer without timers when the loss scale was fixed, and starts one "
        "at each step, so training without ZeRO stops at the first with “'NoneType' object is not callable”. A "
        "dynamic scale or any ZeRO stage from 1 goes another way.",
        until=FIXED_SCALE_WORKS_SINCE,
    ),
)
