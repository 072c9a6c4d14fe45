"""A run that another tool described: its fields are filled in on Launch; nothing is started."""

from typing import Any

import gradio as gr

from dsgui.core.launch.field import Kind, Part
from dsgui.core.launch.run_fields import fields_of
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.field_inputs import offered_again
from dsgui.ui.common.services import OpenedRun, Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.files import Came
from dsgui.ui.launch.desk import sets_more
from dsgui.ui.launch.launch_page import LaunchPage

_PLANNED = ("planned_gpus", "planned_nodes")  # 1 · Configure has set them


def wire_imported_run(configure: ConfigurePage, launch: LaunchPage, services: Services, filled: gr.State) -> None:
    """`filled` is given another value when a run came in, so that the Launch page shows the command anew. Its fold is
    open where something in it was set."""
    outputs = [*launch.desk.components, launch.desk.more, launch.brought, launch.loaded, filled]

    def fill(came: Came | None, problem: str | None, count: int) -> tuple[Any, ...]:
        run = _came_in(came, problem)
        if run is None:
            return tuple(gr.skip() for _ in outputs)
        values = _values(services, run)
        return (*launch.desk.updates(values), gr.Accordion(open=sets_more(values)), run.brought, "", count + 1)

    for event in configure.opened:
        event.success(fill, [configure.files.came, configure.files.problem, filled], outputs, **ONCE)


def _came_in(came: Came | None, problem: str | None) -> OpenedRun | None:
    """The run to fill in; where opening a path was a `problem`, the one that came earlier does not come in again."""
    return came.run if came and not problem else None


def _values(services: Services, run: OpenedRun) -> dict[str, Any]:
    """GPUs that this machine does not have are left out; what was not said of the model is empty."""
    counts = {field.name: "" for field in fields_of(Part.MODEL) if field.kind is Kind.COUNT}
    values = {"model": "", "checkpointing": False, **counts, **run.fields, "parent": ""}
    here = {str(gpu.index) for gpu in services.target().gpus}
    if "gpus" in values:
        values["gpus"] = [index for index in values["gpus"] if index in here]
    values["reader"] = offered_again("reader", value=values["reader"])
    return {name: value for name, value in values.items() if name not in _PLANNED}
