"""Which bytes are alive while torch trains a model: a tape of operations on tensors that have a size and no numbers.

A family (`families/`) writes its forward as transformers' modelling code does. As in torch, a tensor lives as long as a
name, the graph or the backward holds it: storages count themselves in and out (CPython drops them at once). What an
operation saves is what torch's `derivatives.yaml` says (`operations.py`). So what each module keeps for the backward,
and the most that is alive while it runs, are read off, whatever is checkpointed, frozen or dropped out.

Weights and their gradients are not counted here: the engine says where those are."""

import heapq
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dsgui.core.memory.walk import Weight

SAME: tuple[int, int] = (0, 0)  # the gradient of an input is the one of the result, not a copy


class Storage:
    """`count` bytes, from its making until nothing refers to it. `kept`: the graph saved it, told of one unit."""

    __slots__ = ("count", "kept", "tape")

    def __init__(self, tape: "Tape", count: int) -> None:
        self.tape = tape
        self.count = count
        self.kept = False
        tape.live += count
        tape.top = max(tape.top, tape.live)

    def __del__(self) -> None:
        self.tape.live -= self.count


class Tensor:
    """`numel` elements of `element` bytes. `node` makes its gradient (None: needs none). `scattered`: its dimensions
    lie in memory in another order (a transposed view), so a batched product copies it first."""

    __slots__ = ("element", "node", "numel", "scattered", "storage")

    def __init__(
        self, storage: Storage, numel: int, element: int, node: "Node | None" = None, scattered: bool = False
    ) -> None:
        self.storage = storage
        self.numel = numel
        self.element = element
        self.node = node
        self.scattered = scattered

    @property
    def size(self) -> tuple[int, int]:
        return self.numel, self.element

    def view(self, *, scattered: bool = False) -> "Tensor":
        return Tensor(self.storage, self.numel, self.element, self.node, scattered)

    def detached(self, node: "Node | None" = None) -> "Tensor":
        return Tensor(self.storage, self.numel, self.element, node, self.scattered)


class Node:
    """A recorded operation: what it saved, the sizes of the gradients that it makes for `inputs`, and `extra` bytes
    that its backward needs besides."""

    __slots__ = ("extra", "inputs", "number", "saved", "sizes", "trained", "unit")

    def __init__(
        self,
        number: int,
        unit: int,
        inputs: tuple["Node | None", ...] = (),
        sizes: tuple[tuple[int, int], ...] = (),
        saved: tuple[Storage, ...] = (),
        extra: int = 0,
        trained: int = 0,
    ) -> None:
        self.number = number
        self.trained = trained
        self.unit = unit
        self.inputs = inputs
        self.sizes = sizes
        self.saved = saved
        self.extra = extra

    def gradients(self, tape: "Tape", grad: Tensor) -> list[Tensor | None]:
        extra = Storage(tape, self.extra + (self.trained if tape.gradients else 0))
        made = [
            None if node is None else grad.detached() if size is SAME else tape.make(*size)
            for node, size in zip(self.inputs, self.sizes, strict=True)
        ]
        del extra
        return made


class Leaf(Node):
    """A tensor that was made to want a gradient: both stay until the backward has ended."""

    __slots__ = ()


class Checkpoint(Node):
    """A block that is computed again before its backward. It has one gradient for each of its results."""

    __slots__ = ("again", "grads", "tensors")

    def __init__(self, number: int, unit: int, again: Callable[..., Sequence[Tensor]], tensors: list[Tensor]) -> None:
        super().__init__(number, unit, tuple(tensor.node for tensor in tensors))
        self.again = again
        self.tensors = tensors
        self.grads: dict[int, Tensor] = {}

    def gradients(self, tape: "Tape", grad: Tensor) -> list[Tensor | None]:
        leaves = [None if tensor.node is None else tape.leaf(self.unit) for tensor in self.tensors]
        results = self.again(*(t.detached(leaf) for t, leaf in zip(self.tensors, leaves, strict=True)))
        roots = [(results[index].node, grad) for index, grad in self.grads.items()]
        del results, grad
        self.grads = {}
        found = tape.led_back(roots, {leaf for leaf in leaves if leaf is not None})
        self.tensors = []
        return [None if leaf is None else found.get(leaf) for leaf in leaves]


class Split(Node):
    """Views of one tensor (`chunk`, `split`): their gradients are copied into one when all are there."""

    __slots__ = ("grads",)

    def __init__(self, number: int, unit: int, source: Tensor) -> None:
        super().__init__(number, unit, (source.node,), (source.size,))
        self.grads: dict[int, Tensor] = {}

    def gradients(self, tape: "Tape", grad: Tensor) -> list[Tensor | None]:
        made = super().gradients(tape, grad)
        self.grads = {}
        return made


class Result(Node):
    """One of the results of a checkpoint or a split: hands its gradient to it."""

    __slots__ = ("index", "of")

    def __init__(self, number: int, of: Checkpoint | Split, index: int) -> None:
        super().__init__(number, of.unit, (of,))
        self.of = of
        self.index = index

    def gradients(self, tape: "Tape", grad: Tensor) -> list[Tensor | None]:
        self.of.grads[self.index] = grad
        return [tape.make(0, 1)]


@dataclass(slots=True)
class Measured:
    """A unit while it is measured. `highest`: the most alive in its forward, recomputation and backward, absolute."""

    name: str
    weights: tuple[Weight, ...]
    call: bool
    span: int
    logits: bool
    reads: bool = True
    asked: bool = False
    kept: int = 0
    out: int = 0
    highest: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Span:
    """A block while it is measured. `layer` is its number among its stack's layers, `like` which others are the same;
    `entry` is what is kept of it when it is checkpointed."""

    units: list[int] = field(default_factory=list)
    checkpointed: bool = False
    entry: int = 0
    stack: str = ""
    layer: int = 0
    like: tuple[int, ...] = ()


class Tape:
    """Records a forward, then leads back through it.

    `in_place`: gradients of one tensor are summed into the first that came, as torch does where nothing else holds it
    (autograd/input_buffer.cpp), but not with fake tensors. `gradients`: those of weights are counted too, as if each
    were dropped at once. `lower`: the dtype that torch's autocast casts to, "fp16", "bf16" or ""."""

    def __init__(self, *, in_place: bool = True, gradients: bool = False, lower: str = "") -> None:
        self.live = self.top = 0
        self.in_place = in_place
        self.gradients = gradients
        self.lower = lower
        self.recording = True
        self.units: list[Measured] = []
        self.spans: list[Span] = []
        self.logits = False
        self.moment = "forward"
        self._names: list[str] = []
        self._unit: int | None = None
        self._span: Span | None = None
        self._again: Iterator[int] = iter(())
        self._number = 0
        self._last = 0
        self._shared: dict[str, Node] = {}

    # tensors and operations

    def make(self, numel: int, element: int) -> Tensor:
        return Tensor(Storage(self, numel * element), numel, element)

    def leaf(self, unit: int) -> Node:
        self._number += 1
        return Node(self._number, unit)

    def shared(self, name: str, numel: int, element: int) -> Tensor:
        """A weight that several modules read: its gradient waits for all of them."""
        if name not in self._shared:
            self._last -= 1
            self._shared[name] = Node(self._last, self.unit())
        return Tensor(Storage(self, 0), numel, element, self._shared[name])

    def wanting(self, tensor: Tensor) -> Tensor:
        """`tensor.requires_grad = True`."""
        self._last -= 1
        return tensor.detached(Leaf(self._last, self.unit(), saved=(tensor.storage,)))

    def wants(self, tensor: Tensor) -> bool:
        """Whether it wants a gradient. In a checkpointed forward nothing is recorded: there everything counts as if."""
        return not self.recording or tensor.node is not None

    def operation(
        self,
        inputs: tuple[Tensor, ...],
        numel: int,
        element: int,
        *,
        saves: tuple[Tensor, ...] = (),
        sizes: tuple[tuple[int, int], ...] | None = None,
        trained: int = 0,
        keeps: int = 0,
        keeps_out: bool = False,
        extra: int = 0,
        back: int = 0,
        of: Tensor | None = None,
    ) -> Tensor:
        """A result of `numel` × `element` from `inputs`, and `extra` bytes that are dropped after it.

        What it saves: `saves`, its result (`keeps_out`) and `keeps` bytes of its own. `sizes`: of the gradients
        (default: of the inputs), `trained`: bytes of those of its weights; `back`: bytes besides in its backward.
        `of`: it is a view of that."""
        unit = self.unit()
        out = Tensor(of.storage, numel, element) if of else self.make(numel, element)
        if extra:
            Storage(self, extra)
        self.units[unit].out = numel * element
        if self.recording and (trained or any(tensor.node is not None for tensor in inputs)):
            own = (self.make(keeps, 1),) if keeps else ()
            out.node = self._record(unit, inputs, (*saves, *own, *((out,) if keeps_out else ())), sizes, back, trained)
        elif keeps:
            Storage(self, keeps)
        return out

    def _record(
        self,
        unit: int,
        inputs: tuple[Tensor, ...],
        saves: tuple[Tensor, ...],
        sizes: tuple[tuple[int, int], ...] | None,
        back: int,
        trained: int,
    ) -> Node:
        self._number += 1
        for tensor in saves:
            self._keep(tensor.storage, unit)
        nodes = tuple(tensor.node for tensor in inputs)
        sizes = sizes or tuple(tensor.size for tensor in inputs)
        return Node(self._number, unit, nodes, sizes, tuple(tensor.storage for tensor in saves), back, trained)

    def _keep(self, storage: Storage, unit: int) -> None:
        if not storage.kept:
            storage.kept = True
            self.units[unit].kept += storage.count

    def split(self, tensor: Tensor, *numels: int) -> list[Tensor]:
        """Views of `numels` elements each."""
        views, unit = [Tensor(tensor.storage, numel, tensor.element, None, True) for numel in numels], self.unit()
        if tensor.node is not None:
            self._number += 1
            node = Split(self._number, unit, tensor)
            for index, view in enumerate(views):
                self._number += 1
                view.node = Result(self._number, node, index)
        return views

    # units and blocks

    def unit(self) -> int:
        """The unit that runs now; what a container does between two calls is one of its own."""
        if self._unit is None:
            self._open(self._names[-1] if self._names else "", (), call=False)
        assert self._unit is not None
        return self._unit

    def _open(self, name: str, weights: tuple[Weight, ...], *, call: bool, reads: bool = True) -> None:
        self._close()
        if self.moment == "again":
            self._unit = next(self._again)
        else:
            self._unit = len(self.units)
            self.units.append(Measured(name, weights, call, 0, self.logits, reads))
            self._now().units.append(self._unit)
        self.top = self.live

    def _now(self) -> Span:
        if self._span is None:
            self._span = Span()
            self.spans.append(self._span)
        return self._span

    def _close(self) -> None:
        if self._unit is not None:
            self._reached(self._unit, self.moment)
        self._unit = None

    def _reached(self, unit: int, moment: str) -> None:
        highest = self.units[unit].highest
        highest[moment] = max(highest.get(moment, 0), self.top)

    @contextmanager
    def call(self, name: str, *weights: Weight, reads: bool = True, asked: bool = False) -> Iterator[None]:
        """A call of the module `name`, which owns `weights`; `reads`: something that wants a gradient; `asked`: so does
        its result."""
        self._names.append(name)
        self._open(name, weights, call=True, reads=reads)
        self.units[self.unit()].asked = asked
        yield
        self._close()
        self._names.pop()

    def layer(
        self,
        span: Span,
        forward: Callable[..., Sequence[Tensor]],
        *tensors: Tensor,
    ) -> Sequence[Tensor]:
        """One layer of a stack, computed again in backward if `span.checkpointed`."""
        self._close()
        self._span = span
        self.spans.append(span)
        results = self._checkpointed(span, forward, list(tensors)) if span.checkpointed else forward(*tensors)
        self._close()
        self._span = None
        return results

    def _checkpointed(
        self, span: Span, forward: Callable[..., Sequence[Tensor]], tensors: list[Tensor]
    ) -> Sequence[Tensor]:
        for tensor in tensors:
            if not tensor.storage.kept:
                tensor.storage.kept = True
                span.entry += tensor.storage.count
        self.recording = False
        results = forward(*tensors)
        self.recording = True
        node = self._checkpoint(span, forward, tensors)
        passed = {id(tensor) for tensor in tensors}
        return [
            result if result.node or id(result) in passed else self._result(result, node, index)
            for index, result in enumerate(results)
        ]

    def _checkpoint(self, span: Span, forward: Callable[..., Sequence[Tensor]], tensors: list[Tensor]) -> Checkpoint:
        def again(*tensors: Tensor) -> Sequence[Tensor]:
            self._close()
            self.moment, self._again, names = "again", iter(span.units), self._names
            self._names = []
            results = forward(*tensors)
            self._close()
            self.moment, self._names = "backward", names
            return results

        self._number += 1
        return Checkpoint(self._number, span.units[-1], again, tensors)

    def _result(self, result: Tensor, of: Checkpoint, index: int) -> Tensor:
        self._number += 1
        return result.detached(Result(self._number, of, index))

    # backward

    def backward(self, loss: Tensor) -> None:
        self._close()
        self.moment = "backward"
        self.led_back([(loss.node, self.make(*loss.size))], set())

    def led_back(self, roots: list[tuple[Node | None, Tensor]], leaves: set[Node]) -> dict[Node, Tensor]:
        """Run the nodes behind `roots`, the latest first; the gradients that arrive at `leaves`."""
        waiting: dict[Node, Tensor] = {}
        queue: list[tuple[int, Node]] = []
        while roots:
            self._arrived(waiting, queue, *roots.pop())
        found: dict[Node, Tensor] = {}
        while queue:
            node = heapq.heappop(queue)[1]
            if node in leaves:
                found[node] = waiting.pop(node)
            else:
                self._run(node, waiting, queue)
        return found

    def _run(self, node: Node, waiting: dict[Node, Tensor], queue: list[tuple[int, Node]]) -> None:
        self.top = self.live
        grads = node.gradients(self, waiting.pop(node))
        self._reached(node.unit, "backward")
        node.saved = ()
        self.top = self.live
        grads.reverse()
        for source in node.inputs:
            grad = grads.pop()
            if grad is not None:
                self._arrived(waiting, queue, source, grad)
        self._reached(node.unit, "backward")
        node.inputs = ()

    def _arrived(
        self, waiting: dict[Node, Tensor], queue: list[tuple[int, Node]], node: Node | None, grad: Tensor
    ) -> None:
        if node is None:
            return
        if node not in waiting:
            heapq.heappush(queue, (-node.number, node))
            waiting[node] = grad
        elif not ((self.in_place or isinstance(node, Leaf)) and sys.getrefcount(waiting[node].storage) == 2):
            waiting[node] = self.make(*grad.size)
