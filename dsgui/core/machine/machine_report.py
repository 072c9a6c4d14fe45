"""The machine report for a person (text) or a program (JSON): checks first, then readings in groups."""

import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Disk, Environment, Host, Machine, Tool
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.sizes import size
from dsgui.core.texts.saying import Said, listed, said

UNKNOWN = "unknown"
WIDTH = 100
_NO_OP = "deepspeed_not_implemented"  # stands in for what an accelerator lacks
_COUNTED = {
    Status.PROBLEM: ("problem", "problems"),
    Status.WARNING: ("warning", "warnings"),
    Status.OK: ("passed_one", "passed"),
    Status.UNKNOWN: ("not_checked_one", "not_checked"),
}
_WORDS = {Status.PROBLEM: "PROBLEM", Status.WARNING: "warning", Status.OK: "ok", Status.UNKNOWN: "unknown"}


@dataclass(frozen=True, slots=True)
class Group:
    """A heading and its readings: label and value."""

    title: str
    readings: tuple[tuple[str, str], ...]


def groups(machine: Machine) -> tuple[Group, ...]:
    """All readings so far."""
    environment = machine.environment
    found = [Group("GPUs", _gpus(machine)), Group("This machine", _host(machine.host))]
    if environment:
        found += [
            Group("The training environment", _environment(environment)),
            Group("Programs", _programs(environment)),
        ]
        found += [Group("DeepSpeed’s operators", _ops(environment))] if environment.target.ops else []
    return tuple(found)


def _gpus(machine: Machine) -> tuple[tuple[str, str], ...]:
    if not machine.gpus:
        return (("NVIDIA", "none (no NVIDIA driver found)" if machine.driver is None else "none"),)
    driver = machine.driver
    cuda = "CUDA up to {}.{}".format(*driver.cuda) if driver and driver.cuda else ""
    first = (("Driver", ", ".join(filter(None, (driver.version, cuda))) if driver else UNKNOWN),)
    return (*first, *((f"GPU {gpu.index}", _gpu(gpu)) for gpu in machine.gpus))


def _gpu(gpu: Gpu) -> str:
    capability = "compute capability {}.{}".format(*gpu.capability) if gpu.capability else ""
    free = f"{size(gpu.free_bytes)} of " if gpu.free_bytes is not None else ""
    memory = f"{free}{size(gpu.memory_bytes)}{' free' if free else ''}" if gpu.memory_bytes else ""
    return ", ".join(filter(None, (gpu.name, memory, capability)))


def _host(host: Host) -> tuple[tuple[str, str], ...]:
    return (
        ("CPU", host.cpu_model or UNKNOWN),
        ("Cores", _cores(host)),
        ("Memory", _of(host.memory_available_bytes, host.memory_bytes)),
        ("Memory limit", size(host.memory_limit_bytes) if host.memory_limit_bytes is not None else "none"),
        ("Swap", _known(host.swap_bytes) if host.swap_bytes else "none"),
        ("/dev/shm", _disk(host.shm) if host.shm else "none"),
        ("Locked memory", _memlock(host)),
        ("Open files", f"{host.open_files:,} per process" if host.open_files is not None else "no limit"),
        ("Runs", _place(host.runs_disk)),
        ("Compiled operators", _place(host.builds_disk)),
        ("InfiniBand", ", ".join(host.infiniband) or "none"),
    )


def _cores(host: Host) -> str:
    if host.cores is None or host.cores_usable is None:
        return UNKNOWN
    return f"{host.cores_usable:g} of {host.cores} usable here"


def _memlock(host: Host) -> str:
    if host.memlock_bytes is None:
        return "no limit"
    return size(host.memlock_bytes) + (", no limit for this user (CAP_IPC_LOCK)" if host.locks_freely else "")


def _known(count: int | None) -> str:
    return UNKNOWN if count is None else size(count)


def _of(free: int | None, total: int | None) -> str:
    return f"{_known(free)} of {_known(total)} available"


def _disk(disk: Disk) -> str:
    return f"{size(disk.free_bytes)} of {size(disk.total_bytes)} free"


def _place(disk: Disk | None) -> str:
    return f"{disk.path}: {_disk(disk)}" if disk else UNKNOWN


def _environment(environment: Environment) -> tuple[tuple[str, str], ...]:
    target = environment.target
    packages = ("deepspeed", "torch", "transformers", "accelerate", "datasets")
    return (
        ("Python", f"{target.python_version} ({target.python})"),
        *((name, target.version(name) or "not installed") for name in packages),
        ("torch built for", _built_for(environment)),
        ("CUDA toolkit", _toolkit(environment)),
        ("Accelerator", _accelerator(environment)),
    )


def _built_for(environment: Environment) -> str:
    torch = environment.torch
    if torch is None:
        return UNKNOWN
    build = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "CPU"
    return build if torch.usable or build == "CPU" else f"{build}, not usable: {torch.why_not}"


def _toolkit(environment: Environment) -> str:
    release = environment.toolkit_release or "no nvcc"
    return f"{release} ({environment.toolkit_home})" if environment.toolkit_home else "none that torch would use"


def _accelerator(environment: Environment) -> str:
    target = environment.target
    if target.accelerator is None:
        return UNKNOWN
    dtypes = [f"{'' if has else 'no '}{name}" for name, has in (("bf16", target.bf16), ("fp16", target.fp16))]
    return f"{target.accelerator} ({', '.join(dtypes)})"


def _programs(environment: Environment) -> tuple[tuple[str, str], ...]:
    names = (("C++ compiler", "compiler"), ("ninja", "ninja"), ("nvcc", "nvcc"), ("ssh", "ssh"), ("pdsh", "pdsh"))
    found = ((label, _tool(environment.tool(name)) or UNKNOWN) for label, name in names)
    exists = {True: environment.headers_path, False: "not found", None: UNKNOWN}[environment.has_headers]
    return (*found, ("Python headers", exists))


def _tool(tool: Tool | None) -> str:
    """A program, as an entry in a list of readings."""
    if tool is None:
        return ""
    if not tool.path:
        return "not found"
    return f"{tool.version or 'does not start'} ({tool.path})"


def _ops(environment: Environment) -> tuple[tuple[str, str], ...]:
    return tuple(
        (
            op.name,
            "built in" if op.installed else "can be compiled" if op.compatible else f"no: {op.first_reason or UNKNOWN}",
        )
        for op in environment.target.ops or ()
        if op.name != _NO_OP
    )


def counted(status: Status, count: int) -> Said:
    """`2 warnings`, `1 check passed`."""
    one, several = _COUNTED[status]
    return said("check_counts", one) if count == 1 else said("check_counts", several, count=str(count))


def summary(rows: Sequence[Row]) -> str:
    """`1 problem, 2 warnings`, or “all checks passed”."""
    counts = [(status, sum(row.status is status for row in rows)) for status in (Status.PROBLEM, Status.WARNING)]
    told = [counted(status, count) for status, count in counts if count]
    return str(listed(told) if told else said("check_counts", "all_passed"))


def as_text(machine: Machine, rows: Sequence[Row]) -> str:
    """The checks, worst first, then the readings; the values of a group are aligned."""
    lines = ["Checks", *rows_as_lines(rows)]
    for group in groups(machine):
        widest = max(len(label) for label, _ in group.readings)
        lines += ["", group.title]
        for label, value in group.readings:
            lines += _hanging(f"  {label.ljust(widest)}  ", value)
    return "\n".join([*lines, "", f"doctor: {summary(rows)}"]) + "\n"


def rows_as_lines(rows: Sequence[Row]) -> list[str]:
    """Status, title and what was seen, in columns."""
    return [line for row in rows for line in _row_lines(row, rows)]


def _row_lines(row: Row, rows: Sequence[Row]) -> list[str]:
    widest = max(len(str(other.title)) for other in rows)
    head = f"  {_WORDS[row.status]:<7}  {str(row.title).ljust(widest)}  "
    told = [row.seen, *filter(None, (row.advice,))]
    lines = _hanging(head, " ".join(told))
    return [*lines, f"{' ' * len(head)}$ {row.command}"] if row.command else lines


def _hanging(head: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(text, max(WIDTH - len(head), 40), break_long_words=False, break_on_hyphens=False) or [""]
    return [head + wrapped[0], *(" " * len(head) + line for line in wrapped[1:])]


def as_json(machine: Machine, rows: Sequence[Row]) -> str:
    """Everything read, and the rows of the checks; bytes are integers, null means unknown or no limit."""
    answer = {
        "ok": all(row.status is not Status.PROBLEM for row in rows),
        "checks": [row.to_json() for row in rows],
        "problem": machine.problem or None,
        "host": asdict(machine.host),
        "driver": asdict(machine.driver) if machine.driver else None,
        "gpus": [asdict(gpu) for gpu in machine.gpus],
        "environment": asdict(machine.environment) if machine.environment else None,
    }
    return json.dumps(answer, indent=2) + "\n"


FORMATS: dict[str, Callable[[Machine, Sequence[Row]], str]] = {"text": as_text, "json": as_json}
