"""Rotary positions: which part of a head turns, and how the turned part comes back to the rest
(`apply_rotary_pos_emb` of transformers' models)."""

from collections.abc import Mapping
from dataclasses import dataclass

from dsgui.core.memory import operations as op
from dsgui.core.memory.described import Described, NoCaseError, shown
from dsgui.core.memory.tape import Tape, Tensor
from dsgui.core.texts.saying import said

# How the turned part is joined with the rest: not at all (the whole head turns), one tensor after the other, both at
# last, and that with tables that each layer spreads anew (GLM).
WHOLE, EACH, BOTH, SPREAD = "whole", "each", "both", "spread"


@dataclass(frozen=True, slots=True)
class Rotation:
    """`turned` of the `head` numbers of a head."""

    head: int
    turned: int
    joins: str = WHOLE

    def tables(self, tape: Tape, length: int, element: int) -> Tensor:
        """cos and sin: one row for each position."""
        numel = 2 * length * self.turned
        return tape.operation((), numel, element, extra=2 * numel * op.FLOAT)

    def of(self, tape: Tape, q: Tensor, k: Tensor, tables: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys at their places."""
        if self.joins == WHOLE:
            return op.rotary(tape, q, tables), op.rotary(tape, k, tables)
        if self.joins == EACH:
            return self.joined(tape, q, self.part(tape, q, tables)), self.joined(tape, k, self.part(tape, k, tables))
        tables = tape.operation((), *tables.size) if self.joins == SPREAD else tables
        turned_q, turned_k = self.part(tape, q, tables), self.part(tape, k, tables)
        q = self.joined(tape, q, turned_q)
        del turned_q
        return q, self.joined(tape, k, turned_k)

    def part(self, tape: Tape, x: Tensor, tables: Tensor) -> Tensor:
        """The turned part alone. A slice of all is the tensor itself."""
        whole = self.turned == self.head
        part = x if whole else op.part(tape, x, x.numel // self.head * self.turned)
        return op.rotary(tape, part, tables)

    def joined(self, tape: Tape, x: Tensor, turned: Tensor) -> Tensor:
        """With the rest, copied even where that is nothing."""
        rest = op.part(tape, x, x.numel // self.head * (self.head - self.turned))
        return op.joined(tape, turned, rest)


def rotation_of(config: Described, head: int, share: float, joins: str) -> Rotation:
    """`share` of a head turns where nothing is said. Raises NoCaseError."""
    value = share if joins == WHOLE else told_share(config, share)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise NoCaseError(said("memory_notes", "bad_rate", key="partial_rotary_factor", value=shown(value)))
    return Rotation(head, int(head * value), joins)


def told_share(config: Described, share: float) -> object:
    """By its old name or by its new one, of transformers 5."""
    told = config.get("partial_rotary_factor", "rotary_pct")
    for key in ("rope_parameters", "rope_scaling"):
        inner = config.get(key)
        if isinstance(inner, Mapping) and inner.get("partial_rotary_factor") is not None:
            told = inner["partial_rotary_factor"]
    return share if told is None else told
