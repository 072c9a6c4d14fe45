"""What 2 · Launch says of the config as long as no run of it can be planned, for want of a script or hosts: the verdict
of 1 · Configure, on what is planned there."""

import json
from collections.abc import Mapping
from typing import Any

from dsgui.core.config.findings import Severity
from dsgui.core.launch.field import Part
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.memory.choice import of_text
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.sizes import roughly
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


def line(name: str, where: str, found: str, fits: str) -> str:
    """As Markdown: what was `found` of the config of this name, "" for nothing, and how it `fits`, "" where that is not
    known."""
    told = f"[{found}](#findings)" if found else words("launch_page", "nothing_to_report")
    said = " · ".join(filter(None, (told, fits)))
    return words("launch_page", "config_verdict", config=plain(name), devices=where, verdict=said)


def where_told(devices: str, planned: Planned) -> str:
    """The devices, with the card that they are planned to be."""
    return words("launch_page", "on_card", devices=devices, card=planned.card) if planned.card else devices


def fit_told(memory: str, leads_to: str) -> str:
    """As Markdown, how much too little there is and what the host has to have included; "" where nothing is known.
    `memory` is the memory panel's value, `leads_to` the id of the place that says more."""
    told = json.loads(memory) if memory else {}
    fit = told.get("fit", "")
    if "as_if" in told or fit not in (Fit.SHORT.value, Fit.FITS.value, Fit.TIGHT.value):
        return ""
    if fit == Fit.SHORT.value:
        missing = lacking(memory)
        said = words("launch_page", "planned_short", missing=missing) if missing else ""
    elif told["host_asked"]:
        said = words("memory_page", "fits_if_host", size=roughly(told["host_asked"]))
    else:
        said = words("launch_page", "memory_is", fit=words("memory_fits", fit))
    if not said:
        return ""
    return f"[{words('configure_page', 'fit_guessed', fit=said) if told['guessed'] else said}](#{leads_to})"
