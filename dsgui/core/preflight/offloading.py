"""What offloading needs of a machine's host memory, by DeepSpeed's own estimators, where they have a case for it."""

from collections.abc import Mapping
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.preflight.model_size import ModelSize, OffloadNeed, offload_need
from dsgui.core.preflight.surroundings import Launch
from dsgui.core.rules.base import name_of, offload_device, value_or, zero_stage

_ADAM = ("", "adam", "adamw")
_LESS_STATES = (
    "/bf16/bf16_optimizer_states",
    "/bf16/bf16_master_weights_and_grads",
    "/fp16/fp16_master_weights_and_grads",
)


def estimate(launch: Launch, model: ModelSize, trains_a_part: bool) -> OffloadNeed | str | None:
    """None where nothing is offloaded here; a sentence's end where the estimators have no answer."""
    config = launch.config
    stage, moved = zero_stage(config), offload_device(config, "offload_optimizer")
    parameters_moved = stage == 3 and offload_device(config, "offload_param") != "none"
    if stage == 0 or launch.elsewhere or (moved == "none" and not parameters_moved):
        return None
    if reason := _not_estimated(config, model, trains_a_part, moved):
        return reason
    return offload_need(
        model.parameters or 0,
        stage=stage,
        offloads_parameters=parameters_moved,
        ranks=launch.ranks,
        nodes=launch.nodes,
        divided_at_once=stage == 3 and launch.reader is Integration.HF,
    )


def _not_estimated(config: Mapping[str, Any], model: ModelSize, trains_a_part: bool, moved: str) -> str:
    """Why DeepSpeed's estimator has no answer, or ""."""
    if model.parameters is None:
        return f"the model size is unknown ({model.told})"
    if trains_a_part:
        return "the script trains a part of the model (LoRA, or frozen parameters), and how much is unknown"
    if moved == "none":
        return "DeepSpeed's estimator has no case for parameters without the optimizer"
    if zero_stage(config) == 3 and "nvme" in (moved, offload_device(config, "offload_param")):
        return "DeepSpeed's estimator has no case for NVMe"
    if name_of(config, "optimizer").lower() not in _ADAM:
        return "DeepSpeed's estimator counts Adam's states, and this is another optimizer"
    if any(value_or(config, pointer, False) is True for pointer in _LESS_STATES):
        return "DeepSpeed's estimator counts fp32 states, and this config keeps some in 16 bits"
    ratio = value_or(config, "/zero_optimization/offload_optimizer/ratio", 1.0)
    return "only a part of the optimizer is offloaded (ratio)" if ratio != 1 else ""
