"""The formula's verdict beside the dry run's: which one counts, where they differ, and how that is told."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.memory.answer import Answer, CannotSay, Component, Device, Part, Place
from dsgui.core.memory.fits import memory_report
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.sizes import MIB, gib
from dsgui.core.texts.saying import Said, said

SHARE = 0.02  # a larger difference is told
_LEAST_TOLD = MIB
# Why the formula has no number, where DeepSpeed itself may have one.
_MAY_BE_ASKED = (
    *("unknown_family", "vision", "experts", "model_key", "unknown_activation", "unknown_attention"),
    *("no_case", "no_optimizer", "no_muon", "no_autocast", "autocast_classes"),
)


def pointed_on(told: CannotSay) -> CannotSay:
    """With what to do, where the formula has no number and a dry run may have one."""
    return CannotSay(said("memory_told", "ask", why=told.why)) if told.why.code in _MAY_BE_ASKED else told


@dataclass(frozen=True, slots=True)
class Asked:
    """One config's verdict by formula, and by dry run."""

    formula: Fitted | CannotSay
    real: Fitted | CannotSay

    @property
    def counting(self) -> Fitted | CannotSay:
        """The dry run's, where it said something."""
        return self.formula if isinstance(self.real, CannotSay) else self.real

    def remarks(self) -> Iterator[Said]:
        """Why one of them has no number, or where the two differ."""
        formula, real = self.formula, self.real
        if isinstance(real, CannotSay):
            if isinstance(formula, Fitted):
                yield said("memory_told", "no_dry_run", why=real.why)
            elif formula != real:
                yield real.why
        elif isinstance(formula, CannotSay):
            yield said("memory_told", "no_formula", why=formula.why)
        else:
            yield from differences(formula.answer, real.answer)

    def reserved(self) -> Iterator[Said]:
        """What torch's caching allocator holds for the tensors of a dry run: blocks that are free stay with it."""
        answer = self.real.answer if isinstance(self.real, Fitted) else None
        peak = answer.worst(Device.GPU) if answer else None
        if answer and peak and answer.reserved:
            held = {"reserved": gib(answer.reserved, 2), "allocated": gib(peak.count, 2)}
            yield said("memory_told", "reserved", **held)

    def sentences(self) -> list[Said]:
        """All that is told beside the verdicts."""
        return [*self.remarks(), *self.reserved()]


def differences(formula: Answer, real: Answer) -> Iterator[Said]:
    """A sentence for each device whose fullest moments are more than 2 % apart."""
    for device in Device:
        counts = [peak.count if peak else 0 for peak in (formula.worst(device), real.worst(device))]
        apart = abs(counts[0] - counts[1])
        if apart > SHARE * counts[1] and apart >= _LEAST_TOLD:
            place = memory_report.word("memory_places", device.value)
            told = {"formula": gib(counts[0], 2), "real": gib(counts[1], 2)}
            yield said("memory_told", "differs", place=place, **told)


def with_keys(real: Answer, formula: Answer) -> Answer:
    """A dry run knows lines, the formula the keys that govern a component."""
    keys: dict[tuple[Component, Place], dict[str, None]] = {}
    for part in (part for peak in formula.peaks for part in peak.parts):
        keys.setdefault((part.component, part.place), {}).update(dict.fromkeys(part.keys))

    def keyed(part: Part) -> Part:
        return replace(part, keys=tuple(keys.get((part.component, part.place), part.keys)))

    return replace(real, peaks=tuple(replace(peak, parts=tuple(map(keyed, peak.parts))) for peak in real.peaks))


def as_json(asked: Asked | None) -> dict[str, Any]:
    """Both verdicts, beside the one that counts."""
    if asked is None:
        return {}
    both = {"formula": memory_report.as_json(asked.formula), "dry_run": memory_report.as_json(asked.real)}
    remarks = [one.to_json() | {"text": str(one)} for one in asked.sentences()]
    return {"asked": both | {"remarks": remarks}}


def as_text(asked: Asked | None) -> str:
    """A line each."""
    return "".join(f"{one}\n" for one in asked.sentences()) if asked else ""
