"""Findings about the devices and the model."""

RULES = {
    "DS030": (
        "bf16 与硬件",
        "DeepSpeed 会询问加速器设备是否支持 bf16，不支持就报错。NVIDIA GPU 的计算能力要达到 8.0 才有 bf16 运"
        "算；而 torch 2.3 起，模拟实现也算支持，所以旧卡能通过检查，但很慢。这类卡改用 fp16；在 fp16 下会溢出的模型"
        "则用 fp32。",
    ),
    "DS031": (
        "fp16 与硬件",
        "DeepSpeed 会询问加速器设备是否支持 fp16，不支持就报错：NVIDIA GPU 的计算能力要达到 7.0，CPU 则只有最新"
        "的型号才支持。应关闭 fp16，或改用 bf16。",
    ),
    "DS032": (
        "GPUDirect Storage 仅限 CUDA",
        "aio.use_gds 让数据绕过主机，直接在 NVMe 与显存之间传输，只有 NVIDIA 的驱动能做到。在其他加速器上，无论是否"
        "启用卸载，DeepSpeed 读取文件时就会报错。",
    ),
    "DS033": (
        "用 fp16 训练以 bf16 预训练的模型",
        "bf16 的数值范围与 fp32 相同，fp16 则小得多：以 bf16 预训练的模型，权重和激活在 fp16 下可能溢出。结果是损失"
        "变成 NaN 或 0，或者损失缩放一路降到最小值，训练跑了几个小时后报错。应改用 bf16；设备不支持 bf16 时用 fp32。",
    ),
    "DS034": (
        "桶与显存",
        "桶的大小按元素个数计。DeepSpeed 在第一步之前就在设备上分配 reduce 桶，类型与梯度相同；stage 3 以下开启 "
        "overlap_comm 时分配两份。照搬大显存 GPU 的设置，可能占去大半显存，甚至超出显存。默认的 5e8 对大多数模型已经"
        "足够。",
    ),
    "DS035": (
        "NVMe 卸载缺少 async_io",
        "卸载到 NVMe 时，读写由 DeepSpeed 的 async_io 算子完成；它在首次使用时编译，需要 libaio 及其头文件，缺少时 "
        "deepspeed.initialize 会报错。应安装 libaio-dev（或 libaio-devel），或改为卸载到 CPU。",
    ),
}

FINDINGS = {
    "DS030.emulated": (
        "已开启 bf16，而 {device} 的计算能力为 {capability}；bf16 运算需要 8.0 及以上（A100、RTX 30、"
        "H100 等）。这里由 PyTorch 模拟，所以能通过 DeepSpeed 的检查，但训练很慢。",
        "",
    ),
    "DS030.not_asked": (
        "已开启 bf16，而 {device} 的计算能力为 {capability}；bf16 运算需要 8.0 及以上（A100、RTX 30、"
        "H100 等）。{since} 之前的 DeepSpeed 不做检查，PyTorch 会报错或模拟运算。",
        "",
    ),
    "DS030.refused": (
        "已开启 bf16，而 {device} 的计算能力为 {capability}；bf16 运算需要 8.0 及以上（A100、RTX 30、"
        "H100 等）。DeepSpeed 会报错“Type bf16 is not supported on your device”。",
        "",
    ),
    "DS030.unsupported": (
        "已开启 {dtype}，但在这台机器上，DeepSpeed 的 {accelerator} 加速器不支持；deepspeed.initialize 会报错“Type "
        "{dtype} is not supported on your device”。",
        "关闭 {dtype}，或选择其他设备。",
    ),
    "DS030.unsupported_argument": (
        "脚本参数开启了 {dtype}，但在这台机器上，DeepSpeed 的 {accelerator} 加速器不支持；deepspeed.initialize 会报"
        "错“Type {dtype} is not supported on your device”。",
        "",
    ),
    "DS031.capability": (
        "已开启 fp16，而 {device} 的计算能力为 {capability}；DeepSpeed 要求 7.0 及以上，会报错“Type "
        "fp16 is not supported on your device”。",
        "关闭 fp16。（6.x 可设置环境变量 DS_ALLOW_DEPRECATED_FP16=1 放行，但很慢。）",
    ),
    "DS031.unsupported": (
        "已开启 {dtype}，但在这台机器上，DeepSpeed 的 {accelerator} 加速器不支持；deepspeed.initialize 会报错“Type "
        "{dtype} is not supported on your device”。",
        "关闭 {dtype}，或选择其他设备。",
    ),
    "DS031.unsupported_argument": (
        "脚本参数开启了 {dtype}，但在这台机器上，DeepSpeed 的 {accelerator} 加速器不支持；deepspeed.initialize 会报"
        "错“Type {dtype} is not supported on your device”。",
        "",
    ),
    "DS032.no_cuda": (
        "已开启 aio.use_gds，DeepSpeed 在 {device} 上会报错：“GDS currently only supported for CUDA accelerator”。",
        "关闭它，或选择 NVIDIA GPU。",
    ),
    "DS033.family": (
        "已开启 fp16，而参数指定了 {model}：{family} 系列的模型以 bf16 预训练，有些数值到了 fp16 会溢出。常见结果是"
        "损失变成 NaN 或 0，或报错“Current loss scale already at minimum”（{origin}）。",
        "",
    ),
    "DS034.large": (
        "reduce_bucket_size：{elements} 个元素占用显存 {need} / {have}（{device}），此外还有模型状态和激活。",
        "",
    ),
    "DS034.two_large": (
        "reduce_bucket_size：{elements} 个元素占用显存 {need} / {have}（{device}；overlap_comm 需要两个缓冲区），此"
        "外还有模型状态和激活。",
        "",
    ),
    "DS034.too_large": (
        "reduce_bucket_size：{elements} 个元素占用显存 {need} / {have}（{device}），此外还有模型状态和激活。无法分"
        "配：CUDA out of memory。",
        "",
    ),
    "DS034.two_too_large": (
        "reduce_bucket_size：{elements} 个元素占用显存 {need} / {have}（{device}；overlap_comm 需要两个缓冲区），此"
        "外还有模型状态和激活。无法分配：CUDA out of memory。",
        "",
    ),
    "DS035.no_async_io": (
        "{block}.device：“nvme”需要 DeepSpeed 的 async_io 算子，而训练环境无法编译它；DeepSpeed 会报错“Unable to "
        "JIT load the async_io op”。",
        "安装 libaio 及其头文件（sudo apt install libaio-dev），或改为卸载到 CPU。",
    ),
}

# What else there is to do.
ADVICE = {
    "DS030.use_fp16": "这张卡改用 fp16，或换更新的卡。T5 系列在 fp16 下会溢出，要用 fp32 训练。",
    "DS030.family_fp32": "{family} 系列的模型在 fp16 下会溢出：这张卡改用 fp32 训练，或换更新的卡。",
    "DS030.use_fp32": "这张卡改用 fp32 训练，或换更新的卡。",
    "DS030.leave_out": "去掉 {option}。",
    "DS030.pass_false": "传入 {option} False。",
    "DS034.elements": "大小按元素个数计，不是字节；默认的 5e8 对大多数模型已经足够。",
    "DS033.fp32": "用 fp32 训练：这个设备不支持 bf16。",
    "DS033.bf16": "用 bf16；设备不支持 bf16 时用 fp32。",
    "DS033.leave_out_fp16": "去掉 --fp16。",
    "DS033.pass_bf16": "用 --bf16 代替 --fp16。",
}
