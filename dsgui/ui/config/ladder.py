"""Other configs for the same model and batch, from the fastest to the leanest, under the memory bars: found when the
fold is open and what the bars show has changed, applied on a press."""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.launch.plan import Here
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.memory_report import told
from dsgui.core.memory.fits.rungs import as_json, steps
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.runs.worth_trying import step_key
from dsgui.core.texts.saying import words
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import embedded, tell_if_unanswered
from dsgui.ui.common.events import LIVE, turn
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import UNSEEN, Launched
from dsgui.ui.config.memory_change import handed_on
from dsgui.ui.config.memory_panel import MemoryPanel, asked_of, fitted_for
from dsgui.ui.config.workbench import View, Workbench, make_context


def build_ladder() -> gr.HTML:
    """Must be called inside a `gr.Blocks`."""
    return embedded(
        "memory/ladder",
        "ds-ladder",
        ("look", "apply", "attempt", "follow", "discard"),
        value="",
        measured="",
        elem_id="ladder",
    )


def wire_ladder(
    panel: gr.HTML,
    memory: MemoryPanel,
    page: tuple[gr.Code, Sequence[Any]],
    parts: tuple[Services, Workbench],
) -> None:
    """`page` is the text and the inputs of the context bar; `parts` are what the handler asks."""
    services, workbench = parts
    text, bar = page

    def look(event: gr.EventData, text: str | None, *bar_and_memory: Any) -> str:
        context = make_context(services.target(), *bar_and_memory[: len(bar)])
        given, launched = bar_and_memory[len(bar) :], bar_and_memory[len(bar) - 1]
        shown = steps_shown(services, workbench.show(text or "", context), context, given, launched)
        return json.dumps({"turn": turn(event), **shown})

    tell_if_unanswered(panel.look(look, [text, *bar, *memory.inputs], [panel], **LIVE), "ladder")


def steps_shown(
    services: Services, view: View, context: Context, given: Sequence[Any], launched: Launched = UNSEEN
) -> dict[str, Any]:
    """What the panel has of what the page shows; `asked` says what it is about, as the bars say it."""
    found = fitted_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return {"asked": "", "steps": [], "why": told(found.why)}
    case, fitted = found
    document = read_document(view.text)
    ladder = steps(fitted, case, document, services.checker)
    shown = as_json(ladder)
    for step, told_of in zip(ladder if isinstance(ladder, tuple) else (), shown["steps"], strict=True):
        told_of["key"] = step_key(step.change, document)
    takes = launched.takes_options
    told_each = [handed_on(step, context, view.text, given[0]) if takes else step for step in shown["steps"]]
    why = untried([step["fit"] for step in shown["steps"]], context, launched, bool(services.machine.current().gpus))
    return {"asked": asked_of(fitted, view.text), **shown, "steps": told_each} | ({"untried": why} if why else {})


def untried(fits: Sequence[str], context: Context, launched: Launched, has_gpus: bool) -> str:
    """Why none of the steps with these verdicts is worth a trial, in words; "" where one is. `has_gpus`: whether this
    machine does."""
    if Fit.FITS.value not in fits:
        none = all(one == Fit.SHORT.value for one in fits)
        return words("memory_page", "trial_no_fit") if none else words("memory_page", "trial_not_sure")
    is_for_gpus = any(card.vendor != "cpu" for card in context.hardware)
    if is_for_gpus and isinstance(launched.place, Here) and not has_gpus:
        return words("memory_page", "trial_no_gpu")
    return ""
