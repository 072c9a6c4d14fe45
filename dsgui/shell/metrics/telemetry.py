"""One reading a second of the machine, the run's processes and its GPUs, that never waits long for any of them.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone.
"""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import TimeoutError as NoAnswer

from dsgui.core.metrics.samples import GpuSample, Lack, Sample
from dsgui.shell.metrics.aside import Aside, Bounded
from dsgui.shell.metrics.nvml import Cards, load_nvml
from dsgui.shell.metrics.proc import DiskReading, HostReader, HostReading, Marked, RunCpu, RunMemory, read_disk

_HOLDERS_S = 2.0
_CLOSE_S = 0.5


def date(unix_s: float) -> str:
    """As the machine's own clock on the wall shows it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_s))


class GpuWatch:
    """This machine's cards, asked in a thread: `open_cards` is called there too, for the driver may hang from its
    first question to its last."""

    def __init__(
        self, open_cards: Callable[[], Cards], aside: Aside | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._open_cards = open_cards
        self._aside = aside or Aside("nvml")
        self._readings: Bounded[tuple[tuple[Lack, ...], tuple[GpuSample, ...]]] = Bounded(self._aside, clock=clock)
        self._counting: Bounded[bool] = Bounded(self._aside, patience_s=0, clock=clock)
        self._cards: Cards | None = None  # the thread's alone
        self._known: tuple[GpuSample, ...] = ()
        self._lacks: tuple[Lack, ...] = ()

    @property
    def lacks(self) -> tuple[Lack, ...]:
        """What can't be read."""
        if (since := self._readings.silent_since) is not None:
            return (("driver_silent", (("since", date(since)),)),)
        if self._readings.problem:
            return (("driver_failed", (("why", self._readings.problem),)),)
        return self._lacks

    def read(self, pids: Collection[int]) -> tuple[GpuSample, ...]:
        """What they do; without an answer in time nothing but who they are. `pids` are the run's processes."""
        asked = frozenset(pids)
        answer = self._readings.ask(lambda: self._read(asked))
        if answer is None:
            return self._known
        self._lacks, samples = answer
        self._known = tuple(GpuSample(gpu.index, gpu.name) for gpu in samples)
        self._counting.ask(self._count)  # after the readings: it takes its time
        return samples

    def holders(self, pids: Collection[int]) -> set[int] | None:
        """Those of `pids` that still hold memory of a GPU; None where nobody says, or not within two seconds."""
        if self._readings.silent:
            return None
        asked = frozenset(pids)
        try:
            return self._aside.ask(lambda: self._opened().holders(asked)).result(_HOLDERS_S)
        except (NoAnswer, RuntimeError):
            return None

    def close(self) -> None:
        """Lets go of the driver; one that hangs is left to its thread."""
        closing = self._aside.ask(lambda: self._opened().close())
        self._aside.close()
        if not self._readings.silent:
            try:
                closing.result(_CLOSE_S)
            except (NoAnswer, RuntimeError):
                return

    def _opened(self) -> Cards:
        if self._cards is None:
            self._cards = self._open_cards()
        return self._cards

    def _read(self, pids: Collection[int]) -> tuple[tuple[Lack, ...], tuple[GpuSample, ...]]:
        samples = self._opened().read(pids)
        return self._opened().lacks, samples

    def _count(self) -> bool:
        self._opened().count_next()
        return True


class DiskWatch:
    """The file system a run writes to: the first of `paths` that exists. One that is mounted from a server that is gone
    hangs whoever asks, so a thread asks."""

    def __init__(self, paths: Sequence[str], clock: Callable[[], float] = time.time) -> None:
        self._paths = paths
        self._aside = Aside("disk")
        self._readings: Bounded[DiskReading] = Bounded(self._aside, clock=clock)

    @property
    def lacks(self) -> tuple[Lack, ...]:
        since = self._readings.silent_since
        given = (("folder", self._paths[0]), ("since", date(since))) if since is not None else ()
        return (("disk_silent", given),) if given else ()

    def read(self) -> DiskReading:
        if not self._paths:
            return DiskReading()
        return self._readings.ask(lambda: read_disk(self._paths)) or DiskReading()

    def close(self) -> None:
        self._aside.close()


class Telemetry:
    """Takes samples. The probes are injected; a plain `Telemetry()` reads this machine. `marked` finds processes of the
    run that its supervisor did not start."""

    def __init__(
        self,
        gpus: GpuWatch | None = None,
        host: Callable[[], HostReading] | None = None,
        run_bytes: Callable[[Iterable[int]], int] | None = None,
        clock: Callable[[], float] = time.time,
        disk: DiskWatch | None = None,
        marked: Marked | None = None,
        run_cpu: Callable[[Iterable[int]], float | None] | None = None,
    ) -> None:
        self._gpus = gpus if gpus is not None else GpuWatch(lambda: Cards(load_nvml()))
        self._host = HostReader().read if host is None else host
        self._disk = disk if disk is not None else DiskWatch(())
        self._run_bytes = RunMemory().read if run_bytes is None else run_bytes
        self._run_cpu = RunCpu().read if run_cpu is None else run_cpu
        self._clock, self._marked = clock, marked
        self._seen: set[int] = set()

    @property
    def lacks(self) -> tuple[Lack, ...]:
        """What can't be shown."""
        return (*self._gpus.lacks, *self._disk.lacks)

    def sample(self, pids: Collection[int]) -> Sample:
        """One poll; `pids` are the run's processes, as far as they are known. Takes at most a tenth of a second."""
        if self._marked:
            pids = {*pids, *self._marked.look()}
        self._seen.update(pids)
        host, disk = self._host(), self._disk.read()
        return Sample(
            time_s=round(self._clock(), 3),
            host_used_bytes=host.used_bytes,
            host_total_bytes=host.total_bytes,
            run_bytes=self._run_bytes(pids),
            cpu_percent=host.cpu_percent,
            gpus=self._gpus.read(pids),
            swap_used_bytes=host.swap_used_bytes,
            swap_total_bytes=host.swap_total_bytes,
            limit_bytes=host.limit_bytes,
            limit_used_bytes=host.limit_used_bytes,
            disk_free_bytes=disk.free_bytes,
            disk_total_bytes=disk.total_bytes,
            run_processes=len(pids),
            run_cpu_percent=self._run_cpu(pids),
        )

    def gpu_holders(self) -> set[int] | None:
        """Those of the run's processes in any sample that hold GPU memory now; None where nobody can say."""
        return self._gpus.holders(self._seen)

    def close(self) -> None:
        self._gpus.close()
        self._disk.close()
