"""Checks of the machine: memory, limits, disks, leftovers, GPUs. A check returns None if there is nothing to judge.

Each threshold names its source.
"""

import shlex
from collections.abc import Callable

from dsgui.core.machine.hardware import FP16_CAPABILITY, NATIVE_BF16_CAPABILITY, Gpu
from dsgui.core.machine.machine import Disk, Machine
from dsgui.core.machine.verdicts import Verdict, advise, ok, problem, saw, warning
from dsgui.core.sizes import MIB, file_size, size
from dsgui.core.texts.saying import Said, listed

# deepspeed/env_report.py: get_shm_size warns below this and points to NCCL's advice on shared memory in containers.
SHM_FOR_NCCL_BYTES = 512 * MIB
# deepspeed/ops/csrc/cpu/comm/shm.cpp: allreduce_workspace, 2 × 1 MiB + 2 × 32 MiB a rank, written whole at the start.
SHM_A_CPU_RANK_BYTES = 66 * MIB
# deepspeed/runtime/zero/offload_config.py: buffer_count 5 × buffer_size 1e8 elements of 2 bytes, the defaults of
# offload_param to NVMe, all of it locked (0.19.6 and newer).
NVME_BUFFERS_BYTES = 5 * 10**8 * 2
# One checkpoint of a 250 M model with Adam: 250 M × (2 + 12) bytes, rounded up (ZeRO paper, section 3.1).
DISK_FOR_A_CHECKPOINT_BYTES = 4 * 10**9
# cpu_adam and fused_adam took 50 MB each when built; all that DeepSpeed may build stays below this.
DISK_FOR_BUILDS_BYTES = 500 * 10**6
DISK_FULL_BYTES = 200 * 10**6
# Linux' own default; each DataLoader worker and each NVMe file needs some.
OPEN_FILES = 1024
BUSY_SHARE = 0.5


def shm(machine: Machine) -> Verdict | None:
    shm = machine.host.shm
    if shm is None:
        return problem(saw("shm.none"), advise("shm.mount"), "sudo mount -t tmpfs -o size=2g tmpfs /dev/shm")
    given = {"free": size(shm.free_bytes), "total": size(shm.total_bytes)}
    if machine.gpus and shm.total_bytes < SHM_FOR_NCCL_BYTES:
        return _too_small(saw("shm.too_small_for_nccl", **given, need=size(SHM_FOR_NCCL_BYTES)))
    if not machine.gpus and shm.free_bytes < 2 * SHM_A_CPU_RANK_BYTES:
        return _too_small(saw("shm.too_small_for_ranks", **given, need=size(2 * SHM_A_CPU_RANK_BYTES)))
    return ok(saw("shm.free", **given))


def _too_small(seen: Said) -> Verdict:
    return problem(seen, advise("shm.enlarge"), "docker run --shm-size=2g …")


def shm_left(machine: Machine) -> Verdict | None:
    left = machine.host.stale_buffers
    if not left:
        return None
    held, count = sum(buffer.bytes for buffer in left), len(left)
    return warning(
        saw("shm_left.buffer", held=size(held))
        if count == 1
        else saw("shm_left.buffers", held=size(held), count=str(count)),
        advise("shm_left.remove"),
        "rm " + shlex.join(sorted(buffer.path for buffer in left)),  # a pattern would name those of a run that goes on
    )


def memlock(machine: Machine) -> Verdict | None:
    limit = machine.host.memlock_bytes
    if limit is None or limit >= NVME_BUFFERS_BYTES:
        return ok(saw("memlock.no_limit") if limit is None else saw("memlock.limit", limit=size(limit)))
    if machine.host.locks_freely:
        return ok(saw("memlock.does_not_hold", limit=size(limit)))
    seen = saw("memlock.too_low", limit=size(limit), need=size(NVME_BUFFERS_BYTES))
    return warning(seen, advise("memlock.raise"), "ulimit -l unlimited")


def open_files(machine: Machine) -> Verdict | None:
    limit = machine.host.open_files
    if limit is None or limit >= OPEN_FILES:
        return ok(saw("files.no_limit") if limit is None else saw("files.limit", limit=str(limit)))
    return warning(saw("files.few", limit=str(limit)), advise("files.raise"), "ulimit -n 65536")


def memory(machine: Machine) -> Verdict | None:
    host = machine.host
    if host.memory_bytes is None:
        return None
    if host.memory_limit_bytes is None or host.memory_limit_bytes >= host.memory_bytes:
        return ok(saw("memory.all", memory=size(host.memory_bytes)))
    seen = saw("memory.limited", limit=size(host.memory_limit_bytes), memory=size(host.memory_bytes))
    return warning(seen, advise("memory.plan"))


def _disk(which: Callable[[Machine], Disk | None], what: Said, enough: int) -> Callable[[Machine], Verdict | None]:
    def judge(machine: Machine) -> Verdict | None:
        disk = which(machine)
        if disk is None:
            return None
        seen = saw("disk.free", free=file_size(disk.free_bytes), path=disk.path)
        if disk.free_bytes >= enough:
            return ok(seen)
        advice = (what, advise("disk.free_some"))
        return problem(seen, advice) if disk.free_bytes < DISK_FULL_BYTES else warning(seen, advice)

    return judge


runs_disk = _disk(lambda machine: machine.host.runs_disk, advise("runs_disk.what_for"), DISK_FOR_A_CHECKPOINT_BYTES)
builds_disk = _disk(lambda machine: machine.host.builds_disk, advise("builds_disk.what_for"), DISK_FOR_BUILDS_BYTES)


def locks(machine: Machine) -> Verdict | None:
    left = machine.host.stale_locks
    if not left:
        return None
    lock = saw("locks.one", lock=left[0]) if len(left) == 1 else saw("locks.several", locks=listed(left))
    return warning((lock, saw("locks.hangs")), advise("locks.remove"), "rm " + " ".join(f"'{one}'" for one in left))


def bf16(machine: Machine) -> Verdict | None:
    known = [gpu for gpu in machine.gpus if gpu.capability]
    old = [gpu for gpu in known if (gpu.capability or (0, 0)) < NATIVE_BF16_CAPABILITY]
    if not known:
        return None
    if not old:
        return ok(saw("bf16.every_gpu"))
    without = any((gpu.capability or (0, 0)) < FP16_CAPABILITY for gpu in old)
    named = listed([_named(gpu) for gpu in old])
    return warning(saw("bf16.none", gpus=named), advise("bf16.use_fp32") if without else advise("bf16.use_fp16"))


def _named(gpu: Gpu) -> Said:
    capability = "{}.{}".format(*(gpu.capability or (0, 0)))
    return saw("bf16.gpu", index=str(gpu.index), name=gpu.name, capability=capability)


def busy(machine: Machine) -> Verdict | None:
    known = [gpu for gpu in machine.gpus if gpu.memory_bytes and gpu.free_bytes is not None]
    full = [gpu for gpu in known if (gpu.free_bytes or 0) < (gpu.memory_bytes or 0) * BUSY_SHARE]
    if not known:
        return None
    if not full:
        return ok(saw("busy.none"))
    return warning(saw("busy.full", gpus=listed(map(_free, full))), advise("busy.see"), "nvidia-smi")


def _free(gpu: Gpu) -> Said:
    free, total = size(gpu.free_bytes or 0), size(gpu.memory_bytes or 0)
    return saw("busy.gpu", index=str(gpu.index), free=free, total=total)
