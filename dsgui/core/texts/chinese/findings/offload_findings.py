"""Findings about offload and ZenFlow."""

RULES = {
    "DS045": (
        "卸载与 stage",
        "卸载的效果取决于 ZeRO stage。只有 stage 3 才对参数分片，因此 stage 3 以下会忽略 offload_param；stage 1 和 "
        "2 下“卸载到 NVMe”的优化器实际放在内存里；只卸载一部分优化器仅限 stage 3，卸载到 NVMe 还要给出目录。stage "
        "0 下卸载优化器能通过 deepspeed.initialize，但会在 GPU 上的第一步报错。",
    ),
    "DS046": (
        "ZenFlow",
        "ZenFlow 在 GPU 上立即更新最重要的梯度，其余的稍后在 CPU 上更新。它要求启用 ZeRO、优化器卸载到 CPU、间隔与所"
        "选策略相符；它自己的优化器也卸载时，还要求 overlap_comm。DeepSpeed 会逐项检查。",
    ),
}

FINDINGS = {
    "DS045.partial": (
        "zero_optimization.offload_optimizer.ratio：只有 ZeRO stage 3 才能只卸载一部分优化器。",
        "去掉它，或使用 stage 3。",
    ),
    "DS045.no_path": (
        "zero_optimization.{what}.nvme_path：缺失；stage 3 下 device 为 nvme 时，DeepSpeed 不知道往哪里写。",
        "填写本地 NVMe 盘上的目录。",
    ),
    "DS045.parameters": (
        "zero_optimization.offload_param：只有 stage 3 才对参数分片；stage 3 以下 DeepSpeed 会忽略这个块。",
        "使用 stage 3，或删除这个块。",
    ),
    "DS045.nvme": (
        "zero_optimization.offload_optimizer.device：stage 1 和 2 下“nvme”按“cpu”处理，不会写入 NVMe 盘。",
        "改为“cpu”，或使用 stage 3。",
    ),
    "DS045.stage_0": (
        "zero_optimization.offload_optimizer：stage 0 下能通过 deepspeed.initialize，但会在 GPU 上的第一步报错："
        "DeepSpeed 的 CPU 优化器碰到了 GPU 上的参数。",
        "使用 stage 1 或更高，或删除这个块。",
    ),
    "DS046.stage_0": (
        "zero_optimization.zenflow：它处理的是 ZeRO 的梯度；stage 0 下第一步就会报错。",
        "使用 stage 1 或更高，或删除这个块。",
    ),
    "DS046.offload": (
        "zero_optimization.zenflow：要求优化器放在内存里，而 offload_optimizer.device 不是“cpu”。",
        "把优化器卸载到 CPU。",
    ),
    "DS046.no_parameters": (
        "zero_optimization.zenflow：stage 3 以下，DeepSpeed 会用本文件的 optimizer.params 再创建一个优化器；文件里没"
        "有时抛出 TypeError。",
        "在这里选择优化器并写上 params（空对象即可），或使用 stage 3。",
    ),
    "DS046.interval_chosen": (
        "zero_optimization.zenflow.select_interval：策略“auto”自行决定间隔，不接受数字。",
        "去掉它，或把策略改为“step”或“epoch”。",
    ),
    "DS046.interval_missing": (
        "zero_optimization.zenflow.select_interval：策略“step”和“epoch”要求写数字。",
        "填写步数或 epoch 数。",
    ),
    "DS046.interval_short": (
        "zero_optimization.zenflow.select_interval：选择梯度不能比更新梯度（update_interval）更频繁。",
        "把 select_interval 调到不小于 update_interval。",
    ),
    "DS046.overlap": (
        "zero_optimization.zenflow.offload：卸载选择性优化器需要 overlap_comm，而它已关闭。",
        "开启 overlap_comm。",
    ),
}
