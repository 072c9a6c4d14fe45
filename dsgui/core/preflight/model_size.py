"""How many parameters a model on disk has, and how much memory offloading its states takes.

Nothing is guessed: the count comes from the files' own headers, or there is none.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.machine.verdicts import saw
from dsgui.core.texts.saying import Said

_BYTES = {"float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2, "float64": 8}
# deepspeed/runtime/zero/stage_1_and_2.py: estimate_zero2_model_states_mem_needs, stage3.py: estimate_zero3_….
STATES_BYTES = 16  # fp32 weights, gradients and Adam's two moments, per parameter
STATES_AND_WEIGHTS_BYTES = 18  # with the 16-bit weights, where offload_param moves these too
LOADED_BYTES = 4  # each rank loads the model in fp32 before it is divided
BUFFER_FACTOR = 1.5  # additional_buffer_factor


NOT_NAMED = saw("model_size.not_named")


@dataclass(frozen=True, slots=True)
class ModelSize:
    """`named` is what the script is told to load, "" for nothing; `parameters` None where that is not known, and
    `why` then says why. `is_small`: the script, a bundled recipe, makes a model of its own that any machine has room
    for."""

    named: str = ""
    parameters: int | None = None
    why: Said = NOT_NAMED
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class OffloadNeed:
    """Host memory of one machine, in bytes: what the states themselves take, and what DeepSpeed estimates, which counts
    that every rank loads the model in fp32 at the same time, and half as much again for buffers."""

    states_bytes: int
    estimate_bytes: int
    source: str


def count_of_header(header: Mapping[str, Any]) -> int:
    """The parameters in a safetensors file's header. Raises KeyError, TypeError or ValueError for another shape.

    Format: https://github.com/huggingface/safetensors#format. Tied weights are stored once."""
    return sum(math.prod(map(int, told["shape"])) for name, told in header.items() if name != "__metadata__")


def count_of_index(index: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
    """From a `*.index.json`: what it says itself, else its bytes over those of the dtype that config.json names."""
    metadata = index.get("metadata")
    if not isinstance(metadata, Mapping):
        return None
    counted, total = metadata.get("total_parameters"), metadata.get("total_size")
    if isinstance(counted, int) and counted > 0:
        return counted
    return count_of_bytes(total, config) if isinstance(total, int | float) else None


def count_of_bytes(total: float, config: Mapping[str, Any]) -> int | None:
    """None where config.json names no dtype."""
    each = _BYTES.get(str(config.get("dtype") or config.get("torch_dtype") or "").removeprefix("torch."))
    return int(total // each) if each and total > 0 else None


def offload_need(
    parameters: int, *, stage: int, offloads_parameters: bool, ranks: int, nodes: int, divided_at_once: bool
) -> OffloadNeed:
    """What offloading the optimizer, and at stage 3 perhaps the parameters, needs on each machine.

    `ranks` are all of them; `divided_at_once`: the model is made inside `deepspeed.zero.Init`, as the HF Trainer does
    at stage 3."""
    each = STATES_AND_WEIGHTS_BYTES if stage == 3 and offloads_parameters else STATES_BYTES
    if stage == 3:
        loaded = 0 if divided_at_once else LOADED_BYTES * math.ceil(ranks / nodes)
        most, kept = max(loaded, each / nodes), each / nodes
        source = "deepspeed/runtime/zero/stage3.py: estimate_zero3_model_states_mem_needs"
    else:
        most, kept = max(LOADED_BYTES * ranks, each), each / nodes
        source = "deepspeed/runtime/zero/stage_1_and_2.py: estimate_zero2_model_states_mem_needs"
    return OffloadNeed(int(parameters * kept), int(parameters * most * BUFFER_FACTOR), source)


def spelled(parameters: int) -> str:
    """`7.2 billion`, `60.5 million`: for sentences."""
    for each, name in ((10**9, " billion"), (10**6, " million")):
        if parameters >= each:
            return f"{parameters / each:.1f}".removesuffix(".0") + name
    return f"{parameters:,}"
