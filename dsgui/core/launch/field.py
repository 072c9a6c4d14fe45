"""What a field is: one input that describes what to run."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.texts.languages import translated


class Kind(Enum):
    """What a field holds."""

    TEXT = "one line"
    LINES = "several lines"
    SECRET = "one line that is not shown"
    COUNT = "a whole number"
    TICK = "yes or no"
    CHOICE = "one of a few"
    OPEN_CHOICE = "one of a few, all in view"
    GPUS = "GPUs of this machine"
    HIDDEN = "not asked for"


class Part(Enum):
    """Where the Launch page shows a field. `COMMAND` is the command line only, `NOWHERE` neither."""

    WHAT = "what to run"
    WHERE = "where it trains"
    PLACE = "the panel of a place"
    DEVICES = "ranks and GPUs"
    MODEL = "the model, on the Configure page"
    BAR = "what is planned, in the bar of the Configure page"
    MORE = "more"
    COMMAND = "the command line"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`option` is `launch`'s, "" for none, with `usage` as its help; `choices` are pairs of a label and a value.
    `beside`: the field shares its row with neighbouring fields that have the same, other than False. `shown`: visible
    from the start. `from_file`: the option names a file with the value; this describes it. `instead_of_devices`: the
    option excludes those that choose ranks and GPUs of this machine."""

    name: str
    part: Part
    kind: Kind = Kind.TEXT
    default: Any = ""
    label: str = ""
    help: str = ""
    placeholder: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    option: str = ""
    metavar: str | None = None
    usage: str = ""
    lines: int = 1
    most_lines: int | None = None
    from_file: str = ""
    instead_of_devices: bool = False
    beside: int = False
    shown: bool = True
    id: str | None = None

    def told(self, what: str) -> str:
        """Its `label`, `help`, `placeholder`, `usage` or `from_file` in the language in use; English is as declared."""
        return translated("launch_fields", f"{self.name}_{what}") or str(getattr(self, what))

    @property
    def offered(self) -> list[tuple[str, str]]:
        """The choices, with their labels in the language in use."""
        return [(self._is(value) or label, value) for label, value in self.choices]

    def _is(self, value: str) -> str:
        return translated("launch_fields", f"{self.name}_is_{value.replace('-', '_')}")
