"""The Configure page: presets, the form and what can be tried with it on the left; findings, memory, the JSON and what
to do with it on the right. A wide screen has three columns (static/styles/configure.css)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency

from dsgui.core.texts.saying import words
from dsgui.core.validation.check_report import subject
from dsgui.ui.common.embedded import embedded, in_browser
from dsgui.ui.common.events import CHANGED_TEXT, LIVE, LOCAL, NEW_TEXT, ONCE, chosen_fix
from dsgui.ui.common.findings_view import findings_html, notices_html
from dsgui.ui.common.services import Services
from dsgui.ui.config.ask import Ask, Asked, build_ask, shown, wire_ask
from dsgui.ui.config.context_bar import ContextBar, Launched, build_context_bar
from dsgui.ui.config.files import Came, Files, build_files, wire_files
from dsgui.ui.config.ladder import build_ladder, wire_ladder
from dsgui.ui.config.memory_asking import wire_memory_asking
from dsgui.ui.config.memory_change import wire_memory_change
from dsgui.ui.config.memory_panel import MemoryPanel, build_memory_panel, memory_shown
from dsgui.ui.config.presets import REMEMBER, Presets, build_chooser, build_own_presets, wire_presets
from dsgui.ui.config.standing import asking, build_standing, is_kin, lacking, standing_of, wire_standing
from dsgui.ui.config.toolbox import Toolbox
from dsgui.ui.config.tools import Tools, build_tools, wire_tools
from dsgui.ui.config.workbench import FormValue, View, Workbench, make_context, odd_counts, odd_host
from dsgui.ui.config.zero_stages import build_zero_stages, wire_zero_stages

_REMEMBER_BAR = in_browser("common/kept", "rememberBar")
_RECALL = in_browser("common/kept", "recall")
_REMEMBER_ARGUMENTS = in_browser("common/kept", "rememberArguments")
_RECALL_ARGUMENTS = in_browser("common/kept", "recallArguments")
_MOVED = in_browser("common/kept", "moved", NEW_TEXT)


@dataclass(frozen=True, slots=True)
class ConfigurePage:
    """The components that other pages and the page's own parts read or refresh. `opened`: the events of `files` that
    bring a text in."""

    text: gr.Code
    bar: ContextBar
    form: gr.HTML
    findings: gr.HTML
    presets: Presets
    files: Files
    tools: Tools
    ask: Ask
    memory: MemoryPanel
    ladder: gr.HTML
    standing: gr.HTML
    onward: gr.Button
    synchronise: Callable[..., tuple[Any, ...]]
    opened: tuple[Any, ...]

    @property
    def inputs(self) -> list[Any]:
        tools, bar = self.tools.inputs, self.bar.inputs
        known = [self.text, self.form, self.ask.asked, self.presets.chooser, self.files.came]
        return [*known, *tools, *bar, *self.memory.inputs]

    @property
    def entry(self) -> list[Any]:
        """A version of the config as undo and the browser keep it."""
        return [self.text, self.bar.integration, self.presets.chooser]

    @property
    def kept(self) -> list[Any]:
        """What the browser keeps beside the text: the bar, and the model."""
        return [*self.bar.kept, *self.memory.kept]

    @property
    def outputs(self) -> list[Any]:
        shown = [self.text, self.findings, self.form, self.tools.panel, self.ask.panel, self.memory.panel]
        return [*shown, self.standing]

    def synchronise_on(self, triggers: list[Any]) -> Any:
        """Text, findings, form, tools and memory in step. The only listener that does so, for every trigger there is:
        no answer to an older text can arrive after the answer to a newer one. What changes the text by itself gives the
        form `NEW_TEXT` or `CHANGED_TEXT`, and the form triggers."""
        return gr.on(triggers, self.synchronise, self.inputs, self.outputs, **LIVE)


def build_configure(services: Services, workbench: Workbench, toolbox: Toolbox, default_ranks: int) -> ConfigurePage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`."""
    first = services.presets[0]
    with gr.Row(elem_id="workspace-bar", elem_classes="ds-bar"):
        standing = build_standing()
        history = embedded("common/history", "ds-history", ("move",), value="", elem_id="history")
        onward = gr.Button(words("configure_page", "launch"), variant="primary", size="sm", elem_id="to-launch")
    bar = build_context_bar(services.target(), first.integration, default_ranks)
    with gr.Row(elem_classes="ds-columns", elem_id="workspace"):
        with gr.Column(scale=7, min_width=320):
            chooser = build_chooser(services)
            form = embedded("config/form", "ds-form", ("edit",), value={}, elem_id="config-form")
        with gr.Column(elem_id="beneath-form"):
            stages = build_zero_stages()
            ladder = build_ladder()
            presets = build_own_presets(*chooser)
            tools = build_tools(toolbox)
        with gr.Column(scale=5, min_width=320, elem_classes="ds-side"):
            with gr.Column(min_width=320, elem_id="checked"):
                findings = embedded("config/findings", "ds-findings-root", ("fix",), value="", elem_id="findings")
                memory = build_memory_panel()
            with gr.Column(min_width=320, elem_id="written"):
                text = _json_editor(first.text)
                ask = build_ask()
                files = build_files()
    synchronise = _synchroniser(services, workbench, toolbox, len(bar.inputs))
    brought = [text, bar.integration, form]
    opened = wire_files(files, [*brought, chooser[0]], bar, services, toolbox)
    parts = (text, bar, form, findings, presets, files, tools, ask, memory, ladder, standing, onward)
    page = ConfigurePage(*parts, synchronise, opened)
    wire_ask(ask, text, bar, services)
    _wire_fixes(page, services, workbench)
    wire_memory_change(memory, text, bar.inputs, (services, workbench))
    wire_memory_asking(memory, text, bar.inputs, (services, workbench))
    wire_zero_stages(stages, memory, (text, bar.inputs), (services, workbench))
    wire_ladder(ladder, memory, (text, bar.inputs), (services, workbench))
    _wire_history(page, history)
    wire_standing(standing, bar)
    wire_presets(presets, brought, bar, services)
    wire_tools(tools, [*brought, *bar.inputs], services, toolbox)
    return page


def recall_on_load(page: ConfigurePage, arguments: gr.Textbox, demo: gr.Blocks) -> Dependency:
    """When the page opens: the text and context this browser kept from last time, else the first preset; then the
    script's `arguments`, on the Launch page."""
    kept = [page.text, page.presets.chooser, *page.kept]
    recalled = demo.load(None, kept, [page.form, *kept], js=_RECALL, **LOCAL)
    recalled.then(None, page.entry, None, js=REMEMBER, **LOCAL)
    recalled.then(None, [page.memory.fields["model"], arguments], [arguments], js=_RECALL_ARGUMENTS, **LOCAL)
    arguments.change(None, [arguments], None, js=_REMEMBER_ARGUMENTS, **LOCAL)
    return recalled


def _json_editor(text: str) -> gr.Code:
    return gr.Code(
        text,
        language="json",
        label="ds_config.json",
        interactive=True,
        lines=12,
        max_lines=26,
        elem_id="config-json",
        buttons=["copy"],
        wrap_lines=True,
    )


def _synchroniser(
    services: Services, workbench: Workbench, toolbox: Toolbox, bar_width: int
) -> Callable[..., tuple[Any, ...]]:
    """Text, findings, form, tools and memory in step: pending edits of the form go into the text, else it is left
    alone."""

    def synchronise(
        text: str | None,
        form: FormValue | None,
        asked: Asked | None,
        begun: str | None,
        came: Came | None,
        tool: str,
        preset: str | None,
        release: str,
        code: str,
        typed: str | None,
        *bar_and_memory: Any,
    ) -> tuple[Any, ...]:
        bar, memory = bar_and_memory[:bar_width], bar_and_memory[bar_width:]
        context = make_context(services.target(), *bar)
        edited = bool(form and form.get("edits"))
        view = workbench.edit(form or {}, text or "", context) if edited else workbench.show(text or "", context)
        chosen = {"compare": preset or "", "move": release, "code": code}.get(tool, tool)
        panel = toolbox.panel(tool, chosen, view.text, context)
        answer = shown(services, asked, view.text, context) if asked else gr.skip()
        bars = memory_shown(services, view, context, memory)
        lacks, asks = lacking(bars), asking(bars)
        again = lacks or asks
        found = findings_html(view.found, subject(context), lacks, asks, view.wide) if again else view.findings
        findings = notices_html((*odd_counts(bar[1], bar[2]), *odd_host(memory[1]))) + found
        stands = standing_of(services, workbench, view, context, begun, bars, _lacks(came, view.text, begun))
        return (view.text if edited else gr.skip()), findings, _packed(view), panel, answer, bars, stands

    return synchronise


def _lacks(came: Came | None, text: str, begun: str | None) -> str:
    """The config that an import named and that is not here, while the editor has what it had before."""
    is_kept = came and came.begun == (begun or "") and is_kin(text, came.text)
    return came.missing if came and is_kept else ""


def _wire_fixes(page: ConfigurePage, services: Services, workbench: Workbench) -> None:
    def fixed(
        text: str | None,
        reader: str,
        gpus: float,
        nodes: float,
        device: str,
        version: str,
        launched: Launched,
        event: gr.EventData,
    ) -> tuple[str, FormValue]:
        context = make_context(services.target(), reader, gpus, nodes, device, version, launched)
        return workbench.fix(*chosen_fix(event), text or "", context), CHANGED_TEXT

    inputs = [page.text, *page.bar.inputs]
    page.findings.fix(fixed, inputs, [page.text, page.form], **ONCE)
    page.text.change(None, page.entry, None, js=REMEMBER, **LOCAL)
    gr.on([one.change for one in page.kept], None, page.kept, None, js=_REMEMBER_BAR, **LOCAL)


def _wire_history(page: ConfigurePage, history: gr.HTML) -> None:
    text, reader, preset = page.entry
    brought = [text, reader, page.form, preset]
    history.move(None, None, brought, js=_MOVED, trigger_mode="multiple", **LOCAL)


def _packed(view: View) -> FormValue:
    """The form's state as one text: Gradio looks at every value of a nested one, twice, with every keystroke."""
    return {"state": json.dumps(view.form)}
