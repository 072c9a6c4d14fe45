"""The ledger's pinned blocks. What is alive at the fullest instant is shown in test_engines.py."""

from dsgui.core.memory.answer import Component, Kept, Moment, Place
from dsgui.core.memory.ledger import Ledger, slot_for
from dsgui.core.sizes import MIB


def test_a_pinned_block_that_is_freed_waits_for_another_of_its_size():
    ledger = Ledger()
    ledger.begin(Moment.INIT)
    block = slot_for(Component.WEIGHTS, Place.PINNED)
    ledger.take(block, 3 * MIB, 4)
    assert ledger.pins_kept() == {}
    ledger.drop(block, 3 * MIB, 4)
    ledger.begin(Moment.FORWARD)
    ledger.take(block, 4 * MIB, 3)
    ledger.begin(Moment.BACKWARD)
    ledger.take(block, 5 * MIB)
    assert ledger.pins_kept() == {
        Moment.FORWARD: Kept(4 * MIB),  # 16 MiB were pinned, three blocks are in use
        Moment.BACKWARD: Kept(4 * MIB),  # 5 MiB are of another size
    }
