"""A model as memory sees it: its modules in the order in which a forward calls them, with their weights and what each
keeps for the backward. `core/memory/families` makes it from `config.json`; the engines' models are led through it."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weight:
    """A parameter of `numel` elements. Tied ones have one name and are counted once. `decays`: the HF Trainer puts it
    into the optimizer group with weight decay (no bias, no norm)."""

    name: str
    numel: int
    trainable: bool = True
    decays: bool = True


@dataclass(frozen=True, slots=True)
class Unit:
    """One module that owns parameters, or none (an attention, an activation). All counts are bytes of one micro batch
    on the GPU, in the model's dtype where the operation keeps it.

    `kept` stays from its forward to its backward. `forward` and `backward` are the most that is alive besides while it
    runs: results that are dropped again, gradients of its inputs, recomputed values without `kept`.
    `out` is its result, which the next unit reads (part of `forward`, not of `kept`, unless something saves it).
    `logits`: what it keeps and needs is told as logits and loss."""

    name: str
    weights: tuple[Weight, ...] = ()
    kept: int = 0
    forward: int = 0
    backward: int = 0
    out: int = 0
    logits: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Units that are recomputed together under gradient checkpointing (a transformer's layer): then only `entry` bytes
    are kept of it. A block of a single embedding or norm has `checkpointed` False."""

    units: tuple[Unit, ...]
    entry: int = 0
    checkpointed: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """The whole forward. Prefetching looks at every call: units without weights stand where they are called."""

    blocks: tuple[Block, ...]
    element: int = 2  # bytes of an element of the model's dtype

    def units(self) -> Iterator[Unit]:
        for block in self.blocks:
            yield from block.units

    def weights(self) -> dict[str, Weight]:
        """Each parameter once, in the order in which they are first used."""
        return {weight.name: weight for unit in self.units() for weight in unit.weights}
