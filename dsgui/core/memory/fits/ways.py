"""What would fit where no preset does: more GPUs, or LoRA, each tried with the estimate that the presets were judged
with."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dsgui.core.config.context import Context
from dsgui.core.config.preset import Preset
from dsgui.core.machine.hardware import Hardware, card_named
from dsgui.core.memory.answer import Device
from dsgui.core.memory.fits.first_choices import FirstChoice, Goal, judged
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.question import Group
from dsgui.core.validation.checker import Checker

LORA_RANK = 16
MOST_GPUS = 64
_PER_NODE = 8
# Offered where this machine was asked for, or a card of which no number would do.
_USUAL_CARD = "a100-80"
# The leanest of the ladder, without and with the host's memory: what fits on none of them fits on no other.
_LEANEST = ("zero3", "zero3-offload")


@dataclass(frozen=True, slots=True)
class MoreGpus:
    """So many of a card that a page can choose; `gpus` of each node."""

    card: Hardware
    gpus: int
    nodes: int

    def planned(self, context: Context) -> Context:
        """`context` with these instead of its own."""
        there = replace(context, hardware=(self.card,), missing_ops=frozenset())
        return replace(there, gpus_per_node=self.gpus, nodes=self.nodes)

    def to_json(self) -> dict[str, object]:
        """In the fields' words."""
        return {"device": self.card.id, "title": self.card.title, "gpus": self.gpus, "nodes": self.nodes}


@dataclass(frozen=True, slots=True)
class Ways:
    """Those that fit: None and 0 where they don't. `lora` is the rank."""

    gpus: MoreGpus | None
    lora: int


@dataclass(frozen=True, slots=True)
class _Trial:
    presets: tuple[Preset, ...]
    checker: Checker
    room: Callable[[Context, Group], Room]

    def fits(self, goal: Goal) -> bool:
        return any(self._fitting(goal))

    def fits_hosts(self, goal: Goal) -> bool:
        """Surely, without a host that few have, of hosts that nobody described; of others as `fits`."""
        return any(self._asks_nothing(one) for one in self._fitting(goal))

    @staticmethod
    def _asks_nothing(one: FirstChoice) -> bool:
        host = one.fitted.verdict.worst(Device.HOST)
        known = host is not None and host.capacity is not None
        return known or (one.fit is Fit.FITS and not one.fitted.verdict.host_asked)

    def _fitting(self, goal: Goal) -> Iterator[FirstChoice]:
        for preset in self.presets:
            found = judged(goal, preset, True, self.checker, lambda group: self.room(goal.context, group))
            if isinstance(found, FirstChoice) and found.fit in (Fit.FITS, Fit.TIGHT):
                yield found


def ways(goal: Goal, presets: tuple[Preset, ...], checker: Checker, room: Callable[[Context, Group], Room]) -> Ways:
    """LoRA, and at most five counts of GPUs, are tried with the leanest presets."""
    wanted = {f"{name}-{goal.context.integration.value}" for name in _LEANEST}
    trial = _Trial(tuple(one for one in presets if one.id in wanted), checker, room)
    adapted = replace(goal, choice=replace(goal.choice, lora_rank=LORA_RANK))
    lora = LORA_RANK if not goal.choice.lora_rank and trial.fits(adapted) else 0
    return Ways(_more(goal, trial), lora)


def _more(goal: Goal, trial: _Trial) -> MoreGpus | None:
    """Of the card that was asked for, or of a larger one where no number of those would do. A host that few have is
    asked for only where nothing does without."""

    def there(more: MoreGpus) -> Goal:
        return replace(goal, context=more.planned(goal.context))

    tries = [lambda more: trial.fits_hosts(there(more)), lambda more: trial.fits(there(more))]
    offers = (fewest(counts, fits) for fits in tries for counts in more_gpus(goal.context))
    return next(filter(None, offers), None)


def fewest(offers: Sequence[MoreGpus], fits: Callable[[MoreGpus], bool]) -> MoreGpus | None:
    """The first of `offers` that fits. Half of what is left goes with each try. The most come first: activations are no
    smaller on many GPUs, and then one try tells that none will do."""
    if not offers or not fits(offers[-1]):
        return None
    low, high = 0, len(offers) - 1
    while low < high:
        middle = (low + high) // 2
        if fits(offers[middle]):
            high = middle
        else:
            low = middle + 1
    return offers[high]


def more_gpus(context: Context) -> list[list[MoreGpus]]:
    """Counts of the largest card that is planned with; then of the usual one where that is larger, or where this
    machine's own is planned with."""
    return [counts_of(context, card) for card in _cards(context)]


def _cards(context: Context) -> Iterator[Hardware]:
    asked = filter(None, (card_named(one.id) for one in context.hardware))
    largest = max(asked, key=_bytes, default=None)
    usual = card_named(_USUAL_CARD)
    if largest:
        yield largest
    if usual and (largest is None or _bytes(usual) > _bytes(largest)):
        yield usual


def _bytes(card: Hardware) -> int:
    return (card.memory_bytes or 0) if card.vendor != "cpu" else 0


def counts_of(context: Context, card: Hardware) -> list[MoreGpus]:
    """2, 4, 8 … of the card, that together have more memory than what was asked."""
    had = max(map(_bytes, context.hardware), default=0) * context.world_size
    counts = [1 << power for power in range(1, MOST_GPUS.bit_length())]
    offers = [MoreGpus(card, min(count, _PER_NODE), max(1, count // _PER_NODE)) for count in counts]
    return [one for one in offers if one.gpus * one.nodes * _bytes(card) > had]


# ------------------------------------------------------------------------------------------------------------ JSON
def as_json(found: Ways) -> dict[str, object]:
    """`gpus` in the fields' words of what is asked."""
    return {"gpus": found.gpus.to_json() if found.gpus else None, "lora": found.lora}
