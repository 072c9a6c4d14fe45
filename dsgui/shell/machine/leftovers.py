"""What killed runs leave on a machine, and removing it when no process needs it any more."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from dsgui.shell.processes.processes import open_files, snapshot

_BLOCK = 512  # what st_blocks counts
_NETWORK_FILESYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "9p", "virtiofs"})


def extensions_folder(environment: Mapping[str, str]) -> Path:
    """Where torch builds its extensions for a process with this environment
    (torch/utils/cpp_extension.py:get_default_build_root)."""
    if chosen := environment.get("TORCH_EXTENSIONS_DIR"):
        return Path(chosen)
    cache = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".cache"
    return Path(cache, "torch_extensions")


def build_locks(folder: Path) -> set[Path]:
    """The locks in a folder of torch's extension builds; none where the folder is on a network file system, since the
    process that holds one may be on another machine."""
    if _is_on_network(folder):
        return set()
    return {*folder.glob("*/lock"), *folder.glob("*/*/lock")}


def held_build_locks(pids: Iterable[int]) -> set[Path]:
    """The locks of torch's extension builds that these processes hold. torch/utils/file_baton.py keeps the file open
    while it builds; a process killed then leaves it, and every later run waits for it for ever."""
    return {path for pid in pids for path in open_files(pid) if path.name == "lock" and _is_build(path.parent)}


def stale_locks(locks: Iterable[Path]) -> set[Path]:
    """Those that exist, that this user owns, and that no process of this machine has open."""
    left = {path for path in locks if _is_mine(path)}
    return left - held_build_locks(snapshot()) if left else set()


def remove_stale_locks(locks: Iterable[Path]) -> list[str]:
    """Removes those that exist, that this user owns, and that no process of this machine has open."""
    removed = []
    for path in stale_locks(locks):
        with contextlib.suppress(OSError):
            path.unlink()
            removed.append(str(path))
    return removed


def remove_shared_buffers(master_port: int, folder: Path = Path("/dev/shm")) -> list[str]:
    """Removes what a run on the CPU leaves behind, 66 MiB a rank; call it when none of the run's processes is left.

    They are named deepspeed_allreduce_buffer_<uid>_<address>_<port>_<rank> (deepspeed/ops/csrc/cpu/comm/shm.cpp), so a
    run that still listens on another port, and another user's, keep theirs."""
    removed = []
    for path in folder.glob(f"deepspeed_allreduce_buffer_{os.getuid()}_*_{master_port}_*"):
        with contextlib.suppress(OSError):
            path.unlink()
            removed.append(path.name)
    return removed


def stale_buffers(folder: Path = Path("/dev/shm")) -> dict[Path, int]:
    """This user's shared buffers that no process has mapped, with the bytes each takes."""
    files = set(folder.glob(f"deepspeed_allreduce_buffer_{os.getuid()}_*"))
    mapped = "".join(_maps(pid) for pid in snapshot()) if files else ""
    return {path: _held_bytes(path) for path in files if str(path) not in mapped and _is_mine(path)}


def _held_bytes(path: Path) -> int:
    try:
        return path.stat().st_blocks * _BLOCK
    except FileNotFoundError:  # removed meanwhile
        return 0


def _maps(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/maps").read_text("utf-8", "replace")
    except OSError:
        return ""


def _is_build(folder: Path) -> bool:
    return "torch_extensions" in folder.parts or (folder / "build.ninja").exists()


def _is_mine(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _is_on_network(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    kinds = {}
    for line in mounts.read_text("utf-8", "replace").splitlines():
        _, point, kind, *_ = line.split(" ")
        kinds[Path(point.replace("\\040", " "))] = kind
    resolved = folder.resolve()
    kind = next((kinds[point] for point in (resolved, *resolved.parents) if point in kinds), "")
    return kind in _NETWORK_FILESYSTEMS or kind.startswith("fuse")
