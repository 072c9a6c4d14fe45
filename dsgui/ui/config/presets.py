"""Presets on the Configure page: choose one, see what it is for, save the editor's config as one's own, remove it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.config.compare import leaves
from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.errors import DsguiError
from dsgui.core.texts.saying import words
from dsgui.ui.common.embedded import in_browser
from dsgui.ui.common.events import LOCAL, NEW_TEXT, ONCE, TELLING
from dsgui.ui.common.picker import Option, offering, picker
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal, tell
from dsgui.ui.config.context_bar import ContextBar

# The browser keeps the text, who reads it, and the preset it began as.
REMEMBER = in_browser("common/kept", "remember")


@dataclass(frozen=True, slots=True)
class Presets:
    """The components."""

    chooser: gr.HTML
    purpose: gr.HTML
    plans: gr.Radio
    title: gr.Textbox
    replace: gr.Checkbox
    save: gr.Button
    remove: gr.Button


def build_chooser(services: Services) -> tuple[gr.HTML, gr.HTML, gr.Radio]:
    """The list of presets, what the chosen one is for, and its plans. Must be called inside a `gr.Blocks`."""
    first = services.presets[0]
    chooser = picker(
        offered(services.all_presets()), first.id, label=words("tools_page", "start_from"), elem_id="preset"
    )
    purpose = gr.HTML(purpose_html(first), elem_classes="ds-purpose", elem_id="preset-purpose", padding=False)
    plans = gr.Radio([], label=words("tools_page", "plans"), visible=False, elem_id="preset-plans")
    return chooser, purpose, plans


def build_own_presets(chooser: gr.HTML, purpose: gr.HTML, plans: gr.Radio) -> Presets:
    """What makes and removes one's own, with the chooser they go into. Must be called inside a `gr.Blocks`."""
    with gr.Accordion(words("tools_page", "save_as"), open=False, elem_id="own-presets"):
        with gr.Row():
            title = gr.Textbox(
                "",
                label=words("tools_page", "title"),
                placeholder=words("tools_page", "title_hint"),
                max_lines=1,
                elem_id="preset-title",
                scale=3,
            )
            replace = gr.Checkbox(
                False,
                label=words("tools_page", "replace"),
                elem_id="preset-replace",
                scale=2,
            )
        with gr.Row():
            save = gr.Button(words("tools_page", "save"), size="sm", elem_id="save-preset")
            remove = gr.Button(words("tools_page", "remove"), size="sm", interactive=False, elem_id="remove-preset")
    return Presets(chooser, purpose, plans, title, replace, save, remove)


def wire_presets(presets: Presets, brought: list[Any], bar: ContextBar, services: Services) -> None:
    """`brought`: the components a new text goes to (text, integration, form)."""

    def load(id: str | None) -> tuple[Any, ...]:
        chosen = _named(services.all_presets(), id)
        if chosen is None:
            raise refusal(words("tools_page", "gone"))
        return chosen.text, chosen.integration.value, NEW_TEXT

    def describe(id: str | None) -> tuple[str, Any, Any]:
        chosen = _named(services.all_presets(), id)
        own = chosen is not None and chosen not in services.presets
        return (purpose_html(chosen) if chosen else ""), _plans(chosen), gr.Button(interactive=own)

    def follow(id: str | None, title: str | None) -> tuple[Any, ...]:
        chosen = _named(services.all_presets(), id)
        plan = next((plan for plan in chosen.plans if plan.title == title), None) if chosen else None
        if chosen is None or plan is None:
            return gr.skip(), gr.skip(), gr.skip(), gr.skip()
        return chosen.planned(plan), NEW_TEXT, plan.gpus, plan.nodes

    presets.chooser.input(load, [presets.chooser], brought, **TELLING)
    told = [presets.purpose, presets.plans, presets.remove]
    presets.chooser.change(describe, [presets.chooser], told, **ONCE)
    text, _, form = brought
    presets.plans.input(follow, [presets.chooser, presets.plans], [text, form, bar.gpus, bar.nodes], **TELLING)
    _wire_own(presets, brought[0], bar, services)


def _wire_own(presets: Presets, text: Any, bar: ContextBar, services: Services) -> None:
    def save(title: str, replace: bool, text: str, reader: str, gpus: float, nodes: float) -> Any:
        if not (title or "").strip():
            raise refusal(words("tools_page", "needs_title"))
        asked = (title or "", text or "", Integration(reader), int(gpus or 1), int(nodes or 1))
        try:
            saved = services.own_presets.save(*asked, replace=replace)
        except DsguiError as error:
            raise refusal(words("tools_page", "not_saved", why=escape(str(error)))) from error
        tell(words("tools_page", "saved", title=escape(saved.title)))
        return _offering(services, value=saved.id)

    def remove(id: str | None) -> Any:
        try:
            services.own_presets.remove(id or "")
        except DsguiError as error:
            raise refusal(words("tools_page", "not_removed", why=escape(str(error)))) from error
        tell(words("tools_page", "removed"))
        return _offering(services, value="")

    saving = [presets.title, presets.replace, text, bar.integration, bar.gpus, bar.nodes]
    saved = presets.save.click(save, saving, [presets.chooser], **TELLING)
    saved.success(None, [text, bar.integration, presets.chooser], None, js=REMEMBER, **LOCAL)
    presets.remove.click(remove, [presets.chooser], [presets.chooser], **TELLING)


def refreshed(services: Services) -> Any:
    """The chooser with the presets of this moment: another tab may have saved one."""
    return _offering(services)


def offered(presets: Sequence[Preset]) -> list[Option]:
    """What a picker of presets has; one's own are marked as such. Found by what they are for and by their keys too."""
    return [_option(preset, own=preset.id.startswith("user-")) for preset in presets]


def _option(preset: Preset, *, own: bool) -> Option:
    title = words("tools_page", "mine", title=preset.title) if own else preset.title
    group = words("tools_page", "own") if own else preset.group
    return Option(preset.id, title, group, f"{preset.purpose} {preset.model} {' '.join(_keys(preset.text))}")


def _keys(text: str) -> Iterable[str]:
    """The keys in a config, each once and without those it stands in, or whose letters another has in it."""
    keys = dict.fromkeys(pointer.rpartition("/")[2] for pointer in leaves(Document(text)))
    return (key for key in keys if not any(key in other for other in keys if other != key))


def _offering(services: Services, **more: Any) -> Any:
    return offering(offered(services.all_presets()), **more)


def _plans(preset: Preset | None) -> Any:
    """The plans of a preset, none of them chosen."""
    plans = preset.plans if preset else ()
    return gr.Radio([plan.title for plan in plans], value=None, visible=bool(plans))


def _named(presets: tuple[Preset, ...], id: str | None) -> Preset | None:
    return next((preset for preset in presets if preset.id == id), None)


def purpose_html(preset: Preset) -> str:
    """What the preset is for; folded, where it comes from and what to know about it."""
    ranks = preset.nodes * preset.gpus
    given = {"model": preset.model or words("tools_page", "any_model"), "count": str(ranks)}
    expects = words("tools_page", "made_for" if ranks > 1 else "made_for_one", **given)
    ran = [words("tools_page", "ran_with", arguments=preset.arguments)] if preset.arguments else []
    notes = "".join(f"<li>{escape(note)}</li>" for note in filter(None, (preset.source, expects, *preset.notes, *ran)))
    return (
        f"<p>{escape(preset.purpose)}</p>"
        f"<details><summary>{words('tools_page', 'notes')}</summary><ul>{notes}</ul></details>"
    )
