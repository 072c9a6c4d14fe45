"""What 2 · Launch says of the config as long as no run of it can be planned, for want of a script or hosts: the verdict
of 1 · Configure, on what is planned there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Finding, has_error
from dsgui.core.launch.field import Part
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.memory.choice import of_text
from dsgui.core.preflight.filled_by_script import Filler, as_filled
from dsgui.core.texts.saying import words
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.findings_view import verdict
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.memory_panel import memory_shown
from dsgui.ui.config.workbench import View, Workbench, make_context
from dsgui.ui.launch.as_planned import as_count
from dsgui.ui.launch.config_line import fit_told, line, where_told


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """The config as 1 · Configure shows it, for what is planned there, and what was `found`."""

    view: View
    context: Context
    found: tuple[Finding, ...]

    def filled(self, text: str, by: Filler | None) -> "Meanwhile":
        """Without what is found of keys that the script writes itself."""
        if by is None or "broken" in self.view.form:
            return self
        return replace(self, found=tuple(as_filled(self.found, by(read_document(text).value))))

    def line(self, services: Services, asked: Mapping[str, Any], name: str, loaded: str, *, stops: bool) -> str:
        """As Markdown, of the config of this name; `loaded`: the model that the script loads by itself; `stops`: what
        stops it is told among the checks."""
        where = where_told(self.context.devices, Planned(str(asked["device"])))
        if stops:
            return words("launch_page", "config_alone", config=plain(name), devices=where)
        is_broken = "broken" in self.view.form
        found = words("configure_page", "broken") if is_broken else verdict(self.found)
        if is_broken or has_error(self.found):
            return line(name, where, found, "")  # the pages say first what is to be mended
        own = (asked[field.name] for field in fields_of(Part.MODEL))
        given = [asked["arguments"], asked["host_memory"], *own, loaded]
        fits = fit_told(memory_shown(services, self.view, self.context, given), "memory")
        if not fits and asked["what"] == OWN_SCRIPT:
            model = asked["model"] or loaded or of_text(asked["arguments"] or "").model
            fits = words("launch_page", "memory_unchecked" if model else "memory_unnamed")
        return line(name, where, found, fits)


def meanwhile(
    services: Services, workbench: Workbench, text: str, asked: Mapping[str, Any], reads: str, launched: Launched
) -> Meanwhile:
    """On the GPUs and nodes of the plan, read by the framework `reads`, for the place and the arguments that were
    `launched` so far."""
    counts = as_count(asked["planned_gpus"]), as_count(asked["planned_nodes"])
    planned = *counts, str(asked["device"]), str(asked["version"])
    context = make_context(services.target(), reads, *planned, launched)
    view = workbench.show(text, context)
    return Meanwhile(view, context, tuple(view.found))
