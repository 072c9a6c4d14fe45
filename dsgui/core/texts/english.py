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
        # What memory is for: the components of an answer, then what is not DeepSpeed's.
        "memory_parts": {
            "weights": "weights",
            "frozen_weights": "frozen weights",
            "gathered": "gathered parameters",
            "secondary_partition": "secondary partition (hpZ)",
            "gradients": "gradients",
            "master": "fp32 master weights",
            "moments": "optimizer states",
            "buckets": "communication buckets",
            "staging": "communication copies",
            "activations": "activations",
            "logits": "logits and loss",
            "step": "copies of the optimizer step",
            "initialize": "copies of initialization",
            "swap_buffers": "NVMe swap buffers",
            "other": "other",
            "cuda_context": "CUDA context",
            "nccl": "NCCL",
            "cublas": "cuBLAS workspace",
            "fragmentation": "fragmentation",
            "interpreter": "Python and libraries",
            "dataloader": "DataLoader workers",
            "system": "operating system",
            "in_use": "in use now",
        },
        # What each is and what changes it, for who points at it.
        "memory_about": {
            "weights": "The model’s own parameters, in the model’s dtype. ZeRO-3 divides them among the ranks.",
            "frozen_weights": "Parameters that are not trained. They need no gradients and no optimizer states.",
            "gathered": "Parameters that ZeRO-3 has gathered from all ranks for the layers at work.",
            "secondary_partition": "hpZ keeps a second partition of the parameters inside each node.",
            "gradients": "Gradients until the optimizer step. ZeRO-2 and 3 divide them among the ranks.",
            "master": "The fp32 copy of the trained parameters that the optimizer updates. ZeRO divides it.",
            "moments": "What the optimizer remembers of each parameter: two fp32 values with Adam. ZeRO divides them.",
            "buckets": "Buffers in which gradients wait for their reduction, allocated whole.",
            "staging": "Copies of gradients or parameters while they are sent.",
            "activations": "What a forward keeps for its backward. Gradient checkpointing, a smaller micro batch or "
            "shorter sequences shrink it.",
            "logits": "The scores over the vocabulary and the loss. They grow with micro batch × length × vocabulary.",
            "step": "Copies that exist while the optimizer updates.",
            "initialize": "What exists during deepspeed.initialize only. On the host: the model as each rank loaded "
            "it, before ZeRO divides it; the HF Trainer at stage 3 loads it divided.",
            "swap_buffers": "Locked buffers through which NVMe is read and written.",
            "other": "What has no name of its own.",
            "cuda_context": "What the driver keeps for each process on the card. No key changes it.",
            "nccl": "Buffers of the collectives, outside torch’s counters. No key changes it.",
            "cublas": "Workspace of matrix multiplications. CUBLAS_WORKSPACE_CONFIG changes it.",
            "fragmentation": "What torch’s allocator reserves beyond the tensors. "
            "PYTORCH_ALLOC_CONF=expandable_segments:True lowers it.",
            "interpreter": "Python, torch and the libraries of each rank.",
            "dataloader": "Memory that DataLoader workers don’t share with their rank (--dataloader_num_workers).",
            "system": "The operating system and its services.",
            "in_use": "What other programs hold now. It counts only if they still run then.",
        },
        "memory_moments": {
            "init": "initialize",
            "forward": "forward",
            "backward": "backward",
            "step": "step",
        },
        "memory_places": {"gpu": "GPU", "host": "Host", "pinned": "Host, pinned", "nvme": "NVMe"},
        "memory_sources": {"formula": "by formula", "dry_run": "by dry run"},
        "memory_fits": {
            "fits": "fits",
            "tight": "tight",
            "does_not_fit": "does not fit",
            "cannot_say": "can’t say",
        },
        "memory_told": {
            "short_gpu": "Each GPU needs {need} GiB and has {has}: {short} GiB short.",
            "short_host": "The host needs {need} GiB a node and has {has}: {short} GiB short.",
            "short_memlock": "NVMe offload locks {need} of memory a rank, and a process may lock {limit} (ulimit -l).",
            "tight_gpu": "Each GPU needs {least} to {most} GiB and has {has}.",
            "tight_host": "The host needs {least} to {most} GiB a node and has {has}.",
            "in_use_gpu": "Each GPU needs up to {most} GiB of its {has}, and {used} are in use now.",
            "in_use_host": "The host needs up to {most} GiB of its {has}, and {used} are in use now.",
            "no_card": "The memory of the card is not known: choose a device to plan for.",
            "no_host": "The host’s memory is not known here: it needs {need} GiB a node.",
            "on_cpu": "CPU ranks: what a GPU would hold stands in host memory here.",
            "usual_length": "{length} tokens a sequence are assumed: set the length.",
            "not_measured": "Nothing was measured on a GPU yet: context, NCCL and fragmentation are typical values.",
        },
        "memory_cannot": {
            "mend": "Mend the config first: {problem}",
            "micro_batch": "The micro batch is not known: set train_micro_batch_size_per_gpu.",
            "no_model": "Choose a model: a folder with config.json, a hub id in the local cache, or a size such as 7B.",
            "not_found": "{model}: not a folder here, and not in the hub’s local cache. Give a folder with "
            "config.json, an id that was downloaded, or a size such as 7B.",
            "no_config": "{model} has no config.json, which describes a model’s shape. Give the folder that has it.",
            "bad_config": "{model}: its config.json can’t be read ({problem}). Correct it.",
            "outside": "{model} leads outside the folders that dsgui may read.",
            "not_reckoned": "{model} can’t be reckoned with: {problem}",
            "part": "The script trains a part of the model, and how much is not known: say --lora-rank.",
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
