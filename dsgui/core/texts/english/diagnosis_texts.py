"""Texts of why a run failed: the title of the diagnosis, what it means, and parts of both. A code is a signature's id
(`core/diagnosis/signatures.py`) with underscores, or one of several forms of it. The places in braces are filled from
the failure's own message."""

DIAGNOSIS_TITLES = {
    "memlock": "A buffer for NVMe could not be locked in memory",
    "abort": "A rank aborted",
    "address_in_use": "The master port is in use",
    "address_space": "The limit on address space was reached: {limit}",
    "arguments": "The script refused its arguments",
    "async_io": "NVMe offload needs libaio",
    "auto_natively": "“auto” in a config that DeepSpeed reads directly",
    "batch_identity": "The three batch sizes don't fit together",
    "batch_zero": "A batch size came out as 0",
    "bf16_unsupported": "The run’s devices don’t support bf16",
    "bus_error": "A rank died of a bus error: the shared memory (/dev/shm) may be full",
    "slurm_rejected": "Slurm rejected the job",
    "cgroup_memory": "The job's memory limit was reached",
    "checkpoint_missing": "The checkpoint to resume from is missing or incomplete",
    "checkpoint_world_size": "The checkpoint was saved with a different number of ranks",
    "config_twice": "The config was given twice",
    "config_twice_option": "--deepspeed is among the arguments too",
    "container_memory": "The container's memory limit was reached: {limit}",
    "crash": "A rank crashed in native code",
    "cuda_memory": "The GPU ran out of memory while training",
    "cuda_memory_optimizer": "The GPU ran out of memory in the optimizer step",
    "cuda_memory_start": "The GPU ran out of memory before the first step",
    "cuda_mismatch": "The CUDA toolkit does not match torch's CUDA version",
    "arch_list": "DeepSpeed can’t read TORCH_CUDA_ARCH_LIST",
    "cuda_missing": "There is no CUDA toolkit to compile with",
    "deepspeed_argument": "The script does not take --deepspeed",
    "device_map": "ZeRO-3 and device_map can't be combined",
    "disk_full": "The disk is full",
    "driver_old": "The NVIDIA driver is too old for this torch",
    "duplicate_key": "A key appears twice in the config",
    "device_missing": "Host {host} has no GPU {slot}",
    "file_missing": "File not found: {what}",
    "fp16_unsupported": "The run’s devices don’t support fp16",
    "gpu_unsupported": "This torch has no kernels for the GPU",
    "hangup": "The run's terminal or session was closed",
    "hf_mismatch": "The config and the script's arguments contradict each other",
    "host_memory": "The host ran out of memory",
    "hosts": "A host could not be reached",
    "hub_refused": "Not found: {what}",
    "hub_unreachable": "Can't reach the Hugging Face Hub{named}",
    "illegal_instruction": "A compiled library uses instructions this CPU does not have",
    "killed": "A rank was killed",
    "killed_for_memory": "The kernel killed a rank: memory ran out",
    "local_rank_argument": "The script does not take --local_rank",
    "loss_scale": "The loss scale fell to its minimum",
    "lost_numbers": "The loss became NaN or infinite",
    "lost_numbers_among": "The loss was {what} {count} times in {places}",
    "lost_numbers_at": "The loss was {what} at {place}",
    "lost_numbers_since": "The loss was {what} from {place} on",
    "lost_numbers_to": "The loss was {what} at {places}",
    "no_norm_since": "The gradient norm was {what} from {place} on",
    "zero_loss_after": "The gradient norm was {what} from {place} on, and the loss 0 after that",
    "zero_loss_since": "The gradient norm was {what} from {place} on, and the loss 0",
    "module_above": "Python does not look where {module} is",
    "module_missing": "A Python package is missing: {module}",
    "nccl_error": "NCCL could not connect the GPUs",
    "nccl_timeout": "A NCCL collective timed out",
    "nltk_data": "nltk data is missing: {resource}",
    "nltk_data_offline": "nltk data is missing",
    "no_gpu": "torch finds no NVIDIA GPU",
    "no_ninja": "ninja is missing",
    "ranks_beyond_gpus": "There are more ranks than GPUs they may see",
    "not_a_number": "A value became NaN or infinite",
    "offload_client_optimizer": "ZeRO-Offload with the script's own optimizer",
    "other_torch": "The installed {package} was built for another torch",
    "older_script": "The script was written for another release of {package}, most likely an older one",
    "older_script_call": "The script was written for other releases: {called} has no {name}",
    "op_build": "DeepSpeed could not compile an operator",
    "option_unknown": "The script doesn't know {options}",
    "peer_gone": "The connection to another rank was lost",
    "permission": "Access was denied: {path}",
    "raised": "It ended with {name}",
    "ranks_not_met": "The ranks did not find each other",
    "shared_memory": "The shared memory (/dev/shm) is too small",
    "silent_start": "The script exited before logging a training step (exit code {code})",
    "silent_unknown": "It failed without a traceback; its exit code is unknown",
    "silent": "It ended with exit code {code} and no traceback",
    "state_mismatch": "The saved weights don't fit this model",
    "syntax": "The script is not valid Python",
    "terminated": "Something outside dsgui ended the run",
    "tf32_unsupported": "--tf32 needs an Ampere GPU or a newer one",
    "tokenizer": "A package that the tokenizer needs is missing",
    "torch_without_cuda": "The installed torch can't use GPUs",
    "unknown_key": "This DeepSpeed does not know the config key {key}",
    "untested_optimizer": "ZeRO was not tested with this optimizer",
    "use_cpu": "The HF Trainer needs --use_cpu to train on the CPU",
    "use_cpu_bf16": "The HF Trainer needs --use_cpu to train in bf16 on the CPU",
    "version_needed": "The script needs another version: {needs}",
    "wrong_type": "A config value has the wrong type: {key}",
    "zero_block_missing": "The HF Trainer needs a zero_optimization block",
    "zero_needs_optimizer": "ZeRO has no optimizer to work with",
    "zero3_parameters": "ZeRO-3 found a parameter in an unexpected state",
}

DIAGNOSIS_MEANINGS = {
    "memlock": ("NVMe offload locks its buffers in host memory, and this process may not lock that much (ulimit -l)."),
    "abort": "A compiled library gave up (SIGABRT); the last lines of the output give its reason.",
    "address_in_use": "The ranks meet at this port, and another program listens there: often an earlier run that has "
    "not ended.",
    "address_space": "The run may reserve {limit} of address space per process (ulimit -v), and a rank asked for "
    "more. torch alone reserves several GiB that it never uses.",
    "arguments": "It says: {says}",
    "async_io": "NVMe offload reads and writes with libaio, whose header and library are not installed.",
    "auto_natively": "“auto” is for the HF Trainer, which replaces it with a value. DeepSpeed itself calculates with "
    "it and stops.",
    "batch_identity": "train_batch_size {train} is not micro batch {micro} × accumulation steps {steps} × {ranks} "
    "ranks. It may match a different GPU count.",
    "batch_zero": "DeepSpeed derives the missing one of the three batch sizes by division. With these numbers and "
    "ranks that leaves less than one sample per rank and step.",
    "bf16_unsupported": "bf16 needs a GPU of compute capability 8.0 (Ampere) or newer, or a CPU that supports it.",
    "bus_error": "Memory shared between processes could not be provided; a container often has only 64 MB of /dev/shm.",
    "slurm_rejected": "sbatch: {why}.",
    "cgroup_memory": "Slurm ended a process because the job used more memory than it had requested.",
    "checkpoint_missing": "A folder or a file of the checkpoint is missing. A run that ends while saving leaves an "
    "incomplete checkpoint.",
    "checkpoint_world_size": "ZeRO saves one part of the optimizer states per rank: {then} then, {now} now.",
    "config_twice": "The script passes a config to deepspeed.initialize itself, and was given another one as "
    "--deepspeed_config.",
    "config_twice_option": "The config is already passed as --deepspeed FILE. The --deepspeed among the arguments has "
    "no value, so the parser stops.",
    "container_memory": "The kernel killed it because all processes in its container or job (control group) together "
    "may use {limit} of memory, and that was used up.",
    "crash": "{what} in a compiled library, not in Python.",
    "cuda_memory": "The activations of one micro batch did not fit beside the model states. They grow with the micro "
    "batch and the sequence length.",
    "cuda_memory_optimizer": "The forward and backward passes fit, but the optimizer states (for Adam, 12 bytes per "
    "parameter, divided across the ranks under ZeRO) did not fit beside them.",
    "cuda_memory_somewhere": "The traceback doesn't show which part did not fit: the activations, which grow with the "
    "micro batch and the sequence length, or the model states (parameters, gradients, optimizer states).",
    "cuda_memory_start": "The model states (parameters, gradients, optimizer states) are larger than "
    "the GPU's memory; no "
    "batch size can help.",
    "cuda_mismatch": "DeepSpeed compiles its operators with the nvcc it finds, which must be of the CUDA version that "
    "torch was built for.",
    "arch_list": "It names the GPU architectures to compile operators for. torch reads entries such as 9.0a; "
    "DeepSpeed from 0.19.0 on takes numbers only, and stopped at “{part}”.",
    "cuda_missing": "DeepSpeed compiles its CUDA operators when they are first used, and there is no nvcc.",
    "deepspeed_argument": "The config is passed as --deepspeed FILE, and this script has no such option.",
    "device_map": "Both place the model's parameters. Under ZeRO-3, each rank holds a part of every tensor, so "
    "nothing else may decide where a layer goes.",
    "disk_full": "A file could not be written completely. If a checkpoint was being saved, it is incomplete.",
    "driver_old": "torch was built for a newer CUDA than the driver supports.",
    "duplicate_key": "DeepSpeed refuses a file in which a key appears twice: {keys}",
    "device_missing": "DeepSpeed's launcher was told to use a device that it doesn't find there. Without a GPU, it "
    "finds device 0 alone.",
    "file_missing": "The script asked for a file or folder that is not there. Relative paths start at the run's "
    "working directory.",
    "fp16_unsupported": "DeepSpeed’s accelerator says so: a CPU without fp16, or a GPU older than compute capability "
    "7.0.",
    "gpu_unsupported": "It was built for other compute capabilities: the GPU is older or newer than those.",
    "hangup": "Something outside dsgui sent SIGHUP (signal 1), as happens when a terminal closes.",
    "hf_mismatch": "The HF Trainer stops where the config and its arguments differ: {mismatches}.",
    "host_memory": "A rank requested more memory than the system has. CPU offload, one copy of the model per rank "
    "while loading, and data loader workers all use host memory.",
    "hosts": "DeepSpeed starts the ranks on other hosts over ssh, without a password.",
    "hub_refused": "It is not a folder on this machine, seen from the run's working directory, and the Hub has no "
    "such model or data set for this user.",
    "hub_unreachable": "The script asked the Hub for a model, data set or metric that is not in this machine's cache, "
    "and got no answer{offline}.{evaluate}",
    "illegal_instruction": "It was built for a newer CPU: operators in a cache shared between machines are a common "
    "reason.",
    "killed": "A process killed by SIGKILL (signal 9) can't report why. Usually the kernel sends it when memory runs "
    "out.",
    "killed_by_another": "SIGKILL (signal 9) ended it. The kernel did not send it for lack of memory: it counted no "
    "such kill while the run was going on. So another program or user did.",
    "killed_for_memory": "While the run was going on, the kernel killed processes because the machine's memory had "
    "run out.",
    "last_line": "The last line of its output: “{line}”.",
    "last_line_is": "The last line of its output:",
    "local_rank_argument": "DeepSpeed's launcher adds --local_rank=N to the script's arguments.",
    "loss_scale": "In fp16 the gradients overflowed step after step until the loss scale could not be halved again: "
    "the values don't fit fp16, or the training diverges.",
    "and_lost_numbers": "{meaning} {lost}.",
    "lost_numbers_back": "It was finite again from {place} on.",
    "lost_numbers_back_soon": "It was finite again right after it.",
    "lost_numbers_before": "It happened before, first at {place}.",
    "lost_numbers_last": "It was the last loss logged.",
    "lost_numbers_stayed": "No loss logged after that was finite.",
    "lost_numbers_then": "{went_on} {ended}",
    "no_norm_filtered": "The HF Trainer leaves NaN and infinite losses out of what it logs (logging_nan_inf_filter): a "
    "logged 0 most likely means that the loss itself was NaN.",
    "no_norm_finite_loss": "The loss logged beside it was finite. An update with such gradients is skipped, or makes "
    "the weights NaN.",
    "no_norm_may_be_filtered": "If the HF Trainer trained this run, the loss itself was most likely NaN: it leaves "
    "such losses out and logs 0 (logging_nan_inf_filter).",
    "no_norm_no_loss": "An update with such gradients is skipped, or makes the weights NaN.",
    "no_norm_zero_loss": "NaN losses are not filtered out of this log, so the loss was indeed 0.",
    "then_ended": "{title}. {meaning}",
    "lost_numbers": "The last logged loss was NaN or infinite; what came after is most likely its consequence.",
    "module_above": "{module} is in {above}, above the script’s folder. Python looks in the script’s own folder and in "
    "PYTHONPATH, not in the folder that the run starts in.",
    "module_missing": "{module} is not in the training environment. It may have been installed with another Python, "
    "or it is a file beside the script that was not found.",
    "nccl_error": "A NCCL call failed: a network interface that does not reach the other node, GPUs that can't reach "
    "each other, too little /dev/shm, or two ranks on one GPU.",
    "nccl_timeout": "One rank did not take part in a collective operation within the time limit (10 minutes in torch, "
    "30 in DeepSpeed): it had died, was still loading or evaluating, or took another branch.",
    "nltk_data": "The script uses the nltk resource {resource}, which is not on this machine. To download it, nltk "
    "needs the network.",
    "nltk_data_offline": "The script uses nltk data that is not on this machine. Downloading it needs the network, "
    "and offline mode is on.",
    "no_gpu": "The script asked for CUDA, but there is no NVIDIA driver here, or no GPU that this run may see "
    "(CUDA_VISIBLE_DEVICES).",
    "no_ninja": "DeepSpeed compiles its operators with ninja.",
    "ranks_beyond_gpus": "Each rank takes a GPU of its own, and for one of them none was left.",
    "not_a_number": "A loss, gradient or weight became NaN or infinite, and what is calculated with it fails.",
    "nothing_printed": "It printed no output.",
    "offload_client_optimizer": "With offload, the step runs on the CPU, where torch's own optimizers are slow: "
    "DeepSpeed asks you to decide.",
    "other_torch": "The compiled operators of {package} don’t load with the torch of the training environment. "
    "transformers imports {package} wherever it is installed, so its own classes can’t be imported either.",
    "older_script": "The script asks for {name} of {module}, which the installed {package} does not have. Names come "
    "and go between releases.",
    "older_script_call": "The script passes {name} to {called}, which does not accept it in the installed release. "
    "Names come and go between releases: transformers 5 calls evaluation_strategy eval_strategy.",
    "op_build": "The compiler failed or is missing; see its messages above the traceback.",
    "option_unknown": "Its parser has no such option.",
    "option_unknown_trainer": "Neither the installed transformers nor the script has such an option. Options come and "
    "go between releases: transformers 5 has no --overwrite_output_dir, and calls --evaluation_strategy "
    "--eval_strategy.",
    "peer_gone": "This rank lost its connection to another one, which had ended without a traceback: it was killed, "
    "or crashed.",
    "permission": "The run may not read or write {path}.",
    "ranks_not_met": "A rank waited for the others at the master address, and they did not come: one died before it "
    "got there, a host name resolves to 127.0.0.1, or there is a firewall between the nodes.",
    "segmentation_fault": "Segmentation fault in a compiled library, not in Python.",
    "shared_memory": "Data loader workers and DeepSpeed's CPU ranks pass tensors through /dev/shm; a container often "
    "has only 64 MB of it.",
    "state_mismatch": "{model} has other layers or sizes than the one that was saved: a different model, vocabulary "
    "or adapter.",
    "syntax": "Python could not parse it: {says}",
    "terminated": "The processes received SIGTERM or SIGINT, but not from Stop: a time limit, another user, or a "
    "shutdown.",
    "tokenizer": "transformers builds this tokenizer with a package that the training environment does not have.",
    "tf32_unsupported": "The HF Trainer stops where it can’t switch TF32 on: on the CPU and on GPUs older than Ampere.",
    "torch_without_cuda": "The script asked for a GPU (CUDA), but the training environment has a CPU build of torch.",
    "unknown_key": "In this block DeepSpeed accepts only the keys it knows. The key is misspelled, or belongs to "
    "another release.",
    "untested_optimizer": "The script uses an optimizer that is not on DeepSpeed's list for ZeRO. Element-wise "
    "optimizers work; others see only parts of a tensor and give another result.",
    "use_cpu_batch": "Without it, the Trainer looks for a GPU, finds none, and each rank acts as the only one: it "
    "makes train_batch_size {train}, but {ranks} ranks need {micro} × {steps} × {ranks}.",
    "use_cpu_bf16": "Without it, the Trainer looks for a GPU with bf16 and finds none. With it, the CPU trains in "
    "bf16.",
    "use_cpu_mismatch": "Without it, the Trainer looks for a GPU, finds none, and each rank acts as the only one, so "
    "its batch sizes are those of one rank: {mismatches}.",
    "version_needed": "It says: {says}",
    "wrong_type": "DeepSpeed says about {key}: {says}",
    "zero_block_missing": "accelerate, which starts DeepSpeed for the Trainer, refuses a config without "
    "zero_optimization.",
    "zero_needs_optimizer": "ZeRO partitions the optimizer states, but this config has no optimizer block and the "
    "script passes no optimizer.",
    "zero3_parameters": "ZeRO-3 fetches parameters in the order of the first forward pass. A model that takes another "
    "path in a later step, tied or unused parameters, or a module called outside its parent's forward break that "
    "order.",
}

# What some of the places above stand for.
DIAGNOSIS_PARTS = {
    "at_epoch": "epoch {epoch}",
    "at_epochs": "epochs {first}–{last}",
    "at_step": "step {number}",
    "at_steps": "steps {first}–{last}",
    "at_value": "logged value {number}",
    "at_values": "logged values {first}–{last}",
    "hub_name": ": {name}",
    "hub_no_name": "",
    "hub_not_offline": "",
    "hub_offline": ": offline mode is on (HF_HUB_OFFLINE)",
    "lines_left_out": "… {count} lines are left out here; the output has them …",
    "mismatch": "{key} is {has} in the config, and {argument} is {given}",
    "mismatches": "{first}; {then}",
    "mismatches_unknown": "see the traceback",
    "model": "a model or data set",
    "more_options": "{options} …",
    "no_script_to_find": "",
    "numbers_both": "NaN or infinite",
    "numbers_infinite": "infinite",
    "numbers_nan": "NaN",
    "script_to_find": " evaluate reports it as “doesn't exist”.",
    "transformers_from_source": "transformers from source",
}
