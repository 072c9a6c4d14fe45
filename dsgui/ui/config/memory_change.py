"""From a red memory bar to the cheapest change that fits: found on a press, applied on another."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import ARGUMENTS
from dsgui.core.config.findings import Change, Fix
from dsgui.core.errors import DocumentError
from dsgui.core.launch.handing import is_settings_file
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.cheapest import OPTIONS, as_json, cheapest
from dsgui.core.rules.trainer import needed_options
from dsgui.core.script.words import value_of, with_option
from dsgui.core.texts.saying import as_told
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import tell_if_unanswered
from dsgui.ui.common.events import CHANGED_TEXT, ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.memory_panel import MemoryPanel, asked_of, fitted_for, memory_shown
from dsgui.ui.config.workbench import View, Workbench, make_context

_MOST_EDITS = 40
_OPTIONS = frozenset({*OPTIONS, *(f"--{name}" for names in ARGUMENTS.values() for name in names)})
_VALUE = re.compile(r"[\w.+-]{0,40}", re.ASCII)
_OF_ARGUMENTS = ("arguments", "checkpointing")  # what a change says that the script is to be given
_TICKS = ("checkpointing", "zero_init")  # boxes of the panel that say what the script does


def wire_memory_change(
    memory: MemoryPanel,
    text: gr.Code,
    bar: Sequence[Any],
    parts: tuple[Services, Workbench],
) -> None:
    """`parts` are what the handler asks. What applies a change: `wire_applied`."""
    services, workbench = parts

    def find(text: str | None, *bar_and_memory: Any) -> Any:
        context = make_context(services.target(), *bar_and_memory[: len(bar)])
        view = workbench.show(text or "", context)
        given = bar_and_memory[len(bar) :]
        # With the bars, which stand for something else where an answer to an edit got lost.
        bars = memory_shown(services, view, context, given)
        return gr.update(found=change_found(services, view, context, given), value=bars)

    tell_if_unanswered(memory.panel.find(find, [text, *bar, *memory.inputs], [memory.panel], **ONCE), "change")


def wire_applied(
    panels: Sequence[gr.HTML], memory: MemoryPanel, page: tuple[gr.Code, gr.HTML], arguments: gr.Textbox
) -> None:
    """A press on one of the `panels` applies a change; `page` is the text and the form, `arguments` are the script's,
    on the Launch page."""
    text, _ = page
    changed = [*page, *(memory.fields[name] for name in _TICKS), arguments]
    for panel in panels:
        panel.apply(applied, [text, arguments], changed, **ONCE)


def applied(text: str | None, arguments: str | None, event: gr.EventData) -> tuple[Any, ...]:
    """The text, the form, the panel's ticks and the script's arguments with the change that was pressed."""
    chosen = details(event)
    edited = with_edits(text or "", chosen.get("changes"))
    return edited, CHANGED_TEXT, *ticked(chosen.get("ticks")), with_given(arguments or "", chosen.get("given"))


def change_found(services: Services, view: View, context: Context, given: Sequence[Any]) -> str:
    """The cheapest change for what the page shows, as JSON; `asked` says what it is about."""
    found = fitted_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return ""
    case, fitted = found
    change = as_json(cheapest(fitted, case, read_document(view.text), services.checker)) or {}
    return json.dumps({"asked": asked_of(fitted, view.text), **handed_on(change, context, view.text, given[0])})


def handed_on(change: Mapping[str, Any], context: Context, text: str, typed: str | None) -> dict[str, Any]:
    """`change` of the config's `text`, as JSON, with `given`: what its press adds to the arguments `typed`, and what
    the changed config needs beside, where the HF Trainer reads them. A script of another kind, and one that takes its
    arguments from a file, has to be told by its user."""
    asked = [str(one) for one in change.get("arguments", ())]
    if not asked or context.integration is Integration.NATIVE or not _takes_more(typed or ""):
        return dict(change)
    said = (*shlex.split(typed or ""), *" ".join(asked).split())
    config = read_document(with_edits(text, change.get("changes"))).value
    asked += [one for one in needed_options(config) if value_of(said, (one.partition(" ")[0],)) is None]
    by_user = [one for one in change.get("script", ()) if one.get("code") not in _OF_ARGUMENTS]
    return {**change, "given": asked, "script": by_user}


def ticked(names: Any) -> tuple[Any, ...]:
    """For each box whether it is ticked now, or stays as it is."""
    wanted = names if isinstance(names, list) else []
    return tuple(True if name in wanted else gr.skip() for name in _TICKS)


def with_given(arguments: str, given: Any) -> Any:
    """The arguments with the options that a page sent; as they are where it sent none that a change has."""
    if not isinstance(given, list) or not given or not _takes_more(arguments):
        return gr.skip()
    kept = tuple(shlex.split(arguments))
    for one in given[:_MOST_EDITS]:
        option, _, value = str(one).partition(" ")
        if option in _OPTIONS and _VALUE.fullmatch(value):
            kept = with_option(kept, option, value)
    return shlex.join(kept)


def _takes_more(typed: str) -> bool:
    try:
        return not is_settings_file(shlex.split(typed))
    except ValueError:  # Launch says what is wrong with them
        return False


def with_edits(text: str, edits: Any) -> str:
    """`text` with the edits that a page sent; as it is where they are none of it."""
    try:
        return Fix(as_told(""), tuple(map(_change, edits[:_MOST_EDITS]))).apply(read_document(text)).text
    except (DocumentError, KeyError, TypeError, ValueError):
        return text


def _change(edit: Mapping[str, Any]) -> Change:
    return Change(str(edit["pointer"]), json.dumps(edit["value"]))
