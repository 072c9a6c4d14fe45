"""The Machine page: asks when it is opened, shows what is known at once, and the rest when the target has answered."""

from typing import Any

import gradio as gr

from dsgui.core.texts.saying import words
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.machine.machine_view import machine_html

_POLL_S = 1.0


def build_machine(services: Services, tab: gr.Tab) -> None:
    """Lays the page out and wires it. Must be called inside `tab`."""
    with gr.Row(elem_classes="ds-machine-head"):
        again = words("machine_page", "again")
        refresh = gr.Button(again, elem_id="machine-refresh", size="sm", scale=0, min_width=140)
    shown = embedded("config/findings", "ds-findings-root", (), value="", elem_id="machine")
    timer = gr.Timer(_POLL_S, active=False)

    def show() -> tuple[str, Any]:
        machine = services.machine.current()
        asking = services.machine.asking
        return machine_html(machine, asking), gr.Timer(active=asking)

    def check_again() -> tuple[str, Any]:
        services.machine.refresh()
        return show()

    tab.select(show, None, [shown, timer], **ONCE)
    timer.tick(show, None, [shown, timer], **ONCE)
    refresh.click(check_again, None, [shown, timer], **ONCE)
