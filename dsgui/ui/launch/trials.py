"""“Try the best three” on the ladder: short runs of the script on 2 · Launch, one after another, and what they measured
beside the estimates."""

import json
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.config.findings import has_error
from dsgui.core.errors import DsguiError, PlanError
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.plan import LaunchRequest, Plan
from dsgui.core.launch.run_fields import OWN_SCRIPT
from dsgui.core.machine.verdicts import Status
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import kept
from dsgui.core.memory.fits.rungs import Step, steps
from dsgui.core.preflight.judging import with_config
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch
from dsgui.core.runs.trials import TAG, apart, as_json, circumstances, newest, trial_of
from dsgui.core.runs.worth_trying import Chosen, best
from dsgui.core.texts.saying import Said, words
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import tell_if_unanswered
from dsgui.ui.common.events import ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.memory_panel import fitted_for
from dsgui.ui.config.workbench import View, Workbench, make_context
from dsgui.ui.launch.desk import Desk
from dsgui.ui.launch.launch_request import page_request

_MOST_KEYS, _LONGEST_NAME = 40, 120


class NotTried(Exception):
    """Why nothing was started; `to` is the page where that is mended, "" for this one."""

    def __init__(self, why: str | Said, to: str = "") -> None:
        super().__init__(str(why))
        self.to = to


def wire_trials(configure: ConfigurePage, desk: Desk, services: Services, workbench: Workbench) -> None:
    """The ladder's own events: `attempt` queues, `follow` looks, `discard` removes."""
    panel, bar, memory = configure.ladder, configure.bar.inputs, configure.memory.inputs
    answers = count()

    def answer(told: Mapping[str, Any]) -> Any:
        """Told anew, so that the page hears each, be it the same as the last."""
        return gr.update(measured=json.dumps({**told, "answer": next(answers)}))

    def attempt(text: str | None, *given: Any) -> Any:
        in_bar, in_memory, on_desk = _parted(given, len(bar), len(memory))
        context = make_context(services.target(), *in_bar)
        view = workbench.show(text or "", context)
        try:
            told = queued(services, view, context, in_memory, desk.values(on_desk))
        except NotTried as why:
            told = {"why": str(why), "to": why.to}
        except DsguiError as error:
            told = {"why": str(error), "to": "launch"}
        return answer(told)

    def follow(event: gr.EventData, integration: str, *given: Any) -> Any:
        return answer(measured(services, integration, desk.values(given), details(event).get("keys")))

    def discard(event: gr.EventData) -> Any:
        remove(services, details(event).get("runs"))
        return answer({"runs": {}, "removed": True})

    asked = [configure.text, *bar, *memory, *desk.components]
    tried = panel.attempt(attempt, asked, [panel], **{**ONCE, "trigger_mode": "once"})
    tell_if_unanswered(tried, "trials")
    panel.follow(follow, [configure.bar.integration, *desk.components], [panel], **ONCE)
    tell_if_unanswered(panel.discard(discard, None, [panel], **ONCE), "trials")


def _parted(given: Sequence[Any], *widths: int) -> tuple[Sequence[Any], ...]:
    found, at = list[Sequence[Any]](), 0
    for width in widths:
        found.append(given[at : at + width])
        at += width
    return (*found, given[at:])


# ------------------------------------------------------------------------------------------------------- queueing
def queued(
    services: Services, view: View, context: Context, given: Sequence[Any], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Starts the trials of what the pages show; `given` are the memory panel's inputs, `asked` the desk's values.
    Raises `NotTried` and `DsguiError`."""
    if asked["what"] == OWN_SCRIPT and not (asked["script"] or "").strip():
        raise NotTried(words("memory_page", "trial_no_script"), "launch")
    ladder = _ladder(services, view, context, given)
    request = page_request(services, view.text, asked, context.integration.value, "")
    chosen = _chosen(services, ladder, view, services.runs.prepare(request))
    made = [_checked(services, _request(request, one), one) for one in chosen]
    for plan, text, foretold in made:
        services.runs.start(plan, text, request.secrets, foretold)
        services.archive.label(plan.run_id, {"add_tags": [TAG]})
    note = _about(context, made[0][0])
    return measured(services, context.integration.value, asked, [one.key for one in chosen]) | {"note": note}


def _ladder(services: Services, view: View, context: Context, given: Sequence[Any]) -> tuple[Step, ...]:
    if has_error(view.found):
        raise NotTried(words("memory_page", "trial_mend"))
    found = fitted_for(services, view, context, given)
    if isinstance(found, CannotSay):
        raise NotTried(found.why)
    case, fitted = found
    ladder = steps(fitted, case, read_document(view.text), services.checker)
    if isinstance(ladder, Said):
        raise NotTried(ladder)
    return ladder


def _chosen(services: Services, ladder: tuple[Step, ...], view: View, plan: Plan) -> tuple[Chosen, ...]:
    around = services.surroundings(plan, view.text)
    if not Launch.of(plan, {}).handed:
        raise NotTried(words("memory_page", "trial_own_config"), "launch")
    takes = trainers_part(plan.config_argument, around.script, plan.arguments).takes_options
    chosen = best(ladder, read_document(view.text), takes_options=takes)
    if not chosen:
        raise NotTried(words("memory_page", "trial_none"))
    return chosen


def _request(request: LaunchRequest, one: Chosen) -> LaunchRequest:
    name = words("memory_page", "trial_name", number=str(one.number), moves=one.moves or words("memory_page", "as_is"))
    return trial_of(request, one.text, one.arguments, name[:_LONGEST_NAME], one.key)


def _checked(services: Services, request: LaunchRequest, one: Chosen) -> tuple[Plan, str, Foretold | None]:
    """The plan, once nothing would stop it. Raises `NotTried` and `DsguiError`."""
    plan = apart(services.runs.prepare(request))
    around = services.surroundings(plan, one.text)
    launch = with_config(Launch.of(plan, {}), one.text, around, services.checker, around.arguments_of(plan))
    problem = next((row for row in preflight(launch, around) if row.status is Status.PROBLEM), None)
    if problem:
        given = {"name": plan.name, "problem": f"{problem.title}: {problem.all_seen}"}
        raise NotTried(words("memory_page", "trial_stopped_by", **given), "launch")
    return plan, one.text, kept(launch.memory)


def _about(context: Context, plan: Plan) -> str:
    """What is tried, and where the estimates are for other devices than the trials have."""
    there = str(plan.place.devices(plan))
    script = words("memory_page", "trial_of", script=posixpath.basename(plan.script), there=there)
    planned = context.nodes * context.gpus_per_node
    if planned == plan.ranks and not plan.planned.hardware:
        return script
    return f"{script} {words('memory_page', 'trial_elsewhere', planned=context.devices, there=there)}"


# ------------------------------------------------------------------------------------------------------- looking
def measured(services: Services, integration: str, asked: Mapping[str, Any], keys: Any) -> dict[str, Any]:
    """What trials of these steps measured, by key: those of the script, arguments and devices on 2 · Launch."""
    wanted = [str(key) for key in keys[:_MOST_KEYS]] if isinstance(keys, list) else []
    try:
        about = circumstances(page_request(services, "", asked, integration, ""))
    except PlanError:
        return {"runs": {}}
    found = newest(services.runs.list(), wanted, about)
    return {"runs": {key: as_json(run) for key, run in found.items()}}


def remove(services: Services, runs: Any) -> None:
    """Removes those of the runs that are trials and have ended."""
    wanted = {str(one) for one in runs[:_MOST_KEYS]} if isinstance(runs, list) else set()
    for run in services.runs.list():
        if run.run_id in wanted and run.trial and not run.state.live:
            with suppress(DsguiError):
                services.archive.delete(run.run_id)
