"""The model before an engine has it: where its weights are, and the flat buffers that take their place."""

from collections.abc import Iterable
from dataclasses import dataclass

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.engines.job import Job
from dsgui.core.memory.ledger import Ledger, Slot, slot_for
from dsgui.core.memory.walk import Weight

ORIGINALS = slot_for(Component.INIT, keys=(keys.STAGE,))


@dataclass(frozen=True, slots=True)
class Loading:
    """Stages 0–2: made whole on the host or the GPU, cast (engine.py:1859), moved to the GPU, flattened by groups."""

    job: Job
    ledger: Ledger

    @property
    def weights(self) -> Slot:
        return slot_for(Component.WEIGHTS, keys=(self.job.precision_key, keys.STAGE))

    @property
    def frozen(self) -> Slot:
        return slot_for(Component.FROZEN, keys=(self.job.precision_key, keys.STAGE))

    def whole(self) -> None:
        """Cast one by one where it was made, then moved."""
        job, ledger = self.job, self.ledger
        made = slot_for(Component.INIT, job.made.place, ("--torch_dtype", keys.STAGE))
        weights, width = list(job.walk.weights().values()), job.settings.weight
        for weight in weights:
            ledger.take(made, weight.numel * job.made.element)
        if width != job.made.element:
            for weight in weights:
                ledger.take(made, weight.numel * width)
                ledger.drop(made, weight.numel * job.made.element)
        slots = {True: self.weights, False: self.frozen}
        for weight in weights:
            ledger.drop(made, weight.numel * width)
            ledger.take(slots[weight.trainable], weight.numel * width)

    def flat(self, size: int, group: Iterable[Weight]) -> None:
        """`size` elements take the place of a group's weights, which are there until it is `flattened`."""
        for weight in group:
            self.ledger.drop(self.weights, weight.numel * self.job.settings.weight)
            self.ledger.take(ORIGINALS, weight.numel * self.job.settings.weight)
        self.ledger.take(self.weights, size * self.job.settings.weight)

    def flattened(self, group: Iterable[Weight]) -> None:
        """The originals go."""
        for weight in group:
            self.ledger.drop(ORIGINALS, weight.numel * self.job.settings.weight)
