"""The English catalogue: kind → code → text, with named places for what differs.

A text is changed here and nowhere else; a code is never changed, since runs on the disk name it. The browser has the
same texts (`ui/static/catalogue.js`, made by `scripts/browser_catalogue.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "states": {
            "pending": "pending",
            "queued": "queued",
            "running": "running",
            "stopping": "stopping",
            "succeeded": "succeeded",
            "failed": "failed",
            "stopped": "stopped",
            "lost": "lost",
            "damaged": "damaged",
        },
        # What a running run does, where that needs a sentence.
        "phases": {
            "starting": "Starting: loading PyTorch and the model. On a machine's first run DeepSpeed also compiles its "
            "operators, about a minute.",
            "compiling": "DeepSpeed is compiling its operators. The first run on a machine takes about a minute; later "
            "ones start at once.",
            "slurm_queue": "Submitted to Slurm; waiting for nodes.",
            "downloading": "",
            "loading": "",
            "preparing": "",
            "saving": "",
            "tokenizing": "",
            "training": "",
            "evaluating": "",
        },
        # What is prepared before the training: {label} is what the script itself says of it.
        "doings": {
            "tokenizing": "tokenizing {done}",
            "tokenizing_of": "tokenizing {done} / {total}",
            "own": "{label} {done}",
            "own_of": "{label} {done} / {total}",
            "data": "preparing data: {label} {done}",
            "data_of": "preparing data: {label} {done} / {total}",
        },
        # Something needs a look, or (after a point) does no more.
        "alerts": {
            "nan": "{name} is NaN.",
            "nan_in_file": "{name} is NaN ({source}).",
            "infinite": "{name} is infinite.",
            "infinite_in_file": "{name} is infinite ({source}).",
            "finite": "{name} is finite again.",
            "finite_in_file": "{name} is finite again ({source}).",
            "host_memory": "Host memory: {used} of {total} GiB in use ({percent} %).",
            "host_memory_below": "Host memory: back below its limit, {used} of {total} GiB in use ({percent} %).",
            "container_memory": "Memory of this container: {used} of {total} GiB in use ({percent} %).",
            "container_memory_below": "Memory of this container: back below its limit, {used} of {total} GiB in "
            "use ({percent} %).",
            "gpu_memory": "GPU {gpu}: {used} of {total} GiB in use ({percent} %).",
            "gpu_memory_below": "GPU {gpu}: back below its limit, {used} of {total} GiB in use ({percent} %).",
            "gpu_slowed": "GPU {gpu} is throttled: {reasons}.",
            "gpu_full_speed": "GPU {gpu} is no longer throttled.",
            "stalled": "No step for {seconds} s; a step usually takes {usual} s.",
            "steps_go_on": "Steps are progressing again.",
            "slower": "{rate} steps/s in the last minute; {usual} is usual.",
            "as_fast_again": "{rate} steps/s in the last minute, near the usual {usual} again.",
        },
        "events": {"stop_asked": "Stop was requested."},
        # Why the memory model says no number, and what it took for granted.
        "memory_notes": {
            "no_case": "There is no formula for a config with {key}.",
            "no_optimizer": "There is no formula for the states of the optimizer {name} ({key}).",
            "unknown_family": "There is no formula for models of type {type}. There is one for {known}.",
            "no_type": "config.json has no model_type, so the kind of model is not known.",
            "remote_code": "This model runs code of its own ({code}), which is not in transformers; there is no "
            "formula for it.",
            "vision": "This model also sees or hears ({key}); there is a formula for text models only.",
            "experts": "This is a mixture of experts ({key}); there is no formula for it.",
            "bad_count": "config.json: {key} is {value}; a whole number of at least 1 is needed.",
            "bad_rate": "config.json: {key} is {value}; a number from 0 to 1 is needed.",
            "bad_kinds": "config.json: layer_types names {seen} layers, but there are {layers}.",
            "not_divisible": "config.json: {key} = {value} is not divisible by {by} = {parts}.",
            "unknown_activation": "There is no formula for the activation {name}.",
            "unknown_attention": "There is no formula for the attention implementation {name}.",
            "no_target": "No layer of this model is named {targets}, so LoRA would train nothing.",
            "bad_size": "“{text}” is no size of a model. Write it like 7B or 770M.",
            "moved": "DeepSpeed can't be asked here: {what} is not where it was in the releases that dsgui knows.",
            "not_imported": "DeepSpeed can't be asked here: {error}.",
            "worker_ended": "The dry run ended before it had an answer: {error}.",
            "no_python": "{python} could not be started: {error}.",
            "start_limit": "DeepSpeed was not imported within {seconds} s. Ask again when the machine has less to do.",
            "over_time": "The dry run was ended: it took more than {seconds} s. Ask for two depths instead of all "
            "layers, or ask again when the machine has less to do.",
            "over_memory": "The dry run was ended: it took more than {limit} GiB of this machine's memory.",
            "crashed": "The dry run ended by signal {signal}.",
            "too_long": "The dry run was ended: the model allocates too often to be followed.",
            "cancelled": "The dry run was cancelled.",
            "raised": "DeepSpeed or the model raised {error}.",
            "reads_value": "The model reads a value of a tensor ({where}), and a dry run has no values.",
            "unknown_model": "transformers {release} has no model of type {kind}.",
            "no_language_model": "transformers has no language model of type {kind} that gives a loss.",
            "no_such_function": "{function} can't be called: {error}.",
            "not_a_model": "{function} returned a {kind}; a torch.nn.Module is needed.",
            "batch_not_named": "The batch beside the model must be a dict of what its forward takes.",
            "no_loss": "The model returned a {kind} without a loss.",
            "no_swapping": "A dry run has no NVMe to swap to ({key}).",
            "no_peft": "peft is not installed in the environment that trains, so LoRA can't be asked.",
            "fewer_micro_batches": "Of the {steps} micro batches of a step {here} were taken: more are like the "
            "second.",
            "client_optimizer": "The config names no optimizer: taken was {name}, as a script passes it.",
        },
        # What a mark on a chart is, before the words of what happened.
        "marks": {
            "checkpoint": "checkpoint",
            "evaluation": "evaluation",
            "overflow": "overflow",
            "warning": "warning",
            "error": "error",
            "stop": "stop",
            "alert": "alert",
        },
    }
)
