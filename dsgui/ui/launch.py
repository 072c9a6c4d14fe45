"""The Launch page: what runs, on what, the exact command, start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.context import Context, Integration
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.findings import Finding, refuser
from dsgui.core.plan import Plan
from dsgui.core.planned import Launch
from dsgui.core.variables import plain_and_secret
from dsgui.core.verdicts import Row, has_problem
from dsgui.ui.configure import ConfigurePage
from dsgui.ui.context_bar import THIS_MACHINE
from dsgui.ui.desk import Desk, build_desk, look_at_gpus, share_ranks
from dsgui.ui.documents import read_document
from dsgui.ui.escaping import plain
from dsgui.ui.events import LIVE, ONCE
from dsgui.ui.findings_view import verdict
from dsgui.ui.launch_request import asked_of, preset_of, request_of
from dsgui.ui.preflight_view import preflight_html, rows_before_start
from dsgui.ui.services import Services
from dsgui.ui.several_machines import (
    wire_several_machines,
)
from dsgui.ui.workbench import Workbench, make_context


@dataclass(frozen=True, slots=True)
class LaunchPage:
    """`started` is the launch event; `run_id` then holds the run just started, "" if none was. `preview_on` shows the
    command anew when one of the given triggers fires, `look_at_gpus_on` what is in use. `desk` and `message` are for
    who fills the page in; `typed` are what to run and the script's arguments."""

    started: Any
    run_id: gr.State
    preview_on: Callable[[list[Any]], Any]
    look_at_gpus_on: Callable[[Any], Any]
    desk: Desk
    message: gr.Markdown
    typed: list[Any]


def build_launch(services: Services, workbench: Workbench, configure: ConfigurePage, default_ranks: int) -> LaunchPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`, after the Configure page."""
    with gr.Row(elem_classes="ds-columns"):
        with gr.Column(scale=6, min_width=320):
            desk, several = build_desk(services, default_ranks)
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
    share_ranks(services.target(), desk.ranks, configure.bar.gpus)
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
        lambda event: look_at_gpus(services, desk.gpus, event),
        desk,
        message,
        [desk.what, desk.arguments],
    )


def _previewer(services: Services, workbench: Workbench, bar_width: int) -> Callable[..., tuple[Any, ...]]:
    """The handler that turns what is on the page into a plan, or says what is missing."""

    def preview(text: str | None, preset: str | None, accepted: bool, *values: Any) -> tuple[Any, ...]:
        bar, asked = values[:bar_width], asked_of(values[bar_width:])
        reader = Integration.HF.value if asked.what in services.recipes else bar[0]
        says, refused, plan = "", False, None
        rows: tuple[Row, ...] = ()
        try:
            plan = services.runs.prepare(
                request_of(services, text or "", asked, reader, preset_of(services, preset, text))
            )
            # What runs here is judged here, whatever Configure plans for.
            device = bar[3] if plan.machines or plan.slurm else THIS_MACHINE
            context = make_context(services.target(), reader, plan.ranks // plan.nodes, plan.nodes, device, "")
            says, refused, config, findings = _verdict(workbench, text or "", context)
            rows = rows_before_start(services, plan, Launch.of(plan, config, findings, context.devices))
        except DsguiError as error:
            says = f"**{plain(str(error))}**"
        refused = refused or has_problem(rows)
        ready = plan is not None and (accepted or not refused)
        line = services.runs.shown_command(plan) if plan else ""
        # What was accepted once is not accepted for the next problem.
        tick = gr.Checkbox(visible=True) if refused else gr.Checkbox(False, visible=False)
        return line, says, preflight_html(rows), tick, gr.Button(interactive=ready), plan

    return preview


def _verdict(
    workbench: Workbench, text: str, context: Context
) -> tuple[str, bool, dict[str, Any], tuple[Finding, ...]]:
    """One line on the config at the ranks chosen here, whether DeepSpeed would refuse it, its value, its findings."""
    try:
        config, findings = read_document(text).value, tuple(workbench.findings(text, context))
    except DocumentError as error:
        return f"**The config can’t be read.** {plain(str(error))} See Configure.", True, {}, ()
    found = verdict(findings)
    if any(f.severity.value == "error" for f in findings):
        says = f"**{refuser(findings)} would refuse this config at {context.devices}: {found}.** See Configure."
        return says, True, config, findings
    says = f"The config from 1 · Configure, checked for {context.devices}: {found or 'nothing to report'}."
    return says, False, config, findings


def _starter(services: Services) -> Callable[..., tuple[Any, ...]]:
    def start(plan: Plan | None, text: str | None, variables: str | None) -> tuple[Any, ...]:
        if plan is None:
            return "", "Nothing to launch yet: see what the line above asks for.", None, gr.Button(interactive=False)
        try:
            _, secrets = plain_and_secret(variables or "")
            run_id = services.runs.start(plan, text or "", secrets)
        except DsguiError as error:
            return "", f"**Not started.** {plain(str(error))}", plan, gr.Button(interactive=True)
        return run_id, f"Started run {run_id}.", None, gr.Button(interactive=False)

    return start
