"""The machine report for a person (text) or a program (JSON): checks first, then readings in groups."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from dsgui.core.machine.hardware import Gpu, Op
from dsgui.core.machine.machine import Disk, Environment, Host, Machine, Tool
from dsgui.core.machine.verdicts import Row, Status, how_many
from dsgui.core.sizes import file_size, size
from dsgui.core.texts.columns import padded, width, wrapped
from dsgui.core.texts.saying import Said, in_row, listed, said, words

WIDTH = 100
_NO_OP = "deepspeed_not_implemented"  # stands in for what an accelerator lacks
_COUNTED = {
    Status.PROBLEM: ("problem", "problems"),
    Status.WARNING: ("warning", "warnings"),
    Status.OK: ("passed_one", "passed"),
    Status.UNKNOWN: ("not_checked_one", "not_checked"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """A heading and its readings: label and value. `lacking`: the labels of what isn't there and may be missed.
    `alike`: of many that are fine and the same what says so, and their labels."""

    title: str
    readings: tuple[tuple[str, str], ...]
    lacking: frozenset[str] = frozenset()
    alike: tuple[tuple[str, frozenset[str]], ...] = ()


def groups(machine: Machine) -> tuple[Group, ...]:
    """All readings so far."""
    environment = machine.environment
    found = [Group(_word("gpus"), _gpus(machine)), Group(_word("host"), _host(machine.host))]
    if environment:
        found += [
            Group(_word("environment"), _environment(environment)),
            Group(_word("programs"), _programs(environment)),
        ]
        found += [_ops(environment)] if environment.target.ops else []
    return tuple(found)


def _gpus(machine: Machine) -> tuple[tuple[str, str], ...]:
    if not machine.gpus:
        return (("NVIDIA", _word("no_driver" if machine.driver is None else "none")),)
    driver = machine.driver
    cuda = _word("cuda_up_to", release="{}.{}".format(*driver.cuda)) if driver and driver.cuda else ""
    first = ((_word("driver"), _listed(driver.version, cuda) if driver else _unknown()),)
    return (*first, *((f"GPU {gpu.index}", _gpu(gpu)) for gpu in machine.gpus))


def _gpu(gpu: Gpu) -> str:
    capability = _word("capability", capability="{}.{}".format(*gpu.capability)) if gpu.capability else ""
    memory = size(gpu.memory_bytes) if gpu.memory_bytes else ""
    if memory and gpu.free_bytes is not None:
        memory = _word("free_of", free=size(gpu.free_bytes), total=memory)
    return _listed(gpu.name, memory, capability)


def _host(host: Host) -> tuple[tuple[str, str], ...]:
    return (
        ("CPU", host.cpu_model or _unknown()),
        (_word("cores"), _cores(host)),
        (_word("memory"), _of(host.memory_available_bytes, host.memory_bytes)),
        (_word("memory_limit"), _word("none") if host.memory_limit_bytes is None else size(host.memory_limit_bytes)),
        (_word("swap"), _known(host.swap_bytes) if host.swap_bytes else _word("none")),
        ("/dev/shm", _shared(host.shm) if host.shm else _word("none")),
        (_word("locked"), _memlock(host)),
        (_word("open_files"), _files(host.open_files)),
        (_word("runs"), _place(host.runs_disk)),
        (_word("compiled"), _place(host.builds_disk)),
        ("InfiniBand", _listed(*host.infiniband) or _word("none")),
    )


def _cores(host: Host) -> str:
    if host.cores is None or host.cores_usable is None:
        return _unknown()
    return _word("usable_of", usable=f"{host.cores_usable:g}", cores=str(host.cores))


def _files(most: int | None) -> str:
    return _word("no_limit") if most is None else _word("per_process", count=f"{most:,}")


def _memlock(host: Host) -> str:
    if host.memlock_bytes is None:
        return _word("no_limit")
    limit = size(host.memlock_bytes)
    return _word("locks_freely", limit=limit) if host.locks_freely else limit


def _known(count: int | None) -> str:
    return _unknown() if count is None else size(count)


def _of(free: int | None, total: int | None) -> str:
    return _word("available_of", free=_known(free), total=_known(total))


def _disk(disk: Disk) -> str:
    return _word("free_of", free=file_size(disk.free_bytes), total=file_size(disk.total_bytes))


def _shared(shm: Disk) -> str:
    """A file system in memory."""
    return _word("free_of", free=size(shm.free_bytes), total=size(shm.total_bytes))


def _place(disk: Disk | None) -> str:
    return _word("disk_at", path=str(disk.path), disk=_disk(disk)) if disk else _unknown()


def _environment(environment: Environment) -> tuple[tuple[str, str], ...]:
    target = environment.target
    packages = ("deepspeed", "torch", "transformers", "accelerate", "datasets")
    return (
        ("Python", f"{target.python_version} ({target.python})"),
        *((name, target.version(name) or _word("not_installed")) for name in packages),
        (_word("built_for"), _built_for(environment)),
        (_word("toolkit"), _toolkit(environment)),
        (_word("accelerator"), _accelerator(environment)),
    )


def _built_for(environment: Environment) -> str:
    torch = environment.torch
    if torch is None:
        return _unknown()
    build = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "CPU"
    return build if torch.usable or build == "CPU" else _word("not_usable", build=build, why=torch.trouble)


def _toolkit(environment: Environment) -> str:
    """What compiles DeepSpeed's operators for a GPU, and how the nvcc among the programs goes with it."""
    nvcc, torch = _release(environment.tool("nvcc")), environment.torch
    if environment.toolkit_home:
        own = environment.toolkit_release or _word("no_nvcc")
        used = f"{own} ({environment.toolkit_home})"
        return used if own == nvcc or not nvcc else _word("toolkit_before", toolkit=used, nvcc=nvcc)
    if torch is not None and not (torch.cuda or torch.hip):
        return _word("toolkit_unused", nvcc=nvcc) if nvcc else _word("toolkit_unneeded")
    return _word("no_toolkit")


def _release(tool: Tool | None) -> str:
    """`13.0` of “Cuda compilation tools, release 13.0, V13.0.88”."""
    return tool.version.partition("release ")[2].partition(",")[0] if tool and tool.path else ""


def _accelerator(environment: Environment) -> str:
    target = environment.target
    if target.accelerator is None:
        return _unknown()
    has = (("bf16", target.bf16), ("fp16", target.fp16))
    dtypes = _listed(*(_word("has_dtype" if it else "no_dtype", dtype=name) for name, it in has))
    return _word("accelerator_with", name=target.accelerator, dtypes=dtypes)


def _programs(environment: Environment) -> tuple[tuple[str, str], ...]:
    names = ((_word("compiler"), "compiler"), ("ninja", "ninja"), ("nvcc", "nvcc"), ("ssh", "ssh"), ("pdsh", "pdsh"))
    found = ((label, _tool(environment.tool(name)) or _unknown()) for label, name in names)
    exists = {True: environment.headers_path, False: _word("not_found"), None: _unknown()}[environment.has_headers]
    return (*found, (_word("headers"), exists))


def _tool(tool: Tool | None) -> str:
    """A program, as an entry in a list of readings."""
    if tool is None:
        return ""
    if not tool.path:
        return _word("not_found")
    return f"{tool.version or _word('no_start')} ({tool.path})"


_CHECKED_OPS = ("async_io", "cpu_adam")


def _ops(environment: Environment) -> Group:
    ops = [op for op in environment.target.ops or () if op.name != _NO_OP]
    lacking = frozenset(op.name for op in ops if not op.usable)
    readings = tuple((op.name, _op(op)) for op in ops)
    return Group(_word("operators"), readings, lacking, tuple(_alike(readings, lacking)))


_MANY = 3


def _alike(readings: Sequence[tuple[str, str]], lacking: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """`7 of 8 can be compiled`."""
    fine = [(label, value) for label, value in readings if label not in lacking]
    for how in dict.fromkeys(value for _, value in fine):
        labels = frozenset(label for label, value in fine if value == how)
        if len(labels) >= _MANY:
            yield _word("op_count", count=str(len(labels)), all=str(len(readings)), how=how), labels


def _op(op: Op) -> str:
    if op.installed or op.compatible:
        return _word("built_in" if op.installed else "compilable")
    if op.name in _CHECKED_OPS:  # its check says why
        return _word("op_no_checked", check=str(said("checks", op.name)))
    return _word("op_no", why=op.first_reason or _unknown())


def _word(code: str, **given: str) -> str:
    return words("machine_page", code, **given)


def _unknown() -> str:
    return _word("unknown_value")


def _listed(*parts: str) -> str:
    return str(listed(filter(None, parts)))


def counted(status: Status, count: int) -> Said:
    """`2 warnings`, `1 check passed`."""
    one, several = _COUNTED[status]
    return said("check_counts", one) if count == 1 else said("check_counts", several, count=str(count))


def summary(rows: Sequence[Row]) -> str:
    """`1 problem, 2 warnings`, or “all checks passed”, or “no problems found; not checked: Disk for runs”."""
    counts = {status: how_many(rows, status) for status in Status}
    told = [counted(status, counts[status]) for status in (Status.PROBLEM, Status.WARNING) if counts[status]]
    if told:
        return str(listed(told))
    unknown = [row.title for row in rows if row.status is Status.UNKNOWN]
    if len(unknown) == 1:
        return words("check_counts", "all_but_one", title=unknown[0])
    if unknown:
        return words("check_counts", "none_found", unknown=counted(Status.UNKNOWN, len(unknown)))
    return words("check_counts", "all_passed")


def as_text(machine: Machine, rows: Sequence[Row]) -> str:
    """The checks, worst first, then the readings; the values of a group are aligned."""
    lines = [_word("checks"), *rows_as_lines(rows)]
    for group in groups(machine):
        widest = max(width(label) for label, _ in group.readings)
        lines += ["", group.title]
        for label, value in group.readings:
            lines += _hanging(f"  {padded(label, widest)}  ", value)
    return "\n".join([*lines, "", f"doctor: {summary(rows)}"]) + "\n"


def rows_as_lines(rows: Sequence[Row]) -> list[str]:
    """Status, title and what was seen, in columns."""
    return [line for row in rows for line in _row_lines(row, rows)]


def _row_lines(row: Row, rows: Sequence[Row]) -> list[str]:
    widest = max(width(str(other.title)) for other in rows)
    head = f"  {padded(_word(f'row_{row.status.value}'), 7)}  {padded(str(row.title), widest)}  "
    indent = " " * width(head)
    if row.items:
        each = [line for item in row.items for line in _hanging(f"{indent}- ", str(item))]
        lines = [*_hanging(head, row.seen), *each, *(_hanging(indent, row.advice) if row.advice else [])]
    else:
        lines = _hanging(head, in_row((row.seen, row.advice)))
    return [*lines, f"{indent}$ {row.command}"] if row.command else lines


def _hanging(head: str, text: str) -> list[str]:
    first, *others = wrapped(text, max(WIDTH - width(head), 40))
    return [head + first, *(" " * width(head) + line for line in others)]


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
