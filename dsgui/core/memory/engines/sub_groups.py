"""Stage 3's sub-groups, whose lines in runtime/zero/stage3.py are meant."""

from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.memory.engines.job import Job
from dsgui.core.memory.walk import Weight


@dataclass(frozen=True, slots=True)
class SubGroup:
    """Weights whose parts are updated together (1210–1233)."""

    weights: tuple[Weight, ...]
    numel: int


def share(job: Job, weight: Weight) -> int:
    """Elements of one rank's part of it."""
    return -(-weight.numel // job.ranks)


def sub_groups(job: Job, group: tuple[Weight, ...]) -> list[SubGroup]:
    whole = sum(share(job, weight) for weight in group)
    return [SubGroup(group, whole)] if job.settings.sub_group >= whole else list(_cut(job, group))


def _cut(job: Job, group: tuple[Weight, ...]) -> Iterator[SubGroup]:
    current, size = list[Weight](), 0
    for weight in group:
        current.append(weight)
        size += share(job, weight)
        if size >= job.settings.sub_group or weight is group[-1]:
            yield SubGroup(tuple(current), size)
            current, size = [], 0
