"""ZeRO's stages side by side, under the memory bars: found when its fold is open and what the bars show has changed."""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.memory_report import told
from dsgui.core.memory.fits.stages_compared import as_json, compared
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import embedded, tell_if_unanswered
from dsgui.ui.common.events import LIVE, turn
from dsgui.ui.common.services import Services
from dsgui.ui.config.memory_panel import MemoryPanel, asked_of, fitted_for
from dsgui.ui.config.workbench import View, Workbench, make_context


def build_zero_stages() -> gr.HTML:
    """Must be called inside a `gr.Blocks`."""
    return embedded("memory/zero_stages", "ds-zero-stages", ("look",), value="", elem_id="zero-stages")


def wire_zero_stages(
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
        shown = stages_shown(services, workbench.show(text or "", context), context, bar_and_memory[len(bar) :])
        return json.dumps({"turn": turn(event), **shown})

    tell_if_unanswered(panel.look(look, [text, *bar, *memory.inputs], [panel], **LIVE), "zero_stages")


def stages_shown(services: Services, view: View, context: Context, given: Sequence[Any]) -> dict[str, Any]:
    """What the panel has of what the page shows; `asked` says what it is about, as the bars say it."""
    found = fitted_for(services, view, context, given)
    if isinstance(found, CannotSay):
        return {"asked": "", "why": told(found.why)}
    case, fitted = found
    stages = compared(fitted, case, read_document(view.text), services.checker)
    return {"asked": asked_of(fitted, view.text), **as_json(stages), "on_cpu": fitted.room.on_cpu}
