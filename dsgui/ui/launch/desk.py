"""The Launch page's inputs, made from the fields that `dsgui.core.launch.run_fields` declares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.launch.field import Part
from dsgui.core.launch.recipes import BY_NAME as BY_RECIPE
from dsgui.core.launch.run_fields import BY_NAME as BY_FIELD
from dsgui.core.launch.run_fields import OWN_SCRIPT, fields_of
from dsgui.core.launch.where import BY_NAME, PLACES, placeholders
from dsgui.core.machine.hardware import Gpu, Target
from dsgui.core.sizes import beside, gib
from dsgui.core.texts.saying import Said, listed, said, words
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.field_inputs import laid_out
from dsgui.ui.common.services import Services
from dsgui.ui.launch.asked_first import AskFirst, build_ask_first
from dsgui.ui.launch.notified import build_notified


@dataclass(frozen=True, slots=True)
class Desk:
    """The page's inputs by their fields' names, `fields` says in which order; and the buttons that ask at the
    places where a run can train. `preset` loads the one that the chosen recipe is made for; `preset_loaded` says that
    it was loaded unasked, and takes that back. `more` is the fold. `found` says what a script of one's own showed;
    `instead` takes the recipe with the name of a script that is gone."""

    inputs: Mapping[str, Any]
    asks: tuple[AskFirst, ...]
    preset: gr.Button
    preset_loaded: tuple[gr.HTML, gr.Button]
    more: gr.Accordion
    found: gr.HTML
    instead: gr.Button

    def __getitem__(self, name: str) -> Any:
        return self.inputs[name]

    @property
    def components(self) -> list[Any]:
        return list(self.inputs.values())

    def values(self, given: Sequence[Any]) -> dict[str, Any]:
        """What `components` hold, by name."""
        return dict(zip(self.inputs, given, strict=True))

    def updates(self, new: Mapping[str, Any]) -> tuple[Any, ...]:
        """For `components` as outputs; one that `new` does not name stays."""
        return tuple(new.get(name, gr.skip()) for name in self.inputs)


def sets_more(values: Mapping[str, Any]) -> bool:
    """Whether a field of the fold has another value than it begins with."""
    return any((values.get(field.name) or field.default) != field.default for field in fields_of(Part.MORE))


def build_desk(services: Services, default_ranks: int, elsewhere: Mapping[str, Any]) -> Desk:
    """`elsewhere`: inputs that another page shows, by their fields' names. Must be called inside a `gr.Blocks`."""
    target = services.target()
    special = _of_this_machine(services, target, default_ranks)
    inputs: dict[str, Any] = dict(elsewhere)

    def lay_out(part: Part) -> None:
        inputs.update(laid_out(fields_of(part), special))

    panels, asks = [], []
    what, *rest = fields_of(Part.WHAT)
    with gr.Column(elem_classes="ds-what"):
        inputs.update(laid_out([what], special))
        with gr.Column(visible=False, elem_classes="ds-own-script") as own:
            script, *handed = (field for field in rest if not field.shown)
            inputs.update(laid_out([script], special))
            instead = gr.Button("", size="sm", visible=False, elem_id="recipe-instead")
            found = gr.HTML("", elem_id="script-found", apply_default_css=False, padding=False)
            inputs.update(laid_out(handed, special))
        preset = gr.Button("", size="sm", visible=False, elem_id="recipe-preset")
        loaded = gr.HTML("", elem_id="recipe-loaded", apply_default_css=False, padding=False)
        back = gr.Button(words("launch_page", "undo"), size="sm", visible=False, elem_id="recipe-preset-back")
        inputs.update(laid_out((field for field in rest if field.shown), special))
    with gr.Column(elem_classes="ds-where"):
        lay_out(Part.WHERE)
        for kind in PLACES:
            with gr.Column(visible=False, elem_classes=f"ds-{kind.NAME}") as panel:
                inputs.update(laid_out(kind.FIELDS, special))
                asks += [build_ask_first(kind)] if kind.CAN_BE_ASKED else []
            panels.append(panel)
        lay_out(Part.DEVICES)
    with gr.Accordion(words("launch_page", "more"), open=False, elem_id="launch-more") as more:
        every = fields_of(Part.MORE)
        notify = [field.name for field in every].index("notify")
        inputs.update(laid_out(every[:notify], special))
        with gr.Column(elem_classes="ds-notify"):
            inputs.update(laid_out(every[notify : notify + 1], special))
            build_notified(services, inputs["notify"])
        inputs.update(laid_out(every[notify + 1 :], special))
    lay_out(Part.NOWHERE)
    desk = Desk(inputs, tuple(asks), preset, (loaded, back), more, found, instead)

    def of_what(chosen: str) -> tuple[Any, Any]:
        return gr.Column(visible=chosen == OWN_SCRIPT), gr.Textbox(placeholder=_name_of_run(chosen))

    desk["what"].change(of_what, [desk["what"]], [own, desk["name"]], **ONCE)

    def shows(where: str) -> tuple[Any, ...]:
        chosen = BY_NAME[where]
        here = chosen.ON_THIS_MACHINE
        return (
            *(gr.Column(visible=kind is chosen and bool(kind.FIELDS)) for kind in PLACES),
            gr.Number(visible=here and not target.gpus),
            gr.CheckboxGroup(visible=here and bool(target.gpus)),
        )

    shown = [*panels, desk["ranks"], desk["gpus"]]
    desk["where"].change(shows, [desk["where"]], shown, **ONCE)
    return desk


def _of_this_machine(services: Services, target: Target, default_ranks: int) -> dict[str, dict[str, Any]]:
    """What the fields can't declare: it depends on what is here."""
    recipes = [(_two_lines(BY_RECIPE[name].label), name) for name in services.recipes]
    on_gpus = {} if target.gpus else {"label": words("launch_page", "if_busy_on_cpu")}
    return {
        **{field.name: {"visible": True} for field in fields_of(Part.WHAT)},  # within a panel of their own
        "what": {"choices": [*recipes, (_two_lines("own_script"), OWN_SCRIPT)], "value": recipes[0][1]},
        "name": {"visible": True, "placeholder": _name_of_run(recipes[0][1])},
        "ranks": {"value": default_ranks, "visible": not target.gpus},
        "gpus": {
            "choices": _gpu_choices(services),
            "value": [str(gpu.index) for gpu in target.gpus],
            "visible": bool(target.gpus),
        },
        # As 1 · Configure plans at first; `as_planned` follows it.
        **{kind.FOLLOWS[1]: {"value": default_ranks} for kind in PLACES if kind.FOLLOWS},
        **{name: {"placeholder": text} for name, text in placeholders(2, default_ranks).items()},
        # Nothing chosen is a choice of its own: what is usual depends on where it trains, and that may still change.
        "when_busy": {"choices": [(words("launch_page", "usual"), ""), *BY_FIELD["when_busy"].offered], **on_gpus},
    }


def _name_of_run(chosen: str) -> str:
    """What a run of this is called while nobody types a name."""
    return BY_RECIPE[chosen].title if chosen in BY_RECIPE else BY_FIELD["name"].told("placeholder")


def _two_lines(label: str) -> str:
    """What a recipe does; who trains what, and how long that takes. What a script of one's own may be."""
    return f"{words('launch_page', label)}\n{words('launch_page', f'{label}_about')}"


def _gpu_choices(services: Services) -> list[tuple[str, str]]:
    """Each GPU of this machine with the memory in use, and by which run of ours."""
    used = {sample.index: sample.used_bytes for sample in services.gpu_use()}
    by = services.runs.busy() if services.target().gpus else {}
    return [
        (gpu_label(gpu, used.get(gpu.index), by.get(f"gpu-{gpu.index}", [])), str(gpu.index))
        for gpu in services.target().gpus
    ]


def gpu_label(gpu: Gpu, used_bytes: int | None, runs: Sequence[str]) -> str:
    """`0: H100, 12 of 80 GiB in use, by run “translation”`."""
    total = gib(gpu.memory_bytes, 0) if gpu.memory_bytes else ""
    memory: str | Said = total
    if total and used_bytes is not None:
        memory = said("launch_page", "gpu_used", used=beside(used_bytes, gpu.memory_bytes or 0, 0), total=total)
    names = listed(said("launch_page", "quoted", name=name) for name in runs)
    by = said("launch_page", "gpu_by", runs=names) if runs else ""
    named = said("launch_page", "gpu", index=str(gpu.index), name=gpu.name)
    return str(listed(part for part in (named, memory, by) if part))


def look_at_gpus(services: Services, gpus: gr.CheckboxGroup, event: Any) -> Any:
    if not services.target().gpus:
        return None
    return event(lambda: gr.CheckboxGroup(choices=_gpu_choices(services)), None, [gpus], **ONCE)


def share_ranks(target: Target, ranks: gr.Number, gpus: gr.Number) -> None:
    """One number in two places: the config is checked for the ranks that will run it."""
    if target.gpus:
        return
    ranks.input(lambda value: value, [ranks], [gpus], **ONCE)
    gpus.change(lambda value: value, [gpus], [ranks], **ONCE)
