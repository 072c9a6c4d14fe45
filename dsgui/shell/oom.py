"""How many processes the kernel has killed for want of memory, to tell such an end from another SIGKILL."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OomKills:
    """Counted since the machine (`machine`) and this process's control group (`group`) were started; None where the
    kernel does not say."""

    machine: int | None = None
    group: int | None = None

    def since(self, before: "OomKills") -> "OomKills":
        return OomKills(_grown(before.machine, self.machine), _grown(before.group, self.group))


def read_oom_kills(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> OomKills:
    """Now. Linux counts them in /proc/vmstat since 4.13, and for a group in memory.events (cgroup v2)."""
    return OomKills(_counted(proc / "vmstat"), _counted(groups / _group(proc) / "memory.events"))


def _group(proc: Path) -> str:
    try:
        lines = (proc / "self/cgroup").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")


def _counted(path: Path) -> int | None:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def _grown(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else now - before
