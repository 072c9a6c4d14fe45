"""In which order autograd comes to a model's modules: containers before what they contain, checkpointed layers again.

DeepSpeed hooks each module (runtime/zero/parameter_offload.py): before its backward where its result wants a gradient,
after it where what it reads wants one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from dsgui.core.memory.walk import Block, Unit, Walk


class Act(Enum):
    ENTER = auto()  # a gradient of its result has come
    AGAIN = auto()  # its forward, computed again
    BACK = auto()  # its backward
    END = auto()  # of the block that it begins


class Step(NamedTuple):
    """What happens to the unit of a number. `enters` and `leaves`: whether DeepSpeed sees the begin of a forward that
    is computed again, and the end of what this is."""

    act: Act
    number: int
    enters: bool = True
    leaves: bool = True


@dataclass(slots=True)
class _Node:
    number: int
    unit: Unit
    prefix: str  # of the names of what it contains
    inner: "list[_Node]" = field(default_factory=list)

    def contains(self, unit: Unit) -> bool:
        """Two calls of one module stand beside each other."""
        return unit.name.startswith(self.prefix) or (unit.name == self.unit.name and not unit.call)


@lru_cache(maxsize=32)
def backward_of(walk: Walk) -> tuple[Step, ...]:
    """The steps of a backward; units are numbered in the order of the forward."""
    return tuple(_backward(walk))


def _backward(walk: Walk) -> Iterator[Step]:
    units, blocks = list(walk.units()), dict(_blocks(walk))
    waiting = {start for start, block in blocks.items() if block.checkpointed}
    starts = [start for start, block in blocks.items() for _ in block.units]
    found = list[Step]()  # a list, and no generators within generators: the largest models have thousands
    _add_steps(_nested(units), found)
    for step in found:
        act, number, *_ = step
        if act is not Act.BACK:
            yield step
            continue
        start = starts[number]
        if start in waiting and (number == start or _keeps(units[number])):
            waiting.remove(start)
            yield from _again(blocks[start], start, number)
        yield step
        if number == start:
            yield Step(Act.END, start)


def _blocks(walk: Walk) -> Iterator[tuple[int, Block]]:
    start = 0
    for block in walk.blocks:
        if block.units:
            yield start, block
        start += len(block.units)


def _nested(units: Iterable[Unit]) -> list[_Node]:
    top, opened = list[_Node](), list[_Node]()
    for number, unit in enumerate(units):
        while opened and not opened[-1].contains(unit):
            opened.pop()
        node = _Node(number, unit, unit.name and f"{unit.name}.")
        (opened[-1].inner if opened else top).append(node)
        if unit.call:
            opened.append(node)
    return top


def _add_steps(nodes: list[_Node], found: list[Step]) -> None:
    for node in reversed(nodes):
        unit = node.unit
        if unit.call and _wants(unit):
            found.append(Step(Act.ENTER, node.number))
        if node.inner:
            _add_steps(node.inner, found)
        found.append(Step(Act.BACK, node.number, True, unit.call and unit.reads))


def _wants(unit: Unit) -> bool:
    """Whether its result wants a gradient."""
    return unit.reads or unit.asked or any(weight.trainable for weight in unit.weights)


def _keeps(unit: Unit) -> bool:
    return unit.kept > 0 or bool(unit.weights)


def _again(block: Block, start: int, first: int) -> Iterator[Step]:
    """All of the layer, once the backward of unit `first` needs what was not kept. The layer's own call was left
    before; and torch stops at the last tensor that is needed, within `first` (torch/utils/checkpoint.py,
    `_StopRecomputationError`)."""
    for number, unit in enumerate(block.units, start):
        is_layer = number == start and len(block.units) > 1
        yield Step(Act.AGAIN, number, unit.call and not is_layer and number <= first, number < first)
