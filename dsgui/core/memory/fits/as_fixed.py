"""A config that would be refused, as it were with its errors fixed: what of its memory can be told all the same."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.misspelt import awaited, waits
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DocumentError

_MOST_FIXES = 60
# What their fixes write decides the memory, and is a guess: defaults of the HF Trainer, a batch, no AMP.
_GUESSES = frozenset({"DS003", "DS011", "DS012", "DS021"})
# What no byte of a training hangs on, so that any repair of it will do.
_INDIFFERENT = (
    "/scheduler",
    "/gradient_clipping",
    "/prescale_gradients",
    "/gradient_predivide_factor",
    "/steps_per_print",
    "/wall_clock_breakdown",
    "/memory_breakdown",
    "/dump_state",
    "/tensorboard",
    "/wandb",
    "/csv_monitor",
    "/comet",
    "/flops_profiler",
    "/comms_logger",
    "/optimizer/params/lr",
    "/optimizer/params/betas",
    "/optimizer/params/eps",
    "/optimizer/params/weight_decay",
    "/fp16/loss_scale",
    "/fp16/initial_scale_power",
    "/fp16/loss_scale_window",
    "/fp16/hysteresis",
    "/fp16/min_loss_scale",
)


@dataclass(frozen=True, slots=True)
class AsFixed:
    """`found` are the findings of the fixed `document`; `fixed` are the errors that were."""

    document: Document
    found: tuple[Finding, ...]
    fixed: tuple[Finding, ...]


def as_fixed(
    document: Document, found: Iterable[Finding], check: Callable[[Document], Iterable[Finding]]
) -> AsFixed | Finding:
    """Errors with one right fix are fixed, and `check` looks again. The first error that is left is told where memory
    may hang on it: nobody knows what will stand there."""
    repaired = plainly_fixed(document, found, check)
    left = [one for one in repaired.found if one.severity is Severity.ERROR]
    undecided = next((one for one in left if not _is_indifferent(one.pointer)), None)
    if undecided:
        return undecided
    harmless = tuple(one for one in repaired.found if one.severity is not Severity.ERROR)
    return AsFixed(repaired.document, harmless, (*repaired.fixed, *left))


def plainly_fixed(
    document: Document, found: Iterable[Finding], check: Callable[[Document], Iterable[Finding]]
) -> AsFixed:
    """Every error with one right fix fixed, one after another; `found` has what is left."""
    every = list(found)
    fixed: list[Finding] = []
    while len(fixed) < _MOST_FIXES and (error := next(_fixable(every), None)) and error.fix:
        try:
            document = error.fix.apply(document)
        except DocumentError:
            break
        fixed.append(error)
        every = list(check(document))
    return AsFixed(document, tuple(every), tuple(fixed))


def plain_errors(found: Sequence[Finding]) -> int:
    """How many errors go with their own fixes, or with the renaming that they wait for."""
    own = {id(one) for one in _fixable(found)}
    renamed = any(one.fix for one in awaited(found))
    fixed = sum(one.severity is Severity.ERROR and (id(one) in own or (renamed and waits(one))) for one in found)
    return min(fixed, _MOST_FIXES)


def plain_repairs(found: Sequence[Finding]) -> tuple[str, ...]:
    """What fixing them does, in words, each once."""
    return tuple(dict.fromkeys(repair(one) for one in _fixable(found)))[:_MOST_FIXES]


def repair(finding: Finding) -> str:
    """What was taken as done about it, in words; where any repair does, its key."""
    where, label = dotted(finding.pointer), str(finding.fix.label) if finding.fix else ""
    return label if where in label else ": ".join(filter(None, (where, label)))


def _fixable(found: Sequence[Finding]) -> Iterator[Finding]:
    """What others wait for; then errors whose fix is no guess."""
    yield from (one for one in awaited(found) if one.fix)
    yield from (one for one in found if one.severity is Severity.ERROR and one.fix and one.rule not in _GUESSES)


def _is_indifferent(pointer: str) -> bool:
    return any(pointer == one or pointer.startswith(f"{one}/") for one in _INDIFFERENT)
