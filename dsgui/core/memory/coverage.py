"""What of DeepSpeed the engines' models have no case for: then there is no number, and a sentence says why."""

from collections.abc import Iterator, Mapping
from typing import Any

from dsgui.core.config.context import LATEST_KNOWN, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.memory.question import Question
from dsgui.core.memory.settings import (
    ACCUMULATED_IN,
    AUTOCAST,
    AUTOCAST_IN,
    HPZ,
    OPTIMIZER,
    OPTIMIZER_DEVICE,
    PARAM_DEVICE,
    REDUCED_IN,
    SAFE,
    SCATTER,
    ZERO,
    Settings,
    class_of,
)
from dsgui.core.texts.saying import Said, said

# Switches of engines that allocate in ways of their own.
_ENGINES = (
    "/zero_optimization/zenflow",
    "/zero_optimization/offload_optimizer/super_offload",
    "/zero_optimization/zero_quantized_weights",
    "/zero_optimization/zero_quantized_gradients",
    "/zero_optimization/zero_quantized_nontrainable_weights",
    "/zero_optimization/zeropp_loco_param",
    "/compile/deepcompile",
    "/amp/enabled",
    "/hybrid_engine/enabled",
    "/quantize_training/enabled",
    "/sparse_gradients",
)
PER_HEAD = "/optimizer/params/per_head_muon"
# Keys that divide the model itself; 0 and 1 do not.
_DIVIDING = (
    "/tensor_parallel/autotp_size",
    "/tensor_parallel/tp/tp_size",
    "/tensor_parallel/tensor_parallel/tp_size",
    "/expert_parallel/autoep_size",
    "/sequence_parallel_size",
    "/zero_optimization/mics_shard_size",
)
_COUNTED = ("adam", "adamw", "lion", "adagrad", "sgd", "muon")
_READ = (0, 19, 8)  # the release whose Muon and whose autocast the engines' models follow


def not_covered(config: Mapping[str, Any], settings: Settings, release: str = LATEST_KNOWN) -> Said | None:
    """The first thing that there is no case for, or None."""
    for pointer in _ENGINES:
        if is_on(lookup(config, pointer)):
            return said("memory_notes", "no_case", key=pointer)
    for pointer in _DIVIDING:
        value = lookup(config, pointer)
        if isinstance(value, int | float) and value > 1:
            return said("memory_notes", "no_case", key=pointer)
    pointer = _unmodelled_swapping(config, settings)
    if pointer:
        return said("memory_notes", "no_case", key=pointer)
    if settings.optimizer not in _COUNTED or (settings.is_muon and version_tuple(release) < _READ):
        return said("memory_notes", "no_optimizer", key=OPTIMIZER, name=settings.optimizer[:40])
    return _refused_with_muon(config, settings) if settings.is_muon else None


def _refused_with_muon(config: Mapping[str, Any], settings: Settings) -> Said | None:
    """stage3.py:360, and what of Muon there is no case for."""
    if settings.stage == 3 and settings.scatters:
        return said("memory_notes", "muon_scatters", key=SCATTER)
    partly = settings.optimizer_at.ratio < 1 and settings.optimizer_at.is_on and settings.stage == 3
    found = [
        (f"{ZERO}/offload_optimizer/ratio", partly),
        (OPTIMIZER_DEVICE, settings.optimizer_at.is_nvme and settings.stage == 3),
        (PER_HEAD, is_on(lookup(config, PER_HEAD))),
    ]
    return next((said("memory_notes", "no_muon", key=key) for key, is_set in found if is_set), None)


def _unmodelled_swapping(config: Mapping[str, Any], settings: Settings) -> str:
    """The key of a way to swap to NVMe that there is no case for, or ""."""
    if settings.stage != 3:
        return ""
    if settings.params_at.is_nvme and is_on(lookup(config, "/aio/use_gds")):
        return "/aio/use_gds"
    block = f"{ZERO}/offload_optimizer"
    piped = [f"{block}/{key}" for key in ("pipeline_read", "pipeline_write") if is_on(lookup(config, f"{block}/{key}"))]
    found = [*piped, *([f"{block}/ratio"] if settings.optimizer_at.ratio < 1 else [])]
    return found[0] if found and settings.optimizer_at.is_nvme else ""


def refused_with_autocast(question: Question, settings: Settings) -> Said | None:
    """What of torch_autocast there is no case for, or None."""
    config = question.config
    if not is_on(lookup(config, AUTOCAST)):
        return None
    if version_tuple(question.release) < _READ:
        return said("memory_notes", "no_autocast", key=f"DeepSpeed {question.release}")
    if not settings.autocast:
        return said("memory_notes", "autocast_dtype", key=AUTOCAST_IN)
    named = lookup(config, SAFE)
    if isinstance(named, list) and any(class_of(name) is None for name in named):
        return said("memory_notes", "autocast_classes", key=SAFE)
    return next((said("memory_notes", "no_autocast", key=key) for key in _beside_autocast(question, settings)), None)


def _beside_autocast(question: Question, settings: Settings) -> Iterator[str]:
    found = [
        ("LoRA", question.workload.lora is not None),
        ("CPU", question.on_cpu),  # another table of operators
        (question.workload.attention, question.workload.attention.startswith("flash")),  # no dry run to hold it to
        (f"/{settings.precision}/enabled", settings.is_16_bit),
        (OPTIMIZER, settings.is_muon),
        (OPTIMIZER_DEVICE, settings.optimizer_at.is_nvme),
        (PARAM_DEVICE, settings.params_at.is_nvme),
        (ACCUMULATED_IN, settings.accumulated != 4),
        (REDUCED_IN, settings.reduced != 4),
        (HPZ, settings.hpz > 1),
    ]
    return (key for key, is_set in found if is_set)


def is_on(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("enabled", True) is not False
    return value not in (MISSING, None) and truth(value) is True
