"""运行的文案：状态、正在做什么、发生了什么。"""

STATES = {
    "pending": "待启动",
    "queued": "排队中",
    "running": "运行中",
    "stopping": "正在停止",
    "succeeded": "成功",
    "failed": "失败",
    "stopped": "已停止",
    "lost": "失联",
    "damaged": "已损坏",
    "foreign": "其他版本",
    "elsewhere": "已添加",
}

PHASES = {
    "starting": "启动 launcher",
    "importing": "导入模块",
    "compiling": "编译算子",
    "first_step": "第一步",
    "slurm_queue": "已提交到 Slurm，正在等待节点。",
    "first_values": "已读到首批数值，等待第 1 步。",
    "downloading": "",
    "loading": "",
    "preparing": "",
    "saving": "",
    "tokenizing": "",
    "training": "",
    "evaluating": "",
}

# 这次训练用了什么，几个词。
RAN = {
    "batch": "批大小 {train}",
    "batch_all": "批大小 {train} = {micro} × 累积 {steps} 步 × {ranks} 个 rank",
    "batch_ranks": "批大小 {train} = {micro} × {ranks} 个 rank",
    "batch_steps": "批大小 {train} = {micro} × 累积 {steps} 步",
    "optimizer_cpu": "优化器在 CPU",
    "optimizer_nvme": "优化器在 NVMe",
    "parameters_cpu": "参数在 CPU",
    "parameters_nvme": "参数在 NVMe",
    "precision": "{precision}",
    "stage": "ZeRO stage {stage}",
}

DOINGS = {
    "tokenizing": "分词 {done}",
    "tokenizing_of": "分词 {done} / {total}",
    "own": "{label} {done}",
    "own_of": "{label} {done} / {total}",
    "data": "准备数据：{label} {done}",
    "data_of": "准备数据：{label} {done} / {total}",
}

ALERTS = {
    "nan": "{name} 为 NaN。",
    "nan_in_file": "{name} 为 NaN（{source}）。",
    "infinite": "{name} 为无穷大。",
    "infinite_in_file": "{name} 为无穷大（{source}）。",
    "finite": "{name} 已恢复为有限值。",
    "finite_in_file": "{name} 已恢复为有限值（{source}）。",
    "host_memory": "内存：已用 {used} / {total}（{percent}%）。",
    "host_memory_below": "内存：已回到限值以下，已用 {used} / {total}（{percent}%）。",
    "container_memory": "容器内存：已用 {used} / {total}（{percent}%）。",
    "container_memory_below": "容器内存：已回到限值以下，已用 {used} / {total}（{percent}%）。",
    "gpu_memory": "GPU {gpu}：已用 {used} / {total}（{percent}%）。",
    "gpu_memory_below": "GPU {gpu}：已回到限值以下，已用 {used} / {total}（{percent}%）。",
    "gpu_slowed": "GPU {gpu} 被降频：{reasons}。",
    "gpu_full_speed": "GPU {gpu} 不再降频。",
    "stalled": "已 {seconds} s 没有新的训练步；通常每步 {usual} s。",
    "steps_go_on": "训练步恢复推进。",
    "own_fault": "dsgui 记录这次运行时出错：部分数据点、采样或输出可能缺失。训练不受影响。见 supervisor.log。",
    "slower": "最近一分钟 {rate} 步/秒；通常为 {usual}。",
    "as_fast_again": "最近一分钟 {rate} 步/秒，已接近通常的 {usual}。",
}

EVENTS = {
    "notified": "已发送通知。",
    "not_notified": "通知未发出：{why}。",
    "stop_asked": "已请求停止。",
    "limit_reached": "达到设定的上限（{limit}），已停止。",
    "mixed_ranks": "每一步打印的次数与 rank 数相同：只取首行。",
}

MARKS = {
    "checkpoint": "检查点",
    "evaluation": "评估",
    "overflow": "溢出",
    "warning": "警告",
    "error": "错误",
    "stop": "停止",
    "alert": "告警",
}

NOTIFYING = {
    "timed_out": "超时",
    "test": "来自“2 · 启动”的测试",
    "no_connection": "无法连接（{what}）",
    "refused": "被拒绝（代码 {what}）",
    "unreadable": "返回的内容无法读取",
    "no_answer": "没有响应",
}
