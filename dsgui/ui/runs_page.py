"""The Runs page: every run started here, live or ended. The browser reads through `routes.py`; only Stop comes here."""

from collections.abc import Callable
from dataclasses import dataclass

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.ui.embedded import embedded
from dsgui.ui.events import TELLING
from dsgui.ui.services import Services


@dataclass(frozen=True, slots=True)
class RunsPage:
    """`monitor` takes a run id as its value and shows that run."""

    monitor: gr.HTML


def build_runs(services: Services) -> RunsPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`."""

    def asked(what: Callable[[str], None]) -> Callable[[gr.EventData], None]:
        def ask(event: gr.EventData) -> None:
            try:
                what(str(dict(event._data or {}).get("run_id", "")))
            except DsguiError as error:
                raise gr.Error(str(error)) from error

        return ask

    monitor = embedded("runs", "ds-runs", ("stop", "save"), value="", elem_id="monitor")
    monitor.stop(asked(services.runs.stop), None, None, **TELLING)
    monitor.save(asked(services.runs.save_and_stop), None, None, **TELLING)
    return RunsPage(monitor)
