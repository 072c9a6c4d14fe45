"""The control groups around a process, and the smallest limit among them. Text in, numbers out.

Formats: `man 7 cgroups`, and the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from posixpath import join, normpath

# A limit that was never set reads "max" in version 2, and the largest multiple of a page below 2**63 in version 1.
_NO_LIMIT = 1 << 62
Read = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted hierarchy: `root` is the group that is visible at `point`. Version 2 names no controllers here."""

    root: str
    point: str
    controllers: frozenset[str]


def mounts(mountinfo: str) -> list[Mount]:
    """The hierarchies of `/proc/self/mountinfo`."""
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) > 4 and len(kind) > 2 and kind[0] in ("cgroup", "cgroup2"):
            named = frozenset(kind[-1].split(",")) if kind[0] == "cgroup" else frozenset[str]()
            found.append(Mount(fields[3], fields[4].replace("\\040", " "), named))
    return found


def folders(controller: str, cgroup: str, mountinfo: str) -> list[str]:
    """The folders whose files limit this process, from its own up to the hierarchy's root; `cgroup` is
    `/proc/self/cgroup`.

    Version 1 where the controller has a hierarchy of its own, otherwise version 2."""
    hierarchies = mounts(mountinfo)
    own = [mount for mount in hierarchies if controller in mount.controllers]
    mount = next(iter(own or [mount for mount in hierarchies if not mount.controllers]), None)
    path = _path(controller if own else "", cgroup)
    if mount is None or path is None:
        return []
    return _upwards(mount.point, _below(path, mount.root))


def _path(controller: str, cgroup: str) -> str | None:
    for line in cgroup.splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if controller in names.split(","):
            return path
    return None


def _below(path: str, root: str) -> str:
    """The group's path below the mount point. With version 1, a container that sees its own group as the root still
    reads the host's path in `/proc/self/cgroup`."""
    if root != "/" and (path == root or path.startswith(root + "/")):
        return path[len(root) :]
    return "" if path.startswith("/..") else path


def _upwards(point: str, path: str) -> list[str]:
    parts = [part for part in path.split("/") if part]
    return [normpath(join(point, *parts[:length])) for length in range(len(parts), -1, -1)]


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """The group with the smallest limit, as read from its files: `used_bytes` is what could not be reclaimed."""

    limit_bytes: int
    used_bytes: int | None


def memory_limit(cgroup: str, mountinfo: str, read: Read) -> int | None:
    """Bytes; None if no group sets a limit. `read` returns a file's text, None if there is no such file."""
    return min((limit for limit, _ in _limits(folders("memory", cgroup, mountinfo), read)), default=None)


def memory_group(inside: Iterable[str], read: Read) -> MemoryGroup | None:
    """The smallest limit among the groups with these `folders`, and how much of it is used; None if there is none."""
    smallest = min(_limits(inside, read), default=None)
    return smallest and MemoryGroup(smallest[0], _used(smallest[1], read))


def _limits(inside: Iterable[str], read: Read) -> Iterator[tuple[int, str]]:
    for folder in inside:
        for name in ("memory.max", "memory.limit_in_bytes"):
            if (limit := _bytes(read(join(folder, name)))) is not None:
                yield limit, folder


def _used(folder: str, read: Read) -> int | None:
    """Without cached files that are not in use: the kernel drops those before it kills a process."""
    current = (_bytes(read(join(folder, name))) for name in ("memory.current", "memory.usage_in_bytes"))
    used = next((number for number in current if number is not None), None)
    rows = dict(line.partition(" ")[::2] for line in (read(join(folder, "memory.stat")) or "").splitlines())
    idle = _bytes(rows.get("total_inactive_file") or rows.get("inactive_file"))
    return None if used is None else max(used - (idle or 0), 0)


def _bytes(text: str | None) -> int | None:
    number = (text or "").strip()
    return int(number) if number.isdecimal() and int(number) < _NO_LIMIT else None


def cpu_limit(cgroup: str, mountinfo: str, read: Read) -> float | None:
    """The CPU quota, as a number of CPUs; None if no group sets one."""
    quotas = [_quota(folder, read) for folder in folders("cpu", cgroup, mountinfo)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota(folder: str, read: Read) -> float | None:
    both = (read(join(folder, "cpu.max")) or "").split()
    if not both:
        both = [read(join(folder, f"cpu.cfs_{name}_us")) or "" for name in ("quota", "period")]
    return _ratio(text.strip() for text in both)


def _ratio(texts: Iterable[str]) -> float | None:
    quota, period = (*texts, "", "")[:2]
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else None
