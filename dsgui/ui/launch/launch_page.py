"""The Launch page: what runs, on what, the exact command, start."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.launch.plan import AS_SCRIPT_READS, reader_word
from dsgui.core.launch.variables import with_variables
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.script.words import swapped, with_option
from dsgui.core.texts.saying import words
from dsgui.runs.bundled import recipe_instead
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import LIVE, LOCAL, ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.workbench import Workbench
from dsgui.ui.launch.as_planned import (
    wire_as_planned,
    wire_plan_as_run,
)
from dsgui.ui.launch.asked_first import wire_ask_first
from dsgui.ui.launch.config_change import wire_config_change
from dsgui.ui.launch.desk import Desk, build_desk, look_at_gpus, share_ranks
from dsgui.ui.launch.pressed import Gone, starter
from dsgui.ui.launch.preview import Previewer
from dsgui.ui.launch.previewed import ANSWERED, ASKED, ENABLED, SENT_AT, Latest, in_order, while_built

_OF_CHECKS = ("convert", "fix", "offer", "show")  # the events of their buttons and links


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """`started` is the launch event; `run_id` then holds the run just started, "" if none was. `preview_on` shows the
    command anew when one of the given triggers fires, `look_at_gpus_on` what is in use, `look_whether_changed_on`
    whether what is said of a change of the config is still so. `desk` and `message` are for who fills the page in;
    `loaded` tells what was taken from an earlier run, `named` has the names that this gave the new one, `brought` has
    the Trainer's arguments of an imported one, or None."""

    started: Any
    run_id: gr.State
    preview_on: Callable[[list[Any]], Any]
    look_at_gpus_on: Callable[[Any], Any]
    look_whether_changed_on: Callable[[list[Any]], Any]
    desk: Desk
    message: gr.Markdown
    loaded: gr.HTML
    named: gr.State
    brought: gr.State


def build_launch(services: Services, workbench: Workbench, configure: ConfigurePage, default_ranks: int) -> LaunchPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`, after the Configure page."""
    loaded = gr.HTML("", elem_id="loaded-run", apply_default_css=False, padding=False)
    with gr.Row(elem_classes="ds-columns"):
        with gr.Column(scale=6, min_width=320):
            elsewhere = {**configure.memory.fields, **configure.bar.fields, "host_memory": configure.memory.host}
            desk = build_desk(services, default_ranks, elsewhere)
        with gr.Column(scale=5, min_width=320, elem_classes="ds-side"):
            verdict_line = gr.Markdown("", elem_id="launch-verdict")
            differs = gr.Markdown("", elem_id="plan-differs", elem_classes="ds-message", visible=False)
            take = gr.Button("", size="sm", visible=False, elem_id="take-plan")
            replan = gr.Button("", size="sm", visible=False, elem_id="plan-as-run")
            command = embedded("launch/command_line", "ds-launch-command", (), value="", elem_id="command")
            undo = gr.Button(words("launch_page", "undo"), size="sm", visible=False, elem_id="config-offer-undo")
            checks = embedded("config/findings", "ds-findings-root", _OF_CHECKS, value="", elem_id="preflight")
            changed = gr.HTML("", elem_id="config-changed", elem_classes="ds-purpose", padding=False)
            change_back = gr.Button(
                words("launch_page", "undo"), size="sm", visible=False, elem_id="config-change-back"
            )
            with gr.Column(elem_id="launch-foot"):
                anyway = gr.Checkbox(False, label=words("launch_page", "anyway"), visible=False, elem_id="although")
                with gr.Column(elem_id="launch-press"):  # what alone stays in view on a phone
                    gr.HTML(_to_checks(), elem_id="to-checks", padding=False)
                    launch = gr.Button(
                        words("launch_page", "launch"), variant="secondary", elem_id="launch", interactive=False
                    )
                    message = gr.Markdown("", elem_id="launch-message", elem_classes="ds-message")
    previewed, run_id, offers, shown = gr.State(None), gr.State(""), gr.State(()), gr.State(())
    brought, named, answer = gr.State(None), gr.State(()), gr.State(None)
    latest, sent_at = gr.State(Latest()), gr.Number(0, visible=False)
    # What a command is made from; it is started only while all of it stands as it did.
    bar = configure.bar
    made_from = [configure.text, configure.presets.chooser, anyway, bar.integration, *desk.components]
    outputs = [command, verdict_line, checks, offers, anyway, shown, launch, previewed, desk["logs"]]
    outputs += [configure.memory.loaded, differs, take, replan, bar.launched, bar.known, loaded, named]
    outputs += [desk.found, desk.instead, desk["saves"]]
    preview = Previewer(services, workbench, desk)
    asked_with = [sent_at, latest, shown, named, brought, answer, *made_from]

    def preview_on(triggers: list[Any], asks: str = SENT_AT) -> Any:
        gr.on(triggers, None, None, [launch, message], js=while_built(words("launch_page", "nothing_yet")), **LOCAL)
        return gr.on(triggers, in_order(preview, len(outputs)), asked_with, outputs, js=asks, **LIVE)

    # Not when the config changes: that happens on another page, and opening this one asks anew.
    asked = preview_on([anyway.change, answer.change, *(component.change for component in desk.components)], ASKED)
    asked.then(None, None, None, js=ANSWERED, **LOCAL)
    of_config = checks, (changed, change_back), previewed
    config_changed, look_whether_changed_on = wire_config_change(*of_config, configure, services, workbench)
    preview_on([config_changed])
    typed = [desk["reader"], desk["arguments"], desk["environment"]]
    before = gr.State(None)

    def accepted(made: tuple[Offer, ...], reader: str, arguments: str, environment: str, event: gr.EventData) -> Any:
        pressed = details(event).get("at")
        return _accepted(next((one for one in made if one.at == pressed), None), reader, arguments, environment)

    checks.offer(accepted, [offers, *typed], [*typed, before, undo], **ONCE)
    undo.click(_taken_back, [before], [*typed, undo], **ONCE)
    share_ranks(services.target(), desk["ranks"], bar.gpus)
    wire_as_planned(desk, bar, take, services.target())
    wire_plan_as_run(bar, replan, previewed)
    wire_ask_first(desk.asks, previewed, answer, services)
    desk.instead.click(_recipe_instead(services), [desk["script"]], [desk["what"], desk["script"]], **ONCE)
    start = starter(services, partial(preview, pressed=True))

    def press(*given: Any) -> dict[Any, Any]:
        pressed = start(*given)
        anew: dict[Any, Any] = dict(zip(outputs, pressed.anew, strict=True)) if pressed.anew else {}
        if pressed.run_id:
            anew |= {
                previewed: Gone(given[0] or 0.0),
                launch: gr.Button(interactive=False, variant="secondary"),
                anyway: False,
            }
        return {run_id: pressed.run_id, message: pressed.told, **anew}

    anyway.input(None, [anyway], [launch], js=ENABLED, **LOCAL)
    launch.click(None, None, [message], js=_says("starting"), **LOCAL)
    started = launch.click(
        press,
        [sent_at, latest, previewed, command, shown, named, brought, answer, *made_from],
        [run_id, message, *outputs],
        js=SENT_AT,
        **{**ONCE, "trigger_mode": "once"},
    )
    started.failure(None, None, [message], js=_says("unanswered"), **LOCAL)
    return LaunchPage(
        started,
        run_id,
        preview_on,
        lambda event: look_at_gpus(services, desk["gpus"], event),
        look_whether_changed_on,
        desk,
        message,
        loaded,
        named,
        brought,
    )


def _to_checks() -> str:
    """The way up to what stops a start, or comes before it, where the checks are far above the button
    (static/site/later.css)."""
    ways = (("ds-to-stop", "to_checks"), ("ds-to-ask", "check_machines"))
    return "".join(f'<a href="#preflight" class="{of}">{escape(words("launch_page", code))}</a>' for of, code in ways)


def _recipe_instead(services: Services) -> Callable[[str | None], tuple[Any, Any]]:
    def take(script: str | None) -> tuple[Any, Any]:
        recipe = recipe_instead(services.recipes, script or "")
        return (recipe, "") if recipe else (gr.skip(), gr.skip())

    return take


def _accepted(offer: Offer | None, reader: str, arguments: str | None, environment: str | None) -> tuple[Any, ...]:
    """The reader, the arguments and the environment after the offer was taken; how they were; and the way back."""
    typed = reader, arguments or "", environment or ""
    if offer is None:
        return *typed, None, gr.Button(visible=False)
    undo = gr.Button(words("launch_page", "undo_offer", offer=str(offer.label)), visible=True)
    taken = _with_offer(offer, *typed)
    # A second press finds nothing more to do: what was before stays for the way back.
    return (*taken, gr.skip(), gr.skip()) if taken == typed else (*taken, typed, undo)


def _with_offer(offer: Offer, reader: str, arguments: str, environment: str) -> tuple[str, str, str]:
    if offer.swaps:
        typed = reduce(lambda words, swap: swapped(words, *swap), offer.swaps, tuple(shlex.split(arguments)))
        return reader, shlex.join(typed), environment
    if offer.without:
        return reader, shlex.join((*_without(arguments, offer.without), *offer.words)), environment
    taken = reader_word(offer.argument) if offer.argument else AS_SCRIPT_READS
    added = " ".join(offer.words)
    words = arguments if added in arguments else " ".join(filter(None, (arguments.rstrip(), added)))
    return reader if offer.stays else taken, words, with_variables(environment, offer.variables)


def _taken_back(before: tuple[str, str, str] | None) -> tuple[Any, ...]:
    typed = before or (gr.skip(), gr.skip(), gr.skip())
    return *typed, gr.Button(visible=False)


def _without(arguments: str, options: Sequence[str]) -> tuple[str, ...]:
    words = tuple(shlex.split(arguments))
    for option in options:
        words = with_option(words, option, None)
    return words


def _says(code: str) -> str:
    """JavaScript that gives this text."""
    return f"() => {json.dumps(words('launch_page', code))}"
