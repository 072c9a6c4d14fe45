"""读取、补全和转换配置：accelerate 的 YAML、Trainer 填入的值、原生形式与 Trainer 形式，以及由配置生成的程序和文件。"""

from collections.abc import Mapping

YAML: Mapping[str, str] = {
    "left_out": "已略去 {key}：{why}",
    "by_script": "模型是否分片构建由脚本决定（deepspeed.zero.Init）",
    "launcher_at_start": "启动器在启动运行时选择",
    "hosts_at_start": "主机在启动运行时给出",
    "devices_at_start": "设备在启动运行时选择",
    "moe_by_script": "MoE 层由脚本指定（set_z3_leaf_modules）",
    "embedded": "这些是 DeepSpeed 自己的键，已原样采用；`accelerate launch` 会忽略写在此处的这些键：请另存为 "
    "ds_config.json，并让 deepspeed_config_file 指向它",
    "written_out": "accelerate 的简写键已展开为它据此生成的 DeepSpeed 配置",
    "refused": "accelerate 不允许 {keys} 与 deepspeed_config_file 同时出现；以 DeepSpeed 配置为准。请从 YAML 中删去",
    "lost_path": "此处 {key} 为 {path}；`accelerate launch` 会丢掉它，卸载到名为“none”的目录",
    "not_understood": "无法识别，已略去：{keys}",
    "the_config": "该配置",
    "how": "accelerate launch --config_file THIS_FILE train.py；{config} 的路径相对于启动时所在的目录。",
    "hostfile": "hostfile 列出各机器，每行“name slots=N”；其他机器由 pdsh 通过 ssh 启动。",
    "no_zero": "{config} 中没有 zero_optimization 时 accelerate 会停止。目前还没有。",
    "precision": "fp16.enabled 和 bf16.enabled 为“auto”时取 HF Trainer 的参数；不用 Trainer 时",
    "precision_else": "取 `accelerate launch --mixed_precision`，该项不能写在本文件中。",
    "no_json": "deepspeed_config 中有 JSON 无法表示的内容：{why}。请在文件中改正。",
    "alias": "此处使用了别名（*name）。请直接写出值",
    "too_deep": "嵌套超过 {most} 层",
    "twice": "{key} 出现了两次，{where}。请只保留一个",
    "too_long": "这个 YAML 有 {count} 个字符；`accelerate config` 生成的文件约一千个字符，最多读取 {most} 个。"
    "请直接打开 DeepSpeed 配置。",
    "invalid": "不是有效的 YAML：{why}",
    "tag": "标签有误",
    "unreadable": "无法读取这个 YAML：{why}。",
    "no_mapping": "这个 YAML 不是由“key: value”行组成的映射。应为 `accelerate config` 生成的文件，或 JSON 格式的 "
    "DeepSpeed 配置。",
    "not_one": "这个 YAML 既不是 LLaMA-Factory、ms-swift、axolotl 或 TRL 的训练设置，也没有 deepspeed_config。"
    "应为它们的设置，或启用 DeepSpeed 后 `accelerate config` 生成的文件。",
    "no_keys": "deepspeed_config 是 {seen}，不是由键组成的配置块。应为一个配置块：对“Do you want to use DeepSpeed?”"
    "回答 yes 时，`accelerate config` 会写入它。",
    "no_block": "这个 YAML 没有 deepspeed_config（其 distributed_type 为 {kind}）。对“Do you want to use DeepSpeed?”"
    "回答 yes 时，`accelerate config` 会写入它。",
    "bad_precision": "mixed_precision：{seen} 无效，可用 {known}。请在文件中改正。",
    "no_whole_number": "{key}：{seen} 不是整数。请在文件中改正。",
    "no_number": "{key}：{seen} 不是数字。请在文件中改正。",
    "out_of_range": "{key}：{seen} 超出范围，应不小于 0。请在文件中改正。",
}

ORIGINS: Mapping[str, str] = {
    "file": "文件",
    "arguments": "TrainingArguments",
    "model": "模型",
    "hf": "HF 默认值",
    "accelerate": "accelerate",
    "deepspeed": "DeepSpeed 默认值",
}

FILLING: Mapping[str, str] = {
    "not_given": "{what}，未给出",
    "always_zero": "没有对应参数，始终为 0",
    "absent": "缺省不等于“auto”",
    "trainer_logs": "改由 Trainer 记录",
    "no_block": "没有这一块",
    "bf16_on_rocm": "在 ROCm 上使用 bf16",
    "own_optimizer": "Trainer 传入自己的优化器",
    "by_script": "由脚本计算",
    "share_of_steps": "总训练步数的一定比例",
    "product": "{micro} × {steps} × {ranks} 个 rank",
    "steps": "总训练步数",
    "counted": "由数据量和 num_train_epochs 得出",
    "no_checkpoint": "checkpoint 不是对象，Trainer 无法向其中添加 use_node_local_storage",
    "solved": "按 {ranks} 个 rank 推算",
}

CONVERTING: Mapping[str, str] = {
    "derived": "由 DeepSpeed 根据 train_batch_size 推算",
    "no_path": "没有可填入的路径",
    "not_filled": "没有来源会填入它",
    "as_filled": "取 {origin}",
    "steps_counted": "训练步数由 Trainer 统计。请写出具体数字：scheduler 不能缺少它",
    "default_counts": "Trainer 取{what}；现在使用 DeepSpeed 的默认值",
    "no_numbers": "其他 batch 相关的键不是数字",
    "product": "{micro} × {steps} × world size {ranks}；换用其他 rank 数时请删去",
    "own_optimizer": "optimizer：文件中没有，Trainer 会创建一个（AdamW）；现在由脚本传入自己的优化器",
    "to_auto": "{key}：{value} 改为“auto”（TrainingArguments：{arguments}）",
    "train_to_auto": "train_batch_size：{train} 改为“auto”（微批大小 × 梯度累积步数 × rank 数须等于 {train}）",
    "added_auto": "{key}：已添加为“auto”（TrainingArguments：{argument}）",
    "clash": "{key} 为 {value}，而 Trainer 只有一个 {argument}：请改成相同的值，或用“auto”",
    "for_ranks": "train_batch_size 为 {train}；适用于 world size {ranks}",
    "must_make": "{micro} × {steps} × rank 数须等于 train_batch_size，即 {train}",
    "says_auto": "配置中有只能由 HF Trainer 填入的“auto”：本程序请使用配置的原生形式。",
    "your_model": "换成你的模型",
    "your_data": "换成你的数据",
    "its_part": "每个 rank 从一开始就只持有自己的分片",
    "names_none": "配置没有指定优化器",
    "does_the_rest": "梯度累积、裁剪、损失缩放和 scheduler 都由 DeepSpeed 处理",
}

CONFIGS: Mapping[str, str] = {
    "came_with": "自 DeepSpeed {since} 起提供；{release} 没有。",
    "removed_in": "已在 DeepSpeed {removed} 中移除。",
    "not_in": "DeepSpeed {release} 没有。",
    "too_long": "文本有 {count} 个字符；配置最多 {most} 个。",
    "the_config": "配置",
    "my_presets": "我的预设",
    "saved_here": "保存在本机",
    "unknown_release": "（版本未知）",
}

CLONING: Mapping[str, str] = {
    "not_stored": "{names}：没有保存；请在“环境变量”中重新输入",
    "config_unchanged": "配置未改动：{why}",
    "removed": "已删除 {key}",
    "set": "{key} 已设为 {value}",
    "moved": "{what}：{before} → {after}",
    "not_set": "未设置",
    "set_so": "已设置",
    "short_micro": "微批大小 {value}",
    "short_steps": "梯度累积步数 {value}",
    "with": "加上 {what}",
    "without": "去掉 {what}",
}
