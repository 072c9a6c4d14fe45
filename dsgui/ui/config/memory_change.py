"""From a red memory bar to the cheapest change that fits: found on a press, applied on another."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Change, Fix
from dsgui.core.errors import DocumentError
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.cheapest import as_json, cheapest
from dsgui.core.texts.saying import as_told
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import tell_if_unanswered
from dsgui.ui.common.events import CHANGED_TEXT, ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.memory_panel import MemoryPanel, asked_of, fitted_for, memory_shown
from dsgui.ui.config.workbench import View, Workbench, make_context

_MOST_EDITS = 40
_TICKS = ("checkpointing", "zero_init")  # boxes of the panel that say what the script does


def wire_memory_change(
    memory: MemoryPanel,
    page: tuple[gr.Code, gr.HTML],
    bar: Sequence[Any],
    parts: tuple[Services, Workbench],
) -> None:
    """`page` is the text and the form; `parts` are what the handlers ask."""
    services, workbench = parts
    text, _ = page

    def find(text: str | None, *bar_and_memory: Any) -> Any:
        context = make_context(services.target(), *bar_and_memory[: len(bar)])
        view = workbench.show(text or "", context)
        given = bar_and_memory[len(bar) :]
        # With the bars, which stand for something else where an answer to an edit got lost.
        bars = memory_shown(services, view, context, given)
        return gr.update(found=change_found(services, view, context, given), value=bars)

    tell_if_unanswered(memory.panel.find(find, [text, *bar, *memory.inputs], [memory.panel], **ONCE), "change")
    memory.panel.apply(applied, [text], applies_to(memory, page), **ONCE)


def applied(text: str | None, event: gr.EventData) -> tuple[Any, ...]:
    """The handler of a press that applies a change; its outputs are `applies_to`."""
    chosen = details(event)
    return with_edits(text or "", chosen.get("changes")), CHANGED_TEXT, *ticked(chosen.get("ticks"))


def applies_to(memory: MemoryPanel, page: tuple[gr.Code, gr.HTML]) -> list[Any]:
    """`page` is the text and the form."""
    return [*page, *(memory.fields[name] for name in _TICKS)]


def change_found(services: Services, view: View, context: Context, given: Sequence[Any]) -> str:
    """The cheapest change for what the page shows, as JSON; `asked` says what it is about."""
    found = fitted_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return ""
    case, fitted = found
    change = as_json(cheapest(fitted, case, read_document(view.text), services.checker))
    return json.dumps({"asked": asked_of(fitted, view.text), **(change or {})})


def ticked(names: Any) -> tuple[Any, ...]:
    """For each box whether it is ticked now, or stays as it is."""
    wanted = names if isinstance(names, list) else []
    return tuple(True if name in wanted else gr.skip() for name in _TICKS)


def with_edits(text: str, edits: Any) -> str:
    """`text` with the edits that a page sent; as it is where they are none of it."""
    try:
        return Fix(as_told(""), tuple(map(_change, edits[:_MOST_EDITS]))).apply(read_document(text)).text
    except (DocumentError, KeyError, TypeError, ValueError):
        return text


def _change(edit: Mapping[str, Any]) -> Change:
    return Change(str(edit["pointer"]), json.dumps(edit["value"]))
