"""The checks before a start on the Launch page: problems and warnings open, the rest folded. Everything is escaped."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType
from typing import Any

import gradio as gr

from dsgui.core.config.findings import Finding, Severity, has_error
from dsgui.core.config.pointer import dotted
from dsgui.core.machine.machine import Machine
from dsgui.core.machine.machine_report import counted, summary
from dsgui.core.machine.verdicts import Row, Status, how_many
from dsgui.core.preflight import memory_check, ticked_checks
from dsgui.core.preflight.argument_checks import argument_offers
from dsgui.core.preflight.handing_checks import Offer, offer, reads_another
from dsgui.core.preflight.preflight import AGREEMENT, CONFIG, OF_ARGUMENTS, preflight
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.findings_view import breakable, prose, sendable, without_key
from dsgui.ui.common.services import Services
from dsgui.ui.machine.machine_view import item_html, list_html

_POLL_S = 2.0
OF_CONFIG = (CONFIG, AGREEMENT)
_TOLD = (Status.PROBLEM, Status.WARNING)
_OPTION = re.compile(r"(?<!\S)--[a-zA-Z][\w-]*")  # a line breaks after each hyphen else


@dataclass(frozen=True, slots=True)
class BeforeStart:
    """The rows, and what one click can do in each where the script would not get its config, stops at its arguments, or
    is short of memory.
    `handed`: the script is given this config; `counts`: it may read it."""

    rows: tuple[Row, ...] = ()
    offers: tuple[Offer, ...] = ()
    handed: bool = True
    counts: bool = True


def before_start(launch: Launch, around: Surroundings) -> BeforeStart:
    """What would stop this launch or make it slow, the config first of all."""
    question = Question(launch, around)
    rows = preflight(question.launch, question.around)
    others = (find(question) for find in (ticked_checks.offer, memory_check.offer))
    made = (offer(question), *argument_offers(question), *others)
    return BeforeStart(rows, tuple(filter(None, made)), launch.handed, not reads_another(question))


def before_hosts(launch: Launch, around: Surroundings) -> BeforeStart:
    """What stops this launch whichever hosts it is given: the config, as it is planned, and the arguments."""
    found = before_start(launch, around)
    rows = tuple(row for row in found.rows if row.check in (*OF_CONFIG, *OF_ARGUMENTS) and row.status is Status.PROBLEM)
    return BeforeStart(rows, tuple(one for one in found.offers if is_open(rows, one)), found.handed, found.counts)


def before_script(launch: Launch, machine: Machine) -> BeforeStart:
    """What the config stops at whatever script is given."""
    rows = before_start(launch, Surroundings(ScriptFacts(), machine)).rows
    return BeforeStart(tuple(row for row in rows if row.check == CONFIG and row.status is Status.PROBLEM))


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


def is_open(rows: Sequence[Row], offer: Offer) -> bool:
    """Whether the row that this mends is among those that are told: the button stands in it then."""
    return any(row.check == offer.at and row.status in _TOLD for row in rows)


def preflight_html(
    rows: Sequence[Row],
    to: ToConfigure = ToConfigure(),
    offers: Sequence[Offer] = (),
    asks: Mapping[Row, str] = MappingProxyType({}),
) -> str:
    """The list beside the command, with the button of what is offered in its row, or above them all where it has none;
    "" where nothing is planned. `asks`: of a row, the HTML of the button that asks about it."""
    if not rows:
        return ""
    said = words("launch_page", "preflight", summary=summary(rows))
    shown, ways = _with_ways(rows, to, offers, asks)
    fixes = to.fixes if len(_stopping(rows)) > 1 and not to.converts else ""
    above = "".join(_offer_html(one) for one in offers if not is_open(rows, one)) + fixes
    several = f'<p class="ds-wide">{above}</p>' if above else ""
    reads = reads_html(to.reads)
    return sendable(f'<div class="ds-findings ds-preflight"{reads}>{list_html(said, shown, ways, asks, several)}</div>')


def stops_html(rows: Sequence[Row], offers: Sequence[Offer], to: ToConfigure) -> str:
    """The entries of `rows` alone, with the buttons of what is offered and the way to what mends the config."""
    return "".join(item_html(row, way) for row, way in zip(*_with_ways(rows, to, offers), strict=True))


def _stopping(rows: Sequence[Row]) -> list[Row]:
    """Those in which the config stops."""
    return [row for row in rows if row.check in OF_CONFIG and row.status is Status.PROBLEM]


def _with_ways(
    rows: Sequence[Row], to: ToConfigure, offers: Sequence[Offer], asks: Mapping[Row, str] = MappingProxyType({})
) -> tuple[list[Row], list[str]]:
    """The rows, without advice where one press mends them, and of each what mends it or leads to where it is mended."""
    stopping = _stopping(rows)
    cured = stopping if to.recipe else [row for row in stopping if to.converts and row.check == CONFIG]
    shown = [replace(row, advised=()) if row in cured else row for row in rows]
    first = next((place for place, row in enumerate(rows) if row in stopping), None)
    ways = [
        f"{_offers_html(row, offers)}{_way(row, to, place == first, len(stopping) == 1)}{asks.get(row, '')}"
        for place, row in enumerate(rows)
    ]
    return shown, ways


def reads_html(reads: str) -> str:
    """The attribute by which static/launch/to_configure.js sets 1 · Configure to the framework that was checked for."""
    return f' data-reads="{escape(reads)}"' if reads else ""


def _offers_html(row: Row, offers: Sequence[Offer]) -> str:
    return "".join(_offer_html(one) for one in offers if is_open([row], one))


def _offer_html(offer: Offer) -> str:
    """static/launch/to_configure.js tells the server which was pressed."""
    return f'<button type="button" class="ds-fix" data-offer="{escape(offer.at)}">{_label(str(offer.label))}</button>'


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
    # Of a config that the script isn't given, errors are a warning; no other severity is told while there is one.
    gravity = Severity.ERROR if has_error(found) else Severity.WARNING
    told = [finding for finding in found if finding.severity is gravity]
    if len(told) < 2:
        return ""
    same: dict[str, list[str]] = {}
    for finding in told:
        key = f'<button type="button" class="ds-where" data-goto="{escape(finding.pointer)}">'
        same.setdefault(without_key(finding), []).append(f"{key}{breakable(dotted(finding.pointer))}</button>")
    items = "".join(f"<li><p>{', '.join(keys)}</p><p>{prose(text)}</p></li>" for text, keys in same.items())
    code = "all_errors" if gravity is Severity.ERROR else "all_warnings"
    summary_ = escape(words("launch_page", code, count=str(len(told))))
    return f'<details class="ds-every" data-fold="every"><summary>{summary_}</summary><ul>{items}</ul></details>'


def _load_html(recipe: str) -> str:
    """Presses the button beside the recipes, which does the same."""
    return press_html("recipe-preset", words("launch_page", "load_recipe_preset", recipe=recipe))


def press_html(id: str, says: str, **data: str) -> str:
    """A button that presses the one of this id; `data`: what the page's JavaScript is told beside."""
    more = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    return f'<button type="button" class="ds-fix" data-press="{id}"{more}>{_label(says)}</button>'


def _label(says: str) -> str:
    return _OPTION.sub(r'<span class="ds-whole">\g<0></span>', escape(says))


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
