"""Findings about the blocks beyond ZeRO, those that DeepSpeed no longer has among them."""

RULES = {
    "DS060": (
        "What data efficiency needs",
        "Curriculum learning orders the samples by a metric, dynamic batching fills a batch up to a number of "
        "tokens. DeepSpeed asserts that the metric and the number are there when the feature is on.",
    ),
    "DS061": (
        "Autotuning",
        "The autotuner starts many short runs with varied configs. With autotuning.enabled in the file, the "
        "training script becomes one of them and ends after a few steps; and the names of its folders must not be"
        " empty, even when it is off.",
    ),
    "DS062": (
        "Tensor parallelism against the ranks",
        "autotp_size GPUs share each layer, so the ranks must divide into whole groups of that size. It "
        "must be a number: DeepSpeed compares “auto” with one and stops. tensor_parallel.tp.tp_size "
        "repeats it and may not differ. The HF Trainer divides by autotp_size, so 0 stops it.",
    ),
    "DS063": (
        "Expert parallelism against the ranks",
        "autoep_size ranks share the experts of a mixture-of-experts layer, and expert_tensor_parallel_size ranks"
        " share each expert. The ranks must divide into whole groups of the product.",
    ),
    "DS064": (
        "The fast checkpoint writer",
        "The block makes DeepSpeed write checkpoints with a writer of its own. It must know which ranks "
        "write: at stage 3 all do; below it data_parallel has to say so, or creating the engine fails.",
    ),
    "DS065": (
        "Contiguous activation checkpoints",
        "contiguous_memory_optimization copies activation checkpoints into one buffer, whose size follows from "
        "partition_activations and number_checkpoints. The file passes deepspeed.initialize without them; "
        "deepspeed.checkpointing.configure, which a script that checkpoints calls, stops.",
    ),
    "DS066": (
        "What pipelines refuse",
        "The pipeline block is for scripts that pass a PipelineModule. Its engine keeps gradients over many micro"
        " batches, which ZeRO stage 2 and 3 divide away at once, so it refuses both; it also counts accumulation "
        "itself. Without a PipelineModule nothing reads the block.",
    ),
    "DS067": (
        "Elasticity and the batch sizes",
        "With elasticity on, DeepSpeed chooses batch sizes that fit many GPU counts, from "
        "max_train_batch_size and micro_batch_sizes, which must be there. It stops if the file names "
        "batch sizes as well, unless it is told to ignore them. DeepSpeed 0.19.8 no longer has "
        "elasticity.",
    ),
    "DS068": (
        "What compression groups need",
        "Each technique of compression_training has groups of modules, and each group its params: the "
        "bits, or the share of weights that is kept, and modules: regular expressions, which the default "
        "“*” is not. DeepSpeed reads them even while the technique is off and stops at one that is "
        "missing. The library was removed in 0.19.7.",
    ),
}

FINDINGS = {
    "DS060.metrics": (
        "data_efficiency…curriculum_metrics: missing; curriculum learning is on and DeepSpeed requires at least one.",
        "Add at least one metric, or switch curriculum learning off.",
    ),
    "DS060.tokens": (
        "data_efficiency…max_tokens: missing; dynamic batching is on and fills batches up to it.",
        "Give the most tokens a micro batch may have, or switch dynamic batching off.",
    ),
    "DS061.empty": (
        "autotuning.{key}: an empty name is refused.",
        "Give a folder, or leave it out.",
    ),
    "DS061.enabled": (
        "autotuning.enabled: a run with it on ends by itself after some steps: it is one trial of the tuner.",
        "Switch it off for real training; start the tuner with deepspeed --autotuning.",
    ),
    "DS062.auto": (
        "tensor_parallel.autotp_size: “auto” is compared with a number, and deepspeed.initialize stops.",
        "Give the number of GPUs that share a layer.",
    ),
    "DS062.zero": (
        "tensor_parallel.autotp_size: the HF Trainer divides the ranks by it, and its first step stops at 0 with "
        "“integer division or modulo by zero”.",
        "Remove it: off is the default.",
    ),
    "DS062.models": (
        "tensor_parallel.autotp_size: DeepSpeed splits the layers only of model types it knows; at "
        "others it stops with “Not able to determine model policy automatically”.",
        "Check that DeepSpeed can split this type of model, as it can Llama.",
    ),
    "DS062.no_divisor": (
        "tensor_parallel.autotp_size: {size} does not divide the {ranks} ranks ({devices}).",
        "Use a divisor of the number of ranks.",
    ),
    "DS062.two_sizes": (
        "tensor_parallel.tp.tp_size: {inner} is not autotp_size {size}.",
        "Leave it out: autotp_size is enough.",
    ),
    "DS063.no_divisor": (
        "expert_parallel.autoep_size: autoep_size × expert_tensor_parallel_size = {width} does not divide the "
        "{ranks} ranks ({devices}).",
        "Use a divisor of the number of ranks.",
    ),
    "DS064.writers": (
        "checkpoint.writer: below ZeRO stage 3, creating the engine fails unless data_parallel says which ranks write.",
        "Set checkpoint.writer.data_parallel, or remove the block.",
    ),
    "DS065.partition": (
        "activation_checkpointing.partition_activations: missing; contiguous_memory_optimization needs it, and "
        "deepspeed.checkpointing.configure stops without it.",
        "Set it to true, or switch contiguous_memory_optimization off.",
    ),
    "DS065.number": (
        "activation_checkpointing.number_checkpoints: missing; contiguous_memory_optimization needs it, and "
        "deepspeed.checkpointing.configure stops without it.",
        "Give the number of checkpointed layers.",
    ),
    "DS066.stage": (
        "pipeline: only a PipelineModule reads it, and that refuses ZeRO stage 2 and 3.",
        "Use stage 1 or lower for a pipeline, or remove the block.",
    ),
    "DS066.accumulation": (
        "managed_gradient_accumulation: a PipelineModule, for which the pipeline block is, refuses false.",
        "Leave it out for a pipeline, or remove the pipeline block.",
    ),
    "DS067.missing": (
        "elasticity.{key}: missing; with elasticity on, DeepSpeed chooses the batch sizes from it.",
        "Give it, or switch elasticity off.",
    ),
    "DS067.batch_sizes": (
        "{key}: elasticity is on and chooses the batch sizes itself; DeepSpeed stops if the file also sets {names}.",
        "Remove them, or set elasticity.ignore_non_elastic_batch_info.",
    ),
    "DS068.step": (
        "compression_training.weight_quantization.shared_parameters.quantize_weight_in_forward: off, so weights "
        "are quantized by the optimizer's step, which only fp16's does; deepspeed.initialize stops.",
        "Switch it on, or train in fp16.",
    ),
    "DS068.pattern": (
        "{key}: deepspeed.initialize reads “{pattern}” as a regular expression, which it is not, and stops.",
        "Write “.*” for all modules, or a part of their names.",
    ),
    "DS068.groups": (
        "{key}: missing; DeepSpeed stops while it reads the file: it looks for the groups even while the "
        "technique is off.",
        "",
    ),
    "DS068.heads": (
        "{key}: missing; DeepSpeed stops while it reads the file: head pruning is on.",
        "",
    ),
    "DS068.parameters": (
        "{key}: missing; DeepSpeed stops while it reads the file: each group must have them.",
        "",
    ),
    "DS068.parameter": (
        "{key}: missing; DeepSpeed stops while it reads the file: each group of {technique} must say it.",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS068.give": "Give it, or remove the technique.",
}
