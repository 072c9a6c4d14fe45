"""Findings about data types and the loss scale."""

RULES = {
    "DS020": (
        "fp16 与 bf16 互斥",
        "模型只能用一种 16 位类型运行，两个配置块同时启用时 DeepSpeed 会报错。为两类 GPU 通用而写的配置常常两个都"
        "有：关掉一个即可；使用 HF Trainer 时，可以两个都写“auto”，由 --fp16 或 --bf16 决定。",
    ),
    "DS021": (
        "amp 与 ZeRO、fp16 或 bf16",
        "DeepSpeed 0.19.8 移除了 NVIDIA Apex AMP，只要有 amp 配置块就拒绝，哪怕它是关闭的。更早的版本能读取这个块，"
        "但 amp 与 ZeRO、fp16 或 bf16 同时启用时，会在 deepspeed.initialize 报错。应删除它，改用 bf16、fp16 或 "
        "torch_autocast。",
    ),
    "DS022": (
        "fp16 动态损失缩放",
        "loss_scale 为 0 时，DeepSpeed 每隔 loss_scale_window 步调高一次缩放系数，并且不让它低于 min_loss_scale，因"
        "此两者都必须大于 0。0.19.3 起会检查；更早的版本会在训练途中除以零，或让缩放系数一路降到失效。",
    ),
    "DS023": (
        "16 位主权重",
        "主权重和梯度用 16 位保存可省一半空间，但 DeepSpeed 只在少数组合下支持：使用 ZeRO（0.18.3 之前仅限 stage 2），"
        "并把优化器卸载到 DeepSpeed 自己的 CPU Adam；或使用 bf16，且优化器状态也为 16 位。其他组合一律报错。",
    ),
    "DS024": (
        "数据类型",
        "data_types 规定梯度以什么类型累加、参数以什么类型保存。不用 ZeRO 时，梯度的类型必须与模型匹配；0.19.2 起，"
        "param_dtype 必须是 fp16/bf16 配置块选定的类型。通常不必写这个块，由 fp16/bf16 配置块决定即可。",
    ),
    "DS025": (
        "torch.autocast 与量化权重",
        "torch_autocast 以较低精度收集参数，zero_quantized_weights 则以量化形式收集；DeepSpeed 只能二选一，同时开启"
        "会报错。应去掉其中一个。",
    ),
    "DS026": (
        "loss_scale 的含义",
        "fp16.loss_scale 为 0 并不是关闭损失缩放，而是动态缩放，初始值为 2 的 initial_scale_power 次方。其他数值都是"
        "固定缩放，此时 DeepSpeed 不读取任何控制动态缩放的键。固定缩放不会对溢出作出反应，建议用 0。",
    ),
    "DS027": (
        "amp 的 opt_level",
        "Apex 有四个级别：O0 用 fp32 训练；O1 只让已知安全的算子用 fp16；O2 整个模型用 fp16，主权重用 fp32；O3 全程 "
        "fp16，没有主权重，很少能收敛。DeepSpeed 0.19.8 已没有 Apex：原来的 O1 可用 bf16 或 torch_autocast 代替，O2 "
        "可用 fp16 代替。",
    ),
    "DS028": (
        "不用 ZeRO 时的固定损失缩放",
        "0.17.1 之前，损失缩放固定时，DeepSpeed 创建 fp16 优化器却没有传入计时器，而每一步都要启动计时器，所以不用 "
        "ZeRO 的训练在第一步就会报错“'NoneType' object is not callable”。动态缩放或任意 ZeRO stage（1 及以上）走的"
        "是另一条路径，不受影响。",
    ),
    "DS029": (
        "适用较低精度的模块",
        "lower_precision_safe_modules 列出梯度可以用较低精度通信的类。每一项都写成包名加类名，DeepSpeed 在创建引擎时"
        "导入，找不到就报错。dsgui 认识 torch.nn 的类；其他包的类不检查。",
    ),
}

FINDINGS = {
    "DS020.both": (
        "fp16.enabled 和 {bf16}.enabled 同时开启；DeepSpeed {release} 只能用一种 16 位类型，会报错“bfloat16 and "
        "fp16 modes cannot be simultaneously enabled”。",
        "关掉一个：把 fp16.enabled 或 {bf16}.enabled 设为 false。",
    ),
    "DS021.null": (
        "amp：值为 null；DeepSpeed {release} 仍会读取这个块，抛出 AttributeError。",
        "删除它。",
    ),
    "DS021.removed": (
        "amp：NVIDIA Apex AMP 已在 {removed} 中移除，DeepSpeed {release} 拒绝任何 amp 配置块，哪怕它是关闭的。",
        "删除这个块；16 位训练改用 bf16、fp16 或 torch_autocast。",
    ),
    "DS021.zero": (
        "amp.enabled 为 true，同时 zero_optimization.stage 为 {stage}；DeepSpeed {release} 会报错“Amp and ZeRO are "
        "not currently compatible”。",
        "用 fp16 或 bf16 代替 amp（fp16 与 opt_level O2 大致相同），或把 stage 设为 0。",
    ),
    "DS021.sixteen_bit": (
        "amp.enabled 和 {block}.enabled 同时为 true；DeepSpeed {release} 会报错“Cannot enable both amp with "
        "(legacy) fp16 or bfloat16 mode”。",
        "只保留一个。",
    ),
    "DS022.window": (
        "fp16.loss_scale_window：{value} 不大于 0，而损失缩放是动态的（每隔这么多步调高一次）。",
        "",
    ),
    "DS022.minimum": (
        "fp16.min_loss_scale：{value} 不大于 0，而损失缩放是动态的（这是它的下限）。",
        "",
    ),
    "DS023.two": (
        "{key}：不能与 fp16 的同类选项同时开启。",
        "",
    ),
    "DS023.states_alone": (
        "{key}：必须同时开启 bf16_master_weights_and_grads。",
        "",
    ),
    "DS023.stages": (
        "{key}：仅支持 ZeRO stage 1、2、3。",
        "",
    ),
    "DS023.stage_2": (
        "{key}：仅支持 ZeRO stage 2。",
        "",
    ),
    "DS023.offload": (
        "{key}：要求优化器卸载到 CPU，并使用 DeepSpeed 自己的 CPU Adam。",
        "",
    ),
    "DS024.sums": (
        "data_types.grad_accum_dtype：不用 ZeRO 时，DeepSpeed {release} 不支持 {model} 模型用 {gradients} 累加梯度。",
        "清空它，或使用 ZeRO。",
    ),
    "DS024.parameters": (
        "data_types.param_dtype：写的是 {parameters}，而按 fp16/bf16 配置块，模型以 {model} 运行。",
        "清空它，由 fp16/bf16 配置块决定。",
    ),
    "DS024.arguments": (
        "data_types.grad_accum_dtype：不用 ZeRO 时，DeepSpeed {release} 要用 {gradients} 累加梯度，脚本参数必须是："
        "{options}。",
        "按此传参，或清空这个键，或使用 ZeRO。",
    ),
    "DS025.quantized": (
        "zero_optimization.zero_quantized_weights：不能与 torch_autocast 同时使用。",
        "关掉其中一个。",
    ),
    "DS026.dynamic": (
        "fp16.loss_scale：0 表示动态损失缩放，初始值为 2^{power} = {scale}。",
        "",
    ),
    "DS026.fixed": (
        "fp16.loss_scale：{scale} 是固定缩放，因此 DeepSpeed 不会读取 {keys}。",
        "要用动态缩放，就写 0。",
    ),
    "DS027.o0": (
        "amp.opt_level：O0 全程 fp32，只作基线，没有混合精度。",
        "",
    ),
    "DS027.o1": (
        "amp.opt_level：O1 只让已知安全的算子用 fp16，权重为 fp32。",
        "",
    ),
    "DS027.o2": (
        "amp.opt_level：O2 除 batch norm 外整个模型用 fp16，主权重为 fp32，与 fp16 配置块的效果相近。",
        "",
    ),
    "DS027.o3": (
        "amp.opt_level：O3 全程 fp16，没有主权重；速度快，但很少能收敛。",
        "",
    ),
    "DS028.fixed": (
        "fp16.loss_scale：{scale} 是固定缩放；不用 ZeRO 时，DeepSpeed {release} 在第一步就会报错（TypeError：这种情"
        "况下没有创建计时器）。",
        "写 0 改用动态缩放，或使用 ZeRO stage 1，或升级到 DeepSpeed {since} 及以上。",
    ),
    "DS029.no_class": (
        "torch_autocast.lower_precision_safe_modules：“{name}”无法导入，deepspeed.initialize 会报错（ValueError: "
        "Failed to import lower precision safe module）。",
        "写成包名加类名，例如 torch.nn.Linear。",
    ),
}

# What else there is to do.
ADVICE = {
    "DS022.positive": "填正数，或清空以使用默认值。",
    "DS020.hf": "使用 HF Trainer 时，把两个都写成“auto”，再传入 --bf16 或 --fp16。",
    "DS023.condition": "满足这个条件，或删除这个键。",
}
