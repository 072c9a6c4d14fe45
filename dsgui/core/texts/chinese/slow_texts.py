"""Texts of why a run is slow, in Chinese."""

SLOW = {
    "too_few": "暂时无法判断：训练期间只有 {count} 个采样，至少需要 {fewest} 个。",
    "nothing": "没有明显瓶颈：GPU 一直忙碌。",
    "no_gpu": "没有明显瓶颈。没有 GPU 采样，无法判断是否在等待数据。",
    "data": "{share} 的时间在等待数据：主机 CPU 工作时 GPU 空闲。",
    "offload": "{share} 的时间在等待 CPU 上的优化器。",
    "cpu_full": "主机 CPU 已占满：GPU 有 {share} 的时间空闲。",
    "transfers": "{share} 的时间 GPU 空闲，其间主机与 GPU 之间在传输数据（PCIe）。",
    "idle": "GPU 有 {share} 的时间空闲；采样看不出原因。",
    "cpu_full_others": "主机 CPU 被其他进程占满：GPU 有 {share} 的时间空闲。",
    "cpu_own": "{share} 的时间里，本次运行占满了主机 CPU。",
    "cpu_others": "{share} 的时间里主机 CPU 被占满，主要来自其他进程。",
    "cpu_limit": "主机 CPU 在 {share} 的时间内被占满（本次运行或其他进程）。",
    "evaluation": "{share} 的时间用于评估。",
    "checkpoint": "{share} 的时间用于保存检查点。",
    "swap": "使用了 swap：主机内存不足。",
    "rank": "rank {rank} 的耗时是其他 rank 的 {times} 倍，其他 rank 每一步都在等它。",
    "uneven": "{name} 远不如最忙的 GPU 忙碌。",
    "slowed": "{name} 有 {share} 的时间因过热或供电而降频。",
}
SLOW_FIGURES = {
    "gpu": "GPU 利用率：{value}",
    "cpu": "主机 CPU：{value}",
    "cpu_while_idle": "GPU 空闲时的主机 CPU：{value}",
    "cpu_while_busy": "GPU 忙碌时的主机 CPU：{value}",
    "pcie": "PCIe 流量：每个 GPU {value} GiB/s",
    "processes": "本次运行的进程数：{value}",
    "of_run": "占满时本次运行占用：{value}",
    "of_others": "其他进程占用：{value}",
    "seconds": "{of} s 中的 {value} s",
    "swap": "swap 比开始时多用 {value} GiB",
    "rank": "每步自身计算：rank {rank} 为 {value} ms，其他为 {others} ms",
    "of_gpu": "{name}：{value}",
}
SLOW_ADVICE = {
    "data": "增大 dataloader_num_workers（HF Trainer）或 num_workers，开启 pin_memory，并在训练前完成分词。",
    "offload": "显存允许时去掉 offload_optimizer，增大 gradient_accumulation_steps，或为运行分配更多 CPU 核心。",
    "cpu_full": "让 DataLoader worker 数少于核心数，设置 OMP_NUM_THREADS，或在训练前处理好数据。",
    "transfers": "增大微批大小，减少卸载（offload_param、offload_optimizer），或检查 GPU 的 PCIe 通道数。",
    "idle": "增大微批大小；检查数据加载、logging_steps 以及节点间网络。wall_clock_breakdown 可显示每一步的时间分布。",
    "cpu_full_others": "停止本机上的其他程序，或把它们放到别的机器上运行。",
    "cpu_own": "改用 GPU 训练，或为运行分配更多核心。",
    "cpu_others": "停止本机上的其他程序，或把它们放到别的机器上运行。",
    "cpu_limit": "先检查本机是否有其他任务；然后改用 GPU 训练，或为运行分配更多核心。",
    "evaluation": "降低评估频率（eval_steps）、减少评估样本，或增大 per_device_eval_batch_size。",
    "checkpoint": "降低保存频率（save_steps）、换用更快的磁盘，或不保存优化器状态（save_only_model）。",
    "swap": "减少 DataLoader worker 或预取，减少卸载，或结束其他进程。",
    "rank": "检查该 GPU 的频率、温度和 PCIe 通道、所在机器上的其他任务，以及它分到的数据是否更长。",
    "uneven": "检查该 rank 是否分到更少的数据，或其他 GPU 上是否有别的进程。",
    "slowed": "检查散热、风扇和供电。",
}

NO_LOSS: dict[str, str] = {
    "before_training": "没有输出损失：运行在第一个训练步完成之前就结束了。",
    "before_training_of_training": "没有输出训练损失：运行在第一个训练步完成之前就结束了。",
    "will": "不会输出损失。",
    "will_of_training": "不会输出训练损失。",
    "was": "没有输出损失。",
    "was_of_training": "没有输出训练损失。",
    "yet": "还没有损失。",
    "yet_of_training": "还没有训练损失。",
    "unread_so_far": (
        "到目前为止，脚本的输出中没有 dsgui 能识别为损失的行。如果脚本会输出损失，请在“曲线及其来源”中添加匹配规则。"
    ),
    "unread": "脚本的输出中没有 dsgui 能识别为损失的行；请在“曲线及其来源”中添加匹配规则。",
    "only_evaluates": "本次运行只做评估：没有给出 --do_train，因此没有训练损失。",
    "nothing_left": (
        "没有训练任何一步：恢复时所用的检查点已经是最后一步（第 {total} 步）。请增加 epoch 数或步数，或换一个输出目录。"
    ),
    "logging_off": "--logging_strategy no 关闭了日志：请改用 --logging_steps {advised}。",
    "logs_by_epoch": (
        "使用 --logging_strategy epoch 时，HF Trainer 在每个 epoch 结束时记录；--logging_steps {advised} "
        "可以记录得更频繁。"
    ),
    "logs_by_file": "HF Trainer 每 “logging_steps” 步记录一次，默认为 {default}：请在脚本读取参数的文件中设置。",
    "logs_in_code": "HF Trainer 每 “logging_steps” 步记录一次，默认为 {default}：请在脚本的 TrainingArguments 中设置。",
    "logs": "HF Trainer 每 {every} 步记录一次",
    "logs_default": "HF Trainer 默认每 {every} 步记录一次",
    "add_steps": "添加 --logging_steps {advised}",
    "use_steps": "使用 --logging_steps {advised}",
    "too_few": "{logs}，而本次运行只有 {total} 步：请{advice}。",
    "not_yet": "{logs}。要记录得更频繁，请{advice}。",
    "not_yet_at": "{logs}，本次运行在第 {step} 步。要记录得更频繁，请{advice}。",
    "ended_before": "{logs}，而本次运行在第 {step} 步结束：请{advice}。",
    "seldom": "{logs}：请{advice}。",
}
