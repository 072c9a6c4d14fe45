"""A list to choose one thing from, in groups, that a few typed letters search: `static/common/picker.js` draws it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


def picker(options: Sequence[Option], value: str, info: str = "", **arguments: Any) -> gr.HTML:
    """Must be called inside a `gr.Blocks`. Its value is the id of what is chosen, "" for nothing. It comes from the
    browser: whoever reads it looks it up. `info` is told below its label."""
    offered = {"options": packed(options)} | ({"info": info} if info else {})
    return embedded("common/picker", "ds-picker", ("input",), value=value, **offered, **arguments)


def named(choices: Iterable[tuple[str, str]]) -> list[Option]:
    """Of pairs of a title and an id, as Gradio's own lists take them."""
    return [Option(id, title) for title, id in choices]


def offering(options: Sequence[Option], info: str = "", **more: Any) -> Any:
    """An update of a `picker`: Gradio forgets what one does not name."""
    return gr.update(options=packed(options), info=info, **more)


def packed(options: Sequence[Option]) -> str:
    """As the page gets them: one text, which Gradio compares faster than many objects; each option is a list."""
    return json.dumps([_texts(option) for option in options], ensure_ascii=False, separators=(",", ":"))


def _texts(option: Option) -> tuple[str, ...]:
    """Without the empty ones at the end."""
    if option.also:
        return option.id, option.title, option.group, option.also
    return (option.id, option.title, option.group) if option.group else (option.id, option.title)
