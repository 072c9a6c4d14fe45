"""The bar that stays in view on 1 · Configure: which preset the config began as, what the checks and the memory model
say of it, and where to plan for when it was made for another machine."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Severity
from dsgui.core.config.preset import Preset
from dsgui.core.errors import DocumentError
from dsgui.core.machine.hardware import Hardware, card_named
from dsgui.core.memory.answer import Device
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.sizes import roughly
from dsgui.core.texts.saying import words
from dsgui.core.validation.check_report import subject
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import ONCE, details
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import THIS_MACHINE, ContextBar
from dsgui.ui.config.own_file import file_of
from dsgui.ui.config.workbench import MAX_RANKS, View, Workbench

# A text that shares less of its lines with the preset is another config, pasted or opened.
_KIN = 0.5
# Where a preset may be planned for: here, a card with fp16 and no bf16, a card with both.
_CARDS = ("v100", "a100-80")


def build_standing() -> gr.HTML:
    """Must be called inside a `gr.Blocks`."""
    return embedded("config/standing", "ds-standing", ("plan",), value="", elem_id="standing")


def wire_standing(panel: gr.HTML, bar: ContextBar) -> None:
    """A press plans for the machine that the preset was made for."""

    def plan(event: gr.EventData) -> tuple[Any, ...]:
        asked = details(event)
        gpus, nodes = (_rank_count(asked.get(name)) for name in ("gpus", "nodes"))
        card = card_named(str(asked.get("device", "")))
        return gpus, nodes, card.id if card else THIS_MACHINE

    panel.plan(plan, None, [bar.gpus, bar.nodes, bar.device], **ONCE)


def standing_of(
    services: Services, workbench: Workbench, view: View, context: Context, begun: str | None, memory: str, lacks: str
) -> str:
    """The bar's value, as JSON. `begun`: the id of the preset that was chosen or of the file that was opened;
    `memory`: the memory panel's value; `lacks`: a config that an import named and that is not here."""
    counts = Counter(finding.severity for finding in view.found)
    preset = next((one for one in services.all_presets() if one.id == begun), None)
    known = preset if preset and is_kin(view.text, preset.text) else None
    file = file_of(begun)
    modified = view.text.strip() != known.text.strip() if known else file is not None and not file.holds(view.text)
    refused = counts[Severity.ERROR] > 0 and known is not None and not modified
    return json.dumps(
        {
            "name": known.title if known else file.name if file else "",
            "own": known is None,
            "modified": modified,
            "lacks": lacks,
            "against": subject(context),
            "counts": "cpu_ranks" if any(card.vendor == "cpu" for card in context.hardware) else "gpus",
            "broken": "broken" in view.form,
            "blank": "blank" in view.form,
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "notes": counts[Severity.NOTE],
            **_fit(json.loads(memory) if memory else {}),
            "plan": _plan_for(workbench, known, view.text, context) if refused and known else None,
        }
    )


def _fit(memory: Mapping[str, Any]) -> dict[str, Any]:
    """ "" of a config that is another, with its errors fixed."""
    fit = "" if "as_if" in memory else str(memory.get("fit", ""))
    nameless = memory.get("why", {}).get("code") == "no_model"
    guessed, asked = memory.get("guessed") is True, memory.get("host_asked", 0)
    return {"fit": fit, "nameless": nameless, "guessed": guessed, "host_asked": asked}


def lacking(memory: str) -> str:
    """How much too little there is, in words, of what is shortest; "" where it fits or that is not known. `memory` is
    the memory panel's value."""
    told = json.loads(memory) if memory else {}
    if "as_if" in told or told.get("fit") != Fit.SHORT.value:
        return ""
    needs = ((device, _fullest(device), device["capacity"]) for device in told["devices"])
    short = [(need / has, need - has, device["device"]) for device, need, has in needs if has and need > has]
    if not short:  # what is locked beyond its limit
        return words("configure_page", "short")
    _, missing, place = max(short)
    several = told["ranks"] > 1 if place == Device.GPU.value else told["ranks"] > told["ranks_per_node"]
    code = f"short_{place}_each" if several else f"short_{place}"
    return words("configure_page", code, size=roughly(missing))


def asking(memory: str) -> str:
    """What a host that nobody described has to have, in words, of what fits otherwise; "" for nothing unusual. `memory`
    is the memory panel's value."""
    told = json.loads(memory) if memory else {}
    fits = "as_if" not in told and told.get("fit") in (Fit.FITS.value, Fit.TIGHT.value)
    return roughly(told["host_asked"]) if fits and told["host_asked"] else ""


def _fullest(device: Mapping[str, Any]) -> int:
    return max((int(one["bytes"]) for one in device["moments"]), default=0)


def is_kin(text: str, other: str) -> bool:
    """Whether one config is the other edited; a text that was pasted over a preset is another."""
    one, two = (
        {line.strip().rstrip(",") for line in each.splitlines() if len(line.strip()) > 2} for each in (text, other)
    )
    return len(one & two) >= _KIN * max(len(one), len(two), 1)


def _plan_for(workbench: Workbench, preset: Preset, text: str, context: Context) -> Mapping[str, Any] | None:
    """The machine that the preset has no errors on, with its own number of GPUs; None where there is none."""
    planned = replace(context, gpus_per_node=preset.gpus, nodes=preset.nodes)
    for card in (None, *map(card_named, _CARDS)):
        if _passes(workbench, text, planned, card):
            device = {"device": card.id, "card": card.title} if card else {"device": THIS_MACHINE, "card": ""}
            return {"gpus": preset.gpus, "nodes": preset.nodes, "ranks": preset.gpus * preset.nodes, **device}
    return None


def _passes(workbench: Workbench, text: str, context: Context, card: Hardware | None) -> bool:
    there = replace(context, hardware=(card,), missing_ops=frozenset()) if card else context
    try:
        return not any(finding.severity is Severity.ERROR for finding in workbench.findings(text, there))
    except DocumentError:
        return False


def _rank_count(value: Any) -> int:
    return min(max(value, 1), MAX_RANKS) if isinstance(value, int) else 1
