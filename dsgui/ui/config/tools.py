"""What can be asked about the config in the editor: compare it, move it to another DeepSpeed, get code for it."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.texts.saying import words
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import CHANGED_TEXT, ONCE, chosen_fix
from dsgui.ui.common.picker import Option, offering, picker
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.presets import offered
from dsgui.ui.config.toolbox import SNIPPETS, TRAINER, Toolbox
from dsgui.ui.config.workbench import make_context


@dataclass(frozen=True, slots=True)
class Tools:
    """Which tool is open ("" for none), each tool's own question, and the panel that shows the answer."""

    tool: gr.HTML
    preset: gr.HTML
    release: gr.HTML
    code: gr.HTML
    arguments: gr.Textbox
    panel: gr.HTML

    @property
    def inputs(self) -> list[Any]:
        return [self.tool, self.preset, self.release, self.code, self.arguments]

    @property
    def changes(self) -> list[Any]:
        """The events that ask something else."""
        return [component.change for component in self.inputs]


def build_tools(toolbox: Toolbox) -> Tools:
    """Must be called inside a `gr.Blocks`."""
    tool = embedded("config/tools", "ds-segments", (), value="", elem_id="tool")
    label = words("tools_page", "preset")
    # Choosing the tool brings the options: the first page has the list of presets once.
    preset = picker([], toolbox.presets()[0].id, label=label, visible=False, elem_id="compare-with")
    label = words("tools_page", "release")
    release = picker([], toolbox.releases[0], label=label, visible=False, elem_id="move-to")
    label = words("tools_page", "what_for")
    code = picker([], next(iter(SNIPPETS)), label=label, visible=False, elem_id="snippet")
    arguments = gr.Textbox(
        "",
        label=words("launch_page", "tool_arguments"),
        info=words("launch_page", "tool_arguments_note"),
        placeholder="--per_device_train_batch_size 4 --learning_rate 1e-4 --bf16 --max_steps 500",
        visible=False,
        max_lines=6,
        elem_id="training-arguments",
    )
    panel = embedded("config/findings", "ds-findings-root", ("fix",), value="", elem_id="tool-panel")
    return Tools(tool, preset, release, code, arguments, panel)


def wire_tools(tools: Tools, brought: list[Any], services: Services, toolbox: Toolbox) -> None:
    """`brought`: text, integration and form, then the bar."""

    releases = [Option(release, release) for release in toolbox.releases]
    snippets = [Option(id, title) for id, title in SNIPPETS.items()]

    def ask(tool: str) -> tuple[Any, ...]:
        lists = {"compare": offered(toolbox.presets()), "move": releases, "code": snippets}
        shown = (offering(options, visible=tool == name) for name, options in lists.items())
        return (*shown, gr.Textbox(visible=tool == TRAINER))

    def fixed(
        text: str | None,
        to: str,
        reader: str,
        gpus: float,
        nodes: float,
        device: str,
        version: str,
        launched: Launched,
        event: gr.EventData,
    ) -> tuple[str, Any]:
        context = make_context(services.target(), reader, gpus, nodes, device, version, launched)
        return toolbox.fix_move(*chosen_fix(event), text or "", context, to), CHANGED_TEXT

    tools.tool.change(ask, [tools.tool], [tools.preset, tools.release, tools.code, tools.arguments], **ONCE)
    text, _, form, *bar = brought
    tools.panel.fix(fixed, [text, tools.release, *bar], [text, form], **ONCE)
