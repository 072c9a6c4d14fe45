"""Findings about the blocks beyond ZeRO, those that DeepSpeed no longer has among them."""

RULES = {
    "DS060": (
        "data_efficiency 的必填项",
        "课程学习按某个指标给样本排序，动态批处理按 token 数上限组成批次。功能开启时，DeepSpeed 会断言相应的指标和数"
        "值存在。",
    ),
    "DS061": (
        "自动调优",
        "自动调优会用不同配置启动许多次短训练。文件中有 autotuning.enabled 时，训练脚本就成了其中的一次试跑，几步之"
        "后便结束。另外，它的目录名不能为空，即使功能关闭也不行。",
    ),
    "DS062": (
        "张量并行与 rank 数",
        "autotp_size 个 GPU 共同承担每一层，因此 rank 数必须能按这个大小分成整组。它必须是数字：DeepSpeed 会拿“"
        "auto”与数字比较，然后报错。tensor_parallel.tp.tp_size 与它含义相同，两者不能不一致。HF Trainer 会用 rank "
        "数除以 autotp_size，所以为 0 时会报错。",
    ),
    "DS063": (
        "专家并行与 rank 数",
        "autoep_size 个 rank 共同承担 MoE 层的专家，expert_tensor_parallel_size 个 rank 共同承担每个专家。rank 数必"
        "须能按二者的乘积分成整组。",
    ),
    "DS064": (
        "快速检查点写入器",
        "这个块让 DeepSpeed 用自己的写入器写检查点。写入器要知道由哪些 rank 写：stage 3 下所有 rank 都写；stage 3 以"
        "下必须由 data_parallel 指明，否则创建引擎时会报错。",
    ),
    "DS065": (
        "连续存放的激活检查点",
        "contiguous_memory_optimization 把激活检查点复制到一个缓冲区，其大小由 partition_activations 和 "
        "number_checkpoints 决定。缺少这两项时，文件仍能通过 deepspeed.initialize，但脚本调用 "
        "deepspeed.checkpointing.configure 启用激活检查点时会报错。",
    ),
    "DS066": (
        "流水线并行不支持的选项",
        "pipeline 块用于传入 PipelineModule 的脚本。流水线引擎要跨多个微批保留梯度，而 ZeRO stage 2 和 3 会立即把梯"
        "度分片，所以两者都不支持；梯度累积也由引擎自己计数。没有 PipelineModule 时，这个块不会被读取。",
    ),
    "DS067": (
        "弹性训练与批大小",
        "启用 elasticity 后，DeepSpeed 根据 max_train_batch_size 和 micro_batch_sizes（都必须写）选出适合多种 GPU 数"
        "的批大小。文件里若还写了批大小就会报错，除非设置为忽略它们。DeepSpeed 0.19.8 已没有弹性训练。",
    ),
    "DS068": (
        "压缩分组的必填项",
        "compression_training 的每种技术下都有模块分组，每个组都要有 params（位数或保留的权重比例）和 modules。"
        "modules 是正则表达式，而默认的“*”并不是合法的正则。即使该技术已关闭，DeepSpeed 也会读取这些内容，缺少就报"
        "错。这个库已在 0.19.7 移除。",
    ),
}

FINDINGS = {
    "DS060.metrics": (
        "data_efficiency…curriculum_metrics：缺失；课程学习已开启，DeepSpeed 会断言至少有一个指标。",
        "至少定义一个指标，或关闭课程学习。",
    ),
    "DS060.tokens": (
        "data_efficiency…max_tokens：缺失；动态批处理已开启，批次要按这个上限来组成。",
        "填写一个微批最多的 token 数，或关闭动态批处理。",
    ),
    "DS061.empty": (
        "autotuning.{key}：不能是空字符串。",
        "填写目录，或去掉它。",
    ),
    "DS061.enabled": (
        "autotuning.enabled：开启后，训练只是自动调优的一次试跑，几步之后就会自行结束。",
        "正式训练时要关闭它；要自动调优，用 deepspeed --autotuning 启动。",
    ),
    "DS062.auto": (
        "tensor_parallel.autotp_size：DeepSpeed 会拿“auto”与数字比较，deepspeed.initialize 因此报错。",
        "填写共同承担一层的 GPU 数。",
    ),
    "DS062.zero": (
        "tensor_parallel.autotp_size：HF Trainer 会用 rank 数除以它，为 0 时第一步就报错“integer division or "
        "modulo by zero”。",
        "删除它：默认即为关闭。",
    ),
    "DS062.models": (
        "tensor_parallel.autotp_size：DeepSpeed 只能切分它认识的模型类型，其他模型会报错“Not able to determine "
        "model policy automatically”。",
        "确认模型属于 DeepSpeed 能切分的类型，例如 Llama。",
    ),
    "DS062.no_divisor": (
        "tensor_parallel.autotp_size：{size} 不能整除 {ranks} 个 rank（{devices}）。",
        "改为 rank 数的约数。",
    ),
    "DS062.two_sizes": (
        "tensor_parallel.tp.tp_size：{inner} 与 autotp_size {size} 不一致。",
        "去掉它，以 autotp_size 为准。",
    ),
    "DS063.no_divisor": (
        "expert_parallel.autoep_size：autoep_size × expert_tensor_parallel_size = {width}，不能整除 {ranks} 个 rank"
        "（{devices}）。",
        "改为 rank 数的约数。",
    ),
    "DS064.writers": (
        "checkpoint.writer：ZeRO stage 3 以下，必须由 data_parallel 指明由谁写，否则创建引擎时会报错。",
        "设置 checkpoint.writer.data_parallel，或删除这个块。",
    ),
    "DS065.partition": (
        "activation_checkpointing.partition_activations：缺失；contiguous_memory_optimization 需要它，没有它 "
        "deepspeed.checkpointing.configure 会报错。",
        "设为 true，或关闭 contiguous_memory_optimization。",
    ),
    "DS065.number": (
        "activation_checkpointing.number_checkpoints：缺失；contiguous_memory_optimization 需要它，没有它 "
        "deepspeed.checkpointing.configure 会报错。",
        "填写启用激活检查点的层数。",
    ),
    "DS066.stage": (
        "pipeline：只有 PipelineModule 才读取它，而 PipelineModule 不支持 ZeRO stage 2 和 3。",
        "流水线并行要用 stage 1 或更低；否则删除这个块。",
    ),
    "DS066.accumulation": (
        "managed_gradient_accumulation：pipeline 块是给 PipelineModule 用的，而后者不接受 false。",
        "使用流水线并行就去掉它；否则删除 pipeline 块。",
    ),
    "DS067.missing": (
        "elasticity.{key}：缺失；启用 elasticity 后，DeepSpeed 要根据它选择批大小。",
        "补上它，或关闭 elasticity。",
    ),
    "DS067.batch_sizes": (
        "{key}：elasticity 已启用，批大小由它选择；文件里还写着 {names}，DeepSpeed 会报错。",
        "删除文件中的这些值，或设置 elasticity.ignore_non_elastic_batch_info。",
    ),
    "DS068.step": (
        "compression_training.weight_quantization.shared_parameters.quantize_weight_in_forward：已关闭，权重改在优化"
        "器更新时量化，而只有 fp16 的优化器支持；deepspeed.initialize 会报错。",
        "开启它，或用 fp16 训练。",
    ),
    "DS068.pattern": (
        "{key}：deepspeed.initialize 把“{pattern}”当作正则表达式，但它不是合法的正则，会报错。",
        "匹配所有模块就写“.*”，否则写模块名的一部分。",
    ),
    "DS068.groups": (
        "{key}：缺失；即使该技术已关闭，DeepSpeed 也会查找分组，读取文件时就会报错。",
        "",
    ),
    "DS068.heads": (
        "{key}：缺失；注意力头剪枝已开启，DeepSpeed 读取文件时就会报错。",
        "",
    ),
    "DS068.parameters": (
        "{key}：缺失；每个分组都必须有它，否则 DeepSpeed 读取文件时就会报错。",
        "",
    ),
    "DS068.parameter": (
        "{key}：缺失；{technique} 的每个分组都必须写明，否则 DeepSpeed 读取文件时就会报错。",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS068.give": "补上它，或删除这项技术。",
}
