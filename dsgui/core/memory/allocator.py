"""What torch's CUDA caching allocator would reserve for a sequence of allocations and frees.

The rules are those of c10/cuda/CUDACachingAllocator.cpp in torch 2.1 to 2.13, without expandable segments and of one
stream: sizes in 512 bytes; a pool for small blocks and one for large; segments of 2 MiB, of 20 MiB, or of the size
rounded to 2 MiB; the smallest free block that is large enough, split where the rest is worth keeping; free neighbours
joined. A segment is given back only when a new one would not fit, which a limit says."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

_MI = 1 << 20
LEAST_BLOCK = 512
SMALL = 1 * _MI  # the largest block of the small pool
SMALL_SEGMENT = 2 * _MI
LARGE_SEGMENT = 20 * _MI
LEAST_OWN_SEGMENT = 10 * _MI  # from here on a block has a segment of its own
OWN_ROUNDING = 2 * _MI


class OutOfMemory(Exception):
    """More than the limit, even with all free segments given back."""


@dataclass(slots=True)
class Block:
    """A stretch of a segment; `before` and `after` are its neighbours there."""

    size: int
    small: bool
    address: int
    before: "Block | None" = None
    after: "Block | None" = None
    free: bool = False


@dataclass(slots=True)
class Allocator:
    """`limit`: bytes that the device has for it, or None. `allocated` and `reserved` are what torch calls so."""

    limit: int | None = None
    allocated: int = 0
    reserved: int = 0
    most_allocated: int = 0
    most_reserved: int = 0
    _free: dict[bool, list[tuple[int, int]]] = field(default_factory=lambda: {True: [], False: []})
    _blocks: dict[int, Block] = field(default_factory=dict)
    _next: int = 0

    def allocate(self, size: int) -> Block:
        """A block for `size` bytes. Raises `OutOfMemory`."""
        wanted = rounded(size)
        block = self._found(wanted) or self._new_segment(wanted)
        rest = block.size - wanted
        if worth_keeping(rest, block.small):
            self._split(block, wanted)
        self.allocated += block.size
        self.most_allocated = max(self.most_allocated, self.allocated)
        return block

    def release(self, block: Block) -> None:
        """Frees it, and joins it with free neighbours."""
        self.allocated -= block.size
        for neighbour in (block.before, block.after):
            if neighbour is not None and neighbour.free:
                self._take(neighbour)
                block = self._joined(*((neighbour, block) if neighbour is block.before else (block, neighbour)))
        self._put(block)

    def _found(self, wanted: int) -> Block | None:
        """The smallest free block of the pool that holds it; the one of the lowest address among equals."""
        pool = self._free[wanted <= SMALL]
        at = bisect_left(pool, (wanted, 0))
        if at == len(pool):
            return None
        block = self._blocks[pool[at][1]]
        self._take(block)
        return block

    def _new_segment(self, wanted: int) -> Block:
        size = segment_for(wanted)
        if self.limit is not None and self.reserved + size > self.limit:
            self._give_back()
            if self.reserved + size > self.limit:
                raise OutOfMemory
        self.reserved += size
        self.most_reserved = max(self.most_reserved, self.reserved)
        block = Block(size, wanted <= SMALL, self._next)
        self._next += size
        self._blocks[block.address] = block
        return block

    def _give_back(self) -> None:
        """Every segment that is wholly free."""
        for pool in self._free.values():
            for _, address in list(pool):
                block = self._blocks[address]
                if block.before is None and block.after is None:
                    self._take(block)
                    del self._blocks[address]
                    self.reserved -= block.size

    def _split(self, block: Block, wanted: int) -> None:
        rest = Block(block.size - wanted, block.small, block.address + wanted, block, block.after)
        if block.after is not None:
            block.after.before = rest
        block.size, block.after = wanted, rest
        self._blocks[rest.address] = rest
        self._put(rest)

    def _joined(self, left: Block, right: Block) -> Block:
        left.size, left.after = left.size + right.size, right.after
        if right.after is not None:
            right.after.before = left
        del self._blocks[right.address]
        return left

    def _put(self, block: Block) -> None:
        block.free = True
        insort(self._free[block.small], (block.size, block.address))

    def _take(self, block: Block) -> None:
        block.free = False
        pool = self._free[block.small]
        del pool[bisect_left(pool, (block.size, block.address))]


def rounded(size: int) -> int:
    """Bytes of a block for `size` bytes."""
    return max(LEAST_BLOCK, -(-size // LEAST_BLOCK) * LEAST_BLOCK)


def segment_for(wanted: int) -> int:
    """Bytes that are asked of the device for a block of `wanted` bytes."""
    if wanted <= SMALL:
        return SMALL_SEGMENT
    if wanted < LEAST_OWN_SEGMENT:
        return LARGE_SEGMENT
    return -(-wanted // OWN_ROUNDING) * OWN_ROUNDING


def worth_keeping(rest: int, small: bool) -> bool:
    """Whether what is left over of a block becomes one of its own."""
    return rest >= LEAST_BLOCK if small else rest > SMALL


def replayed(events: Iterable[int], sizes: Iterable[int], limit: int | None = None) -> Allocator:
    """The allocator after a record of a dry run: event i + 1 is the birth of allocation i, −(i + 1) its end; those of
    size 0 are elsewhere. Raises `OutOfMemory`."""
    allocator, every, blocks = Allocator(limit), list(sizes), dict[int, Block]()
    for event in events:
        number = abs(event) - 1
        if event > 0 and every[number]:
            blocks[number] = allocator.allocate(every[number])
        elif event < 0 and number in blocks:
            allocator.release(blocks.pop(number))
    return allocator
