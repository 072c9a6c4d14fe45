"""What the machine, the run's processes and its GPUs use right now.

A run's memory is the sum of every process's anonymous memory plus, once, the most shared memory any of them has mapped.
Summing RSS would count torch's libraries and DeepSpeed's shared buffers (33 MB a rank, mapped by every rank) once per
process. The maximum is exact when the processes map the same segments, as ranks do, and a lower bound otherwise
(DataLoader workers of different ranks); PSS would be exact, but reading it walks every page table of the run.
"""

import contextlib
import importlib
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from dsgui.core.hardware import Gpu
from dsgui.core.machine import Driver
from dsgui.core.telemetry import GpuSample, Sample

NO_DRIVER = "No NVIDIA driver found; showing CPU memory only."
_PROC = Path("/proc")
_KIB = 1024


@dataclass(frozen=True, slots=True)
class HostReading:
    """The whole machine; `used_bytes` is what is not available to a new process."""

    used_bytes: int
    total_bytes: int
    cpu_percent: float | None


def read_host() -> HostReading:
    """The CPU figure is the mean since the last call."""
    memory = psutil.virtual_memory()
    return HostReading(memory.total - memory.available, memory.total, psutil.cpu_percent(None))


def read_run_bytes(pids: Iterable[int]) -> int:
    """The main memory of these processes; one that has just ended counts nothing."""
    readings = [_process_bytes(pid) for pid in pids]
    return sum(own for own, _ in readings) + max((shared for _, shared in readings), default=0)


def load_nvml() -> Any | None:
    """NVIDIA's library, started; None without a driver."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return None
    return nvml


class Gpus:
    """This machine's NVIDIA GPUs, or the chosen ones. `nvml` is the pynvml module, or anything that answers as it does;
    None when there is no driver. Each question may fail alone: its answer is then None."""

    def __init__(self, nvml: Any | None, indices: Collection[int] = ()) -> None:
        self._nvml = nvml
        self.note = "" if nvml is not None else NO_DRIVER
        count = self._ask("nvmlDeviceGetCount") or 0
        wanted = [index for index in range(count) if not indices or index in indices]
        handles = ((index, self._ask("nvmlDeviceGetHandleByIndex", index)) for index in wanted)
        self._devices = [(index, handle, self._name(handle)) for index, handle in handles if handle is not None]

    def list(self) -> tuple[Gpu, ...]:
        """What they are; physical indices, in PCI bus order as NVML counts."""
        return tuple(self._describe(*device) for device in self._devices)

    def read(self, pids: Collection[int]) -> tuple[GpuSample, ...]:
        """What they do; `pids` are the run's processes."""
        return tuple(self._sample(index, handle, name, pids) for index, handle, name in self._devices)

    def holders(self, pids: Collection[int]) -> set[int] | None:
        """Those of `pids` that still hold memory of a GPU; None where the driver does not say."""
        answers = [self._ask("nvmlDeviceGetComputeRunningProcesses", handle) for _, handle, _ in self._devices]
        if not answers or any(answer is None for answer in answers):
            return None
        return {process.pid for answer in answers for process in answer or () if process.pid in pids}

    def driver(self) -> Driver | None:
        """The driver's version and the newest CUDA it can run; None without one."""
        version = self._ask("nvmlSystemGetDriverVersion")
        cuda = self._ask("nvmlSystemGetCudaDriverVersion_v2")
        if version is None:
            return None
        text = version.decode("utf-8", "replace") if isinstance(version, bytes) else str(version)
        return Driver(text, cuda and (int(cuda) // 1000, int(cuda) % 1000 // 10))

    def close(self) -> None:
        """Lets go of the driver."""
        self._ask("nvmlShutdown")
        self._nvml, self._devices = None, []

    def _describe(self, index: int, handle: Any, name: str) -> Gpu:
        capability = self._ask("nvmlDeviceGetCudaComputeCapability", handle)
        memory = self._ask("nvmlDeviceGetMemoryInfo", handle)
        return Gpu(
            index,
            name,
            capability and (int(capability[0]), int(capability[1])),
            memory and int(memory.total),
            memory and int(memory.free),
        )

    def _sample(self, index: int, handle: Any, name: str, pids: Collection[int]) -> GpuSample:
        memory = self._ask("nvmlDeviceGetMemoryInfo", handle)
        rates = self._ask("nvmlDeviceGetUtilizationRates", handle)
        return GpuSample(
            index=index,
            name=name,
            used_bytes=memory and int(memory.used),
            run_bytes=self._run_bytes(handle, pids),
            total_bytes=memory and int(memory.total),
            utilisation_percent=rates and float(rates.gpu),
        )

    def _run_bytes(self, handle: Any, pids: Collection[int]) -> int | None:
        processes = self._ask("nvmlDeviceGetComputeRunningProcesses", handle)
        if processes is None:
            return None
        ours: list[int | None] = [process.usedGpuMemory for process in processes if process.pid in pids]
        # In a container NVML speaks of the host's pids: none of them exists here, and 0 would be a lie.
        if processes and not ours and not any((_PROC / str(process.pid)).exists() for process in processes):
            return None
        known = [used for used in ours if used is not None]
        return sum(known) if len(known) == len(ours) else None

    def _name(self, handle: Any) -> str:
        name = self._ask("nvmlDeviceGetName", handle) if handle is not None else None
        return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "NVIDIA GPU")

    def _ask(self, question: str, *arguments: Any) -> Any | None:
        if self._nvml is None:
            return None
        try:
            return getattr(self._nvml, question)(*arguments)
        except self._nvml.NVMLError:
            return None


class Telemetry:
    """Takes samples. The probes are injected; a plain `Telemetry()` reads this machine."""

    def __init__(
        self,
        gpus: Gpus | None = None,
        host: Callable[[], HostReading] = read_host,
        run_bytes: Callable[[Iterable[int]], int] = read_run_bytes,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._gpus = gpus if gpus is not None else Gpus(load_nvml())
        self._host, self._run_bytes, self._clock = host, run_bytes, clock
        self._host()  # the first CPU figure has nothing to be the mean since

    @property
    def note(self) -> str:
        """A sentence for the page on what can't be shown, or ""."""
        return self._gpus.note

    def sample(self, pids: Collection[int]) -> Sample:
        """One poll; `pids` are the run's processes."""
        host = self._host()
        return Sample(
            time_s=round(self._clock(), 3),
            host_used_bytes=host.used_bytes,
            host_total_bytes=host.total_bytes,
            run_bytes=self._run_bytes(pids),
            cpu_percent=host.cpu_percent,
            gpus=self._gpus.read(pids),
        )

    def gpu_holders(self, pids: Collection[int]) -> set[int] | None:
        """Those of `pids` that hold GPU memory; None where nobody can say."""
        return self._gpus.holders(pids)

    def close(self) -> None:
        self._gpus.close()


def list_gpus() -> tuple[Gpu, ...]:
    """This machine's NVIDIA GPUs; none without a driver."""
    gpus = Gpus(load_nvml())
    with contextlib.closing(gpus):
        return gpus.list()


def read_gpus() -> tuple[GpuSample, ...]:
    """What this machine's NVIDIA GPUs do now; none without a driver."""
    gpus = Gpus(load_nvml())
    with contextlib.closing(gpus):
        return gpus.read(())


def _process_bytes(pid: int) -> tuple[int, int]:
    """(anonymous, shared) bytes of one process."""
    try:
        text = (_PROC / str(pid) / "status").read_text("utf-8", "replace")
    except OSError:
        return 0, 0
    rows = dict(line.split(":", 1) for line in text.splitlines() if line.startswith(("RssAnon:", "RssShmem:")))
    return _kib(rows.get("RssAnon")), _kib(rows.get("RssShmem"))


def _kib(text: str | None) -> int:
    """Bytes of `   1234 kB`; 0 when there is no such row (a process that is ending)."""
    return int(text.split()[0]) * _KIB if text else 0
