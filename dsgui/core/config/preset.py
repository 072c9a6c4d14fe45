"""A preset: a ready config, with what it is for and where it comes from."""

from dataclasses import dataclass

from dsgui.core.config.context import Integration


@dataclass(frozen=True, slots=True)
class Preset:
    """`text` is the file as its author spelt it; `integration`, `gpus` and `nodes` are the context it expects.

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
