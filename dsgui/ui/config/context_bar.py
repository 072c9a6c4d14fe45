"""The bar above the pages' work: what a config is checked against."""

from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import LATEST_KNOWN, RELEASES, Integration
from dsgui.core.launch.plan import Here, Place
from dsgui.core.launch.planned import THIS_MACHINE
from dsgui.core.machine.hardware import OFFERED, Target
from dsgui.core.texts.saying import listed, words
from dsgui.ui.common.picker import Option, named, picker

__all__ = ["THIS_MACHINE", "ContextBar", "Launched", "build_context_bar"]


@dataclass(frozen=True, slots=True)
class Launched:
    """The rest of the run's spec, from 2 · Launch: where it trains, and what the HF Trainer gets of its arguments, None
    where that is not known. `takes_options`: whether the script takes the Trainer's, as far as there is one."""

    place: Place = field(default_factory=Here)
    arguments: TrainingArguments | None = None
    takes_options: bool = True

    @property
    def digest(self) -> str:
        """Another for each: what the page watches, which sees no state."""
        return str(hash(self))


UNSEEN = Launched()  # nothing is known of 2 · Launch


@dataclass(frozen=True, slots=True)
class ContextBar:
    """What a config is checked against, as components; `launched` holds what 2 · Launch has of it, and `known` changes
    with that."""

    integration: gr.HTML
    gpus: gr.Number
    nodes: gr.Number
    device: gr.HTML
    version: gr.HTML
    launched: gr.State
    known: gr.Textbox

    @property
    def inputs(self) -> list[Any]:
        """In the order `make_context` takes them after the target."""
        return [*self.kept, self.launched]

    @property
    def kept(self) -> list[Any]:
        """What the user chose."""
        return [self.integration, self.gpus, self.nodes, self.device, self.version]

    @property
    def changes(self) -> list[Any]:
        """The events that make a check out of date."""
        return [component.change for component in (*self.kept, self.known)]

    @property
    def fields(self) -> dict[str, Any]:
        """Those that the run's spec has, by its fields' names."""
        planned = {"planned_gpus": self.gpus, "planned_nodes": self.nodes}
        return {"device": self.device, "version": self.version, **planned}


def build_context_bar(target: Target, integration: Integration, default_ranks: int) -> ContextBar:
    """Must be called inside a `gr.Blocks`."""
    readers = [("HF Trainer", Integration.HF.value), (_say("native"), Integration.NATIVE.value)]
    ranks = _say("gpus" if target.gpus else "cpu_ranks")
    gr.HTML(_FOLD, elem_id="context-line", padding=False)
    with gr.Row(elem_classes="ds-context"):
        return ContextBar(
            picker(named(readers), integration.value, label=_say("framework"), elem_id="integration"),
            gr.Number(default_ranks, label=ranks, precision=0, elem_id="gpus", min_width=110),
            gr.Number(1, label=_say("nodes"), precision=0, elem_id="nodes", min_width=80),
            picker(_devices(target), THIS_MACHINE, label=_say("device"), elem_id="device"),
            picker(named(_version_choices(target)), "", label=_say("release"), elem_id="version"),
            gr.State(Launched()),
            gr.Textbox("", visible=False),
        )


# On a narrow screen a line says what the fields hold, and opens them: static/config/standing.js.
_FOLD = '<button type="button" class="ds-context-fold" id="context-fold" aria-expanded="false"></button>'


def _devices(target: Target) -> list[Option]:
    here = str(listed(dict.fromkeys(gpu.name for gpu in target.gpus))) or "CPU"
    planned = (Option(card.id, card.title, _say("plan_for", what=card.generation)) for card in OFFERED)
    return [Option(THIS_MACHINE, _say("this_machine", device=here)), *planned]


def _version_choices(target: Target) -> list[tuple[str, str]]:
    installed = target.version("deepspeed")
    here = _say("installed", release=installed) if installed else _say("none_installed", release=LATEST_KNOWN)
    return [(here, ""), *((_say("plan_for", what=v), v) for v in reversed(RELEASES) if v != installed)]


def _say(code: str, **given: str) -> str:
    return words("configure_page", code, **given)
