"""This machine and its training environment as values. What could not be read is None or "", never an exception."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.machine.hardware import Gpu, Op, Target
from dsgui.core.texts.saying import words


@dataclass(frozen=True, slots=True)
class Driver:
    """NVIDIA's driver, and the newest CUDA that it supports (major, minor)."""

    version: str
    cuda: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system that holds `path`."""

    path: str
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Buffer:
    """Shared memory of a run that has ended."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Host:
    """The machine without its GPUs. A limit of None is not set; any other None could not be read.

    `memory_limit_bytes` is the smallest limit of the control groups around this process, `cores_usable` what they and
    the CPU affinity leave. `locks_freely`: this process may lock memory beyond `memlock_bytes` (CAP_IPC_LOCK)."""

    cpu_model: str = ""
    cores: int | None = None
    cores_usable: float | None = None
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    memory_limit_bytes: int | None = None
    swap_bytes: int | None = None
    shm: Disk | None = None
    memlock_bytes: int | None = None
    locks_freely: bool = False
    open_files: int | None = None
    runs_disk: Disk | None = None
    builds_disk: Disk | None = None
    stale_locks: tuple[str, ...] = ()
    stale_buffers: tuple[Buffer, ...] = ()
    infiniband: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A program as the target environment finds it: `path` is "" if there is none, `told` what it reports about
    itself."""

    command: str
    path: str = ""
    told: str = ""

    @property
    def version(self) -> str:
        """The line that names it: the first, or for nvcc the line with its release."""
        lines = self.told.splitlines() or [""]
        return next((line for line in lines if ", release " in line), lines[0])

    @classmethod
    def from_json(cls, answer: object) -> "Tool | None":
        if not isinstance(answer, Mapping) or "command" not in answer:
            return None
        return cls(*(str(answer.get(name, "")) for name in ("command", "path", "told")))


@dataclass(frozen=True, slots=True)
class TorchCuda:
    """The CUDA version that torch was built for ("13.0", or "" for none; the same for ROCm), and whether it finds a
    device."""

    cuda: str
    hip: str
    usable: bool
    why_not: str = ""

    @property
    def trouble(self) -> str:
        """Why it is not usable: torch's own words, else that it finds no device."""
        return self.why_not or words("machine_page", "no_device")


@dataclass(frozen=True, slots=True)
class Environment:
    """The training environment, as `shell/machine/ask_target.py machine` answered."""

    target: Target
    torch: TorchCuda | None = None
    toolkit_home: str = ""
    toolkit_release: str = ""  # of the nvcc in it
    tools: Mapping[str, Tool] | None = None
    headers_path: str = ""
    has_headers: bool | None = None
    problems: tuple[str, ...] = ()  # parts of the question that raised

    @classmethod
    def from_json(cls, python: str, answer: Mapping[str, Any], gpus: tuple[Gpu, ...]) -> "Environment":
        """Every part may be missing or a `problem`."""
        torch, toolkit = _part(answer, "torch"), _part(answer, "toolkit")
        tools, headers = _part(answer, "tools"), _part(answer, "headers")
        found = {name: Tool.from_json(told) for name, told in tools.items()}
        return cls(
            target=Target.from_json(python, answer, gpus),
            torch=_torch(torch) if torch else None,
            toolkit_home=str(toolkit.get("home") or ""),
            toolkit_release=str(toolkit.get("version") or ""),
            tools={name: tool for name, tool in found.items() if tool} if tools else None,
            headers_path=str(headers.get("path", "")),
            has_headers=bool(headers["exists"]) if "exists" in headers else None,
            problems=tuple(_problems(answer)),
        )

    def tool(self, name: str) -> Tool | None:
        """None if it was not looked for; its `path` is "" if it was not found."""
        return (self.tools or {}).get(name)

    def op(self, name: str) -> Op | None:
        """The operator of this name, if the target reported it."""
        return next((op for op in self.target.ops or () if op.name == name), None)


def _part(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    told = answer.get(name)
    return told if isinstance(told, Mapping) and "problem" not in told else {}


def _problems(answer: Mapping[str, Any]) -> list[str]:
    parts = {name: told for name, told in answer.items() if isinstance(told, Mapping) and "problem" in told}
    return [f"{name}: {told['problem']}" for name, told in parts.items()]


def _torch(told: Mapping[str, Any]) -> TorchCuda:
    return TorchCuda(
        str(told.get("cuda") or ""),
        str(told.get("hip") or ""),
        bool(told.get("usable")),
        str(told.get("why_not") or ""),
    )


@dataclass(frozen=True, slots=True)
class Machine:
    """All that is known so far. `environment` is None while the target is still being asked, or if it could not be
    asked: then `problem` says why."""

    host: Host
    gpus: tuple[Gpu, ...] = ()
    driver: Driver | None = None
    environment: Environment | None = None
    problem: str = ""

    @property
    def waiting(self) -> bool:
        """The target has not answered yet."""
        return self.environment is None and not self.problem


def release(text: str) -> tuple[int, int] | None:
    """`"13.0"` → (13, 0); None if there is no such number."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None
