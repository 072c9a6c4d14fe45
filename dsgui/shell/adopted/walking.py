"""Lists a folder that somebody else's training wrote, and opens its files: what a link leads to is not its own."""

import os
import stat
from collections import deque
from dataclasses import dataclass
from itertools import islice
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
    return _Walk(root).walk()


class _Walk:
    """Folder by folder, those near the root first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: list[Lying] = []
        self._waiting = deque([("", 0)])
        self._left, self._whole = _MOST_ENTRIES, True
        self._links = self._closed = self._own = 0

    def walk(self) -> Walked:
        while self._waiting and self._left > 0:
            self._enter(*self._waiting.popleft())
        whole = self._whole and self._left > 0
        return Walked(tuple(self._files), whole, self._links, self._closed, self._own)

    def _enter(self, folder: str, depth: int) -> None:
        try:
            with os.scandir(self._root / folder) as found:
                entries = sorted(islice(found, self._left), key=lambda entry: entry.name)
        except OSError:
            if not folder:
                raise
            self._closed += 1
            return
        if {entry.name for entry in entries} >= OWN:
            self._own += 1
            return
        self._left -= len(entries)
        for entry in entries:
            self._take(entry, f"{folder}/{entry.name}" if folder else entry.name, depth)

    def _take(self, entry: "os.DirEntry[str]", path: str, depth: int) -> None:
        seen = _stat(entry)
        if seen is None or not _is_text(entry.name):
            return
        self._links += stat.S_ISLNK(seen.st_mode)
        if stat.S_ISREG(seen.st_mode):
            self._files.append(_lying(path, seen))
        elif stat.S_ISDIR(seen.st_mode) and _is_entered(entry.name):
            self._whole = self._whole and depth < _DEEPEST
            if depth < _DEEPEST:
                self._waiting.append((path, depth + 1))


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
