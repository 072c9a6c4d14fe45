"""What an engine's model is led through: the model's walk, the settings, the ranks; and what all of them share."""

from collections import Counter
from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Moment, Place
from dsgui.core.memory.engines.casting import Casting
from dsgui.core.memory.engines.order import Act, Step, backward_of
from dsgui.core.memory.ledger import Ledger, Slot, slot_for
from dsgui.core.memory.question import MOST_MICRO_BATCHES
from dsgui.core.memory.settings import Settings
from dsgui.core.memory.walk import Block, Unit, Walk, Weight

MICRO_BATCH = "/train_micro_batch_size_per_gpu"
BATCH_KEYS = (MICRO_BATCH, "--per_device_train_batch_size", "--gradient_checkpointing")
LOGITS_KEYS = (MICRO_BATCH, "--per_device_train_batch_size")


@dataclass(frozen=True, slots=True)
class Made:
    """Where the script makes the model before `deepspeed.initialize`, and how wide an element is there. At stage 3 with
    `inside` it is made within `deepspeed.zero.Init`, divided as it grows."""

    place: Place = Place.HOST
    element: int = 4
    inside: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """`groups`: the trainable weights by optimizer group."""

    walk: Walk
    settings: Settings
    ranks: int = 1
    rank: int = 0
    groups: tuple[tuple[Weight, ...], ...] = ()
    made: Made = Made()
    on_cpu: bool = False

    @property
    def precision_key(self) -> str:
        return f"/{self.settings.precision}/enabled" if self.settings.is_16_bit else "/bf16/enabled"

    def width(self, weight: Weight) -> int:
        """Bytes of an element of it, and of its gradient."""
        return 4 if weight.wide else self.settings.weight

    @property
    def trainable(self) -> list[Weight]:
        return [weight for group in self.groups for weight in group]

    @property
    def frozen(self) -> list[Weight]:
        return [weight for weight in self.walk.weights().values() if not weight.trainable]


def grouped(walk: Walk, by_decay: bool) -> tuple[tuple[Weight, ...], ...]:
    """The optimizer's groups: the HF Trainer's two (those with weight decay, the others), or one."""
    trainable = [weight for weight in walk.weights().values() if weight.trainable]
    groups = [[w for w in trainable if w.decays], [w for w in trainable if not w.decays]] if by_decay else [trainable]
    return tuple(tuple(group) for group in groups if group)


@dataclass(slots=True)
class Engine:
    """One training: made, taken through a step as it is when all states exist, and asked for its ledger. Subclasses say
    what happens at each place of it; here is what the model itself does."""

    job: Job
    ledger: Ledger = field(init=False)
    handed: int = 0
    micro: int = 0
    is_boundary: bool = True
    gradients: dict[str, int] = field(default_factory=dict)
    _partial: dict[str, int] = field(default_factory=dict)
    _backward: tuple[Step, ...] = ()
    _uses: Counter[str] = field(default_factory=Counter)
    casting: Casting = field(init=False)
    _casts: bool = False  # hundreds of units ask

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.job.on_cpu)
        self.casting = Casting(self.ledger, self.job.settings)
        self._casts = bool(self.job.settings.autocast)
        self._backward = backward_of(self.job.walk)

    def initialize(self) -> None:
        raise NotImplementedError

    def settle(self) -> None:
        """What the first step leaves behind."""

    def enter(self, unit: Unit, forward: bool) -> None:
        """Before a module's forward or backward."""

    def leave(self, unit: Unit, forward: bool) -> None:
        """After it. An embedding has no gradient to hand on: nothing tells when its backward is over."""

    def begin_forward(self) -> None:
        pass

    def hooked(self, weights: list[Weight]) -> list[Weight]:
        """A module's gradients in the order in which autograd hands them over: the bias first (`addmm`)."""
        return weights[::-1]

    def reduce(self, weight: Weight) -> None:
        """The hook of a gradient that is complete."""

    def end_backward(self, is_boundary: bool) -> None:
        pass

    def step(self) -> None:
        raise NotImplementedError

    def run(self) -> Ledger:
        """Made, and the last step of several."""
        self.prepare()
        self.train()
        return self.ledger

    def prepare(self) -> Ledger:
        """Made, with all states that its first steps leave behind."""
        self.ledger.begin(Moment.INIT)
        self.initialize()
        self.ledger.begin(None)
        self.settle()
        return self.ledger

    def train(self) -> None:
        """One step. More micro batches repeat the second."""
        last = min(self.job.settings.gas, MOST_MICRO_BATCHES) - 1
        for micro in range(last + 1):
            self._micro_batch(micro, is_boundary=micro == last)
            self.ledger.begin(Moment.STEP)  # `engine.step()` follows each; it does something after the last
        self.step()

    def alive(self) -> dict[Component, int]:
        return self.ledger.alive()

    def _micro_batch(self, micro: int, is_boundary: bool) -> None:
        self.micro, self.is_boundary = micro, is_boundary
        self.ledger.begin(Moment.FORWARD)
        self.begin_forward()
        for block in self.job.walk.blocks:
            self._forward(block)
        self.casting.end_forward()
        self.ledger.begin(Moment.BACKWARD)
        self._uses = Counter(weight.name for unit in self.job.walk.units() for weight in unit.weights)
        units, entries = self.job.walk.units(), self._entries()
        for act, number, enters, leaves in self._backward:
            unit = units[number]
            if act is Act.ENTER:
                self.enter(unit, False)
            elif act is Act.AGAIN:
                self._call(unit, unit.recomputed, keeps=True, enters=enters, leaves=enters and leaves, again=True)
            elif act is Act.BACK:
                self._backward_of(unit, units[number - 1].out if number else 0, leaves=leaves)
            else:
                self.ledger.drop(ACTIVATIONS, entries[number])
        self._hand_on(0)
        self.end_backward(is_boundary)

    def _entries(self) -> dict[int, int]:
        """What is kept of each block before its first unit, by the number of that."""
        found, start = {}, 0
        for block in self.job.walk.blocks:
            found[start] = block.entry
            start += len(block.units)
        return found

    def _forward(self, block: Block) -> None:
        self.ledger.take(ACTIVATIONS, block.entry)
        for unit in block.units:
            self._call(unit, unit.forward, keeps=not block.checkpointed, enters=unit.call, leaves=unit.call)

    def _call(self, unit: Unit, besides: int, *, keeps: bool, enters: bool, leaves: bool, again: bool = False) -> None:
        slot = LOGITS if unit.logits else ACTIVATIONS
        if enters:
            self.enter(unit, True)
        if self._casts:
            self.casting.forward(unit, keeps=keeps, again=again)
        if keeps and unit.kept:
            self.ledger.take(slot, unit.kept)
        if besides:
            self.ledger.pass_by(slot, besides)
        if leaves:
            self.leave(unit, True)

    def _backward_of(self, unit: Unit, read: int, *, leaves: bool) -> None:
        """While the hooks of its gradients run, the gradient of what it read waits for the unit before it."""
        slot = LOGITS if unit.logits else ACTIVATIONS
        if self.handed:
            self._hand_on(0)
        trained = [weight for weight in unit.weights if weight.trainable] if unit.weights else []
        if self._casts and self.casting.is_multiplied(trained):
            self._backward_narrow(unit, slot, trained)
        else:
            for weight in trained:
                self.ledger.take(GRADIENTS, weight.numel * self.job.width(weight))
            self.ledger.pass_by(slot, unit.backward)
            self.ledger.drop(slot, unit.kept)
        self._hand_on(read)
        for weight in self.hooked(trained) if trained else ():
            self._accumulate(weight)
        if leaves:
            self.leave(unit, False)

    def _backward_narrow(self, unit: Unit, slot: Slot, trained: list[Weight]) -> None:
        """Gradients under autocast are narrow first, and widened when what the product saved is gone; stage 3's own
        function holds that until it has widened them."""
        holds = self.job.settings.keeps_inputs
        self.casting.begin_backward(trained)
        self.ledger.pass_by(slot, unit.backward)
        self.casting.release(unit)
        self.ledger.drop(slot, unit.kept * (not holds))
        for weight in trained:
            self.ledger.take(GRADIENTS, weight.numel * self.job.width(weight))
        self.ledger.drop(slot, unit.kept * holds)
        self.casting.end_backward(trained)

    def _hand_on(self, count: int) -> None:
        if self.handed:
            self.ledger.drop(ACTIVATIONS, self.handed)
        if count:
            self.ledger.take(ACTIVATIONS, count)
        self.handed = count

    def _accumulate(self, weight: Weight) -> None:
        """A weight that is used twice has its gradient when both are there. autograd adds to a gradient of an earlier
        micro batch; the hook follows."""
        count = weight.numel * self.job.width(weight)
        self._uses[weight.name] -= 1
        if weight.name in self._partial:
            self.ledger.drop(GRADIENTS, self._partial.pop(weight.name))
        if self._uses[weight.name]:
            self._partial[weight.name] = count
            return
        if weight.name in self.gradients:
            self.ledger.drop(GRADIENTS, count)
        self.gradients[weight.name] = count
        self.reduce(weight)

    def forget(self, weight: Weight) -> None:
        """`param.grad = None`, or its data are now elsewhere."""
        if weight.name in self.gradients:
            self.ledger.drop(GRADIENTS, self.gradients.pop(weight.name))


ACTIVATIONS = slot_for(Component.ACTIVATIONS, keys=BATCH_KEYS)
LOGITS = slot_for(Component.LOGITS, keys=LOGITS_KEYS)
GRADIENTS = slot_for(Component.GRADIENTS, keys=(keys.STAGE, keys.OPTIMIZER_DEVICE))
