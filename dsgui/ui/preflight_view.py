"""The checks before a start on the Launch page: problems and warnings open, the rest folded. Everything is escaped."""

from collections.abc import Sequence
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.machine_report import summary
from dsgui.core.plan import Plan
from dsgui.core.planned import Launch
from dsgui.core.preflight import CONFIG, preflight
from dsgui.core.verdicts import Row, Status
from dsgui.ui.events import ONCE
from dsgui.ui.findings_view import sendable
from dsgui.ui.machine_view import pair, row_item
from dsgui.ui.services import Services

_POLL_S = 2.0


def rows_before_start(services: Services, plan: Plan, launch: Launch) -> tuple[Row, ...]:
    """What would stop this launch or make it slow, but for the config: the line above speaks of that."""
    rows = preflight(launch, services.surroundings(plan))
    return tuple(row for row in rows if row.check != CONFIG)


def preflight_html(rows: Sequence[Row]) -> str:
    """The list beside the command; "" where nothing is planned."""
    if not rows:
        return ""
    told = [row for row in rows if row.status in (Status.PROBLEM, Status.WARNING)]
    kind = {Status.PROBLEM: "ds-error", Status.WARNING: "ds-warning"}.get(rows[0].status, "ds-ok")
    return sendable(
        f'<div class="ds-findings ds-preflight"><p class="ds-verdict {kind}" role="status">'
        f"{escape(f'Before the start: {summary(rows)}')}</p>"
        f"<ul>{''.join(map(row_item, told))}</ul>{_folded(rows)}</div>"
    )


def _folded(rows: Sequence[Row]) -> str:
    fine = [row for row in rows if row.status is Status.OK]
    unknown = [row for row in rows if row.status is Status.UNKNOWN]
    counts = [f"{len(fine)} check{' is' if len(fine) == 1 else 's are'} fine"] if fine else []
    counts += [f"{len(unknown)} could not be judged"] if unknown else []
    pairs = "".join(pair(row.title, row.seen) for row in (*unknown, *fine))
    return (
        f'<details class="ds-passed"><summary>{escape(", ".join(counts))}</summary>'
        f'<dl class="ds-pairs">{pairs}</dl></details>'
    )


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
