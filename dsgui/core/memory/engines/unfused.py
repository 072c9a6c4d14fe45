"""Stage 0 with 16 bits and Muon: DeepSpeed's FP16_UnfusedOptimizer (runtime/fp16/unfused_optimizer.py, whose lines are
meant), which bf16 uses too. Nothing is flattened, so each matrix is orthogonalized where it is."""

from dataclasses import dataclass

from dsgui.core.memory.engines.loading import Loading
from dsgui.core.memory.engines.plain import AT_INIT, CAST, MASTER, Plain


@dataclass(slots=True)
class Unfused(Plain):
    def initialize(self) -> None:
        """68–96: a clone of each weight, then its fp32 copy."""
        Loading(self.job, self.ledger).whole()
        for weight in self.job.trainable:
            self.ledger.take(AT_INIT, weight.numel * self.job.settings.weight)
            self.ledger.take(MASTER, weight.numel * 4)
            self.ledger.drop(AT_INIT, weight.numel * self.job.settings.weight)
        self._first_step()

    def _first_step(self) -> None:
        """413–435: gradients of zeros, narrow and wide, for one step."""
        for width in (self.job.settings.weight, 4):
            for weight in self.job.trainable:
                self.ledger.take(AT_INIT, weight.numel * width)
        self._orthogonalize(is_first=True)
        for width in (self.job.settings.weight, 4):
            for weight in self.job.trainable:
                self.ledger.drop(AT_INIT, weight.numel * width)

    def step(self) -> None:
        """205–236: each gradient in fp32 beside the narrow one, until the optimizer has stepped."""
        for weight in self.job.trainable:
            self.ledger.take(CAST, weight.numel * 4)
        self._orthogonalize()
        for weight in self.job.trainable:
            self.ledger.drop(CAST, weight.numel * 4)
            self.forget(weight)
