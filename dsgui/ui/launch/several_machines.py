"""The Launch page's question to the other machines, and what they answer."""

from dataclasses import dataclass
from html import escape

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.machine.machine_report import summary
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.launch.previewed import Previewed
from dsgui.ui.machine.machine_view import rows_html


@dataclass(frozen=True, slots=True)
class AskMachines:
    """`button` asks the machines, `answer` shows what they said."""

    button: gr.Button
    answer: gr.HTML


def build_ask_machines() -> AskMachines:
    """Must be called inside a `gr.Blocks`."""
    button = gr.Button("Check hosts", size="sm", elem_id="ask-hosts")
    return AskMachines(button, gr.HTML("", elem_id="machines-answer", apply_default_css=False, padding=False))


def wire_ask_machines(asks: AskMachines, previewed: gr.State, services: Services) -> None:
    """`previewed` has, as its `plan`, the launch that the page would start now, None while something is missing."""

    def ask(previewed: Previewed | None) -> str:
        plan = previewed.plan if previewed else None
        if plan is None or not plan.machines:
            raise gr.Error("The launch is incomplete: see the message above the command.")
        try:
            rows = services.ask_machines(plan)
        except DsguiError as error:
            raise gr.Error(escape(str(error))) from error
        asked = "1 host" if len(plan.hosts) == 1 else f"{len(plan.hosts)} hosts"
        return f'<div class="ds-machine">{rows_html(f"{asked} checked: {summary(rows)}", rows)}</div>'

    asks.button.click(ask, [previewed], [asks.answer], **{**ONCE, "queue": True, "show_progress": "minimal"})
