"""Findings about keys that do not do to memory what their names say."""

RULES = {
    "DS072": (
        "不起作用的桶大小",
        "allgather_bucket_size 原本是 stage 1 和 2 收集更新后权重的桶大小。torch 有 all_gather_into_tensor 时，"
        "DeepSpeed 会一次性原地收集：这个键既不影响显存，也不影响通信。stage 0 则以固定大小的桶归约梯度，与 "
        "reduce_bucket_size 无关。",
    ),
    "DS073": (
        "HF Trainer 下的激活检查点",
        "这个块设置的是 deepspeed.checkpointing，只有调用 deepspeed.checkpointing.checkpoint 的模型（例如 Megatron "
        "的模型）才会用到。transformers 的模型用的是 torch 自己的函数，由 --gradient_checkpointing 开启。只写这个"
        "块，激活仍会全部保留。",
    ),
    "DS074": (
        "ZeRO 不分片的 fp32 梯度",
        "stage 1 使用 bf16、以 fp32 累加且不卸载时，DeepSpeed 换用另一个类 BF16_Optimizer。除反向传播的梯度外，它还"
        "在整个训练期间以 fp32 保存全部参数的梯度，是 stage 1 各种形式中最占显存的一种。stage 2 也以 fp32 累加，但每"
        "个 GPU 只保存自己的分片。",
    ),
    "DS075": (
        "卸载后仍留在 GPU 上的 fp32 梯度",
        "DeepSpeed 0.19.8 起，stage 1 和 2 在 GPU 上用一个缓冲区累加 fp32 梯度，大小等于本 rank 的分片，使用 "
        "offload_optimizer 时也一样。不写这个键，梯度归约后就直接放到内存。",
    ),
    "DS076": (
        "只有 NVMe 才读取的卸载选项",
        "buffer_count、buffer_size、max_in_cpu 和各个 pipeline 开关，决定状态与 NVMe 换入换出所用的缓冲区。device 为"
        "“cpu”时不需要换入换出，这些键都不影响内存：max_in_cpu 也限制不了内存中的数据量。",
    ),
    "DS077": (
        "卸载时的连续梯度",
        "contiguous_gradients 在归约之前先把梯度复制到大小为 reduce_bucket_size 个元素的缓冲区。stage 1 和 2 卸载优"
        "化器时，无论这个键怎么写，DeepSpeed 都会分配这个缓冲区。",
    ),
}
FINDINGS = {
    "DS072.gather_bucket": (
        "zero_optimization.allgather_bucket_size：不起作用。torch 1.13 及以上，stage 1 和 2 一次性原地收集权重；其他"
        " stage 不使用这个通信桶。",
        "删除它。stage 1 到 3 想省显存，可以调小 reduce_bucket_size。",
    ),
    "DS072.reduce_bucket": (
        "zero_optimization.reduce_bucket_size：在 stage 0 下不起作用，stage 0 固定以 5 亿个元素为一桶归约梯度。",
        "删除它，或使用 stage 1 或更高。",
    ),
    "DS073.block": (
        "activation_checkpointing：对 transformers 的模型不起作用，它们不调用 deepspeed.checkpointing。",
        "启动脚本时传入 --gradient_checkpointing。只有自己的模型会调用 deepspeed.checkpointing 时，才保留这个块。",
    ),
    "DS074.whole": (
        "data_types.grad_accum_dtype：stage 1 下 bf16 配合 fp32 累加，每个 GPU 都会以 fp32 保存全部梯度，每个参数 4 "
        "字节，ZeRO 不做分片。",
        "改用 stage 2，它会对梯度分片；模型是 PipelineModule 时除外。",
    ),
    "DS075.on_gpu": (
        "data_types.grad_accum_dtype：优化器虽在内存，fp32 却会让本 rank 的梯度以 fp32 留在 GPU 上，直到优化器更新。",
        "清空它，可节省显存：每个参数 4 字节，再除以 rank 数。",
    ),
    "DS076.key": (
        "zero_optimization.{block}：只有 device 为“nvme”时才读取 {keys}；为“cpu”时 DeepSpeed 会忽略它。",
        "删除它。",
    ),
    "DS076.keys": (
        "zero_optimization.{block}：只有 device 为“nvme”时才读取 {keys}；为“cpu”时 DeepSpeed 会忽略它们。",
        "删除它们。",
    ),
    "DS077.contiguous": (
        "zero_optimization.contiguous_gradients：卸载优化器必须有这个缓冲区，写 false 不起作用。",
        "去掉它。想省显存，可以调小 reduce_bucket_size，即缓冲区的大小。",
    ),
}
