"""Findings about the HF Trainer and accelerate."""

RULES = {
    "DS013": (
        "与 HF Trainer 参数比对的值",
        "文件中的数字必须与 Trainer 自己的参数一致：Trainer 在准备第一个训练步时逐项比对，只要不一致就列出差异并报"
        "错，哪怕只是与参数的默认值不同。应按提示传入参数，或在文件中写“auto”，由参数决定。参数已知时，不一致会直"
        "接报为错误，并引用 Trainer 的原文。",
    ),
    "DS014": (
        "accelerate 要求的内容",
        "HF Trainer 把文件交给 accelerate，后者从 zero_optimization 读取 ZeRO stage；这个配置块缺失、为 null 或为 "
        "true 时都会报错。另有一些 null，原生 DeepSpeed 视为未设置，accelerate 却会报错。应加上这个配置块（stage 0 "
        "即普通数据并行），并删除值为 null 的项。",
    ),
    "DS015": (
        "HF 下的旧版卸载开关",
        "优化器卸载时，accelerate 会把 Trainer 的 AdamW 换成 DeepSpeed 的 CPU Adam，但它只认 offload_optimizer。写成"
        "旧名 cpu_offload 就不会替换，而 DeepSpeed 拒绝卸载不是自己的优化器。应改用新写法。",
    ),
    "DS017": (
        "HF Trainer 不接受的参数",
        "传给脚本的 HF Trainer 参数先由 HfArgumentParser 解析，再由 TrainingArguments 检查：该写数字的地方不是数字，"
        "或同时传入 fp16 和 bf16，脚本都会在用到 DeepSpeed 之前退出。改正参数即可。",
    ),
}

FINDINGS = {
    "DS013.two_types": (
        "文件开启的是 {file}，参数开启的却是 {arguments}。HF Trainer 会报错“{quoted}”。",
        "把 --{arguments} 换成 --{file}，或把两个都写成“auto”，由参数决定。",
    ),
    "DS013.needed": (
        "HF Trainer 会拿自己的参数与这些值比对，不一致就报错。脚本需要：{options}。",
        "传入这些参数，或在配置中写“auto”。内置的训练脚本会自动从配置读取（--max_steps 除外）。",
    ),
    "DS013.apart": (
        "{key}：{seen}，而 {other} 为 {also}。HF Trainer 会拿两者与 {name} 比对，无论它取何值都会报错。",
        "写成相同的值，或写“auto”（届时取 {name}）。",
    ),
    "DS013.batch": (
        "train_batch_size：除非 --per_device_train_batch_size × --gradient_accumulation_steps × {ranks} 个 rank "
        "等于 {seen}，否则 HF Trainer 会报错。",
        "传入这样的参数，或在配置中写“auto”。",
    ),
    "DS013.never": (
        "{key}：HF Trainer 此处需要{expected}，而不是{seen}。",
        "",
    ),
    "DS013.different": (
        "{key}：文件中为 {seen}，按参数则为 {wanted}。HF Trainer 会报错“{quoted}”。",
        "",
    ),
    "DS013.in_part": (
        "{key}：文件中为 {seen}，按参数则为 {given}。HF Trainer 会报错“{quoted}”。",
        "按文件设置 {options}，或把参数的值写入文件。",
    ),
    "DS013.different_there": (
        "{key}：配置中为 {seen}，HF Trainer 的参数（{place}）为 {wanted}。HF Trainer 会报错“{quoted}”。",
        "",
    ),
    "DS013.default": (
        "{key}：文件中为 {seen}，HF Trainer 的默认值则为 {wanted}（没有参数设置 {names}）。"
        "HF Trainer 会报错“{quoted}”。",
        "",
    ),
    "DS013.two_types_there": (
        "配置开启的是 {file}，HF Trainer 的参数（{place}）开启的却是 {arguments}。HF Trainer 会报错“{quoted}”。",
        "在那里修改，或把两个都写成“auto”，由参数决定。",
    ),
    "DS014.no_zero_block": (
        "zero_optimization：缺失；HF Trainer 所用的 accelerate 会报错“Please specify the ZeRO optimization config "
        "in the DeepSpeed config”。",
        "加上这个配置块；stage 0 即普通数据并行。",
    ),
    "DS014.stopped": (
        "{key}：当前为 {seen}；使用 HF Trainer 时，DeepSpeed 尚未启动，accelerate 就会报错“{quoted}”。",
        "",
    ),
    "DS015.cpu_offload": (
        "zero_optimization.cpu_offload：accelerate 不认识这个旧名，于是 Trainer 自己的 AdamW 被交给 ZeRO-Offload，"
        "DeepSpeed 会报错（ZeRORuntimeException）。",
        "改用 offload_optimizer，并将 device 设为 cpu。",
    ),
    "DS017.problem": (
        "脚本参数：{problem}。",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS013.write_meant": "写成不带引号的 {meant}，或写“auto”。",
    "DS013.write_auto": "写“auto”，由 Trainer 的参数决定。",
    "DS013.unquoted": "写成不带引号的 {wanted}，或写“auto”（届时为 {wanted}）。",
    "DS013.product": (
        "让 --per_device_train_batch_size × --gradient_accumulation_steps × world size {ranks} 等于 {seen}，或写“"
        "auto”（届时为 {wanted}）。"
    ),
    "DS013.pass": "传入 {options}，或写“auto”（届时为 {wanted}）。",
    "DS013.change_there": "在那里修改 {names}，或写“auto”（届时为 {wanted}）。",
    "DS013.set_there": "在那里设置 {names}，或写“auto”（届时为 {wanted}）。",
    "DS013.leave_out": "去掉 {options}，或写“auto”（届时为 {wanted}）。",
    "DS013.value": "写成参数能取到的值，或写“auto”（届时为 {wanted}）。",
    "DS014.object": "写成对象，或删除。",
    "DS014.correct": "改正，或删除。",
}
