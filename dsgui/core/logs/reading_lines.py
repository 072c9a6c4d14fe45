"""One line → what it says: the user's patterns first, then every known format. Knows nothing about other lines."""

from collections.abc import Sequence

from dsgui.core.access.ansi import without_escapes
from dsgui.core.logs.deepspeed_lines import read_deepspeed
from dsgui.core.logs.dict_lines import read_dicts
from dsgui.core.logs.named_numbers import read_epoch, read_named, read_tracked
from dsgui.core.logs.patterns import Pattern
from dsgui.core.logs.readings import Reading

_REPEATS = "wandb: "  # its summary of a run repeats the last values, without their steps


def as_text(line: bytes) -> str:
    """Without colours and other escape sequences, and without trailing white space."""
    return without_escapes(line.decode("utf-8", "replace")).rstrip()


def readings(text: str, patterns: Sequence[Pattern] = ()) -> list[Reading]:
    """What one line says; more than one reading only for a line with several dicts."""
    for pattern in patterns:
        if found := pattern.read(text):
            return [found]
    if text.startswith(_REPEATS):
        return []
    if dicts := read_dicts(text):
        return dicts
    one = (read_tracked(text) if " smpl:" in text else None) or read_deepspeed(text) or _named(text)
    return [one] if one else []


def _named(text: str) -> Reading | None:
    lowered = text.lower()
    if ("loss" in lowered or "step" in lowered or "iter" in lowered or "损失" in text) and (found := read_named(text)):
        return found
    return read_epoch(text) if "epoch" in lowered else None
