"""The checks before a start on the Launch page: problems and warnings open, the rest folded. Everything is escaped."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType
from typing import Any

import gradio as gr

from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.pointer import dotted
from dsgui.core.machine.machine_report import counted, summary
from dsgui.core.machine.verdicts import Row, Status, how_many
from dsgui.core.preflight import memory_check, ticked_checks
from dsgui.core.preflight.argument_checks import better_arguments
from dsgui.core.preflight.handing_checks import Offer, offer, reads_another
from dsgui.core.preflight.preflight import AGREEMENT, CONFIG, OF_ARGUMENTS, preflight
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.findings_view import breakable, prose, sendable, without_key
from dsgui.ui.common.services import Services
from dsgui.ui.machine.machine_view import item_html, list_html

_POLL_S = 2.0
_OF_CONFIG = (CONFIG, AGREEMENT)
_TOLD = (Status.PROBLEM, Status.WARNING)
_OPTION = re.compile(r"(?<!\S)--[a-zA-Z][\w-]*")  # a line breaks after each hyphen else
OFFERED = "config-offer"  # the button of the Launch page that takes the offer


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
    offers = (offer, better_arguments, ticked_checks.offer, memory_check.offer)
    made = next(filter(None, (find(question) for find in offers)), None)
    return BeforeStart(rows, made, launch.handed, not reads_another(question))


def before_hosts(launch: Launch, around: Surroundings) -> BeforeStart:
    """What stops this launch whichever hosts it is given."""
    found = before_start(launch, around)
    rows = tuple(row for row in found.rows if row.check in OF_ARGUMENTS and row.status is Status.PROBLEM)
    return BeforeStart(rows, found.offer if is_open(rows, found.offer) else None)


@dataclass(frozen=True, slots=True)
class ToConfigure:
    """What leads from the checks to what mends the config. `recipe`: the title of the one chosen, where the config is
    not the preset it is made for: that is then the cure of what stops the config, and nothing else is advised.
    `found`: what the config was found to be; `reads`: the framework that it was checked for, "" where 1 · Configure is
    set to it; `converts`: one press writes native values; `fixes`: the button for the errors that have one right fix,
    "" where none has; `knows_model`: what its memory panel says is about the model
    of this launch."""

    recipe: str = ""
    found: tuple[Finding, ...] = ()
    reads: str = ""
    converts: bool = False
    fixes: str = ""
    knows_model: bool = False


def is_open(rows: Sequence[Row], offer: Offer | None) -> bool:
    """Whether the row that this mends is among those that are told: the button stands in it then."""
    return offer is not None and any(row.check == offer.at and row.status in _TOLD for row in rows)


def preflight_html(
    rows: Sequence[Row],
    to: ToConfigure = ToConfigure(),
    offer: Offer | None = None,
    asks: Mapping[Row, str] = MappingProxyType({}),
) -> str:
    """The list beside the command, with the button of what is offered in its row; "" where nothing is planned. `asks`:
    of a row, the HTML of the button that asks about it."""
    if not rows:
        return ""
    said = words("launch_page", "preflight", summary=summary(rows))
    stopping = [row for row in rows if row.check in _OF_CONFIG and row.status is Status.PROBLEM]
    cured = stopping if to.recipe else [row for row in stopping if to.converts and row.check == CONFIG]
    shown = [replace(row, advised=()) if row in cured else row for row in rows]
    first = next((place for place, row in enumerate(rows) if row in stopping), None)
    offered = next((row for row in rows if offer and is_open([row], offer)), None)
    ways = [
        f"{press_html(OFFERED, str(offer.label)) if offer and row is offered else ''}"
        f"{_way(row, to, place == first, len(stopping) == 1)}{asks.get(row, '')}"
        for place, row in enumerate(rows)
    ]
    several = f'<p class="ds-wide">{to.fixes}</p>' if to.fixes and len(stopping) > 1 and not to.converts else ""
    reads = f' data-reads="{escape(to.reads)}"' if to.reads else ""
    return sendable(f'<div class="ds-findings ds-preflight"{reads}>{list_html(said, shown, ways, asks, several)}</div>')


def stops_html(rows: Sequence[Row], offer: Offer | None) -> str:
    """The entries of `rows` alone, with the button of what is offered."""
    press = press_html(OFFERED, str(offer.label)) if offer else ""
    return "".join(item_html(row, press if is_open([row], offer) else "") for row in rows)


def worst_of(rows: Sequence[Row]) -> str:
    """`2 problems`, else `1 warning`; "" where nothing speaks against a start."""
    for status in (Status.PROBLEM, Status.WARNING):
        if count := how_many(rows, status):
            return str(counted(status, count))
    return ""


def _way(row: Row, to: ToConfigure, first: bool, alone: bool) -> str:
    """`first` of the rows in which the config stops, and `alone` of them."""
    load = _load_html(to.recipe) if to.recipe and first else ""
    if row.check == memory_check.MODEL_MEMORY and to.knows_model and row.status in _TOLD:
        return f'<p><a href="#memory">{words("launch_page", "to_memory")}</a></p>'
    fixes = to.fixes if alone and first and not to.converts else ""
    link = f'<p><a href="#findings">{words("launch_page", "to_findings")}</a></p>'
    if row.check != CONFIG:
        return f"{load}{fixes}{link if row.check == AGREEMENT and not load else ''}"
    convert = words("launch_page", "convert_natively")
    press = f'<button type="button" class="ds-fix" data-convert>{convert}</button>' if to.converts and not load else ""
    return f"{load}{press}{fixes}{_every(row, to.found)}{link}"


def _every(row: Row, found: Sequence[Finding]) -> str:
    """All that the row counts, folded, with the keys of which the same is to be said together; "" for a single one."""
    gravity = {Status.PROBLEM: Severity.ERROR, Status.WARNING: Severity.WARNING}.get(row.status)
    told = [finding for finding in found if finding.severity is gravity]
    if len(told) < 2:
        return ""
    same: dict[str, list[str]] = {}
    for finding in told:
        key = f'<button type="button" class="ds-where" data-goto="{escape(finding.pointer)}">'
        same.setdefault(without_key(finding), []).append(f"{key}{breakable(dotted(finding.pointer))}</button>")
    items = "".join(f"<li><p>{', '.join(keys)}</p><p>{prose(text)}</p></li>" for text, keys in same.items())
    code = "all_problems" if gravity is Severity.ERROR else "all_warnings"
    summary_ = escape(words("launch_page", code, count=str(len(told))))
    return f'<details class="ds-every" data-fold="every"><summary>{summary_}</summary><ul>{items}</ul></details>'


def _load_html(recipe: str) -> str:
    """Presses the button beside the recipes, which does the same."""
    return press_html("recipe-preset", words("launch_page", "load_recipe_preset", recipe=recipe))


def press_html(id: str, says: str, **data: str) -> str:
    """A button that presses the one of this id; `data`: what the page's JavaScript is told beside."""
    more = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    label = _OPTION.sub(r'<span class="ds-whole">\g<0></span>', escape(says))
    return f'<button type="button" class="ds-fix" data-press="{id}"{more}>{label}</button>'


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
