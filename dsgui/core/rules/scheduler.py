"""The learning-rate scheduler: is its type known, does it take these parameters, do they make sense together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, join, lookup
from dsgui.core.rules.base import Config, Rule, all_of, found, name_of, removal, zero_stage
from dsgui.core.rules.keys import nearest
from dsgui.core.texts.saying import listed

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
    name = lookup(config, _TYPE)
    if name in (MISSING, None):
        yield from _no_type(config, context)
    if not isinstance(name, str) or name in SIGNATURES:
        return
    if name in TORCH_NAMES:
        if zero_stage(config) > 0:
            yield found(
                Severity.ERROR,
                _TYPE,
                "DS055.torch",
                name=name,
                schedulers=listed(SIGNATURES),
            )
        return
    near = nearest(name, (*SIGNATURES, *TORCH_NAMES))
    yield found(
        _severity(config, context),
        _TYPE,
        "DS055.unknown",
        advice="did_you_mean" if near else "DS055.choose",
        fix=Fix.of("use", Change(_TYPE, f'"{near}"'), value=near) if near else None,
        name=name,
        schedulers=listed(SIGNATURES),
        near=near,
    )


def _no_type(config: Config, context: Context) -> Iterator[Finding]:
    """transformers, integrations/deepspeed.py: deepspeed_optim_sched leaves the scheduler to such a block, and what
    stands for it has no `get_last_lr`."""
    block, given = config.get("scheduler"), lookup(config, _PARAMS)
    is_hf = context.integration is Integration.HF
    if isinstance(block, dict) and (is_hf or given not in (MISSING, None, {})):
        yield found(
            Severity.ERROR if is_hf else Severity.WARNING,
            _TYPE,
            "DS055.no_type_hf" if is_hf else "DS055.no_type",
            advice="DS055.choose_or_remove",
            fix=None if given not in (MISSING, None, {}) else removal("/scheduler"),
            schedulers=listed(SIGNATURES),
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
            "DS056.missing",
            fix=None if signature.required else Fix.of("add_parameters", Change(_PARAMS, "{}")),
            name=name,
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
    return found(
        Severity.ERROR,
        pointer,
        "DS056.of_another" if takers else "DS056.refused",
        advice="did_you_mean" if near else "DS056.refused",
        fix=fix,
        key=key,
        name=name,
        near=near,
        takers=all_of(takers or [""]),
    )


def _missing(key: str, name: str, context: Context) -> Finding:
    pointer = join(("scheduler", "params", key))
    fillable = context.integration is Integration.HF and key == "total_num_steps"
    return found(
        Severity.ERROR,
        pointer,
        "DS056.required",
        advice="DS056.write_auto" if fillable else "DS056.give",
        fix=Fix.of("write_text", Change(pointer, '"auto"'), value="auto") if fillable else None,
        key=key,
        name=name,
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
            "DS057.short",
            total=f"{total:g}",
            warmup=f"{warmup:g}",
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
            "DS057.fraction",
            fix=Fix.of("write", Change(pointer, str(int(value))), value=str(int(value))),
            key=key,
            value=f"{value!r}",
            whole=str(int(value)),
        )


def _no_warmup() -> Finding:
    pointer = f"{_PARAMS}/warmup_num_steps"
    return found(
        Severity.ERROR,
        pointer,
        "DS057.no_warmup",
        fix=Fix.of("write_text", Change(pointer, '"auto"'), value="auto"),
    )


def _ratios(config: Config, context: Context) -> Iterator[Finding]:
    name = name_of(config, "scheduler")
    for key in ("warmup_min_ratio", "cos_min_ratio") if name == "WarmupCosineLR" else ():
        value = lookup(config, f"{_PARAMS}/{key}")
        if _is_number(value) and not 0 <= value <= 1:
            yield found(
                Severity.WARNING,
                f"{_PARAMS}/{key}",
                "DS059.no_share",
                key=key,
                value=f"{value:g}",
            )
    least, most = (lookup(config, f"{_PARAMS}/warmup_{end}_lr") for end in ("min", "max"))
    if name in ("WarmupLR", "WarmupDecayLR") and _is_number(least) and _is_number(most) and least > most:
        yield found(
            Severity.WARNING,
            f"{_PARAMS}/warmup_min_lr",
            "DS059.falling",
            least=f"{least:g}",
            most=f"{most:g}",
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


RULES = (
    Rule(
        "DS055",
        f"{_ENGINE}: _scheduler_from_config",
        _known_type,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS056",
        f"{_ENGINE}: _scheduler_from_config",
        _parameters,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS057",
        f"{_SCHEDULES}: WarmupLR",
        _steps,
        (Severity.ERROR, Severity.WARNING),
    ),
    Rule(
        "DS059",
        f"{_SCHEDULES}: WarmupCosineLR",
        _ratios,
        (Severity.WARNING,),
    ),
)
