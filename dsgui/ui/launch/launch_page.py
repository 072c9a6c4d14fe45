"""The Launch page: what runs, on what, the exact command, start."""

import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Integration
from dsgui.core.config.findings import has_error, refuser
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.imported.brought import Brought
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import AS_SCRIPT_READS, Here, LaunchRequest, Plan, reader_word
from dsgui.core.launch.recipes import BY_NAME as BY_RECIPE
from dsgui.core.launch.spec import place_of, typed_arguments
from dsgui.core.launch.variables import with_variables
from dsgui.core.machine.hardware import Target
from dsgui.core.machine.machine_report import counted
from dsgui.core.machine.verdicts import Row, Status, has_problem
from dsgui.core.memory.choice import of_text
from dsgui.core.memory.fits.memory_report import as_json, kept
from dsgui.core.preflight.filled_by_script import Filler, as_filled, filled_by, keys_filled
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.preflight.hosts_report import OF_HOSTS
from dsgui.core.preflight.judging import as_script_takes
from dsgui.core.preflight.launch_findings import launch_findings
from dsgui.core.preflight.memory_check import trains_whole, with_memory
from dsgui.core.preflight.surroundings import Launch, Surroundings, context_in
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.taken import LOGGING_WORDS
from dsgui.core.script.words import with_option
from dsgui.core.texts.saying import words
from dsgui.runs.bundled import recipe_instead
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.events import LIVE, LOCAL, ONCE
from dsgui.ui.common.findings_view import verdict
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.workbench import Workbench
from dsgui.ui.launch.as_planned import (
    Differs,
    as_count,
    compared,
    fills_in,
    planned_for,
    wire_as_planned,
    wire_plan_as_run,
)
from dsgui.ui.launch.asked_first import Answer, Told, wire_ask_first, with_answer
from dsgui.ui.launch.cloned import changes, line_html, name_of, of_parent, original
from dsgui.ui.launch.desk import Desk, build_desk, look_at_gpus, share_ranks
from dsgui.ui.launch.found import found_html
from dsgui.ui.launch.launch_request import config_name, page_request, preset_of
from dsgui.ui.launch.meanwhile import fit_told, line, meanwhile, where_told
from dsgui.ui.launch.natively import is_convertible, wire_natively
from dsgui.ui.launch.pressed import Gone, starter
from dsgui.ui.launch.previewed import ENABLED, SENT_AT, Latest, Previewed, in_order, while_built
from dsgui.ui.launch.refused import field_of, is_gone, is_needed_yet, lacks, needed_html, refused_html
from dsgui.ui.preflight.preflight_view import (
    OFFERED,
    BeforeStart,
    ToConfigure,
    before_start,
    is_open,
    preflight_html,
    worst_of,
)

_OF_PLACES = ("hostfile",)  # without them no run can be planned
_OF_CHECKS = ("convert", "show")  # the events of their buttons and links
# What the button and the tick beside it say where they do not say “Launch”.
_PRESSES = {SlurmJob.NAME: ("submit", "submit_anyway")}


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """`started` is the launch event; `run_id` then holds the run just started, "" if none was. `preview_on` shows the
    command anew when one of the given triggers fires, `look_at_gpus_on` what is in use, `look_whether_native_on`
    whether what is said of a conversion is still so. `desk` and `message` are for who fills the page in; `loaded` tells
    what was taken from an earlier run, `named` is the name that this gave the new one, `brought` has the Trainer's
    arguments of an imported one, or None."""

    started: Any
    run_id: gr.State
    preview_on: Callable[[list[Any]], Any]
    look_at_gpus_on: Callable[[Any], Any]
    look_whether_native_on: Callable[[list[Any]], Any]
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
            offered = gr.Button("", size="sm", visible=False, elem_id=OFFERED)
            undo = gr.Button(words("launch_page", "undo"), size="sm", visible=False, elem_id="config-offer-undo")
            checks = embedded("config/findings", "ds-findings-root", _OF_CHECKS, value="", elem_id="preflight")
            natively = gr.HTML("", elem_id="natively", elem_classes="ds-purpose", padding=False)
            auto_again = gr.Button(words("launch_page", "undo"), size="sm", visible=False, elem_id="natively-undo")
            with gr.Column(elem_id="launch-foot"):
                gr.HTML(_to_checks(), elem_id="to-checks", padding=False)
                anyway = gr.Checkbox(False, label=words("launch_page", "anyway"), visible=False, elem_id="although")
                launch = gr.Button(
                    words("launch_page", "launch"), variant="secondary", elem_id="launch", interactive=False
                )
                message = gr.Markdown("", elem_id="launch-message", elem_classes="ds-message")
    previewed, run_id, offer, shown = gr.State(None), gr.State(""), gr.State(None), gr.State(())
    brought, named, answer = gr.State(None), gr.State(()), gr.State(None)
    latest, sent_at = gr.State(Latest()), gr.Number(0, visible=False)
    # What a command is made from; it is started only while all of it stands as it did.
    bar = configure.bar
    made_from = [configure.text, configure.presets.chooser, anyway, bar.integration, *desk.components]
    outputs = [command, verdict_line, checks, offered, offer, anyway, shown, launch, previewed, desk["logs"]]
    outputs += [configure.memory.loaded, differs, take, replan, bar.launched, bar.known, loaded, named]
    outputs += [desk.found, desk.instead, desk["saves"]]
    preview = _previewer(services, workbench, desk)
    asked_with = [sent_at, latest, shown, named, brought, answer, *made_from]

    def preview_on(triggers: list[Any]) -> Any:
        gr.on(triggers, None, None, [launch, message], js=while_built(words("launch_page", "nothing_yet")), **LOCAL)
        return gr.on(triggers, in_order(preview, len(outputs)), asked_with, outputs, js=SENT_AT, **LIVE)

    # Not when the config changes: that happens on another page, and opening this one asks anew.
    preview_on([anyway.change, answer.change, *(component.change for component in desk.components)])
    made_native, look_whether_native_on = wire_natively(checks, (natively, auto_again), previewed, configure, services)
    preview_on([made_native])
    typed = [desk["reader"], desk["arguments"], desk["environment"]]
    before = gr.State(None)
    offered.click(_accepted, [offer, *typed], [*typed, before, undo], **ONCE)
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
        look_whether_native_on,
        desk,
        message,
        loaded,
        named,
        brought,
    )


def _previewer(services: Services, workbench: Workbench, desk: Desk) -> Callable[..., tuple[Any, ...]]:
    """The handler that turns what is on the page into a plan, or says what is missing."""

    def preview(
        shown: tuple[str, ...],
        named: tuple[str, ...],
        brought: Brought | None,
        answer: Answer | None,
        text: str | None,
        preset: str | None,
        ticked: bool,
        configured: str,
        *values: Any,
        pressed: bool = False,
    ) -> tuple[Any, ...]:
        asked, target = desk.values(values), services.target()
        imported = brought.now(asked) if brought else None
        launched, differs = Launched(place_of(asked), imported or typed_arguments(asked)), Differs()
        recipe = BY_RECIPE.get(asked["what"])
        reader = recipe.takes.integration.value if recipe else configured
        says, why, plan, foretold, handed_on = "", "", None, None, dict[str, str]()
        saves = recipe is None or recipe.takes.integration is Integration.HF
        line_of_clone: Any = gr.skip() if asked["parent"] else ""
        before, checks, began = BeforeStart(), "", preset_of(services, preset, text)
        found, instead, needed, may_log = "", "", False, False
        told, loaded = Told(()), "" if recipe else gr.skip()
        request: LaunchRequest | None = None
        try:
            request = page_request(services, text or "", asked, reader, began)
            if before_it := original(services, asked["parent"]):
                changed = changes(before_it, request, services)
                was: tuple[str, ...] = ()
                if asked["name"] in named:  # what somebody typed stays
                    given = name_of(before_it, changed, of_parent(before_it, services))
                    was = named if given != asked["name"] else ()
                    named = (*(one for one in named if one != given), given)
                    asked, request = {**asked, "name": given}, replace(request, name=given)
                    values = tuple(asked[name] for name in desk.inputs)
                line_of_clone = line_html(asked["parent"], before_it, changed, request, services, was)
            plan, handed_on = services.runs.prepare(request), request.handed_on
            may_log = _may_log(services, plan, bool(asked["logs"]))
            around = services.surroundings(plan, text or "")
            found = "" if recipe else found_html(plan, around.script, asked["reader"])
            saves = saves and (bool(recipe or asked["saves"]) or _may_save(plan, around.script))
            arguments = around.arguments_of(plan) or imported
            part = trainers_part(plan.config_argument, around.script, plan.arguments)
            launched = Launched(plan.place, arguments, part.takes_options)
            launch = as_script_takes(Launch.of(plan, {}), around)
            launch = _with_config(workbench, launch, text or "", target, arguments, filled_by(around, launch))
            there = context_in(launch.unplanned, target)
            launch = with_memory(launch, around, there, services.checker.schema, arguments)
            differs = _against_plan(text or "", launch, target, arguments, asked)
            loaded = "" if recipe else _model_loaded(launch, around)
            before, foretold = before_start(launch, around), kept(launch.memory)
            told = with_answer(before.rows, plan, answer, time.time())
            before = replace(before, rows=told.rows)
            reads = plan.config_argument.integration
            name = config_name(services, preset, text)
            says = (
                _told(launch, "" if _is_empty(text) else name, reads, reader, before, own=recipe is None)
                if before.counts
                else words("launch_page", "uses_own")
            )
            to = ToConfigure(
                recipe.title if recipe and recipe.preset != preset else "",
                launch.findings,
                "" if reads.value == reader else reads.value,
                is_convertible(launch),
                bool(asked["model"] or loaded or of_text(asked["arguments"] or "").model),
            )
            checks, why = preflight_html(before.rows, to, before.offer, told.ways), worst_of(before.rows)
        except DsguiError as error:
            needed = is_needed_yet(error, asked)
            why = lacks(error) if needed else str(counted(Status.PROBLEM, 1))
            asks = needed and not pressed
            by_itself = ""
            plan_here = _on_this_machine(services, request) if request and field_of(error) in _OF_PLACES else None
            if plan_here:
                around = services.surroundings(plan_here, text or "")
                by_itself = "" if recipe else _model_loaded(Launch.of(plan_here, {}), around)
                loaded, found = by_itself, "" if recipe else found_html(plan_here, around.script, asked["reader"])
                may_log = _may_log(services, plan_here, bool(asked["logs"]))
            elif field_of(error) == "script":
                loaded = ""
            if needed and not _is_empty(text):
                names = config_name(services, preset, text), reader
                says = meanwhile(services, workbench, text or "", asked, names, launched, by_itself)
            differs = fills_in(asked, within=asks) if field_of(error) == "hostfile" else Differs()
            checks = needed_html(error, differs.offers) if asks else refused_html(error, bool(asked["parent"]))
            instead = recipe_instead(services.recipes, asked["script"] or "") if is_gone(error) else ""
        planned = " ".join(filter(None, (planned_for(asked, target), differs.says)))
        refused = has_problem(before.rows)
        # What was accepted once is not accepted for the next problem.
        stops = _accepts(plan, before.rows) if refused else ()
        accepted = ticked and stops == shown
        ready = plan is not None and (accepted or not refused)
        taken = words("launch_page", BY_RECIPE[instead].label) if instead else ""
        line = services.runs.shown_command(plan) if plan else ""
        # No value unless it has to go: an answer that comes late would take a newer tick away.
        unasked = told.unasked and not refused  # the first thing to do is to ask
        why = words("launch_page", "hosts_not_checked") if unasked else why
        press, although = _PRESSES.get(asked["where"], ("launch", "anyway"))
        shown_as = partial(gr.Checkbox, label=words("launch_page", although), visible=refused)
        tick = shown_as() if refused and accepted == ticked else shown_as(False)
        offer = before.offer
        shows: Any = "hidden" if is_open(before.rows, offer) else offer is not None  # its row has a button for it
        click = gr.Button(str(offer.label) if offer else "", visible=shows)
        logs = gr.Checkbox(visible=may_log)
        return (
            line,
            says,
            checks,
            click,
            offer,
            tick,
            stops,
            gr.Button(
                _labelled(press, why),
                interactive=ready or needed,
                variant="primary" if ready and not unasked else "secondary",
            ),
            plan
            and Previewed(
                plan,
                line,
                text or "",
                handed_on,
                (text, preset, ticked, configured, *values),
                foretold,
                ready,
                not asked["name"].strip() or asked["name"] in named,
            ),
            logs,
            loaded,
            gr.Markdown(planned, visible=bool(planned)),
            gr.Button(differs.offers, visible="hidden" if differs.within else bool(differs.offers)),
            gr.Button(differs.plans, visible=bool(differs.plans)),
            launched,
            launched.digest,
            line_of_clone,
            named,
            found,
            gr.Button(words("launch_page", "recipe_instead", recipe=taken), visible=bool(instead)),
            gr.Checkbox(visible=saves),
        )

    return preview


def _labelled(press: str, why: str) -> str:
    """What the button does, and how many checks speak against that or what is missing; in one line, so that nothing
    moves when it changes."""
    does = words("launch_page", press)
    return f"{does} · {why}" if why else does


def _to_checks() -> str:
    """The way up to what stops a start, or comes before it, where the checks are far above the button
    (static/launch/launch.css)."""
    ways = (("ds-to-stop", "to_checks"), ("ds-to-ask", "check_machines"))
    return "".join(f'<a href="#preflight" class="{of}">{escape(words("launch_page", code))}</a>' for of, code in ways)


def _recipe_instead(services: Services) -> Callable[[str | None], tuple[Any, Any]]:
    def take(script: str | None) -> tuple[Any, Any]:
        recipe = recipe_instead(services.recipes, script or "")
        return (recipe, "") if recipe else (gr.skip(), gr.skip())

    return take


def _accepts(plan: Plan | None, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """What a tick is about: these problems of this script with these arguments. No reading of the machine is in it."""
    asked = (plan.script, *plan.arguments) if plan else ()
    return (*asked, *(_accepted_of(row) for row in rows if row.status is Status.PROBLEM))


def _accepted_of(row: Row) -> str:
    """Of what a host answered, which host and what."""
    return f"{row.check} {row.title} {row.told[0].code}" if row.check in OF_HOSTS else row.check


def _may_log(services: Services, plan: Plan, chosen: bool) -> bool:
    """Whether --logging_steps was added, or may be."""
    return services.runs.may_log(plan) or (chosen and plan.arguments[-2:] == LOGGING_WORDS)


def _on_this_machine(services: Services, request: LaunchRequest) -> Plan | None:
    """What is said of its script holds wherever it runs."""
    try:
        return services.runs.prepare(replace(request, place=Here()))
    except DsguiError:
        return None


def _model_loaded(launch: Launch, around: Surroundings) -> str:
    """The model that the script names by itself, for 1 · Configure to judge; "" where only a part of it may train:
    nobody knows what that takes."""
    return around.model_loaded if trains_whole(launch, around) else ""


def _may_save(plan: Plan, script: ScriptFacts) -> bool:
    """Whether the script may take the option that “Save a checkpoint on stop” adds: one that no HF Trainer reads has
    none."""
    return bool(script.problem) or trainers_part(plan.config_argument, script, plan.arguments).takes_options


def _told(launch: Launch, name: str, reads: Integration, reader: str, before: BeforeStart, *, own: bool) -> str:
    """`name` is the config's, "" of an empty one; `own`: it is read by a script of the user's."""
    verdict = _verdict(launch, name, own=own) if name else words("launch_page", "config_empty")
    return " ".join(filter(None, (verdict, _as_read(reads, reader, before))))


def _is_empty(text: str | None) -> bool:
    """Whether nothing is configured yet."""
    return "".join((text or "").split()) in ("", "{}")


def _as_read(reads: Integration, configured: str, before: BeforeStart) -> str:
    """Framework, where that is another than 1 · Configure says; whether it is this one."""
    if not before.handed:
        return words("launch_page", "gets_none")
    if reads.value == configured:
        return ""
    return words("launch_page", f"reads_{reads.value}")


def _accepted(offer: Offer | None, reader: str, arguments: str | None, environment: str | None) -> tuple[Any, ...]:
    """The reader, the arguments and the environment after the offer was taken; how they were; and the way back."""
    typed = reader, arguments or "", environment or ""
    if offer is None:
        return *typed, None, gr.Button(visible=False)
    undo = gr.Button(words("launch_page", "undo_offer", offer=str(offer.label)), visible=True)
    return *_with_offer(offer, *typed), typed, undo


def _with_offer(offer: Offer, reader: str, arguments: str, environment: str) -> tuple[str, str, str]:
    if offer.without:
        return reader, shlex.join((*_without(arguments, offer.without), *offer.words)), environment
    taken = reader_word(offer.argument) if offer.argument else AS_SCRIPT_READS
    words = " ".join(filter(None, (arguments.rstrip(), *offer.words)))
    return reader if offer.stays else taken, words, with_variables(environment, offer.variables)


def _taken_back(before: tuple[str, str, str] | None) -> tuple[Any, ...]:
    typed = before or (gr.skip(), gr.skip(), gr.skip())
    return *typed, gr.Button(visible=False)


def _without(arguments: str, options: Sequence[str]) -> tuple[str, ...]:
    words = tuple(shlex.split(arguments))
    for option in options:
        words = with_option(words, option, None)
    return words


def _against_plan(
    text: str, launch: Launch, target: Target, arguments: TrainingArguments | None, asked: Mapping[str, Any]
) -> Differs:
    """The run that the page would start, beside what 1 · Configure plans."""
    chosen = context_in(launch, target, arguments)
    nodes, gpus = as_count(asked["planned_nodes"]), as_count(asked["planned_gpus"])
    planned = replace(chosen, nodes=nodes, gpus_per_node=gpus)
    return compared(text, planned, chosen, launch.place, len(target.gpus))


def _with_config(
    workbench: Workbench,
    launch: Launch,
    text: str,
    target: Target,
    arguments: TrainingArguments | None,
    filler: Filler | None = None,
) -> Launch:
    """The launch with its config read, and what was found about it: by itself, and with the script's arguments.
    `filler` tells what the script writes into it."""
    context, here = context_in(launch, target), context_in(launch.unplanned, target)
    launch = replace(launch, devices=context.devices)
    try:
        config = read_document(text).value
        by = filler(config) if filler else None
        found = launch_findings(lambda one: as_filled(workbench.findings(text, one), by), context, here, arguments)
    except DocumentError as error:
        return replace(launch, unreadable=str(error))
    return replace(found.told_of(launch, config), filled=keys_filled(config, by))


def _verdict(launch: Launch, name: str, *, own: bool = False) -> str:
    """One line on the config of this name at the ranks chosen here, with the way to what was found. What stops it is
    among the checks. That nobody knows what a script of one's `own` takes is said: a recipe's model is small."""
    if launch.unreadable:
        return words("launch_page", "config_unreadable")
    where = where_told(launch.devices, launch.planned)
    devices = {"config": plain(name), "devices": where}
    if has_error(launch.findings):
        return words("launch_page", "config_refused", judge=refuser(launch.findings), **devices)
    if has_error(launch.by_arguments):
        return words("launch_page", "config_by_arguments", **devices)
    as_planned = not launch.planned.hardware or not launch.place.ON_THIS_MACHINE  # else the memory is another machine's
    fits = fit_told(json.dumps(as_json(launch.memory)), "preflight") if launch.memory and as_planned else ""
    if own and as_planned and not fits:
        fits = words("launch_page", "memory_unchecked" if launch.memory else "memory_unnamed")
    return line(name, where, verdict(launch.findings), fits)


def _says(code: str) -> str:
    """JavaScript that gives this text."""
    return f"() => {json.dumps(words('launch_page', code))}"
