"""How a file is written, before what it says: what json.load makes of it for the HF Trainer, and keys that stand twice.

Native DeepSpeed reads hjson (comments, trailing commas, a byte order mark) and refuses a key that stands twice; the HF
Trainer reads strict JSON with json.load, which keeps the last of two (accelerate/utils/deepspeed.py:
HfDeepSpeedConfig).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document, Double, last_kept
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.loose_json import tidy
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DoubleKeyError
from dsgui.core.rules.base import found
from dsgui.core.texts.saying import Said, phrase, words
from dsgui.core.validation.folding import stands_for_a_value

_READER, _HJSON = "accelerate/utils/deepspeed.py: HfDeepSpeedConfig", "deepspeed/runtime/config_utils.py"
_QUOTED = re.compile(r'"([^"\n]*+)"')


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
        return Written(kept, tuple(words("reading", "last_kept", what=_told(double)) for double in doubles), doubles)
    return Written(tidied.text, tidied.notes)


def findings(text: str, context: Context) -> Iterator[Finding]:
    """What the reader of `context` says to a file that holds `text`. Raises `DocumentError`, as `read` does."""
    if context.integration is Integration.HF and (stop := _json_load(text)):
        yield _not_json(stop, text)
    for double in read(text).doubles:
        yield _double(double, context)


def _json_load(text: str) -> str:
    """Why json.load stops at the file; "" where it does not."""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return ""


def _not_json(stop: str, text: str) -> Finding:
    advice = "DS001.template" if _is_template(text) else "DS018.loose"
    return found(Severity.ERROR, "", "DS018.json", advice=advice, source=_READER, stop=stop)


def _is_template(text: str) -> bool:
    """Whether a placeholder stands there without quotes: with them it were no value either."""
    quoted = set(_QUOTED.findall(text))
    values = (node.value for _, node in Document(read(text).text).nodes)
    return any(stands_for_a_value(value) and value not in quoted for value in values)


def _double(double: Double, context: Context) -> Finding:
    hf = context.integration is Integration.HF
    return found(
        Severity.WARNING if hf else Severity.ERROR,
        double.pointer,
        "DS019.kept" if hf else "DS019.refused",
        advice="DS019.keep_one",
        source=_READER if hf else _HJSON,
        twice=_told(double),
    )


def _told(double: Double) -> Said:
    first, second = double.lines
    one_line = phrase("on_line", line=str(first))
    where = one_line if first == second else phrase("on_lines", first=str(first), second=str(second))
    return phrase("twice", key=dotted(double.pointer), where=where)
