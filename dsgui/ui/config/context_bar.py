"""The bar above the pages' work: what a config is checked against."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.config.context import LATEST_KNOWN, RELEASES, Integration
from dsgui.core.machine.hardware import CARDS, Target
from dsgui.core.texts.saying import words

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
    readers = [("HF Trainer", Integration.HF.value), (_say("native"), Integration.NATIVE.value)]
    ranks = _say("gpus" if target.gpus else "cpu_ranks")
    with gr.Row(elem_classes="ds-context"):
        return ContextBar(
            gr.Dropdown(
                readers, value=integration.value, label=_say("framework"), elem_id="integration", min_width=150
            ),
            gr.Number(default_ranks, label=ranks, precision=0, elem_id="gpus", min_width=110),
            gr.Number(1, label=_say("nodes"), precision=0, elem_id="nodes", min_width=80),
            gr.Dropdown(
                _device_choices(target), value=THIS_MACHINE, label=_say("device"), elem_id="device", min_width=150
            ),
            gr.Dropdown(_version_choices(target), value="", label=_say("release"), elem_id="version", min_width=150),
        )


def _device_choices(target: Target) -> list[tuple[str, str]]:
    here = ", ".join(dict.fromkeys(gpu.name for gpu in target.gpus)) or "CPU"
    planned = ((_say("plan_for", what=card.title), card.id) for card in CARDS)
    return [(_say("this_machine", device=here), THIS_MACHINE), *planned]


def _version_choices(target: Target) -> list[tuple[str, str]]:
    installed = target.version("deepspeed")
    here = _say("installed", release=installed) if installed else _say("none_installed", release=LATEST_KNOWN)
    return [(here, ""), *((_say("plan_for", what=v), v) for v in reversed(RELEASES) if v != installed)]


def _say(code: str, **given: str) -> str:
    return words("configure_page", code, **given)
