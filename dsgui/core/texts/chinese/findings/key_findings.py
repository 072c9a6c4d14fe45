"""Findings about the names of keys."""

RULES = {
    "DS002": (
        "严格配置块中的未知键",
        "zero_optimization、fp16、bf16 等由 pydantic 模型定义的配置块不接受未知的键，拼错一个就会立刻报错。原生 "
        "DeepSpeed 会在检查之前丢弃值为“auto”的键，因此这样的键能通过。",
    ),
    "DS004": (
        "DeepSpeed 会忽略的键",
        "在顶层和开放的配置块（optimizer、scheduler、aio 等）中，DeepSpeed 只找自己认识的键，其余一概略过，没有任何"
        "提示：拼错的键等于没写。如果有相近的已知键，这里报为警告；否则只作提示，因为其他程序也会把自己的键放在这"
        "里。",
    ),
    "DS005": (
        "其他版本的键",
        "这个键要到更新的 DeepSpeed 才有，或者早已移除。严格的配置块会拒绝它；其他地方会忽略它；但有些整块移除的配置"
        "（例如 0.19.8 的 amp 和 elasticity），DeepSpeed 会明确报错。",
    ),
    "DS006": (
        "键的旧名",
        "DeepSpeed 仍读取旧名，并把值交给新名。新旧两个名称都写就会被拒绝，即使值相同。改用新名即可，含义不变。"
        "只有 cpu_offload_use_pin_memory 会被接受而从不读取。",
    ),
    "DS008": (
        "键放错了配置块",
        "这个键存在，但属于另一个配置块。在顶层和开放的配置块中，DeepSpeed 会直接忽略它，没有任何提示，例如把 ZeRO "
        "的键写在 zero_optimization 外面就不起作用；严格的配置块则会拒绝它。应把它移到会被读取的位置。",
    ),
}

FINDINGS = {
    "DS002.refused": (
        "{key}：{block} 没有这个键，DeepSpeed 在这里不接受未知的键。",
        "删除它。",
    ),
    "DS002.dropped": (
        "{key}：{block} 没有这个键；值为“auto”时，原生 DeepSpeed 会丢弃它。",
        "删除它。",
    ),
    "DS004.at_top": (
        "{key}：DeepSpeed 的顶层没有这个键，会直接忽略，没有任何提示。",
        "如果有其他程序读取它，可不处理；否则删除。",
    ),
    "DS004.in_block": (
        "{key}：DeepSpeed 的 {block} 没有这个键，会直接忽略，没有任何提示。",
        "如果有其他程序读取它，可不处理；否则删除。",
    ),
    "DS004.neox": (
        "{named}：DeepSpeed 的顶层没有这些键，会忽略它们；这看起来是 GPT-NeoX 的配置文件，那些是它自己的键，不属于 "
        "DeepSpeed。",
        "如果由 GPT-NeoX 读取，可不处理：它会据此生成 DeepSpeed 的配置。",
    ),
    "DS004.another_program": (
        "{named}：DeepSpeed 的顶层没有这些键，会忽略它们；它们可能属于其他程序。",
        "如果有其他程序读取它们，可不处理；否则删除。",
    ),
    "DS005.later_refused": (
        "{key}：DeepSpeed {since} 才有这个键；DeepSpeed {release} 会拒绝它。",
        "",
    ),
    "DS005.later_ignored": (
        "{key}：DeepSpeed {since} 才有这个键；DeepSpeed {release} 会忽略它。",
        "",
    ),
    "DS005.removed_refused": (
        "{key}：这个键已在 DeepSpeed {removed} 移除；DeepSpeed {release} 会拒绝它。",
        "",
    ),
    "DS005.removed_ignored": (
        "{key}：这个键已在 DeepSpeed {removed} 移除；DeepSpeed {release} 会忽略它。",
        "",
    ),
    "DS006.read": (
        "{key}：这是 {new} 的旧名，DeepSpeed {release} 仍会读取。",
        "改用新名，含义不变。",
    ),
    "DS006.ignored": (
        "{key}：这是 {new} 的旧名，DeepSpeed {release} 接受它但不读取，因此不起作用。",
        "删除它；以 {new} 的值或其默认值为准。",
    ),
    "DS006.bfloat16": (
        "bfloat16：这是 bf16 的旧名，HF Trainer 不读取它，整个块不起作用。",
        "要让它生效，就改名为 bf16；否则删除。",
    ),
    "DS006.both": (
        "{key}：这是 {new} 的旧名；新旧两个名称都写时，DeepSpeed 会拒绝。",
        "{new} 也已设置：删除旧名。",
    ),
    "DS008.refused": (
        "{key}：{block} 没有这个键，DeepSpeed 会拒绝它；正确的位置是 {homes}。",
        "",
    ),
    "DS008.ignored": (
        "{key}：放在 {block} 中会被忽略；正确的位置是 {homes}。",
        "",
    ),
    "DS008.at_top": (
        "{key}：放在顶层会被忽略；正确的位置是 {homes}。",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS005.newer": "删除它，或使用 DeepSpeed {since} 及以上版本。",
    "DS005.renamed": "改用 {new}。",
    "DS008.no_scale": "删除它：bf16 不需要损失缩放。",
}
