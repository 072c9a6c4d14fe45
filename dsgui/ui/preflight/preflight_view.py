"""The checks before a start on the Launch page: problems and warnings open, the rest folded. Everything is escaped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.machine.machine_report import summary
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.preflight import memory_check
from dsgui.core.preflight.argument_checks import better_arguments
from dsgui.core.preflight.handing_checks import Offer, offer, reads_another
from dsgui.core.preflight.preflight import AGREEMENT, CONFIG, preflight
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.findings_view import sendable
from dsgui.ui.common.services import Services
from dsgui.ui.machine.machine_view import list_html

_POLL_S = 2.0
_OF_CONFIG = (CONFIG, AGREEMENT)


@dataclass(frozen=True, slots=True)
class BeforeStart:
    """The rows, and what one click can do where the script would not get its config, stops at its arguments, or is
    short of memory.
    `handed`: the script is given this config; `counts`: it may read it."""

    rows: tuple[Row, ...] = ()
    offer: Offer | None = None
    handed: bool = True
    counts: bool = True


def before_start(launch: Launch, around: Surroundings) -> BeforeStart:
    """What would stop this launch or make it slow, the config first of all."""
    question = Question(launch, around)
    rows = preflight(question.launch, question.around)
    made = offer(question) or better_arguments(question) or memory_check.offer(question)
    return BeforeStart(rows, made, launch.handed, not reads_another(question))


def preflight_html(rows: Sequence[Row], recipe: str = "") -> str:
    """The list beside the command; "" where nothing is planned. `recipe`: the title of the one chosen, where the config
    is not the preset it is made for: that is then the cure of what stops the config, and nothing else is advised."""
    if not rows:
        return ""
    said = words("launch_page", "preflight", summary=summary(rows))
    to_config = f'<p><a href="#findings">{words("launch_page", "to_findings")}</a></p>'
    stopping = [row for row in rows if recipe and row.check in _OF_CONFIG and row.status is Status.PROBLEM]
    shown = [replace(row, advised=()) if row in stopping else row for row in rows]
    first = next((place for place, row in enumerate(rows) if row in stopping), None)
    load = _load_html(recipe) if stopping else ""
    ways = [
        f"{load if place == first else ''}{to_config if row.check == CONFIG else ''}" for place, row in enumerate(rows)
    ]
    return sendable(f'<div class="ds-findings ds-preflight">{list_html(said, shown, ways)}</div>')


def _load_html(recipe: str) -> str:
    """Presses the button beside the recipes, which does the same."""
    says = escape(words("launch_page", "load_recipe_preset", recipe=recipe))
    return f'<button type="button" class="ds-fix" data-press="recipe-preset">{says}</button>'


def machine_told(services: Services, tab: gr.Tab) -> gr.Checkbox:
    """Asks the machine when the tab is opened; the (unseen) checkbox turns on when the target has answered."""
    timer, told = gr.Timer(_POLL_S, active=False), gr.Checkbox(False, visible=False)

    def follow() -> tuple[Any, bool]:
        services.machine.current()
        asking = services.machine.asking
        return gr.Timer(active=asking), not asking

    tab.select(follow, None, [timer, told], **ONCE)
    timer.tick(follow, None, [timer, told], **ONCE)
    return told
