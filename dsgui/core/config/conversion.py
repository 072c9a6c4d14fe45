"""How DeepSpeed's pydantic models convert a value of another type (and Python's int(), where the value is read raw)."""

import json
import re
from typing import Any

from dsgui.core.config.pointer import MISSING
from dsgui.core.config.schema import Field, FieldKind

_TRUE, _FALSE = ("true", "1", "yes", "y", "on", "t"), ("false", "0", "no", "n", "off", "f")
# pydantic takes true for 1; since these releases DeepSpeed's own validators refuse it (runtime/precision_config.py).
NEVER_BOOLEAN_SINCE = {
    "/fp16/loss_scale": "0.18.8",
    "/fp16/loss_scale_window": "0.19.3",
    "/fp16/min_loss_scale": "0.19.3",
}
_WHOLE = re.compile(r"[+-]?\d+(?:_\d+)*(?:\.0+)?", re.ASCII)  # "5e8" is none
PYDANTIC_2_SINCE = "0.15.0"


def meant_literal(value: Any) -> str:
    """What a text says as a JSON number, true or false, as it is spelled; "" where it says none."""
    spelled = value.strip().lower() if isinstance(value, str) else ""
    try:
        return spelled if isinstance(json.loads(spelled), int | float) else ""
    except (ValueError, RecursionError):  # a text of a hundred thousand brackets
        return ""


def truth(value: Any) -> bool | None:
    """How a boolean is read: 1, 0.0 and words such as "yes" count; None for anything else."""
    word = value.lower() if isinstance(value, str) else value
    if word == 1 or word in _TRUE:
        return True
    return False if word == 0 or word in _FALSE else None


def converted(field: Field, value: Any, is_pydantic_1: bool = False) -> Any:
    """The value that the model continues with; `MISSING` when it refuses. Ranges are not checked."""
    if field.kind is FieldKind.BOOLEAN:
        known = truth(value)
        return MISSING if known is None else known
    if field.kind is FieldKind.TEXT and is_pydantic_1:
        return str(value) if isinstance(value, int | float) else MISSING
    if not isinstance(value, str | bool):
        return MISSING
    if field.kind is FieldKind.CHOICE:
        is_number = isinstance(field.choices[0], int) and not is_pydantic_1
        return _number(value, whole=True) if is_number else MISSING
    whole = field.kind is FieldKind.INTEGER
    return _number(value, whole) if whole or field.kind is FieldKind.NUMBER else MISSING


def _number(value: str | bool, whole: bool) -> Any:
    if whole:
        text = str(int(value)) if isinstance(value, bool) else value.strip()
        return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else MISSING
    try:
        return float(value)
    except ValueError:
        return MISSING
