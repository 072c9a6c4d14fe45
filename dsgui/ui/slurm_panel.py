"""The Launch page's part on Slurm: what is asked of it."""

from dataclasses import dataclass

import gradio as gr

from dsgui.core.slurm import SlurmJob


@dataclass(frozen=True, slots=True)
class SlurmPanel:
    """The inputs, in the order `slurm_asked` takes them, and the panel they are in."""

    nodes: gr.Number
    per_node: gr.Number
    on_cpu: gr.Checkbox
    partition: gr.Textbox
    time: gr.Textbox
    account: gr.Textbox
    options: gr.Textbox
    panel: gr.Column


def build_slurm_panel() -> SlurmPanel:
    """Must be called inside a `gr.Blocks`."""
    with gr.Column(visible=False) as panel:
        with gr.Row():
            nodes = gr.Number(1, label="Nodes", precision=0, min_width=120, elem_id="slurm-nodes")
            per_node = gr.Number(1, label="GPUs per node", precision=0, min_width=120, elem_id="slurm-per-node")
            time = gr.Textbox("", label="Time limit", placeholder="2-12:00:00", min_width=120, elem_id="slurm-time")
        with gr.Row():
            partition = gr.Textbox(
                "", label="Partition", placeholder="Slurm’s default", min_width=120, elem_id="slurm-partition"
            )
            account = gr.Textbox("", label="Account", placeholder="yours", min_width=120, elem_id="slurm-account")
        on_cpu = gr.Checkbox(False, label="No GPUs: that many ranks on each node’s CPU", elem_id="slurm-on-cpu")
        options = gr.Textbox(
            "",
            label="Further options of sbatch",
            placeholder="--qos=high",
            info="One a line. Submitted from this machine with sbatch; script, data and Python lie on a shared disk.",
            lines=2,
            elem_id="slurm-options",
        )
    return SlurmPanel(nodes, per_node, on_cpu, partition, time, account, options, panel)


def slurm_asked(
    nodes: float | None,
    per_node: float | None,
    on_cpu: bool,
    partition: str,
    time: str,
    account: str,
    options: str,
) -> SlurmJob:
    """What the panel's inputs hold; whether that can be asked is for the plan to say."""
    words = (partition.strip(), time.strip(), account.strip(), options)
    return SlurmJob(int(nodes or 0), int(per_node or 0), bool(on_cpu), *words)
