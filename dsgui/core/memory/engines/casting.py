"""torch's autocast and the weights: the narrow copies that matrix products read, kept until the forward ends
(torch/csrc/ATen/autocast_mode.h) and as long as the graph needs them, and the narrow gradients behind them; which
weights DeepSpeed exchanges in the narrow dtype (runtime/torch_autocast.py)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.ledger import Ledger, slot_for
from dsgui.core.memory.modules import CONV1D, LINEAR
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.walk import Unit, Walk, Weight

NARROW = 2  # bytes
_MULTIPLIED = (LINEAR, CONV1D)
CASTS = slot_for(Component.ACTIVATIONS, keys=(keys.AUTOCAST,))
GRADIENTS = slot_for(Component.GRADIENTS, keys=(keys.AUTOCAST,))


@lru_cache(maxsize=32)
def exchanged_narrow(walk: Walk, settings: Settings) -> frozenset[str]:
    """Weights that belong to a module of a class that is told to be safe; a tied one to any."""
    uses = (weight for unit in walk.units() for weight in unit.weights)
    return frozenset(weight.name for weight in uses if settings.autocast and weight.of in settings.lowered)


@dataclass(slots=True)
class Casting:
    """`held` by the graph, `kept` until the forward ends."""

    ledger: Ledger
    settings: Settings
    kept: dict[str, int] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)

    def forward(self, unit: Unit, *, keeps: bool, again: bool = False) -> None:
        for weight in self._cast(unit):
            if weight.name not in self.kept and not self.held[weight.name]:
                self.ledger.take(CASTS, weight.numel * NARROW)
            if not again:
                self.kept[weight.name] = weight.numel * NARROW
            self.held[weight.name] += keeps

    def end_forward(self) -> None:
        for name, count in self.kept.items():
            self.ledger.drop(CASTS, count * (not self.held[name]))
        self.kept = {}

    def begin_backward(self, trained: Iterable[Weight]) -> None:
        self.ledger.take_all(GRADIENTS, self._gradients(trained))

    def end_backward(self, trained: Iterable[Weight]) -> None:
        """They are widened one after the other."""
        self.ledger.take_all(GRADIENTS, self._gradients(trained), -1)

    def release(self, unit: Unit) -> None:
        """Its backward has run."""
        for weight in self._cast(unit):
            self.held[weight.name] -= 1
            self.ledger.drop(CASTS, weight.numel * NARROW * (not self.held[weight.name]))

    def is_multiplied(self, weights: Iterable[Weight]) -> bool:
        return any(weight.of in _MULTIPLIED for weight in weights)

    def _cast(self, unit: Unit) -> list[Weight]:
        """Stage 3's own function casts for itself."""
        own = (CONV1D,) if self.settings.keeps_inputs else _MULTIPLIED
        return [weight for weight in unit.weights if weight.of in own]

    def _gradients(self, trained: Iterable[Weight]) -> list[int]:
        return [weight.numel * NARROW for weight in trained if weight.of in _MULTIPLIED]
