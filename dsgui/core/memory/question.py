"""What is asked of the memory model: which model, how much of it at once, by which config, on how many ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import LATEST_KNOWN

MOST_MICRO_BATCHES = 3  # of a step that are led through: the first, one between, the last; more look the same


@dataclass(frozen=True, slots=True)
class Lora:
    """Adapters of this rank beside the linear layers whose names end in one of `targets`; all else is frozen.
    `dropout`: of what they read."""

    rank: int
    targets: tuple[str, ...]
    dropout: float = 0.0


@dataclass(frozen=True, slots=True)
class Workload:
    """One micro batch: `micro_batch` sequences of `length` tokens (a decoder's targets: `target_length`
    or as many).

    `attention` is transformers' `attn_implementation`; `checkpointing` is `--gradient_checkpointing`."""

    micro_batch: int = 1
    length: int = 512
    target_length: int | None = None
    checkpointing: bool = False
    attention: str = "sdpa"
    lora: Lora | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The data-parallel ranks and the machines they share; `rank` is the one that is asked about."""

    ranks: int = 1
    nodes: int = 1
    rank: int = 0

    @property
    def ranks_per_node(self) -> int:
        return -(-self.ranks // self.nodes)


@dataclass(frozen=True, slots=True)
class Model:
    """A model as its `config.json` (transformers' keys) describes it. `guessed` where only a size was known,
    `planned_as` that size where a hub id that isn't here tells it in its name.

    Or what a user's own `factory` returns, "module:function" found from `folder`: a dry run alone can ask that."""

    name: str
    config: Mapping[str, Any]
    guessed: bool = False
    planned_as: str = ""
    factory: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`config` is the DeepSpeed config with nothing `"auto"` left in it; `release` is the DeepSpeed that reads it.
    `by_decay`: the optimizer has two groups of weights, with decay and without, as the HF Trainer makes them; else one.
    `on_cpu`: the ranks train on the CPU, so what a GPU would hold is in host memory, and nothing is pinned."""

    model: Model
    config: Mapping[str, Any]
    workload: Workload = Workload()
    group: Group = Group()
    release: str = LATEST_KNOWN
    by_decay: bool = True
    on_cpu: bool = False
