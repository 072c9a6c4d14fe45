"""The cheapest change that makes a training fit: edits of the config, and what only its script can be given."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.filling import ACCUMULATION, MICRO
from dsgui.core.config.findings import Change, Fix
from dsgui.core.config.pointer import dotted, lookup
from dsgui.core.errors import DocumentError
from dsgui.core.machine.hardware import has_bf16
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import rooms_of, rooms_roughly, told
from dsgui.core.memory.fits.nvme import folders_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.planner import Means, Rung, cheapest_fit, means_of, states_bytes
from dsgui.core.memory.question import Question
from dsgui.core.memory.settings import settings_of
from dsgui.core.sizes import gib, roughly, told_apart
from dsgui.core.texts.saying import Said, as_told, said, sentences
from dsgui.core.validation.checker import Checker

# The HF Trainer refuses a config that says another batch than its arguments.
_BATCH_OPTIONS = {MICRO: "--per_device_train_batch_size", ACCUMULATION: "--gradient_accumulation_steps"}
_CHECKPOINTING = "--gradient_checkpointing True"
# What a change can ask of the script.
OPTIONS = (*_BATCH_OPTIONS.values(), "--gradient_checkpointing")
_ADAPTED = ("never_adapted", "never_adapted_on_cpu")
_WITH_NEEDS = ("none", "none_on_cpu", "none_with_nvme", "none_on_cpu_with_nvme", "never", "never_on_cpu", *_ADAPTED)
Planner = Callable[[Question, Means], Rung | CannotSay | None]


@dataclass(frozen=True, slots=True)
class Cheapest:
    """`changes` are the config's edits; `arguments` are given to the script beside them, `checkpointing` among them.
    `zero_init`: the script has to make its model within `deepspeed.zero.Init`. `fitted` is the verdict on all of it."""

    moves: tuple[Said, ...]
    changes: tuple[Change, ...]
    arguments: tuple[str, ...]
    checkpointing: bool
    fitted: Fitted
    zero_init: bool = False

    def apply(self, document: Document) -> Document:
        """The config with the edits; everything else keeps its text."""
        return _edited(document, self.changes)


def is_wanted(fitted: Fitted | CannotSay) -> bool:
    """Whether there is something to look for."""
    return not isinstance(fitted, CannotSay) and fitted.verdict.fit in (Fit.SHORT, Fit.TIGHT)


def cheapest(
    fitted: Fitted, case: Case, document: Document, checker: Checker, planner: Planner = cheapest_fit
) -> Cheapest | Said | None:
    """`document` is the text of the `case`'s config. A sentence where there is no such change; None where nothing is to
    be changed, by formula. What the edits make of the config is checked and judged like any other."""
    if never := never_fits(fitted, case):
        return never
    found = _planned(fitted, case, planner)
    zero_init = found is None and _may_divide(case)
    if zero_init:
        case = replace(case, choice=replace(case.choice, zero_init=True))
        found = _planned(fitted, case, planner)
    if not isinstance(found, Rung):
        return found or _none(fitted)
    if not found.moves and not zero_init:
        return None
    made = as_change(found, case, document, checker, fitted, zero_init=zero_init)
    if isinstance(made, Cheapest) and made.fitted.verdict.fit in (Fit.SHORT, Fit.TIGHT):
        return _none(fitted)
    return made


def in_bf16(
    found: Cheapest | Said | None, fitted: Fitted, case: Case, document: Document, checker: Checker
) -> Said | None:
    """What would fit were the training in bf16, which no change that is `found` makes of one in fp32: that is another
    training, and the user's to choose. None where the GPUs have no bf16, and where it asks more of a host that nobody
    described than what was found."""
    context = case.context
    settings = settings_of(fitted.question.config, fitted.question.release)
    is_fp32 = settings.precision == "fp32" and not settings.autocast
    if found is None or not is_fp32 or not context.hardware or not all(map(has_bf16, context.hardware)):
        return None
    if context.arguments is not None:
        context = replace(context, arguments=replace(context.arguments, bf16=True))
    try:
        edited = document.set("/bf16/enabled", "true")
    except DocumentError:
        return None
    checked = checker.findings(edited, context, fixes=False)
    there = replace(case, config=edited.value, context=context, findings=checked)
    judged = fit(there, checker.schema, lambda group: fitted.room)
    if isinstance(judged, CannotSay):
        return None
    moves: tuple[Said, ...] = (said("memory_moves", "bf16"),)
    if judged.verdict.fit is not Fit.FITS:
        more = cheapest(judged, there, edited, checker)
        if not isinstance(more, Cheapest):
            return None
        moves, judged = (*moves, *more.moves), more.fitted
    asked = found.fitted.verdict.host_asked if isinstance(found, Cheapest) else 0
    if judged.verdict.host_asked > asked:
        return None
    return said("memory_cheapest", "in_bf16", moves=joined(moves), needs=rooms_roughly(judged.verdict))


def never_fits(fitted: Fitted, case: Case) -> Said | None:
    """That no config with this optimizer and these data types fits, where it is known before any is tried: the weights
    and the optimizer's states, of which each is somewhere, are more than the GPUs and the host of a node together have.
    None where that is not so, or not known, and where there is NVMe for them. No change that is looked for makes the
    states smaller, or finds a folder on NVMe that nobody named.
    """
    room, verdict = fitted.room, fitted.verdict
    gpu_bytes = 0 if room.on_cpu else room.gpu_bytes
    if verdict.fit is not Fit.SHORT or room.host_bytes is None or gpu_bytes is None or _uses_nvme(fitted):
        return None
    there = room.host_bytes + gpu_bytes * room.ranks_per_node
    nodes = max(1, room.ranks // room.ranks_per_node)
    least = states_bytes(fitted.question, case.made(fitted.question)) // nodes
    if least <= there:
        return None
    need, has = told_apart(least, there)
    if room.on_cpu:
        has = max(has, gib(there), key=len)  # the limit of the one bar: in no fewer digits than stand there
    given = {"need": need, "room": has}
    if case.choice.lora_rank:
        return said("memory_cheapest", "never_adapted_on_cpu" if room.on_cpu else "never_adapted", **given)
    return said("memory_cheapest", "never_on_cpu" if room.on_cpu else "never", **given)


def _uses_nvme(fitted: Fitted) -> bool:
    return bool(fitted.room.nvme or folders_of(fitted.question.config))


def as_change(
    found: Rung, case: Case, document: Document, checker: Checker, fitted: Fitted, *, zero_init: bool = False
) -> Cheapest | Said:
    """The rung as edits of the text, checked and judged; why the edits can't be made, where they can't. `fitted`: the
    verdict on the case as it is."""
    moves = (*((said("memory_moves", "zero_init"),) if zero_init else ()), *found.said())
    changes, arguments = _divided(found, case.context, document.value)
    try:
        edited = _edited(document, changes)
    except DocumentError as error:
        return _refused(moves, str(error))
    after = _after(found, case, edited, checker)
    judged = fit(after, checker.schema, lambda group: fitted.room)
    if isinstance(judged, CannotSay):
        return _refused(moves, str(judged.why))
    return Cheapest(moves, changes, arguments, _CHECKPOINTING in arguments, judged, zero_init)


def _may_divide(case: Case) -> bool:
    """Whether the script could have its model divided as it grows, and does not."""
    return case.context.integration is Integration.NATIVE and not case.choice.zero_init


def _planned(fitted: Fitted, case: Case, planner: Planner) -> Rung | Said | None:
    """None where no config fits."""
    made = case.made(fitted.question)
    try:
        found = planner(fitted.question, means_of(fitted.room, made))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return _none(fitted)  # of a model that could be asked; of another config of it nothing is known
    return said("memory_cheapest", "unsought", why=found.why) if isinstance(found, CannotSay) else found


def _none(fitted: Fitted) -> Said:
    if fitted.verdict.fit is Fit.TIGHT:
        return said("memory_cheapest", "none_certain")
    if _uses_nvme(fitted):
        return said("memory_cheapest", "none_on_cpu_with_nvme" if fitted.room.on_cpu else "none_with_nvme")
    return said("memory_cheapest", "none_on_cpu" if fitted.room.on_cpu else "none")


def _refused(moves: tuple[Said, ...], problem: str) -> Said:
    return said("memory_cheapest", "refused", moves=joined(moves), problem=problem)


def _divided(found: Rung, context: Context, config: Mapping[str, Any]) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """What is edited, and what the script is given: a batch that the config leaves to the Trainer stays with it."""
    by_script = context.integration is Integration.HF
    left = {pointer for pointer in _BATCH_OPTIONS if by_script and lookup(config, pointer) == "auto"}
    batch = [f"{_BATCH_OPTIONS[one.pointer]} {one.literal}" for one in found.changes if one.pointer in _BATCH_OPTIONS]
    checkpointing = (_CHECKPOINTING,) if "checkpointing" in found.moves else ()
    changes = tuple(change for change in found.changes if change.pointer not in left)
    return changes, (*(batch if by_script else ()), *checkpointing)


def _edited(document: Document, changes: tuple[Change, ...]) -> Document:
    return Fix(as_told(""), changes).apply(document)


def _after(found: Rung, case: Case, edited: Document, checker: Checker) -> Case:
    """The case once everything is changed. Arguments that nobody said are not checked against."""
    work, context = found.workload, case.context
    if "micro_batch" in found.moves:
        arguments = replace(
            context.arguments or TrainingArguments(),
            per_device_train_batch_size=work.micro_batch,
            gradient_accumulation_steps=found.steps,
        )
        context = replace(context, arguments=arguments)
    checked = context if case.context.arguments is not None else case.context
    findings = checker.findings(edited, checked, fixes=False)
    choice = replace(case.choice, checkpointing=work.checkpointing)
    micro_batch = work.micro_batch if case.micro_batch else None
    return Case(edited.value, context, findings, case.model, choice, micro_batch)


# ----------------------------------------------------------------------------------------------------------- words
def joined(moves: Iterable[Said]) -> str:
    """`ZeRO stage 3 + gradient checkpointing`."""
    first, *others = moves
    return " + ".join([str(first), *(f"{other:inside}" for other in others)])


def sentence(found: Cheapest) -> Said:
    """What to change, and what it takes then; of a host that nobody described also what it has to have."""
    return _told_as("change", "change_if_host", found, moves=joined(found.moves), needs=rooms_of(found.fitted.verdict))


def _brief(found: Cheapest) -> Said:
    """The same for the page, where each edit stands below, and the bars above."""
    return _told_as("brief", "brief_if_host", found, needs=rooms_roughly(found.fitted.verdict))


def _told_as(code: str, if_host: str, found: Cheapest, **given: str) -> Said:
    verdict = found.fitted.verdict
    if verdict.host_asked:
        return said("memory_cheapest", if_host, size=roughly(verdict.host_asked), **given)
    return said("memory_cheapest", code, **given)


def for_script(found: Cheapest) -> list[Said]:
    """What no edit of the config does."""
    batch = " ".join(one for one in found.arguments if one != _CHECKPOINTING)
    given = [said("memory_cheapest", "arguments", arguments=batch)] if batch else []
    given += [said("memory_cheapest", "checkpointing")] if found.checkpointing else []
    return given + ([said("memory_cheapest", "zero_init")] if found.zero_init else [])


def needs_of(why: Said) -> Said | None:
    """What helps where no change of the config does, which `why` says; None of any other sentence."""
    return said("memory_needs", why.code) if why.code in _WITH_NEEDS else None


def as_text(found: Cheapest | Said | None, other: Said | None = None) -> str:
    """Lines for a terminal; `other`: what would fit as well."""
    return "".join(f"{line}\n" for line in (*_lines(found), *((other,) if other else ())))


def _lines(found: Cheapest | Said | None) -> Iterator[str]:
    if isinstance(found, Said):
        needs = needs_of(found)
        yield sentences([found, *([needs] if needs else [])])
    elif found is not None:
        yield str(sentence(found))
        yield from (f"  {dotted(one.pointer)}: {one.literal}" for one in found.changes)
        yield from (f"  {one}" for one in for_script(found))


def as_json(found: Cheapest | Said | None, other: Said | None = None) -> dict[str, Any] | None:
    """`why` says why there is no change, and `needs` what helps then. Else its words, without its moves too, its edits
    and its need in bytes. `other`: what would fit as well."""
    if found is None:
        return None
    beside = {"other": told(other)} if other else {}
    if isinstance(found, Said):
        return no_change_json(found) | beside
    return {"text": str(sentence(found)), "brief": str(_brief(found)), **change_json(found)} | beside


def no_change_json(why: Said) -> dict[str, Any]:
    """Why there is no change, and what helps."""
    needs = needs_of(why)
    return {"why": told(why)} | ({"needs": told(needs)} if needs else {})


def change_json(found: Cheapest) -> dict[str, Any]:
    """What is changed and what it takes then, without a sentence."""
    worst = {device: found.fitted.verdict.worst(device) for device in found.fitted.verdict.devices}
    return {
        "moves": [told(one) for one in found.moves],
        "changes": [{"pointer": one.pointer, "value": json.loads(one.literal or "null")} for one in found.changes],
        "arguments": list(found.arguments),
        "script": [told(one) for one in for_script(found)],
        "checkpointing": found.checkpointing,
        "zero_init": found.zero_init,
        "needs": {device.value: bar.amount.likely for device, bar in worst.items() if bar is not None},
    }
