"""Findings about batch sizes."""

RULES = {
    "DS010": (
        "Batch-size identity",
        "train_batch_size must be train_micro_batch_size_per_gpu × gradient_accumulation_steps × the number of "
        "data-parallel ranks. DeepSpeed finds a term that is missing by floor division and then asserts the "
        "product, so the same file can run on one GPU and stop on two. Set two of the terms and leave the third "
        "to DeepSpeed.",
    ),
    "DS011": (
        "A batch size is needed",
        "DeepSpeed solves the batch-size identity from train_batch_size or train_micro_batch_size_per_gpu, and "
        "stops when the file has neither; accumulation steps alone are not enough. The HF Trainer does not help: "
        "it fills a key that says “auto” and never adds one that is absent.",
    ),
    "DS012": (
        "“auto” in the batch size",
        "“auto” belongs to the HF Trainer, which replaces it with its own arguments. DeepSpeed itself "
        "compares the text with a number and stops. Under the Trainer, a train_batch_size given as a "
        "number must still come out of micro batch × accumulation steps × ranks: where no argument can "
        "make it so, write “auto” there as well.",
    ),
    "DS016": (
        "Sequence parallelism against the ranks",
        "sequence_parallel_size ranks share one sample, so the data-parallel size is the number of ranks "
        "divided by it. DeepSpeed divides without checking: a size that does not divide the ranks leaves "
        "a fraction of a rank in the batch arithmetic, which then fails or continues with a fractional "
        "batch. Use a divisor of the ranks. Together with data_parallel_size it makes a grid of ranks, "
        "which must not be larger than the number of ranks.",
    ),
}

FINDINGS = {
    "DS010.no_multiple": (
        "train_batch_size: the HF Trainer wants micro batch × accumulation steps × {ranks} ranks there, although "
        "sequence_parallel_size ranks share a sample: no arguments come to {value}.",
        "Use a multiple of {ranks}, or “auto”.",
    ),
    "DS010.sequences": (
        "train_batch_size: the HF Trainer wants micro batch × accumulation steps × {ranks} ranks there, and "
        "DeepSpeed × {data_ranks}, since sequence_parallel_size ranks share a sample: no arguments make both "
        "true.",
        "Clear train_batch_size, and DeepSpeed derives it.",
    ),
    "DS010.broken": (
        "train_batch_size: {train} is not micro batch {micro} × accumulation steps {accumulation} × {ranks} = "
        "{product}. World size is {devices}.",
        "",
    ),
    "DS010.fraction": (
        "train_batch_size: {train} is not micro batch {micro} × accumulation steps {accumulation} × {ranks} = "
        "{product}.",
        "Use a sequence_parallel_size that divides the ranks.",
    ),
    "DS011.missing": (
        "No batch size: neither train_batch_size nor train_micro_batch_size_per_gpu is set. DeepSpeed needs one "
        "of them to start.",
        "Set train_micro_batch_size_per_gpu, for example to {value}.",
    ),
    "DS011.missing_hf": (
        "No batch size: neither train_batch_size nor train_micro_batch_size_per_gpu is set (the HF Trainer fills "
        "a key that says “auto”, never one that is absent). DeepSpeed needs one of them to start.",
        "Set train_micro_batch_size_per_gpu, for example to {value}.",
    ),
    "DS012.natively": (
        "{key}: “auto” is filled by the HF Trainer only; native DeepSpeed compares it with a number and stops "
        "with a TypeError.",
        "Write a number, clear it so that DeepSpeed derives it, or choose “HF Trainer” as the framework.",
    ),
    "DS012.indivisible": (
        "train_batch_size: {train} is not {micro} × {accumulation} × world size {ranks} for any value of the "
        "arguments: it does not divide by {rest}.",
        "Write “auto”, and the Trainer's arguments decide.",
    ),
    "DS012.filled": (
        "The HF Trainer fills “auto”: train_batch_size = {micro} × {accumulation} × world size {ranks}.",
        "",
    ),
    "DS012.filled_to": (
        "The HF Trainer fills “auto”: train_batch_size = {micro} × {accumulation} × world size {ranks}; your "
        "arguments must make it {train}.",
        "",
    ),
    "DS016.no_divisor": (
        "sequence_parallel_size: {shared} does not divide the {ranks} ranks ({devices}); DeepSpeed goes on with a"
        " data-parallel size of {size}.",
        "Use a divisor of the number of ranks.",
    ),
    "DS016.grid": (
        "data_parallel_size: {wide} × sequence_parallel_size {shared} = {product} ranks, and there are {ranks} "
        "({devices}); deepspeed.initialize stops with “Mesh should not be bigger than default world size”.",
        "Remove data_parallel_size: DeepSpeed derives it.",
    ),
}

# What else there is to do.
ADVICE = {
    "DS010.set": "Set it to {right}.",
    "DS010.set_or_clear": "Set it to {right}, or clear it and DeepSpeed will derive it.",
    "DS010.absent_accumulation": (
        "accelerate takes 1 for an absent gradient_accumulation_steps, whatever the arguments say. Write “auto” for it."
    ),
    "DS010.fewer_ranks": (
        "The Trainer multiplies by every rank, and sequence_parallel_size leaves fewer that work on samples of "
        "their own ({ranks}). Clear train_batch_size, and DeepSpeed derives it."
    ),
}
