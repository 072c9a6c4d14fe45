"""Texts of checks of a machine and its training environment: what was seen, and what to do about it. `{op}` is an
operator of DeepSpeed's."""

from collections.abc import Mapping

MACHINE_VERDICTS: Mapping[str, str] = {
    # the training environment
    "target.problem": "{problem}",
    "imports.problems": "{problems}",
    "packages.version": "{name} {version}",
    "packages.found": "{packages}",
    "packages.lacks": "{python} has no {name}.",
    "packages.lacks_both": "{python} has no {name} and no {other}.",
    "program.missing": "No {command} in the PATH of a run. DeepSpeed compiles its operators on first use and stops "
    "without it.",
    "program.does_not_start": "{path} does not start. DeepSpeed compiles its operators on first use and stops without "
    "it.",
    "program.found": "{version} ({path})",
    "headers.found": "{path}",
    "headers.missing": "No Python headers: {path} does not exist. DeepSpeed compiles its operators on first use and "
    "stops without it.",
    "cuda.usable": "torch for {build} sees its device",
    "cuda.unusable": "torch is built for {build} and can't use it: {why}.",
    "cuda.cpu_build_one": "This machine has 1 GPU, but torch is a CPU-only build.",
    "cuda.cpu_build": "This machine has {gpus} GPUs, but torch is a CPU-only build.",
    "driver.new_enough": "driver {version} runs CUDA up to {newest}; torch is built for {built}",
    "driver.too_old": "Driver {version} runs CUDA up to {newest}, and torch is built for {built}.",
    "toolkit.found": "nvcc {nvcc} in {home}, torch built for CUDA {built}",
    "toolkit.differs": "nvcc {nvcc} in {home}, torch built for CUDA {built}: DeepSpeed refuses to compile with a CUDA "
    "version other than torch's.",
    "toolkit.no_nvcc": "No CUDA toolkit with nvcc ({home}): DeepSpeed can't compile FusedAdam or DeepSpeedCPUAdam for "
    "the GPU.",
    "toolkit.no_home": "No CUDA toolkit with nvcc (CUDA_HOME is not set): DeepSpeed can't compile FusedAdam or "
    "DeepSpeedCPUAdam for the GPU.",
    "op.built_in": "{op} is built in",
    "op.can_be_compiled": "{op} can be compiled on first use",
    "op.no": "{op} can't be compiled.",
    "op.no_because": "{op} can't be compiled. DeepSpeed: “{why}”.",
    "async_io.needed": "Only NVMe offload needs async_io, and stops without it.",
    "cpu_adam.needed": "Offloading the optimizer to the CPU needs cpu_adam.",
    # the machine
    "shm.none": "There is no /dev/shm.",
    "shm.free": "/dev/shm: {free} of {total} free",
    "shm.too_small_for_nccl": "/dev/shm: {free} of {total} free; {need} are needed: NCCL and DataLoader workers share "
    "memory there.",
    "shm.too_small_for_ranks": "/dev/shm: {free} of {total} free; {need} are needed: two CPU ranks take 66 MiB each.",
    "shm_left.buffer": "Killed runs left {held} of memory in /dev/shm: 1 unused DeepSpeed buffer.",
    "shm_left.buffers": "Killed runs left {held} of memory in /dev/shm: {count} unused DeepSpeed buffers.",
    "memlock.no_limit": "no limit",
    "memlock.limit": "{limit}",
    "memlock.does_not_hold": "{limit}, which does not hold for this user (CAP_IPC_LOCK)",
    "memlock.too_low": "A process may lock {limit} of memory. Offloading parameters to NVMe locks {need} by default "
    "(DeepSpeed 0.19.6 and newer) and aborts; InfiniBand registers memory the same way.",
    "files.no_limit": "no limit",
    "files.limit": "{limit}",
    "files.few": "A process may open {limit} files; DataLoader workers and NVMe offload open many.",
    "memory.all": "all {memory} may be used",
    "memory.limited": "Only {limit} of {memory} may be used here (control group): a run that needs more is killed "
    "(exit −9) even if the machine has memory left.",
    "disk.free": "{free} free in {path}",
    "locks.one": "A killed build left a lock: {lock}.",
    "locks.several": "A killed build left locks: {locks}.",
    "locks.hangs": "Every later run that needs the operator hangs.",
    "bf16.every_gpu": "every GPU has bf16",
    "bf16.none": "No bf16 arithmetic on {gpus}: torch may emulate it, slowly.",
    "bf16.gpu": "GPU {index} ({name}, {capability})",
    "busy.none": "no GPU is more than half full",
    "busy.full": "{gpus}",
    "busy.gpu": "GPU {index}: {free} of {total} free",
}

MACHINE_ADVICE: Mapping[str, str] = {
    "target.see_python": "The training environment could not be checked: see --python.",
    "imports.fix": "The same import would fail in a run: fix the environment, then check again.",
    "packages.install": "Install it there, or start dsgui with a --python that has it.",
    "trainer.only_hf": "Only the HF Trainer (and the bundled recipe) needs them.",
    "compiler.install": "Install a C++ compiler, or name one in CXX before dsgui starts.",
    "ninja.install": "Install it in the training environment.",
    "headers.install": "Install the headers of this Python.",
    "cuda.install": "Install a torch built for CUDA: see pytorch.org.",
    "cuda.on_the_cpu": "Runs here use the CPU. On a machine with a GPU: check its driver with nvidia-smi.",
    "cuda.check_driver": "Check the driver with nvidia-smi, and CUDA_VISIBLE_DEVICES.",
    "driver.update": "Update the driver, or install a torch built for CUDA {cuda}.",
    "toolkit.install": "Install the CUDA {cuda} toolkit and set CUDA_HOME, or use a torch optimizer "
    '("torch_adam": true).',
    "toolkit.point": "Point CUDA_HOME to a CUDA {built} toolkit. DS_SKIP_CUDA_CHECK=1 skips the check.",
    "async_io.install": "Install libaio with its headers.",
    "cpu_adam.see_above": "See the compiler and CUDA toolkit above.",
    "shm.mount": "Ranks exchange data there: mount a tmpfs.",
    "shm.enlarge": "In a container, start it with more shared memory; otherwise free some or enlarge it.",
    "shm_left.remove": "Safe if no CPU run has started since this check, here or in another container.",
    "nvme.choose": "Set nvme_path to a folder on a local NVMe drive.",
    "memlock.raise": "Raise the limit (ulimit -l, /etc/security/limits.conf; docker run --ulimit memlock=-1), or lower "
    "offload_param.buffer_size.",
    "files.raise": "Raise the limit before dsgui starts.",
    "memory.plan": "Plan offloading for the smaller number, or raise the limit of the container or job.",
    "disk.free_some": "Free some space.",
    "runs_disk.what_for": "Outputs and checkpoints go there.",
    "builds_disk.what_for": "Compiled operators go there (TORCH_EXTENSIONS_DIR).",
    "locks.remove": "dsgui removes it when it starts a run; for runs started elsewhere remove it now.",
    "bf16.use_fp32": "Use fp32 there: DeepSpeed refuses fp16 below compute capability 7.0.",
    "bf16.use_fp16": "Use fp16 there, or fp32 for models trained in bf16 (T5, Gemma).",
    "busy.see": "Another program holds this memory: see nvidia-smi.",
}
