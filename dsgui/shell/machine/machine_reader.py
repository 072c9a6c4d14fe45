"""Readings of this machine, and the slow question to the training environment, asked from a thread."""

import os
import resource
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from dsgui.core.errors import TargetError
from dsgui.core.machine.cgroups import cpu_limit, memory_limit
from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Buffer, Disk, Driver, Environment, Host, Machine
from dsgui.shell.machine.gpus import gpus_and_driver
from dsgui.shell.machine.leftovers import build_locks, extensions_folder, stale_buffers, stale_locks
from dsgui.shell.machine.target import ask
from dsgui.shell.metrics.proc import read_memory

MACHINE_TIMEOUT_S = 180
_CAP_IPC_LOCK = 14  # include/uapi/linux/capability.h


def read_host(runs_dir: Path, environment: Mapping[str, str], root: Path = Path("/")) -> Host:
    """Everything but the GPUs; `root` holds the `proc` and `sys` to read."""
    memory = read_memory(str(root).rstrip("/"))
    builds = extensions_folder(environment)
    groups = _text(root / "proc/self/cgroup") or "", _text(root / "proc/self/mountinfo") or ""
    return Host(
        cpu_model=_cpu_model(root),
        cores=os.cpu_count(),
        cores_usable=_cores_usable(cpu_limit(*groups, _reader(root))),
        memory_bytes=memory.total_bytes,
        memory_available_bytes=memory.available_bytes,
        memory_limit_bytes=memory_limit(*groups, _reader(root)),
        swap_bytes=memory.swap_bytes,
        shm=read_disk(Path("/dev/shm")) if Path("/dev/shm").is_dir() else None,
        memlock_bytes=_soft_limit(resource.RLIMIT_MEMLOCK),
        locks_freely=_may_lock(root),
        open_files=_soft_limit(resource.RLIMIT_NOFILE),
        runs_disk=read_disk(runs_dir),
        builds_disk=read_disk(builds),
        stale_locks=tuple(sorted(str(path) for path in stale_locks(build_locks(builds)))),
        stale_buffers=tuple(Buffer(str(path), held) for path, held in sorted(stale_buffers().items())),
        infiniband=_names(root / "sys/class/infiniband"),
    )


def read_disk(path: Path) -> Disk | None:
    """The file system that holds `path`, or will when it is made; None when it can't be asked."""
    existing = next((folder for folder in (path, *path.absolute().parents) if folder.exists()), Path("/"))
    try:
        usage = shutil.disk_usage(existing)
    except OSError:
        return None
    return Disk(str(path), usage.total, usage.free)


def read_gpus() -> tuple[tuple[Gpu, ...], Driver | None]:
    """This machine's NVIDIA GPUs and their driver; none where it does not answer."""
    return gpus_and_driver()


def read_machine(python: str, runs_dir: Path, timeout_s: float = MACHINE_TIMEOUT_S) -> Machine:
    """All of it, the target's answer included: takes seconds."""
    return _with_answer(read_here(runs_dir), python, timeout_s)


def read_here(runs_dir: Path) -> Machine:
    gpus, driver = read_gpus()
    return Machine(read_host(runs_dir, os.environ), gpus, driver)


def _with_answer(here: Machine, python: str, timeout_s: float) -> Machine:
    try:
        answer = ask(python, "machine", timeout_s)
        return replace(here, environment=Environment.from_json(python, answer, here.gpus))
    except TargetError as error:
        return replace(here, problem=str(error))


class MachineProbe:
    """The machine as the page shows it: the quick readings at once, the target's answer when it comes."""

    def __init__(self, python: str, read_here: Callable[[], Machine]) -> None:
        self._python, self._read_here = python, read_here
        self._lock = threading.Lock()
        self._machine: Machine | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of(cls, python: str, runs_dir: Path) -> "MachineProbe":
        """For the machine dsgui runs on."""
        return cls(python, lambda: read_here(runs_dir))

    def current(self) -> Machine:
        """What is known by now; the first call asks."""
        return self._machine or self.refresh()

    def refresh(self) -> Machine:
        """Reads anew and asks the target again, unless it is being asked; what it said last is kept until then."""
        with self._lock:
            here, known = self._read_here(), self._machine
            if known is not None:
                here = replace(here, environment=known.environment, problem=known.problem)
            self._machine = here
            if not self.asking:
                self._thread = threading.Thread(target=self._ask, args=(here,), name="machine-probe", daemon=True)
                self._thread.start()
            return here

    @property
    def asking(self) -> bool:
        """The target has a question open."""
        return self._thread is not None and self._thread.is_alive()

    def _ask(self, here: Machine) -> None:
        answered = _with_answer(replace(here, environment=None, problem=""), self._python, MACHINE_TIMEOUT_S)
        with self._lock:
            self._machine = answered


def _reader(root: Path) -> Callable[[str], str | None]:
    return lambda path: _text(root / path.lstrip("/"))


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _cpu_model(root: Path) -> str:
    rows = (line.partition(":") for line in (_text(root / "proc/cpuinfo") or "").splitlines())
    return next((value.strip() for key, _, value in rows if key.strip() in ("model name", "Model", "cpu model")), "")


def _cores_usable(quota: float | None) -> float:
    allowed = len(os.sched_getaffinity(0))
    return allowed if quota is None else min(allowed, quota)


def _soft_limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def _may_lock(root: Path) -> bool:
    rows = dict(line.split(":", 1) for line in (_text(root / "proc/self/status") or "").splitlines() if ":" in line)
    return bool(int(rows.get("CapEff", "0").strip(), 16) >> _CAP_IPC_LOCK & 1)


def _names(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(path.name for path in folder.iterdir()))
    except OSError:
        return ()
