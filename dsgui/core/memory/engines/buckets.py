"""The buckets that gradients wait in: one for each dtype that they are exchanged in (runtime/zero/stage_1_and_2.py:608,
stage3.py:469)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dsgui.core.memory.engines.casting import NARROW, exchanged_narrow
from dsgui.core.memory.engines.job import Job
from dsgui.core.memory.walk import Weight


@dataclass(slots=True)
class Bucket:
    """The gradients that wait to be reduced together, on their way in `reduced` bytes an element. `index` of its
    buffers is filled now."""

    reduced: int
    index: int = 0
    weights: list[Weight] = field(default_factory=list)
    elements: int = 0

    def add(self, weight: Weight) -> None:
        self.weights.append(weight)
        self.elements += weight.numel

    def clear(self) -> None:
        self.weights, self.elements = [], 0


@dataclass(slots=True)
class Buckets:
    """In the order in which the last ones are reduced: by the names of the dtypes, fp32 after the narrow ones."""

    job: Job
    narrow: frozenset[str] = frozenset()
    every: dict[int, Bucket] = field(default_factory=dict)
    _only: Bucket | None = None

    def __post_init__(self) -> None:
        self.narrow = exchanged_narrow(self.job.walk, self.job.settings)
        found = {self._reduced(weight) for weight in self.job.trainable}
        self.every = {reduced: Bucket(reduced) for reduced in sorted(found)}
        self._only = next(iter(self)) if len(self) == 1 else None

    def of(self, weight: Weight) -> Bucket:
        return self._only or self.every[self._reduced(weight)]

    def __iter__(self) -> Iterator[Bucket]:
        return iter(self.every.values())

    def __len__(self) -> int:
        return len(self.every)

    def _reduced(self, weight: Weight) -> int:
        return NARROW if weight.name in self.narrow else self.job.settings.reduced
