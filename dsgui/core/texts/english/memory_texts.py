"""What a training takes, in words: components, moments, verdicts, notes."""

from collections.abc import Mapping

# What memory is for: the components of an answer, then what is not DeepSpeed's.
MEMORY_PARTS: Mapping[str, str] = {
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
    "step": "optimizer temporaries",
    "initialize": "copies of initialization",
    "swap_buffers": "NVMe swap buffers",
    "other": "other",
    "cuda_context": "CUDA context",
    "nccl": "NCCL",
    "cublas": "cuBLAS workspace",
    "fragmentation": "fragmentation",
    "interpreter": "Python and libraries",
    "pinned_cache": "freed pinned blocks",
    "dataloader": "DataLoader workers",
    "system": "operating system",
    "in_use": "in use now",
}

# What each is and what changes it, for who points at it.
MEMORY_ABOUT: Mapping[str, str] = {
    "weights": "The model’s own parameters, in the model’s dtype. ZeRO-3 divides them among the ranks.",
    "frozen_weights": "Parameters that are not trained. They need no gradients and no optimizer states.",
    "gathered": "Parameters that ZeRO-3 has gathered from all ranks for the layers being computed.",
    "secondary_partition": "hpZ keeps a second partition of the parameters inside each node.",
    "gradients": "Gradients until the optimizer step. ZeRO-2 and 3 divide them among the ranks.",
    "master": "The fp32 copy of the trained parameters that the optimizer updates. ZeRO divides it.",
    "moments": "What the optimizer remembers of each parameter: two fp32 values with Adam. ZeRO divides them.",
    "buckets": "Buffers in which gradients wait for their reduction, allocated whole.",
    "staging": "Copies of gradients or parameters while they are sent.",
    "activations": "What the forward pass keeps for the backward pass. Gradient checkpointing, a smaller micro "
    "batch or shorter sequences shrink it.",
    "logits": "The scores over the vocabulary and the loss. They grow with micro batch × length × vocabulary.",
    "step": "Copies that exist while the optimizer updates.",
    "initialize": "What exists during deepspeed.initialize only. On the host: the model as each rank loaded "
    "it, before ZeRO divides it; the HF Trainer at stage 3 loads it divided.",
    "swap_buffers": "Locked buffers through which NVMe is read and written.",
    "other": "Everything else.",
    "cuda_context": "What the driver keeps on the GPU for each process. No key changes it.",
    "nccl": "Buffers of the collectives, outside torch’s counters. No key changes it.",
    "cublas": "Workspace of matrix multiplications. CUBLAS_WORKSPACE_CONFIG changes it.",
    "fragmentation": "What torch’s allocator reserves beyond the tensors. "
    "PYTORCH_ALLOC_CONF=expandable_segments:True lowers it.",
    "interpreter": "Python, torch and the libraries of each rank.",
    "pinned_cache": "Pinned blocks that DeepSpeed freed: torch keeps them for others of their size.",
    "dataloader": "Memory that DataLoader workers don’t share with their rank (--dataloader_num_workers).",
    "system": "The operating system and its services.",
    "in_use": "What other programs hold now. It counts only if they are still running when training starts.",
}

MEMORY_MOMENTS: Mapping[str, str] = {
    "init": "initialize",
    "forward": "forward",
    "backward": "backward",
    "step": "step",
}

# The same in a sentence.
MEMORY_WHEN: Mapping[str, str] = {
    "init": "while deepspeed.initialize runs",
    "forward": "in the forward pass",
    "backward": "in the backward pass",
    "step": "in the optimizer step",
}

MEMORY_PLACES: Mapping[str, str] = {"gpu": "GPU", "host": "Host", "pinned": "Host, pinned", "nvme": "NVMe"}

MEMORY_SOURCES: Mapping[str, str] = {"formula": "by formula", "dry_run": "by dry run"}

MEMORY_FITS: Mapping[str, str] = {
    "fits": "fits",
    "tight": "tight",
    "does_not_fit": "doesn’t fit",
    "cannot_say": "can’t say",
}

MEMORY_TOLD: Mapping[str, str] = {
    "short_gpu": "Each GPU needs {need} and has {has}: {short} short.",
    "short_host": "The host needs {need} per node and has {has}: {short} short.",
    "short_nvme": "The NVMe folder needs {need} free per node and has {has}: {short} short.",
    "short_memlock": "NVMe offload locks {need} of memory per rank, but a process may lock only {limit} (ulimit -l).",
    "tight_gpu": "Each GPU needs {least} to {most} and has {has}.",
    "tight_host": "The host needs {least} to {most} per node and has {has}.",
    "in_use_gpu": "Each GPU needs up to {most}, but of its {has} {used} are in use now.",
    "in_use_host": "The host needs up to {most}, but of its {has} {used} are in use now.",
    "no_card": "The GPU’s memory is not known: choose a device to plan for.",
    "no_host": "The host’s memory is not known here: it needs {need} per node.",
    "on_cpu": "CPU ranks: what a GPU would hold stands in host memory here.",
    "planned_as": "Planned as {size}: {model} isn’t downloaded, so its layers and width are guessed.",
    "instead_of": "Estimated for {model}; the script’s arguments name {named}.",
    "guessed": "Only the size is known ({size}): layers and width are guessed. For a closer figure, give a hub id or a "
    "folder with config.json.",
    "usual_length": "Sequences of {length} tokens are assumed: set the length.",
    "made_whole": "Each rank is assumed to build the whole model before deepspeed.initialize divides it. A script "
    "that builds it within deepspeed.zero.Init needs far less (--zero-init).",
    "ask": "{why} A dry run needs none: add --ask.",
    "no_dry_run": "{why} The formula’s answer stands.",
    "no_formula": "Only the dry run covers this: {why:inside}",
    "differs": "{place}: tensors of one rank take {formula} by formula and {real} by dry run. The dry run counts.",
    "held_against": "{place} memory: predicted {said}, used {was}",
    "out_against": "{place} memory: predicted {said}, {was} when it ran out",
    "from_run": "Memory of a rank beyond its tensors: from 1 run on this machine.",
    "from_runs": "Memory of a rank beyond its tensors: from {runs} runs on this machine.",
    "reserved": "Dry run: torch’s caching allocator reserves {reserved} of the GPU for {allocated} of tensors, "
    "without expandable segments.",
    "not_measured": "Nothing was measured on a GPU yet: context, NCCL and fragmentation are typical values.",
}

# The dry run on the page: its buttons, how far it is, and what its charts show.
MEMORY_REHEARSAL: Mapping[str, str] = {
    "ask": "Memory dry run",
    "cancel": "Cancel",
    "how": "A dry run starts the real DeepSpeed engine and takes three steps without allocating memory. "
    "It needs no GPU, and about a minute for a 7B model.",
    "going": "Dry run, {seconds} s: {now}",
    "waiting": "Queued behind {ahead}: one dry run at a time.",
    "starting": "starting Python in the training environment and importing DeepSpeed",
    "load": "building the model on the host",
    "model": "building the model, divided among the ranks",
    "init": "deepspeed.initialize",
    "forward": "step {step} of {steps}, forward",
    "backward": "step {step} of {steps}, backward",
    "step": "step {step} of {steps}, optimizer",
    "end": "counting",
    "stands": "The formula’s answer stands.",
    "outdated": "Outdated: the config, the model or the number of GPUs changed since. Ask again.",
    "agrees": "Formula and dry run agree within 2 %.",
    "done": "Dry run with DeepSpeed {release}, rank {rank} of {ranks}: {steps} steps in {seconds} s.",
    "timeline": "Tensors of one rank, phase by phase",
    "peak": "What the peak is made of",
    "lines": "The same as a list",
    "no_line": "autograd",
    "smaller": "smaller lines",
    "formula": "By formula",
    "nth": "step {step}",
    "phase_load": "load",
    "phase_model": "model",
    "phase_init": "initialize",
    "phase_forward": "forward",
    "phase_backward": "backward",
    "phase_step": "optimizer step",
    "planned": "The bar above plans for DeepSpeed {release}. Only the installed one, {installed}, can take a dry run: "
    "choose it above, or start dsgui with the --python that has {release}.",
    "none": "The training environment has no DeepSpeed. Start dsgui with a --python that has it.",
}

MEMORY_CANNOT: Mapping[str, str] = {
    "depends": "Memory depends on {key}, which has an error: fix it first.",
    "no_offload_optimizer": "Not possible with optimizer offload.",
    "no_such_stage": "Not possible: {problem}",
    "mend_json": "Fix the JSON first.",
    "blank": "No config yet.",
    "mend": "Fix the config first: {problem}",
    "micro_batch": "The micro batch is not known: set train_micro_batch_size_per_gpu.",
    "no_model": "Choose a model: a hub id, a size such as 7B, or a folder with config.json.",
    "not_found": "{model}: not a folder here. Check the path, or enter a hub id or a size such as 7B.",
    "no_size_in_name": "Can’t find {model} locally. Enter a size (7B) or a folder with config.json.",
    "named_by_arguments": "The script’s arguments name {model}, which isn’t on this machine. To estimate, set Model to "
    "a size (7B) or a folder with config.json.",
    "sizes_in_name": "{model} isn’t downloaded, and its name may mean several sizes ({sizes}). Enter the size.",
    "encoder_decoder": "{model} isn’t downloaded. It is an encoder-decoder, whose size doesn’t tell its shape: "
    "download its config.json.",
    "no_config": "{model} has no config.json, which describes a model’s shape. Give the folder that has it.",
    "bad_config": "{model}: its config.json can’t be read ({problem}). Correct it.",
    "outside": "{model} leads outside the folders that dsgui may read.",
    "not_reckoned": "{model} can’t be estimated: {problem}",
    "part": "The script trains only part of the model, and how much is not known: pass --lora-rank.",
    "part_perhaps": "Whether the script trains only part of the model depends on “{condition}” (line {line}), which is "
    "not known here. If it does, pass --lora-rank.",
    "part_or_whole": "{whole}, if all of the model is trained. Whether the script trains only part of it depends on "
    "“{condition}” (line {line}), which is not known here. If it does, pass --lora-rank.",
    "nvme_relative": "NVMe folder: {path} is not an absolute path. Enter one that begins with /.",
    "nvme_no_folder": "NVMe folder: {path} doesn’t exist. Create it on a local NVMe drive.",
    "nvme_is_file": "NVMe folder: {path} is not a folder. Choose one on a local NVMe drive.",
    "nvme_not_writable": "NVMe folder: {path} is not writable. Change its permissions or choose another.",
    "nvme_no_direct": "NVMe folder: the file system of {path} doesn’t support O_DIRECT, which DeepSpeed needs. "
    "Choose a folder on a local NVMe drive.",
    "nvme_outside": "NVMe folder: {path} leads outside the folders that dsgui may read. Start it with --allow {path}.",
    "nvme_refused": "NVMe folder: {path} can’t be used ({why}). Choose another.",
    "nvme_no_async_io": "NVMe folder: the training environment can’t compile DeepSpeed’s async_io operator, which "
    "reads and writes {path}. Install libaio with its headers (apt install libaio-dev).",
}

# What another config changes so that it takes less memory: buttons and rows of the ladder.
MEMORY_MOVES: Mapping[str, str] = {
    "bf16": "bf16",
    "stage_1": "ZeRO stage 1",
    "stage_2": "ZeRO stage 2",
    "stage_3": "ZeRO stage 3",
    "checkpointing": "Gradient checkpointing",
    "micro_batch": "Micro batch {micro}, {steps} accumulation steps",
    "small_bucket": "Smaller reduce bucket",
    "small_sub_group": "Smaller sub-groups",
    "few_live": "Fewer live parameters",
    "offload_optimizer_cpu": "Optimizer in host memory",
    "offload_optimizer_nvme": "Optimizer on NVMe",
    "offload_param_cpu": "Parameters in host memory",
    "offload_param_nvme": "Parameters on NVMe",
    "zero_init": "Model built within deepspeed.zero.Init",
}

# The cheapest of these changes that makes a config fit.
MEMORY_CHEAPEST: Mapping[str, str] = {
    "change": "Cheapest change that fits, by estimate: {moves}. Then: {needs}.",
    "change_if_host": "Cheapest change that fits the GPUs, by estimate: {moves}. Then: {needs}. It fits only if the "
    "host has {size}.",
    "brief": "Cheapest change that fits, by estimate: {needs}.",
    "brief_if_host": "Cheapest change that fits the GPUs, by estimate: {needs}. It fits only if the host has {size}.",
    "in_bf16": "Or, if fp32 isn’t needed: {moves}. Then: {needs}.",
    "none": "Without NVMe offload, no config change makes it fit with this optimizer and these data types.",
    "none_on_cpu": "Without NVMe offload, no config change makes it fit with this optimizer and these data types.",
    "none_with_nvme": "No config change makes it fit with this optimizer and these data types.",
    "none_on_cpu_with_nvme": "No config change makes it fit with this optimizer and these data types.",
    "never": "Without NVMe offload, no config change makes it fit with this optimizer and these data types: weights "
    "and optimizer states alone take {need} per node, and its GPUs and host have {room}.",
    "never_on_cpu": "Without NVMe offload, no config change makes it fit with this optimizer and these data types: "
    "weights and optimizer states alone take {need} per node, and the host has {room}.",
    "never_adapted": "Without NVMe offload, no config change makes it fit in this data type: the model’s weights "
    "alone take {need} per node, and its GPUs and host have {room}.",
    "never_adapted_on_cpu": "Without NVMe offload, no config change makes it fit in this data type: the model’s "
    "weights alone take {need} per node, and the host has {room}.",
    "unsought": "Leaner configs are compared by formula: {why:inside}",
    "none_certain": "No config change makes it fit for certain.",
    "refused": "The cheapest change that would fit is {moves}, but then: {problem}",
    "arguments": "Give the script: {arguments}",
    "zero_init": "Not a config key: build the model in the script within "
    "deepspeed.zero.Init(config_dict_or_path=…), or load it through transformers’ HfDeepSpeedConfig.",
    "checkpointing": "Not a config key: start the script with --gradient_checkpointing, or turn gradient "
    "checkpointing on in its code.",
}

# What helps where no change of the config does: by the code of the sentence that says so.
MEMORY_NEEDS: Mapping[str, str] = {
    "none": "It needs more or larger GPUs, more host memory, shorter sequences, an NVMe folder, LoRA, or a leaner "
    "optimizer.",
    "none_on_cpu": "It needs more host memory, shorter sequences, an NVMe folder, LoRA, or a leaner optimizer.",
    "none_with_nvme": "It needs more or larger GPUs, more host memory, more free space on NVMe, shorter sequences, "
    "LoRA, or a leaner optimizer.",
    "none_on_cpu_with_nvme": "It needs more host memory, more free space on NVMe, shorter sequences, LoRA, or a "
    "leaner optimizer.",
    "never": "It needs more or larger GPUs, more host memory, an NVMe folder, LoRA, or a leaner optimizer.",
    "never_on_cpu": "It needs more host memory, an NVMe folder, LoRA, or a leaner optimizer.",
    "never_adapted": "It needs more or larger GPUs, more host memory, or an NVMe folder.",
    "never_adapted_on_cpu": "It needs more host memory, or an NVMe folder.",
}

# What would make it fit, each with the changes of the config that it needs beside.
MEMORY_BEYOND: Mapping[str, str] = {
    "would": "What would fit, by estimate:",
    "lora": "LoRA of rank {rank}",
    "gpus": "{count} × {card}",
    "nodes": "{nodes} nodes of {count} × {card}",
    "line": "{what}: {then}",
    "then": "{needs}.",
    "then_with": "{needs}, with {moves}.",
    "if_host": "It fits only if the host has {size}.",
    "script": "Not a config key: have the script train with LoRA of rank {rank}, as PEFT does.",
}

# What is no key of the config.
MEMORY_OUTSIDE: Mapping[str, str] = {
    "variable": "Set {what}: {fit} ({needs})",
    "argument": "Pass {what}: {fit} ({needs})",
    "variable_offer": "Set {what}: {fit}",
    "argument_offer": "Pass {what}: {fit}",
}

# What took the memory that a run died of.
MEMORY_CAUSE: Mapping[str, str] = {
    "predicted_gpu": "dsgui predicted a peak of {need} on each GPU.",
    "predicted_gpu_of": "dsgui predicted a peak of {need} on each GPU ({has} usable).",
    "predicted_gpu_whole": "dsgui predicted a peak of {need} on each GPU ({has} usable of {whole}).",
    "predicted_host": "dsgui predicted {need} of host memory {when}.",
    "predicted_host_of": "dsgui predicted {need} of {has} of host memory {when}.",
    "ran_out": "The run had {used} when it ran out, and asked for {asked} more.",
    "ran_out_when": "The run had {used} when it ran out {when}, and asked for {asked} more.",
    "last_measured": "The run had {used} at most when it was measured.",
    "others": "Other programs had {used} of this GPU.",
    "unused": "PyTorch had reserved {unused} that it could not use: fragmentation.",
    "said_fits": "It had said that this fits: the prediction was at least {missing} too low.",
    "said_fits_only": "It had said that this fits.",
    "said_tight": "It had said that this is tight: the run needed at least {missing} more than was likely.",
    "said_tight_only": "It had said that this is tight.",
    "locked": "dsgui predicted {size} of locked buffers for all ranks of a node ({keys}).",
    "largest": "Largest of what can be changed, as predicted: {part}, {size} ({keys}).",
}

# Why the memory model says no number, and what it took for granted.
MEMORY_NOTES: Mapping[str, str] = {
    "no_case": "There is no formula for a config with {key}.",
    "no_optimizer": "There is no formula for the states of the optimizer {name} ({key}).",
    "unknown_family": "There is no formula for models of type {type}.",
    "no_muon": "There is no formula for Muon with {key}.",
    "no_autocast": "There is no formula for torch_autocast with {key}.",
    "autocast_dtype": "There is a formula for torch_autocast only where {key} is fp16 or bf16.",
    "autocast_classes": "There is a formula for torch_autocast only where {key} names no classes but Linear, "
    "Embedding, LayerNorm and Conv1d to Conv3d of torch.nn.",
    "muon_scatters": "DeepSpeed refuses Muon at stage 3 with {key} on, its default. Set it to false.",
    "older_release": "The formula follows DeepSpeed {known}; {release} allocates in other ways at some stages.",
    "tied_weights": "Tied weights are first created twice. The second copy counts until initialize ends; Python may "
    "free it earlier or later.",
    "no_type": "config.json has no model_type, so the kind of model is not known.",
    "remote_code": "This model runs code of its own ({keys}), which is not in transformers; there is no "
    "formula for it.",
    "own_class": "config.json names code of its own (auto_map). transformers’ class for {type} is assumed, as without "
    "trust_remote_code.",
    "quantized": "This model’s weights are quantized ({key}); neither formula nor dry run covers that. Use the "
    "unquantized model, or a copy of its config.json without that key.",
    "model_key": "There is no formula for models with {key}.",
    "vision": "This model also takes images or audio ({key}); only text models have a formula.",
    "experts": "This is a mixture of experts ({key}); there is no formula for it.",
    "bad_count": "config.json: {key} is {value}; a whole number from 1 to {most} is needed.",
    "bad_rate": "config.json: {key} is {value}; a number from 0 to 1 is needed.",
    "bad_kinds": "config.json: {key} is not a list of {layers}, one for each layer.",
    "not_divisible": "config.json: {key} = {value} is not divisible by {by} = {parts}.",
    "more_tokens": "Sequences of {length} tokens are longer than this model’s {key}, {most}. Choose a shorter length.",
    "unknown_activation": "There is no formula for the activation {name}.",
    "unknown_attention": "There is no formula for the attention implementation {name}.",
    "no_attention": "transformers has no {name} for models of type {type}.",
    "attention_formula": "There is no formula for {name} in models of type {type}.",
    "no_padding": "Sequences are taken to be equally long. Padding adds a mask to the activations.",
    "eager_instead": "transformers has no sdpa for models of type {type}: eager attention is assumed.",
    "fused_in_fp32": "A fused attention kernel is assumed. PyTorch has none for grouped heads in fp32, so "
    "this model needs more; --attn_implementation eager is near it.",
    "no_target": "No layer of this model is named {targets}, so LoRA would train nothing.",
    "bad_size": "“{text}” is not a model size. Write one such as 7B or 770M.",
    "moved": "DeepSpeed can't be asked here: {what} is not where it was in the releases that dsgui knows.",
    "no_module": "The training environment has no {name}: a dry run needs DeepSpeed, torch and transformers in it.",
    "not_imported": "DeepSpeed can't be asked here: {error}.",
    "worker_ended": "The dry run ended before it had an answer: {error}.",
    "no_python": "{python} could not be started: {error}.",
    "not_installed": "The config is checked for DeepSpeed {release}, and {python} has {installed}. Leave out "
    "--target-version, or give the --python that has it.",
    "start_limit": "DeepSpeed was not imported within {seconds} s. Ask again when the machine is less busy.",
    "over_time": "The dry run was stopped: it took more than {seconds} s. Ask again when the machine is less "
    "busy, or allow more time (dsgui memory --ask --ask-timeout).",
    "over_memory": "The dry run was stopped: it took more than {limit} GiB of this machine's memory.",
    "crashed": "The dry run ended by signal {signal}.",
    "too_long": "The dry run was stopped: the model allocates too often to be followed.",
    "cancelled": "The dry run was cancelled.",
    "raised": "DeepSpeed or the model raised {error}.",
    "reads_value": "The model reads a value of a tensor ({where}), and a dry run has no values.",
    "own_code": "A model of type {type} runs code of its own, which dsgui does not run.",
    "unknown_model": "transformers {release} has no model of type {type}.",
    "no_language_model": "transformers has no language model of type {type} that gives a loss.",
    "no_such_function": "{function} can't be called: {error}.",
    "not_a_model": "{function} returned a {type}; a torch.nn.Module is needed.",
    "batch_not_named": "The batch beside the model must be a dict of what its forward takes.",
    "no_loss": "The model returned a {type} without a loss.",
    "few_buffers": "DeepSpeed would stop: it would run out of NVMe swap buffers. Raise {key}.",
    "small_buffers": "DeepSpeed would stop: its NVMe swap buffers are too small. Raise {key}.",
    "reads_twice": "DeepSpeed would stop: reading ahead, it would read a parameter from NVMe twice. Set {key} to 0.",
    "not_followed": "A dry run can't follow {key}; leave it out to ask about the rest of the config.",
    "no_peft": "peft is not installed in the environment that trains, so LoRA can't be asked.",
    "taken_as": "The model was built as {name}. If the script trains another head, name its class as architectures in "
    "a copy of config.json.",
    "taken_instead": "config.json names {named}, which a dry run does not know how to train: the model was built as "
    "{name}.",
    "text_only": "{name} was run on text alone: images and audio add activations.",
    "fewer_micro_batches": "{here} of the {steps} micro batches of a step were run: the others are like the second.",
    "client_optimizer": "The config names no optimizer: {name} was used, as if the script passed it.",
}

# The picture of ZeRO: its stages side by side.
MEMORY_STAGES: Mapping[str, str] = {
    "one_rank": "With one rank nothing is divided: set the number of GPUs to see what ZeRO saves.",
    "same_activations": "Activations and logits, up to {most} here, are the same at every stage: micro batch, "
    "sequence length and gradient checkpointing change them.",
    "fullest": "A bar is the fullest moment of a step, so it holds more than the model states: buckets, copies of the "
    "optimizer step, activations, and what CUDA takes. It may also hold less of them: gradients come while activations "
    "go, so stages that divide gradients differently can peak alike.",
    "sent": "Communication: what each rank sends for a step. The ZeRO paper counts one micro batch and a "
    "reduce-scatter of the gradients. DeepSpeed all-reduces them at stages 1 and 2 before it gathers the new weights, "
    "and stages 2 and 3 do their part again for each accumulated micro batch.",
}

# A verdict on a terminal.
MEMORY_TEXT: Mapping[str, str] = {
    "headline": "{model}: {fit} ({rooms})",
    "room": "{device} {need} of {has}",
    "note": "note",
    "parameters": "{count} parameters",
    "trained": "{count} of them trained",
    "with_guess": "{model}, layers and width guessed",
    "autocast": "{weights}, autocast to {to}",
    "batch": "micro batch {batch} × {length} tokens",
    "rank": "{count} rank",
    "ranks": "{count} ranks",
    "gpu": "{count} GPU",
    "gpus": "{count} GPUs",
    "on_nodes": "{ranks} on {nodes} nodes",
    "asked": "{source} of DeepSpeed {release}",
    "by_moment": "by moment",
    "fullest": "{room} at its fullest ({moment})",
    "pinned": "{part} (pinned)",
    "largest": "Largest parts ({device}): {parts}. Keys that change this: {keys}.",
}
