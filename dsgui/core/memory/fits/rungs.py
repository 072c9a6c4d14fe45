"""The ladder for the config in the editor: what else there is for the same model, batch and ranks, from the fastest to
the leanest, each as edits that were checked and judged."""

from dataclasses import dataclass
from typing import Any

from dsgui.core.config.document import Document
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.cheapest import Cheapest, as_change, change_json
from dsgui.core.memory.fits.fitting import Case, Fitted
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.planner import Rung, ladder, means_of
from dsgui.core.texts.saying import Said, said
from dsgui.core.validation.checker import Checker

MOST = 12


@dataclass(frozen=True, slots=True)
class Step:
    """`slower` than the config as it is, by estimate; `change` has no moves for that one."""

    slower: float
    change: Cheapest

    @property
    def fit(self) -> Fit:
        return self.change.fitted.verdict.fit


def steps(fitted: Fitted, case: Case, document: Document, checker: Checker) -> tuple[Step, ...] | Said:
    """`document` is the text of the `case`'s config, which `fitted` is the verdict on. Fastest first; the config itself
    is among them. What the checks refuse is left out."""
    try:
        found = ladder(fitted.question, means_of(fitted.room, case.made(fitted.question)))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return said("memory_cannot", "not_reckoned", model=fitted.question.model.name, problem=type(error).__name__)
    if isinstance(found, CannotSay):
        return found.why
    changes = [(rung, _change(rung, fitted, case, document, checker)) for rung in found]
    made = [Step(rung.slower, change) for rung, change in changes if isinstance(change, Cheapest)]
    return tuple(one for one in made if one in _fewest(made))


def _fewest(found: list[Step]) -> list[Step]:
    """The config as it is, what fits, and of many those with the fewest changes."""

    def order(step: Step) -> tuple[bool, bool, int]:
        return bool(step.change.moves), step.fit is not Fit.FITS, len(step.change.moves)

    return sorted(found, key=order)[:MOST]


def _change(rung: Rung, fitted: Fitted, case: Case, document: Document, checker: Checker) -> Cheapest | Said:
    if rung.moves:
        return as_change(rung, case, document, checker, fitted)
    return Cheapest((), (), (), False, fitted)


# ------------------------------------------------------------------------------------------------------------ JSON
def as_json(found: tuple[Step, ...] | Said) -> dict[str, Any]:
    """Bytes everywhere."""
    if isinstance(found, Said):
        return {"steps": [], "why": found.to_json() | {"text": str(found)}}
    return {"steps": [_step_json(step) for step in found]}


def _step_json(step: Step) -> dict[str, Any]:
    verdict = step.change.fitted.verdict
    worst = {device: verdict.worst(device) for device in verdict.devices}
    return change_json(step.change) | {
        "slower": round(step.slower, 3),
        "fit": step.fit.value,
        "capacity": {device.value: bar.capacity for device, bar in worst.items() if bar is not None},
    }
