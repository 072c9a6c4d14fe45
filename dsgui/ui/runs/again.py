"""From a run back to Configure and Launch: the same again, with a diagnosis's change, or from a checkpoint.

Nothing is started: the pages are filled, what differs is said, and the user presses Launch.
"""

from html import escape
from typing import Any

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.field import Kind, Part
from dsgui.core.launch.plan import AS_SCRIPT_READS, LaunchRequest
from dsgui.core.launch.run_fields import fields_of
from dsgui.core.launch.spec import values_of
from dsgui.core.runs.clone import Clone
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.events import NEW_TEXT, TELLING, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.files import notes_html
from dsgui.ui.launch.launch_page import LaunchPage
from dsgui.ui.runs.runs_page import RunsPage

_TOLD_S = 12  # long enough to read what was changed; Launch keeps the sentence


def wire_again(
    runs: RunsPage, configure: ConfigurePage, launch: LaunchPage, tabs: gr.Tabs, services: Services, filled: gr.State
) -> None:
    """`filled` is given another value each time, so that the Launch page shows the command anew."""
    chooser = configure.presets.chooser
    brought = [configure.text, configure.bar.integration, configure.form, configure.bar.gpus, chooser]
    outputs = [*brought, *launch.desk.components, configure.files.notes, launch.message, tabs, filled]

    def again(count: int, event: gr.EventData) -> tuple[Any, ...]:
        asked = details(event)
        run_id, kind = str(asked.get("run_id", "")), str(asked.get("kind", ""))
        try:
            made = _clone(services, run_id, kind, str(asked.get("checkpoint", "")))
        except DsguiError as error:
            raise gr.Error(escape(str(error))) from error
        request = made.request
        known = next((p.id for p in services.all_presets() if p.id == request.preset.partition(" ")[0]), None)
        headline = _headline(run_id, kind)
        config = (request.config_text, request.config_argument.integration.value, NEW_TEXT)
        changes_arguments_alone = kind in ("repair", "resume") and not made.in_config
        ready = "launch" if changes_arguments_alone else "configure"
        said = f"{headline} Review it and press Launch." if not made.notes else f"{headline} Changed: {_joined(made)}."
        gr.Info(escape(said), duration=_TOLD_S)
        return (
            *config,
            request.ranks,
            known,
            *launch.desk.updates(desk_values(services, request)),
            notes_html(f"Opened {headline[0].lower()}{headline[1:]}", made.notes),
            plain(said),
            gr.Tabs(selected=ready),
            count + 1,
        )

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
    values["reader"] = gr.update(value=reader, visible=recipe is None)
    values |= {field.name: values[field.name] or "" for field in fields_of(Part.MODEL) if field.kind is Kind.COUNT}
    return values | ({"what": recipe} if recipe else {})


def _headline(run_id: str, kind: str) -> str:
    what = {"repair": "Loaded run {} with the change", "resume": "Loaded run {} to be resumed"}
    return what.get(kind, "Loaded run {}").format(run_id) + "; not started."


def _joined(made: Clone) -> str:
    return "; ".join(note.rstrip(".") for note in made.notes)
