"""从其他工具导入时的说明。"""

from collections.abc import Mapping

IMPORTED: Mapping[str, str] = {
    "settings": "{tool} 的训练配置",
    "command": "{what} 的命令行",
    "launched": "{what} 的命令行，由 {launcher} 启动",
    "config_at": "DeepSpeed 配置：{path}（导入内容中写作“{named}”）",
    "config_inside": "DeepSpeed 配置：直接写在导入内容中",
    "config_of_options": "DeepSpeed 配置：accelerate 根据启动参数生成",
    "no_config": "没有指定 DeepSpeed 配置；编辑器中的配置保持不变（命令行：用 --config 指定）",
    "config_unreadable": "无法从 {path} 加载 DeepSpeed 配置。{problem}",
    "needs_config": "还缺：DeepSpeed 配置 {file}。这里没有该文件，请按路径打开；在此之前，编辑器中仍是原来的配置",
    "stands_in": "DeepSpeed 配置：这里没有 {file}。编辑器改用预设“{preset}”：ZeRO 阶段和卸载相同，通信设置可能不同。"
    "要用原文件，请按路径打开",
    "needs_named": "还缺：DeepSpeed 配置“{name}”。它是 {tool} 自带的文件 {file}，请按路径打开；"
    "在此之前，编辑器中仍是原来的配置",
    "needs_accelerate": "还缺：accelerate 的 YAML 文件 {file}。这里没有该文件，请按路径打开；"
    "在此之前，编辑器中仍是原来的配置",
    "needs_settings": "还缺：训练配置文件 {file}。这里没有该文件，其中的设置未知，请按路径打开",
    "settings_at": "训练配置：{path}",
    "settings_unreadable": "无法读取训练配置 {path}。{problem}",
    "needs_script": "还缺：训练脚本。请在“2 · 启动”填写 {tool} 的 {file} 的路径",
    "needs_own_script": "还缺：训练脚本 {file}。请在“2 · 启动”填写它的路径",
    "needs_file": "还缺：{tool} 从文件读取训练配置。请在“2 · 启动”的参数栏填写该文件的路径",
    "arguments": "训练参数：{arguments}",
    "computed": "由 {tool} 在启动时决定，因此不检查：{names}",
    "defaults_unknown": "未设置的参数取 {tool} 的默认值，各版本不同，因此不检查",
    "ranks": "每个节点的 rank 数：{ranks}；节点数：{nodes}",
    "nodes": "节点数：{nodes}；请在“2 · 启动”选择 rank 数",
    "choose_nodes": "请在“2 · 启动”选择主机",
    "passed": "原样传给 {tool}：{names}",
    "cut": "shell 会在 {option} 之前结束命令：那里有注释、缺少“\\”，或“\\”后有空格。dsgui 将其余部分视为同一条命令",
    "unread": "未能识别：{what}",
    "and_more": "{names} 等，另有 {count} 项",
    "opened": "已打开 {name}：{kind}。“2 · 启动”已填好，尚未启动任何训练。",
    "told": "{name}：{kind}",
    "start_with": "启动命令：",
    "pasted": "粘贴的内容",
    "paste": "从 LLaMA-Factory、ms-swift、axolotl、TRL 或 shell 命令导入",
    "paste_label": "YAML 或命令行",
    "paste_hint": "例如：accelerate launch --config_file zero2.yaml train.py --bf16 True …",
    "paste_open": "导入",
    "enter_text": "请先粘贴 YAML 或命令行。",
    "is_run": "这是 {kind}。请粘贴到编辑器下方的“{button}”中，“2 · 启动”也会一并填好。",
}
