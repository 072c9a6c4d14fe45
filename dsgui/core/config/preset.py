"""A preset: a ready-made config, with its purpose and its source."""

from collections.abc import Iterable
from dataclasses import dataclass

from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.texts.saying import words


@dataclass(frozen=True, slots=True)
class PresetPlan:
    """A number of machines and GPUs that a preset is also for; `values` are JSON literals by key."""

    title: str
    gpus: int
    nodes: int
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Preset:
    """`text` is the file as its author wrote it; `integration`, `gpus` and `nodes` are the context it expects.

    `group` is the heading under which it is offered. Of several `plans` one is chosen by a click.
    """

    id: str
    group: str
    title: str
    purpose: str
    source: str
    integration: Integration
    gpus: int
    nodes: int
    model: str
    notes: tuple[str, ...]
    arguments: str
    text: str
    order: int
    plans: tuple[PresetPlan, ...] = ()

    def planned(self, plan: PresetPlan) -> str:
        """The config for one of its plans."""
        document = Document(self.text)
        for key, literal in plan.values:
            document = document.set(f"/{key}", literal)
        return document.text


def title_of(kept: str, presets: Iterable[Preset]) -> str:
    """What a run's preset is called, of which it kept the id, and with it that the config was another by then; the id
    of one that is gone."""
    id, _, edited = kept.partition(" ")
    title = next((one.title for one in presets if one.id == id), id)
    return words("runs_page", "clone_edited", preset=title) if edited else title
