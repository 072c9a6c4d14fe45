"""A walk's bytes as fake tensors would have them, for comparison with `training_oracle`."""

from dsgui.core.memory.described import Described
from dsgui.core.memory.question import Lora, Workload
from dsgui.core.memory.tape import Tape
from dsgui.core.memory.walk import Walk
from dsgui.core.memory.walking import ELEMENT, read, walked


def peaks_beside_fake_tensors(config, *, batch, length, target=None, dtype="bf16", lora=None, **more):
    """Bytes kept after the forward, and alive at most in it and in the backward. Fake tensors sum gradients into a new
    one, and gradients of weights are there for a moment."""
    lora = lora and Lora(lora["rank"], tuple(lora["targets"]))
    workload = Workload(batch, length, target, lora=lora, **more)
    tape = walked(Described(config), workload, dtype, Tape(in_place=False, gradients=True))
    return peaks(read(tape, ELEMENT[dtype]))


def peaks(walk: Walk) -> tuple[int, int, int]:
    """As `walk.Unit` says that they are summed."""
    kept = forward = backward = 0
    for block in walk.blocks:
        kept += block.entry
        inside = kept
        for unit in block.units:
            inside += unit.kept
            kept = kept if block.checkpointed else inside
            forward = max(forward, kept + unit.forward)
            backward = max(backward, inside + max(unit.backward, unit.recomputed))
    return kept, forward, backward
