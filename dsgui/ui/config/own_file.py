"""A config that came from a file, in the place of the preset one begins as: its name, and what its text was."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

_MARK = "file"
_MOST_LETTERS = 120


@dataclass(frozen=True, slots=True)
class OwnFile:
    """`digest` tells whether a text is still the file's."""

    name: str
    digest: str

    def holds(self, text: str) -> bool:
        return _digest(text) == self.digest


def file_id(path: str, text: str) -> str:
    """What the browser keeps of it, as it keeps the id of a preset: no preset's id has a colon."""
    return f"{_MARK}:{_digest(text)}:{Path(path).name[:_MOST_LETTERS]}"


def file_of(begun: str | None) -> OwnFile | None:
    """The file that a config began as; None for a preset, and for nothing."""
    mark, _, rest = (begun or "").partition(":")
    digest, _, name = rest.partition(":")
    return OwnFile(name[:_MOST_LETTERS], digest) if mark == _MARK and name else None


def _digest(text: str) -> str:
    """The editor may change line ends, and drop the last."""
    return hashlib.sha256("\n".join(text.strip().splitlines()).encode("utf-8", "replace")).hexdigest()[:12]
