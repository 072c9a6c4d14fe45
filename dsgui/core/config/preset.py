"""A preset: a ready-made config, with its purpose and its source."""

from dataclasses import dataclass

from dsgui.core.config.context import Integration


@dataclass(frozen=True, slots=True)
class Preset:
    """`text` is the file as its author wrote it; `integration`, `gpus` and `nodes` are the context it expects.

    `group` is the heading under which it is offered.
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
