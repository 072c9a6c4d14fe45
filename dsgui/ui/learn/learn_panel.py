"""The drawer of tutorials: a step's button puts the real pages in its state, and what was there can be put back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.config.preset import Preset
from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Here
from dsgui.core.launch.recipes import BY_NAME
from dsgui.core.learn.machine_precision import without_fp16
from dsgui.core.learn.track import Opens
from dsgui.core.learn.tracks import STEPS
from dsgui.runs.learning import Learning
from dsgui.ui.common.embedded import embedded, tell_if_unanswered
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING, details, turn
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.launch.launch_page import LaunchPage

# What a step may set, in the order of the components below; the form is told of a new text besides.
_SET = ("text", "integration", "preset", "bar_gpus", "bar_nodes")
_OF_PLACES = {name for step in STEPS.values() for opens in step.opens if opens.place for name in opens.place.values()}
_ON_LAUNCH = ("what", "arguments", "where", *sorted(_OF_PLACES), "ranks", "gpus")


@dataclass(frozen=True, slots=True)
class Kept:
    """What was on the pages before the tutorial set them, and the config and arguments that it set."""

    values: tuple[Any, ...]
    text: str
    arguments: str


def build_learn() -> gr.HTML:
    """Must be called inside a `gr.Blocks`. Nothing is loaded before the drawer is opened."""
    return embedded("learn/learn_door", "ds-learn-door", ("go", "back", "note"), value="", elem_id="learn")


def wire_learn(
    panel: gr.HTML, configure: ConfigurePage, launch: LaunchPage, tabs: gr.Tabs, services: Services, filled: gr.State
) -> None:
    """`filled` is given another value when Launch was filled in, so that it shows the command anew."""
    desk, bar, form, kept = launch.desk, configure.bar, configure.form, gr.State(None)
    on_configure = [configure.text, bar.integration, configure.presets.chooser, bar.gpus, bar.nodes]
    held = [*on_configure, *(desk[name] for name in _ON_LAUNCH)]
    names = (*_SET, *_ON_LAUNCH)

    def go(event: gr.EventData, count: int, before: Kept | None, *now: Any) -> tuple[Any, ...]:
        opens = _opened(details(event))
        if opens is None:
            return tuple(gr.skip() for _ in range(len(held) + 5))
        values = _values(opens, services)
        was = dict(zip(names, now, strict=True))
        sets = _texts(was | values)
        replaced = sets != _texts(was)
        keeps = Kept(_first(before, was, now), *sets) if values else before
        return (
            *(values.get(name, gr.skip()) for name in names),
            NEW_TEXT if "text" in values else gr.skip(),
            gr.Tabs(selected=opens.tab),
            count + bool(values),
            keeps,
            json.dumps({"turn": turn(event), "replaced": bool(replaced and keeps)}),
        )

    def back(event: gr.EventData, count: int, before: Kept | None) -> tuple[Any, ...]:
        values = before.values if before else tuple(gr.skip() for _ in held)
        told = json.dumps({"turn": turn(event), "back": before is not None})
        return (*values, NEW_TEXT if before else gr.skip(), count + 1, None, told)

    def note(event: gr.EventData) -> str:
        try:
            _note(services.learning, details(event))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        return json.dumps({"turn": turn(event)})

    panel.go(go, [filled, kept, *held], [*held, form, tabs, filled, kept, panel], **ONCE)
    panel.back(back, [filled, kept], [*held, form, filled, kept, panel], **ONCE)
    tell_if_unanswered(panel.note(note, None, [panel], **TELLING), "learn")


def _first(before: Kept | None, was: Mapping[str, Any], now: tuple[Any, ...]) -> tuple[Any, ...]:
    """The reader's own work: what an earlier step has put there is none."""
    is_ours = before is not None and (before.text, before.arguments) == _texts(was)
    return before.values if before is not None and is_ours else now


def _texts(values: Mapping[str, Any]) -> tuple[str, str]:
    """Config and arguments. A box that was never shown has None, and the editor no line end after the last line."""
    return (values["text"] or "").rstrip(), (values["arguments"] or "").strip()


def _opened(asked: Mapping[str, Any]) -> Opens | None:
    step, place = STEPS.get(str(asked.get("step", ""))), asked.get("button")
    known = step is not None and isinstance(place, int) and 0 <= place < len(step.opens)
    return step.opens[place] if known and step is not None and isinstance(place, int) else None


def _note(learning: Learning, told: Mapping[str, Any]) -> None:
    """Raises `RunError`."""
    step, kind = str(told.get("step", "")), told.get("kind")
    if kind == "answer":
        choice = told.get("choice")
        learning.answer(step, choice if isinstance(choice, int) and not isinstance(choice, bool) else -1)
    elif kind == "compare":
        runs = told.get("runs")
        learning.compare(step, [str(one) for one in runs] if isinstance(runs, list) else [])
    elif kind == "move":
        at = told.get("at")
        learning.move(step, {str(name): str(one) for name, one in at.items()} if isinstance(at, dict) else {})
    elif kind == "forget":
        learning.forget(str(told.get("track", "")))


def _values(opens: Opens, services: Services) -> dict[str, Any]:
    """What the state sets, by the names above."""
    preset = next((one for one in services.presets if one.id == opens.preset), None)
    values = _of_preset(preset, opens) if preset else {}
    if not opens.recipe:
        return values
    arguments = BY_NAME[opens.recipe].arguments if opens.arguments is None else opens.arguments
    place = opens.place or Here()
    values |= {"what": opens.recipe, "arguments": arguments, "where": place.NAME, **place.values()}
    if opens.place:
        return values
    return values | _on_this_machine(opens, services) | _in_its_precision(values, services)


def _in_its_precision(values: Mapping[str, Any], services: Services) -> dict[str, str]:
    """What of it is another where the machine has bf16 and no fp16."""
    target = services.target()
    if target.fp16 is not False or not target.bf16 or "text" not in values:
        return {}
    text, arguments = without_fp16(values["text"], values["arguments"])
    return {"text": text, "arguments": arguments}


def _of_preset(preset: Preset, opens: Opens) -> dict[str, Any]:
    plan = preset.plans[opens.plan] if opens.plan >= 0 else None
    placed = plan or preset
    return {
        "text": preset.planned(plan) if plan else preset.text,
        "integration": preset.integration.value,
        "preset": preset.id,
        "bar_gpus": placed.gpus,
        "bar_nodes": placed.nodes,
    }


def _on_this_machine(opens: Opens, services: Services) -> dict[str, Any]:
    """As many ranks as are asked for, else every GPU, else two on the CPU."""
    gpus = [str(gpu.index) for gpu in services.target().gpus]
    ranks = opens.ranks or len(gpus) or 2
    ranks = min(ranks, len(gpus)) if gpus else ranks
    return {"ranks": ranks, "gpus": gpus[:ranks], "bar_gpus": ranks, "bar_nodes": 1}
