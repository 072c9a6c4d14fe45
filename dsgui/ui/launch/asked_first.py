"""The Launch page's question to the place where a run will train, and what is answered there."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Place
from dsgui.core.machine.machine_report import summary
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.launch.previewed import Previewed
from dsgui.ui.machine.machine_view import rows_html


@dataclass(frozen=True, slots=True)
class AskFirst:
    """`button` asks at places of this `kind`, `answer` shows what was said."""

    kind: type[Place]
    button: gr.Button
    answer: gr.HTML


def build_ask_first(kind: type[Place]) -> AskFirst:
    """Must be called inside a `gr.Blocks`."""
    asked = kind.CAN_BE_ASKED
    button = gr.Button(f"Check {asked}", size="sm", elem_id=f"ask-{asked}")
    return AskFirst(kind, button, gr.HTML("", elem_id=f"{asked}-answer", apply_default_css=False, padding=False))


def wire_ask_first(asks: Iterable[AskFirst], previewed: gr.State, services: Services) -> None:
    """`previewed` has, as its `plan`, the launch that the page would start now, None while something is missing."""
    for one in asks:
        _wire(one, previewed, services)


def _wire(asks: AskFirst, previewed: gr.State, services: Services) -> None:
    def ask(previewed: Previewed | None) -> str:
        plan = previewed.plan if previewed else None
        if plan is None or not isinstance(plan.place, asks.kind):
            raise gr.Error("The launch is incomplete: see the message above the command.")
        try:
            rows = services.ask_place(plan)
        except DsguiError as error:
            raise gr.Error(escape(str(error))) from error
        hosts = len(plan.place.hosts()) or 1
        asked = "1 host" if hosts == 1 else f"{hosts} hosts"
        return f'<div class="ds-machine">{rows_html(f"{asked} checked: {summary(rows)}", rows)}</div>'

    asks.button.click(ask, [previewed], [asks.answer], **{**ONCE, "queue": True, "show_progress": "minimal"})
