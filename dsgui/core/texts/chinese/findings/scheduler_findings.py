"""Findings about the learning-rate scheduler."""

RULES = {
    "DS055": (
        "调度器类型",
        "DeepSpeed 有五种自己的学习率调度器，名称区分大小写；也可以使用 torch.optim.lr_scheduler 的类。但 PyTorch 的"
        "调度器只接受普通优化器，遇到 ZeRO 封装过的优化器会报错。文件里没有优化器时，只有脚本传入了优化器才会读取这"
        "个块。",
    ),
    "DS056": (
        "调度器参数",
        "scheduler.params 原样传给调度器的类，每个类接受的参数名各不相同：WarmupLR 没有 total_num_steps，"
        "WarmupCosineLR 没有 warmup_max_lr。参数多了、少了，或根本没有 params，都会抛出 TypeError。",
    ),
    "DS057": (
        "预热步数",
        "调度器的步数都是整数。原生 DeepSpeed 读取文件时会把 100.0 变成 100；HF Trainer 则保留小数，随后 DeepSpeed "
        "的类型检查会报错。总步数小于预热步数时，学习率来不及下降。",
    ),
    "DS059": (
        "方向反了的比例和学习率",
        "warmup_min_ratio 和 cos_min_ratio 是相对于学习率的比例：预热从前者开始，余弦衰减到后者结束。DeepSpeed 不检"
        "查它们：小于 0 会让模型朝损失增大的方向训练，大于 1 会让学习率在该降的时候上升；预热的最小学习率大于最大学"
        "习率时也是如此。",
    ),
}

FINDINGS = {
    "DS055.no_type": (
        "scheduler.type：缺失，DeepSpeed 不会用这个块创建调度器，也不读取其中的参数。",
        "",
    ),
    "DS055.no_type_hf": (
        "scheduler.type：缺失。配置里有这个块时，HF Trainer 不再创建学习率调度器，而没有类型 DeepSpeed 也不会创建：运行"
        "会报错“'DummyScheduler' object has no attribute 'get_last_lr'”。",
        "",
    ),
    "DS055.torch": (
        "scheduler.type：{name} 是 PyTorch 的调度器，只接受普通优化器；ZeRO 会封装优化器，PyTorch 因此报错“… is "
        "not an Optimizer”。",
        "改用 {schedulers} 之一，或在脚本里创建调度器。",
    ),
    "DS055.unknown": (
        "scheduler.type：DeepSpeed 没有调度器“{name}”（区分大小写）。",
        "",
    ),
    "DS056.missing": (
        "scheduler.params：缺失；DeepSpeed 要用它创建 {name}，即使全用默认值，没有它也会抛出 TypeError。",
        "填写参数，或写一个空对象。",
    ),
    "DS056.refused": (
        "scheduler.params.{key}：{name} 不接受这个参数，会抛出 TypeError。",
        "删除它，或改用接受它的调度器。",
    ),
    "DS056.of_another": (
        "scheduler.params.{key}：{name} 不接受这个参数，会抛出 TypeError。接受它的是 {takers}。",
        "",
    ),
    "DS056.required": (
        "scheduler.params.{key}：{name} 必须有这个参数，缺少会抛出 TypeError。",
        "",
    ),
    "DS057.short": (
        "scheduler.params.total_num_steps：{total} 小于 warmup_num_steps {warmup}，学习率始终不会下降。",
        "改为整个训练的步数，或缩短预热。",
    ),
    "DS057.fraction": (
        "scheduler.params.{key}：{value} 是小数写法；HF Trainer 会原样保留，而调度器要求整数（原生 DeepSpeed 会转成"
        "整数）。",
        "写成 {whole}。",
    ),
    "DS057.no_warmup": (
        "scheduler.params.warmup_num_steps：HF Trainer 的 --warmup_steps 至少按 1 计算，与 0 永远不一致，因此会报错。",
        "写“auto”，由 Trainer 的参数决定。",
    ),
    "DS059.no_share": (
        "scheduler.params.{key}：{value} 不是有效的学习率比例，但 DeepSpeed 不会拒绝。",
        "填写 0 到 1 之间的数字。",
    ),
    "DS059.falling": (
        "scheduler.params.warmup_min_lr：{least} 大于 warmup_max_lr {most}，学习率会在预热阶段下降。",
        "把两者对调。",
    ),
}

# What else there is to do.
ADVICE = {
    "DS055.choose_or_remove": "改用 {schedulers} 之一，或删除这个块。",
    "DS055.choose": "改用 {schedulers} 之一。",
    "DS056.write_auto": "写“auto”，由 HF Trainer 填写。",
    "DS056.give": "补上 {key}。",
}
