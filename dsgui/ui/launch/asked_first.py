"""The Launch page's question to the place where a run will train, and what is answered there."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Place
from dsgui.core.machine.machine_report import summary
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal
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
    button = gr.Button(_label(asked), size="sm", elem_id=f"ask-{asked}")
    return AskFirst(kind, button, gr.HTML("", elem_id=f"{asked}-answer", apply_default_css=False, padding=False))


def _label(asked: str) -> str:
    """A place of its own module, which the catalogue doesn't know, has a word of its own."""
    return words("launch_page", "check_machines") if asked == "machines" else f"Check {asked}"


def wire_ask_first(asks: Iterable[AskFirst], previewed: gr.State, services: Services) -> None:
    """`previewed` has, as its `plan`, the launch that the page would start now, None while something is missing."""
    for one in asks:
        _wire(one, previewed, services)


def _wire(asks: AskFirst, previewed: gr.State, services: Services) -> None:
    def ask(previewed: Previewed | None) -> str:
        plan = previewed.plan if previewed else None
        if plan is None or not isinstance(plan.place, asks.kind):
            raise refusal(words("launch_page", "incomplete"))
        try:
            rows = services.ask_place(plan)
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        hosts = len(plan.place.hosts()) or 1
        given = {"summary": summary(rows)}
        told = words("launch_page", "host_checked", **given)
        if hosts > 1:
            told = words("launch_page", "hosts_checked", count=str(hosts), **given)
        return f'<div class="ds-machine">{rows_html(told, rows)}</div>'

    shown = {"show_progress": "minimal", "show_progress_on": [asks.answer]}
    asks.button.click(ask, [previewed], [asks.answer], **{**TELLING, **shown})
