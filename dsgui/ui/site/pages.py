"""The whole app as one `gr.Blocks`: four tabs, and what leads from one to the next."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from dsgui.core.machine.hardware import Target
from dsgui.core.texts.languages import LANGUAGES, spoken
from dsgui.core.texts.saying import listed, words
from dsgui.ui.common.embedded import in_browser
from dsgui.ui.common.events import LOCAL, ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage, build_configure, recall_on_load
from dsgui.ui.config.goal import build_goal, wire_goal
from dsgui.ui.config.memory_asking import end_with_page
from dsgui.ui.config.memory_change import wire_applied
from dsgui.ui.config.presets import refreshed
from dsgui.ui.config.toolbox import Toolbox
from dsgui.ui.config.workbench import Workbench
from dsgui.ui.launch.as_planned import keep_over_reload, wire_own_script, wire_recipe
from dsgui.ui.launch.imported_run import wire_imported_run
from dsgui.ui.launch.launch_page import LaunchPage, build_launch
from dsgui.ui.launch.recipe_preset import wire_recipe_preset
from dsgui.ui.launch.trials import wire_trials
from dsgui.ui.learn.learn_panel import build_learn, wire_learn
from dsgui.ui.machine.machine_page import build_machine
from dsgui.ui.preflight.preflight_view import machine_told
from dsgui.ui.runs.again import wire_again
from dsgui.ui.runs.runs_page import build_runs
from dsgui.ui.site.by_language import Pages

STATIC = Path(__file__).parents[1] / "static"
_PROBE_POLL_S = 1.0  # until the accelerator has answered
# The other box stays as it is: what it held when this was asked may be older.
_STAYS = '({__type__: "update"})'
_IF_TYPED = f'(shown) => document.activeElement?.closest("#training-arguments") ? shown : {_STAYS}'
_UNLESS_TYPED = f'(typed) => document.activeElement?.closest("#training-arguments") ? {_STAYS} : typed'


def build_pages(services: Services) -> Pages:
    """The Blocks of the app. Nothing in it starts a process or keeps state between requests but Gradio's own."""
    workbench = Workbench(services.checker, services.oracle.cached)
    toolbox = Toolbox(services.checker, services.all_presets)
    ranks = default_ranks(services.target())

    def lay_out(demo: gr.Blocks) -> None:
        header = gr.HTML(_header(services), elem_id="header")
        _follow_probe(services, header, lambda: _header(services))
        learn = build_learn()
        with gr.Tabs(selected="configure", elem_id="pages") as tabs:
            with gr.Tab(words("site_page", "tab_configure"), id="configure"):
                goal = build_goal(services, ranks)
                configure = build_configure(services, workbench, toolbox, ranks)
                probed = gr.Checkbox(False, visible=False)
                _follow_probe(services, probed, lambda: True)
                _keep_in_step(configure, probed)
            with gr.Tab(words("site_page", "tab_launch"), id="launch") as launch_tab:
                launch = build_launch(services, workbench, configure, ranks)
            with gr.Tab(words("site_page", "tab_runs"), id="runs"):
                runs = build_runs(services)
            with gr.Tab(words("site_page", "tab_machine"), id="machine") as machine_tab:
                build_machine(services, machine_tab)
        launch.started.then(_show_run, [launch.run_id], [tabs, runs.monitor], **ONCE)
        filled = gr.State(0)
        used = wire_goal(goal, configure, launch.desk["arguments"], services)
        wire_again(runs, configure, launch, tabs, services, filled)
        wire_trials(configure, launch.desk, services, workbench)
        wire_recipe_preset(configure, launch, services, filled, [launch_tab.select, filled.change])
        wire_imported_run(configure, launch, services, filled)
        wire_learn(learn, configure, launch, tabs, services, filled)
        told = machine_told(services, launch_tab).change
        launch.preview_on([demo.load, launch_tab.select, filled.change, told])
        launch.look_at_gpus_on(launch_tab.select)
        launch.look_whether_changed_on([launch_tab.select, filled.change])
        _share_arguments(configure, launch)
        panels = [configure.memory.panel, configure.ladder]
        page = (configure.text, configure.form, configure.bar)
        wire_applied(panels, configure.memory, page, launch.desk["arguments"])
        demo.load(None, None, None, js=in_browser("site/visits", "begin"), **LOCAL)
        demo.load(None, None, None, js=in_browser("site/language", "begin"), **LOCAL)
        demo.load(None, None, None, js=in_browser("site/keyboard", "begin"), **LOCAL)
        demo.load(None, None, None, js=in_browser("common/browse", "begin"), **LOCAL)
        demo.load(None, None, None, js=in_browser("launch/as_planned", "begin"), **LOCAL)
        demo.load(None, None, None, js=in_browser("metrics/plotly_library", "fetchAhead"), **LOCAL)
        recalled = recall_on_load(configure, launch.desk["arguments"], demo)
        wire_recipe(launch.desk, configure.bar)
        wire_own_script(launch.desk, used.then, recalled.then)
        keep_over_reload(launch.desk, recalled.then)
        end_with_page(demo, services)
        demo.load(lambda: refreshed(services), None, [configure.presets.chooser], **ONCE)
        configure.onward.click(lambda: gr.Tabs(selected="launch"), None, [tabs], **ONCE)

    return Pages(lay_out, analytics_enabled=False, title="dsgui", fill_width=True)


def _keep_in_step(configure: ConfigurePage, probed: gr.Checkbox) -> None:
    """Before anything of 2 · Launch is wired: Gradio runs an event's listeners one after another, each to its answer,
    and the command takes longer than the bars."""
    asked_else = [
        configure.presets.chooser.change,
        *configure.bar.changes,
        *configure.tools.changes,
        *configure.memory.changes,
    ]
    changes = [*asked_else, configure.files.came.change, configure.ask.answered.change, probed.change]
    configure.synchronise_on([configure.form.edit, configure.text.input, *changes])


def _share_arguments(configure: ConfigurePage, launch: LaunchPage) -> None:
    """The script's arguments are one text on two pages. Nothing goes back into the box that somebody types in."""
    typed, shown = launch.desk["arguments"], configure.tools.arguments
    typed.change(None, [typed], [shown], js=_UNLESS_TYPED, **LOCAL)
    # Not `input`: a box that was hidden at first has no such event.
    shown.change(None, [shown], [typed], js=_IF_TYPED, **LOCAL)
    typed.change(lambda words: words or "", [typed], [configure.memory.script], **ONCE)


def default_ranks(target: Target) -> int:
    """Every GPU of this machine; two CPU ranks where there is none."""
    return len(target.gpus) or 2


def _show_run(run_id: str) -> tuple[Any, Any]:
    if not run_id:
        return gr.skip(), gr.skip()
    return gr.Tabs(selected="runs"), run_id


def _follow_probe(services: Services, told: gr.HTML | gr.Checkbox, value: Callable[[], Any]) -> None:
    """Asks until the accelerator has answered; `told`, beside which it stands, then gets the `value`. A timer begins
    when its tab is opened first."""
    timer = gr.Timer(_PROBE_POLL_S)

    def follow() -> tuple[Any, Any]:
        complete = services.target_complete()
        return (value() if complete else gr.skip()), gr.Timer(active=not complete)

    timer.tick(follow, None, [told, timer], **ONCE)


def _header(services: Services) -> str:
    target = services.target()
    device = str(listed(dict.fromkeys(gpu.name for gpu in target.gpus))) or words("site_page", "cpu_only")
    versions = [f"{name} {target.version(package)}" for package, name in _SHOWN if target.version(package)]
    parts = [*versions[:1], _dtypes(device, target)]
    missing = "" if target.version("deepspeed") else words("site_page", "no_deepspeed")
    problem = f'<p class="ds-problem">{escape(target.problem or missing)}</p>' if target.problem or missing else ""
    told = " · ".join(parts)
    all_of_it = " · ".join([*parts, *versions[1:], f"Python {target.python_version}"]) + f"\n{target.python}"
    return (
        f'<div class="ds-header"><h1>dsgui</h1>'
        f'<p class="ds-target" title="{escape(all_of_it)}">{escape(told)}</p>'
        f"{_keys()}{_learn()}{_switch()}{problem}</div>"
    )


def _switch() -> str:
    """A button for each language; static/site/language.js listens."""
    buttons = "".join(
        f'<button type="button" lang="{tag}" data-speak="{tag}" aria-pressed="{str(tag == spoken()).lower()}">'
        f"{name}</button>"
        for tag, name in LANGUAGES.items()
    )
    label = escape(words("site_page", "language"))
    return f'<div class="ds-languages" role="group" aria-label="{label}">{buttons}</div>'


def _keys() -> str:
    """Opens the list of keyboard shortcuts; static/site/keyboard.js listens."""
    told = escape(words("keyboard_page", "title"))
    return (
        f'<button type="button" class="ds-to-learn ds-to-keys" data-keys title="{told}" aria-label="{told}">?</button>'
    )


def _learn() -> str:
    """Opens the drawer of tutorials; static/learn/learn_door.js listens."""
    return (
        f'<button type="button" class="ds-to-learn" id="learn-open" data-learn>{words("site_page", "learn")}</button>'
    )


_SHOWN = (("deepspeed", "DeepSpeed"), ("torch", "torch"), ("transformers", "transformers"))


def _dtypes(device: str, target: Target) -> str:
    if target.accelerator is None:
        return words("site_page", "asking_accelerator", device=device) if not target.problem else device
    has = {"bf16": target.bf16, "fp16": target.fp16}
    have = [words("site_page", "has_dtype", dtype=name) for name, it in has.items() if it]
    lack = [words("site_page", "no_dtype", dtype=name) for name, it in has.items() if it is False]
    return words("site_page", "dtypes", device=device, dtypes=str(listed([*have, *lack])))
