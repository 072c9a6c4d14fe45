"""Findings about batch sizes."""

RULES = {
    "DS010": (
        "批大小等式",
        "train_batch_size 必须等于 train_micro_batch_size_per_gpu × gradient_accumulation_steps × 数据并行的 rank "
        "数。缺少的一项由 DeepSpeed 整除得出，随后再断言乘积是否成立，所以同一份配置可能单卡能跑、双卡就报错。只写其"
        "中两项，第三项交给 DeepSpeed 推导。",
    ),
    "DS011": (
        "必须给出批大小",
        "DeepSpeed 根据 train_batch_size 或 train_micro_batch_size_per_gpu 求解批大小等式，两者都没有就会报错；只写"
        "梯度累积步数不够。HF Trainer 也帮不上忙：它只填写值为“auto”的键，不会补上缺失的键。",
    ),
    "DS012": (
        "批大小中的“auto”",
        "“auto”是 HF Trainer 的写法，由它换成自己的参数。DeepSpeed 本身会拿这个字符串与数字比较，然后报错。使用 "
        "Trainer 时，写成数字的 train_batch_size 仍须等于微批大小 × 梯度累积步数 × rank 数；如果无论怎么传参都凑不"
        "出来，这一项也写“auto”。",
    ),
    "DS016": (
        "序列并行与 rank 数",
        "sequence_parallel_size 个 rank 共同处理一个样本，因此数据并行数等于 rank 数除以它。DeepSpeed 直接相除，不检"
        "查能否整除：除不尽时，批大小的计算里会出现小数，随后要么报错，要么带着非整数的批大小继续运行。应使用 rank "
        "数的约数。同时写 data_parallel_size 会构成一个 rank 网格，网格不能大于实际的 rank 数。",
    ),
}

FINDINGS = {
    "DS010.no_multiple": (
        "train_batch_size：sequence_parallel_size 个 rank 共用一个样本，但 HF Trainer 仍要求这里等于微批大小 × 梯度"
        "累积步数 × {ranks} 个 rank，无论怎么传参都得不到 {value}。",
        "改为 {ranks} 的倍数，或写“auto”。",
    ),
    "DS010.sequences": (
        "train_batch_size：HF Trainer 要求这里等于微批大小 × 梯度累积步数 × {ranks} 个 rank；而 "
        "sequence_parallel_size 个 rank 共用一个样本，DeepSpeed 要求的是 × {data_ranks}。无论怎么传参都无法同时满"
        "足。",
        "清空 train_batch_size，由 DeepSpeed 推导。",
    ),
    "DS010.broken": (
        "train_batch_size：{train} 不等于微批大小 {micro} × 梯度累积步数 {accumulation} × {ranks} = {product}。当"
        "前设备：{devices}。",
        "",
    ),
    "DS010.fraction": (
        "train_batch_size：{train} 不等于微批大小 {micro} × 梯度累积步数 {accumulation} × {ranks} = {product}。",
        "让 sequence_parallel_size 能整除 rank 数。",
    ),
    "DS011.missing": (
        "没有批大小：train_batch_size 和 train_micro_batch_size_per_gpu 都未设置，DeepSpeed 至少需要其中一个才能启动。",
        "设置 train_micro_batch_size_per_gpu，例如 {value}。",
    ),
    "DS011.missing_hf": (
        "没有批大小：train_batch_size 和 train_micro_batch_size_per_gpu 都未设置（HF Trainer 只填写值为“auto”的"
        "键，不会补上缺失的键）。DeepSpeed 至少需要其中一个才能启动。",
        "设置 train_micro_batch_size_per_gpu，例如 {value}。",
    ),
    "DS012.natively": (
        "{key}：只有 HF Trainer 会填写“auto”；原生 DeepSpeed 会拿它与数字比较，抛出 TypeError。",
        "写成数字；或清空，由 DeepSpeed 推导；或将框架选为“HF Trainer”。",
    ),
    "DS012.indivisible": (
        "train_batch_size：{train} 不能被 {rest} 整除，无论怎么传参，都不等于 {micro} × {accumulation} × world "
        "size {ranks}。",
        "写“auto”，由 Trainer 的参数决定。",
    ),
    "DS012.filled": (
        "HF Trainer 会填写“auto”：train_batch_size = {micro} × {accumulation} × world size {ranks}。",
        "",
    ),
    "DS012.filled_to": (
        "HF Trainer 会填写“auto”：train_batch_size = {micro} × {accumulation} × world size {ranks}；传入的参数必"
        "须使它等于 {train}。",
        "",
    ),
    "DS016.no_divisor": (
        "sequence_parallel_size：{shared} 不能整除 {ranks} 个 rank（{devices}），DeepSpeed 会以数据并行数 {size} 继"
        "续运行。",
        "改为 rank 数的约数。",
    ),
    "DS016.grid": (
        "data_parallel_size：{wide} × sequence_parallel_size {shared} = {product} 个 rank，而实际只有 {ranks} 个（"
        "{devices}）；deepspeed.initialize 会报错“Mesh should not be bigger than default world size”。",
        "删除 data_parallel_size，由 DeepSpeed 推导。",
    ),
}

# What else there is to do.
ADVICE = {
    "DS010.set": "改为 {right}。",
    "DS010.set_or_clear": "改为 {right}，或清空，由 DeepSpeed 推导。",
    "DS010.absent_accumulation": (
        "缺少 gradient_accumulation_steps 时，accelerate 一律按 1 处理，不看传入的参数。把它写成“auto”。"
    ),
    "DS010.fewer_ranks": (
        "Trainer 会乘上全部 rank，但启用 sequence_parallel_size 后，各自处理不同样本的 rank 没有那么多（{ranks}）。"
        "清空 train_batch_size，由 DeepSpeed 推导。"
    ),
}
