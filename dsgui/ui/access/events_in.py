"""What an event from the browser may look like, checked before Gradio or a handler sees it.

Gradio offers each handler by its number to whoever sends JSON, the "private" ones too, and hands on what it is sent: a
number may come as a list, a file as the address of another server.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dsgui.core.texts.saying import listed, words
from dsgui.ui.common.documents import MAX_CHARACTERS

_KEYS = {"data", "event_data", "fn_index", "trigger_id", "session_hash"}
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_LONGEST_WORD = 4096
_LARGEST_NUMBER = 1e15
_DEEPEST = 6
_UPLOAD = "UploadButton"
_META = {"_type": "gradio.FileData"}

Check = Callable[[Any], bool]


def problem_of(body: bytes, inputs: Mapping[int, Sequence[str]], is_stored: Callable[[str], bool]) -> str:
    """What is wrong with an event's body, "" for nothing. `inputs`: the kinds of each handler's inputs, by number;
    `is_stored` tells whether a path is that of an upload which is kept here."""
    try:
        event = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return words("requests", "json")
    if not isinstance(event, dict) or not event.keys() <= _KEYS:
        return words("requests", "object", keys=listed(sorted(_KEYS)))
    if not _is_session(event.get("session_hash")):
        return words("requests", "session")
    number = event.get("fn_index")
    if not isinstance(number, int) or not _is_count(number) or number not in inputs:
        return words("requests", "number")
    if not (event.get("trigger_id") is None or _is_count(event["trigger_id"])):
        return words("requests", "trigger")
    if not _is_small(event.get("event_data")):
        return words("requests", "event_data")
    data: Any = event.get("data")
    return _data_problem(data, inputs[number]) or _upload_problem(data, inputs[number], is_stored)


def _data_problem(data: Any, kinds: Sequence[str]) -> str:
    if not isinstance(data, list) or len(data) != len(kinds):
        return words("requests", "data", count=str(len(kinds)))
    for place, (value, kind) in enumerate(zip(data, kinds, strict=True)):
        if value is not None and not _CHECKS.get(kind, _is_small)(value):
            return words("requests", "value", place=str(place), kind=kind)
    return ""


def _upload_problem(data: Sequence[Any], kinds: Sequence[str], is_stored: Callable[[str], bool]) -> str:
    """Gradio copies whatever file an event names, before its handler sees it."""
    named = [value["path"] for value, kind in zip(data, kinds, strict=True) if kind == _UPLOAD and value is not None]
    return "" if all(map(is_stored, named)) else words("requests", "no_upload")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _is_session(value: Any) -> bool:
    return isinstance(value, str) and _SESSION.match(value) is not None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) if isinstance(value, float) and abs(value) < _LARGEST_NUMBER else _is_whole(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and abs(value) < _LARGEST_NUMBER


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_CHARACTERS


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_WORD


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _LONGEST_WORD and all(_is_word(item) for item in value)


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Nothing that Gradio takes for a file, which it would go and look for, on other machines too."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return "meta" not in value and all(_is_plain(item, depth + 1) for item in value.values())
    return all(_is_plain(item, depth + 1) for item in value) if isinstance(value, list) else True


def _is_small(value: Any) -> bool:
    return _is_plain(value) and len(json.dumps(value)) <= 4 * MAX_CHARACTERS


def _is_state(value: Any) -> bool:
    """The component's own value: text, or an object of the page's making."""
    return _is_text(value) or (isinstance(value, dict) and _is_small(value))


def _is_upload(value: Any) -> bool:
    """One file as Gradio's page names it: by a path, never by an address."""
    if not isinstance(value, dict) or not _is_word(value.get("path")) or value.get("meta") not in (None, _META):
        return False
    rest = {key: part for key, part in value.items() if key != "meta"}
    return not value.get("is_stream") and _is_plain(rest) and len(json.dumps(value)) <= 4 * _LONGEST_WORD


_CHECKS: dict[str, Check] = {
    "Button": _is_word,
    "Checkbox": lambda value: isinstance(value, bool),
    "CheckboxGroup": _is_words,
    "Code": _is_text,
    "Dropdown": _is_word,
    "HTML": _is_state,
    "Number": _is_number,
    "Radio": _is_word,
    "State": lambda value: False,  # kept on the server; the browser sends null
    "Textbox": _is_text,
    "Timer": _is_number,
    _UPLOAD: _is_upload,
}
