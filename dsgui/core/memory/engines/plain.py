"""Stage 0: nothing is divided. 16 bits: DeepSpeed's FP16_Optimizer (runtime/fp16/fused_optimizer.py), which bf16 uses
too; fp32: the optimizer itself."""

from dataclasses import dataclass

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.engines.job import Engine
from dsgui.core.memory.engines.loading import Loading
from dsgui.core.memory.engines.muon import MOMENTUM, Names, has_matrices, update_of
from dsgui.core.memory.ledger import slot_for
from dsgui.core.memory.walk import Weight

ALL_REDUCE = 500_000_000  # elements: engine.py:151, MEMORY_OPT_ALLREDUCE_SIZE, which no key changes
MASTER = slot_for(Component.MASTER, keys=(keys.STAGE, "/bf16/enabled"))
MOMENTS = slot_for(Component.MOMENTS, keys=(keys.STAGE, keys.OPTIMIZER))
ALL_REDUCED = slot_for(Component.STAGING, keys=(keys.STAGE, keys.REDUCED_IN))
CAST = slot_for(Component.STEP, keys=(keys.STAGE, "/bf16/enabled"))
AT_INIT = slot_for(Component.INIT, keys=(keys.STAGE,))


def numel(weights: tuple[Weight, ...] | list[Weight]) -> int:
    return sum(weight.numel for weight in weights)


def all_reduce(engine: Engine, weights: list[Weight]) -> None:
    """Gradients flattened, and perhaps cast, a bucket at a time (engine.py:3795–3850)."""
    settings, last, elements, several = engine.job.settings, len(weights) - 1, 0, False
    for index, weight in enumerate(weights):
        several = elements > 0
        elements += weight.numel
        if elements > ALL_REDUCE or index == last:
            flat = elements * settings.weight * several
            cast = elements * settings.reduced * (settings.reduced != settings.weight)
            engine.ledger.take(ALL_REDUCED, flat)
            engine.ledger.pass_by(ALL_REDUCED, cast)
            engine.ledger.drop(ALL_REDUCED, flat)
            elements = 0


@dataclass(slots=True)
class Plain(Engine):
    def initialize(self) -> None:
        loading = Loading(self.job, self.ledger)
        loading.whole()
        if self.job.settings.is_16_bit:
            for group in self.job.groups:
                self._flatten(loading, group)
            self._first_step()

    def _flatten(self, loading: Loading, group: tuple[Weight, ...]) -> None:
        """fused_optimizer.py:94–100: a clone of each weight, the flat copy, then the originals go."""
        size, ledger = numel(group), self.ledger
        b = self.job.settings.weight
        for weight in group:
            ledger.take(AT_INIT, weight.numel * b)
        loading.flat(size, group)
        for weight in group:
            ledger.drop(AT_INIT, weight.numel * b)
        loading.flattened(group)
        ledger.take(AT_INIT, size * b)
        ledger.take(MASTER, size * 4)
        ledger.drop(AT_INIT, size * b)

    def _first_step(self) -> None:
        """fused_optimizer.py:125–135: the optimizer steps once on gradients of zeros."""
        for group in self.job.groups:
            self.ledger.take(AT_INIT, numel(group) * 4)
        for group in self.job.groups:
            self._moments(group)
        for group in self.job.groups:
            self.ledger.drop(AT_INIT, numel(group) * 4)

    def _moments(self, group: tuple[Weight, ...]) -> None:
        self.ledger.take(MOMENTS, numel(group) * 4, self.job.settings.moments)

    def _orthogonalize(self, *, is_first: bool = False) -> None:
        """muon_optimizer.py:63–80: whole matrices, one after the other; `is_first` makes their momentums, and then
        what Adam has of the rest."""
        names = Names(self.ledger)
        for group in filter(self._has_matrices, self.job.groups):
            for weight in group:
                self.ledger.take(MOMENTUM, weight.numel * 4 * is_first)
                names.update("update", update_of(weight, 4, self.job.settings))
        for group in self.job.groups:
            if is_first and not self._has_matrices(group):
                self._moments(group)
        names.end()

    def _has_matrices(self, group: tuple[Weight, ...]) -> bool:
        return has_matrices(group, self.job.settings)

    def settle(self) -> None:
        if self.job.settings.is_16_bit:
            return
        for group in self.job.groups:
            for weight in group:
                if self._has_matrices(group):
                    self.ledger.take(MOMENTUM, weight.numel * 4)
                else:
                    self._moments((weight,))

    def end_backward(self, is_boundary: bool) -> None:
        if is_boundary:
            all_reduce(self, self.job.trainable)

    def step(self) -> None:
        if self.job.settings.is_16_bit:
            flats = [self._cast(group) for group in self.job.groups]
            self._foreach()
            for flat in flats:
                self.ledger.drop(CAST, flat)
        else:
            self._orthogonalize()
            self._foreach()
            for weight in self.job.trainable:
                self.forget(weight)

    def _cast(self, group: tuple[Weight, ...]) -> int:
        """fused_optimizer.py:282–314: each gradient in fp32, the flat copy of them, then `p.grad = None`."""
        for weight in group:
            self.ledger.take(CAST, weight.numel * 4)
        flat = numel(group) * 4
        if len(group) > 1:
            self.ledger.take(CAST, flat)
            for weight in group:
                self.ledger.drop(CAST, weight.numel * 4)
        for weight in group:
            self.forget(weight)
        return flat

    def _foreach(self) -> None:
        """torch's own optimizers keep one more tensor a weight while they step all at once (`foreach`)."""
        if self.job.settings.is_foreach:
            self.ledger.pass_by(CAST, numel(self.job.trainable) * 4)
