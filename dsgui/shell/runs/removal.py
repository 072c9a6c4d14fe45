"""Removing a run's folder: what would go, and then removing just that. Links are removed, never followed."""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dsgui.core.errors import RunError
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.runs.adrift import RUN_ID

_MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing `path` would take away: how many files, how many bytes, and the largest of them by name."""

    path: str
    files: int
    size_bytes: int
    largest: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(folder: Path) -> Removal:
    """Raises `RunError` when the folder is no folder of its own."""
    _refuse_links(folder)
    try:
        sizes = _sizes(folder)
    except RecursionError as error:
        raise RunError(wrong("removal.too_deep", folder=str(folder))) from error
    largest = tuple(sorted(sizes, key=lambda one: -one[1])[:_MOST_LISTED])
    return Removal(str(folder), len(sizes), sum(size for _, size in sizes), largest)


def _sizes(folder: Path) -> list[tuple[str, int]]:
    sizes = []
    for place, folders, files in os.walk(folder, followlinks=False):
        for name in [*files, *(one for one in folders if os.path.islink(os.path.join(place, one)))]:
            path = os.path.join(place, name)
            sizes.append((os.path.relpath(path, folder), _size(path)))
    return sizes


def remove(folder: Path) -> None:
    """Raises `RunError`; what could be removed until then is gone. Whatever is in the folder, half a run is not listed:
    it goes under another name first."""
    _refuse_links(folder)
    for left in folder.parent.glob(".*.deleted"):
        if RUN_ID.match(left.name[1:].removesuffix(".deleted")):  # by who was killed while deleting
            shutil.rmtree(left, ignore_errors=True)
    try:
        leaving = folder.rename(folder.with_name(f".{folder.name}.deleted"))
    except OSError:
        leaving = folder  # it may still be emptied
    try:
        shutil.rmtree(leaving)  # it follows no links (shutil.rmtree.avoids_symlink_attacks on Linux)
    except (OSError, RecursionError) as error:
        given = {"folder": str(folder), "why": os_reason(error), "left": str(leaving)}
        raise RunError(wrong("removal.not_whole", **given)) from error


def _refuse_links(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise RunError(wrong("removal.link", folder=str(folder)))


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
