"""The batch-size identity, solved exactly as DeepSpeed solves it.

train_batch_size = train_micro_batch_size_per_gpu × gradient_accumulation_steps × world_size, where a missing term is
found by floor division and the identity is asserted afterwards (deepspeed/runtime/config.py,
`_set_batch_related_parameters` and `_batch_assertion`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import Context, Integration

Number = int | float
# deepspeed/runtime/config.py looks for the key in what it was given: before 0.18.6 a file's path, where the HF Trainer
# hands over the config itself.
SEQUENCE_PARALLEL_SINCE, SEQUENCE_PARALLEL_IN_FILES_SINCE = "0.17.0", "0.18.6"


def data_parallel_size(config: Mapping[str, Any], context: Context) -> Number:
    """The ranks that work on different samples: `sequence_parallel_size` divides the world size, into fractions if need
    be (deepspeed/runtime/config.py: DeepSpeedConfig). Anything that is not a size counts as 1."""
    shared = config.get("sequence_parallel_size")
    if shares_sequences(context) and isinstance(shared, int) and shared > 0:
        size = context.world_size / shared
        return int(size) if size == int(size) else size
    return context.world_size


def shares_sequences(context: Context) -> bool:
    """Whether this DeepSpeed reads `sequence_parallel_size` from the config in the way this reader passes it."""
    hf = context.integration is Integration.HF
    return context.at_least(SEQUENCE_PARALLEL_SINCE if hf else SEQUENCE_PARALLEL_IN_FILES_SINCE)


@dataclass(frozen=True, slots=True)
class Batch:
    """The three terms after solving, in samples, samples and steps, and the ranks they are spread over."""

    train: Number
    micro: Number
    accumulation: Number
    world_size: Number

    @property
    def product(self) -> Number:
        """What `train` must be."""
        return self.micro * self.accumulation * self.world_size

    @property
    def holds(self) -> bool:
        return min(self.train, self.micro, self.accumulation) > 0 and self.train == self.product


def solve(train: Number | None, micro: Number | None, accumulation: Number | None, world_size: Number) -> Batch | None:
    """The terms DeepSpeed would continue with; None when neither `train` nor `micro` is given. A result may still break
    the identity (`holds`): DeepSpeed raises then."""
    if train is None:
        if micro is None:
            return None
        accumulation = 1 if accumulation is None else accumulation
        return Batch(micro * accumulation * world_size, micro, accumulation, world_size)
    if micro is None:
        accumulation = 1 if accumulation is None else accumulation
        micro = train // world_size // accumulation if accumulation else 0
    elif accumulation is None:
        accumulation = train // micro // world_size if micro else 0
    return Batch(train, micro, accumulation, world_size)
