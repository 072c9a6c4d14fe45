"""Files on the Configure page: open one by upload or path, or paste what another tool has of a run; download the config
in the form its reader takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from dsgui.core.config.context import Integration
from dsgui.core.config.preset import Preset
from dsgui.core.errors import DsguiError
from dsgui.core.texts.saying import words
from dsgui.ui.access.uploads import inside_uploads
from dsgui.ui.common.embedded import in_browser
from dsgui.ui.common.events import LOCAL, NEW_TEXT, TELLING
from dsgui.ui.common.picker import named, picker
from dsgui.ui.common.services import Opened, OpenedRun, Services
from dsgui.ui.common.toasts import refusal
from dsgui.ui.config.context_bar import ContextBar
from dsgui.ui.config.own_file import file_id
from dsgui.ui.config.toolbox import Toolbox
from dsgui.ui.config.workbench import make_context

_FORMS = {"for_native": "native", "for_hf": "hf"}
_SAVE = in_browser("common/kept", "save")
_CLEARED, _MARKED = in_browser("config/open_path", "cleared"), in_browser("config/open_path", "marked")


@dataclass(frozen=True, slots=True)
class Files:
    """The components; `problem` says why `path` was not opened, `outgoing` holds the text that the browser saves,
    `came` what came in last, None where nothing did."""

    download: gr.Button
    form: gr.HTML
    upload: gr.UploadButton
    path: gr.Textbox
    problem: gr.HTML
    open: gr.Button
    notes: gr.HTML
    outgoing: gr.Textbox
    pasted: gr.Textbox
    paste: gr.Button
    came: gr.State


@dataclass(frozen=True, slots=True, eq=False)  # Gradio hashes what is in a State
class Came:
    """What was opened: `run`, None for a config alone, and the name of a config that it names and that is not here:
    the editor then has `text` and the preset `begun` as before."""

    run: OpenedRun | None
    missing: str = ""
    text: str = ""
    begun: str = ""


def build_files() -> Files:
    """Must be called inside a `gr.Blocks`."""
    with gr.Column(elem_id="files"):
        gr.HTML(f"<h2>{escape(words('tools_page', 'files'))}</h2>", padding=False)
        return _laid_out()


def _laid_out() -> Files:
    with gr.Row(elem_classes="ds-buttons"):
        name = words("tools_page", "download")
        forms = named((words("tools_page", code), form) for code, form in _FORMS.items())
        form = picker(forms, "native", label=words("tools_page", "download_format"), elem_id="download-form")
        download = gr.Button(name, size="sm", elem_id="download", min_width=160)
    with gr.Row(elem_classes="ds-buttons"):
        path = gr.Textbox(
            "",
            label=words("tools_page", "path"),
            placeholder=words("tools_page", "path_hint"),
            show_label=False,
            container=False,
            max_lines=1,
            elem_id="open-path",
            min_width=160,
            scale=4,
        )
        open_button = gr.Button(words("tools_page", "open"), size="sm", elem_id="open-file", min_width=60, scale=1)
        upload = gr.UploadButton(
            words("tools_page", "upload"),
            file_types=[".json", ".hjson", ".yaml", ".yml"],
            size="sm",
            elem_id="upload",
            min_width=80,
            scale=1,
        )
    problem = gr.HTML("", elem_id="open-problem", padding=False)
    with gr.Accordion(words("imported", "paste"), open=False, elem_id="import-run"):
        pasted = gr.Textbox(
            "",
            label=words("imported", "paste_label"),
            placeholder=words("imported", "paste_hint"),
            lines=4,
            max_lines=12,
            elem_id="pasted-run",
        )
        paste = gr.Button(words("imported", "paste_open"), size="sm", elem_id="import-pasted")
    notes = gr.HTML("", elem_id="file-notes", elem_classes="ds-purpose", padding=False)
    outgoing = gr.Textbox("", visible=False)
    return Files(download, form, upload, path, problem, open_button, notes, outgoing, pasted, paste, gr.State(None))


def wire_files(
    files: Files, brought: list[Any], bar: ContextBar, services: Services, toolbox: Toolbox
) -> tuple[Any, ...]:
    """The events after which `files.came` says what came in. `brought`: the components a new text goes to (text,
    integration, form, chooser of presets)."""
    text = brought[0]

    def download(text: str | None, form: str, *values: Any) -> tuple[str, str]:
        context = make_context(services.target(), *values)
        try:
            converted = toolbox.outgoing(text or "", Integration(form), context)
        except DsguiError as error:
            raise refusal(words("tools_page", "not_downloaded", why=escape(str(error)))) from error
        said = words("tools_page", "downloaded")
        return converted.text, notes_html(said, converted.notes, always=False)

    sent = files.download.click(download, [text, files.form, *bar.inputs], [files.outgoing, files.notes], **TELLING)
    sent.success(None, [files.outgoing, brought[-1]], None, js=_SAVE, **LOCAL)
    goes_to = [*brought, bar.gpus, bar.nodes, files.notes, files.came, files.problem]
    kept = [text, brought[-1]]
    files.path.change(None, None, [files.problem], js=_CLEARED, **LOCAL)
    files.problem.change(None, [files.problem], None, js=_MARKED, **LOCAL)
    missing = words("tools_page", "enter_path")
    like = _preset_of(services)
    uploaded = _opener(_of_path(_uploaded(services.open_upload)), missing, _name, _in_the_corner, _file, like)
    named = _opener(_of_path(services.open_file), missing, _name, _beside_the_path, _file, like)
    pasted = _opener(services.open_text, words("imported", "enter_text"), _pasted, _in_the_corner, _no_file, like)
    return (
        files.upload.upload(uploaded, [files.upload, *kept], goes_to, **TELLING),
        gr.on([files.open.click, files.path.submit], named, [files.path, *kept], goes_to, **TELLING),
        files.paste.click(pasted, [files.pasted, *kept], goes_to, **TELLING),
    )


def _preset_of(services: Services) -> Callable[[Opened], Preset | None]:
    """The preset that is like a config that an import names and that is not here."""

    def like(opened: Opened) -> Preset | None:
        wanted = opened.missing.preset if opened.missing else ""
        return next((one for one in services.presets if one.id == wanted), None)

    return like


def _of_path(read: Callable[[Path], Opened]) -> Callable[[str], Opened]:
    return lambda path: read(Path(path.strip()))


def _name(path: str) -> str:
    return Path(path).name


def _pasted(text: str) -> str:
    return words("imported", "pasted")


def _opener(
    read: Callable[[str], Opened],
    missing: str,
    named: Callable[[str], str],
    refused: Callable[[str], tuple[Any, ...]],
    begins: Callable[[str, Opened], str],
    like: Callable[[Opened], Preset | None] = lambda opened: None,
) -> Callable[..., tuple[Any, ...]]:
    """`missing` is said of nothing; `named` tells what was opened, `refused` why nothing was, `begins` what the
    config begins as; `like` is the preset that stands in for a config that is not here."""

    def opener(given: str | None, text: str | None = "", begun: str | None = "") -> tuple[Any, ...]:
        if not (given or "").strip():
            return refused(missing)
        try:
            opened = read(given or "")
        except DsguiError as error:
            return refused(str(error))
        preset = like(opened)
        notes = notes_html(_headline(opened, named(given or "")), _notes(opened, preset))
        lacks = Path(opened.missing.file).name if opened.missing and not preset else ""
        began = begins(given or "", opened)
        return (*_brought(opened, began, preset), notes, Came(opened.run, lacks, text or "", begun or ""), "")

    return opener


def _file(path: str, opened: Opened) -> str:
    """A file of a run names another for its config, or none."""
    return file_id(path.strip(), opened.text) if opened.run is None else ""


def _no_file(text: str, opened: Opened) -> str:
    return ""


def _in_the_corner(why: str) -> tuple[Any, ...]:
    raise refusal(escape(why))


def _beside_the_path(why: str) -> tuple[Any, ...]:
    """Nothing came in, and what came in before stands."""
    return *(gr.skip() for _ in range(6)), "", gr.skip(), f'<p class="ds-problem" role="alert">{escape(why)}</p>'


def _notes(opened: Opened, preset: Preset | None) -> Sequence[str]:
    """In place of the note that a config is missing, which preset stands in for it."""
    if not preset or not opened.missing:
        return opened.notes
    told = words("imported", "stands_in", file=opened.missing.file, preset=preset.title)
    return (told, *(note for note in opened.notes if note != opened.missing.note))


def _headline(opened: Opened, name: str) -> str:
    if opened.run is None:
        return words("tools_page", "opened", name=name)
    return words("imported", "opened", name=name, kind=opened.run.source)


def _uploaded(read: Callable[[Path], Opened]) -> Callable[[Path], Opened]:
    """Gradio hands on its own copy, which lies among the uploads; whatever it hands on, nothing else is read."""

    def opened(path: Path) -> Opened:
        return read(inside_uploads(Path(get_upload_folder()), path))

    return opened


def _brought(opened: Opened, begun: str, stands_in: Preset | None) -> tuple[Any, ...]:
    """Text, integration, form, what it began as (no preset: it is another config), GPUs and nodes; what was not asked
    for stays as it is."""
    reader = opened.integration.value if opened.integration else gr.skip()
    text, form, preset = (opened.text, NEW_TEXT, begun) if opened.text else (gr.skip(), gr.skip(), gr.skip())
    if stands_in:
        text, form, preset = stands_in.text, NEW_TEXT, stands_in.id
    return text, reader, form, preset, opened.gpus or gr.skip(), opened.nodes or gr.skip()


def notes_html(headline: str, notes: Sequence[str], always: bool = True) -> str:
    """What happened to the text on its way; "" when nothing did and the headline is not `always` to be told."""
    if not notes:
        return f'<p role="status">{escape(headline)}</p>' if always else ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<p role="status">{escape(headline)}</p><ul>{items}</ul>'
