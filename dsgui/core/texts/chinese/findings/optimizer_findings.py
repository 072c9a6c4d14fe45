"""Findings about the optimizer and clipping."""

RULES = {
    "DS050": (
        "优化器类型",
        "DeepSpeed 自己的优化器按名称创建，不区分大小写；torch.optim 的优化器必须与类名完全一致；其他名称一律报错。"
        "1-bit 优化器已在 0.19.7 移除。其他包的优化器在脚本里创建并传给 deepspeed.initialize，配置中不写 optimizer "
        "块。",
    ),
    "DS051": (
        "优化器参数",
        "optimizer.params 原样传给优化器的类，遇到不接受的参数名就抛出 TypeError。具体用哪个类，取决于卸载和 "
        "torch_adam：fused Adam、DeepSpeed 的 CPU Adam 和 PyTorch 的 Adam 接受的参数各不相同。它们都不接受 "
        "max_grad_norm，梯度裁剪用 gradient_clipping。",
    ),
    "DS052": (
        "优化器的取值",
        "有些值只有部分优化器接受：fused Adam 和 Lamb 没有 AMSGrad 变体；Lamb 要求动态损失缩放；Muon 能否用于 ZeRO "
        "stage 3 或卸载，取决于 DeepSpeed 版本和提示中的开关。不满足时 deepspeed.initialize 会报错。",
    ),
    "DS053": (
        "未经 ZeRO 测试的优化器",
        "ZeRO 把优化器状态分片到各个 rank，这只适用于逐元素更新的优化器。DeepSpeed 有一份已测试的名单，其他优化器一"
        "律报错，除非用 zero_allow_untested_optimizer 放行。0.19.7 之前的 1-bit 优化器不能用于任何 ZeRO stage。",
    ),
    "DS054": (
        "由脚本提供的优化器",
        "训练脚本自己把优化器传给 deepspeed.initialize 时（HF Trainer 就是如此），配置里可以没有优化器。如果脚本也没"
        "有传入，ZeRO stage 1 或 2 会报错，stage 3 会创建推理用的引擎。要卸载优化器，它必须是 DeepSpeed 自己的 CPU "
        "Adam，除非 zero_force_ds_cpu_optimizer 为 false。",
    ),
    "DS058": (
        "默认开启的梯度裁剪",
        "0.19.3 起，文件没有写 gradient_clipping 时，DeepSpeed 按范数 1.0 裁剪梯度；之前则不裁剪。因此升级后，同一份"
        "配置的训练结果会不同；使用 HF Trainer 时，--max_grad_norm 也不会填入缺失的键。把想要的值写明：0 表示不裁"
        "剪。",
    ),
}

FINDINGS = {
    "DS050.muon": (
        "optimizer.type：DeepSpeed {release} 没有自己的 {name}（{since} 才加入）；这个名称最多落到 torch.optim，而那"
        "里的 Muon 只接受矩阵，遇到模型的 bias 和 norm 就会报错。",
        "改用 AdamW，或使用 DeepSpeed {since} 及以上版本。",
    ),
    "DS050.unknown": (
        "optimizer.type：DeepSpeed {release} 没有优化器“{name}”。可用的有 {offered}（不区分大小写），以及 "
        "torch.optim 的类（类名须完全一致）。",
        "",
    ),
    "DS050.removed": (
        "optimizer.type：DeepSpeed {release} 没有优化器“{name}”；1-bit 优化器已在 {removed} 移除。可用的有 "
        "{offered}（不区分大小写），以及 torch.optim 的类（类名须完全一致）。",
        "",
    ),
    "DS051.clipping": (
        "optimizer.params.max_grad_norm：DeepSpeed 不接受把它作为优化器参数（ValueError）。",
        "改用顶层的 gradient_clipping，作用相同。",
    ),
    "DS051.refused": (
        "optimizer.params.{key}：DeepSpeed 在这里创建的是 {kind}，它不接受这个参数，会抛出 TypeError。",
        "",
    ),
    "DS052.amsgrad": (
        "optimizer.params.amsgrad：DeepSpeed 的 fused 优化器没有 AMSGrad 变体，会抛出 RuntimeError。",
        "删除它，或设置 torch_adam，使用 PyTorch 自己的 Adam。",
    ),
    "DS052.loss_scale": (
        "fp16.loss_scale：这是固定缩放；Lamb 和 OneBitLamb 要求动态缩放，DeepSpeed 会断言失败。",
        "设为 0（动态缩放）。",
    ),
    "DS052.muon_stage_3": (
        "zero_optimization.stage：DeepSpeed {since} 起，Muon 才支持 stage 3。",
        "使用 stage 2 或更低，或换一个优化器。",
    ),
    "DS052.muon_scatter": (
        "zero_optimization.reduce_scatter：ZeRO stage 3 下不能与 Muon 同时使用，而它默认开启。",
        "关闭它。",
    ),
    "DS052.muon_quantized": (
        "zero_optimization.zero_quantized_gradients：ZeRO stage 3 下不能与 Muon 同时使用。",
        "删除它。",
    ),
    "DS052.muon_offload": (
        "zero_optimization.reduce_scatter：它开启时，这个版本的 DeepSpeed 无法卸载 Muon，而它默认开启。",
        "关闭它。",
    ),
    "DS053.one_bit": (
        "optimizer.type：{name} 不能用于任何 ZeRO stage，zero_allow_untested_optimizer 也不起作用："
        "deepspeed.initialize 会报错。",
        "要用 ZeRO 就选 AdamW，要用 1-bit 优化器就设 stage 0，二者只能选其一。",
    ),
    "DS053.untested": (
        "optimizer.type：{name} 未经 ZeRO 测试；除非 zero_allow_untested_optimizer 为 true，否则 DeepSpeed 会报错。",
        "允许它，或改用 AdamW。",
    ),
    "DS054.offload": (
        "zero_optimization.offload_optimizer：优化器由脚本提供时，DeepSpeed 只允许卸载自己的 DeepSpeedCPUAdam，其他"
        "的会报错。",
        "传入 DeepSpeedCPUAdam，或在这里选择优化器，或把 zero_force_ds_cpu_optimizer 设为 false。",
    ),
    "DS054.first_step": (
        "optimizer：没有选择优化器，必须由脚本传入，否则第一个训练步就会报错。",
        "",
    ),
    "DS054.inference": (
        "optimizer：没有选择优化器，必须由脚本传入，否则创建的是推理引擎，第一次反向传播就会报错。",
        "",
    ),
    "DS054.no_type_first_step": (
        "optimizer.type：缺失。配置里有这个块时，HF Trainer 不再创建优化器，而没有类型 DeepSpeed 也不会创建：第一个训练"
        "步就会报错。",
        "",
    ),
    "DS054.no_type_stops": (
        "optimizer.type：缺失。配置里有这个块时，HF Trainer 不再创建优化器，而没有类型 DeepSpeed 也不会创建：它会报错"
        "“zero stage {stage} requires an optimizer”。",
        "",
    ),
    "DS054.stops": (
        "optimizer：没有选择优化器，必须由脚本传入，否则 deepspeed.initialize 会报错“zero stage {stage} requires "
        "an optimizer”。",
        "",
    ),
    "DS058.default": (
        "gradient_clipping：未设置，DeepSpeed 按默认值 1.0 裁剪梯度（{since} 之前的版本不裁剪）。",
        "写 1.0；不裁剪则写 0。",
    ),
    "DS058.default_hf": (
        "gradient_clipping：未设置，DeepSpeed 按默认值 1.0 裁剪梯度（{since} 之前的版本不裁剪）；--max_grad_norm 不"
        "起作用。",
        "写“auto”以使用 Trainer 的 --max_grad_norm，或直接写数字。",
    ),
}

# What else there is to do.
ADVICE = {
    "DS050.choose": "改用 AdamW，或由脚本传入自己的优化器。",
    "DS054.choose_or_remove": "选择一个，例如 AdamW；或删除这个块，由 Trainer 创建自己的优化器。",
    "DS054.pass": "给 deepspeed.initialize 传入 optimizer=…，或在配置中选择一个。",
}
