"""What offloading needs of a machine's host memory, by DeepSpeed's own estimators, where they have a case for it."""

from collections.abc import Mapping
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.machine.verdicts import saw
from dsgui.core.preflight.model_size import ModelSize, OffloadNeed, offload_need
from dsgui.core.preflight.surroundings import Launch
from dsgui.core.rules.base import name_of, offload_device, value_or, zero_stage
from dsgui.core.script.in_a_run.parts_trained import PartTrained
from dsgui.core.texts.saying import Said

_ADAM = ("", "adam", "adamw")
_LESS_STATES = (
    "/bf16/bf16_optimizer_states",
    "/bf16/bf16_master_weights_and_grads",
    "/fp16/fp16_master_weights_and_grads",
)


def estimate(launch: Launch, model: ModelSize, part: PartTrained) -> OffloadNeed | Said | None:
    """None where nothing is offloaded here that could be too much; why, where the estimators have no answer."""
    config = launch.config
    stage, moved = zero_stage(config), offload_device(config, "offload_optimizer")
    parameters_moved = stage == 3 and offload_device(config, "offload_param") != "none"
    if stage == 0 or launch.elsewhere or model.is_small or (moved == "none" and not parameters_moved):
        return None
    if reason := _not_estimated(config, model, part, moved):
        return reason
    return offload_need(
        model.parameters or 0,
        stage=stage,
        offloads_parameters=parameters_moved,
        ranks=launch.ranks,
        nodes=launch.nodes,
        divided_at_once=stage == 3 and launch.reader is Integration.HF,
    )


def _not_estimated(config: Mapping[str, Any], model: ModelSize, part: PartTrained, moved: str) -> Said | None:
    """Why DeepSpeed's estimator has no answer; None where it has one."""
    if model.parameters is None:
        return saw("offload.size_unknown", why=model.why)
    if part.trains:
        return saw("offload.trains_a_part")
    if part.on:
        return saw("offload.may_train_a_part", condition=part.on.shown, line=str(part.on.line))
    if moved == "none":
        return saw("offload.without_optimizer")
    if zero_stage(config) == 3 and "nvme" in (moved, offload_device(config, "offload_param")):
        return saw("offload.nvme")
    if name_of(config, "optimizer").lower() not in _ADAM:
        return saw("offload.not_adam")
    if any(value_or(config, pointer, False) is True for pointer in _LESS_STATES):
        return saw("offload.less_states")
    ratio = value_or(config, "/zero_optimization/offload_optimizer/ratio", 1.0)
    return saw("offload.ratio") if ratio != 1 else None
