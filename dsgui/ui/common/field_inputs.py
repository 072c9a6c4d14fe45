"""Inputs for the fields that `dsgui.core.launch.run_fields` declares, for the pages that show them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from itertools import groupby
from typing import Any

import gradio as gr

from dsgui.core.launch.field import Field, Kind
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.ui.common.picker import named, offering, picker

_NARROW = 120


def laid_out(fields: Iterable[Field], special: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The fields' inputs, in rows where they stand beside each other."""
    made: dict[str, Any] = {}
    for beside, some in groupby(fields, key=lambda field: field.beside):
        with gr.Row() if beside else nullcontext():
            for field in some:
                made[field.name] = _input(field, special.get(field.name, {}))
    return made


def _input(field: Field, special: Mapping[str, Any]) -> Any:
    if field.kind is Kind.HIDDEN:
        return gr.State(field.default)
    given: dict[str, Any] = {"value": field.default, "label": field.told("label"), "visible": field.shown}
    given |= {"elem_id": field.id, "info": field.told("help") or None}
    return _MAKERS[field.kind](field, given | ({"min_width": _NARROW} if field.beside else {}) | dict(special))


def _text(field: Field, given: dict[str, Any]) -> gr.Textbox:
    given = {"lines": field.lines, "placeholder": field.told("placeholder") or None, **given}
    return gr.Textbox(**given | ({"max_lines": field.most_lines} if field.most_lines else {}))


def _number(field: Field, given: dict[str, Any]) -> gr.Number | gr.Textbox:
    """One that may be left empty is a text: it says in its place what is taken then, and a Number would show 0."""
    if not field.placeholder:
        return gr.Number(precision=0, **given)
    return gr.Textbox(**given | {"value": "", "placeholder": field.told("placeholder"), "max_lines": 1})


def offered_again(name: str, **more: Any) -> Any:
    """An update of the input of a field with `Kind.CHOICE`."""
    field = BY_NAME[name]
    return offering(named(field.offered), field.told("help"), **more)


def _choice(field: Field, given: dict[str, Any]) -> gr.HTML:
    given = {"choices": field.offered} | given
    return picker(named(given.pop("choices")), info=given.pop("info") or "", **given)


_MAKERS: dict[Kind, Callable[[Field, dict[str, Any]], Any]] = {
    Kind.TEXT: _text,
    Kind.LINES: _text,
    Kind.SECRET: lambda field, given: _text(field, given | {"type": "password"}),
    Kind.COUNT: _number,
    Kind.TICK: lambda field, given: gr.Checkbox(**given),
    Kind.CHOICE: _choice,
    Kind.OPEN_CHOICE: lambda field, given: gr.Radio(**({"choices": field.offered} | given)),
    Kind.GPUS: lambda field, given: gr.CheckboxGroup(**given),
}
