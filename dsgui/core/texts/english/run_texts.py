"""Texts of a run: its state, what it does, what happened to it."""

STATES = {
    "pending": "pending",
    "queued": "queued",
    "running": "running",
    "stopping": "stopping",
    "succeeded": "succeeded",
    "failed": "failed",
    "stopped": "stopped",
    "lost": "lost",
    "damaged": "damaged",
    "foreign": "other version",
    "elsewhere": "added",
}

# What a running run does, where that needs a sentence.
PHASES = {
    "starting": "Starting launcher",
    "importing": "Importing",
    "compiling": "Compiling operators",
    "first_step": "First step",
    "slurm_queue": "Submitted to Slurm; waiting for nodes.",
    "first_values": "First values are in; waiting for step 1.",
    "downloading": "",
    "loading": "",
    "preparing": "",
    "saving": "",
    "tokenizing": "",
    "training": "",
    "evaluating": "",
}

# What a run trained with, in few words.
RAN = {
    "batch": "batch {train}",
    "batch_all": "batch {train} = {micro} × {steps} steps × {ranks} ranks",
    "batch_ranks": "batch {train} = {micro} × {ranks} ranks",
    "batch_steps": "batch {train} = {micro} × {steps} steps",
    "optimizer_cpu": "optimizer on CPU",
    "optimizer_nvme": "optimizer on NVMe",
    "parameters_cpu": "parameters on CPU",
    "parameters_nvme": "parameters on NVMe",
    "precision": "{precision}",
    "stage": "ZeRO stage {stage}",
}

# What is prepared before the training: {label} is what the script itself says of it.
DOINGS = {
    "tokenizing": "tokenizing {done}",
    "tokenizing_of": "tokenizing {done} / {total}",
    "own": "{label} {done}",
    "own_of": "{label} {done} / {total}",
    "data": "preparing data: {label} {done}",
    "data_of": "preparing data: {label} {done} / {total}",
}

# Something needs a look, or (after a point) does no more.
ALERTS = {
    "nan": "{name} is NaN.",
    "nan_in_file": "{name} is NaN ({source}).",
    "infinite": "{name} is infinite.",
    "infinite_in_file": "{name} is infinite ({source}).",
    "finite": "{name} is finite again.",
    "finite_in_file": "{name} is finite again ({source}).",
    "host_memory": "Host memory: {used} of {total} in use ({percent} %).",
    "host_memory_below": "Host memory: back below its limit, {used} of {total} in use ({percent} %).",
    "container_memory": "Memory of this container: {used} of {total} in use ({percent} %).",
    "container_memory_below": "Memory of this container: back below its limit, {used} of {total} in use ({percent} %).",
    "gpu_memory": "GPU {gpu}: {used} of {total} in use ({percent} %).",
    "gpu_memory_below": "GPU {gpu}: back below its limit, {used} of {total} in use ({percent} %).",
    "gpu_slowed": "GPU {gpu} is throttled: {reasons}.",
    "gpu_full_speed": "GPU {gpu} is no longer throttled.",
    "stalled": "No step for {seconds} s; a step usually takes {usual} s.",
    "steps_go_on": "Steps are progressing again.",
    "own_fault": "dsgui failed while recording this run: some of its points, samples or output may be missing. "
    "The training is not affected. See supervisor.log.",
    "slower": "{rate} steps/s in the last minute; {usual} is usual.",
    "as_fast_again": "{rate} steps/s in the last minute, near the usual {usual} again.",
}

EVENTS = {
    "stop_asked": "Stop was requested.",
    "limit_reached": "Stopped at its limit of {limit}.",
    "notified": "A notification was sent.",
    "not_notified": "A notification was not sent: {why}.",
    "mixed_ranks": "Each step is printed as often as there are ranks: its first line is drawn.",
}

# What a mark on a chart is, before the words of what happened.
MARKS = {
    "checkpoint": "checkpoint",
    "evaluation": "evaluation",
    "overflow": "overflow",
    "warning": "warning",
    "error": "error",
    "stop": "stop",
    "alert": "alert",
}

# Why a notification was not sent.
NOTIFYING = {
    "timed_out": "timed out",
    "test": "a test from 2 · Launch",
    "no_connection": "no connection ({what})",
    "refused": "refused (code {what})",
    "unreadable": "an answer that can't be read",
    "no_answer": "no answer",
}
