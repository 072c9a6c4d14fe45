"""What 2 · Launch says of the config: the verdict for the devices of the run, and whether that fits, in a line; below
it that it is read by another framework than 1 · Configure has it checked for. What stops it is among the checks."""

import json

from dsgui.core.config.context import Integration
from dsgui.core.config.findings import has_error
from dsgui.core.launch.planned import Planned
from dsgui.core.memory.fits.memory_report import as_json
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.preflight.surroundings import Launch
from dsgui.core.sizes import roughly
from dsgui.core.texts.saying import words
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.findings_view import verdict as found_told
from dsgui.ui.config.standing import lacking
from dsgui.ui.preflight.preflight_view import BeforeStart

_BREAK = "  \n"  # Markdown's


def told(launch: Launch, name: str, reads: Integration, reader: str, before: BeforeStart, *, own: bool) -> str:
    """`name` is the config's, "" of an empty one; `own`: it is read by a script of the user's."""
    config = verdict(launch, name, own=own) if name else words("launch_page", "config_empty")
    return as_read(config, reads, reader, before)


def as_read(config: str, reads: Integration, configured: str, before: BeforeStart) -> str:
    """The verdict on the `config`, as Markdown, with what the script does with it: another framework than 1 · Configure
    is set to reads it, the script gets none, or has its own, and then nothing of this one is told."""
    if not before.counts:
        return words("launch_page", "uses_own")
    more = "" if reads.value == configured else words("launch_page", f"reads_{reads.value}")
    more = more if before.handed else words("launch_page", "gets_none")
    return _BREAK.join(filter(None, (config, more)))


def verdict(launch: Launch, name: str, *, own: bool = False) -> str:
    """What is told of the config of this name at the ranks chosen here, with the way to what was found. What stops it
    is among the checks. That nobody knows what a script of one's `own` takes is said: a recipe's model is small."""
    if launch.unreadable:
        return words("launch_page", "config_unreadable")
    where = where_told(launch.devices, launch.planned)
    devices = {"config": plain(name), "devices": where}
    if has_error((*launch.findings, *launch.by_arguments)):
        return words("launch_page", "config_alone", **devices)
    as_planned = not launch.planned.hardware or not launch.place.ON_THIS_MACHINE  # else the memory is another machine's
    fits = fit_told(json.dumps(as_json(launch.memory)), "preflight") if launch.memory and as_planned else ""
    if own and as_planned and not fits:
        fits = words("launch_page", "memory_unchecked" if launch.memory else "memory_unnamed")
    return line(name, where, found_told(launch.findings), fits)


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
