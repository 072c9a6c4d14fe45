"""Checks of the room a launch finds: host and GPU memory, locked and shared memory, cores, disks, the port. None where
there is nothing to judge, and for other machines than this."""

from dsgui.core.config.context import Integration, version_tuple
from dsgui.core.machine import host_checks
from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.machine.verdicts import Status, Verdict, ok, problem, unknown, warning
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.preflight.model_size import spelled
from dsgui.core.preflight.offloading import estimate
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import offload_device, value_or, zero_stage
from dsgui.core.script.words import value_of
from dsgui.core.sizes import size

# Seen with 0.19.8: save_checkpoint of a bf16 model with Adam wrote 14 bytes per parameter at stage 2, 12 at stage 3
# (the fp32 weights and two moments); the HF Trainer adds the 16-bit model.
CHECKPOINT_BYTES = 16
CHECKPOINT_LEAST_BYTES = 12
_NVME_LOCKS_SINCE = "0.19.6"


def offload(question: Question) -> Verdict | None:
    """Host memory for ZeRO-Offload, by DeepSpeed's own estimator, where the memory model has no answer."""
    if isinstance(question.launch.memory, Fitted):
        return None
    model = question.around.model
    need = estimate(question.launch, model, question.around.script.trains_a_part)
    if need is None:
        return None
    if isinstance(need, str):
        return unknown(f"How much host memory offloading takes: {need}.")
    return _fits(question.around.machine.host, need.states_bytes, need.estimate_bytes, spelled(model.parameters or 0))


def _fits(host: Host, states: int, estimate: int, parameters: str) -> Verdict | None:
    """`states` are sure to be needed; the `estimate` has half as much again for buffers."""
    if host.memory_bytes is None:
        return None
    limit = host.memory_limit_bytes
    most = min(host.memory_bytes, limit or host.memory_bytes)
    now = min(host.memory_available_bytes or most, most)
    swap = host.swap_bytes or 0
    need = f"Offloading {parameters} parameters takes {size(states)} for model states alone"
    where = " (this container's or job's limit)" if limit is not None and limit < host.memory_bytes else ""
    if states > most + swap:
        return problem(
            f"{need}, and there are {size(most)} of host memory{where}: the system would kill the run.",
            "Use more machines, a smaller model, or offload to NVMe at stage 3.",
        )
    if estimate > now:
        return warning(
            f"{need}, {size(estimate)} with buffers by DeepSpeed's estimate; {size(now)} are free now{where}.",
            "Free some memory or use less: a run that needs more is killed (exit −9).",
        )
    return ok(f"{size(estimate)} by DeepSpeed's estimate for {parameters} parameters; {size(now)} are free{where}")


def memlock(question: Question) -> Verdict | None:
    """Buffers of offload_param to NVMe (deepspeed/runtime/zero/offload_config.py) are locked since 0.19.6."""
    config, host = question.config, question.around.machine.host
    if zero_stage(config) != 3 or offload_device(config, "offload_param") != "nvme" or question.launch.elsewhere:
        return None
    version = question.around.version("deepspeed")
    if version and version_tuple(version) < version_tuple(_NVME_LOCKS_SINCE):
        return None
    count = value_or(config, "/zero_optimization/offload_param/buffer_count", 5)
    elements = value_or(config, "/zero_optimization/offload_param/buffer_size", 10**8)
    if not isinstance(count, int | float) or not isinstance(elements, int | float):
        return None
    need = int(2 * count * elements)
    if host.memlock_bytes is None or host.locks_freely or host.memlock_bytes >= need:
        return ok(f"{size(need)} may be locked")
    return problem(
        f"offload_param to NVMe locks {size(need)} a rank (buffer_count {count:g} × buffer_size {elements:g} × 2 B), "
        f"and a process may lock {size(host.memlock_bytes)}.",
        "Raise the limit (ulimit -l, /etc/security/limits.conf; docker run --ulimit memlock=-1), or lower "
        "offload_param.buffer_size.",
        "ulimit -l unlimited",
    )


def shared_memory(question: Question) -> Verdict | None:
    machine, ranks = question.around.machine, question.launch.ranks
    if question.launch.elsewhere:
        return None
    if machine.host.shm is None or machine.gpus:
        return host_checks.shm(machine) if ranks > 1 or machine.host.shm is None else None
    need, free = ranks * host_checks.SHM_A_CPU_RANK_BYTES, machine.host.shm.free_bytes
    seen = f"{size(free)} free in /dev/shm; {ranks} CPU rank{'s' * (ranks > 1)} take {size(need)}"
    if free >= need:
        return ok(seen)
    return problem(
        f"{seen} (66 MiB each, deepspeed/ops/csrc/cpu/comm/shm.cpp).",
        "Remove stale buffers (listed on 4 · Machine), use fewer ranks, or give the container more: "
        "docker run --shm-size=2g …",
    )


def gpus(question: Question) -> Verdict | None:
    launch, machine = question.launch, question.around.machine
    if launch.elsewhere or not launch.gpu_indices:
        return _too_few(machine, launch.ranks) if machine.gpus and not launch.elsewhere else None
    if not machine.gpus:
        return warning(
            f"GPU {_listed(launch.gpu_indices)} was selected, but no NVIDIA driver responds.",
            "Check nvidia-smi; without a GPU, enter a number of ranks instead.",
        )
    missing = [index for index in launch.gpu_indices if index not in {gpu.index for gpu in machine.gpus}]
    if missing:
        return problem(
            f"GPU {_listed(missing)} was selected; this machine has "
            f"{_listed([gpu.index for gpu in machine.gpus])}. The "
            "launcher stops with “No slot specified on host 'localhost'”.",
            "Select GPUs that nvidia-smi lists.",
        )
    return _free(question)


def _too_few(machine: Machine, ranks: int) -> Verdict | None:
    if ranks <= len(machine.gpus):
        return None
    return problem(
        f"{ranks} ranks were requested, but this machine has {len(machine.gpus)} GPU{'s' * (len(machine.gpus) > 1)}.",
        "Use as many ranks as there are GPUs.",
    )


def _free(question: Question) -> Verdict | None:
    chosen = Machine(question.around.machine.host, question.gpus)
    verdict = host_checks.busy(chosen)
    if verdict is not None and verdict.status is Status.OK:
        return ok(", ".join(_room(gpu) for gpu in question.gpus if gpu.free_bytes is not None) + " free")
    return verdict


def _room(gpu: Gpu) -> str:
    return f"GPU {gpu.index}: {size(gpu.free_bytes or 0)} of {size(gpu.memory_bytes or 0)}"


def _listed(indices: list[int] | tuple[int, ...]) -> str:
    return ", ".join(str(index) for index in indices)


def cores(question: Question) -> Verdict | None:
    machine, ranks = question.around.machine, question.launch.ranks
    if machine.gpus or question.launch.elsewhere or machine.host.cores_usable is None:
        return None
    if ranks <= machine.host.cores_usable:
        return ok(f"{ranks} of {machine.host.cores_usable:g} usable cores")
    return warning(
        f"{ranks} ranks share {machine.host.cores_usable:g} usable cores, so training is slow.",
        "Use at most as many ranks as cores.",
    )


def port(question: Question) -> Verdict | None:
    number = question.launch.master_port
    if number is None or question.launch.elsewhere:
        return None
    if not question.around.port_taken:
        return ok(f"{number} is free")
    return problem(
        f"{number}: another program uses it; torch stops with “address already in use”.",
        "Enter another master port, or leave it empty to use a free one.",
    )


def checkpoints(question: Question) -> Verdict | None:
    """Room where the script writes, for one checkpoint."""
    disk, model = question.around.output_disk, question.around.model
    if disk is None or question.launch.elsewhere:
        return None
    seen = f"{size(disk.free_bytes)} free in {question.around.output}"
    advice = "Free some space, or write elsewhere (--output_dir)."
    if disk.free_bytes < host_checks.DISK_FULL_BYTES:
        return problem(f"{seen}; the run writes there.", advice)
    if _saves_nothing(question):
        return ok(f"{seen}; --save_strategy no")
    if model.parameters is None or question.around.script.trains_a_part:
        enough = disk.free_bytes >= host_checks.DISK_FOR_A_CHECKPOINT_BYTES
        few = f"{seen}; a checkpoint of a 250 million parameter model takes {size(4 << 30)}."
        return ok(f"{seen}; the checkpoint size is unknown") if enough else warning(few, advice)
    need = model.parameters * CHECKPOINT_BYTES
    told = f"one checkpoint of {spelled(model.parameters)} parameters takes about {size(need)}"
    if disk.free_bytes >= need:
        return ok(f"{seen}; {told}")
    sure = disk.free_bytes < model.parameters * CHECKPOINT_LEAST_BYTES and question.launch.reader is Integration.HF
    return (problem if sure else warning)(f"{seen}; {told} (weights, and Adam's states in fp32).", advice)


def _saves_nothing(question: Question) -> bool:
    return value_of(question.launch.arguments, ("--save_strategy",)) == "no"


def runs_disk(question: Question) -> Verdict | None:
    """Where dsgui keeps what the run prints and logs."""
    disk = question.around.machine.host.runs_disk
    if disk is None:
        return None
    seen = f"{size(disk.free_bytes)} free in {disk.path}"
    if disk.free_bytes >= host_checks.DISK_FULL_BYTES:
        return ok(seen)
    return problem(f"{seen}, where dsgui keeps a run’s output.", "Free some space, or use another --runs-dir.")
