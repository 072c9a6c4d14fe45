// Made by `make docs` from core/texts/ and core/metrics/chart_table.py: change those and not this.

/* eslint max-len: "off" -- a text is one line */

/** @import { ChartKind, Spot } from "./types.d.ts" */

/** @type {Record<string, Record<string, string>>} */
// prettier-ignore
export const TEXTS = {
 "states": {
  "pending": "待启动",
  "queued": "排队中",
  "running": "运行中",
  "stopping": "正在停止",
  "succeeded": "成功",
  "failed": "失败",
  "stopped": "已停止",
  "lost": "失联",
  "damaged": "已损坏"
 },
 "phases": {
  "starting": "正在启动：加载 PyTorch 和模型。在一台机器上首次运行时，DeepSpeed 还要编译算子，约一分钟。",
  "compiling": "DeepSpeed 正在编译算子。一台机器上的首次运行约需一分钟；之后会立即启动。",
  "slurm_queue": "已提交到 Slurm，正在等待节点。",
  "downloading": "",
  "loading": "",
  "preparing": "",
  "saving": "",
  "tokenizing": "",
  "training": "",
  "evaluating": ""
 },
 "alerts": {
  "nan": "{name} 为 NaN。",
  "nan_in_file": "{name} 为 NaN（{source}）。",
  "infinite": "{name} 为无穷大。",
  "infinite_in_file": "{name} 为无穷大（{source}）。",
  "finite": "{name} 已恢复为有限值。",
  "finite_in_file": "{name} 已恢复为有限值（{source}）。",
  "host_memory": "内存：{total} GiB 中已用 {used} GiB（{percent} %）。",
  "host_memory_below": "内存：已回到限值以下，{total} GiB 中已用 {used} GiB（{percent} %）。",
  "container_memory": "容器内存：{total} GiB 中已用 {used} GiB（{percent} %）。",
  "container_memory_below": "容器内存：已回到限值以下，{total} GiB 中已用 {used} GiB（{percent} %）。",
  "gpu_memory": "GPU {gpu}：{total} GiB 中已用 {used} GiB（{percent} %）。",
  "gpu_memory_below": "GPU {gpu}：已回到限值以下，{total} GiB 中已用 {used} GiB（{percent} %）。",
  "gpu_slowed": "GPU {gpu} 被降频：{reasons}。",
  "gpu_full_speed": "GPU {gpu} 不再降频。",
  "stalled": "已 {seconds} s 没有新的训练步；通常每步 {usual} s。",
  "steps_go_on": "训练步恢复推进。",
  "own_fault": "dsgui 记录这次运行时出错：部分数据点、采样或输出可能缺失。训练不受影响。见 supervisor.log。",
  "slower": "最近一分钟 {rate} steps/s；通常为 {usual}。",
  "as_fast_again": "最近一分钟 {rate} steps/s，已接近通常的 {usual}。"
 },
 "events": {
  "stop_asked": "已请求停止。"
 },
 "marks": {
  "checkpoint": "检查点",
  "evaluation": "评估",
  "overflow": "溢出",
  "warning": "警告",
  "error": "错误",
  "stop": "停止",
  "alert": "告警"
 },
 "memory_parts": {
  "weights": "权重",
  "frozen_weights": "冻结权重",
  "gathered": "已收集的参数",
  "secondary_partition": "二级分片（hpZ）",
  "gradients": "梯度",
  "master": "fp32 主权重",
  "moments": "优化器状态",
  "buckets": "通信桶",
  "staging": "通信副本",
  "activations": "激活",
  "logits": "logits 和损失",
  "step": "优化器更新时的副本",
  "initialize": "初始化时的副本",
  "swap_buffers": "NVMe 交换缓冲区",
  "other": "其他",
  "cuda_context": "CUDA context",
  "nccl": "NCCL",
  "cublas": "cuBLAS 工作区",
  "fragmentation": "碎片",
  "interpreter": "Python 和各种库",
  "pinned_cache": "已释放的锁页块",
  "dataloader": "DataLoader 工作进程",
  "system": "操作系统",
  "in_use": "当前已占用"
 },
 "memory_about": {
  "weights": "模型自身的参数，按模型的 dtype 存放。ZeRO-3 把它们切分到各 rank。",
  "frozen_weights": "不训练的参数，不需要梯度和优化器状态。",
  "gathered": "ZeRO-3 为正在计算的层从各 rank 收集来的参数。",
  "secondary_partition": "hpZ 在每个节点内保留参数的第二份分片。",
  "gradients": "优化器更新之前的梯度。ZeRO-2 和 3 把它们切分到各 rank。",
  "master": "由优化器更新的 fp32 参数副本。ZeRO 会切分它。",
  "moments": "优化器为每个参数保存的状态：Adam 为两个 fp32 值。ZeRO 会切分它们。",
  "buckets": "梯度等待归约的缓冲区，一次整块分配。",
  "staging": "传输过程中的梯度或参数副本。",
  "activations": "前向传播为反向传播保留的内容。开启梯度检查点、减小微批或缩短序列可以减少它。",
  "logits": "词表上的分数和损失，随 微批大小 × 序列长度 × 词表大小 增长。",
  "step": "优化器更新期间存在的副本。",
  "initialize": "只在 deepspeed.initialize 期间存在。在主机上：ZeRO 切分之前，每个 rank 加载的整个模型；HF Trainer 在 stage 3 下加载时就已切分。",
  "swap_buffers": "读写 NVMe 所用的锁定缓冲区。",
  "other": "没有单独名称的部分。",
  "cuda_context": "驱动为每个进程在卡上保留的显存。没有任何键能改变它。",
  "nccl": "集合通信的缓冲区，不在 torch 的统计之内。没有任何键能改变它。",
  "cublas": "矩阵乘法的工作区。由 CUBLAS_WORKSPACE_CONFIG 决定。",
  "fragmentation": "torch 分配器在张量之外多预留的部分。PYTORCH_ALLOC_CONF=expandable_segments:True 可以减少它。",
  "interpreter": "每个 rank 的 Python、torch 和各种库。",
  "pinned_cache": "DeepSpeed 已释放的锁页块：torch 留着给同样大小的分配使用。",
  "dataloader": "DataLoader 工作进程不与所属 rank 共享的内存（--dataloader_num_workers）。",
  "system": "操作系统及其服务。",
  "in_use": "其他程序当前占用的部分。只有届时它们仍在运行才算。"
 },
 "memory_moments": {
  "init": "初始化",
  "forward": "前向",
  "backward": "反向",
  "step": "更新"
 },
 "memory_places": {
  "gpu": "GPU",
  "host": "内存",
  "pinned": "内存（锁页）",
  "nvme": "NVMe"
 },
 "memory_fits": {
  "fits": "放得下",
  "tight": "紧张",
  "does_not_fit": "放不下",
  "cannot_say": "无法判断"
 },
 "memory_rehearsal": {
  "ask": "询问 DeepSpeed：试运行",
  "cancel": "取消",
  "how": "由训练环境中真正的引擎在没有存储的张量上运行三步。不需要 GPU，7B 模型约一分钟。",
  "going": "试运行，{seconds} s：{now}",
  "waiting": "前面还有 {ahead} 个：一次只做一个试运行。",
  "starting": "正在训练环境中启动 Python 并导入 DeepSpeed",
  "load": "正在主机上创建模型",
  "model": "正在创建模型，切分到各 rank",
  "init": "deepspeed.initialize",
  "forward": "第 {step}/{steps} 步，前向",
  "backward": "第 {step}/{steps} 步，反向",
  "step": "第 {step}/{steps} 步，优化器",
  "end": "正在统计",
  "stands": "以公式的结果为准。",
  "outdated": "已过时：配置、模型或 GPU 数在此之后有变化。请重新询问。",
  "agrees": "公式与试运行相差不到 2 %。",
  "done": "使用 DeepSpeed {release} 试运行，rank {rank}（共 {ranks} 个）：{steps} 步，用时 {seconds} s。",
  "timeline": "一个 rank 的张量，按阶段",
  "peak": "峰值的组成",
  "lines": "以列表显示",
  "no_line": "autograd",
  "smaller": "较小的行",
  "formula": "按公式",
  "nth": "第 {step} 步",
  "phase_load": "加载",
  "phase_model": "创建模型",
  "phase_init": "初始化",
  "phase_forward": "前向",
  "phase_backward": "反向",
  "phase_step": "优化器更新",
  "planned": "上面的条形图按 DeepSpeed {release} 估计。只有已安装的 {installed} 能做试运行：请在上面选择它，或用装有 {release} 的 --python 启动 dsgui。",
  "none": "训练环境没有安装 DeepSpeed。请用装有它的 --python 启动 dsgui。"
 },
 "memory_sources": {
  "formula": "按公式",
  "dry_run": "按试运行"
 },
 "common_page": {
  "more_findings": "还有 {count} 条未显示。",
  "form_waits": "表单保留上一次有效的状态，输入的内容不会丢失。",
  "unreadable_json": "JSON 暂时无法读取",
  "convert": "转换为标准 JSON",
  "word_error": "错误",
  "word_warning": "警告",
  "word_note": "提示",
  "count_error": "{count} 个错误",
  "counts_error": "{count} 个错误",
  "count_warning": "{count} 个警告",
  "counts_warning": "{count} 个警告",
  "count_note": "{count} 条提示",
  "counts_note": "{count} 条提示",
  "refused": "{judge} 会拒绝此配置：{counts}",
  "passes": "检查通过",
  "passes_with": "检查通过（{counts}）",
  "checked_for": "检查对象：{subject}",
  "show_field": "在表单中显示此字段",
  "about_rule": "{rule}：关于此规则"
 },
 "site_page": {
  "tab_configure": "1 · 配置",
  "tab_launch": "2 · 启动",
  "tab_runs": "3 · 运行",
  "tab_machine": "4 · 本机",
  "lead": "编写 DeepSpeed 配置、启动训练并实时监控。先选一个预设，处理好检查结果，再打开 <b>2 · 启动</b>。",
  "language": "语言",
  "cpu_only": "仅 CPU",
  "no_deepspeed": "训练环境中没有安装 DeepSpeed。",
  "asking_accelerator": "{device}（正在向 DeepSpeed 查询支持的精度……）",
  "dtypes": "{device}：{dtypes}",
  "no_dtype": "不支持 {dtype}"
 },
 "goal_page": {
  "title": "想训练什么？",
  "open": "从目标开始…",
  "skip": "跳过",
  "what": "训练代码",
  "hf": "用 HF Trainer 微调",
  "hf_about": "transformers、TRL：Trainer 读取配置，并填好每个 “auto”。",
  "native": "原生 DeepSpeed 循环",
  "native_about": "脚本自己调用 deepspeed.initialize。",
  "own": "已有 ds_config.json",
  "own_about": "检查、修正并启动。",
  "paste": "粘贴到编辑器",
  "file": "打开文件",
  "model": "模型",
  "model_hint": "参数量（如 7B）、含 config.json 的文件夹，或本地缓存中的 hub id",
  "length": "每个样本的 token 数",
  "micro": "每卡微批大小",
  "gpu": "GPU",
  "this_machine": "本机：{device}",
  "gpus": "每个节点的 GPU 数",
  "nodes": "节点数",
  "nvidia": "NVIDIA",
  "amd": "AMD",
  "find": "查看放得下的配置",
  "finding": "正在计算哪些配置放得下…",
  "enter_model": "请填写模型或参数量，例如 7B。",
  "none_fit": "都放不下。最接近的两种：",
  "none_fit_next": "可以缩短样本、减小微批大小、改用 LoRA，或增加 GPU。",
  "some_fit": "按估计的速度排序，并非实测。显存和内存分别按每张 GPU、每个节点预测。",
  "fastest": "最快",
  "roomier": "余量更大",
  "leanest": "显存最省",
  "nearest": "最接近",
  "same_speed": "与第一种速度相近",
  "slower": "估计耗时约为第一种的 {times} 倍",
  "first": "放得下的配置中最快",
  "room_left": "每张 GPU 还剩 {gib}",
  "too_much": "超出 {gib}",
  "checkpointing": "启用梯度检查点",
  "launch_with": "脚本参数：{words}",
  "use": "使用此配置"
 },
 "configure_page": {
  "launch": "启动 →",
  "own_config": "自己的配置",
  "modified": "已修改",
  "passes": "检查通过",
  "broken": "无法读取",
  "error_one": "{count} 个错误",
  "error_many": "{count} 个错误",
  "warning_one": "{count} 个警告",
  "warning_many": "{count} 个警告",
  "note_one": "{count} 条提示",
  "note_many": "{count} 条提示",
  "to_findings": "查看检查结果",
  "to_memory": "查看显存预测",
  "download": "下载",
  "plan_for_that": "按此规划",
  "made_for_one": "此预设针对 1 张 GPU。",
  "made_for_many": "此预设针对 {ranks} 张 GPU。",
  "made_for_card_one": "此预设针对 1 张 GPU（如 {card}），当前所选设备会拒绝它。",
  "made_for_card_many": "此预设针对 {ranks} 张 GPU（如 {card}），当前所选设备会拒绝它。",
  "undo": "撤销",
  "redo": "重做",
  "undo_keys": "在文本框之外按 Ctrl+Z",
  "redo_keys": "在文本框之外按 Ctrl+Shift+Z",
  "framework": "框架",
  "gpus": "每个节点的 GPU 数",
  "cpu_ranks": "每个节点的 GPU 数（本机：CPU rank）",
  "nodes": "节点数",
  "device": "设备",
  "release": "DeepSpeed",
  "native": "原生 DeepSpeed",
  "this_machine": "本机：{device}",
  "plan_for": "按 {what} 规划",
  "installed": "{release}（已安装）",
  "none_installed": "{release}（未安装 DeepSpeed）"
 },
 "form_page": {
  "not_set": "未设置",
  "not_set_default": "未设置（默认 {value}）",
  "default": "默认 {value}",
  "on": "开",
  "off": "关",
  "fill_auto": "设为 “auto”，再点一次取消",
  "unset": "取消设置 {key}",
  "unset_hint": "取消设置：从配置中删除该键",
  "more": "增大 {key}",
  "less": "减小 {key}",
  "removed": "DeepSpeed {release} 中已移除",
  "find": "查找字段：显存、offload、lr …",
  "find_about": "按键名、名称或说明查找字段",
  "show_all": "显示全部字段",
  "show_common": "只显示常用字段",
  "no_field": "没有匹配的字段。其他键可直接写在 JSON 中。",
  "waits": "{why} JSON 恢复有效后表单会继续更新。",
  "not_taken": "{kind} 不接受该参数。",
  "count_set": "已设置 {count} 项",
  "none_set": "未设置任何项",
  "show_line": "在 JSON 中显示第 {line} 行",
  "python_kind": "True、False、None 是 Python 写法，DeepSpeed 不会当作 true、false、null 读取。严格 JSON 如下：",
  "python_words": "True、False、None 改写为 true、false、null（行：{lines}）"
 },
 "memory_page": {
  "ladder": "更快和更省的配置",
  "ladder_looking": "正在计算其他配置…",
  "ladder_about": "模型、批大小和 rank 数不变。耗时以当前配置为 1，是估计值，并非实测；显存和内存取峰值时刻。",
  "ladder_change": "改动",
  "ladder_time": "耗时",
  "ladder_apply": "应用",
  "ladder_apply_this": "应用：{moves}",
  "ladder_as_is": "当前配置"
 },
 "launch_page": {
  "recipe_translation": "内置示例：T5 翻译数词（无需下载）",
  "own_script": "自己的脚本",
  "usual": "默认：等待 GPU 和其他主机空闲，本机 CPU 可共用",
  "more": "更多：启动器、排队、环境变量、端口、目录、名称",
  "if_busy_on_cpu": "如果有其他训练正在进行",
  "gpu": "{index}：{name}",
  "gpu_used": "已用 {used} / {total}",
  "gpu_by": "被 {runs} 占用",
  "quoted": "“{name}”",
  "check_machines": "检查各主机",
  "incomplete": "启动设置不完整：见命令上方的提示。",
  "host_checked": "已检查 1 台主机：{summary}",
  "hosts_checked": "已检查 {count} 台主机：{summary}",
  "command": "实际执行的命令",
  "undo": "撤销",
  "anyway": "仍然启动",
  "launch": "启动",
  "uses_own": "脚本使用自己的配置，而不是“1 · 配置”中的配置。",
  "gets_none": "脚本得不到此配置。",
  "reads_hf": "此脚本使用 HF Trainer，因此按 HF Trainer 检查；“1 · 配置”检查的是另一种框架。",
  "reads_native": "此脚本使用原生 DeepSpeed，因此按原生 DeepSpeed 检查；“1 · 配置”检查的是另一种框架。",
  "config_unreadable": "“1 · 配置”中的配置**无法读取：见下方。**",
  "config_refused": "“1 · 配置”中的配置，按 {devices} 检查：**{judge} 会拒绝它：见下方。**",
  "config_by_arguments": "“1 · 配置”中的配置，按 {devices} 检查：**与脚本参数一起会失败：见下方。**",
  "config_verdict": "“1 · 配置”中的配置，按 {devices} 检查：{verdict}。",
  "nothing_to_report": "没有问题",
  "settings_changed": "**未启动。**生成命令期间设置有变化。请核对新命令，再点一次“启动”。",
  "nothing_yet": "还不能启动：见上方提示。",
  "not_started": "**未启动。**{why}",
  "started": "已启动运行 {run}。",
  "preflight": "预检：{summary}"
 },
 "runs_page": {},
 "compare_page": {},
 "charts_page": {},
 "report_page": {},
 "machine_page": {
  "intro": "本机与训练环境，在打开此页时检查。",
  "again": "重新检查",
  "asking": "正在训练环境中检查 torch、CUDA 和 DeepSpeed 算子，需要几秒……",
  "this_machine": "本机：{summary}",
  "so_far": "本机：{summary}（尚未完成）",
  "problem": "问题",
  "warning": "警告",
  "ok": "正常",
  "unknown": "未检查",
  "unknown_value": "未知",
  "none": "无",
  "no_limit": "无限制",
  "gpus": "GPU",
  "host": "本机",
  "environment": "训练环境",
  "programs": "程序",
  "operators": "DeepSpeed 算子",
  "no_driver": "无（未找到 NVIDIA 驱动）",
  "driver": "驱动",
  "cuda_up_to": "最高支持 CUDA {release}",
  "capability": "计算能力 {capability}",
  "free_of": "空闲 {free} / {total}",
  "available_of": "可用 {free} / {total}",
  "cores": "核心",
  "usable_of": "此处可用 {usable} / {cores}",
  "memory": "内存",
  "memory_limit": "内存上限",
  "swap": "交换空间",
  "locked": "锁定内存",
  "locks_freely": "{limit}，当前用户不受限（CAP_IPC_LOCK）",
  "open_files": "打开文件数",
  "per_process": "每进程 {count} 个",
  "runs": "运行记录",
  "compiled": "编译的算子",
  "disk_at": "{path}：{disk}",
  "not_installed": "未安装",
  "built_for": "torch 构建目标",
  "toolkit": "CUDA toolkit",
  "accelerator": "加速器",
  "not_usable": "{build}，不可用：{why}",
  "no_nvcc": "没有 nvcc",
  "no_toolkit": "没有 torch 可用的",
  "no_dtype": "不支持 {dtype}",
  "accelerator_with": "{name}（{dtypes}）",
  "compiler": "C++ 编译器",
  "headers": "Python 头文件",
  "not_found": "未找到",
  "no_start": "无法启动",
  "built_in": "已内置",
  "compilable": "可以编译",
  "op_no": "不可用：{why}",
  "checks": "检查",
  "row_problem": "问题",
  "row_warning": "警告",
  "row_ok": "正常",
  "row_unknown": "未检查"
 }
};

/** @type {{ colours: string[], charts: Record<string, ChartKind>, logged: Record<string, Spot>, endings: Record<string, Spot>, readings: Record<string, Spot>, losses: Record<string, string>, evaluationCosts: string[], evaluationCounts: string }} */
// prettier-ignore
export const CHARTS = {
 "colours": [
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#E69F00",
  "#56B4E9",
  "#999999"
 ],
 "charts": {
  "loss": {
   "title": "Loss",
   "y": "loss",
   "scale": 1
  },
  "gpu_memory": {
   "title": "GPU memory",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true
  },
  "host_memory": {
   "title": "Host memory",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true
  },
  "learning_rate": {
   "title": "Learning rate",
   "y": "learning rate",
   "scale": 1
  },
  "grad_norm": {
   "title": "Gradient norm",
   "y": "grad norm",
   "scale": 1
  },
  "gpu_utilization": {
   "title": "GPU utilization",
   "y": "%",
   "unit": "%",
   "scale": 1,
   "zero": true
  },
  "evaluation": {
   "title": "Evaluation",
   "y": "score",
   "scale": 1
  },
  "throughput": {
   "title": "Throughput",
   "y": "samples/s",
   "scale": 1
  },
  "loss_scale": {
   "title": "Loss scale",
   "y": "loss scale",
   "scale": 1
  },
  "step_times": {
   "title": "Step times",
   "y": "ms",
   "scale": 1
  },
  "memory_logged": {
   "title": "Memory logged by DeepSpeed",
   "y": "GB",
   "scale": 1
  },
  "cpu": {
   "title": "CPU",
   "y": "%",
   "unit": "%",
   "scale": 1,
   "zero": true,
   "more": true
  },
  "gpu_power": {
   "title": "GPU power",
   "y": "W",
   "unit": "W",
   "scale": 1,
   "zero": true,
   "more": true
  },
  "gpu_temperature": {
   "title": "GPU temperature",
   "y": "°C",
   "unit": "°C",
   "scale": 1,
   "more": true
  },
  "gpu_clocks": {
   "title": "GPU clocks",
   "y": "MHz",
   "unit": "MHz",
   "scale": 1,
   "more": true
  },
  "pcie": {
   "title": "PCIe traffic",
   "y": "MiB/s",
   "unit": "MiB/s",
   "scale": 1048576,
   "zero": true,
   "more": true
  },
  "free_disk": {
   "title": "Free disk space",
   "y": "GiB",
   "unit": "GiB",
   "scale": 1073741824,
   "zero": true,
   "more": true
  }
 },
 "logged": {
  "learning_rate": {
   "chart": "learning_rate"
  },
  "grad_norm": {
   "chart": "grad_norm"
  },
  "loss_scale": {
   "chart": "loss_scale"
  },
  "skipped_steps": {
   "chart": "loss_scale",
   "right": "skipped steps"
  },
  "samples_per_second": {
   "chart": "throughput"
  },
  "tokens_per_second": {
   "chart": "throughput",
   "right": "tokens/s"
  }
 },
 "endings": {
  "_ms": {
   "chart": "step_times"
  },
  "_gb": {
   "chart": "memory_logged"
  }
 },
 "readings": {
  "gpu.used_bytes": {
   "chart": "gpu_memory"
  },
  "gpu.run_bytes": {
   "chart": "gpu_memory",
   "note": "this run",
   "dash": "dot",
   "alone": true
  },
  "host_used_bytes": {
   "chart": "host_memory",
   "note": "host, all processes",
   "colour": "#999999"
  },
  "run_bytes": {
   "chart": "host_memory",
   "note": "this run",
   "colour": "#D55E00"
  },
  "swap_used_bytes": {
   "chart": "host_memory",
   "note": "swap",
   "colour": "#CC79A7",
   "if_any": true
  },
  "gpu.utilisation_percent": {
   "chart": "gpu_utilization"
  },
  "cpu_percent": {
   "chart": "cpu",
   "note": "all cores"
  },
  "gpu.power_w": {
   "chart": "gpu_power"
  },
  "gpu.temperature_c": {
   "chart": "gpu_temperature"
  },
  "gpu.sm_clock_mhz": {
   "chart": "gpu_clocks"
  },
  "gpu.pcie_rx_bytes_s": {
   "chart": "pcie",
   "note": "received"
  },
  "gpu.pcie_tx_bytes_s": {
   "chart": "pcie",
   "note": "sent",
   "dash": "dot"
  },
  "disk_free_bytes": {
   "chart": "free_disk",
   "note": "where the run writes"
  }
 },
 "losses": {
  "loss": "train",
  "eval_loss": "eval"
 },
 "evaluationCosts": [
  "runtime",
  "per_second",
  "gen_len",
  "preparation_time",
  "_mem_"
 ],
 "evaluationCounts": "_samples"
};
