"""Findings about ZeRO."""

RULES = {
    "DS040": (
        "梯度预缩放",
        "ZeRO stage 2 和 3 用 reduce-scatter 累加梯度，累加之后只除一次。要在求和之前先除（prescale_gradients）或分"
        "两次除（gradient_predivide_factor），必须关闭 reduce_scatter，否则 deepspeed.initialize 会报错。",
    ),
    "DS041": (
        "梯度求和",
        "gradient_allreduce_op 为“sum”时，梯度不除以 rank 数。ZeRO stage 3、ZenFlow 和 DeepCompile 总是取平均，"
        "DeepSpeed 宁可报错，也不会悄悄取平均。应改用“mean”，并自行缩放损失。",
    ),
    "DS042": (
        "不计算梯度范数",
        "compute_grad_norm 为 false 可少遍历一次梯度。但梯度裁剪需要这个范数，而且只要文件没有写 0，裁剪就以 1.0 开"
        "启；其他 stage、优化器卸载，以及 stage 1 下 bf16 配合 fp32 累加，也都需要它。遇到任何一种情况，DeepSpeed 都"
        "会报错。",
    ),
    "DS043": (
        "桶大小为奇数",
        "ZeRO stage 1 和 2 会把收集参数的桶对齐到偶数个元素，并断言给出的大小是偶数。大小按元素个数计，加 1 没有任何"
        "损失。",
    ),
    "DS044": (
        "旧版 stage 1",
        "DeepSpeed 0.5.9 替换了 ZeRO stage 1 最初的实现。切回旧实现的开关仍会被读取，一旦打开，DeepSpeed 就报错。",
    ),
    "DS047": (
        "二级分片与 rank 数",
        "zero_hpz_partition_size 把 rank 按这个数目分组（通常一组即一个节点），每组再保存一份参数副本。rank 数必须能"
        "分成整组，否则 DeepSpeed 会报错；大于总 rank 数时按总 rank 数处理。",
    ),
    "DS048": (
        "量化梯度与托管的梯度累积",
        "这两个开关各有条件。stage 3 的量化梯度通过 reduce-scatter 传输，因此必须开启 reduce_scatter；"
        "managed_gradient_accumulation 为 false 时，每个微批立即归约，在 stage 2 以下不能与通信重叠同时使用，也不能"
        "与 DeepCompile 同时使用。",
    ),
    "DS049": (
        "stage 3 下保存模型",
        "stage 3 下，每个 rank 只有模型的一部分。不打开这个开关，保存时只写出各个分片，没有其他程序能加载的模型文"
        "件，而日志几乎不提。收集完整权重会在每次保存时占用显存和时间；也可以事后用检查点里的 zero_to_fp32.py 合并。",
    ),
    "DS070": (
        "只有 ZeRO stage 3 才读取的键",
        "stage3_… 系列键、sub_group_size 和 ZeRO++ 的开关控制 stage 3 如何分片和收集参数。stage 3 以下，DeepSpeed "
        "会接受这些键，但不读取，也没有任何提示。它们没有害处：删除即可；如果本意是 stage 3，就改用 stage 3。",
    ),
    "DS071": (
        "把 ZeRO 写成开关",
        "最早的版本里，zero_optimization 只有 true 或 false。DeepSpeed 现在仍把它们当作 stage 1 或 0，并打印警告；这"
        "种写法无法设置 ZeRO 的其他键。应改为带 stage 的配置块。",
    ),
}

FINDINGS = {
    "DS040.prescale": (
        "prescale_gradients：reduce_scatter 开启时（默认开启），ZeRO stage 2 和 3 不支持预缩放。",
        "去掉 prescale_gradients，或把 zero_optimization.reduce_scatter 设为 false。",
    ),
    "DS040.predivide": (
        "gradient_predivide_factor：reduce_scatter 开启时（默认开启），ZeRO stage 2 和 3 只接受 1.0。",
        "去掉它，或把 zero_optimization.reduce_scatter 设为 false。",
    ),
    "DS040.zero": (
        "gradient_predivide_factor：梯度要除以它，为 0 时第一步就会报错（ZeroDivisionError）。",
        "去掉它，即为 1.0。",
    ),
    "DS041.sum": (
        "gradient_allreduce_op：“sum”不能与 ZeRO stage 3、ZenFlow 或 DeepCompile 同时使用。",
        "改用“mean”，并在脚本中缩放损失。",
    ),
    "DS042.stages": (
        "zero_optimization.compute_grad_norm：false 仅适用于 ZeRO stage 1 和 2。",
        "去掉它。",
    ),
    "DS042.clipping": (
        "zero_optimization.compute_grad_norm：梯度裁剪是开启的（文件没有设置 gradient_clipping 时为 1.0），没有范数"
        "就无法裁剪。",
        "把 gradient_clipping 设为 0，或计算梯度范数。",
    ),
    "DS042.offload": (
        "zero_optimization.compute_grad_norm：false 不能与优化器卸载同时使用。",
        "去掉它。",
    ),
    "DS042.fp32_sums": (
        "zero_optimization.compute_grad_norm：stage 1 下使用 bf16 并以 fp32 累加梯度时，不能为 false。",
        "去掉它。",
    ),
    "DS043.odd": (
        "zero_optimization.allgather_bucket_size：ZeRO stage 1 和 2 要求元素个数为偶数。",
        "改为偶数。",
    ),
    "DS044.legacy": (
        "zero_optimization.legacy_stage1：旧实现已在 0.5.9 移除，打开它 DeepSpeed 就会报错。",
        "删除它。",
    ),
    "DS047.no_divisor": (
        "zero_optimization.zero_hpz_partition_size：{size} 不能整除 {ranks} 个 rank（{devices}）。",
        "改为单个节点的 GPU 数。",
    ),
    "DS048.scatter": (
        "zero_optimization.zero_quantized_gradients：需要 reduce_scatter，而它已关闭。",
        "开启 reduce_scatter。",
    ),
    "DS048.overlap": (
        "managed_gradient_accumulation：只有在 ZeRO stage 2 及以上，false 才能与 overlap_comm 同时使用。",
        "关闭 zero_optimization.overlap_comm，或去掉 managed_gradient_accumulation。",
    ),
    "DS048.compile": (
        "managed_gradient_accumulation：false 不能与 DeepCompile 同时使用。",
        "去掉它，或关闭 compile.deepcompile。",
    ),
    "DS049.shards": (
        "zero_optimization.stage3_gather_16bit_weights_on_model_save：未开启，保存时只写分片，没有完整的模型文件。",
        "开启它，或事后运行检查点里的 zero_to_fp32.py。",
    ),
    "DS070.key": (
        "zero_optimization.{first}：只有 ZeRO stage 3 才读取 {keys}；stage {stage} 下 DeepSpeed 会忽略它。",
        "删除它，或使用 stage 3。",
    ),
    "DS070.keys": (
        "zero_optimization.{first}：只有 ZeRO stage 3 才读取 {keys}；stage {stage} 下 DeepSpeed 会忽略它们。",
        "删除它们，或使用 stage 3。",
    ),
    "DS071.switch": (
        "zero_optimization：{value} 是最早版本的写法；DeepSpeed 按 stage {stage} 处理，并打印警告。",
        "改为配置块。",
    ),
}
