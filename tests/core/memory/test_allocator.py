"""The caching allocator by sequences whose outcome torch's own source gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.memory.allocator import Allocator, OutOfMemory, replayed
from tests.support.cases import each_case

MI = 1 << 20


def reserved_after(*sizes):
    allocator = Allocator()
    for size in sizes:
        allocator.allocate(size)
    return allocator.allocated, allocator.reserved


@each_case(
    ("sizes", "allocated", "reserved"),
    [
        ([1], 512, 2 * MI),
        ([513], 1024, 2 * MI),
        ([MI], MI, 2 * MI),
        ([MI, MI], 2 * MI, 2 * MI),
        ([MI, MI, 1], 2 * MI + 512, 4 * MI),
        ([MI + 1], MI + 512, 20 * MI),
        ([9 * MI, 9 * MI], 18 * MI, 20 * MI),  # the second is cut from the first one's segment
        ([10 * MI], 10 * MI, 10 * MI),
        ([11 * MI], 12 * MI, 12 * MI),  # 1 MiB is left over: not worth a block, so it is allocated with it
        ([100 * MI + 1], 100 * MI + 512, 102 * MI),
        ([1, MI + 1], MI + 1024, 22 * MI),  # two pools
    ],
)
def test_what_is_reserved(sizes, allocated, reserved):
    assert reserved_after(*sizes) == (allocated, reserved)


def test_a_large_rest_of_at_most_1_mib_stays_with_its_block():
    allocator = Allocator()
    first = allocator.allocate(30 * MI)
    allocator.release(first)
    assert allocator.allocate(29 * MI).size == 30 * MI
    assert allocator.reserved == 30 * MI


def test_the_smallest_block_that_holds_it_is_taken():
    allocator = Allocator()
    large, keep, small = (allocator.allocate(size * MI) for size in (60, 12, 40))
    for block in (large, small):
        allocator.release(block)
    assert allocator.allocate(38 * MI).address == small.address
    assert (allocator.reserved, keep.free) == (112 * MI, False)


def test_free_neighbours_are_joined():
    allocator = Allocator()
    blocks = [allocator.allocate(4 * MI) for _ in range(5)]
    for block in (blocks[0], blocks[2], blocks[4], blocks[1], blocks[3]):
        allocator.release(block)
    assert allocator.allocate(9 * MI).size == 9 * MI
    assert allocator.reserved == 20 * MI


def test_pieces_that_are_apart_do_not_help():
    """Fragmentation: 32 MiB are free, and a block of 24 needs a segment of its own."""
    allocator = Allocator()
    blocks = [allocator.allocate(16 * MI) for _ in range(2)]
    for block in blocks:
        allocator.release(block)
    allocator.allocate(24 * MI)
    assert (allocator.reserved, allocator.allocated) == (56 * MI, 24 * MI)


def test_free_segments_are_given_back_before_it_is_too_much():
    allocator = Allocator(limit=60 * MI)
    for block in [allocator.allocate(16 * MI) for _ in range(3)]:
        allocator.release(block)
    allocator.allocate(50 * MI)
    assert (allocator.reserved, allocator.most_reserved) == (50 * MI, 50 * MI)
    with pytest.raises(OutOfMemory):
        allocator.allocate(16 * MI)


@given(st.lists(st.tuples(st.integers(1, 40 * MI), st.booleans()), max_size=60))
def test_nothing_is_lost(steps):
    events, sizes, alive = [], [], []
    for size, ends in steps:
        sizes.append(size)
        events.append(len(sizes))
        alive.append(len(sizes))
        if ends:
            events.append(-alive.pop(0))
    allocator = replayed(events, sizes)
    held = sum(-(-sizes[number - 1] // 512) * 512 for number in alive)
    assert held <= allocator.allocated <= allocator.reserved
    assert allocator.allocated - held <= MI * len(alive)
    assert replayed([*events, *(-number for number in alive)], sizes).allocated == 0
