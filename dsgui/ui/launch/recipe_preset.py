"""A recipe is chosen on Launch: its arguments are filled in, and the preset it is made for is offered."""

from typing import Any

import gradio as gr

from dsgui.core.launch.recipes import begins_with, preset_to_offer
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import NEW_TEXT, ONCE, TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.launch.launch_page import LaunchPage


def wire_recipe_preset(configure: ConfigurePage, launch: LaunchPage, services: Services, filled: gr.State) -> None:
    """`filled` is given another value when a preset was loaded, so that the Launch page shows the command anew."""
    desk, chooser = launch.desk, configure.presets.chooser
    brought = [configure.text, configure.bar.integration, configure.form, chooser]

    def offered(chosen: str, current: str | None) -> Any:
        id = preset_to_offer(chosen, current)
        preset = next((one for one in services.presets if one.id == id), None)
        if preset is None:
            return gr.Button(visible=False)
        return gr.Button(words("launch_page", "recipe_preset", title=preset.title), visible=True)

    def filled_in(chosen: str, typed: str) -> Any:
        arguments = begins_with(chosen, typed or "")
        return gr.skip() if arguments is None else arguments

    def load(chosen: str, count: int) -> tuple[Any, ...]:
        preset = next(one for one in services.presets if one.id == preset_to_offer(chosen, None))
        return preset.text, preset.integration.value, NEW_TEXT, preset.id, count + 1

    desk["what"].input(filled_in, [desk["what"], desk["arguments"]], [desk["arguments"]], **ONCE)
    gr.on([desk["what"].change, chooser.change], offered, [desk["what"], chooser], [desk.preset], **ONCE)
    desk.preset.click(load, [desk["what"], filled], [*brought, filled], **TELLING)
