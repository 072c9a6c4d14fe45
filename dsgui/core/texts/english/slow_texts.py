"""Texts of why a run is slow: the line, the figures it is told from, what to try."""

SLOW = {
    "too_few": "Can't say yet: {count} samples were taken while it trained; at least {fewest} are needed.",
    "nothing": "No bottleneck found: the GPUs were busy.",
    "no_gpu": "No bottleneck found. There were no GPU readings, so whether it waited for data is unknown.",
    "data": "Waiting for data {share} of the time: GPUs idle while the host CPU works.",
    "offload": "Waiting for the optimizer on the CPU {share} of the time.",
    "cpu_full": "Host CPU saturated: GPUs idle {share} of the time.",
    "transfers": "GPUs idle {share} of the time while data moves between host and GPU (PCIe).",
    "idle": "GPUs idle {share} of the time; the samples don't show why.",
    "cpu_full_others": "Other processes saturated the host CPU: GPUs idle {share} of the time.",
    "cpu_limit": "The host CPU was saturated {share} of the time, by this run or by others.",
    "cpu_own": "This run saturated the host CPU {share} of the time.",
    "cpu_others": "The host CPU was saturated {share} of the time, mostly by other processes.",
    "evaluation": "Evaluating {share} of the time.",
    "checkpoint": "Saving checkpoints {share} of the time.",
    "swap": "Swapping: the host was out of memory.",
    "rank": "Rank {rank} took {times} times as long as the others, which waited for it in every step.",
    "uneven": "{name} was far less busy than the busiest GPU.",
    "slowed": "{name} was slowed down by heat or its power supply {share} of the time.",
}
SLOW_FIGURES = {
    "gpu": "GPU utilization: {value}",
    "cpu": "host CPU: {value}",
    "cpu_while_idle": "host CPU while the GPUs were idle: {value}",
    "cpu_while_busy": "host CPU while they were busy: {value}",
    "pcie": "PCIe traffic: {value} GiB/s per GPU",
    "processes": "processes of the run: {value}",
    "of_run": "taken by this run while saturated: {value}",
    "of_others": "taken by other processes: {value}",
    "seconds": "{value} of {of} s",
    "swap": "swap used: {value} GiB more than at the start",
    "rank": "own work per step: rank {rank} {value} ms, the others {others} ms",
    "of_gpu": "{name}: {value}",
}
SLOW_ADVICE = {
    "data": "increase dataloader_num_workers (HF Trainer) or num_workers, set pin_memory, and tokenize once before "
    "training.",
    "offload": "remove offload_optimizer if the GPU memory allows it, increase gradient_accumulation_steps, or give "
    "the run more CPU cores.",
    "cpu_full": "use fewer data-loader workers than cores, set OMP_NUM_THREADS, or prepare the data before training.",
    "transfers": "increase the micro batch, offload less (offload_param, offload_optimizer), or check that the GPUs "
    "have all their PCIe lanes.",
    "idle": "increase the micro batch; check the data loader, logging_steps, and the network between nodes. "
    "wall_clock_breakdown shows where a step's time goes.",
    "cpu_full_others": "stop other programs on this machine, or run them elsewhere.",
    "cpu_own": "train on a GPU, or give the run more cores.",
    "cpu_others": "stop other programs on this machine, or run them elsewhere.",
    "cpu_limit": "check what else runs on this machine; then train on a GPU, or give the run more cores.",
    "evaluation": "evaluate less often (eval_steps), on fewer samples, or with a larger per_device_eval_batch_size.",
    "checkpoint": "save less often (save_steps), to a faster disk, or without optimizer states (save_only_model).",
    "swap": "reduce data-loader workers or prefetching, offload less, or end other processes.",
    "rank": "check that GPU's clocks, temperature and PCIe lanes, what else runs on its machine, and whether its share "
    "of the data is longer.",
    "uneven": "check whether that rank gets less data, or another process uses the other GPUs.",
    "slowed": "check cooling, fans and power supply.",
}

NO_LOSS: dict[str, str] = {
    "before_training": "No loss was printed: the run ended before its first step was complete.",
    "before_training_of_training": "No training loss was printed: the run ended before its first step was complete.",
    "will": "No loss will be printed.",
    "will_of_training": "No training loss will be printed.",
    "was": "No loss was printed.",
    "was_of_training": "No training loss was printed.",
    "yet": "No loss yet.",
    "yet_of_training": "No training loss yet.",
    "unread_so_far": (
        "So far the script printed no line that dsgui reads as loss. If it prints one, add a pattern "
        "under “Curves and their sources”."
    ),
    "unread": ("The script printed no line that dsgui reads as loss; add a pattern under “Curves and their sources”."),
    "only_evaluates": "This run only evaluates: --do_train isn’t given, so there is no training loss.",
    "nothing_left": (
        "No step was trained: the checkpoint that the run resumed from was already at step {total}, the last one. "
        "Train for more epochs or steps, or choose another output folder."
    ),
    "logging_off": "--logging_strategy no turns logging off: use --logging_steps {advised} instead.",
    "logs_by_epoch": (
        "With --logging_strategy epoch the HF Trainer logs at the end of each epoch; --logging_steps "
        "{advised} logs more often."
    ),
    "logs_by_file": (
        "The HF Trainer logs every “logging_steps” steps, {default} by default: set it in the file that "
        "the script takes its arguments from."
    ),
    "logs_in_code": (
        "The HF Trainer logs every “logging_steps” steps, {default} by default: set it in the script’s "
        "TrainingArguments."
    ),
    "logs": "The HF Trainer logs every {every} steps",
    "logs_default": "The HF Trainer logs every {every} steps by default",
    "add_steps": "add --logging_steps {advised}",
    "use_steps": "use --logging_steps {advised}",
    "too_few": "{logs} and this run has {total}: {advice}.",
    "not_yet": "{logs}. To log more often, {advice}.",
    "not_yet_at": "{logs}, and this run is at step {step}. To log more often, {advice}.",
    "ended_before": "{logs} and this run ended at step {step}: {advice}.",
    "seldom": "{logs}: {advice}.",
}
