"""What 2 · Launch says of the config as long as no run of it can be planned, for want of a script or hosts: the verdict
of 1 · Configure, on what is planned there."""

import json
from collections.abc import Mapping
from typing import Any

from dsgui.core.config.findings import Severity
from dsgui.core.launch.field import Part
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.run_fields import fields_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.texts.saying import words
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.findings_view import verdict
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.memory_panel import memory_shown
from dsgui.ui.config.standing import lacking
from dsgui.ui.config.workbench import Workbench, make_context
from dsgui.ui.launch.as_planned import as_count


def meanwhile(
    services: Services,
    workbench: Workbench,
    text: str,
    asked: Mapping[str, Any],
    named: tuple[str, str],
    launched: Launched,
) -> str:
    """As Markdown: the config, of what name and read by which framework as `named` tells, on the GPUs and nodes of the
    plan, for the place and the arguments that were `launched` so far. What the host has is told on 1 · Configure alone:
    of memory only what its GPUs lack or have enough of."""
    name, reads = named
    device, version = str(asked["device"]), str(asked["version"])
    counts = as_count(asked["planned_gpus"]), as_count(asked["planned_nodes"])
    context = make_context(services.target(), reads, *counts, device, version, launched)
    view = workbench.show(text, context)
    given = [asked["arguments"], "", *(asked[field.name] for field in fields_of(Part.MODEL))]
    fits = _fits(memory_shown(services, view, context, given))
    found = verdict(view.found)
    if "broken" in view.form:
        found = words("configure_page", "broken")
    told = f"[{found}](#findings)" if found else words("launch_page", "nothing_to_report")
    if any(finding.severity is Severity.ERROR for finding in view.found):
        fits = ""  # the pages say first what is to be mended
    planned = [card.title for card in Planned(device).hardware]
    where = f"{context.devices} ({planned[0]})" if planned else context.devices
    said = " · ".join(filter(None, (told, fits)))
    return words("launch_page", "config_verdict", config=plain(name), devices=where, verdict=said)


def _fits(memory: str) -> str:
    """In words, how much too little there is included; "" where that is not known."""
    told = json.loads(memory)
    fit = told.get("fit", "")
    if fit == Fit.SHORT.value:
        missing = lacking(memory)
        said = words("launch_page", "planned_short", missing=missing) if missing else ""
    elif fit not in (Fit.FITS.value, Fit.TIGHT.value) or "as_if" in told:
        return ""
    elif fit == Fit.FITS.value and told["host_asked"]:
        said = words("launch_page", "fits_gpus")
    else:
        said = words("memory_fits", fit)
    return words("configure_page", "fit_guessed", fit=said) if said and told["guessed"] else said
