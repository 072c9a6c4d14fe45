"""What tells why a rank was killed: how many processes the kernel ended for want of memory, and this run's limits."""

import resource
from dataclasses import dataclass
from os.path import join
from pathlib import Path

from dsgui.core.machine.cgroups import Read, folders, memory_limit

# The counter of kills: version 2 has it in memory.events, version 1 (since Linux 4.13) in memory.oom_control.
_COUNTERS = ("memory.events", "memory.oom_control")


@dataclass(frozen=True, slots=True)
class OomKills:
    """Counted since the machine (`machine`) and this process's control group (`group`) were started; None where the
    kernel does not say. `limit_bytes` is what the group may use, None where that is all the machine has."""

    machine: int | None = None
    group: int | None = None
    limit_bytes: int | None = None

    def since(self, before: "OomKills") -> "OomKills":
        return OomKills(_grown(before.machine, self.machine), _grown(before.group, self.group), self.limit_bytes)


def read_oom_kills(root: str = "") -> OomKills:
    """Now; `root` holds the `proc` and `sys` to read. Linux counts them in /proc/vmstat since 4.13."""

    def read(path: str) -> str | None:
        try:
            return Path(root + path).read_text("utf-8", "replace")
        except OSError:
            return None

    groups = read("/proc/self/cgroup") or "", read("/proc/self/mountinfo") or ""
    own = folders("memory", *groups)[:1]
    counted = (_counted(read(join(folder, name)), "oom_kill ") for folder in own for name in _COUNTERS)
    group = next((number for number in counted if number is not None), None)
    return OomKills(_counted(read("/proc/vmstat"), "oom_kill "), group, _limit(groups, read))


def _limit(groups: tuple[str, str], read: Read) -> int | None:
    """A limit above what the machine has is none."""
    limit, total_kib = memory_limit(*groups, read), _counted(read("/proc/meminfo"), "MemTotal:")
    return limit if limit is not None and (total_kib is None or limit < total_kib << 10) else None


def address_space_limit() -> int | None:
    """What `ulimit -v` allows one process, which a run inherits."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _counted(text: str | None, name: str) -> int | None:
    return next((int(line.split()[1]) for line in (text or "").splitlines() if line.startswith(name)), None)


def _grown(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else now - before
