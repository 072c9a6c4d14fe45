"""Texts of why a run failed: the title of the diagnosis, what it means, and parts of both. A code is a signature's id
(`core/diagnosis/signatures.py`), or names one of several forms of it. What is in braces comes from the failure's own
message."""

DIAGNOSIS_TITLES = {
    "abort": "A rank aborted",
    "address-in-use": "The master port is in use",
    "address-space": "The limit on address space was reached: {limit}",
    "arguments": "The script refused its arguments",
    "async-io": "NVMe offload needs libaio",
    "auto-natively": "“auto” in a config that DeepSpeed reads directly",
    "batch-identity": "The three batch sizes don't fit together",
    "batch-zero": "A batch size came out as 0",
    "bf16-unsupported": "The run’s devices don’t support bf16",
    "bus-error": "A rank died of a bus error: the shared memory (/dev/shm) may be full",
    "cgroup-memory": "The job's memory limit was reached",
    "checkpoint-missing": "The checkpoint to resume from is missing or incomplete",
    "checkpoint-world-size": "The checkpoint was saved with a different number of ranks",
    "config-twice": "The config was given twice",
    "config-twice-option": "--deepspeed is among the arguments too",
    "container-memory": "The container's memory limit was reached: {limit}",
    "crash": "A rank crashed in native code",
    "cuda-memory": "The GPU ran out of memory while training",
    "cuda-memory-optimizer": "The GPU ran out of memory in the optimizer step",
    "cuda-memory-start": "The GPU ran out of memory before the first step",
    "cuda-mismatch": "The CUDA toolkit does not match torch's CUDA version",
    "cuda-missing": "There is no CUDA toolkit to compile with",
    "deepspeed-argument": "The script does not take --deepspeed",
    "device-map": "ZeRO-3 and device_map can't be combined",
    "disk-full": "The disk is full",
    "driver-old": "The NVIDIA driver is too old for this torch",
    "duplicate-key": "A key appears twice in the config",
    "file-missing": "File not found: {what}",
    "fp16-unsupported": "The run’s devices don’t support fp16",
    "gpu-unsupported": "This torch has no kernels for the GPU",
    "hangup": "The run's terminal or session was closed",
    "hf-mismatch": "The config and the script's arguments contradict each other",
    "host-memory": "The host ran out of memory",
    "hosts": "A host could not be reached",
    "hub-refused": "Not found: {what}",
    "hub-unreachable": "Can't reach the Hugging Face Hub{named}",
    "illegal-instruction": "A compiled library uses instructions this CPU does not have",
    "killed": "A rank was killed",
    "killed-for-memory": "The kernel killed a rank: memory ran out",
    "local-rank-argument": "The script does not take --local_rank",
    "loss-scale": "The loss scale fell to its minimum",
    "lost-numbers": "The loss became NaN or infinite",
    "module-missing": "A Python package is missing: {module}",
    "nccl-error": "NCCL could not connect the GPUs",
    "nccl-timeout": "A NCCL collective timed out",
    "nltk-data": "nltk data is missing: {resource}",
    "nltk-data-offline": "nltk data is missing",
    "no-gpu": "torch finds no NVIDIA GPU",
    "no-ninja": "ninja is missing",
    "not-a-number": "A value became NaN or infinite",
    "offload-client-optimizer": "ZeRO-Offload with the script's own optimizer",
    "older-script": "The script was written for another release of {package}, most likely an older one",
    "older-script-call": "The script was written for other releases: {called} has no {name}",
    "op-build": "DeepSpeed could not compile an operator",
    "option-unknown": "The script doesn't know {options}",
    "peer-gone": "The connection to another rank was lost",
    "permission": "Access was denied: {path}",
    "raised": "It ended with {name}",
    "ranks-not-met": "The ranks did not find each other",
    "shared-memory": "The shared memory (/dev/shm) is too small",
    "silent": "It ended with exit code {code} and no traceback",
    "state-mismatch": "The saved weights don't fit this model",
    "syntax": "The script is not valid Python",
    "terminated": "Something outside dsgui ended the run",
    "tokenizer": "A package that the tokenizer needs is missing",
    "torch-without-cuda": "The installed torch can't use GPUs",
    "unknown-key": "This DeepSpeed does not know the config key {key}",
    "untested-optimizer": "ZeRO was not tested with this optimizer",
    "use-cpu": "The HF Trainer needs --use_cpu to train on the CPU",
    "use-cpu-bf16": "The HF Trainer needs --use_cpu to train in bf16 on the CPU",
    "version-needed": "The script needs another version: {needs}",
    "wrong-type": "A config value has the wrong type: {key}",
    "zero-block-missing": "The HF Trainer needs a zero_optimization block",
    "zero-needs-optimizer": "ZeRO has no optimizer to work with",
    "zero3-parameters": "ZeRO-3 found a parameter in an unexpected state",
}

DIAGNOSIS_MEANINGS = {
    "abort": "A compiled library gave up (SIGABRT); the last lines of the output give its reason.",
    "address-in-use": "The ranks meet at this port, and another program listens there: often an earlier run that has "
    "not ended.",
    "address-space": "The run may reserve {limit} of address space per process (ulimit -v), and a rank asked for "
    "more. torch alone reserves several GiB that it never uses.",
    "arguments": "It says: {says}",
    "async-io": "NVMe offload reads and writes with libaio, whose header and library are not installed.",
    "auto-natively": "“auto” is for the HF Trainer, which replaces it with a value. DeepSpeed itself calculates with "
    "it and stops.",
    "batch-identity": "train_batch_size {train} is not micro batch {micro} × accumulation steps {steps} × {ranks} "
    "ranks. It may match a different GPU count.",
    "batch-zero": "DeepSpeed derives the missing one of the three batch sizes by division. With these numbers and "
    "ranks that leaves less than one sample per rank and step.",
    "bf16-unsupported": "bf16 needs a GPU of compute capability 8.0 (Ampere) or newer, or a CPU that supports it.",
    "bus-error": "Memory shared between processes could not be provided; a container often has only 64 MB of /dev/shm.",
    "cgroup-memory": "Slurm ended a process because the job used more memory than it had requested.",
    "checkpoint-missing": "A folder or a file of the checkpoint is missing. A run that ends while saving leaves an "
    "incomplete checkpoint.",
    "checkpoint-world-size": "ZeRO saves one part of the optimizer states per rank: {then} then, {now} now.",
    "config-twice": "The script passes a config to deepspeed.initialize itself, and was given another one as "
    "--deepspeed_config.",
    "config-twice-option": "The config is already passed as --deepspeed FILE. The --deepspeed among the arguments has "
    "no value, so the parser stops.",
    "container-memory": "The kernel killed it because all processes in its container or job (control group) together "
    "may use {limit} of memory, and that was used up.",
    "crash": "{what} in a compiled library, not in Python.",
    "cuda-memory": "The activations of one micro batch did not fit beside the model states. They grow with the micro "
    "batch and the sequence length.",
    "cuda-memory-optimizer": "The forward and backward passes fit, but the optimizer states (for Adam, 12 bytes per "
    "parameter, divided across the ranks under ZeRO) did not fit beside them.",
    "cuda-memory-start": "The model states (parameters, gradients, optimizer states) are larger than the GPU's "
    "memory; no batch size helps against that.",
    "cuda-mismatch": "DeepSpeed compiles its operators with the nvcc it finds, which must be of the CUDA version that "
    "torch was built for.",
    "cuda-missing": "DeepSpeed compiles its CUDA operators when they are first used, and there is no nvcc.",
    "deepspeed-argument": "The config is passed as --deepspeed FILE, and this script has no such option.",
    "device-map": "Both place the model's parameters. Under ZeRO-3, each rank holds a part of every tensor, so "
    "nothing else may decide where a layer goes.",
    "disk-full": "A file could not be written completely. If a checkpoint was being saved, it is incomplete.",
    "driver-old": "torch was built for a newer CUDA than the driver supports.",
    "duplicate-key": "DeepSpeed refuses a file in which a key appears twice: {keys}",
    "file-missing": "The script asked for a file or folder that is not there. Relative paths start at the run's "
    "working directory.",
    "fp16-unsupported": "DeepSpeed’s accelerator says so: a CPU without fp16, or a GPU older than compute capability "
    "7.0.",
    "gpu-unsupported": "It was built for other compute capabilities: the GPU is older or newer than those.",
    "hangup": "Something outside dsgui sent SIGHUP (signal 1), as happens when a terminal closes.",
    "hf-mismatch": "The HF Trainer stops where the config and its arguments differ: {mismatches}.",
    "host-memory": "A rank requested more memory than the system has. CPU offload, one copy of the model per rank "
    "while loading, and data loader workers all use host memory.",
    "hosts": "DeepSpeed starts the ranks on other hosts over ssh, without a password.",
    "hub-refused": "It is not a folder on this machine, seen from the run's working directory, and the Hub has no "
    "such model or data set for this user.",
    "hub-unreachable": "The script asked the Hub for a model, data set or metric that is not in this machine's cache, "
    "and got no answer{offline}.{evaluate}",
    "illegal-instruction": "It was built for a newer CPU: operators in a cache shared between machines are a common "
    "reason.",
    "killed": "A process killed by SIGKILL (signal 9) can't report why. Usually the kernel sends it when memory runs "
    "out.",
    "killed-by-another": "SIGKILL (signal 9) ended it. The kernel did not send it for lack of memory: it counted no "
    "such kill while the run was going on. So another program or user did.",
    "killed-for-memory": "While the run was going on, the kernel killed processes because the machine's memory had "
    "run out.",
    "last-line": "The last line of its output: “{line}”.",
    "local-rank-argument": "DeepSpeed's launcher adds --local_rank=N to the script's arguments.",
    "loss-scale": "In fp16 the gradients overflowed step after step until the loss scale could not be halved again: "
    "the values don't fit fp16, or the training diverges.",
    "lost-numbers": "The last logged loss was NaN or infinite; what came after is most likely its consequence.",
    "module-missing": "{module} is not in the training environment. It may have been installed with another Python, "
    "or it is a file beside the script that was not found.",
    "nccl-error": "A NCCL call failed: a network interface that does not reach the other node, GPUs that can't reach "
    "each other, too little /dev/shm, or two ranks on one GPU.",
    "nccl-timeout": "One rank did not take part in a collective operation within the time limit (10 minutes in torch, "
    "30 in DeepSpeed): it had died, was still loading or evaluating, or took another branch.",
    "nltk-data": "The script uses the nltk resource {resource}, which is not on this machine. To download it, nltk "
    "needs the network.",
    "nltk-data-offline": "The script uses nltk data that is not on this machine. Downloading it needs the network, "
    "and offline mode is on.",
    "no-gpu": "The script asked for CUDA, but there is no NVIDIA driver here, or no GPU that this run may see "
    "(CUDA_VISIBLE_DEVICES).",
    "no-ninja": "DeepSpeed compiles its operators with ninja.",
    "not-a-number": "A loss, gradient or weight became NaN or infinite, and what is calculated with it fails.",
    "nothing-printed": "It printed nothing before.",
    "offload-client-optimizer": "With offload, the step runs on the CPU, where torch's own optimizers are slow: "
    "DeepSpeed asks you to decide.",
    "older-script": "The script asks for {name} of {module}, which the installed {package} does not have. Names come "
    "and go between releases.",
    "older-script-call": "The script passes {name} to {called}, which does not accept it in the installed release. "
    "Names come and go between releases: transformers 5 calls evaluation_strategy eval_strategy.",
    "op-build": "The compiler failed or is missing; see its messages above the traceback.",
    "option-unknown": "Its parser has no such option.",
    "option-unknown-trainer": "Neither the installed transformers nor the script has such an option. Options come and "
    "go between releases: transformers 5 has no --overwrite_output_dir, and calls --evaluation_strategy "
    "--eval_strategy.",
    "peer-gone": "This rank lost its connection to another one, which had ended without a traceback: it was killed, "
    "or crashed.",
    "permission": "The run may not read or write {path}.",
    "ranks-not-met": "A rank waited for the others at the master address, and they did not come: one died before it "
    "got there, a host name resolves to 127.0.0.1, or there is a firewall between the nodes.",
    "segmentation-fault": "Segmentation fault in a compiled library, not in Python.",
    "shared-memory": "Data loader workers and DeepSpeed's CPU ranks pass tensors through /dev/shm; a container often "
    "has only 64 MB of it.",
    "state-mismatch": "{model} has other layers or sizes than the one that was saved: a different model, vocabulary "
    "or adapter.",
    "syntax": "Python could not parse it: {says}",
    "terminated": "The processes received SIGTERM or SIGINT, but not from Stop: a time limit, another user, or a "
    "shutdown.",
    "tokenizer": "transformers builds this tokenizer with a package that the training environment does not have.",
    "torch-without-cuda": "The script asked for CUDA, but the training environment has a CPU build of torch.",
    "unknown-key": "In this block DeepSpeed accepts only the keys it knows. The key is misspelled, or belongs to "
    "another release.",
    "untested-optimizer": "The script uses an optimizer that is not on DeepSpeed's list for ZeRO. Element-wise "
    "optimizers work; others see only parts of a tensor and give another result.",
    "use-cpu-batch": "Without it, the Trainer looks for a GPU, finds none, and each rank acts as the only one: it "
    "makes train_batch_size {train}, but {ranks} ranks need {micro} × {steps} × {ranks}.",
    "use-cpu-bf16": "Without it, the Trainer looks for a GPU with bf16 and finds none. With it, the CPU trains in "
    "bf16.",
    "use-cpu-mismatch": "Without it, the Trainer looks for a GPU, finds none, and each rank acts as the only one, so "
    "its batch sizes are those of one rank: {mismatches}.",
    "version-needed": "It says: {says}",
    "wrong-type": "DeepSpeed says about {key}: {says}",
    "zero-block-missing": "accelerate, which starts DeepSpeed for the Trainer, refuses a config without "
    "zero_optimization.",
    "zero-needs-optimizer": "ZeRO partitions the optimizer states, but this config has no optimizer block and the "
    "script passes no optimizer.",
    "zero3-parameters": "ZeRO-3 fetches parameters in the order of the first forward pass. A model that takes another "
    "path in a later step, tied or unused parameters, or a module called outside its parent's forward break that "
    "order.",
}

# What some of the places above stand for.
DIAGNOSIS_PARTS = {
    "hub-name": ": {name}",
    "hub-no-name": "",
    "hub-not-offline": "",
    "hub-offline": ": offline mode is on (HF_HUB_OFFLINE)",
    "lines-left-out": "… {count} lines are left out here; the output has them …",
    "mismatch": "{key} is {has} in the config, and {argument} is {given}",
    "mismatches": "{first}; {then}",
    "mismatches-unknown": "see the traceback",
    "model": "a model or data set",
    "more-options": "{options} …",
    "no-script-to-find": "",
    "script-to-find": " evaluate reports it as “doesn't exist”.",
    "transformers-from-source": "transformers from source",
}
