"""Findings about data types and the loss scale."""

RULES = {
    "DS020": (
        "fp16 and bf16 exclude each other",
        "A model runs in one 16-bit type, and DeepSpeed stops when both blocks are enabled. Files that serve two "
        "kinds of cards often carry both: switch one off, or under the HF Trainer leave both “auto” and let "
        "--fp16 or --bf16 choose.",
    ),
    "DS021": (
        "amp with ZeRO, fp16 or bf16",
        "NVIDIA Apex AMP was taken out in DeepSpeed 0.19.8, which refuses any amp block, even one that is off. "
        "Older releases accept the block when they read the file and stop at deepspeed.initialize when amp meets "
        "ZeRO, fp16 or bf16. Remove it and use bf16, fp16 or torch_autocast.",
    ),
    "DS022": (
        "fp16 dynamic loss scale",
        "With loss_scale 0 DeepSpeed raises the scale every loss_scale_window steps and never lets it fall below "
        "min_loss_scale, so both must be above 0. Since 0.19.3 it checks that; older releases divide by zero or "
        "let the scale fall to nothing later in the run.",
    ),
    "DS023": (
        "16-bit master weights",
        "Keeping master weights and gradients in 16 bits halves their memory, and DeepSpeed does it in few "
        "combinations only: with ZeRO (stage 2 alone before 0.18.3) and with the optimizer offloaded to "
        "DeepSpeed's own CPU Adam, or in bf16 with the optimizer states in 16 bits as well. In any other it "
        "stops.",
    ),
    "DS024": (
        "Data types",
        "data_types says in which type gradients are summed and parameters are kept. Without ZeRO the "
        "gradients' type must fit the model's, and since 0.19.2 param_dtype must be the type that the "
        "precision blocks choose. Usually the block can be left out: the precision blocks decide.",
    ),
    "DS025": (
        "torch.autocast with quantized weights",
        "torch_autocast gathers parameters in its own lower type, zero_quantized_weights gathers them quantized; "
        "DeepSpeed does one of the two and stops when both are asked for. Leave one of them out.",
    ),
    "DS026": (
        "What the loss scale means",
        "fp16.loss_scale 0 does not switch scaling off: it makes the scale dynamic, starting at 2 to the "
        "power of initial_scale_power. Any other number is a fixed scale, and then DeepSpeed reads none "
        "of the keys that control a dynamic one. A fixed scale never reacts to an overflow; prefer 0.",
    ),
    "DS027": (
        "What amp's opt_level does",
        "Apex has four levels. O0 trains in fp32; O1 runs the operations that are known to be safe in fp16; O2 "
        "keeps the whole model in fp16 and master weights in fp32; O3 is fp16 throughout, without master weights,"
        " and rarely converges. DeepSpeed 0.19.8 has no Apex any more: bf16 or torch_autocast do what O1 did, "
        "fp16 what O2 did.",
    ),
    "DS028": (
        "A fixed loss scale without ZeRO",
        "Before 0.17.1 DeepSpeed made its fp16 optimizer without timers when the loss scale was fixed, "
        "and starts one at each step, so training without ZeRO stops at the first with “'NoneType' "
        "object is not callable”. A dynamic scale, or any ZeRO stage from 1, takes another path.",
    ),
    "DS029": (
        "Modules for the lower precision",
        "lower_precision_safe_modules names classes whose gradients may travel in the lower type. Each name is a "
        "package and a class, which DeepSpeed imports when the engine is made, and it stops at one that is not "
        "there. dsgui knows the classes of torch.nn; those of other packages are not checked.",
    ),
}

FINDINGS = {
    "DS020.both": (
        "fp16.enabled and {bf16}.enabled are both on; DeepSpeed {release} runs one 16-bit type and stops with "
        "“bfloat16 and fp16 modes cannot be simultaneously enabled”.",
        "Switch one off: fp16.enabled or {bf16}.enabled to false.",
    ),
    "DS021.null": (
        "amp: null; DeepSpeed {release} looks into the block and stops with an AttributeError.",
        "Remove it.",
    ),
    "DS021.removed": (
        "amp: DeepSpeed {release} refuses any amp block, even one that is off: NVIDIA Apex AMP was removed in "
        "{removed}.",
        "Remove the block; for 16-bit training use bf16, fp16 or torch_autocast.",
    ),
    "DS021.zero": (
        "amp.enabled is true and zero_optimization.stage is {stage}; DeepSpeed {release} stops with “Amp and ZeRO"
        " are not currently compatible”.",
        "Use fp16 or bf16 instead of amp (fp16 does much what opt_level O2 did), or set the stage to 0.",
    ),
    "DS021.sixteen_bit": (
        "amp.enabled and {block}.enabled are both true; DeepSpeed {release} stops with “Cannot enable both amp "
        "with (legacy) fp16 or bfloat16 mode”.",
        "Keep one of them.",
    ),
    "DS022.window": (
        "fp16.loss_scale_window: {value} is not above 0, and the loss scale is dynamic (the scale is raised every"
        " so many steps).",
        "",
    ),
    "DS022.minimum": (
        "fp16.min_loss_scale: {value} is not above 0, and the loss scale is dynamic (a floor).",
        "",
    ),
    "DS023.two": (
        "{key}: it can't be on together with fp16's.",
        "",
    ),
    "DS023.states_alone": (
        "{key}: it needs bf16_master_weights_and_grads as well.",
        "",
    ),
    "DS023.stages": (
        "{key}: it works with ZeRO stage 1, 2 or 3 only.",
        "",
    ),
    "DS023.stage_2": (
        "{key}: it works with ZeRO stage 2 only.",
        "",
    ),
    "DS023.offload": (
        "{key}: it needs the optimizer offloaded to the CPU, with DeepSpeed's own CPU Adam.",
        "",
    ),
    "DS024.sums": (
        "data_types.grad_accum_dtype: DeepSpeed {release} without ZeRO does not add up gradients of a model in "
        "{model} in {gradients}.",
        "Clear it, or use ZeRO.",
    ),
    "DS024.parameters": (
        "data_types.param_dtype: {parameters}, while the precision blocks make the model run in {model}.",
        "Clear it: the precision blocks decide.",
    ),
    "DS024.arguments": (
        "data_types.grad_accum_dtype: without ZeRO DeepSpeed {release} adds up gradients in {gradients} only with"
        " {options} among the script's arguments.",
        "Pass it, clear the key, or use ZeRO.",
    ),
    "DS025.quantized": (
        "zero_optimization.zero_quantized_weights: does not work under torch_autocast.",
        "Switch one of them off.",
    ),
    "DS026.dynamic": (
        "fp16.loss_scale: 0 means a dynamic scale; it starts at 2^{power} = {scale}.",
        "",
    ),
    "DS026.fixed": (
        "fp16.loss_scale: {scale} is a fixed scale, so DeepSpeed does not read {keys}.",
        "Write 0 for a dynamic scale.",
    ),
    "DS027.o0": (
        "amp.opt_level: O0 is fp32 throughout: a baseline, no mixed precision.",
        "",
    ),
    "DS027.o1": (
        "amp.opt_level: O1 is fp16 for the operations that are known to be safe, fp32 weights.",
        "",
    ),
    "DS027.o2": (
        "amp.opt_level: O2 is the whole model in fp16 except batch norms, fp32 master weights: near to what the "
        "fp16 block does.",
        "",
    ),
    "DS027.o3": (
        "amp.opt_level: O3 is fp16 throughout, no master weights: fast, and it rarely converges.",
        "",
    ),
    "DS028.fixed": (
        "fp16.loss_scale: {scale} is a fixed scale; without ZeRO, DeepSpeed {release} stops at the first step (a "
        "TypeError: it made no timers for that case).",
        "Write 0 for a dynamic scale, use ZeRO stage 1, or DeepSpeed {since} or newer.",
    ),
    "DS029.no_class": (
        "torch_autocast.lower_precision_safe_modules: “{name}” can't be imported, and deepspeed.initialize stops "
        "(ValueError: Failed to import lower precision safe module).",
        "Write a package and a class, such as torch.nn.Linear.",
    ),
}

# What else there is to do.
ADVICE = {
    "DS022.positive": "Give a positive number, or clear it for the default.",
    "DS020.hf": "Under the HF Trainer leave both “auto” and pass --bf16 or --fp16.",
    "DS023.condition": "Meet the condition, or remove the key.",
}
