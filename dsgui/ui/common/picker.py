"""A list to choose one thing from, in groups, that a few typed letters search: `static/common/picker.js` draws it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr

from dsgui.ui.common.embedded import embedded


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose. A search looks in all of it; `also` is never shown."""

    id: str
    title: str
    group: str = ""
    also: str = ""


def picker(options: Sequence[Option], value: str, **arguments: Any) -> gr.HTML:
    """Must be called inside a `gr.Blocks`. Its value is the id of what is chosen, "" for nothing. It comes from the
    browser: whoever reads it looks it up."""
    return embedded("common/picker", "ds-picker", ("input",), value=value, options=packed(options), **arguments)


def packed(options: Sequence[Option]) -> str:
    """As the page gets them: one text, which Gradio compares faster than many objects."""
    return json.dumps([asdict(option) for option in options], ensure_ascii=False, separators=(",", ":"))
