"""A recipe is chosen on Launch: its arguments are filled in, and the preset it is made for is offered, or loaded with a
way back."""

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.launch.recipes import BY_NAME, begins_with, preset_to_offer
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.launch.launch_page import LaunchPage


@dataclass(frozen=True, slots=True, eq=False)  # Gradio hashes what is in a State
class Before:
    """The config, its framework and its preset before another was loaded for the `recipe`, and the text `after` that;
    the `parent` of a clone."""

    recipe: str
    parent: str
    text: str
    framework: str
    preset: str | None
    after: str

    def stands(self, text: str | None, chosen: str, parent: str | None) -> bool:
        """Whether `text` is still what was loaded for the recipe that is `chosen`, and no other clone's; the editor
        ends without a newline."""
        same = (chosen, parent or "") == (self.recipe, self.parent)
        return same and self.after.rstrip() == (text or "").rstrip()


def wire_recipe_preset(
    configure: ConfigurePage, launch: LaunchPage, services: Services, filled: gr.State, looked: list[Any]
) -> None:
    """`filled` is given another value when a preset was loaded, so that the Launch page shows the command anew; on
    `looked` it is seen whether the config is still the one that was loaded."""
    desk, chooser = launch.desk, configure.presets.chooser
    brought = [configure.text, configure.bar.integration, configure.form, chooser]
    (told, undo), before = desk.preset_loaded, gr.State(None)
    way_back = [before, told, undo]

    def gone() -> tuple[Any, ...]:
        return None, "", gr.Button(visible=False)

    def title_of(id: str) -> str:
        return next((one.title for one in services.presets if one.id == id), "")

    def offered(chosen: str, current: str | None, parent: str | None) -> Any:
        """A clone has a config of its own: only the checks offer it another, where they find it refused."""
        title = title_of(preset_to_offer(chosen, current))
        if not title:
            return gr.Button(visible=False)
        return gr.Button(words("launch_page", "recipe_preset", title=title), visible="hidden" if parent else True)

    def filled_in(chosen: str, typed: str) -> Any:
        arguments = begins_with(chosen, typed or "")
        return gr.skip() if arguments is None else arguments

    def load(chosen: str, count: int) -> tuple[Any, ...]:
        preset = next(one for one in services.presets if one.id == preset_to_offer(chosen, None))
        return preset.text, preset.integration.value, NEW_TEXT, preset.id, count + 1

    def made_for(
        chosen: str, parent: str | None, current: str | None, text: str | None, framework: str, count: int
    ) -> tuple[Any, ...]:
        """A preset that nobody touched makes way where it is for another framework: the recipe would be refused."""
        recipe = BY_NAME.get(chosen)
        now = next((one for one in services.presets if one.id == current), None)
        is_untouched = now is not None and now.text.rstrip() == (text or "").rstrip()
        if recipe is None or now is None or not is_untouched or now.integration is recipe.takes.integration:
            return *(gr.skip() for _ in (*brought, filled)), *gone()
        loaded = load(chosen, count)
        says = words("launch_page", "preset_loaded", title=title_of(recipe.preset))
        kept = Before(chosen, parent or "", text or "", framework, current, loaded[0])
        return *loaded, kept, f'<p role="status">{escape(says)}</p>', gr.Button(visible=True)

    def back(held: Before | None, text: str | None, chosen: str, parent: str | None, count: int) -> tuple[Any, ...]:
        if held is None or not held.stands(text, chosen, parent):  # edited since: undone in 1 · Configure
            return *(gr.skip() for _ in (*brought, filled)), *gone()
        return held.text, held.framework, NEW_TEXT, held.preset, count + 1, *gone()

    def still(held: Before | None, text: str | None, chosen: str, parent: str | None) -> tuple[Any, ...]:
        if held is None or held.stands(text, chosen, parent):
            return gr.skip(), gr.skip(), gr.skip()
        return gone()

    seen = [desk["what"], desk["parent"], chooser, configure.text, configure.bar.integration, filled]
    desk["what"].input(made_for, seen, [*brought, filled, *way_back], **TELLING)
    desk["what"].input(filled_in, [desk["what"], desk["arguments"]], [desk["arguments"]], **ONCE)
    shown = [desk["what"], chooser, desk["parent"]]
    gr.on([one.change for one in shown], offered, shown, [desk.preset], **ONCE)
    desk.preset.click(load, [desk["what"], filled], [*brought, filled], **TELLING)
    standing = [before, configure.text, desk["what"], desk["parent"]]
    undo.click(back, [*standing, filled], [*brought, filled, *way_back], **TELLING)
    gr.on(looked, still, standing, way_back, **ONCE)
