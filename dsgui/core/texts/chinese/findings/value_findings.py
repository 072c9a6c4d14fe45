"""Findings about values by themselves, and “auto”."""

RULES = {
    "DS001": (
        "类型不对或超出范围的值",
        "值的类型与 DeepSpeed 要求的不同、超出范围，或不在可选值之列。由 pydantic 模型定义的配置块会拒绝它，或把能转"
        "换的转换过来（“2”变成 2）。其他地方则照单全收，之后才出错（例如 gradient_clipping 写成字符串，第一步就会"
        "报错），或被当作 true。",
    ),
    "DS003": (
        "无人填写的“auto”",
        "“auto”有三种含义。HF Trainer 会为 23 个键填写它，写在其他键上 accelerate 会报错；原生 DeepSpeed 在 "
        "pydantic 配置块里会丢弃它，改用默认值；在其他地方则会因为这个字符串而报错。应写明一个值，或清空这个键。",
    ),
}

FINDINGS = {
    "DS001.misfit": (
        "{key}：当前为 {seen}，应为{expected}。",
        "",
    ),
    "DS001.converted": (
        "{key}：当前为 {seen}，应为{expected}。DeepSpeed 会自动转换。",
        "",
    ),
    "DS001.taken_for": (
        "{key}：当前为 {seen}，应为{expected}。DeepSpeed 会当作 {more}。",
        "",
    ),
    "DS001.not_read": (
        "{key}：当前为 {seen}，应为{expected}。目前不会读取它。{more}",
        "",
    ),
    "DS001.counted": (
        "{key}：当前为 {seen}，应为{expected}。DeepSpeed 会按 {more} 计算。",
        "",
    ),
    "DS001.inside": (
        "{key}：{seen} 不符合要求：{problem}。",
        "",
    ),
    "DS001.template": (
        "这看起来是模板：{named} 是占位符，不是实际的值。",
        "填入实际的值，或检查由模板生成的文件。",
    ),
    "DS003.left": (
        "{key}：HF Trainer 不填写这里的“auto”，accelerate 会报错“`{name}` not found in kwargs”。",
        "写一个值，或清空。",
    ),
    "DS003.dropped": (
        "{key}：原生 DeepSpeed 会丢弃“auto”，改用默认值（{default}）。",
        "",
    ),
    "DS003.counts_as_true": (
        "{key}：只有 HF Trainer 会填写“auto”；原生 DeepSpeed 把任何字符串都当作 true。",
        "",
    ),
    "DS003.fails": (
        "{key}：只有 HF Trainer 会填写“auto”；原生 DeepSpeed 会因为这个字符串而报错。",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS001.correct": "改正，或清空该字段。",
    "DS001.meant": "写成不带引号的 {meant}。",
    "DS001.meant_or_default": "写成不带引号的 {meant}，或清空该字段以使用 DeepSpeed 的默认值（{default}）。",
    "DS001.correct_or_default": "改正，或清空该字段以使用 DeepSpeed 的默认值（{default}）。",
    "DS003.default": "写一个值，或清空以使用默认值（{default}）。",
    "DS003.number": "写一个值：这个脚本自己调用 deepspeed.initialize，没有谁会填“auto”。",
    "DS003.number_steps": "写明训练的总步数：这个脚本自己调用 deepspeed.initialize，没有谁会填“auto”。",
    "DS003.perhaps_changed": "脚本第 {line} 行可能会改动它。",
    "DS003.perhaps_filled": "脚本第 {line} 行可能会填入它。",
    "DS003.write": "写一个值，或选择“HF Trainer”。",
    "DS003.write_steps": "写明训练的总步数，或选择“HF Trainer”。",
}
