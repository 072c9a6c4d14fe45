"""The start from a goal, above the workspace: what to train and on what, and two or three configs that fit. It is open
at a browser's first visit."""

import json
from collections.abc import Mapping
from typing import Any

import gradio as gr
from gradio.events import Dependency

from dsgui.core.config.context import Context, Integration
from dsgui.core.launch.planned import MOST_HOST_GIB
from dsgui.core.machine.hardware import OFFERED
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import MOST_TOKENS, USUAL_LENGTH, ModelChoice
from dsgui.core.memory.fits.first_choices import FirstChoice, Goal, as_json, first_choices
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.fits.ways import as_json as ways_as_json
from dsgui.core.memory.fits.ways import ways
from dsgui.core.memory.question import Group
from dsgui.core.sizes import GIB
from dsgui.core.texts.saying import listed, words
from dsgui.ui.common.embedded import embedded, in_browser
from dsgui.ui.common.events import LIVE, LOCAL, NEW_TEXT, details, turn
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.context_bar import THIS_MACHINE
from dsgui.ui.config.workbench import MAX_RANKS, make_context

_MOST_WORDS = 500
_MOST_RANK = 4096


def build_goal(services: Services, default_ranks: int) -> gr.HTML:
    """Must be called inside a `gr.Blocks`, above the workspace."""
    target = services.target()
    here = listed(dict.fromkeys(gpu.name for gpu in target.gpus)) or "CPU"
    devices = [{"id": THIS_MACHINE, "title": words("goal_page", "this_machine", device=here), "group": ""}]
    devices += [{"id": card.id, "title": card.title, "group": card.generation} for card in OFFERED]
    usual = {"gpus": default_ranks, "length": USUAL_LENGTH, "has_gpu": bool(target.gpus)}
    offered = json.dumps({"devices": devices, "usual": usual})
    return embedded("config/goal", "ds-goal", ("look", "use"), value="", offered=offered, elem_id="goal")


def wire_goal(panel: gr.HTML, configure: ConfigurePage, arguments: gr.Textbox, services: Services) -> Dependency:
    """`arguments` are the script's, on the Launch page: what the Trainer needs beside the config goes there. The event
    that brings a config."""

    def look(event: gr.EventData) -> str:
        return json.dumps({"turn": turn(event), **found_for(services, details(event))})

    bar, memory = configure.bar, configure.memory.fields
    brought = [
        *(configure.text, configure.form, configure.presets.chooser),
        *(bar.integration, bar.gpus, bar.nodes, bar.device),
        *(memory["model"], memory["length"], memory["checkpointing"], configure.memory.host),
        memory["lora_rank"],
        arguments,
    ]
    panel.look(look, None, [panel], **LIVE)
    used: Dependency = panel.use(None, [arguments], brought, js=in_browser("config/goal", "used", NEW_TEXT), **LOCAL)
    return used


def found_for(services: Services, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What fits, as JSON, for what the page sent: `framework`, `model`, `device`, `gpus`, `nodes`, `length`,
    `micro_batch` and `host`. `field`: what is wrong with what was asked is wrong there. `ways`: where nothing fits
    but what asks for a host that few have, what would."""
    named = str(asked.get("model") or "").strip()[:_MOST_WORDS]
    model = services.read_model(named)
    if isinstance(model, CannotSay):
        return as_json(model) | {"field": "model"}
    context = _context(services, asked)
    length, rank = _count(asked, "length", MOST_TOKENS, USUAL_LENGTH), _count(asked, "lora", _MOST_RANK, 0)
    choice = ModelChoice(model=named, length=length, lora_rank=rank)
    goal = Goal(context, model, choice, _count(asked, "micro_batch", MOST_TOKENS, 1))
    machine = services.machine.current()
    host = _count(asked, "host", MOST_HOST_GIB, 0) * GIB

    def room(planned: Context, group: Group) -> Room:
        return room_of(
            planned.hardware,
            machine.host,
            group,
            gpus=machine.gpus,
            host_bytes=host or None,
            sharpened=services.sharpened(),
            release=planned.release,
        )

    found = first_choices(goal, services.presets, services.checker, lambda group: room(context, group))
    if isinstance(found, CannotSay) or any(_surely(one) for one in found):
        return as_json(found)
    would = ways(goal, tuple(services.presets), services.checker, room)
    return as_json(found) | {"ways": ways_as_json(would)}


def _surely(one: FirstChoice) -> bool:
    """It fits, and asks for no host that few have where nobody said what there is."""
    return one.fit is not Fit.SHORT and not one.fitted.verdict.host_asked


def _context(services: Services, asked: Mapping[str, Any]) -> Context:
    framework = asked.get("framework")
    integration = Integration.NATIVE if framework == Integration.NATIVE.value else Integration.HF
    ranks = (_count(asked, "gpus", MAX_RANKS, 1), _count(asked, "nodes", MAX_RANKS, 1))
    return make_context(services.target(), integration.value, *ranks, str(asked.get("device", "")), "")


def _count(asked: Mapping[str, Any], name: str, most: int, usual: int) -> int:
    value = asked.get(name)
    known = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
    return value if known and isinstance(value, int) else usual
