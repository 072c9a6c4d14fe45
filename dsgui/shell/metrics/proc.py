"""What a machine and a run's processes on it use right now, read from /proc (man 5 proc).

A run's memory is the sum of every process's anonymous memory plus, once, the most shared memory any of them has mapped.
Summing RSS would count torch's libraries and DeepSpeed's shared buffers (33 MB a rank, mapped by every rank) once per
process. The maximum is exact when the processes map the same segments, as ranks do, and a lower bound otherwise
(DataLoader workers of different ranks); PSS would be exact, but reading it walks every page table of the run.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dsgui.core.machine.cgroups import MemoryGroup, folders, memory_group

_KIB = 1024
_MOST_BYTES = 1 << 16
_MOST_ENVIRONMENT_BYTES = 4 << 20
_ANEW = 10  # looks


@dataclass(frozen=True, slots=True)
class HostReading:
    """The whole machine; `used_bytes` is what is not available to a new process. The limit is the control groups'."""

    used_bytes: int | None = None
    total_bytes: int | None = None
    cpu_percent: float | None = None
    swap_used_bytes: int | None = None
    swap_total_bytes: int | None = None
    limit_bytes: int | None = None
    limit_used_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DiskReading:
    """A file system; `free_bytes` is what this user may still write."""

    free_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Of the machine, as the kernel counts it; None where it does not say."""

    total_bytes: int | None = None
    available_bytes: int | None = None
    swap_bytes: int | None = None
    swap_free_bytes: int | None = None


def read_memory(root: str = "") -> Memory:
    """Now; `root` holds the `proc` to read."""
    text = b"\n" + (read_file(f"{root}/proc/meminfo") or b"")
    return Memory(*(_row(text, b"\n%b:" % name) for name in (b"MemTotal", b"MemAvailable", b"SwapTotal", b"SwapFree")))


class HostReader:
    """Reads the machine again and again; the CPU figure is the mean since the last reading, so the first has none.
    `root` holds the `proc` and `sys` to read."""

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._busy = self._whole = 0
        groups = self._text("/proc/self/cgroup") or "", self._text("/proc/self/mountinfo") or ""
        self._groups = folders("memory", *groups)
        self._cpu_percent()

    def read(self) -> HostReading:
        memory = read_memory(self._root)
        group = self._limit(memory.total_bytes)
        return HostReading(
            _less(memory.total_bytes, memory.available_bytes),
            memory.total_bytes,
            self._cpu_percent(),
            _less(memory.swap_bytes, memory.swap_free_bytes),
            memory.swap_bytes,
            None if group is None else group.limit_bytes,
            None if group is None else group.used_bytes,
        )

    def _limit(self, total: int | None) -> MemoryGroup | None:
        """The limit that holds: one above what the machine has does not."""
        group = memory_group(self._groups, self._text)
        return group if group is None or total is None or group.limit_bytes < total else None

    def _cpu_percent(self) -> float | None:
        """Time of guests is already in that of their host's user time."""
        first = (_read_once(f"{self._root}/proc/stat") or b"").partition(b"\n")[0].split()[1:9]
        if len(first) < 8 or not all(word.isdigit() for word in first):
            return None
        times = [int(word) for word in first]
        whole = sum(times)
        busy = whole - times[3] - times[4]  # idle, iowait
        new, of, known = busy - self._busy, whole - self._whole, self._whole
        self._busy, self._whole = busy, whole
        return round(min(max(100 * new / of, 0.0), 100.0), 1) if known and of > 0 else None

    def _text(self, path: str) -> str | None:
        found = read_file(self._root + path)
        return None if found is None else found.decode("utf-8", "replace")


class Marked:
    """The processes of this machine whose environment has `line`, looked for again and again. Who has not is not read
    each time; but now and then, for a process may become another program."""

    def __init__(self, line: str) -> None:
        self._line = line.encode()
        self._strangers: set[int] = set()
        self._looks = 0

    def look(self) -> set[int]:
        if self._looks % _ANEW == 0:
            self._strangers.clear()
        self._looks += 1
        pids = {int(name) for name in os.listdir("/proc") if name.isdecimal()}
        ours = {pid for pid in pids - self._strangers if self._is_ours(pid)}
        self._strangers = pids - ours
        return ours

    def _is_ours(self, pid: int) -> bool:
        environment = read_file(f"/proc/{pid}/environ", _MOST_ENVIRONMENT_BYTES)
        return environment is not None and self._line in environment.split(b"\0")


class RunMemory:
    """Sums the memory of a run's processes again and again. How much of it is shared memory only /proc/<pid>/status
    says, which takes the kernel twice as long as statm: it is read where statm shows a change, and now and then."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._shared: dict[int, tuple[bytes, int]] = {}
        self._looks = 0

    def read(self, pids: Iterable[int]) -> int:
        """The host memory of these processes; one that has just ended counts nothing."""
        known = self._shared if self._looks % _ANEW else {}
        self._looks += 1
        self._shared, anonymous = {}, 0
        for pid in pids:
            words = (_read_once(f"/proc/{pid}/statm") or b"0 0 0").split(None, 3)
            anonymous += int(words[1]) - int(words[2])  # resident, of which files and shared memory
            before = known.get(pid)
            changed = before is None or before[0] != words[2]
            self._shared[pid] = (words[2], _shared_bytes(pid)) if changed else before  # type: ignore[assignment]
        return anonymous * self._page + max((shared for _, shared in self._shared.values()), default=0)


class RunCpu:
    """What a run's processes, and those of theirs that have ended, took of all cores since the last reading, in
    percent; the first has none. `root` holds the `proc` to read."""

    def __init__(self, root: str = "", monotonic: Callable[[], float] = time.monotonic) -> None:
        self._root, self._monotonic = root, monotonic
        self._all_ticks_s = os.sysconf("SC_CLK_TCK") * (os.cpu_count() or 1)
        self._at_s: float | None = None
        self._totals: deque[int] = deque(maxlen=2)

    def read(self, pids: Iterable[int]) -> float | None:
        """A process that is new has begun since the last reading. What one that has ended took is its parent's by now,
        or at the next reading: between end and `wait` it is nobody's."""
        now, before, seen = self._monotonic(), self._at_s, max(self._totals, default=0)
        self._at_s = now
        self._totals.append(sum(map(self._ticks_of, pids)))
        if before is None or now <= before:
            return None
        used = self._totals[-1] - seen
        return round(min(max(100 * used / (self._all_ticks_s * (now - before)), 0.0), 100.0), 1)

    def _ticks_of(self, pid: int) -> int:
        """In user and in system mode, its own and those of its children that have ended (proc(5): utime, stime, cutime,
        cstime); a name may hold blanks and brackets."""
        words = (_read_once(f"{self._root}/proc/{pid}/stat") or b"").rpartition(b")")[2].split(None, 15)
        return sum(map(int, words[11:15]))


def read_disk(paths: Iterable[str]) -> DiskReading:
    """The file system of the first of `paths` that exists."""
    for path in paths:
        try:
            found = os.statvfs(path)
        except (OSError, ValueError):
            continue
        return DiskReading(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)
    return DiskReading()


def read_file(path: str, most_bytes: int = _MOST_BYTES) -> bytes | None:
    """None where it can't be read. Without the layers of `open`: a sample reads a file for each process."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = chunk = os.read(descriptor, most_bytes)
        while chunk and len(found) < most_bytes:  # /proc gives some files a page at a time
            chunk = os.read(descriptor, most_bytes - len(found))
            found += chunk
        return found
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_once(path: str) -> bytes | None:
    """The first of a file, which is all of a small one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _shared_bytes(pid: int) -> int:
    """0 for a process that is ending."""
    return _row(_read_once(f"/proc/{pid}/status"), b"\nRssShmem:") or 0


def _row(text: bytes | None, name: bytes) -> int | None:
    """Bytes of the row `name:   1234 kB`; None where there is no such row."""
    place = text.find(name) if text else -1
    return int(text[place + len(name) :].split(None, 1)[0]) * _KIB if text and place >= 0 else None


def _less(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else whole - part
