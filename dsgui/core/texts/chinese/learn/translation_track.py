"""The tutorial on training T5 for translation, in Chinese."""

TRANSLATION: dict[str, str] = {
    "translation.name": "用 T5 做翻译：先 ZeRO-2，再 ZeRO-3",
    "translation.about": "训练，观察损失，换 ZeRO-3 再训练一次，并弄清两个键对 T5-3B 起了什么作用。",
    "translation.source": "对应文档：DeepSpeed 单 GPU 训练翻译模型",
    "auto.title": "看懂配置",
    "auto.text": '教程的配置是 ZeRO stage 2，优化器卸载到内存，大多数值写的是 `"auto"`。\n'
    "在 1 · 配置中打开它，看看 `train_micro_batch_size_per_gpu`、`optimizer` 和 `fp16`。",
    "auto.go1": "打开 ZeRO-2 配置",
    "auto.ask": "配置里写着“auto”时，微批大小由谁决定？",
    "auto.a1": "DeepSpeed，根据空闲显存",
    "auto.a2": "HF Trainer，取自 `--per_device_train_batch_size`",
    "auto.a3": "预设，根据模型大小",
    "auto.right": "Trainer 会先用自己的参数填好每一个“auto”，再把配置交给 DeepSpeed。没有 Trainer，同一个文件会被拒"
    "绝。",
    "auto.wrong": "DeepSpeed 和预设都不会为此查看显存。想想 Trainer 的命令行里有什么。",
    "zero2_run.title": "用 ZeRO-2 训练",
    "zero2_run.text": "自带的示例用代码生成的数据训练一个小 T5，不需要下载。有 GPU 时，教程里的命令也能在这里运行："
    "把它的参数填进参数框即可。\n"
    "看一看命令和旁边的检查，然后点“启动”。第一次运行要编译 DeepSpeed 的算子，大约一分钟。",
    "zero2_run.go1": "按 ZeRO-2 设置启动页",
    "zero2_loss.title": "观察损失下降",
    "zero2_loss.text": "3 · 运行会画出日志中的曲线，旁边是它占用的内存。学习率先预热：损失先慢后快地下降。\n"
    "损失降到最初的一半，这一步就完成了。",
    "zero2_loss.go1": "打开运行页",
    "zero3_run.title": "换成 ZeRO-3",
    "zero3_run.text": "ZeRO-3 把参数也分片，这份配置还把它们放在内存里：每一层要计算时才收集，用完就释放。\n"
    "这是教程训练 T5-3B 的配置；这里仍训练刚才的小 T5，好让两次运行可以比较。",
    "zero3_run.go1": "按 ZeRO-3 设置启动页",
    "side_by_side.title": "比较两次运行",
    "side_by_side.text": "数据和模型相同，只有 ZeRO stage 不同。看看损失、每步用时、内存，以及两者不同的设置。",
    "two_keys.title": "这两个键起了什么作用？",
    "two_keys.text": "教程用 ZeRO-3 训练 T5-3B，全部卸载；然后把 `stage3_max_live_parameters` 提高到 3e10，把 "
    "`stage3_max_reuse_distance` 提高到 1e10。显存用得更多了，内存却没有减少，教程最后留下的问题就是：为什么？\n"
    "手边的机器大多训练不了 T5-3B，所以这里的数字来自显存模型。",
    "two_keys.go1": "打开调整前的配置",
    "two_keys.go2": "打开调整后的配置",
    "two_keys.ask": "为什么内存占用没有变？",
    "two_keys.a1": "GPU 现在持有的内容从来不在内存里",
    "two_keys.a2": "只有 Adam 的动量移到了 GPU",
    "two_keys.a3": "这两个键只让收集的副本保留得更久；分片、主权重和动量都还在原处",
    "two_keys.right": "收集的参数只是副本。无论怎样，内存为每个参数保存 20 字节（16 位的权重和梯度、fp32 主权重和梯"
    "度、一阶矩和二阶矩），锁页内存块还会向上取整。任何一个键只要超过模型大小，效果都一样。",
    "two_keys.wrong": "看表格：有一行的增量正好等于 GPU 的增量，而内存那一行没有变化。",
}
