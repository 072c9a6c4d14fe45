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
    clearing,
    elastic,
    found,
    is_set,
    number,
    removal,
    write,
    write_auto,
)

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
            f"train_batch_size: the HF Trainer wants micro batch × accumulation steps × {context.world_size} ranks "
            "there, although sequence_parallel_size ranks share a sample: no arguments come to "
            f"{json_text(lookup(config, TRAIN))}.",
            f"Use a multiple of {context.world_size}, or “auto”.",
            write_auto(TRAIN),
        )
    ranks = batches.data_parallel_size(config, context)
    return found(
        Severity.ERROR,
        TRAIN,
        f"train_batch_size: the HF Trainer wants micro batch × accumulation steps × {context.world_size} ranks there, "
        f"and DeepSpeed × {number(ranks)}, since sequence_parallel_size ranks share a sample: no arguments make both "
        "true.",
        "Clear train_batch_size, and DeepSpeed derives it.",
        clearing(TRAIN),
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
        return {
            "advice": "accelerate takes 1 for an absent gradient_accumulation_steps, whatever the arguments say. Write "
            "“auto” for it.",
            "fix": write_auto(ACCUMULATION),
        }
    return {
        "advice": "The Trainer multiplies by every rank, and sequence_parallel_size leaves fewer that work on samples "
        f"of their own ({number(ranks)}). Clear train_batch_size, and DeepSpeed derives it.",
        "fix": clearing(TRAIN),
    }


def _broken_identity(solved: batches.Batch, given: list[batches.Number | None], context: Context) -> Finding:
    names = ["micro batch", "accumulation steps"]
    terms = [solved.micro, solved.accumulation]
    spelled = [
        f"{name} {number(term)}" + ("" if value is not None else " (solved by DeepSpeed)")
        for name, term, value in zip(names, terms, given[1:], strict=True)
    ]
    shared = solved.world_size != context.world_size
    ranks = f"data-parallel size {number(solved.world_size)}" if shared else f"world size {context.world_size}"
    factors = " × ".join([*spelled, ranks])
    message = f"train_batch_size: {number(solved.train)} is not {factors} = {number(solved.product)}."
    right = solved.product or _smallest(solved, given)
    if right != int(right):  # DS016 says why
        return found(Severity.ERROR, TRAIN, message, "Use a sequence_parallel_size that divides the ranks.")
    return found(
        Severity.ERROR,
        TRAIN,
        f"{message} World size is {context.devices}.",
        f"Set it to {number(right)}" + (", or clear it and DeepSpeed will derive it." if given[1] is not None else "."),
        write(TRAIN, number(right)),
    )


def _smallest(solved: batches.Batch, given: list[batches.Number | None]) -> batches.Number:
    """The smallest train batch that gives every rank one micro batch, for when a term was solved to 0."""
    return (given[1] or 1) * (given[2] or 1) * solved.world_size


def _batch_missing(config: Config, context: Context) -> Iterator[Finding]:
    if is_set(config, TRAIN) or is_set(config, MICRO) or elastic(config, context):
        return
    value = '"auto"' if context.integration is Integration.HF else "1"
    because = " (the HF Trainer fills a key that says “auto”, never one that is absent)" if value != "1" else ""
    yield found(
        Severity.ERROR,
        MICRO,
        "No batch size: neither train_batch_size nor train_micro_batch_size_per_gpu is set"
        f"{because}. DeepSpeed needs one of them to start.",
        f"Set train_micro_batch_size_per_gpu, for example to {value}.",
        write(MICRO, value),
    )


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
                f"{pointer[1:]}: “auto” is filled by the HF Trainer only; native DeepSpeed compares it with a number "
                "and stops with a TypeError.",
                "Write a number, clear it so that DeepSpeed derives it, or choose “HF Trainer” above.",
                fix if pointer == autos[0] else None,
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
            f"train_batch_size: {number(train)} is not {micro} × {accumulation} × world size {ranks} for "
            f"any value of the arguments: it does not divide by {rest}.",
            "Write “auto”, and the Trainer's arguments decide.",
            write_auto(TRAIN),
        )
    shown = "" if train in (None, "auto", "?") else f"; your arguments must make it {number(float(train))}"
    return found(
        Severity.NOTE,
        pointer,
        f"The HF Trainer fills “auto”: train_batch_size = {micro} × {accumulation} × world size {ranks}{shown}.",
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
            f"sequence_parallel_size: {shared:g} does not divide the {context.world_size} ranks ({context.devices}); "
            f"DeepSpeed goes on with a data-parallel size of {size:.4g}.",
            "Use a divisor of the number of ranks.",
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
            f"data_parallel_size: {wide} × sequence_parallel_size {shared} = {wide * shared} ranks, and there are "
            f"{context.world_size} ({context.devices}); deepspeed.initialize stops with “Mesh should not be bigger "
            "than default world size”.",
            "Remove data_parallel_size: DeepSpeed derives it.",
            removal("/data_parallel_size"),
        )


RULES = (
    Rule(
        "DS010",
        "Batch-size identity",
        f"{_CONFIG}: _batch_assertion",
        _batch_identity,
        "train_batch_size must be train_micro_batch_size_per_gpu × gradient_accumulation_steps × the number of "
        "data-parallel ranks. DeepSpeed finds a term that is missing by floor division and then asserts the product, "
        "so the same file can run on one GPU and stop on two. Set two of the terms and leave the third to DeepSpeed.",
    ),
    Rule(
        "DS011",
        "A batch size is needed",
        f"{_CONFIG}: _set_batch_related_parameters",
        _batch_missing,
        "DeepSpeed solves the batch-size identity from train_batch_size or train_micro_batch_size_per_gpu, and stops "
        "when the file has neither; accumulation steps alone are not enough. The HF Trainer does not help: it fills a "
        "key that says “auto” and never adds one that is absent.",
    ),
    Rule(
        "DS012",
        "“auto” in the batch size",
        f"{_TRAINER}: trainer_config_process",
        _batch_auto,
        "“auto” is a word of the HF Trainer, which puts its own arguments there. DeepSpeed itself compares the text "
        "with a number and stops. Under the Trainer, a train_batch_size given as a number must still come out of micro "
        "batch × accumulation steps × ranks: where no argument can make it so, write “auto” there as well.",
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS016",
        "Sequence parallelism against the ranks",
        f"{_CONFIG}: DeepSpeedConfig",
        _sequence_parallel,
        "sequence_parallel_size ranks share one sample, so the data-parallel size is the number of ranks divided by "
        "it. DeepSpeed divides without looking: a size that is no divisor leaves a fraction of a rank in the batch "
        "arithmetic, which then fails or goes on with a batch that is no whole number. Use a divisor of the ranks. "
        "data_parallel_size beside it makes a grid of ranks, which must not be larger than there are.",
        (Severity.ERROR, Severity.WARNING),
        since=batches.SEQUENCE_PARALLEL_SINCE,  # under the HF Trainer; natively later
    ),
)
