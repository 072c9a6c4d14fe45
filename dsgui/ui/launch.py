"""The Launch page: what runs, on what, the exact command, start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import gradio as gr

from dsgui.core.context import Context, Integration
from dsgui.core.errors import DocumentError, DsguiError, PlanError
from dsgui.core.findings import Finding
from dsgui.core.hardware import GIB, Gpu, Target
from dsgui.core.hostfile import Machines
from dsgui.core.plan import ConfigArgument, LaunchRequest, Plan, StartedBy, WhenBusy
from dsgui.core.planned import Launch
from dsgui.core.slurm import SlurmJob
from dsgui.core.variables import plain_and_secret
from dsgui.core.verdicts import Row, has_problem
from dsgui.ui.configure import ConfigurePage
from dsgui.ui.context_bar import THIS_MACHINE
from dsgui.ui.documents import read_document
from dsgui.ui.events import LIVE, ONCE
from dsgui.ui.findings_view import verdict
from dsgui.ui.preflight_view import preflight_html, rows_before_start
from dsgui.ui.services import Services
from dsgui.ui.several_machines import (
    HERE,
    SEVERAL,
    SLURM,
    SeveralMachines,
    build_several_machines,
    wire_several_machines,
)
from dsgui.ui.slurm_panel import build_slurm_panel, slurm_asked
from dsgui.ui.workbench import Workbench, make_context

OWN_SCRIPT = "own"
_SAVES = " --enable_jit_checkpoint True"
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
    command anew when one of the given triggers fires, `look_at_gpus_on` what is in use. `desk` and `message` are for
    who fills the page in; `typed` are what to run and the script's arguments."""

    started: Any
    run_id: gr.State
    preview_on: Callable[[list[Any]], Any]
    look_at_gpus_on: Callable[[Any], Any]
    desk: "_Desk"
    message: gr.Markdown
    typed: list[Any]


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
    started_by: gr.Dropdown
    when_busy: gr.Dropdown
    saves: gr.Checkbox
    environment: gr.Textbox
    where: gr.Radio
    hostfile: gr.Textbox
    include: gr.Textbox
    exclude: gr.Textbox
    master_addr: gr.Textbox
    slurm_nodes: gr.Number
    slurm_per_node: gr.Number
    slurm_on_cpu: gr.Checkbox
    slurm_partition: gr.Textbox
    slurm_time: gr.Textbox
    slurm_account: gr.Textbox
    slurm_options: gr.Textbox

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
    started_by: str
    when_busy: str
    saves: bool
    environment: str
    where: str | None
    hostfile: str
    include: str
    exclude: str
    master_addr: str
    slurm_nodes: float | None
    slurm_per_node: float | None
    slurm_on_cpu: bool
    slurm_partition: str
    slurm_time: str
    slurm_account: str
    slurm_options: str


def build_launch(services: Services, workbench: Workbench, configure: ConfigurePage, default_ranks: int) -> LaunchPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`, after the Configure page."""
    with gr.Row(elem_classes="ds-columns"):
        with gr.Column(scale=6, min_width=320):
            desk, several = _desk(services, default_ranks)
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
            checks = gr.HTML("", elem_id="preflight", apply_default_css=False, padding=False)
            anyway = gr.Checkbox(
                False, label="Launch although the checks say it would fail", visible=False, elem_id="although"
            )
            launch = gr.Button("Launch", variant="primary", elem_id="launch", interactive=False)
            message = gr.Markdown("", elem_id="launch-message", elem_classes="ds-message")
    plan, run_id = gr.State(None), gr.State("")
    inputs = [configure.text, configure.presets.chooser, anyway, *configure.bar.inputs, *desk.inputs]
    outputs = [command, verdict_line, checks, anyway, launch, plan]
    preview = _previewer(services, workbench, len(configure.bar.inputs))

    def preview_on(triggers: list[Any]) -> Any:
        return gr.on(triggers, preview, inputs, outputs, **LIVE)

    # Not when the config changes: that happens on another page, and opening this one asks anew.
    preview_on([component.change for component in (anyway, *desk.inputs)])
    _share_ranks(services.target(), desk.ranks, configure.bar.gpus)
    wire_several_machines(several, plan, services)
    started = launch.click(
        _starter(services),
        [plan, configure.text, desk.environment],
        [run_id, message, plan, launch],
        **{**ONCE, "trigger_mode": "once"},
    )
    return LaunchPage(
        started,
        run_id,
        preview_on,
        lambda event: _look_at_gpus(services, desk.gpus, event),
        desk,
        message,
        [desk.what, desk.arguments],
    )


def _desk(services: Services, default_ranks: int) -> tuple[_Desk, SeveralMachines]:
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
    several = build_several_machines()
    slurm = build_slurm_panel()
    ranks = gr.Number(default_ranks, label=_ranks_label(target), precision=0, elem_id="ranks", visible=not target.gpus)
    gpus = gr.CheckboxGroup(
        _gpu_choices(services),
        value=[str(gpu.index) for gpu in target.gpus],
        label="GPUs",
        visible=bool(target.gpus),
        elem_id="gpu-list",
    )
    saves = gr.Checkbox(
        False,
        label="Can save when it is stopped (adds --enable_jit_checkpoint True)",
        info="For scripts with the HF Trainer: “Save and stop” then writes a checkpoint first.",
        elem_id="saves",
    )
    with gr.Accordion("More: launcher, queue, environment, port, folder, name", open=False):
        started_by = gr.Dropdown(
            [("deepspeed", StartedBy.DEEPSPEED.name), ("torchrun", StartedBy.TORCHRUN.name)],
            value=StartedBy.DEEPSPEED.name,
            label="Launcher",
            elem_id="started-by",
        )
        when_busy = gr.Dropdown(
            [(choice.value, choice.name) for choice in WhenBusy],
            value=(WhenBusy.WAIT if target.gpus else WhenBusy.START).name,
            label="If another run uses these GPUs" if target.gpus else "If another run trains here",
            elem_id="when-busy",
        )
        environment = gr.Textbox(
            "",
            lines=2,
            label="Environment variables",
            placeholder="NAME=value, one a line",
            info="Added to dsgui’s own. Values of secrets (HF_TOKEN, WANDB_API_KEY …) are handed on and kept nowhere.",
            elem_id="environment",
        )
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

    def shows(where: str) -> tuple[Any, ...]:
        here = where == HERE
        return (
            gr.Column(visible=where == SEVERAL),
            gr.Column(visible=where == SLURM),
            gr.Number(visible=here and not target.gpus),
            gr.CheckboxGroup(visible=here and bool(target.gpus)),
        )

    several.where.change(shows, [several.where], [several.panel, slurm.panel, ranks, gpus], **ONCE)
    desk = _Desk(
        what=what,
        script=script,
        arguments=arguments,
        reader=reader,
        ranks=ranks,
        gpus=gpus,
        port=port,
        directory=directory,
        name=name,
        started_by=started_by,
        when_busy=when_busy,
        saves=saves,
        environment=environment,
        where=several.where,
        hostfile=several.hostfile,
        include=several.include,
        exclude=several.exclude,
        master_addr=several.master_addr,
        slurm_nodes=slurm.nodes,
        slurm_per_node=slurm.per_node,
        slurm_on_cpu=slurm.on_cpu,
        slurm_partition=slurm.partition,
        slurm_time=slurm.time,
        slurm_account=slurm.account,
        slurm_options=slurm.options,
    )
    return desk, several


def _ranks_label(target: Target) -> str:
    return "GPUs" if target.gpus else "CPU ranks (this machine has no GPU)"


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
    total = f"{gpu.memory_bytes / GIB:.0f} GiB" if gpu.memory_bytes else ""
    memory = f"{used_bytes / GIB:.0f} of {total} in use" if total and used_bytes is not None else total
    by = f"by run {', '.join(f'“{name}”' for name in runs)}" if runs else ""
    return ", ".join(filter(None, (f"{gpu.index}: {gpu.name}", memory, by)))


def _previewer(services: Services, workbench: Workbench, bar_width: int) -> Callable[..., tuple[Any, ...]]:
    """The handler that turns what is on the page into a plan, or says what is missing."""

    def preview(text: str | None, preset: str | None, accepted: bool, *values: Any) -> tuple[Any, ...]:
        bar, asked = values[:bar_width], _asked(values[bar_width:])
        reader = Integration.HF.value if asked.what in services.recipes else bar[0]
        says, refused, plan = "", False, None
        rows: tuple[Row, ...] = ()
        try:
            plan = services.runs.prepare(_request(services, text or "", asked, reader, _preset(services, preset, text)))
            # What runs here is judged here, whatever Configure plans for.
            device = bar[3] if plan.machines or plan.slurm else THIS_MACHINE
            context = make_context(services.target(), reader, plan.ranks // plan.nodes, plan.nodes, device, "")
            says, refused, config, findings = _verdict(workbench, text or "", context)
            rows = rows_before_start(services, plan, Launch.of(plan, config, findings, context.devices))
        except DsguiError as error:
            says = f"**{_markdown(str(error))}**"
        refused = refused or has_problem(rows)
        ready = plan is not None and (accepted or not refused)
        line = services.runs.shown_command(plan) if plan else ""
        # What was accepted once is not accepted for the next problem.
        tick = gr.Checkbox(visible=True) if refused else gr.Checkbox(False, visible=False)
        return line, says, preflight_html(rows), tick, gr.Button(interactive=ready), plan

    return preview


def _look_at_gpus(services: Services, gpus: gr.CheckboxGroup, event: Any) -> Any:
    if not services.target().gpus:
        return None
    return event(lambda: gr.CheckboxGroup(choices=_gpu_choices(services)), None, [gpus], **ONCE)


def _share_ranks(target: Target, ranks: gr.Number, gpus: gr.Number) -> None:
    """One number in two places: the config is checked for the ranks that will run it."""
    if target.gpus:
        return
    ranks.input(lambda value: value, [ranks], [gpus], **ONCE)
    gpus.change(lambda value: value, [gpus], [ranks], **ONCE)


def _verdict(
    workbench: Workbench, text: str, context: Context
) -> tuple[str, bool, dict[str, Any], tuple[Finding, ...]]:
    """One line on the config at the ranks chosen here, whether DeepSpeed would refuse it, its value, its findings."""
    try:
        config, findings = read_document(text).value, tuple(workbench.findings(text, context))
    except DocumentError as error:
        return f"**The config can’t be read.** {_markdown(str(error))} See Configure.", True, {}, ()
    found = verdict(findings)
    if any(f.severity.value == "error" for f in findings):
        says = f"**DeepSpeed would refuse this config at {context.devices}: {found}.** See Configure."
        return says, True, config, findings
    says = f"The config from 1 · Configure, checked for {context.devices}: {found or 'nothing to report'}."
    return says, False, config, findings


def _asked(values: tuple[Any, ...]) -> _Asked:
    """Gradio gives None for a text box that was never shown or filled."""
    empty: dict[str, Any] = {"gpus": []} | {field.name: "" for field in fields(_Asked) if field.type is str}
    pairs = zip((field.name for field in fields(_Asked)), values, strict=True)
    given: dict[str, Any] = {name: empty.get(name) if value is None else value for name, value in pairs}
    return _Asked(**given)


def _preset(services: Services, id: str | None, text: str | None) -> str:
    """The preset the config began as, for the list of runs; said to be edited where the text is another by now."""
    chosen = next((preset for preset in services.all_presets() if preset.id == id), None)
    if chosen is None:
        return ""
    return chosen.id if chosen.text.strip() == (text or "").strip() else f"{chosen.id} (edited)"


def _request(services: Services, text: str, asked: _Asked, reader: str, preset: str) -> LaunchRequest:
    recipe = services.recipes.get(asked.what)
    script = str(Path(asked.script.strip()).expanduser().absolute()) if asked.script.strip() else ""
    variables, secrets = plain_and_secret(asked.environment)
    machines, slurm = _elsewhere(asked)
    return LaunchRequest(
        name=asked.name.strip() or (asked.what if recipe else ""),
        script=str(recipe) if recipe else script,
        arguments=asked.arguments + (_SAVES if asked.saves else ""),
        ranks=_ranks(services.target(), asked),
        gpu_indices=() if machines or slurm else tuple(sorted(int(index) for index in asked.gpus)),
        master_port=_port(asked.port.strip()),
        working_directory=asked.directory.strip() or ("" if recipe else str(Path(script).parent)),
        config_text=text,
        config_argument=ConfigArgument[_AS_READ[reader] if recipe or asked.reader == AS_CONFIGURED else asked.reader],
        target_python=services.target().python,
        environment=variables,
        started_by=StartedBy[asked.started_by],
        when_busy=WhenBusy[asked.when_busy],
        secrets=secrets,
        preset=preset,
        machines=machines,
        slurm=slurm,
    )


def _elsewhere(asked: _Asked) -> tuple[Machines | None, SlurmJob | None]:
    """Both None for this machine alone. Raises `PlanError`."""
    if asked.where == SEVERAL:
        return Machines(asked.hostfile, asked.include, asked.exclude, asked.master_addr), None
    if asked.where == SLURM:
        words = (asked.slurm_partition, asked.slurm_time, asked.slurm_account, asked.slurm_options)
        return None, slurm_asked(asked.slurm_nodes, asked.slurm_per_node, asked.slurm_on_cpu, *words)
    if asked.where not in (HERE, None):
        raise PlanError(f"Where it trains: “{asked.where[:40]}” is not offered. Choose one of the list.")
    return None, None


def _port(typed: str) -> int | None:
    if typed and not (typed.isdecimal() and len(typed) <= 5):
        raise PlanError(f"Master port: “{typed}” is not a number. Give one from 1024 to 65535, or leave it empty.")
    return int(typed) if typed else None


def _ranks(target: Target, asked: _Asked) -> int:
    return len(asked.gpus) if target.gpus else int(asked.ranks or 0)


def _starter(services: Services) -> Callable[..., tuple[Any, ...]]:
    def start(plan: Plan | None, text: str | None, variables: str | None) -> tuple[Any, ...]:
        if plan is None:
            return "", "Nothing to launch yet: see what the line above asks for.", None, gr.Button(interactive=False)
        try:
            _, secrets = plain_and_secret(variables or "")
            run_id = services.runs.start(plan, text or "", secrets)
        except DsguiError as error:
            return "", f"**Not started.** {_markdown(str(error))}", plan, gr.Button(interactive=True)
        return run_id, f"Started run {run_id}.", None, gr.Button(interactive=False)

    return start


def _markdown(text: str) -> str:
    """Text with Markdown's and HTML's signs made harmless."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return text
