"""What would make a config fit where no change of its own does: LoRA, or more GPUs, each with the changes that it needs
beside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.cheapest import Cheapest, change_json, cheapest
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import rooms_of, rooms_roughly, told
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit, Verdict
from dsgui.core.memory.fits.ways import LORA_RANK, MoreGpus, fewest, more_gpus
from dsgui.core.memory.question import Group
from dsgui.core.sizes import roughly
from dsgui.core.texts.saying import Said, said, sentences
from dsgui.core.validation.checker import Checker

Rooms = Callable[[Context, Group], Room]


@dataclass(frozen=True, slots=True)
class Beyond:
    """`fitted` is the verdict with LoRA of that rank, or on those `gpus`, and with the `change` where it needs one."""

    fitted: Fitted
    change: Cheapest | None
    lora: int = 0
    gpus: MoreGpus | None = None

    def planned(self, context: Context) -> Context:
        """`context` with what it plans for."""
        return self.gpus.planned(context) if self.gpus else context


@dataclass(frozen=True, slots=True)
class _Trial:
    case: Case
    document: Document
    checker: Checker
    rooms: Rooms

    def fitting(self, case: Case) -> tuple[Fitted, Cheapest | None] | None:
        """That it fits as it is, or with the cheapest change; None where neither does."""
        fitted = fit(case, self.checker.schema, lambda group: self.rooms(case.context, group))
        if isinstance(fitted, CannotSay):
            return None
        if fitted.verdict.fit is Fit.FITS:
            return fitted, None
        change = cheapest(fitted, case, self.document, self.checker)
        return (change.fitted, change) if isinstance(change, Cheapest) else None

    def on(self, more: MoreGpus) -> tuple[Fitted, Cheapest | None] | None:
        there = more.planned(self.case.context)
        found = tuple(self.checker.findings(self.document, there, fixes=False))
        return self.fitting(replace(self.case, context=there, findings=found))


def beyond(case: Case, document: Document, checker: Checker, rooms: Rooms) -> tuple[Beyond, ...]:
    """The nearest first. `document` is the text of the `case`'s config; `rooms` makes what there is for a group of
    ranks of other GPUs. Empty where neither would do."""
    trial = _Trial(case, document, checker, rooms)
    return (*_adapted(trial), *_more(trial))


def _adapted(trial: _Trial) -> tuple[Beyond, ...]:
    choice = trial.case.choice
    if choice.lora_rank:
        return ()
    found = trial.fitting(replace(trial.case, choice=replace(choice, lora_rank=LORA_RANK)))
    return (Beyond(*found, lora=LORA_RANK),) if found else ()


def _more(trial: _Trial) -> tuple[Beyond, ...]:
    for offers in more_gpus(trial.case.context):
        more = fewest(offers, lambda one: trial.on(one) is not None)
        found = trial.on(more) if more else None
        if found:
            return (Beyond(*found, gpus=more),)
    return ()


# ------------------------------------------------------------------------------------------------------------ words
def _then(one: Beyond, rooms: Callable[[Verdict], str]) -> str:
    """What it takes then, and with what; of a host that nobody described also what it has to have. `rooms` words what
    is taken of what there is."""
    verdict = one.fitted.verdict
    needs = rooms(verdict)
    moves = " + ".join(f"{move:inside}" for move in one.change.moves) if one.change else ""
    then = (
        said("memory_beyond", "then_with", needs=needs, moves=moves)
        if moves
        else said("memory_beyond", "then", needs=needs)
    )
    asked = [said("memory_beyond", "if_host", size=roughly(verdict.host_asked))] if verdict.host_asked else []
    return sentences([then, *asked])


def _what(one: Beyond) -> Said:
    if one.gpus is None:
        return said("memory_beyond", "lora", rank=str(one.lora))
    given = {"count": str(one.gpus.gpus), "card": one.gpus.card.title}
    if one.gpus.nodes > 1:
        return said("memory_beyond", "nodes", nodes=str(one.gpus.nodes), **given)
    return said("memory_beyond", "gpus", **given)


def as_text(found: Sequence[Beyond]) -> str:
    """Lines for a terminal."""
    if not found:
        return ""
    lines = (said("memory_beyond", "line", what=_what(one), then=_then(one, rooms_of)) for one in found)
    return "".join([f"{said('memory_beyond', 'would')}\n", *(f"  {line}\n" for line in lines)])


def as_json(one: Beyond) -> dict[str, Any]:
    """`name`, and `then` what it takes, in words; `fields` by the names that the page gives them; and its change."""
    by_lora = [told(said("memory_beyond", "script", rank=str(one.lora)))] if one.lora else []
    change = change_json(one.change) if one.change else {}
    fields = one.gpus.to_json() if one.gpus else {"lora_rank": one.lora}
    script = [*change.get("script", ()), *by_lora]
    then = _then(one, rooms_roughly)
    return {**change, "name": str(_what(one)), "then": then, "fields": fields, "script": script}
