"""The tables of the tutorials, in Chinese."""

LEARN_TABLES: dict[str, str] = {
    "opt_level.r0_c0": "apex opt_level",
    "opt_level.r0_c1": "apex 的做法",
    "opt_level.r0_c2": "如今的键",
    "opt_level.r1_c0": "O0",
    "opt_level.r1_c1": "全部用 fp32，作为对照基准。",
    "opt_level.r1_c2": "`fp16`、`bf16`、`torch_autocast` 都不设",
    "opt_level.r2_c0": "O1（默认）",
    "opt_level.r2_c1": "权重保持 fp32；矩阵乘法转为 fp16，对精度敏感的运算转为 fp32；动态损失缩放。",
    "opt_level.r2_c2": '`"torch_autocast": {{"enabled": true, "dtype": "float16"}}`（或 `"bfloat16"`）',
    "opt_level.r3_c0": "O2",
    "opt_level.r3_c1": "除批归一化外权重都是 fp16，优化器中保留 fp32 主权重，动态损失缩放。",
    "opt_level.r3_c2": '`"fp16": {{"enabled": true}}`，`loss_scale: 0` 即动态缩放；或用不需要缩放的 `bf16`。批归一化'
    "也会被转换。",
    "opt_level.r4_c0": "O3",
    "opt_level.r4_c1": "全部用 fp16，没有主权重，损失缩放为 1：快但不稳定。",
    "opt_level.r4_c2": "最接近的是 `fp16_master_weights_and_grads`（或 `bf16_master_weights_and_grads`），需要 ZeRO "
    "stage 1 或更高。",
    "backends.r0_c0": "后端",
    "backends.r0_c1": "适用于",
    "backends.r0_c2": "需要什么",
    "backends.r0_c3": "在哪里选择",
    "backends.r1_c0": "nccl",
    "backends.r1_c1": "NVIDIA GPU，单机或多机。",
    "backends.r1_c2": "带 CUDA 的 torch，无需另装。选错网卡时设置 `NCCL_SOCKET_IFNAME`。",
    "backends.r1_c3": "有 CUDA GPU 时由 DeepSpeed 自动选择。",
    "backends.r2_c0": "gloo",
    "backends.r2_c1": "CPU rank；没有 GPU 时 dsgui 就用它。",
    "backends.r2_c2": "什么都不需要：每个 torch 都自带。多机时设置 `GLOO_SOCKET_IFNAME`。",
    "backends.r2_c3": "在 CPU 上由 DeepSpeed 自动选择（装有 oneCCL 绑定时改用 ccl）。",
    "backends.r3_c0": "mpi",
    "backends.r3_c1": "装有 MPI 的 CPU 集群；GPU 还需要支持 CUDA 的 MPI。",
    "backends.r3_c2": "在装有 MPI 的机器上从源码编译的 torch；任何 wheel 都不带。",
    "backends.r3_c3": '在脚本中写 `deepspeed.init_distributed(dist_backend="mpi")`。`--launcher openmpi` 只是用 MPI '
    "启动各 rank，通信仍走 nccl 或 gloo。",
}
