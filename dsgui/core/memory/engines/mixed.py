"""bf16 weights with fp32 gradients at stage 1: BF16_Optimizer (runtime/bf16_optimizer.py, whose lines are meant). Its
gradients are whole on every rank, for ever."""

from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.engines.job import Engine
from dsgui.core.memory.engines.loading import Loading
from dsgui.core.memory.engines.muon import has_matrices
from dsgui.core.memory.engines.partition import Partition, partitions
from dsgui.core.memory.engines.plain import ALL_REDUCE
from dsgui.core.memory.ledger import slot_for
from dsgui.core.memory.walk import Weight

_KEYS = (keys.ACCUMULATED_IN, keys.STAGE)
WHOLE = slot_for(Component.GRADIENTS, keys=_KEYS)
MASTER = slot_for(Component.MASTER, keys=(keys.STAGE,))
MOMENTS = slot_for(Component.MOMENTS, keys=(keys.STAGE, keys.OPTIMIZER))
AT_INIT = slot_for(Component.INIT, keys=(keys.STAGE,))
REDUCED = slot_for(Component.STAGING, keys=(keys.REDUCED_IN, keys.ACCUMULATED_IN))
STEP = slot_for(Component.STEP, keys=(keys.OPTIMIZER,))


@dataclass(slots=True)
class Mixed(Engine):
    parts: list[Partition] = field(default_factory=list)

    def initialize(self) -> None:
        """145–231."""
        loading = Loading(self.job, self.ledger)
        loading.whole()
        self.parts = partitions(self.job)
        for part in self.parts:
            loading.flat(part.padded, part.weights)
            loading.flattened(part.weights)
            self.ledger.take(AT_INIT, part.part * 2)
            self.ledger.take(MASTER, part.part * 4)
            self.ledger.drop(AT_INIT, part.part * 2)
            self.ledger.take(WHOLE, part.padded * 4)

    def settle(self) -> None:
        for part in self.parts:
            if not has_matrices(part.weights, self.job.settings):  # flat ones have nothing of Muon's but the step size
                self.ledger.take(MOMENTS, part.part * 4, self.job.settings.moments)

    def reduce(self, weight: Weight) -> None:
        """523: added in fp32. With `bf16.immediate_grad_update` each 16-bit gradient goes then."""
        if self.job.settings.immediate:
            self.ledger.pass_by(REDUCED, weight.numel * 4)
            self.forget(weight)

    def end_backward(self, is_boundary: bool) -> None:
        """engine.py:3795: the whole flat gradients, cast to what is sent."""
        if not self.job.settings.immediate:
            for weight in self.job.trainable:
                self.ledger.pass_by(REDUCED, weight.numel * 4)
        if is_boundary:
            self._all_reduce()

    def _all_reduce(self) -> None:
        bucket = list[int]()
        for index, part in enumerate(self.parts):
            bucket.append(part.padded)
            if sum(bucket) > ALL_REDUCE or index == len(self.parts) - 1:
                flat = sum(bucket) * 4 * (len(bucket) > 1)
                self.ledger.take(REDUCED, flat)
                self.ledger.pass_by(REDUCED, sum(bucket) * self.job.settings.reduced * (self.job.settings.reduced != 4))
                self.ledger.drop(REDUCED, flat)
                bucket.clear()

    def step(self) -> None:
        if self.job.settings.is_foreach:
            self.ledger.pass_by(STEP, sum(part.part for part in self.parts) * 4)
        for weight in self.job.trainable:
            self.forget(weight)
