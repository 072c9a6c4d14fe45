"""What 2 · Launch says of the config as long as no run of it can be planned, for want of a script or hosts: the verdict
of 1 · Configure, on what is planned there."""

from collections.abc import Mapping
from typing import Any

from dsgui.core.config.findings import Severity
from dsgui.core.launch.field import Part
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.memory.choice import of_text
from dsgui.core.texts.saying import words
from dsgui.ui.common.findings_view import verdict
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.memory_panel import memory_shown
from dsgui.ui.config.workbench import Workbench, make_context
from dsgui.ui.launch.as_planned import as_count
from dsgui.ui.launch.config_line import fit_told, line, where_told


def meanwhile(
    services: Services,
    workbench: Workbench,
    text: str,
    asked: Mapping[str, Any],
    named: tuple[str, str],
    launched: Launched,
    loaded: str = "",
) -> str:
    """As Markdown: the config, of what name and read by which framework as `named` tells, on the GPUs and nodes of the
    plan, for the place and the arguments that were `launched` so far; `loaded`: the model that the script loads by
    itself."""
    name, reads = named
    device, version = str(asked["device"]), str(asked["version"])
    counts = as_count(asked["planned_gpus"]), as_count(asked["planned_nodes"])
    context = make_context(services.target(), reads, *counts, device, version, launched)
    view = workbench.show(text, context)
    given = [asked["arguments"], asked["host_memory"], *(asked[field.name] for field in fields_of(Part.MODEL)), loaded]
    is_broken = "broken" in view.form
    found = words("configure_page", "broken") if is_broken else verdict(view.found)
    fits = fit_told(memory_shown(services, view, context, given), "memory")
    if not fits and asked["what"] == OWN_SCRIPT:
        model = asked["model"] or loaded or of_text(asked["arguments"] or "").model
        fits = words("launch_page", "memory_unchecked" if model else "memory_unnamed")
    if is_broken or any(finding.severity is Severity.ERROR for finding in view.found):
        fits = ""  # the pages say first what is to be mended
    return line(name, where_told(context.devices, Planned(device)), found, fits)
