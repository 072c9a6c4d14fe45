"""The Launch page: what runs, on what, the exact command, start."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import gradio as gr

from dsgui.core.context import Integration
from dsgui.core.errors import DocumentError, DsguiError, PlanError
from dsgui.core.hardware import Target
from dsgui.core.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.ui.configure import ConfigurePage
from dsgui.ui.context_bar import THIS_MACHINE
from dsgui.ui.events import LIVE, ONCE
from dsgui.ui.findings_view import verdict
from dsgui.ui.services import Services
from dsgui.ui.workbench import Workbench, make_context

OWN_SCRIPT = "own"
AS_CONFIGURED = "configured"
_AS_READ = {Integration.HF.value: ConfigArgument.HF.name, Integration.NATIVE.value: ConfigArgument.NATIVE.name}
_READERS = [
    ("as “Who reads the config” on 1 · Configure says", AS_CONFIGURED),
    ("--deepspeed FILE (HF Trainer)", ConfigArgument.HF.name),
    ("--deepspeed --deepspeed_config FILE (native)", ConfigArgument.NATIVE.name),
    ("the script finds its own config", ConfigArgument.NONE.name),
]
_RECIPES = {"translation": "Bundled recipe: T5 learns to translate number words (needs no download)"}


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """`started` is the launch event; `run_id` then holds the run just started, "" if none was. `preview_on` shows the
    command anew when one of the given triggers fires."""

    started: Any
    run_id: gr.State
    preview_on: Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True)
class _Desk:
    """The page's inputs, in the order `_request` takes them."""

    what: gr.Radio
    script: gr.Textbox
    arguments: gr.Textbox
    reader: gr.Dropdown
    ranks: gr.Number
    gpus: gr.CheckboxGroup
    port: gr.Textbox
    directory: gr.Textbox
    name: gr.Textbox

    @property
    def inputs(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the desk's inputs hold, by the same names."""

    what: str
    script: str
    arguments: str
    reader: str
    ranks: float | None
    gpus: list[str]
    port: str
    directory: str
    name: str


def build_launch(services: Services, workbench: Workbench, configure: ConfigurePage, default_ranks: int) -> LaunchPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`, after the Configure page."""
    with gr.Row(elem_classes="ds-columns"):
        with gr.Column(scale=6, min_width=320):
            desk = _desk(services, default_ranks)
        with gr.Column(scale=5, min_width=320, elem_classes="ds-side"):
            verdict_line = gr.Markdown("", elem_id="launch-verdict")
            command = gr.Code(
                "",
                language="shell",
                label="The command, exactly as it will run",
                interactive=False,
                wrap_lines=True,
                lines=3,
                max_lines=10,
                elem_id="command",
                buttons=["copy"],
            )
            anyway = gr.Checkbox(False, label="Launch although DeepSpeed would refuse it", visible=False)
            launch = gr.Button("Launch", variant="primary", elem_id="launch", interactive=False)
            message = gr.Markdown("", elem_id="launch-message", elem_classes="ds-message")
    plan, run_id = gr.State(None), gr.State("")
    inputs = [configure.text, anyway, *configure.bar.inputs, *desk.inputs]
    outputs = [command, verdict_line, anyway, launch, plan]
    preview = _previewer(services, workbench, len(configure.bar.inputs))

    def preview_on(triggers: list[Any]) -> Any:
        return gr.on(triggers, preview, inputs, outputs, **LIVE)

    # Not when the config changes: that happens on another page, and opening this one asks anew.
    preview_on([component.change for component in (anyway, *desk.inputs)])
    _share_ranks(services.target(), desk.ranks, configure.bar.gpus)
    started = launch.click(
        _starter(services), [plan, configure.text], [run_id, message, plan, launch], **{**ONCE, "trigger_mode": "once"}
    )
    return LaunchPage(started, run_id, preview_on)


def _desk(services: Services, default_ranks: int) -> _Desk:
    target = services.target()
    recipes = [(_RECIPES.get(name, name), name) for name in services.recipes]
    what = gr.Radio(
        [*recipes, ("My own script", OWN_SCRIPT)], value=recipes[0][1], label="What to run", elem_id="what-to-run"
    )
    script = gr.Textbox(
        label="Script",
        placeholder="/path/to/train.py",
        visible=False,
        elem_id="script",
        info="A Python file on this machine.",
    )
    arguments = gr.Textbox(
        "",
        label="Arguments for the script",
        placeholder="--learning_rate 1e-4 --max_steps 500",
        info="As you would type them after the script's name. The config is added for you.",
        elem_id="arguments",
    )
    ranks = gr.Number(default_ranks, label=_ranks_label(target), precision=0, elem_id="ranks", visible=not target.gpus)
    gpus = gr.CheckboxGroup(
        [(_gpu_label(gpu.index, gpu.name, gpu.memory_bytes), str(gpu.index)) for gpu in target.gpus],
        value=[str(gpu.index) for gpu in target.gpus],
        label="GPUs",
        visible=bool(target.gpus),
        elem_id="gpu-list",
    )
    with gr.Accordion("More: how the config is passed, port, folder, name", open=False):
        reader = gr.Dropdown(_READERS, value=AS_CONFIGURED, label="How the script takes the config")
        port = gr.Textbox("", label="Master port", placeholder="a free one is chosen", elem_id="port")
        directory = gr.Textbox(
            "",
            label="Working directory",
            placeholder="the script's folder (a recipe: the run's own)",
            elem_id="directory",
        )
        name = gr.Textbox("", label="Name of the run", placeholder="the script's name", elem_id="run-name")
    what.change(lambda chosen: gr.Textbox(visible=chosen == OWN_SCRIPT), [what], [script], **ONCE)
    return _Desk(what, script, arguments, reader, ranks, gpus, port, directory, name)


def _ranks_label(target: Target) -> str:
    return "GPUs" if target.gpus else "CPU ranks (this machine has no GPU)"


def _gpu_label(index: int, name: str, memory_bytes: int | None) -> str:
    return f"{index}: {name}" + (f", {memory_bytes / (1 << 30):.0f} GiB" if memory_bytes else "")


def _previewer(services: Services, workbench: Workbench, bar_width: int) -> Callable[..., tuple[Any, ...]]:
    """The handler that turns what is on the page into a plan, or says what is missing."""

    def preview(text: str | None, accepted: bool, *values: Any) -> tuple[Any, ...]:
        bar, asked = values[:bar_width], _asked(values[bar_width:])
        ranks = _ranks(services.target(), asked)
        reader = Integration.HF.value if asked.what in services.recipes else bar[0]
        # What runs here is judged here, whatever Configure plans for.
        says, refused = _verdict(services, workbench, text or "", (reader, ranks, 1, THIS_MACHINE, ""))
        plan: Plan | None = None
        try:
            plan = services.runs.prepare(_request(services, text or "", asked, reader))
        except DsguiError as error:
            says = f"**{_markdown(str(error))}**"
        ready = plan is not None and (accepted or not refused)
        line = services.runs.shown_command(plan) if plan else ""
        return line, says, gr.Checkbox(visible=refused), gr.Button(interactive=ready), plan

    return preview


def _share_ranks(target: Target, ranks: gr.Number, gpus: gr.Number) -> None:
    """One number in two places: the config is checked for the ranks that will run it."""
    if target.gpus:
        return
    ranks.input(lambda value: value, [ranks], [gpus], **ONCE)
    gpus.change(lambda value: value, [gpus], [ranks], **ONCE)


def _verdict(services: Services, workbench: Workbench, text: str, bar: tuple[Any, ...]) -> tuple[str, bool]:
    """One line on the config at the ranks chosen here, and whether DeepSpeed would refuse it."""
    context = make_context(services.target(), *bar)
    try:
        findings = workbench.findings(text, context)
    except DocumentError as error:
        return f"**The config can’t be read.** {_markdown(str(error))} See Configure.", True
    found = verdict(findings)
    if any(f.severity.value == "error" for f in findings):
        return f"**DeepSpeed would refuse this config at {context.devices}: {found}.** See Configure.", True
    return f"The config from 1 · Configure, checked for {context.devices}: {found or 'nothing to report'}.", False


def _asked(values: tuple[Any, ...]) -> _Asked:
    """Gradio gives None for a text box that was never shown or filled."""
    given = _Asked(*values)
    return replace(
        given,
        script=given.script or "",
        arguments=given.arguments or "",
        gpus=given.gpus or [],
        port=given.port or "",
        directory=given.directory or "",
        name=given.name or "",
    )


def _request(services: Services, text: str, asked: _Asked, reader: str) -> LaunchRequest:
    recipe = services.recipes.get(asked.what)
    script = str(Path(asked.script.strip()).expanduser().absolute()) if asked.script.strip() else ""
    return LaunchRequest(
        name=asked.name.strip() or (asked.what if recipe else ""),
        script=str(recipe) if recipe else script,
        arguments=asked.arguments,
        ranks=_ranks(services.target(), asked),
        gpu_indices=tuple(sorted(int(index) for index in asked.gpus)),
        master_port=_port(asked.port.strip()),
        working_directory=asked.directory.strip() or ("" if recipe else str(Path(script).parent)),
        config_text=text,
        config_argument=ConfigArgument[_AS_READ[reader] if recipe or asked.reader == AS_CONFIGURED else asked.reader],
        target_python=services.target().python,
        environment={},
    )


def _port(typed: str) -> int | None:
    if typed and not (typed.isdecimal() and len(typed) <= 5):
        raise PlanError(f"Master port: “{typed}” is not a number. Give one from 1024 to 65535, or leave it empty.")
    return int(typed) if typed else None


def _ranks(target: Target, asked: _Asked) -> int:
    return len(asked.gpus) if target.gpus else int(asked.ranks or 0)


def _starter(services: Services) -> Callable[..., tuple[Any, ...]]:
    def start(plan: Plan | None, text: str | None) -> tuple[Any, ...]:
        if plan is None:
            return "", "Nothing to launch yet: see what the line above asks for.", None, gr.Button(interactive=False)
        try:
            run_id = services.runs.start(plan, text or "")
        except DsguiError as error:
            return "", f"**Not started.** {_markdown(str(error))}", plan, gr.Button(interactive=True)
        return run_id, f"Started run {run_id}.", None, gr.Button(interactive=False)

    return start


def _markdown(text: str) -> str:
    """Text with Markdown's and HTML's signs made harmless."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return text
