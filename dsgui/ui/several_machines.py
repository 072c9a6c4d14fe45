"""The Launch page's part on several machines: the hostfile, its filters, and what the machines answer."""

from dataclasses import dataclass
from html import escape

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.machine_report import summary
from dsgui.ui.events import ONCE
from dsgui.ui.machine_view import rows_html
from dsgui.ui.previewed import Previewed
from dsgui.ui.services import Services

HERE, SEVERAL, SLURM = "here", "several", "slurm"
_PLACES = [("This machine", HERE), ("Several machines, over ssh", SEVERAL), ("Slurm", SLURM)]


@dataclass(frozen=True, slots=True)
class SeveralMachines:
    """The inputs; `button` asks the machines, `answer` shows what they said."""

    where: gr.Radio
    hostfile: gr.Textbox
    include: gr.Textbox
    exclude: gr.Textbox
    master_addr: gr.Textbox
    panel: gr.Column
    button: gr.Button
    answer: gr.HTML


def build_several_machines() -> SeveralMachines:
    """Must be called inside a `gr.Blocks`."""
    where = gr.Radio(_PLACES, value=HERE, label="Where it trains", elem_id="where")
    with gr.Column(visible=False, elem_classes="ds-several") as panel:
        hostfile = gr.Textbox(
            "",
            label="Hostfile",
            lines=3,
            max_lines=12,
            placeholder="worker-0 slots=4\nworker-1 slots=4",
            info="One machine a line, with the number of its GPUs, or paste yours. Ranks are counted in this order. "
            "ssh must reach each without a password; Python, script and data lie at the same paths everywhere.",
            elem_id="hostfile",
        )
        with gr.Row():
            include = gr.Textbox(
                "", label="Only these (include)", placeholder="worker-0@worker-1:0,2", min_width=160, elem_id="include"
            )
            exclude = gr.Textbox(
                "", label="All but these (exclude)", placeholder="worker-1:0", min_width=160, elem_id="exclude"
            )
            master_addr = gr.Textbox(
                "",
                label="Master address",
                placeholder="the first machine’s",
                min_width=160,
                elem_id="master-addr",
            )
        button = gr.Button("Ask the machines", size="sm", elem_id="ask-machines")
        answer = gr.HTML("", elem_id="machines-answer", apply_default_css=False, padding=False)
    return SeveralMachines(where, hostfile, include, exclude, master_addr, panel, button, answer)


def wire_several_machines(several: SeveralMachines, previewed: gr.State, services: Services) -> None:
    """`previewed` has, as its `plan`, the launch that the page would start now, None while something is missing."""

    def ask(previewed: Previewed | None) -> str:
        plan = previewed.plan if previewed else None
        if plan is None or not plan.machines:
            raise gr.Error("There is no complete launch yet: see what the line above the command asks for.")
        try:
            rows = services.ask_machines(plan)
        except DsguiError as error:
            raise gr.Error(escape(str(error))) from error
        asked = "1 machine" if len(plan.hosts) == 1 else f"{len(plan.hosts)} machines"
        return f'<div class="ds-machine">{rows_html(f"{asked} asked: {summary(rows)}", rows)}</div>'

    several.button.click(ask, [previewed], [several.answer], **{**ONCE, "queue": True, "show_progress": "minimal"})
