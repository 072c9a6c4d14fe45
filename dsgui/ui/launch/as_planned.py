"""Nodes and GPUs per node on 2 · Launch start as 1 · Configure plans them, and stay the user's once they are changed;
where the two differ, a sentence says so, and a button takes the plan's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.errors import DocumentError
from dsgui.core.launch.hostfile import hostfile_for
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Here, Place
from dsgui.core.machine.hardware import Target
from dsgui.core.texts.saying import words
from dsgui.core.validation.resolve import global_batch
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.embedded import in_browser
from dsgui.ui.common.events import LOCAL, ONCE
from dsgui.ui.config.context_bar import ContextBar
from dsgui.ui.config.workbench import MAX_RANKS
from dsgui.ui.launch.desk import Desk

_MOST_HOSTS = 64  # of a template


@dataclass(frozen=True, slots=True)
class Differs:
    """What is said of it, and what the button says; both "" where the run is as planned."""

    says: str = ""
    offers: str = ""


def compared(text: str, planned: Context, chosen: Context, place: Place, gpus_here: int) -> Differs:
    """The run against the plan, with the batch size of each."""
    if (planned.nodes, planned.gpus_per_node) == (chosen.nodes, chosen.gpus_per_node):
        return Differs()
    given = {"planned": planned.devices, "chosen": chosen.devices}
    first, second = _batch(text, planned), _batch(text, chosen)
    offers = ""
    if not place.ON_THIS_MACHINE or (planned.nodes == 1 and planned.gpus_per_node <= gpus_here):
        offers = words("launch_page", "take_plan", planned=planned.devices)
    if not first or not second or first == second:
        return Differs(words("launch_page", "counts_differ", **given), offers)
    return Differs(words("launch_page", "batches_differ", **given, planned_batch=first, chosen_batch=second), offers)


def _batch(text: str, context: Context) -> str:
    """What `train_batch_size` becomes; "" where only a script knows."""
    try:
        size = global_batch(read_document(text).value, context)
    except DocumentError:
        return ""
    return "" if size is None else f"{size:,}"


def wire_as_planned(desk: Desk, bar: ContextBar, take: gr.Button, target: Target) -> None:
    """What is chosen for Slurm follows the plan until somebody chooses otherwise, as does the hostfile's template;
    `take` sets what the place chosen has to the plan's."""
    nodes, per_node, hostfile = (desk[name] for name in ("slurm_nodes", "slurm_per_node", "hostfile"))

    def template(nodes: float | None, gpus: float | None) -> gr.Textbox:
        return gr.Textbox(placeholder=hostfile_for("", min(as_count(nodes), _MOST_HOSTS), as_count(gpus)).strip())

    def taken(nodes: float | None, gpus: float | None, where: str, named: str | None, chosen: Sequence[str]) -> Any:
        planned = as_count(nodes), as_count(gpus)
        slurm = planned if where == SlurmJob.NAME else (gr.skip(), gr.skip())
        hosts = hostfile_for(named or "", *planned) if where == Machines.NAME else gr.skip()
        here = _chosen(target, chosen, planned[1]) if where == Here.NAME else gr.skip()
        return *slurm, hosts, here

    plan, planned = [bar.nodes, bar.gpus], [bar.nodes.change, bar.gpus.change]
    gr.on(planned, None, plan, [nodes, per_node], js=in_browser("as_planned", "follow", MAX_RANKS), **LOCAL)
    gr.on(planned, template, plan, [hostfile], **ONCE)
    asked = [*plan, desk["where"], hostfile, desk["gpus"]]
    take.click(taken, asked, [nodes, per_node, hostfile, desk["gpus"]], **ONCE)


def as_count(value: float | None) -> int:
    """What is empty or out of range counts as 1."""
    return min(max(int(value or 1), 1), MAX_RANKS)


def _chosen(target: Target, chosen: Sequence[str], count: int) -> list[str]:
    """That many of this machine's GPUs, those chosen already first."""
    known = [str(gpu.index) for gpu in target.gpus]
    return sorted([*(one for one in known if one in chosen), *(one for one in known if one not in chosen)][:count])
