"""What a run is planned for, where that is another device or another DeepSpeed than this machine's, or a host that was
described."""

from dataclasses import dataclass

from dsgui.core.machine.hardware import Hardware, card_named
from dsgui.core.sizes import GIB

THIS_MACHINE = "this"
MOST_HOST_GIB = 10**6
_CPU = Hardware("cpu", "CPU", "cpu")  # what it can do is asked of none


@dataclass(frozen=True, slots=True)
class Planned:
    """`device` is a card by its id or “cpu”; `version` a DeepSpeed, "" for the installed one; `host_gib` is the memory
    of each machine's host, 0 where nobody said."""

    device: str = THIS_MACHINE
    version: str = ""
    host_gib: int = 0

    @property
    def host_bytes(self) -> int | None:
        return self.host_gib * GIB if self.host_gib else None

    @property
    def hardware(self) -> tuple[Hardware, ...]:
        """The device that is planned for; () for that of the place where the run trains."""
        card = _CPU if self.device == _CPU.id else card_named(self.device)
        return (card,) if card else ()

    @property
    def card(self) -> str:
        """The name of a planned card; "" where none is, or a CPU."""
        return next((one.title for one in self.hardware if one.vendor != "cpu"), "")

    @property
    def elsewhere(self) -> bool:
        """Whether it is another device or DeepSpeed than there is."""
        return bool(self.hardware or self.version)
