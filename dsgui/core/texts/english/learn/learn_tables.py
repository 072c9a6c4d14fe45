"""The tables of the tutorials. apex's levels are those of apex/amp/frontend.py; today's keys are DeepSpeed 0.19.8's.
Backends: torch's distributed documentation, deepspeed/comm/comm.py and accelerate's state.py."""

LEARN_TABLES: dict[str, str] = {
    "opt_level.r0_c0": "apex opt_level",
    "opt_level.r0_c1": "What apex did",
    "opt_level.r0_c2": "Keys today",
    "opt_level.r1_c0": "O0",
    "opt_level.r1_c1": "All in fp32; a baseline to compare with.",
    "opt_level.r1_c2": "neither `fp16` nor `bf16` nor `torch_autocast`",
    "opt_level.r2_c0": "O1 (default)",
    "opt_level.r2_c1": "Weights stay fp32; matrix products are cast to fp16, sensitive operations to fp32; dynamic "
    "loss scale.",
    "opt_level.r2_c2": '`"torch_autocast": {{"enabled": true, "dtype": "float16"}}` (or `"bfloat16"`)',
    "opt_level.r3_c0": "O2",
    "opt_level.r3_c1": "Weights in fp16 except batch norm, fp32 master weights in the optimizer, dynamic loss scale.",
    "opt_level.r3_c2": '`"fp16": {{"enabled": true}}`; `loss_scale: 0` is dynamic. Or `bf16`, which needs no scale. '
    "Batch norm is cast as well.",
    "opt_level.r4_c0": "O3",
    "opt_level.r4_c1": "Everything in fp16, no master weights, loss scale 1: fast, and unstable.",
    "opt_level.r4_c2": "`fp16_master_weights_and_grads` (or `bf16_master_weights_and_grads`) comes nearest; ZeRO "
    "stage 1 or higher.",
    "backends.r0_c0": "Backend",
    "backends.r0_c1": "For",
    "backends.r0_c2": "What it needs",
    "backends.r0_c3": "Where it is chosen",
    "backends.r1_c0": "nccl",
    "backends.r1_c1": "NVIDIA GPUs, on one node or several.",
    "backends.r1_c2": "A torch built with CUDA; nothing to install. `NCCL_SOCKET_IFNAME` if it picks the wrong "
    "network.",
    "backends.r1_c3": "By DeepSpeed itself, wherever it finds a CUDA GPU.",
    "backends.r2_c0": "gloo",
    "backends.r2_c1": "CPU ranks; what this dsgui uses without a GPU.",
    "backends.r2_c2": "Nothing: every torch has it. `GLOO_SOCKET_IFNAME` on several nodes.",
    "backends.r2_c3": "By DeepSpeed itself on a CPU (ccl instead, where oneCCL’s bindings are installed).",
    "backends.r3_c0": "mpi",
    "backends.r3_c1": "CPU clusters that have MPI; GPUs only with a CUDA-aware MPI.",
    "backends.r3_c2": "A torch compiled from source on a machine with MPI; no wheel has it.",
    "backends.r3_c3": '`deepspeed.init_distributed(dist_backend="mpi")` in the script. `--launcher openmpi` only '
    "starts the ranks by MPI; they still talk over nccl or gloo.",
}
