"""Texts of what to do about a failed run, in Chinese: the advice of a diagnosis, and why some of its changes are not
offered."""

DIAGNOSIS_ADVICE = {
    "lower_buffer_size": "也可以调小 offload_param.buffer_size。",
    "raise_memlock": (
        "在启动 dsgui 的环境中调高上限：ulimit -l unlimited、/etc/security/limits.conf，或 docker run --ulimit "
        "memlock=-1。"
    ),
    "add_deepspeed_option": (
        "调用 deepspeed.add_config_arguments(parser)，或用 HfArgumentParser 解析 TrainingArguments。"
    ),
    "add_local_rank": "让脚本接受这个参数：parser.add_argument('--local_rank', type=int, default=-1)。",
    "add_optimizer": (
        "在配置中加上 optimizer 块（例如 AdamW 及其学习率），或给 deepspeed.initialize 传入 optimizer=。"
    ),
    "add_zero_block": "加上这个配置块：stage 0 表示不用 ZeRO，stage 1 把优化器状态分片到各个 rank。",
    "allow_optimizer": "如果它逐元素更新，就允许使用；否则改用 DeepSpeed 自己的优化器。",
    "bf16_for_fp16": (
        "GPU 支持 bf16 就改用 bf16：它的数值范围与 fp32 相同，以 bf16 预训练的模型（T5、Llama）必须用它。"
    ),
    "bf16_or_fp32": "设备支持 bf16 就用 bf16，否则用 fp32（两个配置块都不写）。",
    "check_gpu": "用 nvidia-smi 检查。容器需要：docker run --gpus all。",
    "check_gpu_users": "检查这些 GPU 的显存是否被其他程序占用。",
    "check_hostfile": "检查 hostfile 中的主机名。",
    "check_model_path": "检查路径，或改用绝对路径；模型目录里应有 config.json。",
    "check_path": "检查路径，或改用绝对路径。",
    "check_permissions": "检查所有者和权限，或换一个目录（--output_dir、HF_HOME、TORCH_EXTENSIONS_DIR）。",
    "check_rows": "检查数据中是否有空行或损坏的行。",
    "container_memory": "给容器或作业分配更多内存。",
    "correct_arguments": "在“启动”页改正参数；可参考脚本的 --help。",
    "correct_key": "删除或改正它；“配置”页的检查结果会提示可能想写的键。",
    "choose_other_devices": "请选择该主机上存在的 GPU：可用 nvidia-smi 查看。",
    "ranks_without_gpu": "要在 CPU 上训练，请不要选择 GPU，而是填写 rank 数。",
    "correct_option": "删除或改正它；可参考脚本的 --help。",
    "correct_script": "修改脚本；输出中写明了文件和行号。",
    "correct_value": "改正这个值；“配置”页的检查结果会说明应填什么。",
    "deepspeed_cpu_adam": "让 DeepSpeed 提供 CPU Adam：在配置中加上 optimizer 块，脚本不再传入优化器。",
    "download_nltk": "在联网时运行：python -m nltk.downloader {resource}。",
    "download_punkt": "在联网时运行：python -m nltk.downloader punkt punkt_tab。",
    "earlier_checkpoint": "从更早的检查点恢复，或去掉 --resume_from_checkpoint 从头开始。",
    "earlier_processes": "检查是否有之前训练留下的进程。",
    "earlier_rank": "往上翻输出，找到更早出错的 rank。",
    "enlarge_shared_memory": "给容器更多共享内存：docker run --shm-size=16g，或 --ipc=host。",
    "faulthandler": "设置 PYTHONFAULTHANDLER=1 再运行：Python 会指出崩溃时的调用。",
    "fewer_checkpoints": "少保留一些检查点：--save_total_limit 2。",
    "fewer_ranks_or_low_memory_loading": "减少这台机器上的 rank，或用 low_cpu_mem_usage 加载模型（ZeRO-3 以下）。",
    "fp16_or_fp32": "GPU 不支持 bf16 时用 fp16，或用 fp32（两个配置块都不写）。",
    "free_disk": (
        "清理磁盘空间，或写到别处（--output_dir）。检查点、/tmp 和编译算子的缓存（~/.cache/torch_extensions）会随每"
        "次训练不断增长。"
    ),
    "free_port": "端口留空，由 dsgui 选择空闲端口。",
    "hub_cache": "缓存位置由 HF_HOME 决定（默认 ~/.cache/huggingface）。",
    "hub_login": "私有或受限（gated）仓库需要 token：huggingface-cli login。",
    "install_compiler": "安装 torch 支持的 C++ 编译器（Debian、Ubuntu：apt install g++ python3-dev）。",
    "install_libaio": "安装它们（Debian、Ubuntu：apt install libaio-dev），或改为卸载到 CPU。",
    "match_torch": "安装与当前 torch 配套的版本，并与 torch 使用同一个软件源（用一条 pip install 同时安装）。"
    "脚本不需要它时，可将其卸载。",
    "install_module": "用训练环境的 Python（见页面顶部）安装：PYTHON -m pip install …",
    "install_ninja": "在训练环境中安装：pip install ninja。",
    "install_or_change_script": "在训练环境中安装所需的版本，或使用与已安装版本配套的脚本。",
    "install_tokenizer": "在训练环境中安装：pip install sentencepiece protobuf tiktoken。",
    "plain_archs": "在运行的环境变量中把 TORCH_CUDA_ARCH_LIST 设为数字，例如 9.0 或 8.0;9.0+PTX；"
    "也可以设为空，DeepSpeed 会改为查询 GPU。",
    "ranks_by_gpus": "每个 GPU 最多启动一个 rank：减小 --num_gpus（torchrun 为 --nproc_per_node），"
    "或在 CUDA_VISIBLE_DEVICES 中加入更多 GPU。",
    "install_toolkit": "安装与 torch 的 CUDA 版本一致的 CUDA toolkit（nvcc），并设置 CUDA_HOME。",
    "gradient_checkpointing": "若尚未开启，使用梯度检查点（gradient checkpointing）。",
    "larger_train_batch": "调大 train_batch_size，或调小微批大小。",
    "launch_has_config": "要使用“启动”页的配置，就去掉 deepspeed.initialize 的 config=。",
    "limit_memory_otherwise": "要限制内存，改用容器或 Slurm 作业的 --mem。",
    "local_path_or_download": "传入本地路径，或在能联网的地方先下载一次：huggingface-cli download。",
    "master_address": (
        "多机训练：把 --master_addr 设为其他节点能访问的地址，并用 GLOO_SOCKET_IFNAME 或 NCCL_SOCKET_IFNAME 指定网卡。"
    ),
    "matching_toolkit": "安装对应版本的 toolkit，并让 CUDA_HOME 指向它。",
    "nccl_debug": "设置 NCCL_DEBUG=WARN 再运行一次，NCCL 会说明哪里出错。",
    "nccl_interfaces": "多机训练：用 NCCL_SOCKET_IFNAME 指定网卡。GPU 之间不支持 P2P 时：NCCL_P2P_DISABLE=1。",
    "need_less_memory": "减少这台机器上的 rank、卸载量或 DataLoader worker。",
    "no_loader_workers": "不用 worker（--dataloader_num_workers 0）时，DataLoader 不占用共享内存。",
    "no_terminal": "dsgui 启动的训练没有终端：查明是什么结束了它，或重新启动。",
    "offload_less": "减少卸载：先去掉 offload_param，再去掉 offload_optimizer。",
    "offload_optimizer": "把优化器卸载到 CPU，或使用更高的 ZeRO stage。",
    "or_copy_nltk": "也可以从其他机器把 nltk_data 复制到用户主目录，或把 NLTK_DATA 设为它的路径。",
    "or_keep_optimizer": "保留自己的优化器，但速度会很慢。",
    "or_pass_arguments": "传入这份配置所对应的参数。",
    "or_release_of_script": "也可以在训练环境中安装脚本所对应的版本。",
    "or_steadier_training": "降低学习率、延长预热，并裁剪梯度。",
    "or_universal_checkpoint": (
        "先转换成 universal checkpoint（python -m deepspeed.checkpoint.ds_to_universal），再设置 "
        "checkpoint.load_universal。"
    ),
    "or_use_trainer": "改由 HF Trainer 读取配置。",
    "or_install_module": "或者用训练环境的 Python 安装该软件包：PYTHON -m pip install …",
    "or_working_directory": "也可以在“启动”页设置工作目录。",
    "other_ranks": "看看其他 rank 的情况：最先出错的那个才是原因。",
    "own_operators": "删除 ~/.cache/torch_extensions，或把 TORCH_EXTENSIONS_DIR 设为本机专用的目录。",
    "partition_or_offload": "对状态做分片或移出显存：先提高 ZeRO stage，再卸载到 CPU。",
    "raise_address_limit": (
        "在启动 dsgui 的环境中调高上限：ulimit -v unlimited。上限可能写在 /etc/security/limits.conf 中。"
    ),
    "raise_timeout": (
        "如果只是某个 rank 较慢（分词、保存），调大 --ddp_timeout 或 deepspeed.init_distributed(timeout=…)。"
    ),
    "python_path": "在“环境变量”中设置 PYTHONPATH={path}。",
    "remove_build": "如果编译中途被打断，删除 ~/.cache/torch_extensions 下该算子的目录。",
    "remove_deepspeed": "从参数中去掉 --deepspeed。",
    "remove_device_map": (
        "去掉 from_pretrained 的 device_map 和 low_cpu_mem_usage，并在创建模型之前创建 TrainingArguments。"
    ),
    "remove_one": "去掉其中一个。",
    "remove_operators": "为其他 torch 版本或 CPU 编译的算子会这样崩溃：删除 ~/.cache/torch_extensions 后重试。",
    "renamed_option": "去掉它，或改用新名；可参考脚本的 --help。",
    "correct_job": "克隆该运行，改正它所指出的内容，并在 Slurm 有响应的机器上提交。",
    "request_job_memory": "用 --mem 申请更多内存，或减少 rank、卸载量或 DataLoader worker。",
    "resume_on_ranks": "用 {then} 个 rank 恢复训练。",
    "same_model": "构建与检查点相同的模型，或加载属于当前模型的权重。",
    "same_modules": (
        "让每个 rank 在每一步都运行相同的模块；有分支的模块（MoE）用 deepspeed.utils.set_z3_leaf_modules 标记。"
    ),
    "script_finds_config": "如果脚本自己读取配置，就在“启动”页的“脚本如何获得配置”中选择对应的选项。",
    "script_has_config": (
        "要使用脚本自己的配置，就不要再传入：在“启动”页的“脚本如何获得配置”中设置，或用 --reader none。"
    ),
    "script_of_release": "使用与已安装版本配套的脚本：transformers 的示例按版本打了 tag，例如 v5.23.0。",
    "see_fatal_error": "输出中“Fatal Python error”之后就是出错的调用。",
    "see_last_lines": "查看输出的最后几行；NCCL 的 watchdog 和 C++ 断言失败都会这样结束程序。",
    "see_memory": "查看内存图表和 dmesg。",
    "see_output": "查看输出。",
    "set_keys_to_auto": "由参数决定：在配置中把这些键设为“auto”。",
    "set_train_batch": "把 train_batch_size 设为这个乘积，或去掉它，由 DeepSpeed 推导。",
    "skip_cuda_check": "如果只是次版本号不同，设置 DS_SKIP_CUDA_CHECK=1 可让 DeepSpeed 继续。",
    "shorter_sequences": "缩短序列。",
    "smaller_micro_batch": "调小微批大小、增加梯度累积步数：总批大小不变，训练结果也不变。",
    "start_at_the_end": "先看 traceback 的最后一行，再看自己文件里的那几行。",
    "steadier_fp16": "fp16 超过 65,504 就会溢出：GPU 支持时优先用 bf16，并让 loss_scale 保持为 0（动态）。",
    "nan_from_the_start": "从一开始就这样，通常是模型或数据的问题：检查每个批次是否都有不为 -100 的标签，"
    "以及模型加载所用的 dtype 下权重是否都是有限值。然后尝试降低学习率。",
    "steadier_overlap": "在 DeepSpeed 的多个版本中，ZeRO stage 1 和 2 开启 overlap_comm 会让梯度变成 NaN"
    "（见其 #5347、#7188、#7965）：关掉它，以排除这个原因。",
    "steadier_numbers": "降低学习率、延长预热、裁剪梯度。",
    "tag_of_examples": "transformers 的每个示例只对应一个版本：使用与已安装版本相同的 tag，例如 v5.23.0。",
    "torch_for_gpu": "安装支持这个 GPU 的 torch；torch.cuda.get_arch_list() 会列出已安装的 torch 支持的架构。",
    "torch_with_cuda": "要在 GPU 上训练，请在有 GPU 的机器上运行，并安装 CUDA 版的 torch，见 pytorch.org。",
    "train_on_cpu": "要在 CPU 上训练，让脚本从 DeepSpeed 取得设备（deepspeed.accelerator 的 get_accelerator()），"
    "不要直接用 torch.cuda；HF Trainer 还要传入 --use_cpu。",
    "try_ssh": "手动运行 ssh HOST true：必须无需任何输入就能成功。",
    "update_driver": "升级驱动，或安装基于较低 CUDA 版本的 torch。",
    "without_tf32": "去掉 --tf32。如果脚本自己创建 TrainingArguments，就在那里去掉 tf32=True。",
    "use_cpu": "传入 --use_cpu。如果脚本自己创建 TrainingArguments，就在那里设置 use_cpu=True。",
    "use_numbers": "写成数字，或去掉这些键。",
    "who_ended_it": "查明是什么结束了它，再重新启动或恢复训练。",
    "why_the_other_ended": "查明另一个 rank 为什么结束，最常见的原因是内存或显存不足。",
    "zero2_with_offload": "ZeRO-2 加卸载不依赖这个顺序，往往也放得下。",
}

# Why a change that a diagnosis proposes is not offered: {change} is its label.
SET_ASIDE = {
    "away": "原运行使用 GPU {gpus}；本机没有 GPU。克隆后默认通过 ssh 启动，也可改选 Slurm。",
    "button": "克隆并修改：{change}",
    "button_with": "克隆并修改：{change}",
    "button_with_name": "克隆并修改：{change}",
    "button_learning_rate": "克隆并将学习率改为 {value}",
    "button_micro_batch": "克隆并将微批大小改为 {micro}",
    "checked_gpu": "已按运行所用的 GPU 检查：{card}，{has}。",
    "checked_host": "已按运行所在机器检查：内存 {has}。",
    "checks": "{change}：检查不通过：{message}",
    "deepspeed": "{change}：DeepSpeed 本身会拒绝：{message}",
    "failed": "{change}：运行 {run} 已这样设置，仍然失败（{why}）。",
    "fits": "估算可容纳：{needs}",
    "had": "{change}：这次运行已经这样设置。",
    "nothing_left": "dsgui 没有其他可建议的改动了。",
    "still_short": "按估算，仅第一项改动还不够。",
    "unchecked": "未检查内存是否够用：运行没有保存内存预测。",
    "unchecked_gpu": "未检查内存是否够用：运行保存的内存预测中没有 GPU 的数字。",
    "unchecked_host": "未检查内存是否够用：运行保存的内存预测中没有主机内存的数字。",
    "unchecked_now": "未检查内存是否够用：在这里无法估算这次运行的内存。",
    "unchecked_room": "未检查内存是否够用：不知道运行当时有多少。",
    "unchecked_why": "未检查内存是否够用：{why}",
}
