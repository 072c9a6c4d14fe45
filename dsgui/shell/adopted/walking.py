"""Lists a folder that somebody else's training wrote, and opens its files: what a link leads to is not its own."""

import os
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dsgui.core.adopted.lying import Lying
from dsgui.core.texts.saying import said
from dsgui.shell.files.regular_files import open_regular

_MOST_ENTRIES, _DEEPEST = 50_000, 8
_NOT_ENTERED = frozenset({"node_modules", "site-packages", "__pycache__", "wandb", "mlruns"})
# A run of dsgui's, which is in its list already.
OWN = frozenset({"plan.json", "points.bin"})


@dataclass(frozen=True, slots=True)
class Walked:
    """The regular files of a folder and of those below it. `whole` is False where there were more than are looked at,
    `links` counts what leads elsewhere, `closed` the folders that can't be read, `own` those that are runs of
    dsgui's."""

    files: tuple[Lying, ...]
    whole: bool = True
    links: int = 0
    closed: int = 0
    own: int = 0


def walked(root: Path) -> Walked:
    """`root` may be a single file, too. Raises OSError when it can't be read at all."""
    if not root.is_dir():
        with open_regular(root) as file:
            return Walked((_lying(root.name, os.fstat(file.fileno())),))
    files, waiting = list[Lying](), deque([("", 0)])
    left, links, closed, own, whole = _MOST_ENTRIES, 0, 0, 0, True
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)[:left]
        except OSError:
            if not folder:
                raise
            closed += 1
            continue
        if {entry.name for entry in entries} >= OWN:
            own += 1
            continue
        left -= len(entries)
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            seen = _stat(entry)
            if seen is None or not _is_text(entry.name):
                continue
            links += stat.S_ISLNK(seen.st_mode)
            if stat.S_ISREG(seen.st_mode):
                files.append(_lying(path, seen))
            elif stat.S_ISDIR(seen.st_mode) and _is_entered(entry.name):
                whole = whole and depth < _DEEPEST
                waiting.extend([(path, depth + 1)] if depth < _DEEPEST else [])
    return Walked(tuple(files), whole and left > 0, links, closed, own)


def _lying(path: str, seen: os.stat_result) -> Lying:
    return Lying(path, seen.st_size, seen.st_mtime_ns)


def _stat(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _is_text(name: str) -> bool:
    """A name that JSON and a terminal take."""
    return name.isprintable()


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_ENTERED


def open_inside(root: Path, path: str) -> BinaryIO:
    """A file of the folder, by its path in it. Raises OSError, also where a link has been put in its way since the
    folder was listed."""
    whole = root if not root.is_dir() else root / path
    file = open_regular(whole, follow=False)
    real = os.path.realpath(f"/proc/self/fd/{file.fileno()}")
    if real != os.path.join(os.path.realpath(root), path) and real != os.path.realpath(root):
        file.close()
        raise OSError(said("files", "irregular", path=repr(path), kind=said("files", "link")))
    return file


def read_inside(root: Path, path: str, most_bytes: int) -> bytes:
    """The beginning of it. Raises OSError."""
    with open_inside(root, path) as file:
        return file.read(most_bytes)
