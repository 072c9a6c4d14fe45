"""Muon at stage 3 (runtime/zero/stage3.py, whose lines are meant): gradients and momentums are divided, and matrices
are gathered for their update."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component
from dsgui.core.memory.engines.job import Job
from dsgui.core.memory.engines.muon import UPDATE, Names, Scratch, update_of
from dsgui.core.memory.ledger import Ledger, slot_for
from dsgui.core.memory.walk import Weight

WHOLE = slot_for(Component.STEP, keys=(keys.OPTIMIZER, keys.BUCKET))


@dataclass(slots=True)
class Orthogonal:
    """The updates of a step's sub-groups of matrices, before the norm."""

    job: Job
    ledger: Ledger
    scratch: Scratch = field(init=False)
    names: Names = field(init=False)
    lists: Names = field(init=False)

    def __post_init__(self) -> None:
        self.scratch = Scratch(self.ledger)
        self.names, self.lists = Names(self.ledger), Names(self.ledger, WHOLE)

    def share(self, weight: Weight) -> int:
        return math.ceil(weight.numel / self.job.ranks)

    def step(self, sub_groups: Sequence[tuple[Weight, ...]]) -> None:
        """1821–1864, and 2588–2681 where the optimizer is offloaded."""
        for weights in sub_groups:
            if self.job.settings.optimizer_at.is_on:
                self._offloaded(weights)
            else:
                for chunk in self._chunks(weights):
                    self._chunk(chunk)
        self.lists.end()
        self.names.end()

    def _chunks(self, weights: tuple[Weight, ...]) -> Iterator[list[Weight]]:
        """As many at once as fit into a bucket."""
        chunk = list[Weight]()
        for weight in weights:
            if chunk and sum(one.numel for one in chunk) + weight.numel > self.job.settings.bucket:
                yield chunk
                chunk = []
            chunk.append(weight)
        yield chunk

    def _gather(self, name: str, weights: list[Weight], element: int, copies: bool, lists: int = 1) -> None:
        """2070–2154: `lists` buffers of parts become whole matrices, of `element` bytes an element. One rank has all of
        them, and `copies` where the dtype is another."""
        parts, ranks = sum(self.share(weight) for weight in weights) * lists, self.job.ranks
        if ranks == 1:
            counts = [weight.numel * element for weight in weights for _ in range(lists)]
            self.lists.put(name, *(counts if copies else ()))
            return
        passing = self.scratch.take((parts, element), parts * element * ranks, parts * element)
        self.lists.put(name, parts * element * ranks)
        self.scratch.drop(passing)

    def _chunk(self, weights: list[Weight]) -> None:
        """1697–1820: each rank updates one matrix a round, and all of them are gathered."""
        s = self.job.settings
        self._gather("gradients", weights, s.reduced, s.reduced != s.accumulated)
        self.lists.put("clones", *(self.share(weight) * s.reduced for weight in weights))
        self._gather("momentums", weights, s.reduced, copies=False)
        for start in range(0, len(weights), self.job.ranks):
            self._round(weights[start : start + self.job.ranks])
        self.names.end()
        self.lists.drop("clones", "momentums")

    def _round(self, weights: list[Weight]) -> None:
        s, ranks = self.job.settings, self.job.ranks
        if self.job.rank < len(weights):
            self.names.update("update", update_of(weights[self.job.rank], s.reduced, s))
        shapes = {(weight.rows, weight.columns) for weight in weights}
        longest = max(weight.numel for weight in weights) * s.reduced
        for name, count in (("local_gradient", 1), ("local_momentum", 1), ("gradients", ranks), ("momentums", ranks)):
            self.names.put(name, *([] if len(weights) == ranks and len(shapes) == 1 else [longest] * count))

    def _offloaded(self, weights: tuple[Weight, ...]) -> None:
        s, every = self.job.settings, list(weights)
        if self.job.ranks > 1:  # of one rank what is gathered are these parts themselves, until there are others
            self.lists.drop("parts", "momentum_parts")
        self.lists.put("parts", *(self.share(weight) * s.master for weight in weights))
        self.lists.put("momentum_parts", *(self.share(weight) * s.reduced for weight in weights))
        if self.job.ranks == 1:
            self._gather("gradients", every, s.accumulated, s.accumulated != s.master)
            self._gather("momentums", every, s.accumulated, s.accumulated != s.reduced)
        else:
            self._gather("gradients", every, s.accumulated, copies=True, lists=2)
        for weight in weights:
            self._offloaded_update(weight)

    def _offloaded_update(self, weight: Weight) -> None:
        s, part = self.job.settings, self.share(weight)
        self.names.update("update", update_of(weight, s.accumulated, s))
        self.names.put("local_update", part * s.accumulated)
        self.names.put("scaled_update", part * s.accumulated * (s.precision == "fp16"))
        self.ledger.pass_by(UPDATE, part * s.master * (s.master != s.accumulated))
        self.names.put("local_momentum", part * s.accumulated)
        self.ledger.pass_by(UPDATE, part * s.reduced * (s.reduced != s.accumulated))
        self.ledger.pass_by(UPDATE, part * 8)
