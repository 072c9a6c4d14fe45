"""The learning-rate scheduler: is its type known, does it take these parameters, do they make sense together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, join, lookup
from dsgui.core.rules.base import Config, Rule, found, name_of, removal, zero_stage
from dsgui.core.rules.keys import nearest

_ENGINE, _SCHEDULES = "deepspeed/runtime/engine.py", "deepspeed/runtime/lr_schedules.py"
_TYPE, _PARAMS = "/scheduler/type", "/scheduler/params"
WARMUP_CHECKED_SINCE, INTERVAL_CHECKED_SINCE = "0.19.3", "0.19.4"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a scheduler class takes, apart from the optimizer; `required` ones have no default."""

    optional: tuple[str, ...]
    required: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


_WARMUP = ("warmup_min_lr", "warmup_max_lr", "warmup_num_steps", "warmup_type", "last_batch_iteration")
SIGNATURES = {
    "LRRangeTest": Signature(
        (
            *("lr_range_test_min_lr", "lr_range_test_step_size", "lr_range_test_step_rate"),
            *("lr_range_test_staircase", "last_batch_iteration"),
        )
    ),
    "OneCycle": Signature(
        (
            *("decay_lr_rate", "cycle_first_step_size", "cycle_second_step_size", "cycle_first_stair_count"),
            *("cycle_second_stair_count", "decay_step_size", "cycle_momentum", "cycle_min_mom", "cycle_max_mom"),
            *("decay_mom_rate", "last_batch_iteration"),
        ),
        ("cycle_min_lr", "cycle_max_lr"),
    ),
    "WarmupLR": Signature(_WARMUP),
    "WarmupDecayLR": Signature(_WARMUP, ("total_num_steps",)),
    "WarmupCosineLR": Signature(
        ("warmup_min_ratio", "warmup_num_steps", "cos_min_ratio", "warmup_type", "last_batch_iteration"),
        ("total_num_steps",),
    ),
}
# The step counts whose type is checked, and since when; the three warm-up schedulers share one.
_WHOLE = {
    "Warmup": ("warmup_num_steps", WARMUP_CHECKED_SINCE),
    "LRRangeTest": ("lr_range_test_step_size", INTERVAL_CHECKED_SINCE),
}
# The classes of torch.optim.lr_scheduler that a file can name (they take an optimizer and plain values).
TORCH_NAMES = (
    *("ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LambdaLR"),
    *("LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau"),
    *("ChainedScheduler", "SequentialLR", "StepLR", "LRScheduler"),
)


def _known_type(config: Config, context: Context) -> Iterator[Finding]:
    name = name_of(config, "scheduler")
    if not name or name in SIGNATURES:
        return
    if name in TORCH_NAMES:
        if zero_stage(config) > 0:
            yield found(
                Severity.ERROR,
                _TYPE,
                f"scheduler.type: {name} is PyTorch's, which wants a plain optimizer; ZeRO wraps it, and PyTorch "
                "stops with “… is not an Optimizer”.",
                f"Choose one of {', '.join(SIGNATURES)}, or make the scheduler in the script.",
            )
        return
    near = nearest(name, (*SIGNATURES, *TORCH_NAMES))
    yield found(
        _severity(config, context),
        _TYPE,
        f"scheduler.type: DeepSpeed knows no scheduler “{name}” (upper and lower case count).",
        f"Did you mean {near}?" if near else f"Choose one of {', '.join(SIGNATURES)}.",
        Fix.of("use", Change(_TYPE, f'"{near}"'), value=near) if near else None,
    )


def _severity(config: Config, context: Context) -> Severity:
    """Natively the scheduler is made for an optimizer: without one in the file, it depends on the script."""
    made = name_of(config, "optimizer") or context.integration is Integration.HF
    return Severity.ERROR if made else Severity.WARNING


def _parameters(config: Config, context: Context) -> Iterator[Finding]:
    severity = _severity(config, context)
    for finding in _signature_findings(config, context):
        yield replace(finding, severity=severity)


def _signature_findings(config: Config, context: Context) -> Iterator[Finding]:
    name, given = name_of(config, "scheduler"), lookup(config, _PARAMS)
    signature = SIGNATURES.get(name)
    if signature is None:
        return
    if given in (MISSING, None):
        yield found(
            Severity.ERROR,
            _PARAMS,
            f"scheduler.params: missing; DeepSpeed makes {name} from it and stops with a TypeError, even for "
            "defaults alone.",
            "Give the parameters, or an empty object.",
            None if signature.required else Fix.of("add_parameters", Change(_PARAMS, "{}")),
        )
    elif isinstance(given, dict):
        yield from (_refused(key, name, signature, tuple(given)) for key in given if key not in signature.all)
        for key in signature.required:
            if key not in given:
                yield _missing(key, name, context)


def _refused(key: str, name: str, signature: Signature, given: tuple[str, ...]) -> Finding:
    pointer, near = join(("scheduler", "params", key)), nearest(key, signature.all)
    fix = removal(pointer)
    if near and near not in given:
        fix = Fix.of("rename", Change(pointer, None, near), key=near)
    takers = [other for other, theirs in SIGNATURES.items() if key in theirs.all]
    hint = f" {' and '.join(takers)} would." if takers else ""
    return found(
        Severity.ERROR,
        pointer,
        f"scheduler.params.{key}: {name} takes no such parameter and stops with a TypeError.{hint}",
        f"Did you mean {near}?" if near else "Remove it, or choose the scheduler that takes it.",
        fix,
    )


def _missing(key: str, name: str, context: Context) -> Finding:
    pointer = join(("scheduler", "params", key))
    fillable = context.integration is Integration.HF and key == "total_num_steps"
    return found(
        Severity.ERROR,
        pointer,
        f"scheduler.params.{key}: {name} needs it and stops with a TypeError without it.",
        "Write “auto”, and the HF Trainer fills it." if fillable else f"Give {key}.",
        Fix.of("write_text", Change(pointer, '"auto"'), value="auto") if fillable else None,
    )


def _steps(config: Config, context: Context) -> Iterator[Finding]:
    yield from _whole_steps(config, context)
    if not name_of(config, "scheduler").startswith("Warmup"):
        return
    warmup, total = (lookup(config, f"{_PARAMS}/{key}") for key in ("warmup_num_steps", "total_num_steps"))
    if context.integration is Integration.HF and warmup == 0 and not context.at_least(WARMUP_CHECKED_SINCE):
        yield _no_warmup()
    if _is_number(warmup) and _is_number(total) and total < warmup:
        yield found(
            Severity.WARNING,
            f"{_PARAMS}/total_num_steps",
            f"scheduler.params.total_num_steps: {total:g} is less than warmup_num_steps {warmup:g}, so the learning "
            "rate never comes down.",
            "Raise it to the steps of the whole run, or shorten the warm-up.",
        )


def _whole_steps(config: Config, context: Context) -> Iterator[Finding]:
    """hjson makes 100.0 a whole number; the HF Trainer's json keeps the fraction, and DeepSpeed checks the type."""
    kind = name_of(config, "scheduler")
    key, since = _WHOLE.get("Warmup" if kind.startswith("Warmup") else kind, ("", ""))
    value = lookup(config, f"{_PARAMS}/{key}")
    kept = bool(key) and context.integration is Integration.HF and context.at_least(since)
    if kept and isinstance(value, float) and value == int(value) > 0:
        pointer = f"{_PARAMS}/{key}"
        yield found(
            Severity.ERROR,
            pointer,
            f"scheduler.params.{key}: {value!r} is written as a fraction; the HF Trainer keeps it as one, and the "
            "scheduler wants a whole number (natively DeepSpeed turns it into one).",
            f"Write {int(value)}.",
            Fix.of("write", Change(pointer, str(int(value))), value=str(int(value))),
        )


def _no_warmup() -> Finding:
    pointer = f"{_PARAMS}/warmup_num_steps"
    return found(
        Severity.ERROR,
        pointer,
        "scheduler.params.warmup_num_steps: 0 never equals the HF Trainer's --warmup_steps, which it counts as 1 or "
        "more, and it stops at the difference.",
        "Write “auto”, and the Trainer's argument decides.",
        Fix.of("write_text", Change(pointer, '"auto"'), value="auto"),
    )


def _ratios(config: Config, context: Context) -> Iterator[Finding]:
    name = name_of(config, "scheduler")
    for key in ("warmup_min_ratio", "cos_min_ratio") if name == "WarmupCosineLR" else ():
        value = lookup(config, f"{_PARAMS}/{key}")
        if _is_number(value) and not 0 <= value <= 1:
            yield found(
                Severity.WARNING,
                f"{_PARAMS}/{key}",
                f"scheduler.params.{key}: {value:g} is no share of the learning rate; DeepSpeed takes it all the same.",
                "Give a number from 0 to 1.",
            )
    least, most = (lookup(config, f"{_PARAMS}/warmup_{end}_lr") for end in ("min", "max"))
    if name in ("WarmupLR", "WarmupDecayLR") and _is_number(least) and _is_number(most) and least > most:
        yield found(
            Severity.WARNING,
            f"{_PARAMS}/warmup_min_lr",
            f"scheduler.params.warmup_min_lr: {least:g} is above warmup_max_lr {most:g}, so the rate falls in warm-up.",
            "Exchange them.",
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


RULES = (
    Rule(
        "DS055",
        "Scheduler type",
        f"{_ENGINE}: _scheduler_from_config",
        _known_type,
        "DeepSpeed has five schedulers of its own, whose names are read letter by letter, and takes classes of "
        "torch.optim.lr_scheduler. PyTorch's want a plain optimizer and stop at the one that ZeRO wraps around it. "
        "Without an optimizer in the file the block is read only if the script passes one.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS056",
        "Scheduler parameters",
        f"{_ENGINE}: _scheduler_from_config",
        _parameters,
        "scheduler.params go to the scheduler's class as they are. Each takes names of its own: WarmupLR no "
        "total_num_steps, WarmupCosineLR no warmup_max_lr. A name too many, one that is missing, or no params at all "
        "stops with a TypeError.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS057",
        "Warm-up steps",
        f"{_SCHEDULES}: WarmupLR",
        _steps,
        "The step counts of a scheduler are whole numbers. Natively the file is read in a way that turns 100.0 into "
        "100; the HF Trainer keeps the fraction, and DeepSpeed's check of the type stops. A total that is less than "
        "the warm-up leaves no time for the rate to come down.",
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS059",
        "Ratios and rates that run the wrong way",
        f"{_SCHEDULES}: WarmupCosineLR",
        _ratios,
        "warmup_min_ratio and cos_min_ratio are shares of the learning rate: the warm-up starts at the one and the "
        "cosine ends at the other. DeepSpeed does not check them, so below 0 the model is trained uphill and above 1 "
        "the rate rises where it should fall; likewise a warm-up whose least rate is above its greatest.",
        (Severity.WARNING,),
    ),
)
