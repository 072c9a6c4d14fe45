"""The Runs page: every run started here, live or ended. The browser reads through `routes.py`; only Stop comes here."""

from dataclasses import dataclass

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.ui.embedded import embedded
from dsgui.ui.events import TELLING, details
from dsgui.ui.services import Services


@dataclass(frozen=True, slots=True)
class RunsPage:
    """`monitor` takes a run id as its value and shows that run."""

    monitor: gr.HTML


def build_runs(services: Services) -> RunsPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`."""

    def stop(event: gr.EventData) -> None:
        try:
            services.runs.stop(str(details(event).get("run_id", "")))
        except DsguiError as error:
            raise gr.Error(str(error)) from error

    monitor = embedded("runs", "ds-runs", ("stop",), value="", elem_id="monitor")
    monitor.stop(stop, None, None, **TELLING)
    return RunsPage(monitor)
