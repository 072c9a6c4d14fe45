"""How stages 1 and 2 divide an optimizer group: flat, in equal parts, a part a rank."""

import math
from dataclasses import dataclass, field

from dsgui.core.memory.engines.job import Job
from dsgui.core.memory.walk import Weight

_START = 2  # elements: stage_1_and_2.py, nccl_start_alignment_factor


@dataclass(frozen=True, slots=True)
class Slice:
    """`numel` elements of a weight, from `start` of it, that lie in the part of `rank`."""

    rank: int
    start: int
    numel: int


@dataclass(frozen=True, slots=True)
class Partition:
    """A group of `padded` elements in all; `part` is a rank's share. `mine` are the weights that touch it, whole, with
    what lies in it."""

    weights: tuple[Weight, ...]
    padded: int
    part: int
    slices: dict[str, tuple[Slice, ...]] = field(repr=False)
    mine: tuple[tuple[Weight, Slice], ...] = ()

    @property
    def whole(self) -> int:
        """Elements of the weights that touch this rank's part (`params_in_partition`)."""
        return sum(weight.numel for weight, _ in self.mine)

    @property
    def longest(self) -> int:
        return max((piece.numel for _, piece in self.mine), default=0)

    @property
    def pieces(self) -> int:
        """Tensors that the gradient of the part is put together from; padding is one."""
        return len(self.mine) + (sum(piece.numel for _, piece in self.mine) < self.part)


def partitions(job: Job) -> list[Partition]:
    return [_partition(job, group) for group in job.groups]


def _ordered(job: Job, group: tuple[Weight, ...]) -> list[Weight]:
    """`round_robin_gradients` deals the weights out (stage_1_and_2.py:901)."""
    if not job.settings.round_robin:
        return list(group)
    return [weight for start in range(job.ranks) for weight in group[start :: job.ranks]]


def _partition(job: Job, group: tuple[Weight, ...]) -> Partition:
    align = 16 // job.settings.weight if job.settings.aligns else 1
    weights, starts, at = _ordered(job, group), [], 0
    for weight in weights:
        starts.append(at)
        at += math.ceil(weight.numel / align) * align
    unit = _START * job.ranks
    padded = math.ceil(at / unit) * unit
    part = padded // job.ranks
    slices = {w.name: _slices(start, w.numel, part) for w, start in zip(weights, starts, strict=True)}
    mine = [(w, piece) for w in weights for piece in slices[w.name] if piece.rank == job.rank]
    return Partition(tuple(weights), padded, part, slices, tuple(mine))


def _slices(start: int, numel: int, part: int) -> tuple[Slice, ...]:
    first, last = start // part, (start + numel - 1) // part
    edges = [max(start, rank * part) for rank in range(first, last + 1)] + [start + numel]
    return tuple(Slice(first + i, edges[i] - start, edges[i + 1] - edges[i]) for i in range(len(edges) - 1))
