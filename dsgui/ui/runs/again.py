"""From a run back to Configure and Launch: the same again, with a diagnosis's change, or from a checkpoint.

Nothing is started: the pages are filled, what differs is said, and the user presses Launch.
"""

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.access.secrets import MASK, is_secret_name
from dsgui.core.config.compare import leaves
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.launch.field import Kind
from dsgui.core.launch.plan import AS_SCRIPT_READS, LaunchRequest, ranks_words
from dsgui.core.launch.recipes import BY_NAME as RECIPES
from dsgui.core.launch.run_fields import BY_NAME, FIELDS
from dsgui.core.launch.spec import values_of
from dsgui.core.runs.clone import Clone
from dsgui.core.texts.saying import listed, set_apart, words
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING, details
from dsgui.ui.common.field_inputs import offered_again
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.files import notes_html
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
    outputs = [*brought, *launch.desk.components, launch.desk.more, launch.loaded, configure.files.notes]
    outputs += [launch.message, tabs, filled]

    def again(count: int, event: gr.EventData) -> tuple[Any, ...]:
        asked = details(event)
        run_id, kind = str(asked.get("run_id", "")), str(asked.get("kind", ""))
        try:
            made = _clone(services, run_id, kind, str(asked.get("checkpoint", "")))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        request = made.request
        known = next((p.id for p in services.all_presets() if p.id == request.preset.partition(" ")[0]), None)
        headline = words("runs_page", _HEADLINES.get(kind, "cloned"), run=run_id)
        values = desk_values(services, request)
        return (
            request.config_text,
            request.config_argument.integration.value,
            NEW_TEXT,
            known,
            *launch.desk.updates(values),
            gr.Accordion(open=kind == "directory" or sets_more(values)),
            loaded_html(run_id, settings(request, services)),
            notes_html(headline, made.notes),
            told_of(headline, made.notes),
            gr.Tabs(selected="launch"),
            count + 1,
        )

    def forget(run_id: str) -> Any:
        return "" if run_id else gr.skip()

    launch.started.then(forget, [launch.run_id], [launch.loaded], **ONCE)
    runs.monitor.again(again, [filled], outputs, **TELLING)


def _clone(services: Services, run_id: str, kind: str, path: str) -> Clone:
    if kind == "repair":
        return services.archive.repaired(run_id)
    if kind == "resume":
        return services.archive.resumed(run_id, path)
    return services.archive.clone(run_id)


def desk_values(services: Services, request: LaunchRequest) -> dict[str, Any]:
    """What the desk's inputs are set to. GPUs that this machine does not have are left out."""
    values = values_of(request)
    recipe = next((name for name, script in services.recipes.items() if str(script) == request.script), None)
    here = {str(gpu.index) for gpu in services.target().gpus}
    values["gpus"] = [index for index in values["gpus"] if index in here]
    values["script"] = gr.Textbox("" if recipe else request.script, visible=recipe is None)
    reader = AS_SCRIPT_READS if recipe else values["reader"]
    values["reader"] = offered_again("reader", value=reader, visible=recipe is None)
    values |= {
        field.name: values[field.name] or "" for field in FIELDS if field.kind is Kind.COUNT and field.placeholder
    }
    return values | ({"what": recipe} if recipe else {})


def told_of(headline: str, notes: Sequence[str]) -> str:
    """What was loaded, and what was changed in it, as Markdown."""
    changes = set_apart(note.rstrip(".。") for note in notes)
    changed = plain(words("runs_page", "cloned_changed", changes=changes)) if notes else ""
    return f"**{plain(headline)}.** {changed} {plain(words('runs_page', 'cloned_review'))}"


def loaded_html(run_id: str, rows: Sequence[tuple[str, str]]) -> str:
    """Everything that was set, above all of it."""
    title = escape(words("runs_page", "cloned_sets", run=run_id))
    listed = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<section class="ds-cloned" aria-label="{title}"><h3>{title}</h3><dl>{listed}</dl></section>'


def settings(request: LaunchRequest, services: Services) -> list[tuple[str, str]]:
    """Everything that a clone sets, in the words of the page; the secrets in it hidden."""
    values = values_of(request)
    recipe = next((name for name, at in services.recipes.items() if str(at) == request.script), "")
    told = {
        "config": _config(request, services),
        "what": words("launch_page", RECIPES[recipe].label) if recipe else request.script,
        "arguments": _arguments(request),
        "reader": _chosen("reader", values),
        "where": request.place.called(),
        "devices": _devices(request, services),
        "nodes": str(request.place.nodes) if request.place.nodes > 1 else "",
        "started_by": request.started_by.value,
        "when_busy": _chosen("when_busy", values),
        "environment": str(listed(_variables(request))) or words("runs_page", "clone_none"),
        "directory": request.working_directory or words("runs_page", "clone_own"),
        "model": request.model.model,
        "name": request.name,
    }
    hide = services.runs.masked
    return [(_label(code, request), hide(value)) for code, value in told.items() if value]


def _chosen(name: str, values: Mapping[str, Any]) -> str:
    """What the page calls the choice."""
    return next((label for label, value in BY_NAME[name].offered if value == values[name]), str(values[name]))


def _label(code: str, request: LaunchRequest) -> str:
    if code == "when_busy" and not request.gpu_indices:
        return words("launch_page", "if_busy_on_cpu")
    if code in BY_NAME and code != "model":  # what the model is for stands in the fold
        return BY_NAME[code].told("label")
    return words("runs_page", f"clone_{code}")


def _config(request: LaunchRequest, services: Services) -> str:
    try:
        count = len(leaves(Document(request.config_text)))
    except DocumentError:
        return words("runs_page", "clone_unreadable")
    one, many = words("runs_page", "clone_setting"), words("runs_page", "clone_settings", count=str(count))
    told = one if count == 1 else many
    id, _, edited = request.preset.partition(" ")
    preset = next((one.title for one in services.all_presets() if one.id == id), id)
    if edited:
        preset = words("runs_page", "clone_edited", preset=preset)
    return words("runs_page", "clone_preset", preset=preset, settings=told) if preset else told


def _arguments(request: LaunchRequest) -> str:
    given = request.arguments if isinstance(request.arguments, str) else shlex.join(request.arguments)
    return given or words("runs_page", "clone_none")


def _variables(request: LaunchRequest) -> list[str]:
    return [f"{name}={MASK if is_secret_name(name) else value}" for name, value in request.environment.items()]


def _devices(request: LaunchRequest, services: Services) -> str:
    """With a word where this machine has not all of its GPUs."""
    if not request.place.ON_THIS_MACHINE or not request.gpu_indices:
        return ranks_words(request.ranks)
    gpus = f"GPU {', '.join(map(str, request.gpu_indices))}"
    here = {gpu.index for gpu in services.target().gpus}
    return gpus if here.issuperset(request.gpu_indices) else words("runs_page", "clone_missing", devices=gpus)
