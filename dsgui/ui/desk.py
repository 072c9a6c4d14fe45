"""The Launch page's inputs: what runs, on what, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr

from dsgui.core.hardware import GIB, Gpu, Target
from dsgui.core.plan import AS_SCRIPT_READS, PLACEHOLDER, ConfigArgument, StartedBy, WhenBusy
from dsgui.ui.events import ONCE
from dsgui.ui.services import Services
from dsgui.ui.several_machines import (
    HERE,
    SEVERAL,
    SLURM,
    SeveralMachines,
    build_several_machines,
)
from dsgui.ui.slurm_panel import build_slurm_panel

OWN_SCRIPT = "own"
_READERS = [
    ("As the script reads it", AS_SCRIPT_READS),
    ("--deepspeed FILE (HF Trainer)", ConfigArgument.HF.name),
    ("--deepspeed --deepspeed_config FILE (native)", ConfigArgument.NATIVE.name),
    ("deepspeed=FILE (LLaMA-Factory with a YAML file)", ConfigArgument.OVERRIDE.name),
    ("Environment, as “accelerate launch” sets it", ConfigArgument.ACCELERATE.name),
    ("Environment, as Lightning reads it", ConfigArgument.LIGHTNING.name),
    ("The script reads its own config (HF Trainer or accelerate)", ConfigArgument.TRAINER.name),
    ("The script reads its own config (native DeepSpeed)", ConfigArgument.NONE.name),
]
_RECIPES = {"translation": "Bundled recipe: T5 learns to translate number words (needs no download)"}


@dataclass(frozen=True, slots=True)
class Desk:
    """The page's inputs, in the order `request_of` takes them."""

    what: gr.Radio
    script: gr.Textbox
    arguments: gr.Textbox
    reader: gr.Dropdown
    ranks: gr.Number
    gpus: gr.CheckboxGroup
    port: gr.Textbox
    directory: gr.Textbox
    output: gr.Textbox
    name: gr.Textbox
    started_by: gr.Dropdown
    when_busy: gr.Dropdown
    saves: gr.Checkbox
    logs: gr.Checkbox
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
    parent: gr.State

    @property
    def inputs(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


def build_desk(services: Services, default_ranks: int) -> tuple[Desk, SeveralMachines]:
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
    reader = gr.Dropdown(
        _READERS,
        value=AS_SCRIPT_READS,
        label="How the script takes the config",
        info=f"Its source is looked at. {PLACEHOLDER} among the arguments stands for the config’s path.",
        visible=False,
        elem_id="reader",
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
    logs = gr.Checkbox(
        True,
        label="Log every 10 steps (adds --logging_steps 10)",
        info="The HF Trainer logs every 500 steps otherwise: a short run would show no curve.",
        elem_id="logs",
        visible=False,
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
            value=WhenBusy.usual(bool(target.gpus)).name,
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
        port = gr.Textbox("", label="Master port", placeholder="a free one is chosen", elem_id="port")
        directory = gr.Textbox(
            "",
            label="Working directory",
            placeholder="the script's folder (a recipe: the run's own)",
            elem_id="directory",
        )
        output = gr.Textbox(
            "",
            label="Output directory",
            placeholder="as the arguments say, else the script's own",
            info="Given to the script as --output_dir, in place of one among its arguments.",
            elem_id="output-dir",
        )
        name = gr.Textbox("", label="Name of the run", placeholder="the script's name", elem_id="run-name")
    what.change(_for_own_script, [what], [script, reader], **ONCE)

    def shows(where: str) -> tuple[Any, ...]:
        here = where == HERE
        return (
            gr.Column(visible=where == SEVERAL),
            gr.Column(visible=where == SLURM),
            gr.Number(visible=here and not target.gpus),
            gr.CheckboxGroup(visible=here and bool(target.gpus)),
            gr.Dropdown(value=WhenBusy.usual(bool(target.gpus) or where == SEVERAL).name),
        )

    several.where.change(shows, [several.where], [several.panel, slurm.panel, ranks, gpus, when_busy], **ONCE)
    desk = Desk(
        what=what,
        script=script,
        arguments=arguments,
        reader=reader,
        ranks=ranks,
        gpus=gpus,
        port=port,
        directory=directory,
        output=output,
        name=name,
        started_by=started_by,
        when_busy=when_busy,
        saves=saves,
        logs=logs,
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
        parent=gr.State(""),
    )
    return desk, several


def _for_own_script(chosen: str) -> tuple[gr.Textbox, gr.Dropdown]:
    own = chosen == OWN_SCRIPT
    return gr.Textbox(visible=own), gr.Dropdown(visible=own)


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


def look_at_gpus(services: Services, gpus: gr.CheckboxGroup, event: Any) -> Any:
    if not services.target().gpus:
        return None
    return event(lambda: gr.CheckboxGroup(choices=_gpu_choices(services)), None, [gpus], **ONCE)


def share_ranks(target: Target, ranks: gr.Number, gpus: gr.Number) -> None:
    """One number in two places: the config is checked for the ranks that will run it."""
    if target.gpus:
        return
    ranks.input(lambda value: value, [ranks], [gpus], **ONCE)
    gpus.change(lambda value: value, [gpus], [ranks], **ONCE)
