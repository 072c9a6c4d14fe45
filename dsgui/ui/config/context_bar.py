"""The bar above the pages' work: what a config is checked against."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.config.context import LATEST_KNOWN, RELEASES, Integration
from dsgui.core.machine.hardware import CARDS, Target

THIS_MACHINE = "this"


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

    @property
    def changes(self) -> list[Any]:
        """The events that make a check out of date."""
        return [component.change for component in self.inputs]


def build_context_bar(target: Target, integration: Integration, default_ranks: int) -> ContextBar:
    """Must be called inside a `gr.Blocks`."""
    readers = [("HF Trainer", Integration.HF.value), ("native DeepSpeed", Integration.NATIVE.value)]
    ranks = "GPUs per node" if target.gpus else "GPUs (here: CPU ranks) per node"
    with gr.Row(elem_classes="ds-context"):
        return ContextBar(
            gr.Dropdown(readers, value=integration.value, label="Framework", elem_id="integration", min_width=150),
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
    here = f"{installed} (installed)" if installed else f"{LATEST_KNOWN} (none installed)"
    return [(here, ""), *((f"Plan for {v}", v) for v in reversed(RELEASES) if v != installed)]
