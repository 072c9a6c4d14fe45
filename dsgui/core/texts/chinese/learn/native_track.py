"""The tutorial on pre-training with deepspeed.initialize, in Chinese."""

NATIVE: dict[str, str] = {
    "native.name": "用 deepspeed.initialize 预训练",
    "native.about": "批大小同样是 64，用 1、4 或 8 个 GPU；优化器来自配置还是脚本；apex 的 opt_level 后来怎样了。",
    "native.source": "对应文档：DeepSpeed 多卡训练的安装与使用",
    "table.title": "批大小的表格",
    "table.text": "`train_batch_size` = `train_micro_batch_size_per_gpu` × `gradient_accumulation_steps` × GPU 数。"
    "教程的表格保持 64 不变，给出三种切分方式。\n"
    "每个按钮用表中一行打开同一个预设；请看 JSON 和上方的设置栏。",
    "table.go1": "1 个 GPU",
    "table.go2": "4 个 GPU",
    "table.go3": "2 台机器 × 4 个 GPU",
    "table.ask": "微批为 8、4 个 GPU 时，累积几步才是 64？",
    "table.a1": "1",
    "table.a2": "2",
    "table.a3": "8",
    "table.right": "64 = 8 × 2 × 4。三项都写的文件必须与实际 GPU 数相乘成立，否则 DeepSpeed 会拒绝；少写一项则由它推"
    "导。",
    "table.wrong": "用 64 除以 8 × 4。",
    "first_cut.title": "用一种切分方式预训练",
    "first_cut.text": "这个示例有自己的循环：先 `deepspeed.initialize`，再前向、反向、更新。一个小 GPT 学习用单词数"
    "数，不需要下载。\n"
    "在两个 rank 上启动，64 = 8 × 4 × 2。日志里就有教程的那种行：`Rank[0]: Epoch 1, step … / …, loss …`。在 GPU 机器"
    "上用两个 GPU，或其他能整除 8 的数目。",
    "first_cut.go1": "按两个 rank 设置启动页",
    "other_cut.title": "同样是 64，换一种切分方式",
    "other_cut.text": "现在是表格的第一行：一个 rank 累积 8 个微批，64 = 8 × 8 × 1。只要批仍是 64，换别的 rank 数或"
    "微批也可以。",
    "other_cut.go1": "按一个 rank 设置启动页",
    "optimizer.title": "优化器：来自配置还是脚本",
    "optimizer.text": "教程给出两种写法。有 `optimizer` 块时由配置创建；没有时由脚本创建 `torch.optim.AdamW`，传给 "
    "`deepspeed.initialize(optimizer=…)`；缺少该块时，这个示例就是这样做的。脚本自己的优化器若属于 torch 的 Adam 一"
    "族，ZeRO 直接接受；其他的需要 `zero_allow_untested_optimizer`。\n"
    "从 JSON 里删掉这个块，看看检查结果怎么说。",
    "optimizer.go1": "打开配置",
    "optimizer.ask": "脚本传了优化器，配置里又有这个块，用的是哪一个？",
    "optimizer.a1": "脚本的：此时不再读这个块",
    "optimizer.a2": "配置的：它覆盖脚本",
    "optimizer.a3": "两个轮流用",
    "optimizer.right": "只有脚本没有传时，DeepSpeed 才用这个块创建（engine.py 的 `_configure_optimizer`）。这时在配"
    "置里改学习率不起任何作用。",
    "optimizer.wrong": "DeepSpeed 先看传给它的是什么。",
    "precision.title": "opt_level 后来怎样了",
    "precision.text": "教程里有 apex 的 `amp` 块和 `opt_level`。DeepSpeed 0.19.8 拒绝任何 `amp` 块，即使是 "
    "`enabled: false`；更早的版本拒绝它与 ZeRO 同用。\n"
    "表格列出各级别当时的做法和如今对应的键。教程自己的配置用的是 `fp16`，`initial_scale_power` 为 12：请打开看看。",
    "precision.go1": "打开 fp16 配置",
    "precision.ask": "如今哪个键相当于 O2？",
    "precision.a1": "`amp` 加 `opt_level: O2`",
    "precision.a2": "`torch_autocast`",
    "precision.a3": "`fp16`（或 `bf16`）：16 位权重加 fp32 主权重",
    "precision.right": "而且 ZeRO 会把主权重分片，这是 apex 从未做到的。",
    "precision.wrong": "O2 转换的是权重本身，并在优化器里保留 fp32 副本；请在表中找这一行。",
    "same_batch.title": "这是同样的训练吗？",
    "same_batch.text": "表格的意思是：不管有多少 GPU，64 还是 64。你的两次运行如下；在“对比”里它们的曲线叠在一起。",
    "same_batch.ask": "64 的切分方式不同，会改变什么？",
    "same_batch.a1": "学习率要随 GPU 数调整",
    "same_batch.a2": "用时和显存；经过同样多的步数，损失大致相同",
    "same_batch.a3": "rank 越多，每个 epoch 的更新步数越多",
    "same_batch.right": "每一步看到的都是 64 个样本，所以步数、调度和学习率都不变。损失略有差别：样本分配的次序不同"
    "，求和的舍入也不同。",
    "same_batch.wrong": "比较你两次运行的步数和损失。",
}
