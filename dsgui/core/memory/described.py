"""What a `config.json` says of its model, and what nothing can be said of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.texts.saying import Said, said

MOST, MOST_LAYERS = 10**8, 2000  # no model is near it; a walk has an entry for each layer


class NoCaseError(Exception):
    """`why`: the sentence that a user gets instead of a number. Never leaves the room."""

    def __init__(self, why: Said) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass(frozen=True, slots=True)
class Described:
    """The keys of a `config.json`. Of several spellings of a key the first that is there counts, as transformers'
    `attribute_map` has it; `null` is as if it were absent."""

    keys: Mapping[str, Any]

    def get(self, *names: str) -> Any:
        return next((self.keys[name] for name in names if self.keys.get(name) is not None), None)

    def count(self, *names: str, default: int | None = None, most: int = MOST) -> int:
        """A number from 1 to `most`. Raises NoCaseError where it is missing or something else."""
        value = self.get(*names)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise NoCaseError(said("memory_notes", "bad_count", key=names[0], value=shown(value), most=str(most)))
        return value

    def layers(self, *names: str, default: int | None = None) -> int:
        return self.count(*names, default=default, most=MOST_LAYERS)

    def rate(self, *names: str, default: float = 0.0) -> float:
        """A dropout probability."""
        value = self.get(*names)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise NoCaseError(said("memory_notes", "bad_rate", key=names[0], value=shown(value)))
        return float(value)

    def flag(self, *names: str, default: bool = False) -> bool:
        value = self.get(*names)
        return default if value is None else bool(value)

    def word(self, *names: str, default: str) -> str:
        value = self.get(*names)
        return value if isinstance(value, str) else default


def shown(value: object) -> str:
    """A value in a sentence, short."""
    return "nothing" if value is None else str(value)[:40]


def divided(key: str, whole: int, by: str, parts: int) -> int:
    """`whole / parts`. Raises NoCaseError where something is left over."""
    if whole % parts:
        raise NoCaseError(said("memory_notes", "not_divisible", key=key, value=str(whole), by=by, parts=str(parts)))
    return whole // parts
