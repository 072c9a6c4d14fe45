"""What the Launch page shows of the run that it would start: the command and the checks, or what is missing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import has_error
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.imported.brought import Brought
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import READERS, Here, LaunchRequest, Plan
from dsgui.core.launch.recipes import BY_NAME as BY_RECIPE
from dsgui.core.launch.recipes import Recipe
from dsgui.core.launch.run_fields import BY_NAME as BY_FIELD
from dsgui.core.launch.spec import place_of, typed_arguments
from dsgui.core.machine.hardware import Target
from dsgui.core.machine.verdicts import Row, Status, has_problem, how_many
from dsgui.core.memory.choice import of_text
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import kept
from dsgui.core.preflight.filled_by_script import Filler, as_filled, filled_by, keys_filled
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.preflight.hosts_report import OF_HOSTS
from dsgui.core.preflight.judging import as_script_takes
from dsgui.core.preflight.launch_findings import launch_findings
from dsgui.core.preflight.memory_check import trains_whole, with_memory
from dsgui.core.preflight.preflight import is_final
from dsgui.core.preflight.surroundings import Launch, Surroundings, context_in
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.taken import LOGGING_WORDS
from dsgui.core.texts.saying import words
from dsgui.runs.bundled import recipe_instead
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.findings_view import fix_plain_html
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.workbench import Workbench
from dsgui.ui.launch.as_planned import Differs, as_count, compared, fills_in, planned_for
from dsgui.ui.launch.asked_first import Answer, with_answer
from dsgui.ui.launch.cloned import changes, line_html, name_of, of_parent, original
from dsgui.ui.launch.config_change import is_convertible
from dsgui.ui.launch.config_line import as_read as config_read
from dsgui.ui.launch.config_line import told as config_told
from dsgui.ui.launch.desk import Desk
from dsgui.ui.launch.found import found_html
from dsgui.ui.launch.launch_request import config_name, page_request, preset_of
from dsgui.ui.launch.meanwhile import meanwhile, planned_context
from dsgui.ui.launch.previewed import Previewed
from dsgui.ui.launch.refused import Refusals, field_of, is_gone, is_needed_yet, lacks, refused_html
from dsgui.ui.preflight.preflight_view import (
    OF_CONFIG,
    BeforeStart,
    ToConfigure,
    before_hosts,
    before_script,
    before_start,
    preflight_html,
    stops_html,
    worst_of,
)

_MOST_GIVEN = 3  # what is older can only have been typed
# What a run needs no more is harmless: by the field that is refused.
_AS_IF_GIVEN: Mapping[str, Mapping[str, Any]] = {
    "script": {"what": next(iter(BY_RECIPE)), "script": ""},
    "hostfile": {"where": Here.NAME},
}
_OF_PLACES = ("hostfile",)  # without them no run can be planned
# What the button and the tick beside it say where they do not say “Launch”.
_PRESSES = {SlurmJob.NAME: ("submit", "submit_anyway")}


@dataclass(frozen=True, slots=True)
class Asked:
    """What stands on the page. `values` of the desk by their fields' names; the config's `text`, the `preset` that it
    began as, None for none, and the framework that 1 · Configure is set to, `configured`; `imported`: the Trainer's
    arguments of an import, as far as they still hold."""

    values: Mapping[str, Any]
    text: str
    preset: str | None
    configured: str
    imported: TrainingArguments | None

    @property
    def recipe(self) -> Recipe | None:
        return BY_RECIPE.get(self.values["what"])

    @property
    def reader(self) -> str:
        return self.recipe.takes.integration.value if self.recipe else self.configured

    @property
    def is_empty(self) -> bool:
        """Whether nothing is configured yet."""
        return "".join(self.text.split()) in ("", "{}")


@dataclass(frozen=True, slots=True)
class Named:
    """A clone's name: what `stands` on the page, and the last that dsgui `gave` it. A page that asks again before an
    answer came has an earlier one."""

    gave: tuple[str, ...]
    stands: str

    @property
    def is_ours(self) -> bool:
        """What somebody typed stays."""
        return self.stands in self.gave

    def given(self, name: str) -> "Named":
        return Named((*(one for one in self.gave if one != name), name)[-_MOST_GIVEN:], name)


@dataclass(frozen=True, slots=True)
class Ticked:
    """Whether the tick beside the button is set, and what it was `about` when it was shown."""

    is_on: bool
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of the run. No `plan` where something is missing; `why` says on the button what speaks against a
    start, `needed` that nobody was asked for it yet. `rows` are the checks, drawn as `checks`, and `offers` what one
    click mends each; `aside`: those of a run without a plan; `unasked`: no host answered. `found` tells what the script
    showed, `instead` names the recipe for one that is gone. `may_log`, `saves`: whether the ticks for these are of use.
    `loaded` is the model that the script loads by itself, None where what was said of it stays; `launched` is for 1 ·
    Configure."""

    launched: Launched
    saves: bool
    loaded: str | None
    plan: Plan | None = None
    handed_on: Mapping[str, str] = field(default_factory=dict)
    foretold: Foretold | None = None
    says: str = ""
    why: str = ""
    needed: bool = False
    rows: tuple[Row, ...] = ()
    checks: str = ""
    offers: tuple[Offer, ...] = ()
    aside: tuple[Row, ...] = ()
    unasked: bool = False
    found: str = ""
    instead: str = ""
    may_log: bool = False
    differs: Differs = field(default_factory=Differs)


class Previewer:
    """The handler that turns what is on the page into a plan, or says what is missing."""

    def __init__(self, services: Services, workbench: Workbench, desk: Desk) -> None:
        self._services, self._workbench, self._desk = services, workbench, desk

    def __call__(
        self,
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
        """In the order of the page's outputs; `pressed`: for a press of Launch."""
        held = self._desk.values(values)
        asked = Asked(held, text or "", preset, configured, brought.now(held) if brought else None)
        name, request = Named(named, held["name"]), None
        line = None if held["parent"] else ""
        try:
            request = page_request(self._services, asked.text, held, asked.reader, self._began(asked))
            if before := original(self._services, held["parent"]):
                name, request, line = self._as_clone(before, request, name)
                asked = replace(asked, values={**held, "name": name.stands})
            seen = self._planned(asked, request, answer)
        except DsguiError as error:
            seen = self._refused(asked, request, error, pressed)
        if name.stands != held["name"]:
            values = tuple(asked.values[one] for one in self._desk.inputs)
        previewed = self._previewed(asked, seen, name, (text, preset, ticked, configured, *values))
        given = None if name.gave == named else name.gave
        return self._outputs(asked, seen, previewed, Ticked(ticked, shown), given, line)

    def _began(self, asked: Asked) -> str:
        return preset_of(self._services, asked.preset, asked.text)

    def _as_clone(
        self, before: LaunchRequest, request: LaunchRequest, name: Named
    ) -> tuple[Named, LaunchRequest, str | None]:
        """With the name that says what it changes, and the line that tells it."""
        changed, was = changes(before, request, self._services), tuple[str, ...]()
        if name.is_ours:
            new = name.given(name_of(before, changed, of_parent(before, self._services)))
            was = name.gave if new.stands != name.stands else ()
            name, request = new, replace(request, name=new.stands)
        return name, request, line_html(request.parent, before, changed, request, self._services, was)

    # ------------------------------------------------------------------------------------------ with a plan
    def _planned(self, asked: Asked, request: LaunchRequest, answer: Answer | None) -> Seen:
        """Raises `DsguiError` for what lets no run be planned."""
        plan = self._services.runs.prepare(request)
        around = self._services.surroundings(plan, asked.text)
        arguments = around.arguments_of(plan) or asked.imported
        launch, own = self._judged(asked, plan, around, arguments), asked.recipe is None
        loaded = _model_loaded(launch, around) if own else ""
        before = before_start(launch, around)
        told = with_answer(before.rows, plan, answer, time.time())
        before = replace(before, rows=told.rows)
        name = "" if asked.is_empty else self._config_name(asked)
        reads = plan.config_argument.integration
        says = config_told(launch, name, reads, asked.reader, before, own=own)
        return Seen(
            Launched(plan.place, arguments, _takes_options(plan, around.script)),
            _saves(asked) and (bool(asked.recipe or asked.values["saves"]) or _may_save(plan, around.script)),
            loaded,
            plan,
            request.handed_on,
            foretold=kept(launch.memory),
            says=says,
            why=worst_of(before.rows),
            rows=before.rows,
            checks=preflight_html(
                before.rows, self._to_configure(asked, launch, arguments, loaded), before.offers, told.ways
            ),
            offers=before.offers,
            unasked=told.unasked,
            found=found_html(plan, around.script, asked.values["reader"]) if own else "",
            may_log=self._may_log(asked, plan),
            differs=self._against_plan(asked, launch, arguments),
        )

    def _judged(self, asked: Asked, plan: Plan, around: Surroundings, arguments: TrainingArguments | None) -> Launch:
        """The launch with what is found of its config, and of the memory that it takes."""
        target = self._services.target()
        launch = as_script_takes(Launch.of(plan, {}), around)
        launch = _with_config(self._workbench, launch, asked.text, target, arguments, filled_by(around, launch))
        there = context_in(launch.unplanned, target)
        return with_memory(launch, around, there, self._services.checker.schema, arguments)

    def _config_name(self, asked: Asked) -> str:
        return config_name(self._services, asked.preset, asked.text)

    def _to_configure(
        self, asked: Asked, launch: Launch, arguments: TrainingArguments | None, loaded: str | None
    ) -> ToConfigure:
        reads = launch.reader
        return ToConfigure(
            _recipe_to_load(asked),
            launch.findings,
            "" if reads.value == asked.reader else reads.value,
            is_convertible(launch),
            self._fixes(asked, launch, context_in(launch, self._services.target(), arguments)),
            bool(asked.values["model"] or loaded or of_text(asked.values["arguments"] or "").model),
        )

    def _fixes(self, asked: Asked, launch: Launch, context: Context) -> str:
        """The button for errors of the config, "" for none."""
        if launch.unreadable or not has_error((*launch.findings, *launch.by_arguments)):
            return ""
        return fix_plain_html(self._workbench.findings(asked.text, context, fixes=True))

    def _may_log(self, asked: Asked, plan: Plan) -> bool:
        """Whether --logging_steps was added, or may be."""
        return self._services.runs.may_log(plan) or (
            bool(asked.values["logs"]) and plan.arguments[-2:] == LOGGING_WORDS
        )

    def _against_plan(self, asked: Asked, launch: Launch, arguments: TrainingArguments | None) -> Differs:
        """The run that the page would start, beside what 1 · Configure plans."""
        target = self._services.target()
        chosen = context_in(launch, target, arguments)
        nodes, gpus = as_count(asked.values["planned_nodes"]), as_count(asked.values["planned_gpus"])
        planned = replace(chosen, nodes=nodes, gpus_per_node=gpus)
        return compared(asked.text, planned, chosen, launch.place, len(target.gpus))

    # --------------------------------------------------------------------------------------- without a plan
    def _refused(self, asked: Asked, request: LaunchRequest | None, error: DsguiError, pressed: bool) -> Seen:
        """Why there is no command; of the script and the config, what can be said all the same."""
        errors = self._all_refusals(asked, error)
        asks = tuple(one for one in errors if is_needed_yet(one, asked.values) and not pressed)
        wrong = tuple(one for one in errors if one not in asks)
        about, needed = field_of(error), all(is_needed_yet(one, asked.values) for one in errors)
        launched = Launched(place_of(asked.values), asked.imported or typed_arguments(asked.values))
        seen = Seen(launched, _saves(asked), None if asked.recipe is None else "", needed=needed)
        plan_here = self._on_this_machine(request) if request and about in _OF_PLACES else None
        before, judged = BeforeStart(), None
        if plan_here:
            seen, before, judged = self._of_script(asked, seen, plan_here)
        elif about == "script":
            seen, before, judged = self._of_config(asked, replace(seen, loaded=""))
        hosts = next((one for one in errors if field_of(one) == "hostfile"), None)
        differs = fills_in(asked.values, within=hosts in asks) if hosts else Differs()
        besides = how_many(seen.aside, Status.PROBLEM)
        refusals = Refusals(asks, wrong, besides, bool(asked.values["parent"]))
        # The script tells by what the config is read.
        reads = judged.reader if judged else Integration(asked.reader)
        another = "" if reads.value == asked.reader else reads.value
        to = ToConfigure(_recipe_to_load(asked), reads=another)
        context = planned_context(self._services, asked.values, reads.value, seen.launched)
        if judged:
            # The fixes are for what 1 · Configure is set to.
            fixes = self._fixes(asked, judged, context) if reads.value == asked.configured else ""
            to = replace(to, found=judged.findings, converts=is_convertible(judged), fixes=fixes)
        stops = stops_html(seen.aside, seen.offers, to)
        return replace(
            seen,
            says="" if asked.is_empty else self._meanwhile(asked, seen, judged, context, before),
            why=lacks(error) if needed else refusals.summary,
            checks=refused_html(refusals, differs.offers if differs.within else "", stops, to.reads),
            instead=recipe_instead(self._services.recipes, asked.values["script"] or "")
            if any(map(is_gone, errors))
            else "",
            differs=differs,
        )

    def _all_refusals(self, asked: Asked, first: DsguiError) -> tuple[DsguiError, ...]:
        """With what else lets no run be planned: each is found as if those before it were given. What is about no field
        is of the plan that takes its place; what only a place with hosts tells comes once they are named."""
        found, held = [first], asked.values
        while about := field_of(found[-1]):
            held = {**held, **_AS_IF_GIVEN.get(about, {about: BY_FIELD[about].default})}
            error = self._refusal_of(asked, held)
            if error is None or field_of(error) in ("", *map(field_of, found)):
                break
            found.append(error)
        return tuple(found)

    def _refusal_of(self, asked: Asked, held: Mapping[str, Any]) -> DsguiError | None:
        try:
            request = page_request(self._services, asked.text, held, asked.reader, self._began(asked))
            self._services.runs.forget(self._services.runs.prepare(request))
        except DsguiError as error:
            return error
        return None

    def _on_this_machine(self, request: LaunchRequest) -> Plan | None:
        """What is said of its script holds wherever it runs."""
        try:
            return self._services.runs.prepare(replace(request, place=Here()))
        except DsguiError:
            return None

    def _of_script(self, asked: Asked, seen: Seen, plan: Plan) -> tuple[Seen, BeforeStart, Launch]:
        around = self._services.surroundings(plan, asked.text)
        arguments = around.arguments_of(plan) or asked.imported
        launched = Launched(seen.launched.place, arguments, _takes_options(plan, around.script))
        launch = as_script_takes(Launch.of(plan, {}), around)
        context = planned_context(self._services, asked.values, launch.reader.value, launched)
        target, filler = self._services.target(), filled_by(around, launch)
        launch = _with_config(self._workbench, launch, asked.text, target, arguments, filler, context)
        before = before_hosts(launch, around)
        seen = replace(seen, launched=launched, aside=before.rows, offers=before.offers)
        if asked.recipe:
            return replace(seen, may_log=self._may_log(asked, plan)), before, launch
        found = found_html(plan, around.script, asked.values["reader"])
        loaded = _model_loaded(Launch.of(plan, {}), around)
        saves = seen.saves and (bool(asked.values["saves"]) or _may_save(plan, around.script))
        seen = replace(seen, found=found, loaded=loaded, may_log=self._may_log(asked, plan), saves=saves)
        return seen, before, launch

    def _of_config(self, asked: Asked, seen: Seen) -> tuple[Seen, BeforeStart, Launch | None]:
        """Without a script its config is read as it was said to be read, or as 1 · Configure has it."""
        by = READERS.get(asked.values["reader"]) or READERS[asked.reader]
        if asked.is_empty or by.by_itself:
            return seen, BeforeStart(), None
        services, arguments = self._services, seen.launched.arguments
        context = planned_context(services, asked.values, by.integration.value, seen.launched)
        launch = Launch({}, (), "", context.world_size, config_argument=by)
        launch = _with_config(self._workbench, launch, asked.text, services.target(), arguments, None, context)
        before = before_script(launch, services.machine.current())
        return replace(seen, aside=before.rows), before, launch

    def _meanwhile(self, asked: Asked, seen: Seen, judged: Launch | None, context: Context, before: BeforeStart) -> str:
        named, stops = self._config_name(asked), any(row.check in OF_CONFIG for row in seen.aside)
        page = self._services, self._workbench, asked.text, asked.values
        line = meanwhile(*page, named, context, judged, seen.loaded or "", stops=stops)
        return config_read(line, context.integration, asked.reader, before)

    # ------------------------------------------------------------------------------------------- on the page
    def _previewed(self, asked: Asked, seen: Seen, name: Named, made_from: tuple[Any, ...]) -> Previewed | None:
        if seen.plan is None:
            return None
        line = self._services.runs.shown_command(seen.plan)
        numbered = not name.stands.strip() or name.is_ours
        return Previewed(seen.plan, line, asked.text, seen.handed_on, made_from, seen.foretold, False, numbered)

    def _outputs(
        self,
        asked: Asked,
        seen: Seen,
        previewed: Previewed | None,
        ticked: Ticked,
        given: tuple[str, ...] | None,
        line: str | None,
    ) -> tuple[Any, ...]:
        """`given`: the names that dsgui gave, None where they are as they were: those of a clone made since then stay.
        Nothing that is left as it is may share a `gr.skip()`: Gradio takes each for one component's."""
        refused, final = has_problem(seen.rows), is_final(seen.rows)
        # What was accepted once is not accepted for the next problem.
        stops = _accepts(seen.plan, seen.rows) if refused and not final else ()
        accepted = ticked.is_on and stops == ticked.about and not final
        ready = seen.plan is not None and (accepted or not refused)
        planned = " ".join(filter(None, (planned_for(asked.values, self._services.target()), seen.differs.says)))
        taken = words("launch_page", BY_RECIPE[seen.instead].label) if seen.instead else ""
        press, although = _PRESSES.get(asked.values["where"], ("launch", "anyway"))
        unasked = seen.unasked and not refused  # the first thing to do is to ask
        why = words("launch_page", "hosts_not_checked") if unasked else seen.why
        primary = ready and not unasked
        return (
            previewed.line if previewed else "",
            seen.says,
            seen.checks,
            seen.offers,
            _tick(words("launch_page", although), refused and not final, stays=refused and accepted == ticked.is_on),
            stops,
            gr.Button(
                _labelled(press, why),
                interactive=ready or seen.needed,
                variant="primary" if primary else "secondary",
            ),
            previewed and replace(previewed, ready=ready),
            gr.Checkbox(visible=seen.may_log),
            _or_skipped(seen.loaded),
            gr.Markdown(planned, visible=bool(planned)),
            gr.Button(seen.differs.offers, visible="hidden" if seen.differs.within else bool(seen.differs.offers)),
            gr.Button(seen.differs.plans, visible=bool(seen.differs.plans)),
            seen.launched,
            seen.launched.digest,
            _or_skipped(line),
            _or_skipped(given),
            seen.found,
            gr.Button(words("launch_page", "recipe_instead", recipe=taken), visible=bool(seen.instead)),
            gr.Checkbox(visible=seen.saves),
        )


def _recipe_to_load(asked: Asked) -> str:
    """The title of the recipe that is chosen, where the config is not its preset."""
    recipe = asked.recipe
    return recipe.title if recipe and recipe.preset != asked.preset else ""


def _or_skipped(value: object) -> Any:
    return gr.skip() if value is None else value


def _tick(label: str, refused: bool, *, stays: bool) -> gr.Checkbox:
    """No value unless it has to go: an answer that comes late would take a newer tick away."""
    shown = partial(gr.Checkbox, label=label, visible=refused)
    return shown() if stays else shown(False)


def _labelled(press: str, why: str) -> str:
    """What the button does, and how many checks speak against that or what is missing; in one line, so that nothing
    moves when it changes."""
    does = words("launch_page", press)
    return f"{does} · {why}" if why else does


def _accepts(plan: Plan | None, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """What a tick is about: these problems of this script with these arguments. No reading of the machine is in it."""
    asked = (plan.script, *plan.arguments) if plan else ()
    return (*asked, *(_accepted_of(row) for row in rows if row.status is Status.PROBLEM))


def _accepted_of(row: Row) -> str:
    """Of what hosts answered, which hosts and what."""
    return f"{row.check} {row.title} {row.all_seen}" if row.check in OF_HOSTS else row.check


def _model_loaded(launch: Launch, around: Surroundings) -> str:
    """The model that the script names by itself, for 1 · Configure to judge; "" where only a part of it may train:
    nobody knows what that takes."""
    return around.model_loaded if trains_whole(launch, around) else ""


def _saves(asked: Asked) -> bool:
    """Whether a checkpoint on stop can be asked for: by a script of one's own, or by a recipe of the HF Trainer's."""
    return asked.recipe is None or asked.recipe.takes.integration is Integration.HF


def _takes_options(plan: Plan, script: ScriptFacts) -> bool:
    return trainers_part(plan.config_argument, script, plan.arguments).takes_options


def _may_save(plan: Plan, script: ScriptFacts) -> bool:
    """Whether the script may take the option that “Save a checkpoint on stop” adds: one that no HF Trainer reads has
    none."""
    return bool(script.problem) or _takes_options(plan, script)


def _with_config(
    workbench: Workbench,
    launch: Launch,
    text: str,
    target: Target,
    arguments: TrainingArguments | None,
    filler: Filler | None = None,
    planned: Context | None = None,
) -> Launch:
    """The launch with its config read, and what was found about it: by itself, and with the script's arguments.
    `filler` tells what the script writes into it; `planned`: for what it is judged while no place is known."""
    context, here = planned or context_in(launch, target), planned or context_in(launch.unplanned, target)
    launch = replace(launch, devices=context.devices)
    if not text.strip():
        return replace(launch, unreadable=words("configure_page", "blank"))
    try:
        config = read_document(text).value
        by = filler(config) if filler else None
        found = launch_findings(lambda one: as_filled(workbench.findings(text, one), by), context, here, arguments)
    except DocumentError as error:
        return replace(launch, unreadable=str(error))
    return replace(found.told_of(launch, config), filled=keys_filled(config, by))
