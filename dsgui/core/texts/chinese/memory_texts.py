"""训练占用多少内存和显存：组成、时刻、结论、说明。"""

from collections.abc import Mapping

MEMORY_PARTS: Mapping[str, str] = {
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
    "step": "优化器临时缓冲",
    "initialize": "初始化时的副本",
    "swap_buffers": "NVMe 交换缓冲区",
    "other": "其他",
    "cuda_context": "CUDA context",
    "nccl": "NCCL",
    "cublas": "cuBLAS 工作区",
    "fragmentation": "碎片",
    "interpreter": "Python 和各种库",
    "pinned_cache": "已释放的锁页内存",
    "dataloader": "DataLoader worker 进程",
    "system": "操作系统",
    "in_use": "当前已占用",
}

MEMORY_ABOUT: Mapping[str, str] = {
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
    "initialize": "只在 deepspeed.initialize 期间存在。在主机上：ZeRO 切分之前，每个 rank 加载的整个模型；HF Trainer "
    "在 stage 3 下加载时就已切分。",
    "swap_buffers": "读写 NVMe 所用的锁页缓冲区。",
    "other": "没有单独名称的部分。",
    "cuda_context": "驱动为每个进程在卡上保留的显存。没有任何键能改变它。",
    "nccl": "集合通信的缓冲区，不在 torch 的统计之内。没有任何键能改变它。",
    "cublas": "矩阵乘法的工作区。由 CUBLAS_WORKSPACE_CONFIG 决定。",
    "fragmentation": "torch 分配器在张量之外多预留的部分。PYTORCH_ALLOC_CONF=expandable_segments:True 可以减少它。",
    "interpreter": "每个 rank 的 Python、torch 和各种库。",
    "pinned_cache": "DeepSpeed 已释放的锁页内存：torch 留着给同样大小的分配使用。",
    "dataloader": "DataLoader worker 不与所属 rank 共享的内存（--dataloader_num_workers）。",
    "system": "操作系统及其服务。",
    "in_use": "其他程序当前占用的部分。只有届时它们仍在运行才算。",
}

MEMORY_MOMENTS: Mapping[str, str] = {
    "init": "初始化",
    "forward": "前向",
    "backward": "反向",
    "step": "更新",
}

MEMORY_WHEN: Mapping[str, str] = {
    "init": "deepspeed.initialize 期间",
    "forward": "前向传播时",
    "backward": "反向传播时",
    "step": "优化器更新时",
}

MEMORY_PLACES: Mapping[str, str] = {
    "gpu": "GPU",
    "host": "内存",
    "pinned": "内存（锁页）",
    "nvme": "NVMe",
}

MEMORY_SOURCES: Mapping[str, str] = {
    "formula": "按公式",
    "dry_run": "按试运行",
}

MEMORY_FITS: Mapping[str, str] = {
    "fits": "放得下",
    "tight": "紧张",
    "does_not_fit": "放不下",
    "cannot_say": "无法判断",
}

MEMORY_TOLD: Mapping[str, str] = {
    "short_gpu": "每个 GPU 需要 {need}，只有 {has}：缺 {short}。",
    "short_host": "每个节点需要 {need} 内存，只有 {has}：缺 {short}。",
    "short_nvme": "每个节点的 NVMe 目录需要 {need} 空闲空间，只有 {has}：缺 {short}。",
    "short_memlock": "NVMe 卸载每个 rank 要锁定 {need} 内存，而每个进程最多可锁定 {limit}（ulimit -l）。",
    "tight_gpu": "每个 GPU 需要 {least} 到 {most}，有 {has}。",
    "tight_host": "每个节点需要 {least} 到 {most} 内存，有 {has}。",
    "in_use_gpu": "每个 GPU 最多需要 {most}，但其 {has} 中目前已占用 {used}。",
    "in_use_host": "主机最多需要 {most} 内存，但其 {has} 中目前已占用 {used}。",
    "no_card": "显存大小未知：请选择目标设备。",
    "no_host": "主机的内存大小未知：每个节点需要 {need}。",
    "on_cpu": "CPU rank：本应放在 GPU 上的内容这里都在内存中。",
    "planned_as": "按 {size} 估算：本地没有 {model}，层数和宽度为推测。",
    "instead_of": "按 {model} 估算；脚本参数指定的是 {named}。",
    "guessed": "只知道规模（{size}），层数和宽度为推测。要更准确，请给出 Hub 模型 ID 或含 config.json 的文件夹。",
    "usual_length": "按每个序列 {length} 个 token 估计：请设置序列长度。",
    "made_whole": "假定每个 rank 先创建整个模型，再由 deepspeed.initialize 切分。在 deepspeed.zero.Init 中创建模型的脚"
    "本需要的少得多（--zero-init）。",
    "ask": "{why}试运行不需要公式：请加上 --ask。",
    "no_dry_run": "{why} 以公式的结果为准。",
    "no_formula": "只有试运行能得出结果：{why}",
    "differs": "{place}：一个 rank 的张量按公式为 {formula}，按试运行为 {real}。以试运行为准。",
    "held_against": "{place}：预测 {said}，实际 {was}",
    "out_against": "{place}：预测 {said}，耗尽时 {was}",
    "from_run": "rank 在张量之外的占用：取自这台机器上的 1 次运行。",
    "from_runs": "rank 在张量之外的占用：取自这台机器上的 {runs} 次运行。",
    "reserved": "试运行：为 {allocated} 的张量，torch 的缓存分配器在 GPU 上保留 {reserved}（未启用 expandable "
    "segments）。",
    "not_measured": "尚未在 GPU 上实测：CUDA context、NCCL 和碎片采用典型值。",
}

MEMORY_REHEARSAL: Mapping[str, str] = {
    "ask": "显存试运行",
    "cancel": "取消",
    "how": "试运行会启动真正的 DeepSpeed 引擎，不分配内存，走三步。不需要 GPU，7B 模型约一分钟。",
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
    "agrees": "公式与试运行相差不到 2%。",
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
    "planned": "上面的条形图按 DeepSpeed {release} 估计。只有已安装的 {installed} 能做试运行：请在上面选择它，或用装有"
    " {release} 的 --python 启动 dsgui。",
    "none": "训练环境没有安装 DeepSpeed。请用装有它的 --python 启动 dsgui。",
}

MEMORY_CANNOT: Mapping[str, str] = {
    "depends": "显存取决于 {key}，而它有错误：请先修正。",
    "no_offload_optimizer": "不能与优化器卸载同时使用。",
    "no_such_stage": "不可用：{problem}",
    "mend_json": "请先修正 JSON。",
    "blank": "尚无配置。",
    "mend": "请先修正配置：{problem}",
    "micro_batch": "微批大小未知：请设置 train_micro_batch_size_per_gpu。",
    "no_model": "请选择模型：Hub 模型 ID、7B 这样的规模，或含 config.json 的目录。",
    "not_found": "{model}：不是本机的目录。请检查路径，或填写 Hub 模型 ID 或 7B 这样的规模。",
    "no_size_in_name": "本地找不到 {model}。请填写规模（如 7B），或含 config.json 的目录。",
    "named_by_arguments": "脚本参数指定的模型是 {model}，本机没有。要估算，请把“模型”设为规模（如 7B）"
    "或含 config.json 的目录。",
    "sizes_in_name": "本地没有 {model}，其名称可能指多种规模（{sizes}）。请填写规模。",
    "encoder_decoder": "本地没有 {model}。它是编码器-解码器模型，仅凭规模无法得知其结构：请下载它的 config.json。",
    "no_config": "{model} 没有描述模型结构的 config.json。请给出含有它的目录。",
    "bad_config": "{model}：无法读取其 config.json（{problem}）。请修正。",
    "outside": "{model} 位于 dsgui 可读取的目录之外。",
    "not_reckoned": "无法估算 {model}：{problem}",
    "part": "脚本只训练模型的一部分，比例未知：请给出 --lora-rank。",
    "part_perhaps": "脚本是否只训练模型的一部分取决于“{condition}”（第 {line} 行），此处无法得知。"
    "如果是，请给出 --lora-rank。",
    "part_or_whole": "若训练全部参数，{whole}。脚本是否只训练模型的一部分取决于“{condition}”（第 {line} 行），"
    "此处无法得知。如果是，请给出 --lora-rank。",
    "nvme_relative": "NVMe 目录：{path} 不是绝对路径。请输入以 / 开头的路径。",
    "nvme_no_folder": "NVMe 目录：{path} 不存在。请在本地 NVMe 盘上创建它。",
    "nvme_is_file": "NVMe 目录：{path} 不是目录。请在本地 NVMe 盘上另选一个。",
    "nvme_not_writable": "NVMe 目录：{path} 不可写。请修改权限或另选一个。",
    "nvme_no_direct": "NVMe 目录：{path} 所在的文件系统不支持 DeepSpeed 所需的 O_DIRECT。请选择本地 NVMe 盘上的目录。",
    "nvme_outside": "NVMe 目录：{path} 位于 dsgui 可读取的目录之外。启动时请加上 --allow {path}。",
    "nvme_refused": "NVMe 目录：{path} 无法使用（{why}）。请另选一个。",
    "nvme_no_async_io": "NVMe 目录：训练环境无法编译读写 {path} 所需的 DeepSpeed async_io 算子。"
    "请安装 libaio 及其头文件（apt install libaio-dev）。",
}

MEMORY_MOVES: Mapping[str, str] = {
    "bf16": "bf16",
    "stage_1": "ZeRO stage 1",
    "stage_2": "ZeRO stage 2",
    "stage_3": "ZeRO stage 3",
    "checkpointing": "梯度检查点",
    "micro_batch": "微批 {micro}，累积 {steps} 步",
    "small_bucket": "减小归约桶",
    "small_sub_group": "减小子组",
    "few_live": "减少存活参数",
    "offload_optimizer_cpu": "优化器放到内存",
    "offload_optimizer_nvme": "优化器放到 NVMe",
    "offload_param_cpu": "参数放到内存",
    "offload_param_nvme": "参数放到 NVMe",
    "zero_init": "在 deepspeed.zero.Init 中创建模型",
}

MEMORY_CHEAPEST: Mapping[str, str] = {
    "change": "估计代价最小且放得下的改动：{moves}。改后：{needs}。",
    "change_if_host": "估计代价最小且 GPU 放得下的改动：{moves}。改后：{needs}。前提是主机有 {size} 内存。",
    "brief": "估计代价最小且放得下的改动：{needs}。",
    "brief_if_host": "估计代价最小且 GPU 放得下的改动：{needs}。前提是主机有 {size} 内存。",
    "in_bf16": "或者，若不必用 fp32 训练：{moves}。此时：{needs}。",
    "none": "不卸载到 NVMe，也不换优化器和数据类型时，仅调整配置无法放下。",
    "none_on_cpu": "不卸载到 NVMe，也不换优化器和数据类型时，仅调整配置无法放下。",
    "none_with_nvme": "不换优化器和数据类型时，仅调整配置无法放下。",
    "none_on_cpu_with_nvme": "不换优化器和数据类型时，仅调整配置无法放下。",
    "never": "不卸载到 NVMe，也不换优化器和数据类型时，仅调整配置无法放下：每个节点光是权重和优化器状态就要 {need}，"
    "而该节点的 GPU 和主机一共只有 {room}。",
    "never_on_cpu": "不卸载到 NVMe，也不换优化器和数据类型时，仅调整配置无法放下：每个节点光是权重和优化器状态就要 "
    "{need}，而主机内存只有 {room}。",
    "never_adapted": "不卸载到 NVMe，也不换数据类型时，仅调整配置无法放下：每个节点光是模型权重就要 {need}，而该节点"
    "的 GPU 和主机一共只有 {room}。",
    "never_adapted_on_cpu": "不卸载到 NVMe，也不换数据类型时，仅调整配置无法放下：每个节点光是模型权重就要 {need}，"
    "而主机内存只有 {room}。",
    "unsought": "更省的配置按公式比较：{why}",
    "none_certain": "没有哪种配置改动能保证放得下。",
    "refused": "代价最小且放得下的改动是 {moves}，但那样会：{problem}",
    "arguments": "给脚本加上：{arguments}",
    "zero_init": "不是配置中的键：在脚本中用 deepspeed.zero.Init(config_dict_or_path=…) 创建模型，或通过 transformers "
    "的 HfDeepSpeedConfig 加载。",
    "checkpointing": "不是配置中的键：启动脚本时加 --gradient_checkpointing，或在代码中开启梯度检查点。",
}

MEMORY_NEEDS: Mapping[str, str] = {
    "none": "需要更多或更大的 GPU、更多内存、更短的序列、NVMe 目录、LoRA，或状态更少的优化器。",
    "none_on_cpu": "需要更多内存、更短的序列、NVMe 目录、LoRA，或状态更少的优化器。",
    "none_with_nvme": "需要更多或更大的 GPU、更多内存、更多 NVMe 空闲空间、更短的序列、LoRA，或状态更少的优化器。",
    "none_on_cpu_with_nvme": "需要更多内存、更多 NVMe 空闲空间、更短的序列、LoRA，或状态更少的优化器。",
    "never": "需要更多或更大的 GPU、更多内存、NVMe 目录、LoRA，或状态更少的优化器。",
    "never_on_cpu": "需要更多内存、NVMe 目录、LoRA，或状态更少的优化器。",
    "never_adapted": "需要更多或更大的 GPU、更多内存，或 NVMe 目录。",
    "never_adapted_on_cpu": "需要更多内存，或 NVMe 目录。",
}

MEMORY_BEYOND: Mapping[str, str] = {
    "would": "按估算，这样可以放下：",
    "lora": "rank 为 {rank} 的 LoRA",
    "gpus": "{count} × {card}",
    "nodes": "{nodes} 个节点，每个 {count} × {card}",
    "line": "{what}：{then}",
    "then": "{needs}。",
    "then_with": "{needs}，同时改为 {moves}。",
    "if_host": "仅当主机有 {size} 时才放得下。",
    "script": "不是配置中的键：让脚本用 LoRA 训练（如 PEFT），rank 为 {rank}。",
}

MEMORY_OUTSIDE: Mapping[str, str] = {
    "variable": "设置 {what}：{fit}（{needs}）",
    "argument": "传入 {what}：{fit}（{needs}）",
    "variable_offer": "设置 {what}：{fit}",
    "argument_offer": "传入 {what}：{fit}",
}

MEMORY_CAUSE: Mapping[str, str] = {
    "predicted_gpu": "dsgui 的预测：每个 GPU 的峰值为 {need}。",
    "predicted_gpu_of": "dsgui 的预测：每个 GPU 的峰值为 {need}（可用 {has}）。",
    "predicted_gpu_whole": "dsgui 的预测：每个 GPU 的峰值为 {need}（{whole} 中可用 {has}）。",
    "predicted_host": "dsgui 的预测：{when}需要 {need} 内存。",
    "predicted_host_of": "dsgui 的预测：{when}需要 {need} / {has} 内存。",
    "ran_out": "耗尽时运行已占用 {used}，还要再申请 {asked}。",
    "ran_out_when": "{when}耗尽，当时运行已占用 {used}，还要再申请 {asked}。",
    "last_measured": "测到的占用最多为 {used}。",
    "others": "其他程序占用了这个 GPU 的 {used}。",
    "unused": "PyTorch 预留了 {unused} 却无法使用：显存碎片。",
    "said_fits": "之前判断放得下：预测值至少低了 {missing}。",
    "said_fits_only": "之前判断放得下。",
    "said_tight": "之前判断紧张：实际至少比预计多用 {missing}。",
    "said_tight_only": "之前判断紧张。",
    "locked": "dsgui 预测一个节点的所有 rank 共需 {size} 锁定缓冲区（{keys}）。",
    "largest": "可以改变的部分中，预测占用最大的是：{part}，{size}（{keys}）。",
}

MEMORY_NOTES: Mapping[str, str] = {
    "no_case": "没有适用于含 {key} 的配置的公式。",
    "no_optimizer": "没有优化器 {name} 的状态的公式（{key}）。",
    "unknown_family": "没有 {type} 类模型的公式。",
    "no_muon": "没有 Muon 与 {key} 同时使用时的公式。",
    "no_autocast": "没有 torch_autocast 与 {key} 同时使用时的公式。",
    "autocast_dtype": "仅当 {key} 为 fp16 或 bf16 时，才有 torch_autocast 的公式。",
    "autocast_classes": "仅当 {key} 只列出 torch.nn 的 Linear、Embedding、LayerNorm、Conv1d 至 Conv3d 时，才有 "
    "torch_autocast 的公式。",
    "muon_scatters": "DeepSpeed 在 stage 3 不允许 Muon 与 {key}（默认开启）同时使用。请设为 false。",
    "older_release": "公式按 DeepSpeed {known} 推导；{release} 在某些 stage 的分配方式不同。",
    "tied_weights": "共享权重起初会创建两份。第二份计到初始化结束；Python 可能更早或更晚释放它。",
    "no_type": "config.json 中没有 model_type，无法判断模型种类。",
    "remote_code": "这个模型运行自己的代码（{keys}），不在 transformers 之中；没有相应的公式。",
    "own_class": "config.json 指定了自带的代码（auto_map）。这里按 transformers 的 {type} 类计算，"
    "即不使用 trust_remote_code 时的情形。",
    "quantized": "这个模型的权重是量化的（{key}），公式和试运行都不支持。"
    "请给出未量化的模型，或不含该键的 config.json 副本。",
    "model_key": "没有含 {key} 的模型的公式。",
    "vision": "这个模型还处理图像或声音（{key}）；只有纯文本模型的公式。",
    "experts": "这是混合专家模型（{key}）；没有相应的公式。",
    "bad_count": "config.json：{key} 为 {value}；应为 1 到 {most} 的整数。",
    "bad_rate": "config.json：{key} 为 {value}；应为 0 到 1 的数。",
    "bad_kinds": "config.json：{key} 应为含 {layers} 项的列表，每层一项。",
    "not_divisible": "config.json：{key} = {value} 不能被 {by} = {parts} 整除。",
    "more_tokens": "序列长度 {length} 超过了这个模型的 {key}（{most}）。请选择更短的长度。",
    "unknown_activation": "没有激活函数 {name} 的公式。",
    "unknown_attention": "没有注意力实现 {name} 的公式。",
    "no_attention": "transformers 对 {type} 类模型没有 {name}。",
    "attention_formula": "没有 {type} 类模型的 {name} 公式。",
    "no_padding": "假定各序列等长。填充会使激活多出一个掩码。",
    "eager_instead": "transformers 对 {type} 类模型没有 sdpa：按 eager 注意力估计。",
    "fused_in_fp32": "按融合注意力内核估计。PyTorch 没有 fp32 下分组注意力头的融合内核，因此这个模型需要更多；"
    "--attn_implementation eager 的结果与之接近。",
    "no_target": "模型中没有名为 {targets} 的层，LoRA 不会训练任何参数。",
    "bad_size": "“{text}”不是模型规模。请写成 7B 或 770M 这样的形式。",
    "moved": "这里无法询问 DeepSpeed：{what} 的位置与 dsgui 已知的版本不同。",
    "no_module": "训练环境没有安装 {name}：试运行需要其中装有 DeepSpeed、torch 和 transformers。",
    "not_imported": "这里无法询问 DeepSpeed：{error}。",
    "worker_ended": "试运行在得出结果之前就结束了：{error}。",
    "no_python": "无法启动 {python}：{error}。",
    "not_installed": "配置按 DeepSpeed {release} 检查，而 {python} 装的是 {installed}。请去掉 --target-version，或给出"
    "装有该版本的 --python。",
    "start_limit": "{seconds} s 内未能导入 DeepSpeed。请在机器较空闲时再试。",
    "over_time": "试运行已终止：超过了 {seconds} s。请在机器较空闲时再试，或延长时限（dsgui memory --ask --ask-timeout"
    "）。",
    "over_memory": "试运行已终止：占用超过了这台机器 {limit} GiB 的内存。",
    "crashed": "试运行因信号 {signal} 结束。",
    "too_long": "试运行已终止：模型的分配过于频繁，无法跟踪。",
    "cancelled": "试运行已取消。",
    "raised": "DeepSpeed 或模型抛出了 {error}。",
    "reads_value": "模型读取了张量的值（{where}），而试运行中没有值。",
    "own_code": "{type} 类模型运行自己的代码，dsgui 不会执行。",
    "unknown_model": "transformers {release} 没有 {type} 类模型。",
    "no_language_model": "transformers 没有能给出损失的 {type} 类语言模型。",
    "no_such_function": "无法调用 {function}：{error}。",
    "not_a_model": "{function} 返回了 {type}；应为 torch.nn.Module。",
    "batch_not_named": "与模型一起给出的批必须是 dict，内容为其 forward 的参数。",
    "no_loss": "模型返回了不含损失的 {type}。",
    "few_buffers": "DeepSpeed 会中止：NVMe 交换缓冲区数量不足。请增大 {key}。",
    "small_buffers": "DeepSpeed 会中止：NVMe 交换缓冲区太小。请增大 {key}。",
    "reads_twice": "DeepSpeed 会中止：预取时会重复从 NVMe 读取同一个参数。请将 {key} 设为 0。",
    "not_followed": "试运行无法处理 {key}；去掉它即可了解配置其余部分。",
    "no_peft": "训练环境没有安装 peft，无法询问 LoRA。",
    "taken_as": "模型按 {name} 计算。若脚本训练的是别的任务头，"
    "请在 config.json 的副本中把 architectures 改为相应的类名。",
    "taken_instead": "config.json 指定的是 {named}，试运行不知道如何训练它：模型按 {name} 计算。",
    "text_only": "{name} 只按文本输入计算：图像和声音会增加激活。",
    "fewer_micro_batches": "每步 {steps} 个微批中取了 {here} 个：更多的与第二个相同。",
    "client_optimizer": "配置没有指定优化器：按脚本传入的 {name} 计算。",
}

MEMORY_STAGES: Mapping[str, str] = {
    "one_rank": "只有一个 rank 时不做切分：设置 GPU 数即可看到 ZeRO 节省多少。",
    "same_activations": "激活和 logits 在各 stage 都一样，这里最多 {most}：由微批大小、序列长度和梯度检查点决定。",
    "fullest": "每个条形是一步中占用最高的时刻，因此不只是模型状态：还有通信桶、优化器临时缓冲、激活，以及 CUDA 的"
    "占用。其中的模型状态也可能少于总量：梯度随激活的释放才逐渐产生，因此梯度切分方式不同的 stage 峰值可能相同。",
    "sent": "通信：每个 rank 每步发送的数据量。ZeRO 论文按一个微批和梯度的 reduce-scatter 计算。DeepSpeed 在 stage 1 "
    "和 2 先 all-reduce 梯度再收集新权重；stage 2 和 3 对每个累积的微批都要重复各自的通信。",
}

# 终端上的结论。
MEMORY_TEXT: Mapping[str, str] = {
    "headline": "{model}：{fit}（{rooms}）",
    "room": "{device} {need} / {has}",
    "note": "提示",
    "parameters": "参数量 {count}",
    "trained": "其中 {count} 参与训练",
    "with_guess": "{model}，层数和宽度按规模推测",
    "autocast": "{weights}（autocast 到 {to}）",
    "batch": "微批大小 {batch} × {length} token",
    "rank": "{count} 个 rank",
    "ranks": "{count} 个 rank",
    "gpu": "{count} 个 GPU",
    "gpus": "{count} 个 GPU",
    "on_nodes": "{ranks}，{nodes} 个节点",
    "asked": "{source}，DeepSpeed {release}",
    "by_moment": "按阶段",
    "fullest": "{room}，峰值（{moment}）",
    "pinned": "{part}（锁页）",
    "largest": "占用最多的部分（{device}）：{parts}。相关键：{keys}。",
}
