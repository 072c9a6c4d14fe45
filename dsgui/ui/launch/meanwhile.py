"""What 2 · Launch says of the config as long as no run of it can be planned, for want of a script or hosts: the verdict
of 1 · Configure, on what is planned there."""

from collections.abc import Mapping
from typing import Any

from dsgui.core.config.context import Context
from dsgui.core.config.findings import has_error
from dsgui.core.launch.field import Part
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.memory.choice import of_text
from dsgui.core.preflight.surroundings import Launch
from dsgui.core.texts.saying import words
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.findings_view import verdict
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.memory_panel import memory_shown
from dsgui.ui.config.workbench import Workbench, make_context
from dsgui.ui.launch.as_planned import as_count
from dsgui.ui.launch.config_line import fit_told, line, where_told


def planned_context(services: Services, asked: Mapping[str, Any], reads: str, launched: Launched) -> Context:
    """The GPUs and nodes of the plan, for a config that is read by the framework `reads`, and for the place and the
    arguments that were `launched` so far."""
    counts = as_count(asked["planned_gpus"]), as_count(asked["planned_nodes"])
    return make_context(services.target(), reads, *counts, str(asked["device"]), str(asked["version"]), launched)


def meanwhile(
    services: Services,
    workbench: Workbench,
    text: str,
    asked: Mapping[str, Any],
    name: str,
    context: Context,
    judged: Launch | None = None,
    loaded: str = "",
    *,
    stops: bool = False,
) -> str:
    """As Markdown, of the config of this name: what was found as its script reads it, of which `judged` tells where it
    is known; `loaded`: the model that the script loads by itself; `stops`: what stops the config is among the
    checks."""
    where = where_told(context.devices, Planned(str(asked["device"])))
    if judged and stops:
        code = "config_unreadable" if judged.unreadable else "config_alone"
        return words("launch_page", code, config=plain(name), devices=where)
    view = workbench.show(text, context)
    found = judged.findings if judged else view.found
    if "broken" in view.form:
        return line(name, where, words("configure_page", "broken"), "")
    if has_error(found):
        return line(name, where, verdict(found), "")  # the pages say first what is to be mended
    given = [asked["arguments"], asked["host_memory"], *(asked[field.name] for field in fields_of(Part.MODEL)), loaded]
    fits = fit_told(memory_shown(services, view, context, given), "memory")
    if not fits and asked["what"] == OWN_SCRIPT:
        model = asked["model"] or loaded or of_text(asked["arguments"] or "").model
        fits = words("launch_page", "memory_unchecked" if model else "memory_unnamed")
    return line(name, where, verdict(found), fits)
