"""The tutorial on what takes the memory, in Chinese."""

MEMORY: dict[str, str] = {
    "memory.name": "显存都用在哪里",
    "memory.about": "每个参数 16 字节（16Ψ）、四个 ZeRO stage、卸载、激活、缓冲区：先移动滑块，再看你自己的两次运行。",
    "memory.source": "对应文档：模型显存分析与 DeepSpeed 核心思想",
    "sixteen.title": "每个参数十六字节",
    "sixteen.text": "用 Adam 做混合精度训练，Ψ 个参数中的每一个都要：2 字节权重、2 字节梯度，以及 fp32 的 4 字节主权"
    "重和 4 + 4 字节的一阶矩和二阶矩。合计 16Ψ：15 亿参数的 GPT-2 就是 22.4 GiB。\n"
    "先调大 N，再调 stage。",
    "sixteen.notes": "这个条形就是 1 · 配置里的那一条，对应这里所选的 stage；其中还有激活和缓冲区，所以比 16Ψ 长。\n"
    "只有一个 GPU（N = 1）时，每个 stage 都要保存全部 16Ψ。",
    "sixteen.ask": "16 字节中，优化器保存了多少？",
    "sixteen.a1": "12：主权重、一阶矩和二阶矩",
    "sixteen.a2": "8：一阶矩和二阶矩",
    "sixteen.a3": "4：每个参数的学习率",
    "sixteen.right": "模型状态的四分之三属于优化器，所以 ZeRO 最先分片的就是它。",
    "sixteen.wrong": "权重的 fp32 副本由优化器更新，也由它保存。",
    "stages.title": "找到放得下的最低 stage",
    "stages.text": "stage 1 把优化器的 12Ψ 分到 N 个 GPU，stage 2 再分梯度，stage 3 再分权重。stage 越高通信越多，所"
    "以应选放得下的最低 stage。\n"
    "设为 7B、8 × A100 40 GB、不卸载，再选出条形不越线的最低 stage。",
    "offload.title": "一个小 GPU，一个大模型",
    "offload.text": "DeepSpeed 的核心，用教程的话说就是：GPU 显存不够，CPU 内存来凑。暂时用不到的内容先放在内存里"
    "。\n"
    "3B 模型的 16Ψ 是 44.7 GiB。让它放进一个标称 24 GB 或更小的 GPU：先选显卡，再选卸载什么。"
    "卸载优化器需要 stage 1 或更高，卸载参数需要 stage 3。",
    "offload.notes": "显卡标称用 GB，这里的上限线是驱动报告的 GiB 数。",
    "activations.title": "激活",
    "activations.text": "反向传播要用到前向传播的一些值，它们随微批大小和样本长度增长。激活重计算只保留每层的输入，"
    "其余重新计算，代价是约多三分之一的计算。\n"
    "先调大微批和长度，再打开重计算。",
    "activations.ask": "哪个 ZeRO stage 会让激活变小？",
    "activations.a1": "stage 3",
    "activations.a2": "都不会：要靠更小的微批、更短的样本或重计算",
    "activations.a3": "每个 stage 都会，与 N 成正比",
    "activations.right": "ZeRO 分的是模型状态。激活属于每个 GPU 自己的样本，各 stage 都一样。",
    "activations.wrong": "比较 stage 0 到 stage 3 的条形中“激活”那一段。",
    "buffers.title": "缓冲区与碎片",
    "buffers.text": "梯度按桶归约。`reduce_bucket_size` 数的是元素个数，不管模型多小，桶都按设定的大小占用显存。\n"
    "碎片是 torch 已保留却用不上的显存，是条形里最不确定的一段：dsgui 画的是可能值，也有人报告过高达 30%。"
    "`PYTORCH_ALLOC_CONF=expandable_segments:True` 可以减少它。",
    "buffers.ask": "一个 500,000,000 元素的桶在 fp16 下占多少？",
    "buffers.a1": "0.47 GiB",
    "buffers.a2": "与模型的梯度一样多",
    "buffers.a3": "0.93 GiB",
    "buffers.right": "5 亿个元素，每个 2 字节。`overlap_comm` 在反向传播时再要一个，`contiguous_gradients` 在 stage 2 "
    "再要一个同样大的缓冲区。",
    "buffers.wrong": "这个键数的是元素；fp16 每个元素 2 字节。",
    "with_and_without.title": "卸载和不卸载各训练一次",
    "with_and_without.text": "自带示例在 stage 2 的两次短训练：一次优化器放在内存，一次放在计算的地方。两次都启动，然"
    "后并排查看。",
    "with_and_without.go1": "按卸载设置启动页",
    "with_and_without.go2": "按不卸载设置启动页",
    "price.title": "卸载的代价是什么？",
    "price.text": "教程最后归结为一个权衡：移到内存的越多，GPU 负担越小，两者之间的往来也越频繁。\n"
    "你的两次运行如下。CPU rank 上一切本来就在内存里，没有什么需要搬运，两次用时可能几乎相同；差别在 GPU 上才会显现"
    "。",
    "price.ask": "卸载省下的显存是用什么换来的？",
    "price.a1": "时间和内存：每一步都要把梯度拷出、把权重拷回，更新由 CPU 计算",
    "price.a2": "精度：优化器在 CPU 上用 16 位计算",
    "price.a3": "只要内存够，就没有代价",
    "price.right": "更新仍是同样的 fp32 运算，所以损失曲线一致。在你的 GPU 与 CPU 分工的机器上，请比较表中的每步用时。",
    "price.wrong": "比较你两次运行最后的损失和每步用时。",
}
