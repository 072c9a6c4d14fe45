"""Findings about a file as it is written, and about a move to another release."""

RULES = {
    "DS007": (
        "因版本而异的默认值",
        "把配置迁移到另一个版本时给出的提示：文件没有写的键，在目标版本中的默认值不同，同一份配置的训练结果会改变。"
        "要保持现状，就把旧值写明。",
    ),
    "DS018": (
        "HF Trainer 下不是严格 JSON 的文件",
        "原生 DeepSpeed 用 hjson 读取文件，注释、末尾逗号、不带引号的键和 BOM 都没有问题。HF Trainer 和 accelerate "
        "用 json.load 读取同一份文件，遇到其中任何一种都会立刻抛出 JSONDecodeError。在 dsgui 中打开这样的文件时，会"
        "自动转换。",
    ),
    "DS019": (
        "重复的键",
        "同一个对象中有重复的键时，DeepSpeed 会拒绝整个文件。HF Trainer 的 json.load 则只保留最后一个，没有任何提"
        "示，因此写在前面的值不起作用。应只保留一个。",
    ),
}

FINDINGS = {
    "DS007.default": (
        "{key}：未设置；默认值在 DeepSpeed {release} 中为 {before}，在 {target} 中则为 {after}。",
        "",
    ),
    "DS018.json": (
        "文件不是严格的 JSON：HF Trainer 用 json.load 读取，会报错“{stop}”。",
        "",
    ),
    "DS019.kept": (
        "{twice}。HF Trainer 只保留最后一个，没有任何提示。",
        "",
    ),
    "DS019.refused": (
        "{twice}。DeepSpeed 会拒绝这个文件（ValueError: Duplicate keys）。",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS007.write_down": "要保持现状，写明 {before}。",
    "DS007.set": "如果依赖旧的行为，就显式设置。",
    "DS018.loose": "原生 DeepSpeed 用 hjson 读取，能读懂。对 HF Trainer，请去掉注释、末尾逗号和 BOM，并给键和字符串加上"
    "双引号。用“配置”页打开文件时会自动完成，之后下载即可。",
    "DS019.keep_one": "只保留一个；这里检查的是最后一个。",
}
