"""The tutorial that introduces DeepSpeed as a whole, in Chinese."""

LORA: dict[str, str] = {
    "lora.name": "从通信后端到 Bloom LoRA 微调",
    "lora.about": "rank 之间如何通信，两台机器，FLAN-T5 对话摘要，LoRA 及其适配器，以及 7B 为什么因此能训练。",
    "lora.source": "对应文档：deepspeed 介绍",
    "backends.title": "rank 之间如何通信",
    "backends.text": "一个 rank 就是一个进程；`local_rank` 是它在本机的编号，`rank` 是全局编号，主节点的地址和端口是"
    "大家会合的地方。rank 之间的数据由通信后端传输。\n"
    "4 · 本机会显示这里装了什么。",
    "backends.go1": "打开本机页",
    "backends.ask": "在 GPU 上要使用 nccl，需要设置什么？",
    "backends.a1": "ds_config.json 里的一个键",
    "backends.a2": "`--launcher nccl`",
    "backends.a3": "什么都不用：DeepSpeed 采用加速器自己的后端",
    "backends.right": "配置里没有选择后端的键。后端由加速器决定，或由脚本传给 `deepspeed.init_distributed`。",
    "backends.wrong": "看表格的最后一列。",
    "two_nodes.title": "两台机器",
    "two_nodes.text": "hostfile 每行写一台机器和它的 GPU 数；`--include` 取其中一部分：机器之间用 `@`，GPU 之间用逗"
    "号。ssh 必须能免密登录每台机器，文件在各机器上的路径要相同。\n"
    "按钮会填好教程里的两台机器：第一台的 3 号 GPU，第二台的 2、3 号 GPU。读一读命令；不会启动任何东西。",
    "two_nodes.go1": "按两台机器设置启动页",
    "two_nodes.ask": "`--include=node1:3@node2:2,3` 会启动几个 rank？",
    "two_nodes.a1": "3 个",
    "two_nodes.a2": "5 个",
    "two_nodes.a3": "8 个，按 hostfile",
    "two_nodes.right": "指定的每个 GPU 各一个。全局批大小 64、微批为 8，无法分给三个 rank，所以这样启动会被"
    "拒绝：清空 Include，八个 rank 就是 64 = 8 × 1 × 8。",
    "two_nodes.wrong": "数一数冒号后面的 GPU。",
    "dialogues.title": "用 FLAN-T5 做对话摘要",
    "dialogues.text": "教程用 ZeRO-3、bf16、全部卸载来训练 FLAN-T5 做对话摘要。自带示例用小 T5 和代码生成的对话做同"
    "样的事：损失下降，ROUGE 上升。\n"
    "加上 `--model_name_or_path google/flan-t5-xxl --dataset_name knkarthick/samsum` 就是教程里的那次训练。",
    "dialogues.go1": "按对话摘要设置启动页",
    "lora_run.title": "Bloom 的 LoRA 微调",
    "lora_run.text": "LoRA 冻结模型，只训练线性层旁边的小适配器：这里 r = 8，alpha = 32，dropout 0.1。损失只计算回答"
    "部分，指令部分用 −100 遮盖。\n"
    "配置里的 `activation_checkpointing` 块对 transformers 的模型不起作用，起作用的是 `--gradient_checkpointing`。\n"
    "教程用 fp16 训练；在没有 fp16 的机器上，按钮改用 bf16。",
    "lora_run.go1": "按 LoRA 设置启动页",
    "adapter.title": "合并适配器",
    "adapter.text": "这次运行留下一个适配器：几兆字节，离开模型就没有用。在运行页的“训练之后”里把它合并成完整的模型"
    "，再在试用框里与原模型对比。",
    "adapter.go1": "打开运行页",
    "seven_b.title": "7B 为什么因此能训练？",
    "seven_b.text": "教程用 LoRA、ZeRO-2 和优化器卸载，在四个 GPU 上训练 Bloomz-7B1。你自己的运行是一个小 Bloom；7B "
    "的数字来自显存模型。",
    "seven_b.ask": "LoRA 省下的是什么？",
    "seven_b.a1": "16 位权重：只加载适配器",
    "seven_b.a2": "梯度、主权重和动量：只有适配器才有",
    "seven_b.a3": "激活：冻结的层不保留",
    "seven_b.right": "权重还在，stage 2 时每个 GPU 都有 2Ψ；其余 14Ψ 缩小到几乎没有。激活也还在：反向传播要穿过冻结的"
    "层才能到达适配器。",
    "seven_b.wrong": "比较表中各行：哪几行几乎消失了？",
}
