"""The YAML file that `accelerate config` writes: the DeepSpeed config inside it, and one that points to a config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AccelerateConfig:
    """What an accelerate YAML says about DeepSpeed.

    `text` is the DeepSpeed config as strict JSON, or "" when the file points to one: then `config_file` is the path as
    written there. `notes` say what else the file means for the config.
    """

    text: str
    config_file: str
    num_machines: int
    num_processes: int
    mixed_precision: str
    notes: tuple[str, ...]


def read(text: str) -> AccelerateConfig:
    """The DeepSpeed part of an accelerate YAML. Raises `DocumentError`."""
    raise NotImplementedError


def write(config: Mapping[str, Any], *, nodes: int, gpus_per_node: int, config_path: str = "ds_config.json") -> str:
    """An accelerate YAML that launches with the DeepSpeed config at `config_path`, which holds `config`."""
    raise NotImplementedError
