"""What a run on this machine would trip over: one table of checks, each a sentence on what was seen and what to do.

A check that has nothing to judge (no GPU, not asked yet) gives no row. Thresholds name where they come from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dsgui.core.hardware import FP16_CAPABILITY, GIB, NATIVE_BF16_CAPABILITY, Gpu, Op
from dsgui.core.machine import Disk, Environment, Machine, Tool, release

MIB = 1 << 20
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
# deepspeed/ops/op_builder/builder.py: cuda_minor_mismatch_ok. Within these, any minor release will do.
MINOR_MAY_DIFFER = (10, 11, 12)
BUSY_SHARE = 0.5


class Status(Enum):
    """problem: an ordinary run fails · warning: some runs fail or are slow · ok."""

    PROBLEM = "problem"
    WARNING = "warning"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Row:
    """One judgement: what was `seen`, what to do about it, and the exact command where there is one."""

    check: str
    title: str
    status: Status
    seen: str
    advice: str = ""
    command: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row before its check has stamped it."""

    status: Status
    seen: str
    advice: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of the table. `judge` gives None where there is nothing to judge."""

    id: str
    title: str
    source: str
    judge: Callable[[Machine], Verdict | None]

    def row(self, machine: Machine) -> Row | None:
        verdict = self.judge(machine)
        if verdict is None:
            return None
        return Row(self.id, self.title, verdict.status, verdict.seen, verdict.advice, verdict.command, self.source)


def check(machine: Machine) -> tuple[Row, ...]:
    """Every row there is, the worst first."""
    rows = [row for row in (entry.row(machine) for entry in CHECKS) if row]
    return tuple(sorted(rows, key=lambda row: list(Status).index(row.status)))


def ok(seen: str) -> Verdict:
    return Verdict(Status.OK, seen)


def warning(seen: str, advice: str, command: str = "") -> Verdict:
    return Verdict(Status.WARNING, seen, advice, command)


def problem(seen: str, advice: str, command: str = "") -> Verdict:
    return Verdict(Status.PROBLEM, seen, advice, command)


def size(count: int) -> str:
    """`1.5 GiB`, `8 MiB`: for sentences."""
    unit, name = (GIB, "GiB") if count >= GIB else (MIB, "MiB")
    return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"


def of_environment(judge: Callable[[Environment], Verdict | None]) -> Callable[[Machine], Verdict | None]:
    """A check of what the target answered; nothing before it has."""
    return lambda machine: judge(machine.environment) if machine.environment else None


def _answered(machine: Machine) -> Verdict | None:
    if machine.problem:
        return problem(machine.problem, "Nothing is known of the environment that trains: see --python.")
    return None


def _parts(environment: Environment) -> Verdict | None:
    if not environment.problems:
        return None
    return problem(
        " · ".join(environment.problems), "The same import fails in a run: repair the environment, then refresh."
    )


def _needed(environment: Environment) -> Verdict:
    missing = [name for name in ("torch", "deepspeed") if not environment.target.version(name)]
    if missing:
        return problem(
            f"{environment.target.python} has no {' and no '.join(missing)}.",
            "Install it there, or start dsgui with --python and an interpreter that has it.",
            f"{environment.target.python} -m pip install {' '.join(missing)}",
        )
    return ok(", ".join(f"{name} {environment.target.version(name)}" for name in ("torch", "deepspeed")))


def _trainer(environment: Environment) -> Verdict:
    missing = [name for name in ("transformers", "accelerate") if not environment.target.version(name)]
    if missing:
        return warning(
            f"{environment.target.python} has no {' and no '.join(missing)}.",
            "Only the HF Trainer needs them, and with it the bundled recipe.",
            f"{environment.target.python} -m pip install {' '.join(missing)}",
        )
    return ok(", ".join(f"{name} {environment.target.version(name)}" for name in ("transformers", "accelerate")))


def _program(name: str, what: str, advice: str, command: str) -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        tool = environment.tool(name)
        if tool is None:
            return None
        if not tool.path:
            return problem(f"No {tool.command} in the PATH of a run. {what}", advice, command)
        if not tool.told:
            return problem(f"{tool.path} does not start. {what}", advice, command)
        return ok(f"{tool.version} ({tool.path})")

    return judge


_COMPILES = "DeepSpeed compiles its operators when they are first used and stops without it."
_compiler = _program(
    "compiler", _COMPILES, "Install a C++ compiler, or name one in CXX before dsgui starts.", "sudo apt install g++"
)
_ninja = _program("ninja", _COMPILES, "Install it in the environment that trains.", "pip install ninja")


def _headers(environment: Environment) -> Verdict | None:
    if environment.has_headers is None:
        return None
    if environment.has_headers:
        return ok(environment.headers_path)
    return problem(
        f"No Python headers: {environment.headers_path} does not exist. {_COMPILES}",
        "Install the headers of this Python.",
        f"sudo apt install python{environment.target.python_version.rpartition('.')[0]}-dev",
    )


def _cuda(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    if torch is None or not (machine.gpus or torch.cuda or torch.hip):
        return None
    if torch.usable:
        return ok(f"torch for {_build(torch.cuda, torch.hip)} sees its device")
    if not torch.cuda and not torch.hip:
        return problem(
            f"This machine has {len(machine.gpus)} GPU{'s' * (len(machine.gpus) > 1)}, and torch is a build for CPUs.",
            "Install a torch built for CUDA: pytorch.org names the command.",
        )
    seen = f"torch is built for {_build(torch.cuda, torch.hip)} and can't use it: {torch.why_not}."
    if not machine.gpus:
        return warning(seen, "Runs here use the CPU. On a machine with a GPU: check its driver with nvidia-smi.")
    return problem(seen, "Check the driver with nvidia-smi, and CUDA_VISIBLE_DEVICES.", "nvidia-smi")


def _build(cuda: str, hip: str) -> str:
    return f"CUDA {cuda}" if cuda else f"ROCm {hip}"


def _driver(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    built = release(torch.cuda) if torch else None
    if machine.driver is None or machine.driver.cuda is None or built is None:
        return None
    newest = "{}.{}".format(*machine.driver.cuda)
    # A driver runs every older CUDA, and later minor releases of its own major one:
    # https://docs.nvidia.com/deploy/cuda-compatibility/
    if machine.driver.cuda[0] >= built[0]:
        return ok(f"driver {machine.driver.version} runs CUDA up to {newest}; torch is built for {built[0]}.{built[1]}")
    return problem(
        f"Driver {machine.driver.version} runs CUDA up to {newest}, and torch is built for {built[0]}.{built[1]}.",
        f"Update the driver, or install a torch built for CUDA {machine.driver.cuda[0]}.",
    )


def _toolkit(environment: Environment) -> Verdict | None:
    torch = environment.torch
    built = release(torch.cuda) if torch else None
    if torch is None or built is None or not torch.usable:
        return None
    found = release(environment.toolkit_release)
    if found is None:
        return problem(
            f"No CUDA toolkit with nvcc ({environment.toolkit_home or 'CUDA_HOME is not set'}): DeepSpeed can't "
            "compile FusedAdam or DeepSpeedCPUAdam for the GPU.",
            f"Install the CUDA {torch.cuda} toolkit and set CUDA_HOME, or use a torch optimizer (“torch_adam”: true).",
        )
    versions = f"nvcc {found[0]}.{found[1]} in {environment.toolkit_home}, torch built for CUDA {built[0]}.{built[1]}"
    if found == built or (found[0] == built[0] and found[0] in MINOR_MAY_DIFFER):
        return ok(versions)
    return problem(
        f"{versions}: DeepSpeed refuses to compile with a CUDA that is not torch's.",
        f"Point CUDA_HOME to a CUDA {built[0]}.{built[1]} toolkit. DS_SKIP_CUDA_CHECK=1 tries it all the same.",
    )


def _op(name: str, needed_for: str, advice: str, command: str = "") -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        op = environment.op(name)
        if op is None:
            return None
        if op.usable:
            return ok(f"{name} {'is built in' if op.installed else 'can be compiled when first used'}")
        return warning(f"{name} can't be compiled{_reason(op)}. {needed_for}", advice, command)

    return judge


def _reason(op: Op) -> str:
    return f": {op.first_reason}" if op.reason else ""


_async_io = _op(
    "async_io",
    "Offloading to NVMe stops with “Unable to JIT load the async_io op”.",
    "Install libaio with its headers. Nothing else needs it.",
    "sudo apt install libaio-dev",
)
_cpu_adam = _op("cpu_adam", "Offloading the optimizer to the CPU needs it.", "See the compiler and CUDA toolkit above.")


def _shm(machine: Machine) -> Verdict | None:
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
    return _too_small(seen, shm.free_bytes, 2 * SHM_A_CPU_RANK_BYTES, "two ranks on the CPU take 66 MiB each there")


def _too_small(seen: str, have: int, need: int, why: str) -> Verdict:
    if have >= need:
        return ok(seen)
    return problem(
        f"{seen}; {size(need)} are needed: {why}.",
        "In a container start it with more shared memory; elsewhere empty it or make it larger.",
        "docker run --shm-size=2g …",
    )


def _shm_left(machine: Machine) -> Verdict | None:
    left = machine.host.stale_buffers
    if not left:
        return None
    held, count = sum(buffer.bytes for buffer in left), len(left)
    return warning(
        f"Killed runs left {size(held)} of memory in /dev/shm: {count} of DeepSpeed's buffers that no process uses.",
        "Remove them while nothing trains on the CPU.",
        f"rm {_common_start([buffer.path for buffer in left])}*",
    )


def _common_start(paths: list[str]) -> str:
    """What all have in common, up to its last underscore: name, user id and address, not the port."""
    first, last = min(paths), max(paths)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[: first.rfind("_", 0, same) + 1]


def _memlock(machine: Machine) -> Verdict | None:
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


def _open_files(machine: Machine) -> Verdict | None:
    limit = machine.host.open_files
    if limit is None or limit >= OPEN_FILES:
        return ok("no limit" if limit is None else str(limit))
    return warning(
        f"A process may open {limit} files; DataLoader workers and NVMe offload open many.",
        "Raise the limit before dsgui starts.",
        "ulimit -n 65536",
    )


def _memory(machine: Machine) -> Verdict | None:
    host = machine.host
    if host.memory_bytes is None:
        return None
    if host.memory_limit_bytes is None or host.memory_limit_bytes >= host.memory_bytes:
        return ok(f"all {size(host.memory_bytes)} may be used")
    return warning(
        f"Only {size(host.memory_limit_bytes)} of {size(host.memory_bytes)} may be used here (control group): a run "
        "that needs more is killed (exit −9) though the machine has memory left.",
        "Plan offloading with the smaller number, or raise the limit of the container or job.",
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


def _locks(machine: Machine) -> Verdict | None:
    locks = machine.host.stale_locks
    if not locks:
        return None
    return warning(
        f"A killed build left {'locks' if len(locks) > 1 else 'a lock'}: {', '.join(locks)}. Every later run that "
        "needs the operator waits for ever.",
        "dsgui removes it when it starts a run; for runs started elsewhere remove it now.",
        "rm " + " ".join(f"'{lock}'" for lock in locks),
    )


def _bf16(machine: Machine) -> Verdict | None:
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


def _busy(machine: Machine) -> Verdict | None:
    known = [gpu for gpu in machine.gpus if gpu.memory_bytes and gpu.free_bytes is not None]
    busy = [gpu for gpu in known if (gpu.free_bytes or 0) < (gpu.memory_bytes or 0) * BUSY_SHARE]
    if not known:
        return None
    if not busy:
        return ok("no GPU is more than half full")
    full = ", ".join(
        f"GPU {gpu.index}: {size(gpu.free_bytes or 0)} of {size(gpu.memory_bytes or 0)} free" for gpu in busy
    )
    return warning(full, "Another program holds this memory: nvidia-smi lists which.", "nvidia-smi")


_BUILDER = "deepspeed/ops/op_builder/builder.py"
CHECKS: tuple[Check, ...] = (
    Check("target", "Environment", "", _answered),
    Check("imports", "Imports", "", of_environment(_parts)),
    Check("packages", "torch and DeepSpeed", "", of_environment(_needed)),
    Check("trainer", "HF Trainer", "", of_environment(_trainer)),
    Check("cuda", "torch and the GPU", "torch.cuda", _cuda),
    Check("driver", "Driver", "docs.nvidia.com/deploy/cuda-compatibility", _driver),
    Check("toolkit", "CUDA toolkit", f"{_BUILDER}: assert_no_cuda_mismatch", of_environment(_toolkit)),
    Check("compiler", "C++ compiler", f"torch/utils/cpp_extension.py, {_BUILDER}", of_environment(_compiler)),
    Check("ninja", "ninja", f"{_BUILDER}: jit_load", of_environment(_ninja)),
    Check("headers", "Python headers", "torch/utils/cpp_extension.py", of_environment(_headers)),
    Check("cpu_adam", "CPU offload", "deepspeed/ops/adam/cpu_adam.py", of_environment(_cpu_adam)),
    Check("async_io", "NVMe offload", "deepspeed/ops/op_builder/async_io.py", of_environment(_async_io)),
    Check("locks", "Left-over locks", "torch/utils/file_baton.py", _locks),
    Check("memory", "Memory limit", "man 7 cgroups", _memory),
    Check("shm", "Shared memory", "deepspeed/env_report.py, deepspeed/ops/csrc/cpu/comm/shm.cpp", _shm),
    Check("shm_left", "Left-over buffers", "deepspeed/ops/csrc/cpu/comm/shm.cpp", _shm_left),
    Check("memlock", "Locked memory", "deepspeed/ops/csrc/pin_memory/page_alloc.cpp", _memlock),
    Check("files", "Open files", "", _open_files),
    Check(
        "runs_disk",
        "Disk for runs",
        "",
        _disk(lambda machine: machine.host.runs_disk, "Outputs and checkpoints go there.", DISK_FOR_A_CHECKPOINT_BYTES),
    ),
    Check(
        "builds_disk",
        "Disk for builds",
        "",
        _disk(
            lambda machine: machine.host.builds_disk,
            "Compiled operators go there (TORCH_EXTENSIONS_DIR).",
            DISK_FOR_BUILDS_BYTES,
        ),
    ),
    Check("bf16", "bf16", "developer.nvidia.com/cuda-gpus", _bf16),
    Check("busy", "GPU memory", "", _busy),
)


def has_problem(rows: tuple[Row, ...]) -> bool:
    return any(row.status is Status.PROBLEM for row in rows)


def tool_line(tool: Tool | None) -> str:
    """A program for a list of readings."""
    if tool is None:
        return ""
    if not tool.path:
        return "not found"
    return f"{tool.version or 'does not start'} ({tool.path})"
