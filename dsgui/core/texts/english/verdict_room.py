"""Texts of checks before a start, of the room that a launch finds, here and on other machines: what was seen, and what
to do about it. {need} is what a launch takes."""

from collections.abc import Mapping

ROOM_VERDICTS: Mapping[str, str] = {
    # host memory that offloading takes, and why DeepSpeed's estimator has no answer
    "offload.size_unknown": "Host memory for offloading was not estimated: the model size is unknown ({why}).",
    "offload.trains_a_part": "Host memory for offloading was not estimated: the script trains a part of the model "
    "(LoRA, or frozen parameters), and how much is unknown.",
    "offload.may_train_a_part": "Host memory for offloading was not estimated: whether the script trains only a part "
    "of the model depends on “{condition}” (line {line}), which is not known here.",
    "offload.without_optimizer": "Host memory for offloading was not estimated: DeepSpeed's estimator has no case for "
    "parameters without the optimizer.",
    "offload.nvme": "Host memory for offloading was not estimated: DeepSpeed's estimator has no case for NVMe.",
    "offload.not_adam": "Host memory for offloading was not estimated: DeepSpeed's estimator counts Adam's states, and "
    "this is another optimizer.",
    "offload.less_states": "Host memory for offloading was not estimated: DeepSpeed's estimator counts fp32 states, "
    "and this config keeps some in 16 bits.",
    "offload.ratio": "Host memory for offloading was not estimated: only a part of the optimizer is offloaded (ratio).",
    "offload.too_much": "Offloading {parameters} parameters takes {states} for model states alone, but there is only "
    "{most} of host memory: the system would kill the run.",
    "offload.too_much_for_limit": "Offloading {parameters} parameters takes {states} for model "
    "states alone, but there is only "
    "{most} of host memory (this container's or job's limit): the system would kill the run.",
    "offload.tight": "Offloading {parameters} parameters takes {states} for model states alone, {estimate} with "
    "buffers by DeepSpeed's estimate; {free} is free now.",
    "offload.tight_for_limit": "Offloading {parameters} parameters takes {states} for model states "
    "alone, {estimate} with "
    "buffers by DeepSpeed's estimate; {free} is free now (this container's or job's limit).",
    "offload.fits": "{estimate} by DeepSpeed's estimate for {parameters} parameters; {free} is free",
    "offload.fits_limit": "{estimate} by DeepSpeed's estimate for {parameters} parameters; {free} is free (this "
    "container's or job's limit)",
    # {why} of offload.size_unknown
    "model_size.not_named": "no model is named in the arguments",
    "model_size.give": "give --parameters",
    "model_size.not_found": "{model} is neither a folder here nor in the hub's local cache",
    "model_size.outside": "{model} leads outside the folders that dsgui may read",
    "model_size.unreadable": "the files of {model} can't be read: {error}",
    "model_size.no_weights": "{folder} has no weights, and its config.json alone does not give the size",
    "model_size.no_count": "{path} gives neither the number of parameters nor, with config.json, their dtype",
    # what the memory model says of a launch
    "model_memory.rooms": "{rooms}",
    "model_memory.in_all": "{rooms}.",
    "checkpointing.untold": "Gradient checkpointing is ticked on 1 · Configure, but the arguments don’t turn it on: "
    "memory is estimated without it.",
    "checkpointing.nowhere": "Gradient checkpointing is ticked on 1 · Configure, but nothing in the script’s own "
    "file turns it on.",
    "zero_init.nowhere": "“Model built within deepspeed.zero.Init” is ticked on 1 · Configure, but nothing in the "
    "script’s own file does that.",
    "nvme.free": "{path}: {free} free",
    "memlock.enough": "{need} may be locked",
    "memlock.locks_more": "offload_param to NVMe locks {need} per rank (buffer_count {count} × "
    "buffer_size {elements} × 2 "
    "B), but a process may lock only {limit}.",
    "shm.room_for_one": "{free} free in /dev/shm; 1 CPU rank takes {need}",
    "shm.room": "{free} free in /dev/shm; {ranks} CPU ranks take {need}",
    "shm.no_room_for_one": "{free} free in /dev/shm; 1 CPU rank takes {need} (66 MiB each, "
    "deepspeed/ops/csrc/cpu/comm/shm.cpp).",
    "shm.no_room": "{free} free in /dev/shm; {ranks} CPU ranks take {need} (66 MiB each, "
    "deepspeed/ops/csrc/cpu/comm/shm.cpp).",
    "gpus.no_driver": "GPU {gpus} was selected, but no NVIDIA driver responds.",
    "gpus.missing": "GPU {gpus} was selected; this machine has {known}. The launcher stops with “No slot specified on "
    "host 'localhost'”.",
    "gpus.only_one": "{ranks} ranks were requested, but this machine has 1 GPU.",
    "gpus.few": "{ranks} ranks were requested, but this machine has {gpus} GPUs.",
    "gpus.free": "{gpus} free",
    "gpus.room": "GPU {index}: {free} of {total}",
    "cores.enough": "{ranks} of {cores} usable cores",
    "cores.few": "{ranks} ranks share {cores} usable cores, so training is slow.",
    "cores.shared": "Also training on these {cores} cores: {runs}. Each run gets slower.",
    "port.free": "{port} is free",
    "port.taken": "{port}: another program uses it; torch stops with “address already in use”.",
    "checkpoints.full": "{free} free in {path}; the run writes there.",
    "checkpoints.saves_none": "{free} free in {path}; --save_strategy no",
    "checkpoints.few": "{free} free in {path}; a checkpoint of a 250 million parameter model takes {need}.",
    "checkpoints.size_unknown": "{free} free in {path}; the checkpoint size is unknown",
    "checkpoints.enough": "{free} free in {path}; one checkpoint of {parameters} parameters takes about {need}",
    "checkpoints.too_small": "{free} free in {path}; one checkpoint of {parameters} parameters takes about {need} "
    "(weights, and Adam's states in fp32).",
    "output_disk.full": "{free} free in {path}, where dsgui keeps a run’s output.",
    # other machines
    "elsewhere.not_asked": "Not known yet: whether ssh reaches {machines}, and whether Python, versions, GPUs, script "
    "and folder are there as this run needs them.",
    "elsewhere.not_yet": "Not checked yet.",
    "elsewhere.not_checked": "Memory, GPUs, programs and disks of {machines} are not checked from here.",
    "slurm.no_sbatch": "sbatch isn’t installed on this machine.",
    "slurm.no_sinfo": "Slurm was not asked: sinfo isn’t installed on this machine.",
    "slurm.answers": "{program} answers",
    "slurm.no_answer": "Slurm doesn’t answer from this machine.",
    "slurm.says": "{program}: {words}.",
    "slurm.silent": "Slurm didn’t answer {program} within {seconds} s.",
    "elsewhere.nodes_of_slurm": "the nodes Slurm allocates",
    "host.this_machine": "This machine",
    "host.several": "{names}",
    "host.and_more": "{names} and {count} more hosts",
    "host.found": "{versions}, {gpus} GPUs",
    "host.found_with_one_gpu": "{versions}, 1 GPU",
    "host.found_without_gpu": "{versions}, no GPU",
    "host.no_python": "{python} does not exist.",
    "host.no_folder": "The folder {folder} does not exist.",
    "host.no_script": "{script} does not exist.",
    "host.another_port_taken": "Port {port} is in use there; this run has another one, which was not checked.",
    "host.port_taken": "Port {port} is in use, but the ranks need it.",
    "host.one_gpu": "1 GPU is there, but slot {slot} was requested.",
    "host.few_gpus": "{gpus} GPUs are there, but slot {slot} was requested.",
    "host.loopback": "The host’s own name resolves to {address}: ranks on a CPU (gloo) would wait there for the "
    "others.",
    "host.not_reachable": "Not reachable over ssh: {problem}.",
    "host.ssh_not_started": "ssh can't be started ({error})",
    "host.exit_code": "code {code}",
    "host.timed_out": "it timed out",
    "host.no_answer": "no answer",
    "host.unreadable_answer": "its answer could not be read",
    "host.no_deepspeed": "The Python there has no DeepSpeed.",
    "host.other_versions": "{versions}.",
    "host.differs": "{name} {here}, elsewhere {elsewhere}",
    "host.lacks": "{name} missing, elsewhere {elsewhere}",
    "host.only_here": "{name} {here}, elsewhere missing",
    "host.no_pdsh": "pdsh is missing; DeepSpeed’s launcher needs it to reach the other hosts.",
}

ROOM_ADVICE: Mapping[str, str] = {
    "offload.use_more": "Use more machines, a smaller model, or offload to NVMe at stage 3.",
    "offload.free_some": "Free some memory or use less: a run that needs more is killed (exit −9).",
    "model_memory.offer": "{offer}.",
    "model_memory.describe_host": "Enter the host’s memory on 1 · Configure (Memory, “More”).",
    "checkpointing.add": "Add --gradient_checkpointing True to the arguments, or untick it.",
    "checkpointing.in_code": "Turn it on in the script (model.gradient_checkpointing_enable() with transformers), or "
    "untick it.",
    "zero_init.in_code": "Build the model within deepspeed.zero.Init(config_dict_or_path=…), or untick it.",
    "model_memory.see_configure": "See 1 · Configure, or python -m dsgui memory.",
    "shm.remove_stale": "Remove stale buffers (listed on 4 · Machine), use fewer ranks, or give the container more: "
    "docker run --shm-size=2g …",
    "gpus.check_driver": "Check nvidia-smi; without a GPU, enter a number of ranks instead.",
    "gpus.select": "Select GPUs that nvidia-smi lists.",
    "gpus.use_fewer": "Use as many ranks as there are GPUs.",
    "cores.use_fewer": "Use at most as many ranks as cores.",
    "cores.wait": "Start anyway, or wait: More, “If another run is active” (--when-busy wait).",
    "port.another": "Enter another master port, or leave it empty to use a free one.",
    "checkpoints.free_some": "Free some space, or write elsewhere (--output_dir).",
    "slurm.login_node": "Start dsgui on a login node of the cluster.",
    "slurm.must_answer": "Start dsgui on a login node of the cluster; {program} must answer there.",
    "output_disk.free_some": "Free some space, or use another --runs-dir.",
    "host.install_python": "The launcher uses the same path everywhere. Install the environment at this path, or share "
    "it.",
    "host.create_folder": "The launcher changes to it on every host. Create it there, or share it.",
    "host.copy_script": "Copy the script to the same place, or share its folder.",
    "host.another_port": "Give another one as “Master port”.",
    "host.correct_slots": "Correct the slots in the hostfile.",
    "host.name_interface": "Name the network interface under “Environment variables”.",
    "host.without_password": "ssh must connect without a password. If it asks for one:",
    "host.check_name": "Check the name in the hostfile, or give its address in ~/.ssh/config.",
    "host.try_ssh": "ssh must connect without a question. Try it in a terminal:",
    "host.start_sshd": "Start sshd there, or name its port in ~/.ssh/config.",
    "host.same_versions": "Install the same versions as on the other hosts.",
    "host.install_everywhere": "All ranks need the same versions. Install them everywhere.",
    "host.install_pdsh": "Install it here.",
}
