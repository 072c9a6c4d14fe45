"""Brings a config in: from a file, an upload or pasted text; JSON, hjson or accelerate's YAML."""

from dataclasses import dataclass
from pathlib import Path

from dsgui.core.context import Integration

MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """A config's text (strict JSON), what was changed or found on the way, and what the source says of its context.

    `integration`, `nodes` and `gpus` (a node) are None where the source does not tell.
    """

    text: str
    notes: tuple[str, ...]
    integration: Integration | None = None
    nodes: int | None = None
    gpus: int | None = None


def open_file(path: Path) -> Imported:
    """The config in the file at `path`. Raises `DocumentError`."""
    raise NotImplementedError


def read_text(text: str, name: str = "") -> Imported:
    """The config in a pasted text or an upload called `name`. Raises `DocumentError`."""
    raise NotImplementedError
