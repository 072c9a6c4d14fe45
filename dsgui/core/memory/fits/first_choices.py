"""Where to begin: of the ladder of presets those that fit a model and a machine, two or three, from the fastest to the
leanest. Speed is an order by estimate (`core/memory/cost.py`), never a time."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.machine.hardware import Hardware, has_bf16, refuses_fp16
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.cost import Cost, cost_of, relative
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import as_json as verdict_as_json
from dsgui.core.memory.fits.memory_report import told
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.instant import walk_for
from dsgui.core.memory.planner import MICRO_BATCH
from dsgui.core.memory.question import Group, Model
from dsgui.core.memory.settings import settings_of
from dsgui.core.validation.checker import Checker

LADDER = ("zero0", "zero1", "zero2", "zero3", "zero2-offload", "zero3-offload-optimizer", "zero3-offload")
# What takes at most so much of another's memory leaves clearly more room.
ROOMIER = 0.8
# Slower by less is told as about as fast: no estimate tells those apart.
AS_FAST = 1.05
_NEAREST = 2
_MOST_DOUBLINGS = 6


@dataclass(frozen=True, slots=True)
class Goal:
    """What somebody wants to train, and on what. `context.arguments` are not asked: they come out."""

    context: Context
    model: Model
    choice: ModelChoice
    micro_batch: int


@dataclass(frozen=True, slots=True)
class FirstChoice:
    """A preset as it would be opened: its `text` for this hardware and micro batch, the `words` the HF Trainer's script
    is given, whether it has to checkpoint, and the verdict. `role` is a code of the page's texts. `slower` than the
    fastest shown, by estimate. `micro_batch`: a larger one than was asked for that fits as surely, 0 where none was
    found."""

    preset: Preset
    text: str
    words: tuple[str, ...]
    checkpointing: bool
    fitted: Fitted
    cost: Cost
    role: str = ""
    slower: float = 1.0
    micro_batch: int = 0

    @property
    def fit(self) -> Fit:
        return self.fitted.verdict.fit

    @property
    def scarce_bytes(self) -> int:
        """Of a GPU at its fullest moment, or of the host where ranks train on the CPU."""
        verdict = self.fitted.verdict
        worst = verdict.worst(Device.GPU) or verdict.worst(Device.HOST)
        return worst.amount.likely if worst else 0


def first_choices(
    goal: Goal, presets: Iterable[Preset], checker: Checker, room: Callable[[Group], Room]
) -> tuple[FirstChoice, ...] | CannotSay:
    """Up to three that fit, or where none does the two that come nearest. Why there is no number, where there is
    none."""
    rungs = [(preset, again) for preset in _ladder(goal, presets) for again in (False, True)]
    tried = [judged(goal, preset, again, checker, room) for preset, again in rungs]
    known = [one for one in tried if isinstance(one, FirstChoice)]
    if not known:
        return next(one for one in tried if isinstance(one, CannotSay))
    by_speed = sorted(known, key=lambda one: (one.cost.per_token, one.checkpointing))
    fitting = [one for one in by_speed if one.fit is not Fit.SHORT]
    chosen = list(_spread(fitting)) if fitting else list(_nearest(by_speed))
    if chosen[0].fit is Fit.FITS:
        chosen[0] = replace(chosen[0], micro_batch=_largest(goal, chosen[0], checker, room))
    return tuple(replace(one, slower=relative(one.cost, chosen[0].cost)) for one in chosen)


def _largest(goal: Goal, one: FirstChoice, checker: Checker, room: Callable[[Group], Room]) -> int:
    """Doubled as long as it fits: who fills a GPU trains faster."""
    found = 0
    for power in range(1, _MOST_DOUBLINGS + 1):
        micro_batch = goal.micro_batch << power
        tried = judged(replace(goal, micro_batch=micro_batch), one.preset, one.checkpointing, checker, room)
        if isinstance(tried, CannotSay) or tried.fit is not Fit.FITS:
            break
        found = micro_batch
    return found


def _ladder(goal: Goal, presets: Iterable[Preset]) -> Iterator[Preset]:
    known = {preset.id: preset for preset in presets}
    names = (f"{rung}-{goal.context.integration.value}" for rung in LADDER)
    return (known[name] for name in names if name in known)


def _spread(fitting: list[FirstChoice]) -> Iterator[FirstChoice]:
    """The fastest; the fastest that leaves clearly more room; the leanest. No preset twice. One that is about as fast
    as the fastest, and needs no host that few have, stands for it."""
    sure = [one for one in fitting if one.fit is not Fit.TIGHT] or fitting
    as_fast = [one for one in sure if relative(one.cost, sure[0].cost) < AS_FAST]
    first = next((one for one in as_fast if not one.fitted.verdict.host_asked), sure[0])
    only = len({one.preset.id for one in fitting}) == 1
    yield replace(first, role="only" if only else "fastest")
    others = [one for one in sure if one.preset.id != first.preset.id]
    roomier = next((one for one in others if one.scarce_bytes <= ROOMIER * first.scarce_bytes), None)
    if roomier is None:
        return
    leanest = min(others, key=lambda one: one.scarce_bytes)
    if leanest.preset.id != roomier.preset.id and leanest.scarce_bytes <= ROOMIER * roomier.scarce_bytes:
        yield replace(roomier, role="roomier")
        yield replace(leanest, role="leanest")
    else:
        yield replace(roomier, role="leanest")


def _nearest(choices: list[FirstChoice]) -> Iterator[FirstChoice]:
    """Those that fit the GPU and lack only the host's memory, which is cheaper, then the leanest of GPU and host."""
    shown: set[str] = set()
    for one in sorted(choices, key=lambda one: (_is_short_on_gpu(one), _excess(one))):
        if one.preset.id not in shown and len(shown) < _NEAREST:
            shown.add(one.preset.id)
            yield replace(one, role="nearest")


def _is_short_on_gpu(one: FirstChoice) -> bool:
    return Device.GPU in one.fitted.verdict.devices and one.fitted.verdict.fit_of(Device.GPU) is Fit.SHORT


def _excess(one: FirstChoice) -> float:
    """How many times too much of whatever is shortest."""
    worst = (one.fitted.verdict.worst(device) for device in one.fitted.verdict.devices)
    return max((bar.amount.likely / bar.capacity for bar in worst if bar and bar.capacity), default=0.0)


def judged(
    goal: Goal, preset: Preset, checkpointing: bool, checker: Checker, room: Callable[[Group], Room]
) -> FirstChoice | CannotSay:
    """A preset for that goal, as it would be opened; without a role."""
    precision = precision_for(goal.context.hardware)
    words = _words(goal, precision, checkpointing)
    context = replace(goal.context, arguments=from_words(words) if words else None)
    document = _adapted(Document(preset.text), goal, precision)
    choice = replace(goal.choice, checkpointing=checkpointing)
    findings = checker.findings(document, context, fixes=False)
    found = fit(Case(document.value, context, findings, goal.model, choice), checker.schema, room)
    if isinstance(found, CannotSay):
        return found
    cost = _cost(found)
    if isinstance(cost, CannotSay):
        return cost
    return FirstChoice(preset, document.text, words, checkpointing, found, cost)


def _cost(found: Fitted) -> Cost | CannotSay:
    question = found.question
    settings = settings_of(question.config, question.release)
    walk = walk_for(question, settings)
    return walk if isinstance(walk, CannotSay) else cost_of(walk, settings, question.workload, question.group)


def precision_for(hardware: Iterable[Hardware]) -> str:
    """bf16 where every device has it in hardware, else fp16, else fp32. A CPU that was not asked yet has bf16:
    DeepSpeed says so of each (accelerator/cpu_accelerator.py: is_bf16_supported)."""
    devices = list(hardware)
    if devices and all(has_bf16(one) or (one.vendor == "cpu" and one.bf16 is None) for one in devices):
        return "bf16"
    return "fp32" if not devices or any(map(refuses_fp16, devices)) else "fp16"


def _words(goal: Goal, precision: str, checkpointing: bool) -> tuple[str, ...]:
    """What the Trainer's script is to be given; a native script takes nothing that dsgui knows."""
    if goal.context.integration is Integration.NATIVE:
        return ()
    words = ["--per_device_train_batch_size", str(goal.micro_batch)]
    words += [f"--{precision}"] if precision != "fp32" else []
    return (*words, *(("--gradient_checkpointing", "True") if checkpointing else ()))


def _adapted(document: Document, goal: Goal, precision: str) -> Document:
    """The micro batch and the precision of the goal, where the file says them itself."""
    if goal.context.integration is Integration.HF:
        return document
    document = document.set(MICRO_BATCH, str(goal.micro_batch))
    if precision == "bf16":
        return document
    return document.rename("/bf16", "fp16") if precision == "fp16" else document.remove("/bf16")


# ------------------------------------------------------------------------------------------------------------ JSON
def as_json(found: tuple[FirstChoice, ...] | CannotSay) -> dict[str, Any]:
    """Bytes everywhere; `verdict` as in a verdict's own JSON."""
    if isinstance(found, CannotSay):
        return {"choices": [], "why": told(found.why)}
    return {"choices": [_choice_json(one) for one in found]}


def _choice_json(one: FirstChoice) -> dict[str, Any]:
    return {
        "preset": one.preset.id,
        "title": one.preset.title,
        "text": one.text,
        "purpose": one.preset.purpose,
        "role": one.role,
        "slower": round(one.slower, 2),
        "checkpointing": one.checkpointing,
        "micro_batch": one.micro_batch,
        "words": " ".join(one.words),
        "verdict": verdict_as_json(one.fitted),
    }
