"""The picture of ZeRO for one model: what the config would take at each stage, all else equal, how its model states
divide, and how much is sent for it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.errors import DocumentError
from dsgui.core.memory.answer import Answer, CannotSay, Component, Device, Place
from dsgui.core.memory.cost import between_ranks, passes
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import as_json as verdict_as_json
from dsgui.core.memory.fits.memory_report import told
from dsgui.core.memory.settings import STAGE, ZERO, Offload, Settings, settings_of
from dsgui.core.sizes import roughly
from dsgui.core.texts.saying import Said, as_told, said
from dsgui.core.validation.checker import Checker

STAGES = (0, 1, 2, 3)
SENT_BY_PAPER = {0: 2, 1: 2, 2: 2, 3: 3}  # elements a trained parameter and step: arXiv 1910.02054, section 7
_KEPT_FOR_BACKWARD = (Component.ACTIVATIONS, Component.LOGITS)


@dataclass(frozen=True, slots=True)
class Share:
    """`each` bytes of a parameter, of all of the model's (`trained`: of those that are trained), on this rank alone:
    all of them, or one part of `parts`."""

    component: Component
    place: Place
    each: int
    parts: int
    trained: bool = True

    def count(self, answer: Answer) -> int:
        return self.each * (answer.trainable if self.trained else answer.parameters) // self.parts


@dataclass(frozen=True, slots=True)
class Staged:
    """A stage's verdict with its model states, and the bytes that each rank sends for a step: as the ZeRO paper counts
    them, and as DeepSpeed does it."""

    stage: int
    fitted: Fitted
    shares: tuple[Share, ...]
    by_paper: int
    sent: int


@dataclass(frozen=True, slots=True)
class Compared:
    """`stages`: each with its verdict, or with why there is none. `activations`: bytes that no stage changes."""

    current: int
    ranks: int
    stages: tuple[tuple[int, Staged | CannotSay], ...]
    activations: int


def compared(fitted: Fitted, case: Case, document: Document, checker: Checker) -> Compared:
    """`document` is the text of the `case`'s config, which `fitted` is the verdict on. Another stage is checked and
    judged like any other edit."""
    current = _settings(fitted).stage
    asked = {stage: fitted if stage == current else _at(stage, fitted, case, document, checker) for stage in STAGES}
    stages = tuple((stage, one if isinstance(one, CannotSay) else _staged(stage, one)) for stage, one in asked.items())
    kept = [_activations(one.answer) for one in asked.values() if not isinstance(one, CannotSay)]
    return Compared(current, fitted.question.group.ranks, stages, max(kept, default=0))


def _settings(fitted: Fitted) -> Settings:
    return settings_of(fitted.question.config, fitted.question.release)


def _at(stage: int, fitted: Fitted, case: Case, document: Document, checker: Checker) -> Fitted | CannotSay:
    has_block = isinstance(lookup(document.value, ZERO), dict)
    change = Change(STAGE, str(stage)) if has_block else Change(ZERO, json.dumps({"stage": stage}))
    try:
        edited = Fix(as_told(""), (change,)).apply(document)
    except DocumentError as error:
        return CannotSay(said("memory_cannot", "mend", problem=str(error)))
    findings = checker.findings(edited, case.context, fixes=False)
    refused = next((one for one in findings if one.severity is Severity.ERROR), None)
    if refused:
        return _impossible(refused)
    changed = replace(case, config=edited.value, findings=findings)
    return fit(changed, checker.schema, lambda group: fitted.room)


def _impossible(refused: Finding) -> CannotSay:
    """The config is fine as it is; what it has goes with no such stage."""
    if f"{refused.pointer}/".startswith(f"{ZERO}/offload_optimizer/"):
        return CannotSay(said("memory_cannot", "no_offload_optimizer"))
    return CannotSay(said("memory_cannot", "no_such_stage", problem=refused.says))


def _staged(stage: int, fitted: Fitted) -> Staged:
    settings, answer, work = _settings(fitted), fitted.answer, fitted.question.workload
    alone = 1 - 1 / fitted.question.group.ranks
    gathers = passes(settings, answer.parameters, work.checkpointing) * settings.gas
    sent = between_ranks(settings, answer.parameters, answer.trainable, gathers) * alone
    by_paper = round(SENT_BY_PAPER[stage] * answer.trainable * settings.reduced * alone)
    return Staged(stage, fitted, shares(settings, fitted.question.group.ranks), by_paper, round(sent))


def shares(settings: Settings, ranks: int) -> tuple[Share, ...]:
    """What a training holds of each parameter: weights, gradients, and what the optimizer keeps."""
    stage = settings.stage
    return (
        Share(Component.WEIGHTS, _place(settings.params_at), settings.weight, ranks if stage == 3 else 1, False),
        _gradients(settings, ranks),
        *_optimizer(settings, ranks),
    )


def _gradients(settings: Settings, ranks: int) -> Share:
    """Stage 1 keeps them whole until the step, wherever the optimizer is."""
    place = _place(settings.optimizer_at) if settings.stage > 1 else Place.GPU
    each = settings.accumulated if settings.stage else settings.weight
    return Share(Component.GRADIENTS, place, each, ranks if settings.stage > 1 else 1)


def _optimizer(settings: Settings, ranks: int) -> Iterator[Share]:
    """In fp32 stage 0 has no master weights; the other stages have them all the same."""
    place, parts = _place(settings.optimizer_at), ranks if settings.stage else 1
    if settings.stage or settings.is_16_bit:
        yield Share(Component.MASTER, place, settings.master, parts)
    if settings.moments:
        yield Share(Component.MOMENTS, place, settings.moments * settings.moment, parts)


def _place(offload: Offload) -> Place:
    return {"cpu": Place.HOST, "nvme": Place.NVME}.get(offload.device, Place.GPU)


def _activations(answer: Answer) -> int:
    """The most that is there of them at the fullest instant of a moment."""
    kept = (sum(p.count for p in peak.parts if p.component in _KEPT_FOR_BACKWARD) for peak in answer.of(Device.GPU))
    return max(kept, default=0)


# ------------------------------------------------------------------------------------------------------------ JSON
def as_json(found: Compared) -> dict[str, Any]:
    """Bytes everywhere; `devices` as in a verdict's own JSON."""
    return {
        "current": found.current,
        "ranks": found.ranks,
        "activations": found.activations,
        "stages": [_stage_json(stage, one) for stage, one in found.stages],
        "notes": [told(note) for note in _notes(found)],
    }


def _stage_json(stage: int, found: Staged | CannotSay) -> dict[str, Any]:
    if isinstance(found, CannotSay):
        return {"stage": stage, "why": told(found.why)}
    verdict, answer = verdict_as_json(found.fitted), found.fitted.answer
    return {
        "stage": stage,
        "fit": verdict["fit"],
        "devices": verdict["devices"],
        "parameters": answer.parameters,
        "trainable": answer.trainable,
        "states": [_share_json(one, answer) for one in found.shares],
        "by_paper": found.by_paper,
        "sent": found.sent,
    }


def _share_json(share: Share, answer: Answer) -> dict[str, Any]:
    return {
        "part": share.component.value,
        "place": share.place.value,
        "each": share.each,
        "parts": share.parts,
        "trained": share.trained,
        "bytes": share.count(answer),
    }


def _notes(found: Compared) -> Iterator[Said]:
    if found.ranks == 1:
        yield said("memory_stages", "one_rank")
    yield said("memory_stages", "same_activations", most=roughly(found.activations))
    yield said("memory_stages", "fullest")
    if found.ranks > 1:
        yield said("memory_stages", "sent")
