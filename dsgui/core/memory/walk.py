"""A model as memory sees it: its modules in the order in which a forward calls them, with their weights and what each
keeps for the backward. `core/memory/families` makes it from `config.json`; the engines' models are led through it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dsgui.core.texts.saying import Said

_NOT_FOR_MUON = ("embed", "lm_head")


class Weight(NamedTuple):
    """A parameter of `numel` elements. Tied ones have one name and are counted once. `decays`: the HF Trainer puts it
    into the optimizer group with weight decay (no bias, no norm). `wide`: in fp32, whatever the model is in. `rows`: of
    a matrix; 0 of a vector. `of`: the class of its module, where that matters."""

    name: str
    numel: int
    trainable: bool = True
    decays: bool = True
    wide: bool = False
    rows: int = 0
    of: str = ""

    @property
    def columns(self) -> int:
        return self.numel // self.rows if self.rows else 1

    @property
    def for_muon(self) -> bool:
        """deepspeed/__init__.py:369: a matrix that is neither an embedding nor the head, by its name."""
        return self.rows > 0 and not any(word in self.name.lower() for word in _NOT_FOR_MUON)


class Unit(NamedTuple):
    """One call of a module, or (`call` false) what the module that contains it does between two calls: no hook of
    DeepSpeed sees that. Containers stand at the start of their calls. All counts are bytes of one micro batch on the
    GPU. Gradients of weights are not in them.

    `kept` stays from its forward to its backward. The most that is alive, besides weights, while it runs:

    - in the forward: all that is kept of the units up to and with it + `forward`; of a checkpointed block nothing is
      kept but `entry`, so there: the entries of the blocks up to and with its own + `forward`;
    - while its block is computed again: those entries + `kept` of the block's units up to and with it + `recomputed`;
    - in its backward: the same with `backward` (not checkpointed: `kept` of all units up to and with it + `backward`).

    `out`: bytes of its result. `logits`: what it keeps and needs is told as logits and loss. `reads`: what it reads
    wants a gradient (not the token ids of an embedding). `asked`: so does its result, since it was asked to."""

    name: str
    weights: tuple[Weight, ...] = ()
    kept: int = 0
    forward: int = 0
    backward: int = 0
    out: int = 0
    logits: bool = False
    call: bool = True
    recomputed: int = 0
    reads: bool = True
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Units that are recomputed together under gradient checkpointing (a transformer's layer): then only `entry` bytes
    are kept of it. A block of a single embedding or norm has `checkpointed` False."""

    units: tuple[Unit, ...]
    entry: int = 0
    checkpointed: bool = False


@dataclass(frozen=True, eq=False)
class Walk:
    """The whole forward. Prefetching looks at every call: units without weights stand where they are called. A planner
    leads hundreds of configs through one walk: what all of them ask of it is put together once."""

    blocks: tuple[Block, ...]
    element: int = 2  # bytes of an element of the model's dtype
    assumed: tuple[Said, ...] = ()

    def units(self) -> tuple[Unit, ...]:
        return self._units

    def weights(self) -> Mapping[str, Weight]:
        """Each parameter once, in the order in which they are first used."""
        return self._weights

    def copies(self) -> dict[str, Weight]:
        """Tied weights by the module that makes one of its own, which is given up once the model is whole."""
        used = ((unit.name, weight) for unit in self.units() for weight in unit.weights)
        return {name: weight for name, weight in used if not weight.name.startswith(f"{name}.")}

    @cached_property
    def every(self) -> int:
        """Elements of all weights."""
        return sum(weight.numel for weight in self._weights.values())

    @cached_property
    def trained(self) -> int:
        """Elements of those that are trained."""
        return sum(weight.numel for weight in self._weights.values() if weight.trainable)

    @cached_property
    def kept(self) -> int:
        """Bytes that wait for the backward when the forward has ended."""
        return sum(b.entry + (0 if b.checkpointed else sum(unit.kept for unit in b.units)) for b in self.blocks)

    @cached_property
    def _units(self) -> tuple[Unit, ...]:
        return tuple(unit for block in self.blocks for unit in block.units)

    @cached_property
    def _weights(self) -> dict[str, Weight]:
        return {weight.name: weight for unit in self._units for weight in unit.weights}
