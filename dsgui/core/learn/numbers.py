"""The figures that answer a tutorial's question: of the reader's own runs, or where no machine at hand can train the
model, of the memory model, and said as such."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.learn.checking import figure
from dsgui.core.learn.large_models import BLOOMZ_7B, SHAPES, T5_3B
from dsgui.core.learn.picture import planned_room
from dsgui.core.learn.run_facts import RunFacts, told_apart
from dsgui.core.machine.hardware import OFFERED
from dsgui.core.memory.answer import Answer, CannotSay, Component, Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.sizes import gib
from dsgui.core.texts.saying import Said, said, words
from dsgui.core.validation.checker import Checker

_CARD = next(card for card in OFFERED if card.id == "v100")
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Numbers:
    """A table, and where its figures are from."""

    source: Said
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_json(self) -> dict[str, Any]:
        return {"source": str(self.source), "head": list(self.head), "rows": [list(row) for row in self.rows]}


def of_runs(runs: Sequence[RunFacts]) -> Numbers:
    """One column for each run; a row that none of them has a figure for is left out."""
    rows = [(words("learn_numbers", code), *map(tell, runs)) for code, tell in _OF_RUN.items()]
    kept = tuple(row for row in rows if any(cell != _NONE for cell in row[1:]))
    head = (words("learn_numbers", "figure"), *told_apart(runs))
    return Numbers(said("learn_numbers", "own_runs"), head, kept)


def _seconds(run: RunFacts) -> str:
    return _NONE if run.outcome.step_s is None else words("learn_numbers", "s", count=f"{run.outcome.step_s:.2f}")


def _loss(value: float | None) -> str:
    return _NONE if value is None else figure(value)


def _bytes(count: int | None) -> str:
    return _NONE if count is None else gib(count, 2)


def _count(value: int | None) -> str:
    return _NONE if value is None else str(value)


_OF_RUN: Mapping[str, Callable[[RunFacts], str]] = {
    "stage": lambda run: str(run.setup.stage),
    "optimizer_at": lambda run: run.setup.optimizer_at,
    "ranks": lambda run: str(run.setup.ranks),
    "batch": lambda run: _count(run.setup.batch),
    "steps": lambda run: _count(run.outcome.steps),
    "first_loss": lambda run: _loss(run.outcome.first_loss),
    "final_loss": lambda run: _loss(run.outcome.final_loss),
    "step_s": _seconds,
    "gpu_peak": lambda run: _bytes(run.outcome.gpu_bytes),
    "host_peak": lambda run: _bytes(run.outcome.host_bytes),
}


# ----------------------------------------------------------------------------------------------- by the memory model
def of_two_keys(presets: Mapping[str, Preset], checker: Checker) -> Numbers | None:
    """T5-3B before and after the two keys were raised, as the tutorial trains it. None where there is no number."""
    choice = ModelChoice(model=T5_3B, length=128)
    both = (presets[f"zero3-offload-t5-3b-{name}"] for name in ("before", "after"))
    found = [_fitted(one, ("--fp16", "--per_device_train_batch_size", "1"), choice, checker) for one in both]
    return _side_by_side(found, ("before", "after"), "model_of_two_keys")


def of_lora(presets: Mapping[str, Preset], checker: Checker) -> Numbers | None:
    """Bloomz-7B1 as the tutorial trains it, with LoRA and without, on four GPUs. None where there is no number."""
    preset = presets["zero2-offload-bloom-lora"]
    typed = ("--fp16", "--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "3")
    choices = (ModelChoice(model=BLOOMZ_7B, length=512, lora_rank=rank) for rank in (0, 8))
    found = [_fitted(preset, typed, choice, checker, gpus=4) for choice in choices]
    return _side_by_side(found, ("whole", "adapters"), "model_of_lora")


def _fitted(
    preset: Preset, typed: Sequence[str], choice: ModelChoice, checker: Checker, *, gpus: int = 1
) -> Fitted | CannotSay:
    arguments = from_words(typed)
    context = Context(Integration.HF, gpus_per_node=gpus, hardware=(_CARD,), arguments=arguments)
    document = Document(preset.text)
    findings = checker.findings(document, context, fixes=False)
    case = Case(document.value, context, findings, SHAPES[choice.model], choice)
    return fit(case, checker.schema, planned_room(context))


def _side_by_side(found: Sequence[Fitted | CannotSay], names: Sequence[str], source: str) -> Numbers | None:
    answers = [one.answer for one in found if isinstance(one, Fitted)]
    if len(answers) < len(found):
        return None
    head = (words("learn_numbers", "figure"), *(words("learn_numbers", name) for name in names))
    rows = ((words("learn_numbers", code), *map(tell, answers)) for code, tell in _OF_ANSWER.items())
    return Numbers(said("learn_numbers", source), head, tuple(row for row in rows if {*row[1:]} != {gib(0, 2)}))


def _most(answer: Answer, device: Device) -> int:
    """Tensors alone, at the fullest moment."""
    return max((peak.count for peak in answer.of(device)), default=0)


def _most_of(answer: Answer, component: Component) -> int:
    """On GPU and host together, at the moment when there is most of it."""
    by_moment: dict[str, int] = {}
    for peak in answer.peaks:
        here = sum(part.count for part in peak.parts if part.component is component)
        by_moment[peak.moment.value] = by_moment.get(peak.moment.value, 0) + here
    return max(by_moment.values(), default=0)


_OF_ANSWER: Mapping[str, Callable[[Answer], str]] = {
    "trainable": lambda answer: f"{answer.trainable / 1e9:.3g}",
    "gpu_tensors": lambda answer: gib(_most(answer, Device.GPU)),
    "host_tensors": lambda answer: gib(_most(answer, Device.HOST)),
    "gathered": lambda answer: gib(_most_of(answer, Component.GATHERED), 2),
    "gradients": lambda answer: gib(_most_of(answer, Component.GRADIENTS), 2),
    "moments": lambda answer: gib(_most_of(answer, Component.MOMENTS), 2),
}
