"""Checks of the machine: memory, limits, disks, leftovers, GPUs. A check returns None if there is nothing to judge.

Each threshold names its source.
"""

from collections.abc import Callable

from dsgui.core.machine.hardware import FP16_CAPABILITY, NATIVE_BF16_CAPABILITY, Gpu
from dsgui.core.machine.machine import Disk, Machine
from dsgui.core.machine.verdicts import Verdict, ok, problem, warning
from dsgui.core.sizes import GIB, MIB, size

# deepspeed/env_report.py: get_shm_size warns below this and points to NCCL's advice on shared memory in containers.
SHM_FOR_NCCL_BYTES = 512 * MIB
# deepspeed/ops/csrc/cpu/comm/shm.cpp: allreduce_workspace, 2 × 1 MiB + 2 × 32 MiB a rank, written whole at the start.
SHM_A_CPU_RANK_BYTES = 66 * MIB
# deepspeed/runtime/zero/offload_config.py: buffer_count 5 × buffer_size 1e8 elements of 2 bytes, the defaults of
# offload_param to NVMe, all of it locked (0.19.6 and newer).
NVME_BUFFERS_BYTES = 5 * 10**8 * 2
# One checkpoint of a 250 M model with Adam: 250 M × (2 + 12) bytes, rounded up (ZeRO paper, section 3.1).
DISK_FOR_A_CHECKPOINT_BYTES = 4 * GIB
# cpu_adam and fused_adam took 50 MB each when built; all that DeepSpeed may build stays below this.
DISK_FOR_BUILDS_BYTES = 512 * MIB
DISK_FULL_BYTES = 200 * MIB
# Linux' own default; each DataLoader worker and each NVMe file needs some.
OPEN_FILES = 1024
BUSY_SHARE = 0.5


def shm(machine: Machine) -> Verdict | None:
    shm = machine.host.shm
    if shm is None:
        return problem(
            "There is no /dev/shm.",
            "Ranks exchange data there: mount a tmpfs.",
            "sudo mount -t tmpfs -o size=2g tmpfs /dev/shm",
        )
    seen = f"/dev/shm: {size(shm.free_bytes)} of {size(shm.total_bytes)} free"
    if machine.gpus:
        return _too_small(seen, shm.total_bytes, SHM_FOR_NCCL_BYTES, "NCCL and DataLoader workers share memory there")
    return _too_small(seen, shm.free_bytes, 2 * SHM_A_CPU_RANK_BYTES, "two CPU ranks take 66 MiB each")


def _too_small(seen: str, have: int, need: int, why: str) -> Verdict:
    if have >= need:
        return ok(seen)
    return problem(
        f"{seen}; {size(need)} are needed: {why}.",
        "In a container, start it with more shared memory; otherwise free some or enlarge it.",
        "docker run --shm-size=2g …",
    )


def shm_left(machine: Machine) -> Verdict | None:
    left = machine.host.stale_buffers
    if not left:
        return None
    held, count = sum(buffer.bytes for buffer in left), len(left)
    return warning(
        f"Killed runs left {size(held)} of memory in /dev/shm: {count} unused DeepSpeed buffers.",
        "Remove them while no CPU run is active.",
        f"rm {_common_start([buffer.path for buffer in left])}*",
    )


def _common_start(paths: list[str]) -> str:
    """Their common prefix, up to its last underscore: name, user id and address, without the port."""
    first, last = min(paths), max(paths)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[: first.rfind("_", 0, same) + 1]


def memlock(machine: Machine) -> Verdict | None:
    limit = machine.host.memlock_bytes
    if limit is None or limit >= NVME_BUFFERS_BYTES:
        return ok("no limit" if limit is None else size(limit))
    if machine.host.locks_freely:
        return ok(f"{size(limit)}, which does not hold for this user (CAP_IPC_LOCK)")
    return warning(
        f"A process may lock {size(limit)} of memory. Offloading parameters to NVMe locks {size(NVME_BUFFERS_BYTES)} "
        "by default (DeepSpeed 0.19.6 and newer) and aborts; InfiniBand registers memory the same way.",
        "Raise the limit (ulimit -l, /etc/security/limits.conf; docker run --ulimit memlock=-1), or lower "
        "offload_param.buffer_size.",
        "ulimit -l unlimited",
    )


def open_files(machine: Machine) -> Verdict | None:
    limit = machine.host.open_files
    if limit is None or limit >= OPEN_FILES:
        return ok("no limit" if limit is None else str(limit))
    return warning(
        f"A process may open {limit} files; DataLoader workers and NVMe offload open many.",
        "Raise the limit before dsgui starts.",
        "ulimit -n 65536",
    )


def memory(machine: Machine) -> Verdict | None:
    host = machine.host
    if host.memory_bytes is None:
        return None
    if host.memory_limit_bytes is None or host.memory_limit_bytes >= host.memory_bytes:
        return ok(f"all {size(host.memory_bytes)} may be used")
    return warning(
        f"Only {size(host.memory_limit_bytes)} of {size(host.memory_bytes)} may be used here (control group): a run "
        "that needs more is killed (exit −9) even if the machine has memory left.",
        "Plan offloading for the smaller number, or raise the limit of the container or job.",
    )


def _disk(which: Callable[[Machine], Disk | None], what: str, enough: int) -> Callable[[Machine], Verdict | None]:
    def judge(machine: Machine) -> Verdict | None:
        disk = which(machine)
        if disk is None:
            return None
        seen = f"{size(disk.free_bytes)} free in {disk.path}"
        if disk.free_bytes >= enough:
            return ok(seen)
        advice = f"{what} Free some space."
        return problem(seen, advice) if disk.free_bytes < DISK_FULL_BYTES else warning(seen, advice)

    return judge


runs_disk = _disk(
    lambda machine: machine.host.runs_disk, "Outputs and checkpoints go there.", DISK_FOR_A_CHECKPOINT_BYTES
)
builds_disk = _disk(
    lambda machine: machine.host.builds_disk,
    "Compiled operators go there (TORCH_EXTENSIONS_DIR).",
    DISK_FOR_BUILDS_BYTES,
)


def locks(machine: Machine) -> Verdict | None:
    left = machine.host.stale_locks
    if not left:
        return None
    return warning(
        f"A killed build left {'locks' if len(left) > 1 else 'a lock'}: {', '.join(left)}. Every later run that "
        "needs the operator hangs.",
        "dsgui removes it when it starts a run; for runs started elsewhere remove it now.",
        "rm " + " ".join(f"'{lock}'" for lock in left),
    )


def bf16(machine: Machine) -> Verdict | None:
    known = [gpu for gpu in machine.gpus if gpu.capability]
    old = [gpu for gpu in known if (gpu.capability or (0, 0)) < NATIVE_BF16_CAPABILITY]
    if not known:
        return None
    if not old:
        return ok("every GPU has bf16")
    without = any((gpu.capability or (0, 0)) < FP16_CAPABILITY for gpu in old)
    return warning(
        f"No bf16 arithmetic on {_named(old)}: torch may emulate it, slowly.",
        "Use fp32 there: DeepSpeed refuses fp16 below compute capability 7.0."
        if without
        else "Use fp16 there, or fp32 for models trained in bf16 (T5, Gemma).",
    )


def _named(gpus: list[Gpu]) -> str:
    return ", ".join(f"GPU {gpu.index} ({gpu.name}, {'{}.{}'.format(*(gpu.capability or (0, 0)))})" for gpu in gpus)


def busy(machine: Machine) -> Verdict | None:
    known = [gpu for gpu in machine.gpus if gpu.memory_bytes and gpu.free_bytes is not None]
    full = [gpu for gpu in known if (gpu.free_bytes or 0) < (gpu.memory_bytes or 0) * BUSY_SHARE]
    if not known:
        return None
    if not full:
        return ok("no GPU is more than half full")
    seen = [f"GPU {gpu.index}: {size(gpu.free_bytes or 0)} of {size(gpu.memory_bytes or 0)} free" for gpu in full]
    return warning(", ".join(seen), "Another program holds this memory: see nvidia-smi.", "nvidia-smi")
