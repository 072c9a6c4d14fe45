"""Findings about keys that do not do to memory what their names say."""

RULES = {
    "DS072": (
        "Bucket sizes without effect",
        "allgather_bucket_size was the size in which stages 1 and 2 gathered updated weights. Where "
        "torch has all_gather_into_tensor, DeepSpeed gathers them at once, in place: the key changes "
        "neither memory nor messages. Stage 0 reduces gradients in buckets of a fixed size, whatever "
        "reduce_bucket_size says.",
    ),
    "DS073": (
        "Activation checkpointing under the HF Trainer",
        "The block sets up deepspeed.checkpointing, and only a model that calls "
        "deepspeed.checkpointing.checkpoint uses it, as Megatron's do. Models of transformers "
        "checkpoint with torch's own function, switched on by --gradient_checkpointing. With the "
        "block alone they keep all their activations.",
    ),
    "DS074": (
        "fp32 gradients that ZeRO does not divide",
        "With bf16, fp32 accumulation and no offload, stage 1 is another class, BF16_Optimizer. It keeps "
        "the gradients of all parameters in fp32 for the whole training, beside those of the backward "
        "pass: of all forms of stage 1 it takes the most memory. Stage 2 adds up in fp32 too, and each "
        "GPU keeps its own part.",
    ),
    "DS075": (
        "fp32 gradients on the GPU despite offload",
        "Since DeepSpeed 0.19.8 stages 1 and 2 add fp32 gradients up in one buffer on the GPU, as "
        "large as the rank's part, also with offload_optimizer. Without the key gradients go to host "
        "memory as they are reduced.",
    ),
    "DS076": (
        "Offload keys that only NVMe reads",
        "buffer_count, buffer_size, max_in_cpu and the pipeline switches size the buffers through "
        "which states are swapped to NVMe. With the device “cpu” nothing is swapped and none of them "
        "changes memory: max_in_cpu does not limit what host memory holds.",
    ),
    "DS077": (
        "Contiguous gradients with offload",
        "contiguous_gradients copies gradients into a buffer of reduce_bucket_size elements before "
        "they are reduced. At stages 1 and 2 with an offloaded optimizer DeepSpeed allocates that "
        "buffer whatever the key says.",
    ),
}
FINDINGS = {
    "DS072.gather_bucket": (
        "zero_optimization.allgather_bucket_size: has no effect. With torch 1.13 and newer, stages 1 "
        "and 2 gather the weights in one call and in place; other stages have no such bucket.",
        "Remove it. A smaller reduce_bucket_size saves memory at stages 1 to 3.",
    ),
    "DS072.reduce_bucket": (
        "zero_optimization.reduce_bucket_size: has no effect at stage 0, which reduces gradients 500 "
        "million elements at a time.",
        "Remove it, or use stage 1 or higher.",
    ),
    "DS073.block": (
        "activation_checkpointing: has no effect on models of transformers, which don't call deepspeed.checkpointing.",
        "Start the script with --gradient_checkpointing. Keep the block only for a model of your own that calls it.",
    ),
    "DS074.whole": (
        "data_types.grad_accum_dtype: fp32 with bf16 at stage 1 makes every GPU keep all gradients in "
        "fp32: 4 bytes per parameter that ZeRO does not divide.",
        "Use stage 2, which divides them, unless the model is a PipelineModule.",
    ),
    "DS075.on_gpu": (
        "data_types.grad_accum_dtype: fp32 keeps this rank's gradients in fp32 on the GPU until the "
        "step, though the optimizer is in host memory.",
        "Clear it to save 4 bytes of GPU memory per parameter, divided by the ranks.",
    ),
    "DS076.key": (
        "zero_optimization.{block}: only the device “nvme” reads {keys}; with “cpu” DeepSpeed ignores it.",
        "Remove it.",
    ),
    "DS076.keys": (
        "zero_optimization.{block}: only the device “nvme” reads {keys}; with “cpu” DeepSpeed ignores them.",
        "Remove them.",
    ),
    "DS077.contiguous": (
        "zero_optimization.contiguous_gradients: false has no effect with optimizer offload, which needs the buffer.",
        "Leave it out. To save memory, lower reduce_bucket_size, which is the buffer's size.",
    ),
}
