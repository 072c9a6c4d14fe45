"""The ledger's pinned blocks. What is alive at the fullest instant is shown in test_engines.py."""

from dsgui.core.memory.answer import Component, Moment, Place
from dsgui.core.memory.ledger import Ledger, slot_for
from dsgui.core.sizes import MIB


def test_a_pinned_block_that_is_freed_waits_for_another_of_its_size():
    ledger = Ledger()
    ledger.begin(Moment.INIT)
    block = slot_for(Component.WEIGHTS, Place.PINNED)
    ledger.take(block, 3 * MIB, 4)
    assert ledger.pins.kept == 0
    ledger.drop(block, 3 * MIB, 4)
    assert ledger.pins.kept == 4 * 4 * MIB  # powers of two
    ledger.take(block, 4 * MIB, 3)
    assert ledger.pins.kept == 4 * MIB
    ledger.take(block, 5 * MIB)
    assert ledger.pins.kept == 4 * MIB  # of another size
