"""Findings about offload and ZenFlow."""

RULES = {
    "DS045": (
        "Offload against the stage",
        "What offload does depends on the ZeRO stage. Parameters are divided only at stage 3, so below "
        "it offload_param is ignored; an optimizer “on NVMe” at stage 1 and 2 stays in host memory; a "
        "part of the optimizer can be offloaded at stage 3 only, and NVMe needs a folder. At stage 0 an "
        "offloaded optimizer passes deepspeed.initialize and fails at the first step on a GPU.",
    ),
    "DS046": (
        "ZenFlow",
        "ZenFlow updates the most important gradients at once on the GPU and the rest later on the CPU. It needs "
        "ZeRO and the optimizer offloaded to the CPU, an interval that fits its strategy, and overlap_comm when "
        "its own optimizer is offloaded; DeepSpeed checks these one after the other.",
    ),
}

FINDINGS = {
    "DS045.partial": (
        "zero_optimization.offload_optimizer.ratio: only ZeRO stage 3 can offload a part of the optimizer.",
        "Leave it out, or use stage 3.",
    ),
    "DS045.no_path": (
        "zero_optimization.{what}.nvme_path: missing; with device nvme at stage 3 DeepSpeed has nowhere to write.",
        "Give a folder on a local NVMe drive.",
    ),
    "DS045.parameters": (
        "zero_optimization.offload_param: only stage 3 divides parameters; below it DeepSpeed ignores the block.",
        "Use stage 3, or remove the block.",
    ),
    "DS045.nvme": (
        "zero_optimization.offload_optimizer.device: at stage 1 and 2 “nvme” is treated as “cpu”: nothing goes to"
        " the drive.",
        "Write “cpu”, or use stage 3.",
    ),
    "DS045.stage_0": (
        "zero_optimization.offload_optimizer: at stage 0 it passes deepspeed.initialize, and the first step on a "
        "GPU stops: DeepSpeed's CPU optimizer meets parameters on the GPU.",
        "Use stage 1 or higher, or remove the block.",
    ),
    "DS046.stage_0": (
        "zero_optimization.zenflow: works on ZeRO's gradients; at stage 0 the first step stops.",
        "Use stage 1 or higher, or remove the block.",
    ),
    "DS046.offload": (
        "zero_optimization.zenflow: needs the optimizer in host memory, and offload_optimizer.device is not “cpu”.",
        "Offload the optimizer to the CPU.",
    ),
    "DS046.no_parameters": (
        "zero_optimization.zenflow: below stage 3 DeepSpeed makes a second optimizer with optimizer.params of "
        "this file, and stops with a TypeError where the file has none.",
        "Choose the optimizer here, with its params (an empty object will do), or use stage 3.",
    ),
    "DS046.interval_chosen": (
        "zero_optimization.zenflow.select_interval: the strategy “auto” chooses the interval itself and refuses a"
        " number.",
        "Leave it out, or choose the strategy “step” or “epoch”.",
    ),
    "DS046.interval_missing": (
        "zero_optimization.zenflow.select_interval: the strategies “step” and “epoch” need a number.",
        "Give the number of steps or epochs.",
    ),
    "DS046.interval_short": (
        "zero_optimization.zenflow.select_interval: gradients can't be selected more often than they are applied "
        "(update_interval).",
        "Raise select_interval to update_interval or more.",
    ),
    "DS046.overlap": (
        "zero_optimization.zenflow.offload: the offloaded selective optimizer needs overlap_comm, which is off.",
        "Switch overlap_comm on.",
    ),
}
