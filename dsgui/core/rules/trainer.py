"""What the HF Trainer and accelerate do with a config before DeepSpeed sees it."""

import json
from collections.abc import Collection, Iterator, Set
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.conversion import meant_literal
from dsgui.core.config.filling import (
    ACCUMULATION,
    ARGUMENTS,
    MICRO,
    NO_ATTRIBUTE,
    NO_ZERO_BLOCK,
    STEPS,
    TRAIN,
    WARMUP,
    Mismatch,
    Stop,
    fill,
)
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import dotted, lookup
from dsgui.core.rules.base import Config, Rule, advised, all_of, found, name_of, number, removal, write_auto, zero_stage
from dsgui.core.texts.saying import Said, listed, phrase

_DEFAULTS = TrainingArguments()
_BATCH_TERMS = ("per_device_train_batch_size", "gradient_accumulation_steps")
_TYPES = ("/fp16/enabled", "/bf16/enabled")
_WRITTEN_OUT = 1e16
# What the Trainer says before the list of all that differs.
DIFFERING = "Please correct the following DeepSpeed config values that mismatch TrainingArguments values: "


def _trainer_arguments(config: Config, context: Context) -> Iterator[Finding]:
    if context.integration is not Integration.HF:
        return
    apart = _apart(config)
    yield from apart.values()
    if context.arguments is None:
        yield from _never_equal(config, context)
        yield from _needed_arguments(config, None, apart)
        yield from _needed_batch(config, context)
    else:
        filled = fill(config, context.arguments, context)
        earlier = {stop.pointer: stop.said.removesuffix(".") for stop in filled.stops}
        types = [mismatch for mismatch in filled.mismatches if mismatch.pointer in _TYPES]
        if len({bool(one.wanted) for one in types}) == 1:
            types = []  # both are on in the file: two differences
        if len(types) == len(_TYPES):
            yield _other_type(types, earlier, context)
        unmendable = {name for pointer in apart for name in ARGUMENTS[pointer]}
        for mismatch in filled.mismatches:
            if unmendable.isdisjoint(ARGUMENTS.get(mismatch.pointer, ())) and (
                mismatch not in types or len(types) < len(_TYPES)
            ):
                yield _different(mismatch, earlier.get(mismatch.pointer, ""), context)
        yield from _needed_arguments(config, context.arguments.unknown, apart)


def _needed_arguments(config: Config, unknown: Set[str] | None, apart: Collection[str]) -> Iterator[Finding]:
    """What the script has to be given where nobody said what it is; of all arguments, or of those `unknown`. No value
    mends the keys that are `apart`."""
    needed, total = _needed(config, unknown), lookup(config, STEPS)
    for name in (one for pointer in apart for one in ARGUMENTS[pointer]):
        needed.pop(name, None)
    if _is_count(total) and (unknown is None or "max_steps" in unknown):
        needed["max_steps"] = STEPS, f"--max_steps {number(total)}"  # or as many by its epochs
    if needed:
        options = " ".join(option for _, option in needed.values())
        yield found(Severity.NOTE, next(iter(needed.values()))[0], "DS013.needed", options=options)


def _apart(config: Config) -> dict[str, Finding]:
    """Of keys that are compared with the same argument: each that differs from the first, which no value mends."""
    first: dict[str, tuple[str, int | float]] = {}
    told: dict[str, Finding] = {}
    for pointer, name, value in _numbers(config):
        key, other = first.setdefault(name, (pointer, value))
        if value != other:
            values = {"key": dotted(pointer), "seen": json.dumps(value), "other": dotted(key)}
            given = values | {"also": json.dumps(other), "name": name}
            told[pointer] = found(Severity.ERROR, pointer, "DS013.apart", fix=write_auto(pointer), **given)
    return told


def _needed_batch(config: Config, context: Context) -> Iterator[Finding]:
    """A train_batch_size that the arguments have to multiply to, where those that the config itself asks for don't."""
    total = lookup(config, TRAIN)
    if not _is_count(total):
        return
    written = {name: lookup(config, pointer) for pointer, name in zip((MICRO, ACCUMULATION), _BATCH_TERMS, strict=True)}
    terms = [value if _is_number(value) else getattr(_DEFAULTS, name) for name, value in written.items()]
    if total != context.world_size * terms[0] * terms[1]:
        ranks, seen = str(context.world_size), number(total)
        if not all(map(_is_number, written.values())):  # else DeepSpeed itself refuses them
            yield found(Severity.NOTE, TRAIN, "DS013.batch", ranks=ranks, seen=seen)


def _needed(config: Config, unknown: Set[str] | None) -> dict[str, tuple[str, str]]:
    """By the names of the arguments: the key, and the option with its value."""
    needed: dict[str, tuple[str, str]] = {}
    for pointer, name, value in _numbers(config):
        if value != getattr(_DEFAULTS, name) and (unknown is None or name in unknown):
            word = "" if value is True else f" {number(value) if abs(value) < _WRITTEN_OUT else repr(value)}"
            needed.setdefault(name, (pointer, f"--{name}{word}"))
    if {"fp16", "bf16"} <= needed.keys():  # DeepSpeed takes one: DS020 is about that
        del needed["fp16"], needed["bf16"]
    return needed


def needed_options(config: Config) -> tuple[str, ...]:
    """What the HF Trainer has to be given, lest it refuse the config: each option with its value."""
    return tuple(option for _, option in _needed(config, None).values())


def _never_equal(config: Config, context: Context) -> Iterator[Finding]:
    """What no argument can say: a text for a number or a switch, a list of another length. Compared with the defaults,
    which stand for any."""
    filled = fill(config, _DEFAULTS, context)
    earlier = {stop.pointer for stop in filled.stops}
    for mismatch in filled.mismatches:
        if mismatch.pointer not in earlier and not _can_be_said(mismatch.pointer, mismatch.seen):
            yield _different_anyway(mismatch)


def _can_be_said(pointer: str, seen: Any) -> bool:
    """Whether some value of the arguments equals what the file says."""
    if pointer.endswith("/enabled"):
        return isinstance(seen, int | float) and seen in (0, 1)
    names = ARGUMENTS.get(pointer, (TRAIN,))
    if len(names) > 1:
        return isinstance(seen, list) and len(seen) == len(names) and all(isinstance(v, int | float) for v in seen)
    return isinstance(seen, int | float)


def _different_anyway(mismatch: Mismatch) -> Finding:
    pointer, seen = mismatch.pointer, json.dumps(mismatch.seen)
    meant = _sayable(mismatch)
    return found(
        Severity.ERROR,
        pointer,
        "DS013.never",
        advice="DS013.write_meant" if meant else "DS013.write_auto",
        fix=Fix.of("write", Change(pointer, meant), value=meant) if meant else write_auto(pointer),
        key=dotted(pointer),
        expected=_expected(pointer),
        seen=phrase("text") if isinstance(mismatch.seen, str) else seen,
        meant=meant,
    )


def _sayable(mismatch: Mismatch) -> str:
    """What a text says without its quotes that an argument can say as well."""
    literal = meant_literal(mismatch.seen)
    return literal if literal and _can_be_said(mismatch.pointer, json.loads(literal)) else ""


def _expected(pointer: str) -> Said:
    count = len(ARGUMENTS.get(pointer, (TRAIN,)))
    if pointer.endswith("/enabled"):
        return phrase("true_or_false")
    return phrase("number") if count == 1 else phrase("list_of_numbers", count=str(count))


def _numbers(config: Config) -> Iterator[tuple[str, str, int | float]]:
    """Each number that is compared, with its argument: (pointer, argument, number)."""
    for pointer, names in ARGUMENTS.items():
        value = lookup(config, pointer)
        values = value if isinstance(value, list) else [value]
        for name, item in zip(names, values, strict=False):
            if isinstance(item, int | float) and pointer != STEPS:
                yield pointer, name, item


def _different(mismatch: Mismatch, earlier: str, context: Context) -> Finding:
    """`earlier`: what accelerate says of the same value before the Trainer gets to compare it."""
    if mismatch.apart:
        return _different_in_part(mismatch)
    unquoted = _unquoted(mismatch)
    seen, wanted = json.dumps(mismatch.seen), json.dumps(mismatch.wanted)
    pointer, place = mismatch.pointer, _place(mismatch.pointer, context)
    default, names = _is_trainers_default(pointer, context), _named(pointer)
    return found(
        Severity.ERROR,
        pointer,
        "DS013.default" if default else "DS013.different_there" if place else "DS013.different",
        advice=(_agreement(mismatch, wanted, place, context),),
        fix=Fix.of("write", Change(pointer, unquoted), value=unquoted) if unquoted else write_auto(pointer),
        key=dotted(pointer),
        seen=seen,
        wanted=wanted,
        quoted=earlier or DIFFERING + mismatch.said,
        place=place or "",
        names=phrase("in_place", what=names, place=place) if place else names,
    )


def _different_in_part(mismatch: Mismatch) -> Finding:
    """One argument of several is known, and differs: what “auto” would become is not known."""
    told = [f"{name} {number(ours)}" for name, ours, _ in mismatch.apart]
    options = [f"{name} {json.dumps(theirs)}" for name, _, theirs in mismatch.apart]
    return found(
        Severity.ERROR,
        mismatch.pointer,
        "DS013.in_part",
        key=dotted(mismatch.pointer),
        seen=json.dumps(mismatch.seen),
        given=listed(told),
        options=listed(options),
        quoted=DIFFERING + mismatch.said,
    )


def _place(pointer: str, context: Context) -> Said | None:
    """Where code or a file says what the config is compared with; None for a command line."""
    return context.arguments.place_of(_names(pointer)) if context.arguments else None


def _names(pointer: str) -> tuple[str, ...]:
    """The arguments that a value is compared with."""
    names = _BATCH_TERMS if pointer == TRAIN else ARGUMENTS.get(pointer, ())
    return (*names, "fp16", "bf16") if pointer in _TYPES else names  # one is off because the other is on


def _named(pointer: str) -> str | Said:
    """The arguments that say a value, in words."""
    names = _BATCH_TERMS if pointer == TRAIN else ARGUMENTS.get(pointer, ())
    return all_of(names) if names else ""


def _is_default(pointer: str, context: Context) -> bool:
    """Whether nobody gave an argument that a value is compared with; the steps are what the data makes of them."""
    names = frozenset(_names(pointer))
    given = context.arguments.given if context.arguments else names
    return bool(names) and pointer != STEPS and not names & given


def _is_trainers_default(pointer: str, context: Context) -> bool:
    """The same where it is transformers' own: the script's class of arguments may have another."""
    own = (getattr(context.arguments, one, None) != getattr(_DEFAULTS, one) for one in _names(pointer))
    return _is_default(pointer, context) and not any(own)


def _unquoted(mismatch: Mismatch) -> str:
    """What a text says without its quotes, where the arguments say the same."""
    literal = meant_literal(mismatch.seen)
    return literal if literal and json.loads(literal) == mismatch.wanted else ""


def _other_type(types: list[Mismatch], earlier: dict[str, str], context: Context) -> Finding:
    """The file switches one 16-bit type on, the arguments the other: one cause of two differences."""
    file, arguments = sorted(types, key=lambda one: bool(one.wanted))
    ours, theirs = (one.pointer.split("/")[1] for one in (file, arguments))
    said = next((earlier[one.pointer] for one in types if one.pointer in earlier), arguments.said)
    place = _place(arguments.pointer, context)
    return found(
        Severity.ERROR,
        file.pointer,
        "DS013.two_types_there" if place else "DS013.two_types",
        fix=Fix.of("set_both_to_auto", *(Change(one.pointer, '"auto"') for one in types)),
        file=ours,
        arguments=theirs,
        quoted=said,
        place=place or "",
    )


def _agreement(mismatch: Mismatch, wanted: str, place: Said | None, context: Context) -> Said:
    """What brings file and arguments together: “auto” does, and what else."""
    pointer, seen = mismatch.pointer, mismatch.seen
    if _unquoted(mismatch):
        return advised("DS013.unquoted", wanted=wanted)
    if place:
        code = "DS013.set_there" if _is_default(pointer, context) else "DS013.change_there"
        return advised(code, names=_named(pointer), wanted=wanted)
    if pointer == TRAIN and _is_number(seen):
        return advised("DS013.product", ranks=str(context.world_size), seen=number(seen), wanted=wanted)
    if isinstance(seen, bool) and pointer.endswith("/enabled"):
        option = f"--{ARGUMENTS[pointer][0]}"
        if seen and pointer in _TYPES and context.arguments and (context.arguments.fp16 or context.arguments.bf16):
            return advised("DS013.value", wanted=wanted)  # the Trainer takes one of them
        return advised("DS013.pass" if seen else "DS013.leave_out", options=option, wanted=wanted)
    words = _options(pointer, seen)
    return advised("DS013.pass", options=words, wanted=wanted) if words else advised("DS013.value", wanted=wanted)


def _options(pointer: str, seen: Any) -> str:
    """The arguments that say what the file says; "" where none can."""
    names, values = ARGUMENTS.get(pointer, ()), seen if isinstance(seen, list) else [seen]
    impossible = pointer == WARMUP and _is_number(seen) and seen < 1  # the Trainer compares with 1 at least
    if impossible or len(names) != len(values) or not all(map(_is_number, values)):
        return ""
    return " ".join(f"--{name} {json.dumps(value)}" for name, value in zip(names, values, strict=True))


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 1 and value == int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unreadable_arguments(config: Config, context: Context) -> Iterator[Finding]:
    if context.integration is Integration.HF and context.arguments is not None:
        for problem in context.arguments.problems:
            yield found(Severity.ERROR, "", "DS017.problem", advice=(problem.advises,), problem=problem.says)


def _accelerate_stops(config: Config, context: Context) -> Iterator[Finding]:
    """What accelerate looks for or into without asking whether it is there. A difference that the Trainer reports at
    the same key says more."""
    if context.integration is not Integration.HF:
        return
    filled = fill(config, context.arguments or _DEFAULTS, context)
    different = {mismatch.pointer for mismatch in filled.mismatches} if context.arguments else set()
    for stop in filled.stops:
        if stop.pointer not in different:
            yield _no_zero_block() if stop.said == NO_ZERO_BLOCK else _stopped(stop, config)


def _no_zero_block() -> Finding:
    return found(
        Severity.ERROR,
        "/zero_optimization",
        "DS014.no_zero_block",
        fix=Fix.of("add_stage", Change("/zero_optimization/stage", "0"), stage="0"),
    )


def _stopped(stop: Stop, config: Config) -> Finding:
    seen = json.dumps(lookup(config, stop.pointer), default=str)
    return found(
        Severity.ERROR,
        stop.pointer,
        "DS014.stopped",
        advice="DS014.object" if NO_ATTRIBUTE in stop.said else "DS014.correct",
        fix=_repair(stop, config),
        key=dotted(stop.pointer),
        seen=seen,
        quoted=stop.said.removesuffix("."),
    )


def _repair(stop: Stop, config: Config) -> Fix:
    """Out with it; a ZeRO block written as true or false becomes the stage that it means."""
    if stop.pointer == "/zero_optimization":
        stage = zero_stage(config)
        return Fix.of("write_as_stage", Change(stop.pointer, f'{{"stage": {stage}}}'), stage=str(stage))
    return removal(stop.pointer)


def _old_offload(config: Config, context: Context) -> Iterator[Finding]:
    """accelerate swaps the Trainer's AdamW for DeepSpeed's CPU Adam only where it sees `offload_optimizer`."""
    old = "/zero_optimization/cpu_offload"
    own = not name_of(config, "optimizer") and context.integration is Integration.HF
    if own and zero_stage(config) > 0 and lookup(config, old) is True and _forced(config):
        yield found(
            Severity.ERROR,
            old,
            "DS015.cpu_offload",
            fix=Fix.of(
                "rewrite",
                Change("/zero_optimization/offload_optimizer/device", '"cpu"'),
                Change(old, None),
                key="offload_optimizer",
            ),
        )


def _forced(config: Config) -> bool:
    return lookup(config, "/zero_force_ds_cpu_optimizer") is not False


RULES = (
    Rule(
        "DS013",
        "transformers/integrations/deepspeed.py: fill_match",
        _trainer_arguments,
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS014",
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin; accelerate/accelerator.py: _prepare_deepspeed",
        _accelerate_stops,
    ),
    Rule(
        "DS015",
        "accelerate/accelerator.py: _prepare_deepspeed",
        _old_offload,
    ),
    Rule(
        "DS017",
        "transformers/hf_argparser.py; transformers/training_args.py: _validate_args",
        _unreadable_arguments,
    ),
)
