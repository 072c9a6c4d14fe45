"""From a run back to Configure and Launch: the same again, with a diagnosis's change, or from a checkpoint.

Nothing is started: the pages are filled, what differs is said, and the user presses Launch.
"""

from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.field import Kind
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import AS_SCRIPT_READS, LaunchRequest, WhenBusy
from dsgui.core.launch.run_fields import BY_NAME, FIELDS
from dsgui.core.launch.spec import values_of
from dsgui.core.runs.clone import Clone
from dsgui.core.texts.saying import words
from dsgui.runs.bundled import recipe_of
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING, details
from dsgui.ui.common.field_inputs import offered_again
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal, tell
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.files import notes_html
from dsgui.ui.launch.cloned import changes, is_away, line_html, name_of, of_parent
from dsgui.ui.launch.desk import sets_more
from dsgui.ui.launch.launch_page import LaunchPage
from dsgui.ui.runs.runs_page import RunsPage

_HEADLINES = {"repair": "cloned_repair", "resume": "cloned_resume"}


def wire_again(
    runs: RunsPage, configure: ConfigurePage, launch: LaunchPage, tabs: gr.Tabs, services: Services, filled: gr.State
) -> None:
    """`filled` is given another value each time, so that the Launch page shows the command anew. The way ends there: it
    tells all that was set, and its fold is open where something in it was, and closed where nothing was."""
    chooser = configure.presets.chooser
    brought = [configure.text, configure.bar.integration, configure.form, chooser]
    outputs = [*brought, *launch.desk.components, launch.desk.more, launch.loaded, launch.named, configure.files.notes]
    outputs += [launch.message, tabs, filled]

    def opened(run_id: str) -> tuple[Any, ...]:
        """Its config alone, on Configure: of a run of which nothing else can be had."""
        try:
            text = services.archive.config_of(run_id)
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        tell(escape(words("runs_page", "config_opened", run=services.runs.summary(run_id).name)))
        filled = {configure.text: text, configure.form: NEW_TEXT, chooser: None, tabs: gr.Tabs(selected="configure")}
        return tuple(filled.get(one, gr.skip()) for one in outputs)

    def again(count: int, event: gr.EventData) -> tuple[Any, ...]:
        asked = details(event)
        run_id, kind = str(asked.get("run_id", "")), str(asked.get("kind", ""))
        if kind == "config":
            return opened(run_id)
        try:
            made = _clone(services, run_id, kind, str(asked.get("checkpoint", "")), str(asked.get("change", "")))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        request = made.request
        known = next((p.id for p in services.all_presets() if p.id == request.preset.partition(" ")[0]), None)
        headline = words("runs_page", _HEADLINES.get(kind, "cloned"), run=run_id)
        before = services.archive.launched(run_id)
        if kind == "repair" and is_away(before, services):
            request = _where_it_fits(services, run_id, request)
        values = desk_values(services, request)
        changed = changes(before, request, services)
        values["name"] = name_of(before, changed, of_parent(before, services))
        return (
            request.config_text,
            request.config_argument.integration.value,
            NEW_TEXT,
            known,
            *launch.desk.updates(values),
            gr.Accordion(open=kind == "directory" or sets_more(chosen(values, request))),
            line_html(run_id, before, changed, request, services),
            (values["name"],),
            notes_html(headline, made.notes),
            " ".join(map(plain, services.archive.clone(run_id).notes)),
            gr.Tabs(selected="launch"),
            count + 1,
        )

    def forget(run_id: str) -> tuple[Any, Any]:
        return ("", "") if run_id else (gr.skip(), gr.skip())

    launch.started.then(forget, [launch.run_id], [launch.loaded, launch.desk["parent"]], **ONCE)
    runs.monitor.again(again, [filled], outputs, **TELLING)


def chosen(values: dict[str, Any], request: LaunchRequest) -> dict[str, Any]:
    """`values` without what a request has while nobody chooses: the queue that is usual, for its GPUs or for those that
    are left of them here; the script's own folder."""
    on_gpus = (bool(gpus) or request.place.IS_WAITED_FOR for gpus in (request.gpu_indices, values["gpus"]))
    nobodys = {
        "when_busy": request.when_busy in map(WhenBusy.usual, on_gpus),
        "directory": Path(request.working_directory) == Path(request.script).parent,
    }
    return values | {name: BY_NAME[name].default for name, is_so in nobodys.items() if is_so}


def _clone(services: Services, run_id: str, kind: str, path: str, change: str) -> Clone:
    if kind == "repair":
        return services.archive.repaired(run_id, change)
    if kind == "resume":
        return services.archive.resumed(run_id, path)
    return services.archive.clone(run_id)


def _where_it_fits(services: Services, run_id: str, request: LaunchRequest) -> LaunchRequest:
    """Over ssh, for such a machine as it ran on: the change was checked for that, and this one has no GPU."""
    ran_on = services.archive.ran_on(run_id)
    planned = request.planned if request.planned.hardware else replace(ran_on, version=request.planned.version)
    usual = WhenBusy.usual(Machines.IS_WAITED_FOR)
    return replace(request, place=Machines(""), gpu_indices=(), planned=planned, when_busy=usual)


def desk_values(services: Services, request: LaunchRequest) -> dict[str, Any]:
    """What the desk's inputs are set to. GPUs that this machine does not have are left out."""
    values = values_of(request)
    recipe = recipe_of(services.recipes, request.script)
    here = {str(gpu.index) for gpu in services.target().gpus}
    values["gpus"] = [index for index in values["gpus"] if index in here]
    values["script"] = "" if recipe else request.script
    values["reader"] = offered_again("reader", value=AS_SCRIPT_READS if recipe else values["reader"])
    values |= {
        field.name: values[field.name] or "" for field in FIELDS if field.kind is Kind.COUNT and field.placeholder
    }
    return values | ({"what": recipe} if recipe else {})
