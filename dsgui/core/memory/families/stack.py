"""A stack of layers: those that are alike are measured once."""

from collections.abc import Callable, Sequence
from functools import partial

from dsgui.core.memory.modules import Modules
from dsgui.core.memory.tape import Span, Tensor

Layer = Callable[..., Sequence[Tensor]]


def stacked(
    make: Modules, name: str, kinds: Sequence[str], layer: Layer, hidden: Tensor, *shared: Tensor
) -> Sequence[Tensor]:
    """Layers `name`.0, `name`.1 … of `kinds`: `layer(index, hidden, *shared)` gives a new hidden, and what the next
    layers share. The first two and the last are measured (what is shared is first kept by the second), and of those
    between one of each kind."""
    passed: Sequence[Tensor] = (hidden, *shared)
    del hidden, shared
    for index, like in representatives(kinds):
        span = Span(checkpointed=make.workload.checkpointing, stack=name, layer=index, like=like)
        passed = make.tape.layer(span, partial(layer, index), *passed)
    return passed


def representatives(kinds: Sequence[str]) -> list[tuple[int, tuple[int, ...]]]:
    """The layers that are measured, each with those that it stands for."""
    last = len(kinds) - 1
    alike: dict[str, list[int]] = {}
    for index in range(2, last):
        alike.setdefault(kinds[index], []).append(index)
    alone = [(index, (index,)) for index in sorted({0, min(1, last), last})]
    return sorted([*alone, *((group[0], tuple(group)) for group in alike.values())])
