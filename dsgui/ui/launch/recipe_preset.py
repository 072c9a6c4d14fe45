"""A recipe is chosen on Launch: its arguments are filled in, and the preset it is made for is offered."""

from html import escape
from typing import Any

import gradio as gr

from dsgui.core.launch.recipes import BY_NAME, begins_with, preset_to_offer
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import tell
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.launch.launch_page import LaunchPage


def wire_recipe_preset(configure: ConfigurePage, launch: LaunchPage, services: Services, filled: gr.State) -> None:
    """`filled` is given another value when a preset was loaded, so that the Launch page shows the command anew."""
    desk, chooser = launch.desk, configure.presets.chooser
    brought = [configure.text, configure.bar.integration, configure.form, chooser]

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

    def made_for(chosen: str, current: str | None, text: str | None, count: int) -> tuple[Any, ...]:
        """A preset that nobody touched makes way where it is for another framework: the recipe would be refused."""
        recipe = BY_NAME.get(chosen)
        before = next((one for one in services.presets if one.id == current), None)
        is_untouched = before is not None and before.text.rstrip() == (text or "").rstrip()
        if recipe is None or before is None or not is_untouched or before.integration is recipe.takes.integration:
            return tuple(gr.skip() for _ in (*brought, filled))
        tell(escape(words("launch_page", "preset_loaded", title=title_of(recipe.preset))))
        return load(chosen, count)

    desk["what"].input(made_for, [desk["what"], chooser, configure.text, filled], [*brought, filled], **TELLING)
    desk["what"].input(filled_in, [desk["what"], desk["arguments"]], [desk["arguments"]], **ONCE)
    seen = [desk["what"], chooser, desk["parent"]]
    gr.on([one.change for one in seen], offered, seen, [desk.preset], **ONCE)
    desk.preset.click(load, [desk["what"], filled], [*brought, filled], **TELLING)
