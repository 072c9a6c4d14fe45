"""Texts of what to do about a failed run: the advice of a diagnosis, and why some of its changes are not offered."""

DIAGNOSIS_ADVICE = {
    "lower_buffer_size": "Or lower offload_param.buffer_size.",
    "raise_memlock": (
        "Raise the limit where dsgui is started: ulimit -l unlimited, /etc/security/limits.conf, or "
        "docker run --ulimit memlock=-1."
    ),
    "add_deepspeed_option": "Call deepspeed.add_config_arguments(parser), or parse TrainingArguments with "
    "HfArgumentParser.",
    "add_local_rank": "Let the script accept it: parser.add_argument('--local_rank', type=int, default=-1).",
    "add_optimizer": "Add an optimizer block, such as AdamW with its learning rate, or pass optimizer= to "
    "deepspeed.initialize.",
    "add_zero_block": "Add the block: stage 0 means no ZeRO; stage 1 partitions the optimizer states across the ranks.",
    "allow_optimizer": "Allow it if it updates each element on its own, or use one of DeepSpeed's optimizers.",
    "bf16_for_fp16": "Use bf16 if the GPUs support it: it has the range of fp32, and models pre-trained in bf16 (T5, "
    "Llama) need it.",
    "bf16_or_fp32": "Use bf16 if the devices support it, otherwise fp32 (neither block).",
    "check_gpu": "Check with nvidia-smi. In a container: docker run --gpus all.",
    "check_gpu_users": "Check whether another program uses memory on these GPUs.",
    "check_hostfile": "Check the names in the hostfile.",
    "check_model_path": "Check the path or use an absolute one; a model folder contains a config.json.",
    "check_path": "Check the path or use an absolute one.",
    "check_permissions": "Check its owner and permissions, or use another folder (--output_dir, HF_HOME, "
    "TORCH_EXTENSIONS_DIR).",
    "check_rows": "Check the data for empty or broken rows.",
    "container_memory": "Give the container or job more memory.",
    "correct_arguments": "Correct the arguments on Launch; see the script's --help.",
    "correct_key": "Remove or correct it; the findings on Configure suggest what may have been meant.",
    "choose_other_devices": "Choose GPUs that the host has: nvidia-smi lists them.",
    "ranks_without_gpu": "To train on the CPU, choose no GPU and enter the number of ranks.",
    "correct_option": "Remove or correct it; see the script's --help.",
    "correct_script": "Correct the script; the output names the file and the line.",
    "correct_value": "Correct the value; the findings on Configure say what is expected.",
    "deepspeed_cpu_adam": "Let DeepSpeed provide its CPU Adam: add an optimizer block to the config and pass no "
    "optimizer.",
    "download_nltk": "With a network connection: python -m nltk.downloader {resource}.",
    "download_punkt": "With a network connection: python -m nltk.downloader punkt punkt_tab.",
    "earlier_checkpoint": "Resume from an earlier checkpoint, or start without --resume_from_checkpoint.",
    "earlier_processes": "Look for processes of an earlier run.",
    "earlier_rank": "Look further up for a rank that failed earlier.",
    "enlarge_shared_memory": "Give the container more: docker run --shm-size=16g, or --ipc=host.",
    "faulthandler": "Run it with PYTHONFAULTHANDLER=1: Python then names the call that crashed.",
    "fewer_checkpoints": "Keep fewer checkpoints: --save_total_limit 2.",
    "fewer_ranks_or_low_memory_loading": "Use fewer ranks on this machine, or load the model with low_cpu_mem_usage "
    "(below ZeRO-3).",
    "fp16_or_fp32": "Use fp16 on GPUs without bf16, or fp32 (neither block).",
    "free_disk": "Free some space, or write elsewhere (--output_dir). Saved checkpoints, /tmp and the cache of "
    "compiled operators (~/.cache/torch_extensions) grow with every run.",
    "free_port": "Leave the port empty and dsgui chooses a free one.",
    "hub_cache": "The cache is where HF_HOME points (default: ~/.cache/huggingface).",
    "hub_login": "Private and gated repositories need a token: huggingface-cli login.",
    "install_compiler": "Install a C++ compiler that torch supports (Debian, Ubuntu: apt install g++ python3-dev).",
    "install_libaio": "Install them (Debian, Ubuntu: apt install libaio-dev), or offload to the CPU.",
    "match_torch": "Install the release that belongs to this torch, from the same index as torch (one pip install for "
    "both). If the script doesn’t use it, uninstall it.",
    "install_module": "Install it with the Python of the training environment (named in the header): PYTHON -m pip "
    "install …",
    "install_ninja": "Install it into the training environment: pip install ninja.",
    "install_or_change_script": "Install that in the training environment, or use the script that goes with the "
    "installed release.",
    "install_tokenizer": "Install it there: pip install sentencepiece protobuf tiktoken.",
    "plain_archs": "Set TORCH_CUDA_ARCH_LIST to numbers, such as 9.0 or 8.0;9.0+PTX, in the run’s environment "
    "variables, or leave it empty there: DeepSpeed then asks the GPUs.",
    "ranks_by_gpus": "Start at most one rank per GPU: lower --num_gpus (torchrun: --nproc_per_node), or add GPUs "
    "to CUDA_VISIBLE_DEVICES.",
    "install_toolkit": "Install the CUDA toolkit (nvcc) of torch's CUDA version, and set CUDA_HOME.",
    "gradient_checkpointing": "Use gradient (activation) checkpointing, where it is off.",
    "larger_train_batch": "Use a larger train_batch_size, or a smaller micro batch.",
    "launch_has_config": "To use the one from Launch, remove config= from deepspeed.initialize.",
    "limit_memory_otherwise": "To limit memory, use a container or a Slurm job's --mem instead.",
    "local_path_or_download": "Pass a local path, or download it once where there is a connection: huggingface-cli "
    "download.",
    "master_address": "Several nodes: set --master_addr to the address that the other nodes see, and "
    "GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME to the interface.",
    "matching_toolkit": "Install that version of the toolkit and point CUDA_HOME to it.",
    "nccl_debug": "Run once with NCCL_DEBUG=WARN: NCCL then says what failed.",
    "nccl_interfaces": "Several nodes: set NCCL_SOCKET_IFNAME to the interface. GPUs without peer access: "
    "NCCL_P2P_DISABLE=1.",
    "need_less_memory": "Use fewer ranks here, less offload, or fewer data loader workers.",
    "no_loader_workers": "Without workers (--dataloader_num_workers 0) the data loader needs none of it.",
    "no_terminal": "Runs that dsgui starts have no terminal: find out what ended it, or start it again.",
    "offload_less": "Offload less: first drop offload_param, then offload_optimizer.",
    "offload_optimizer": "Offload the optimizer to the CPU, or use a higher ZeRO stage.",
    "or_copy_nltk": "Or copy nltk_data from another machine to your home folder, or set NLTK_DATA to its path.",
    "or_keep_optimizer": "Keep yours, and accept that it is slow.",
    "or_pass_arguments": "Pass the arguments that the config was written for.",
    "or_release_of_script": "Or install the release that the script was written for in the training environment.",
    "or_steadier_training": "Lower the learning rate, warm up longer, and clip gradients.",
    "or_universal_checkpoint": "Convert it once to a universal checkpoint (python -m "
    "deepspeed.checkpoint.ds_to_universal) and set checkpoint.load_universal.",
    "or_use_trainer": "Let the HF Trainer read the config.",
    "or_install_module": "Or install the package with the Python of the training environment: PYTHON -m pip install …",
    "or_working_directory": "Or set the working directory on Launch.",
    "other_ranks": "Look at what the other ranks did: the first one to fail is the cause.",
    "own_operators": "Remove ~/.cache/torch_extensions, or set TORCH_EXTENSIONS_DIR to a folder that only this "
    "machine uses.",
    "partition_or_offload": "Partition or move the states: a higher ZeRO stage, then offload to the CPU.",
    "raise_address_limit": "Raise the limit where dsgui is started: ulimit -v unlimited. It may be set in "
    "/etc/security/limits.conf.",
    "raise_timeout": "If a rank is only slow (tokenizing, saving), raise --ddp_timeout or "
    "deepspeed.init_distributed(timeout=…).",
    "python_path": "Set PYTHONPATH={path} under “Environment variables”.",
    "remove_build": "After an interrupted build, remove the operator's folder under ~/.cache/torch_extensions.",
    "remove_deepspeed": "Remove --deepspeed from the arguments.",
    "remove_device_map": "Remove device_map and low_cpu_mem_usage from from_pretrained; create TrainingArguments "
    "before the model.",
    "remove_one": "Remove one of them.",
    "remove_operators": "Operators compiled for another torch or CPU crash this way: remove ~/.cache/torch_extensions "
    "and try again.",
    "renamed_option": "Remove it or use its new name; see the script's --help.",
    "correct_job": "Clone the run, correct what it names, and submit it where Slurm answers.",
    "request_job_memory": "Request more with --mem, or use fewer ranks, less offload or fewer data loader workers.",
    "resume_on_ranks": "Resume on {then} ranks.",
    "same_model": "Build the model that was saved, or load the weights that belong to this one.",
    "same_modules": "Make every rank run the same modules in every step; mark modules that branch (mixture of "
    "experts) with deepspeed.utils.set_z3_leaf_modules.",
    "script_finds_config": "If the script finds its own config, say so on Launch under “How the script takes the "
    "config”.",
    "script_has_config": "To use the script's own config, don't pass one: on Launch under “How the script takes the "
    "config”, or --reader none.",
    "script_of_release": "Use the script that goes with the installed release: the transformers examples are tagged "
    "by release, such as v5.23.0.",
    "see_fatal_error": "The output below “Fatal Python error” shows the call.",
    "see_last_lines": "See the last lines of the output; NCCL's watchdog and failed checks in C++ end a program this "
    "way.",
    "see_memory": "Look at the memory chart and at dmesg.",
    "see_output": "See the output.",
    "set_keys_to_auto": "Let the arguments decide: set these keys to “auto” in the config.",
    "set_train_batch": "Set train_batch_size to the product, or leave it out and let DeepSpeed derive it.",
    "skip_cuda_check": "If only the minor version differs, DS_SKIP_CUDA_CHECK=1 lets DeepSpeed go on.",
    "shorter_sequences": "Use shorter sequences.",
    "smaller_micro_batch": "Use a smaller micro batch with more accumulation steps: the train batch size stays the "
    "same, and so does the result.",
    "start_at_the_end": "Start with the last line of the traceback, then look at the lines in your own files.",
    "steadier_fp16": "fp16 overflows above 65,504: prefer bf16 where the GPU has it, and keep loss_scale at 0, "
    "which is dynamic.",
    "nan_from_the_start": "From the first logged step on, this usually points to the model or the data: check that "
    "every batch has labels other than -100, and that the weights are finite in the dtype the model is loaded in. Then "
    "lower the learning rate.",
    "steadier_overlap": "In several DeepSpeed releases ZeRO stage 1 and 2 with overlap_comm made gradients NaN "
    "(#5347, #7188, #7965 there): turn it off to rule that out.",
    "steadier_numbers": "Lower the learning rate, warm up longer, clip gradients.",
    "tag_of_examples": "Each transformers example fits one release: use the tag of the installed one, such as v5.23.0.",
    "torch_for_gpu": "Install a torch built for this GPU; torch.cuda.get_arch_list() shows what the installed one "
    "supports.",
    "torch_with_cuda": "To train on a GPU, run it where there is one, with a CUDA build of torch: see pytorch.org.",
    "train_on_cpu": "To train on the CPU, let the script take its device from DeepSpeed (get_accelerator() of "
    "deepspeed.accelerator) instead of torch.cuda; the HF Trainer needs --use_cpu.",
    "try_ssh": "Try ssh HOST true by hand: it must work without asking for anything.",
    "update_driver": "Update the driver, or install a torch built for an older CUDA.",
    "without_tf32": "Remove --tf32. If the script creates its own TrainingArguments, remove tf32=True there.",
    "use_cpu": "Pass --use_cpu. If the script creates its own TrainingArguments, set use_cpu=True there.",
    "use_numbers": "Use numbers, or leave the keys out.",
    "who_ended_it": "Find out what ended it, then start or resume it.",
    "why_the_other_ended": "Find out why the other rank ended; running out of memory is the usual reason.",
    "zero2_with_offload": "ZeRO-2 with offload does not depend on this order and often fits, too.",
}

# Why a change that a diagnosis proposes is not offered: {change} is its label.
SET_ASIDE = {
    "away": "It ran on GPU {gpus}; this machine has no GPU. A clone opens for ssh; Slurm can be chosen there.",
    "button": "Clone: {change:inside}",
    "button_with": "Clone with {change:inside}",
    "button_with_name": "Clone with {change}",
    "button_learning_rate": "Clone with learning rate {value}",
    "button_micro_batch": "Clone with micro batch {micro}",
    "checked_gpu": "Checked for the GPU it ran on: {card}, {has}.",
    "checked_host": "Checked for the machine it ran on: {has} of host memory.",
    "checks": "{change}: the checks report: {message}",
    "deepspeed": "{change}: DeepSpeed itself refuses it: {message}",
    "failed": "{change}: run {run} had it and failed ({why}).",
    "fits": "Fits by estimate: {needs}",
    "had": "{change}: this run already had it.",
    "nothing_left": "dsgui has no further change to suggest.",
    "still_short": "By estimate the first change alone is not enough.",
    "unchecked": "Not checked for memory: no prediction was stored with the run.",
    "unchecked_gpu": "Not checked for memory: the prediction stored with the run has no number for the GPU.",
    "unchecked_host": "Not checked for memory: the prediction stored with the run has no number for host memory.",
    "unchecked_now": "Not checked for memory: the run’s memory can’t be estimated here.",
    "unchecked_room": "Not checked for memory: how much the run had is not known.",
    "unchecked_why": "Not checked for memory: {why:inside}",
}
