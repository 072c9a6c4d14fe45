"""What is said, as a value: a code and what its text leaves open. Parts hand on codes; words are looked up where
somebody reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.texts.english import TEXTS


@dataclass(frozen=True, slots=True)
class Said:
    """`kind` and `code` name a text of the catalogue; `given` fills its places, in words and figures."""

    kind: str
    code: str
    given: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return text_of(self.kind, self.code, dict(self.given))

    def to_json(self) -> dict[str, Any]:
        """Without what it is a text of: that is known where it is kept."""
        return {"code": self.code} | ({"given": dict(self.given)} if self.given else {})


def said(kind: str, code: str, **given: str) -> Said:
    """Raises KeyError for a text that is not there, or that leaves something else open."""
    found = Said(kind, code, tuple(given.items()))
    str(found)
    return found


def text_of(kind: str, code: str, given: Mapping[str, str]) -> str:
    """Raises KeyError."""
    return TEXTS[kind][code].format_map(given)
