"""Findings about the devices and the model."""

RULES = {
    "DS030": (
        "bf16 against the hardware",
        "DeepSpeed asks its accelerator whether the device has bf16 and stops if it does not. On NVIDIA "
        "cards bf16 arithmetic needs compute capability 8.0; since torch 2.3 the answer also counts "
        "emulation, so an older card passes and is slow. Use fp16 there, or fp32 for models that "
        "overflow in fp16.",
    ),
    "DS031": (
        "fp16 against the hardware",
        "DeepSpeed asks its accelerator whether the device has fp16 and stops if it does not: NVIDIA "
        "cards need compute capability 7.0, and of the processors only the newest have it. Switch fp16 "
        "off there, or use bf16.",
    ),
    "DS032": (
        "GPUDirect Storage off CUDA",
        "aio.use_gds moves data between an NVMe drive and GPU memory past the host, which only NVIDIA's driver "
        "can do. On any other accelerator DeepSpeed stops while it reads the file, whether anything is offloaded "
        "or not.",
    ),
    "DS033": (
        "fp16 with a model pre-trained in bf16",
        "bf16 has the range of fp32, fp16 does not: weights and activations of a model that was "
        "pre-trained in bf16 can overflow in fp16. The loss is then NaN or 0, or DeepSpeed's loss scale "
        "falls to its minimum and the run stops after hours. Use bf16, or fp32 where the device has no "
        "bf16.",
    ),
    "DS034": (
        "Buckets against the GPU's memory",
        "Sizes of buckets are counted in elements, and DeepSpeed allocates the reduce bucket on the device before"
        " the first step: twice with overlap_comm below stage 3, in the gradients' type. A size copied from a "
        "larger card can take most of the memory, or more than there is. The default of 5e8 is enough for most "
        "models.",
    ),
    "DS035": (
        "NVMe offload without async_io",
        "Offload to NVMe reads and writes through DeepSpeed's async_io operator, which is compiled on first use "
        "and needs libaio with its headers. Without them deepspeed.initialize stops. Install libaio-dev (or "
        "libaio-devel), or offload to the CPU.",
    ),
}

FINDINGS = {
    "DS030.emulated": (
        "bf16 is on and {device} has compute capability {capability}; bf16 arithmetic needs 8.0 or higher (A100, "
        "RTX 30, H100 …). PyTorch emulates it here, so DeepSpeed's own check lets it pass and training is slow.",
        "",
    ),
    "DS030.not_asked": (
        "bf16 is on and {device} has compute capability {capability}; bf16 arithmetic needs 8.0 or higher (A100, "
        "RTX 30, H100 …). DeepSpeed before {since} does not look, and PyTorch fails or emulates it.",
        "",
    ),
    "DS030.refused": (
        "bf16 is on and {device} has compute capability {capability}; bf16 arithmetic needs 8.0 or higher (A100, "
        "RTX 30, H100 …). DeepSpeed stops with “Type bf16 is not supported on your device”.",
        "",
    ),
    "DS030.unsupported": (
        "{dtype} is on, but DeepSpeed's {accelerator} accelerator doesn't support it on this machine; "
        "deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        "Switch {dtype} off, or plan for another device.",
    ),
    "DS030.unsupported_argument": (
        "{dtype} is on, by the script's arguments, but DeepSpeed's {accelerator} accelerator doesn't support it "
        "on this machine; deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        "",
    ),
    "DS031.capability": (
        "fp16 is on and {device} has compute capability {capability}; DeepSpeed needs 7.0 or higher and stops "
        "with “Type fp16 is not supported on your device”.",
        "Switch fp16 off. (On 6.x the environment variable DS_ALLOW_DEPRECATED_FP16=1 lets it through, slowly.)",
    ),
    "DS031.unsupported": (
        "{dtype} is on, but DeepSpeed's {accelerator} accelerator doesn't support it on this machine; "
        "deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        "Switch {dtype} off, or plan for another device.",
    ),
    "DS031.unsupported_argument": (
        "{dtype} is on, by the script's arguments, but DeepSpeed's {accelerator} accelerator doesn't support it "
        "on this machine; deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        "",
    ),
    "DS032.no_cuda": (
        "aio.use_gds is on, and DeepSpeed stops on {device}: “GDS currently only supported for CUDA accelerator”.",
        "Switch it off, or plan for an NVIDIA card.",
    ),
    "DS033.family": (
        "fp16 is on and the arguments name {model}: models of the {family} family were pre-trained in bf16, and "
        "values that fit there overflow in fp16. Typical ends are a loss of NaN or 0, or “Current loss scale "
        "already at minimum” ({origin}).",
        "",
    ),
    "DS034.large": (
        "reduce_bucket_size: {elements} elements take {need} of the {have} of {device}, beside model states and "
        "activations.",
        "",
    ),
    "DS034.two_large": (
        "reduce_bucket_size: {elements} elements take {need} of the {have} of {device} (two buffers, for "
        "overlap_comm), beside model states and activations.",
        "",
    ),
    "DS034.too_large": (
        "reduce_bucket_size: {elements} elements take {need} of the {have} of {device}, beside model states and "
        "activations. They can't be allocated: CUDA out of memory.",
        "",
    ),
    "DS034.two_too_large": (
        "reduce_bucket_size: {elements} elements take {need} of the {have} of {device} (two buffers, for "
        "overlap_comm), beside model states and activations. They can't be allocated: CUDA out of memory.",
        "",
    ),
    "DS035.no_async_io": (
        "{block}.device: “nvme” needs DeepSpeed's async_io operator, and the training environment can't compile "
        "it; DeepSpeed stops with “Unable to JIT load the async_io op”.",
        "Install libaio with its headers (sudo apt install libaio-dev), or offload to the CPU.",
    ),
}

# What else there is to do.
ADVICE = {
    "DS030.use_fp16": (
        "Use fp16 on this card, or a newer card. T5-family models overflow in fp16: train those in fp32."
    ),
    "DS030.family_fp32": (
        "Models of the {family} family overflow in fp16: train in fp32 on this card, or use a newer card."
    ),
    "DS030.use_fp32": "Train in fp32 on this card, or use a newer card.",
    "DS030.leave_out": "Leave out {option}.",
    "DS030.pass_false": "Pass {option} False.",
    "DS034.elements": "Sizes are elements, not bytes; the default of 5e8 is enough for most models.",
    "DS033.fp32": "Train in fp32: this device has no bf16.",
    "DS033.bf16": "Use bf16, or fp32 where the device has no bf16.",
    "DS033.leave_out_fp16": "Leave out --fp16.",
    "DS033.pass_bf16": "Pass --bf16 instead of --fp16.",
}
