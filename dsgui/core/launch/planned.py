"""What a run is planned for, where that is another device or another DeepSpeed than this machine's."""

from dataclasses import dataclass

from dsgui.core.machine.hardware import Hardware, card_named

THIS_MACHINE = "this"
_CPU = Hardware("cpu", "CPU", "cpu")  # what it can do is asked of none


@dataclass(frozen=True, slots=True)
class Planned:
    """`device` is a card by its id or “cpu”; `version` a DeepSpeed, "" for the installed one."""

    device: str = THIS_MACHINE
    version: str = ""

    @property
    def hardware(self) -> tuple[Hardware, ...]:
        """The device that is planned for; () for that of the place where the run trains."""
        card = _CPU if self.device == _CPU.id else card_named(self.device)
        return (card,) if card else ()

    @property
    def elsewhere(self) -> bool:
        """Whether it is another device or DeepSpeed than there is."""
        return bool(self.hardware or self.version)
