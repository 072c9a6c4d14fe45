"""How a file is written, before what it says: what json.load makes of it for the HF Trainer, and keys that stand twice.

Native DeepSpeed reads hjson (comments, trailing commas, a byte order mark) and refuses a key that stands twice; the HF
Trainer reads strict JSON with json.load, which keeps the last of two (accelerate/utils/deepspeed.py:
HfDeepSpeedConfig).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Double, last_kept, on_lines
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.loose_json import tidy
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DoubleKeyError

_READER, _HJSON = "accelerate/utils/deepspeed.py: HfDeepSpeedConfig", "deepspeed/runtime/config_utils.py"


@dataclass(frozen=True, slots=True)
class Written:
    """`text`: strict JSON without doubles, as the editor holds it; `notes`: what was changed on the way."""

    text: str
    notes: tuple[str, ...] = ()
    doubles: tuple[Double, ...] = ()


def read(text: str) -> Written:
    """`text` as strict JSON; of a key that stands twice the last is kept. Raises `DocumentError`."""
    try:
        tidied = tidy(text)
    except DoubleKeyError:
        kept, doubles = last_kept(text.removeprefix("\ufeff"))
        return Written(kept, tuple(f"{_told(double)}; the last was kept" for double in doubles), doubles)
    return Written(tidied.text, tidied.notes)


def findings(text: str, context: Context) -> Iterator[Finding]:
    """What the reader of `context` says to a file that holds `text`. Raises `DocumentError`, as `read` does."""
    if context.integration is Integration.HF and (stop := _json_load(text)):
        yield _not_json(stop)
    for double in read(text).doubles:
        yield _double(double, context)


def _json_load(text: str) -> str:
    """Why json.load stops at the file; "" where it does not."""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return ""


def _not_json(stop: str) -> Finding:
    return Finding(
        "DS018",
        Severity.ERROR,
        "",
        f"The file is not strict JSON: the HF Trainer reads it with json.load, which stops with “{stop}”. Native "
        "DeepSpeed reads hjson and takes it.",
        "Remove comments, trailing commas and a byte order mark, and put keys and texts in double quotes. The "
        "Configure page does it when it opens the file; then download it.",
        None,
        _READER,
    )


def _double(double: Double, context: Context) -> Finding:
    seen = _told(double)
    if context.integration is Integration.HF:
        severity, outcome, source = Severity.WARNING, "The HF Trainer keeps the last without a word.", _READER
    else:
        severity, outcome, source = Severity.ERROR, "DeepSpeed refuses the file (ValueError: Duplicate keys).", _HJSON
    return Finding(
        "DS019",
        severity,
        double.pointer,
        f"{seen}. {outcome}",
        "Keep one of them; the last is checked here.",
        None,
        source,
    )


def _told(double: Double) -> str:
    return f"{dotted(double.pointer)}: the key stands twice, {on_lines(*double.lines)}"
