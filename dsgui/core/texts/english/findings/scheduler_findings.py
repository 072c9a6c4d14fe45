"""Findings about the learning-rate scheduler."""

RULES = {
    "DS055": (
        "Scheduler type",
        "DeepSpeed has five schedulers of its own, whose names are case-sensitive, and accepts classes "
        "of torch.optim.lr_scheduler. PyTorch's need a plain optimizer and reject the one that ZeRO "
        "wraps around it. Without an optimizer in the file the block is read only if the script passes "
        "one.",
    ),
    "DS056": (
        "Scheduler parameters",
        "scheduler.params go to the scheduler's class as they are. Each takes names of its own: WarmupLR "
        "has no total_num_steps, WarmupCosineLR no warmup_max_lr. An unknown name, a missing one, or no "
        "params at all raises a TypeError.",
    ),
    "DS057": (
        "Warm-up steps",
        "The step counts of a scheduler are whole numbers. Natively the file is read in a way that turns "
        "100.0 into 100; the HF Trainer keeps the fraction, and DeepSpeed's check of the type stops. A "
        "total that is less than the warm-up leaves no time for the rate to decay.",
    ),
    "DS059": (
        "Ratios and rates in the wrong direction",
        "warmup_min_ratio and cos_min_ratio are shares of the learning rate: the warm-up starts at the one and "
        "the cosine ends at the other. DeepSpeed does not check them, so below 0 the model is trained uphill and "
        "above 1 the rate rises where it should fall; likewise a warm-up whose least rate is above its greatest.",
    ),
}

FINDINGS = {
    "DS055.no_type": (
        "scheduler.type: missing, so DeepSpeed makes no scheduler from this block and reads none of its parameters.",
        "",
    ),
    "DS055.no_type_hf": (
        "scheduler.type: missing. The HF Trainer leaves the learning rate to a config that has this block, and "
        "DeepSpeed makes no scheduler without a type: the run ends with “'DummyScheduler' object has no attribute "
        "'get_last_lr'”.",
        "",
    ),
    "DS055.torch": (
        "scheduler.type: {name} is PyTorch's, which needs a plain optimizer; ZeRO wraps it, and PyTorch "
        "stops with “… is not an Optimizer”.",
        "Choose one of {schedulers}, or make the scheduler in the script.",
    ),
    "DS055.unknown": (
        "scheduler.type: DeepSpeed knows no scheduler “{name}” (upper and lower case count).",
        "",
    ),
    "DS056.missing": (
        "scheduler.params: missing; DeepSpeed makes {name} from it and stops with a TypeError, even for defaults "
        "alone.",
        "Give the parameters, or an empty object.",
    ),
    "DS056.refused": (
        "scheduler.params.{key}: {name} takes no such parameter and stops with a TypeError.",
        "Remove it, or choose the scheduler that takes it.",
    ),
    "DS056.of_another": (
        "scheduler.params.{key}: {name} takes no such parameter and stops with a TypeError. {takers} would.",
        "",
    ),
    "DS056.required": (
        "scheduler.params.{key}: {name} needs it and stops with a TypeError without it.",
        "",
    ),
    "DS057.short": (
        "scheduler.params.total_num_steps: {total} is less than warmup_num_steps {warmup}, so the "
        "learning rate never decays.",
        "Raise it to the steps of the whole run, or shorten the warm-up.",
    ),
    "DS057.fraction": (
        "scheduler.params.{key}: {value} is written as a fraction; the HF Trainer keeps it as one, and the "
        "scheduler wants a whole number (natively DeepSpeed turns it into one).",
        "Write {whole}.",
    ),
    "DS057.no_warmup": (
        "scheduler.params.warmup_num_steps: 0 never equals the HF Trainer's --warmup_steps, which it counts as 1 "
        "or more, and it stops at the difference.",
        "Write “auto”, and the Trainer's argument decides.",
    ),
    "DS059.no_share": (
        "scheduler.params.{key}: {value} is not a share of the learning rate, but DeepSpeed accepts it.",
        "Give a number from 0 to 1.",
    ),
    "DS059.falling": (
        "scheduler.params.warmup_min_lr: {least} is above warmup_max_lr {most}, so the rate falls in warm-up.",
        "Swap them.",
    ),
}

# What else there is to do.
ADVICE = {
    "DS055.choose_or_remove": "Choose one of {schedulers}, or remove the block.",
    "DS055.choose": "Choose one of {schedulers}.",
    "DS056.write_auto": "Write “auto”, and the HF Trainer fills it.",
    "DS056.give": "Give {key}.",
}
