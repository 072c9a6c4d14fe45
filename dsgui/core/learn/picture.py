"""The picture of memory that the sliders of a tutorial move: the one of 1 · Configure, for a config made of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.machine.hardware import OFFERED
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.stages_compared import Compared, Staged, compared
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.question import Group
from dsgui.core.validation.checker import Checker

# What each slider offers, the first being where it stands at first.
OFFERS: Mapping[str, Sequence[Any]] = {
    "size": ("1.5B", "60M", "770M", "3B", "7B", "13B", "30B", "70B"),
    "ranks": (1, 2, 4, 8, 16, 64),
    "stage": (0, 1, 2, 3),
    "offload": ("none", "optimizer", "all"),
    "micro": (1, 2, 4, 8, 16, 32),
    "length": (1024, 128, 512, 2048, 4096, 8192),
    "checkpointing": (False, True),
    "bucket": (500_000_000, 50_000_000, 200_000_000, 1_000_000_000),
    "device": ("a100-40", "t4", "v100", "rtx4090", "a100-80", "h100"),
}
_GPU_SIZES = {card.id: card for card in OFFERED}
LARGE = ("7B", "13B", "30B", "70B")
HUGE = ("3B", *LARGE)
SMALL_CARDS = ("t4", "rtx4090")


@dataclass(frozen=True, slots=True)
class Sliders:
    """Where they stand: each a value of `OFFERS`."""

    size: str
    ranks: int
    stage: int
    offload: str
    micro: int
    length: int
    checkpointing: bool
    bucket: int
    device: str

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Sliders":
        """As an address has them; what it lacks, or what is not offered, stands as at first."""
        return cls(**{name: _chosen(offered, given.get(name, "")) for name, offered in OFFERS.items()})


def _chosen(offered: Sequence[Any], given: str) -> Any:
    return next((one for one in offered if str(one).lower() == given.lower()), offered[0])


def config_text(at: Sliders) -> str:
    """The config that they stand for: mixed precision with Adam."""
    zero: dict[str, Any] = {"stage": at.stage}
    if at.stage:
        zero["reduce_bucket_size"] = at.bucket
    if at.offload != "none":
        zero["offload_optimizer"] = {"device": "cpu"}
    if at.offload == "all":
        zero["offload_param"] = {"device": "cpu"}
    half = "bf16" if (_GPU_SIZES[at.device].capability or (0, 0)) >= (8, 0) else "fp16"
    config = {
        "train_micro_batch_size_per_gpu": at.micro,
        half: {"enabled": True},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
        "zero_optimization": zero,
    }
    return json.dumps(config, indent=2)


def picture(at: Sliders, checker: Checker) -> Compared | CannotSay:
    """The four stages of it, each with its verdict."""
    model = model_of_size(at.size)
    context = Context(Integration.NATIVE, gpus_per_node=at.ranks, hardware=(_GPU_SIZES[at.device],))
    document = Document(config_text(at))
    choice = ModelChoice(model=at.size, length=at.length, checkpointing=at.checkpointing)
    findings = checker.findings(document, context, fixes=False)
    case = Case(document.value, context, findings, model, choice, at.micro)
    found = fit(case, checker.schema, planned_room(context))
    return found if isinstance(found, CannotSay) else compared(found, case, document, checker)


def planned_room(context: Context) -> Callable[[Group], Room]:
    """What a planned card has; nothing of this machine counts."""
    return lambda group: room_of(context.hardware, None, group, release=context.release)


def reached(goal: str, at: Sliders, found: Compared | CannotSay) -> bool:
    """Whether the picture is as a step asks."""
    return isinstance(found, Compared) and _GOALS[goal](at, found)


def _lowest_stage(at: Sliders, found: Compared) -> bool:
    """A large model fits without offload, and no lower stage would do."""
    fits = {stage: _fits(one) for stage, one in found.stages}
    lower = (fits[stage] for stage in fits if stage < at.stage)
    return at.size in LARGE and at.offload == "none" and at.stage > 0 and fits[at.stage] and not any(lower)


def _one_small_card(at: Sliders, found: Compared) -> bool:
    """A model whose 16Ψ are more than the card fits on one of it."""
    chosen = dict(found.stages)[at.stage]
    return at.size in HUGE and at.ranks == 1 and at.device in SMALL_CARDS and _fits(chosen)


def _fits(one: Staged | CannotSay) -> bool:
    return isinstance(one, Staged) and _is_fine(one.fitted)


def _is_fine(fitted: Fitted) -> bool:
    return fitted.verdict.fit in (Fit.FITS, Fit.TIGHT)


_GOALS: Mapping[str, Callable[[Sliders, Compared], bool]] = {
    "lowest_stage": _lowest_stage,
    "one_small_card": _one_small_card,
}
