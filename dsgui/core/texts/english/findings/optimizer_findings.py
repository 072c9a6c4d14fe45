"""Findings about the optimizer and clipping."""

RULES = {
    "DS050": (
        "Optimizer type",
        "DeepSpeed makes its own optimizers by name, in any case, and those of torch.optim by the exact name of "
        "their class; at any other it stops. The 1-bit optimizers were removed in 0.19.7. An optimizer of another"
        " package is made in the script and passed to deepspeed.initialize, without an optimizer block.",
    ),
    "DS051": (
        "Optimizer parameters",
        "optimizer.params go to the optimizer's class as they are, and a name that it does not know "
        "raises a TypeError. Which class that is depends on offload and torch_adam: the fused Adam, "
        "DeepSpeed's CPU Adam and PyTorch's differ in what they take. max_grad_norm belongs to none; "
        "gradient_clipping does that.",
    ),
    "DS052": (
        "Optimizer values",
        "Some optimizers refuse values that others take: the fused Adam and Lamb have no AMSGrad variant, Lamb "
        "needs a dynamic loss scale, and Muon works with ZeRO stage 3 and with offload only in the releases and "
        "with the switches named. DeepSpeed stops at deepspeed.initialize.",
    ),
    "DS053": (
        "Optimizers that ZeRO was not tested with",
        "ZeRO divides an optimizer's states over the ranks, which is right only for those that work on each "
        "element by itself. DeepSpeed keeps a list of the ones it tested and stops at others until "
        "zero_allow_untested_optimizer says that it may go on. The 1-bit optimizers of releases before 0.19.7 "
        "work with no ZeRO stage at all.",
    ),
    "DS054": (
        "An optimizer from the script",
        "A file without an optimizer is right when the training script passes one to deepspeed.initialize, as the"
        " HF Trainer does; with ZeRO stage 1 or 2 and none at all, DeepSpeed stops, and at stage 3 it makes an "
        "engine for inference. If the optimizer is to be offloaded, it must be DeepSpeed's own CPU Adam unless "
        "zero_force_ds_cpu_optimizer is false.",
    ),
    "DS058": (
        "Gradient clipping by default",
        "Since 0.19.3 DeepSpeed clips gradients at a norm of 1.0 when the file does not say gradient_clipping; "
        "before, it did not clip. The same file therefore trains differently after an upgrade, and under the HF "
        "Trainer --max_grad_norm does not reach a key that is absent. Write the value you mean: 0 switches "
        "clipping off.",
    ),
}

FINDINGS = {
    "DS050.muon": (
        "optimizer.type: DeepSpeed {release} has no {name} of its own (it came with {since}); the name reaches "
        "torch.optim at best, whose Muon takes matrices only and stops at a model's biases and norms.",
        "Choose AdamW, or use DeepSpeed {since} or newer.",
    ),
    "DS050.unknown": (
        "optimizer.type: DeepSpeed {release} has no optimizer “{name}”. It takes {offered} in any case, and "
        "classes of torch.optim by their exact name.",
        "",
    ),
    "DS050.removed": (
        "optimizer.type: DeepSpeed {release} has no optimizer “{name}”; the 1-bit optimizers were removed in "
        "{removed}. It takes {offered} in any case, and classes of torch.optim by their exact name.",
        "",
    ),
    "DS051.clipping": (
        "optimizer.params.max_grad_norm: DeepSpeed refuses it as a parameter of the optimizer (ValueError).",
        "gradient_clipping at the top level does the same.",
    ),
    "DS051.refused": (
        "optimizer.params.{key}: {kind}, which DeepSpeed makes here, takes no such parameter and stops with a "
        "TypeError.",
        "",
    ),
    "DS052.amsgrad": (
        "optimizer.params.amsgrad: DeepSpeed's fused optimizers have no AMSGrad variant and stop with a RuntimeError.",
        "Remove it, or set torch_adam to use PyTorch's own Adam.",
    ),
    "DS052.loss_scale": (
        "fp16.loss_scale: a fixed scale; Lamb and OneBitLamb need a dynamic one and DeepSpeed asserts it.",
        "Set it to 0 (dynamic).",
    ),
    "DS052.muon_stage_3": (
        "zero_optimization.stage: Muon works with stage 3 since DeepSpeed {since} only.",
        "Use stage 2 or lower, or another optimizer.",
    ),
    "DS052.muon_scatter": (
        "zero_optimization.reduce_scatter: Muon at ZeRO stage 3 can't work with it, and it is on unless switched off.",
        "Switch it off.",
    ),
    "DS052.muon_quantized": (
        "zero_optimization.zero_quantized_gradients: Muon at ZeRO stage 3 can't work with it.",
        "Remove it.",
    ),
    "DS052.muon_offload": (
        "zero_optimization.reduce_scatter: this DeepSpeed can't offload Muon while it is on, and it is on unless "
        "switched off.",
        "Switch it off.",
    ),
    "DS053.one_bit": (
        "optimizer.type: {name} does not work with any ZeRO stage, whatever zero_allow_untested_optimizer says: "
        "deepspeed.initialize stops.",
        "Choose AdamW for ZeRO, or stage 0 for a 1-bit optimizer: which of the two is for you to decide.",
    ),
    "DS053.untested": (
        "optimizer.type: ZeRO was not tested with {name}, and DeepSpeed stops unless "
        "zero_allow_untested_optimizer is true.",
        "Allow it, or choose AdamW.",
    ),
    "DS054.offload": (
        "zero_optimization.offload_optimizer: with an optimizer from the script, DeepSpeed takes only its own "
        "DeepSpeedCPUAdam for offload, and stops at others.",
        "Pass DeepSpeedCPUAdam, choose the optimizer here, or set zero_force_ds_cpu_optimizer to false.",
    ),
    "DS054.first_step": (
        "optimizer: none is chosen, so the script must pass its own: without one, the first training step fails.",
        "",
    ),
    "DS054.inference": (
        "optimizer: none is chosen, so the script must pass its own: without one, the engine is one for "
        "inference, and the first backward fails.",
        "",
    ),
    "DS054.no_type_first_step": (
        "optimizer.type: missing. The HF Trainer leaves the optimizer to a config that has this block, and DeepSpeed "
        "makes none without a type: the first training step fails.",
        "",
    ),
    "DS054.no_type_stops": (
        "optimizer.type: missing. The HF Trainer leaves the optimizer to a config that has this block, and DeepSpeed "
        "makes none without a type: it stops with “zero stage {stage} requires an optimizer”.",
        "",
    ),
    "DS054.stops": (
        "optimizer: none is chosen, so the script must pass its own: without one, deepspeed.initialize stops with"
        " “zero stage {stage} requires an optimizer”.",
        "",
    ),
    "DS058.default": (
        "gradient_clipping: absent, so DeepSpeed clips at its default of 1.0 (releases before {since} did not clip).",
        "Write 1.0, or 0 for none.",
    ),
    "DS058.default_hf": (
        "gradient_clipping: absent, so DeepSpeed clips at its default of 1.0 (releases before {since} did not "
        "clip); --max_grad_norm is not used.",
        "Write “auto” for the Trainer's --max_grad_norm, or a number.",
    ),
}

# What else there is to do.
ADVICE = {
    "DS050.choose": "Choose AdamW, or pass an optimizer of your own from the script.",
    "DS054.choose_or_remove": "Choose one, such as AdamW, or remove the block: the Trainer then makes its own.",
    "DS054.pass": "Pass optimizer=… to deepspeed.initialize, or choose one in the config.",
}
