"""Findings about ZeRO."""

RULES = {
    "DS040": (
        "Prescaled gradients",
        "ZeRO stage 2 and 3 add gradients up with reduce-scatter, which divides them once, afterwards. Dividing "
        "before the sum (prescale_gradients) or in two parts (gradient_predivide_factor) is possible only with "
        "reduce_scatter off; otherwise deepspeed.initialize stops.",
    ),
    "DS041": (
        "Summed gradients",
        "gradient_allreduce_op “sum” leaves gradients undivided by the number of ranks. ZeRO stage 3, "
        "ZenFlow and DeepCompile always average, and DeepSpeed refuses the combination rather than "
        "silently average. Use “mean” and scale the loss.",
    ),
    "DS042": (
        "No gradient norm",
        "compute_grad_norm false saves a pass over the gradients. Clipping needs that norm, and clipping is on at"
        " 1.0 unless the file says 0; other stages, optimizer offload and fp32 accumulation in bf16 at stage 1 "
        "need it too. DeepSpeed stops at each of them.",
    ),
    "DS043": (
        "Odd bucket",
        "ZeRO stage 1 and 2 align the buckets in which parameters are gathered to an even number of "
        "elements, and assert that the given size is even. Sizes are elements, so nothing is lost by "
        "adding one.",
    ),
    "DS044": (
        "The old stage 1",
        "The first implementation of ZeRO stage 1 was replaced in DeepSpeed 0.5.9. The switch that brought it "
        "back is still read, and DeepSpeed stops when it is on.",
    ),
    "DS047": (
        "Secondary partitions against the ranks",
        "zero_hpz_partition_size keeps a second copy of the parameters within groups of so many ranks, usually a "
        "node. The ranks must divide into whole groups, or DeepSpeed stops; a size beyond all ranks means all of "
        "them.",
    ),
    "DS048": (
        "Quantized gradients and managed accumulation",
        "Two switches that have conditions. Quantized gradients at stage 3 travel by reduce-scatter, which must "
        "be on; managed_gradient_accumulation false reduces every micro batch at once and can't be combined with "
        "overlapped communication below stage 2, nor with DeepCompile.",
    ),
    "DS049": (
        "Saving at stage 3",
        "At stage 3 each rank holds a part of the model. Unless this switch is on, saving writes the parts and no"
        " file that another program can load, and the log hardly says so. Gathering costs memory and time at each"
        " save; zero_to_fp32.py in the checkpoint does it later.",
    ),
    "DS070": (
        "Keys that only ZeRO stage 3 reads",
        "The stage3_… keys, sub_group_size and the ZeRO++ switches control how stage 3 divides and "
        "gathers parameters. Below stage 3 DeepSpeed silently ignores them. They do no harm; remove "
        "them, or use stage 3 if that was meant.",
    ),
    "DS071": (
        "ZeRO as a switch",
        "In the first releases zero_optimization was true or false. DeepSpeed still reads that as stage 1 or 0 "
        "and prints a warning; no other key of ZeRO can be given that way. Write a block with a stage.",
    ),
}

FINDINGS = {
    "DS040.prescale": (
        "prescale_gradients: ZeRO stage 2 and 3 can't prescale while reduce_scatter is on (it is unless switched off).",
        "Leave prescale_gradients out, or set zero_optimization.reduce_scatter to false.",
    ),
    "DS040.predivide": (
        "gradient_predivide_factor: ZeRO stage 2 and 3 take only 1.0 while reduce_scatter is on (it is unless "
        "switched off).",
        "Leave it out, or set zero_optimization.reduce_scatter to false.",
    ),
    "DS040.zero": (
        "gradient_predivide_factor: gradients are divided by it, and 0 stops the first step (ZeroDivisionError).",
        "Leave it out for 1.0.",
    ),
    "DS041.sum": (
        "gradient_allreduce_op: “sum” does not work with ZeRO stage 3, ZenFlow or DeepCompile.",
        "Use “mean”, and scale the loss in the script.",
    ),
    "DS042.stages": (
        "zero_optimization.compute_grad_norm: false is for ZeRO stage 1 and 2 only.",
        "Leave it out.",
    ),
    "DS042.clipping": (
        "zero_optimization.compute_grad_norm: without the norm there is nothing to clip by, and gradient_clipping"
        " is on (1.0 where the file does not set it).",
        "Set gradient_clipping to 0, or compute the norm.",
    ),
    "DS042.offload": (
        "zero_optimization.compute_grad_norm: false does not work with optimizer offload.",
        "Leave it out.",
    ),
    "DS042.fp32_sums": (
        "zero_optimization.compute_grad_norm: false does not work at stage 1 with bf16 and gradients added up in fp32.",
        "Leave it out.",
    ),
    "DS043.odd": (
        "zero_optimization.allgather_bucket_size: ZeRO stage 1 and 2 want an even number of elements.",
        "Make it even.",
    ),
    "DS044.legacy": (
        "zero_optimization.legacy_stage1: the old implementation was removed in 0.5.9, and DeepSpeed "
        "stops when asked for it.",
        "Remove it.",
    ),
    "DS047.no_divisor": (
        "zero_optimization.zero_hpz_partition_size: {size} does not divide the {ranks} ranks ({devices}).",
        "Use the number of GPUs of one node.",
    ),
    "DS048.scatter": (
        "zero_optimization.zero_quantized_gradients: needs reduce_scatter, which is off.",
        "Switch reduce_scatter on.",
    ),
    "DS048.overlap": (
        "managed_gradient_accumulation: false goes with overlap_comm at ZeRO stage 2 and up only.",
        "Switch zero_optimization.overlap_comm off, or leave managed_gradient_accumulation out.",
    ),
    "DS048.compile": (
        "managed_gradient_accumulation: false does not work with DeepCompile.",
        "Leave it out, or switch compile.deepcompile off.",
    ),
    "DS049.shards": (
        "zero_optimization.stage3_gather_16bit_weights_on_model_save: off, so a save writes shards and no model file.",
        "Switch it on, or run zero_to_fp32.py from the checkpoint afterwards.",
    ),
    "DS070.key": (
        "zero_optimization.{first}: only ZeRO stage 3 reads {keys}; at stage {stage} DeepSpeed ignores it.",
        "Remove it, or use stage 3.",
    ),
    "DS070.keys": (
        "zero_optimization.{first}: only ZeRO stage 3 reads {keys}; at stage {stage} DeepSpeed ignores them.",
        "Remove them, or use stage 3.",
    ),
    "DS071.switch": (
        "zero_optimization: {value} is the format of the first releases; DeepSpeed takes it for stage {stage} and"
        " warns.",
        "Write the block.",
    ),
}
