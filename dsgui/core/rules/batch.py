"""The batch-size identity, as DeepSpeed solves and asserts it, and “auto” in its terms."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dsgui.core.config import batch_size as batches
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document, json_text
from dsgui.core.config.filling import fill
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.outputs import native_fix
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.rules.base import (
    ACCUMULATION,
    MICRO,
    TRAIN,
    Config,
    Rule,
    advised,
    clearing,
    elastic,
    found,
    is_set,
    number,
    removal,
    write,
    write_auto,
)
from dsgui.core.texts.saying import Said, phrase

_CONFIG, _TRAINER = "deepspeed/runtime/config.py", "transformers/integrations/deepspeed.py"
LARGEST_BATCH = 10**12  # samples; nothing beyond it is meant, and products stay exact in floats


def _batch_term(config: Config, pointer: str) -> batches.Number | str | None:
    """A number, "auto", None when DeepSpeed takes it for absent (null counts), or "?" for what the schema refuses."""
    value = lookup(config, pointer)
    if value is MISSING or value is None:
        return None
    if value == "auto":
        return "auto"
    if isinstance(value, int | float) and abs(value) <= LARGEST_BATCH:
        return value
    return "?"


def _batch_identity(config: Config, context: Context) -> Iterator[Finding]:
    if elastic(config, context):
        return
    if context.integration is Integration.HF and context.arguments is not None:
        yield from _filled_identity(config, context, context.arguments)
        return
    if _shares_what_the_trainer_counts(config, context):
        yield _never_the_product(config, context)
        return
    terms = [_batch_term(config, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION)]
    if context.integration is Integration.HF and terms[2] is None:
        terms[2] = 1  # accelerate writes 1 for an absent gradient_accumulation_steps (utils/dataclasses.py)
    numbers = [term for term in terms if not isinstance(term, str)]
    if len(numbers) < 3 or any(n is not None and n <= 0 for n in numbers):
        return  # "auto" and refused values have findings of their own
    solved = batches.solve(numbers[0], numbers[1], numbers[2], batches.data_parallel_size(config, context))
    if solved is None or solved.holds:
        return
    yield _broken_identity(solved, numbers, context)


def _shares_what_the_trainer_counts(config: Config, context: Context) -> bool:
    """The Trainer makes the train batch of every rank, DeepSpeed's product has fewer: equal for no argument."""
    if context.integration is not Integration.HF or batches.data_parallel_size(config, context) == context.world_size:
        return False
    train = _batch_term(config, TRAIN)
    divides = isinstance(train, int | float) and train % context.world_size == 0
    return is_set(config, TRAIN) and (is_set(config, MICRO) or not (divides or train == "auto"))


def _never_the_product(config: Config, context: Context) -> Finding:
    if not is_set(config, MICRO):
        return found(
            Severity.ERROR,
            TRAIN,
            "DS010.no_multiple",
            fix=write_auto(TRAIN),
            ranks=str(context.world_size),
            value=json_text(lookup(config, TRAIN)),
        )
    ranks = batches.data_parallel_size(config, context)
    return found(
        Severity.ERROR,
        TRAIN,
        "DS010.sequences",
        fix=clearing(TRAIN),
        ranks=str(context.world_size),
        data_ranks=number(ranks),
    )


def _filled_identity(config: Config, context: Context, arguments: TrainingArguments) -> Iterator[Finding]:
    """The identity of what the Trainer hands over; while it stops at a difference in a batch term, that is the news."""
    filled = fill(config, arguments, context)
    if any(mismatch.pointer in (TRAIN, MICRO, ACCUMULATION) for mismatch in filled.mismatches):
        return
    terms = [_batch_term(filled.config, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION)]
    numbers = [term for term in terms if not isinstance(term, str)]
    if len(numbers) < 3 or any(n is not None and n <= 0 for n in numbers):
        return
    ranks = batches.data_parallel_size(filled.config, context)
    solved = batches.solve(numbers[0], numbers[1], numbers[2], ranks)
    if solved is None or solved.holds:
        return
    broken = _broken_identity(solved, numbers, context)
    yield replace(broken, **_hf_repair(config, ranks)) if lookup(config, TRAIN) not in (MISSING, None) else broken


def _hf_repair(config: Config, ranks: batches.Number) -> dict[str, Any]:
    """Advice and fix where the arguments made or confirmed the train batch: what else in the file broke the product."""
    if lookup(config, ACCUMULATION) is MISSING:
        return {"advises": (advised("DS010.absent_accumulation"),), "fix": write_auto(ACCUMULATION)}
    return {"advises": (advised("DS010.fewer_ranks", ranks=number(ranks)),), "fix": clearing(TRAIN)}


def _broken_identity(solved: batches.Batch, given: list[batches.Number | None], context: Context) -> Finding:
    right = solved.product or _smallest(solved, given)
    whole = right == int(right)  # DS016 says why it is not
    return found(
        Severity.ERROR,
        TRAIN,
        "DS010.broken" if whole else "DS010.fraction",
        advice="" if not whole else "DS010.set" if given[1] is None else "DS010.set_or_clear",
        fix=write(TRAIN, number(right)) if whole else None,
        train=number(solved.train),
        micro=_term(solved.micro, given[1]),
        accumulation=_term(solved.accumulation, given[2]),
        ranks=_ranks(solved, context),
        product=number(solved.product),
        devices=context.devices_told,
        right=number(right),
    )


def _term(value: batches.Number, given: batches.Number | None) -> str | Said:
    return phrase("solved", value=number(value)) if given is None else number(value)


def _ranks(solved: batches.Batch, context: Context) -> Said:
    if solved.world_size != context.world_size:
        return phrase("data_parallel_size", ranks=number(solved.world_size))
    return phrase("world_size", ranks=str(context.world_size))


def _smallest(solved: batches.Batch, given: list[batches.Number | None]) -> batches.Number:
    """The smallest train batch that gives every rank one micro batch, for when a term was solved to 0."""
    return (given[1] or 1) * (given[2] or 1) * solved.world_size


def _batch_missing(config: Config, context: Context) -> Iterator[Finding]:
    if is_set(config, TRAIN) or is_set(config, MICRO) or elastic(config, context):
        return
    hf = context.integration is Integration.HF
    value = '"auto"' if hf else "1"
    code = "DS011.missing_hf" if hf else "DS011.missing"
    yield found(Severity.ERROR, MICRO, code, fix=write(MICRO, value), value=value)


def _batch_auto(config: Config, context: Context) -> Iterator[Finding]:
    autos = [p for p in (TRAIN, MICRO, ACCUMULATION) if lookup(config, p) == "auto"]
    if not autos:
        return
    if context.integration is Integration.HF and context.arguments is not None:
        return  # then the values are known, and DS010 and DS013 judge those
    if _shares_what_the_trainer_counts(config, context):
        return
    if context.integration is Integration.NATIVE:
        fix = native_fix(Document(json_text(config)), context)  # of all, at the first
        for pointer in autos:
            yield found(
                Severity.ERROR,
                pointer,
                "DS012.natively",
                fix=fix if pointer == autos[0] else None,
                key=pointer[1:],
            )
        return
    yield _filled_by_trainer(config, context, autos[0])


def _filled_by_trainer(config: Config, context: Context, pointer: str) -> Finding:
    """What the Trainer will multiply; an error when a train batch given as a number can't come out whole."""
    micro = _from_trainer(config, MICRO, "--per_device_train_batch_size")
    accumulation = _from_trainer(config, ACCUMULATION, "--gradient_accumulation_steps")
    train, ranks = _batch_term(config, TRAIN), batches.data_parallel_size(config, context)
    rest = ranks
    for term in (_batch_term(config, MICRO), _batch_term(config, ACCUMULATION)):
        rest *= int(term) if isinstance(term, int | float) and term >= 1 else 1
    if isinstance(train, int | float) and train % rest:
        return found(
            Severity.ERROR,
            TRAIN,
            "DS012.indivisible",
            fix=write_auto(TRAIN),
            train=number(train),
            micro=micro,
            accumulation=accumulation,
            ranks=str(ranks),
            rest=str(rest),
        )
    total = "" if train in (None, "auto", "?") else number(float(train))
    return found(
        Severity.NOTE,
        pointer,
        "DS012.filled_to" if total else "DS012.filled",
        micro=micro,
        accumulation=accumulation,
        ranks=str(ranks),
        train=total,
    )


def _from_trainer(config: Config, pointer: str, option: str) -> str:
    value = lookup(config, pointer)
    if value is MISSING:
        return "1" if pointer == ACCUMULATION else pointer[1:]
    return option if value == "auto" else str(value)


def _sequence_parallel(config: Config, context: Context) -> Iterator[Finding]:
    """DeepSpeed divides without looking, and the batch arithmetic goes on with a fraction of a rank."""
    pointer = "/sequence_parallel_size"
    shared = lookup(config, pointer)
    is_size = isinstance(shared, int | float) and shared >= 1
    if is_size and batches.shares_sequences(context) and context.world_size % shared:
        size = context.world_size / shared
        yield found(
            Severity.WARNING,
            pointer,
            "DS016.no_divisor",
            shared=f"{shared:g}",
            ranks=str(context.world_size),
            devices=context.devices_told,
            size=f"{size:.4g}",
        )
    wide = lookup(config, "/data_parallel_size")
    if (
        isinstance(shared, int)
        and isinstance(wide, int)
        and batches.shares_sequences(context)
        and shared * wide > context.world_size
    ):
        yield found(
            Severity.ERROR,
            "/data_parallel_size",
            "DS016.grid",
            fix=removal("/data_parallel_size"),
            wide=str(wide),
            shared=str(shared),
            product=str(wide * shared),
            ranks=str(context.world_size),
            devices=context.devices_told,
        )


RULES = (
    Rule(
        "DS010",
        f"{_CONFIG}: _batch_assertion",
        _batch_identity,
    ),
    Rule(
        "DS011",
        f"{_CONFIG}: _set_batch_related_parameters",
        _batch_missing,
    ),
    Rule(
        "DS012",
        f"{_TRAINER}: trainer_config_process",
        _batch_auto,
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS016",
        f"{_CONFIG}: DeepSpeedConfig",
        _sequence_parallel,
        (Severity.ERROR, Severity.WARNING),
        since=batches.SEQUENCE_PARALLEL_SINCE,  # under the HF Trainer; natively later
    ),
)
