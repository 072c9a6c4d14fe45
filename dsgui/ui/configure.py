"""The Configure page: context bar, presets, the form, the JSON, the findings, download."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from dsgui.core.context import Context, Integration
from dsgui.core.hardware import CARDS, Target
from dsgui.core.preset import Preset
from dsgui.ui.embedded import embedded
from dsgui.ui.services import Services
from dsgui.ui.workbench import ASSUMED_VERSIONS, View, Workbench, make_context

THIS_MACHINE = "this"
ONCE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
LIVE: dict[str, Any] = {**ONCE, "trigger_mode": "always_last"}
# Gradio shows a raised gr.Error as a message only for events that go through its queue.
TELLING: dict[str, Any] = {**ONCE, "queue": True}

# The browser alone keeps the text, so that a reload or a closed tab loses nothing typed; it also saves the file.
_REMEMBER = "(text) => { try { localStorage.setItem('dsgui.config', text ?? ''); } catch {} }"
_REMEMBER_BAR = "(...bar) => { try { localStorage.setItem('dsgui.bar', JSON.stringify(bar)); } catch {} }"
_RECALL = """(text, ...bar) => {
  try {
    const saved = JSON.parse(localStorage.getItem('dsgui.bar') || 'null');
    const known = Array.isArray(saved) && saved.length === bar.length;
    return [localStorage.getItem('dsgui.config') || text, ...(known ? saved : bar)];
  } catch { return [text, ...bar]; }
}"""
_DOWNLOAD = """(text) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text ?? ''], { type: 'application/json' }));
  link.download = 'ds_config.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}"""

Form = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContextBar:
    """What a config is checked against, as components."""

    integration: gr.Dropdown
    gpus: gr.Number
    nodes: gr.Number
    device: gr.Dropdown
    version: gr.Dropdown

    @property
    def inputs(self) -> list[Any]:
        """In the order `make_context` takes them after the target."""
        return [self.integration, self.gpus, self.nodes, self.device, self.version]


@dataclass(frozen=True, slots=True)
class ConfigurePage:
    """The components that other pages read or refresh."""

    text: gr.Code
    bar: ContextBar
    form: gr.HTML
    findings: gr.HTML
    synchronise: Callable[..., tuple[Any, str, Form]]

    @property
    def inputs(self) -> list[Any]:
        return [self.text, self.form, *self.bar.inputs]

    @property
    def outputs(self) -> list[Any]:
        return [self.text, self.findings, self.form]

    def synchronise_after(self, event: Any) -> Any:
        """Bring text, findings and form in step once `event` is through."""
        return event.then(self.synchronise, self.inputs, self.outputs, **ONCE)

    def synchronise_on(self, triggers: list[Any]) -> Any:
        """The same for triggers that may come thick and fast. They share one listener, so that no answer to an older
        text can arrive after the answer to a newer one."""
        return gr.on(triggers, self.synchronise, self.inputs, self.outputs, **LIVE)


@dataclass(frozen=True, slots=True)
class _Loading:
    """The components that bring a whole new text."""

    preset: gr.Dropdown
    purpose: gr.HTML
    upload: gr.UploadButton
    undo: gr.Button
    previous: gr.State


def build_configure(services: Services, workbench: Workbench, default_ranks: int) -> ConfigurePage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`."""
    first = services.presets[0]
    bar = _context_bar(services.target(), first, default_ranks)
    with gr.Row(elem_classes="ds-columns"):
        with gr.Column(scale=6, min_width=320):
            preset, purpose = _preset_chooser(services.presets)
            form = embedded("form", "ds-form", ("edit",), value={}, elem_id="config-form")
        with gr.Column(scale=5, min_width=320, elem_classes="ds-side"):
            findings = embedded("findings", "ds-findings-root", ("fix",), value="", elem_id="findings")
            text = _json_editor(first.text)
            with gr.Row(elem_classes="ds-buttons"):
                download = gr.Button("Download ds_config.json", variant="primary", size="sm", elem_id="download")
                upload = gr.UploadButton("Open a file…", file_types=[".json"], size="sm", elem_id="upload")
                undo = gr.Button("Undo load", size="sm", interactive=False, elem_id="undo-load")
    page = ConfigurePage(text, bar, form, findings, _synchroniser(services, workbench))
    _wire_fixes(page, services, workbench)
    _wire_loading(page, _Loading(preset, purpose, upload, undo, gr.State("")), services.presets)
    download.click(None, [text], None, js=_DOWNLOAD, api_visibility="private")
    return page


def recall_on_load(page: ConfigurePage, demo: gr.Blocks) -> None:
    """When the page opens: the text and context this browser kept from last time, else the first preset."""
    kept = [page.text, *page.bar.inputs]
    page.synchronise_after(demo.load(None, kept, kept, js=_RECALL, api_visibility="private"))


def _context_bar(target: Target, first: Preset, default_ranks: int) -> ContextBar:
    readers = [("HF Trainer", Integration.HF.value), ("deepspeed.initialize (native)", Integration.NATIVE.value)]
    ranks = "GPUs per node" if target.gpus else "GPUs (here: CPU ranks) per node"
    with gr.Row(elem_classes="ds-context"):
        return ContextBar(
            gr.Dropdown(
                readers,
                value=first.integration.value,
                label="Who reads the config",
                elem_id="integration",
                min_width=150,
            ),
            gr.Number(default_ranks, label=ranks, precision=0, elem_id="gpus", min_width=110),
            gr.Number(1, label="Nodes", precision=0, elem_id="nodes", min_width=80),
            gr.Dropdown(_device_choices(target), value=THIS_MACHINE, label="Device", elem_id="device", min_width=150),
            gr.Dropdown(_version_choices(target), value="", label="DeepSpeed", elem_id="version", min_width=150),
        )


def _device_choices(target: Target) -> list[tuple[str, str]]:
    here = ", ".join(dict.fromkeys(gpu.name for gpu in target.gpus)) or "CPU"
    return [(f"This machine: {here}", THIS_MACHINE), *((f"Plan for {card.title}", card.id) for card in CARDS)]


def _version_choices(target: Target) -> list[tuple[str, str]]:
    installed = target.version("deepspeed")
    here = f"{installed} (installed)" if installed else f"{ASSUMED_VERSIONS[0]} (none installed)"
    return [(here, ""), *((f"Plan for {v}", v) for v in ASSUMED_VERSIONS if v != installed)]


def _preset_chooser(presets: tuple[Preset, ...]) -> tuple[gr.Dropdown, gr.HTML]:
    choices = [(preset.title, preset.id) for preset in presets]
    chooser = gr.Dropdown(choices, value=presets[0].id, label="Start from a preset", elem_id="preset")
    return chooser, gr.HTML(_purpose(presets[0]), elem_classes="ds-purpose")


def _purpose(preset: Preset) -> str:
    expects = f"Made for {preset.model or 'any model'} on {preset.nodes * preset.gpus} GPU(s)."
    ran = [f"The tutorial ran it with: {preset.arguments}"] if preset.arguments else []
    notes = "".join(f"<li>{escape(note)}</li>" for note in (expects, *preset.notes, *ran))
    return (
        f'<p>{escape(preset.purpose)} <span class="ds-source">{escape(preset.source)}</span></p>'
        f"<details><summary>What to know about it</summary><ul>{notes}</ul></details>"
    )


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
    )


def _synchroniser(services: Services, workbench: Workbench) -> Callable[..., tuple[Any, str, Form]]:
    """Text, findings and form in step: pending edits of the form go into the text, else the text is left alone."""

    def synchronise(text: str | None, form: Form | None, *bar: Any) -> tuple[Any, str, Form]:
        context = _context(services, bar)
        if form and form.get("edits"):
            return _outputs(workbench.edit(form, text or "", context))
        view = workbench.show(text or "", context, form)
        return gr.skip(), view.findings, view.form

    return synchronise


def _context(services: Services, bar: tuple[Any, ...]) -> Context:
    return make_context(services.target(), *bar)


def _wire_fixes(page: ConfigurePage, services: Services, workbench: Workbench) -> None:
    def fix(
        text: str | None, reader: str, gpus: float, nodes: float, device: str, version: str, event: gr.EventData
    ) -> tuple[str, str, Form]:
        chosen = dict(event._data or {})
        rule, pointer, label = (str(chosen.get(name, "")) for name in ("rule", "pointer", "label"))
        context = _context(services, (reader, gpus, nodes, device, version))
        return _outputs(workbench.fix(rule, pointer, label, text or "", context))

    page.findings.fix(fix, [page.text, *page.bar.inputs], page.outputs, **ONCE)
    page.text.change(None, [page.text], None, js=_REMEMBER, api_visibility="private")
    changes = [component.change for component in page.bar.inputs]
    gr.on(changes, None, page.bar.inputs, None, js=_REMEMBER_BAR, api_visibility="private")


def _outputs(view: View) -> tuple[str, str, Form]:
    return view.text, view.findings, view.form


def _wire_loading(page: ConfigurePage, loading: _Loading, presets: tuple[Preset, ...]) -> None:
    by_id = {preset.id: preset for preset in presets}

    def load_preset(id: str, text: str, form: Form | None) -> tuple[Any, ...]:
        chosen = by_id[id]
        brought = text, gr.Button(interactive=True), _emptied(form)
        return chosen.text, _purpose(chosen), chosen.integration.value, *brought

    def load_file(path: str | None, text: str, form: Form | None) -> tuple[Any, ...]:
        return _read(path), text, gr.Button(interactive=True), _emptied(form)

    brought = [loading.previous, loading.undo, page.form]
    loaded = loading.preset.input(
        load_preset,
        [loading.preset, page.text, page.form],
        [page.text, loading.purpose, page.bar.integration, *brought],
        **ONCE,
    )
    opened = loading.upload.upload(load_file, [loading.upload, page.text, page.form], [page.text, *brought], **TELLING)
    swapped = loading.undo.click(
        lambda text, previous: (previous, text), [page.text, loading.previous], [page.text, loading.previous], **ONCE
    )
    for event in (loaded, opened, swapped):
        page.synchronise_after(event)


def _emptied(form: Form | None) -> Form:
    """The form's state without edits that waited for the text that is being replaced."""
    return {**(form or {}), "edits": {}, "acked": {}, "discard": True}


def _read(path: str | None) -> str:
    """The text of an uploaded file; what can't be read is said in the page and changes nothing."""
    if not path:
        raise gr.Error("No file arrived. Choose a .json file.")
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        name = Path(path).name
        raise gr.Error(f"{name} is not text in UTF-8 (byte {error.start}). Save it as UTF-8 and try again.") from error
