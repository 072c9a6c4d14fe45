"""Looks into a folder for a person who chooses a file: only where files may be named anyway."""

import errno
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from dsgui.core.access.folder_list import ENDINGS, Listing, shown
from dsgui.core.errors import PlaceError
from dsgui.core.texts.saying import wrong
from dsgui.shell.access.places import Places
from dsgui.shell.files.refusals import os_reason

_MOST_READ = 20_000  # names; a folder of a data set has millions


def listing(places: Places, path: str, wanted: str, near: bool = False) -> Listing:
    """The folder at `path`; of its files those that are `wanted`, a key of `ENDINGS`. With `near`, that is only where
    to begin: the nearest folder above it that may be reached, where `path` is a file or not there (yet), else where
    dsgui was started. Raises `PlaceError` where the folder may not be reached or can't be read."""
    folder = _nearest(places, path) if near else places.check(_expanded(path))
    endings = ENDINGS[wanted]
    folders, files, count = list[str](), list[str](), 0
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_READ):
                count += 1
                if _is(entry, folder=True):
                    folders.append(entry.name)
                elif endings and entry.name.lower().endswith(endings) and _is(entry, folder=False):
                    files.append(entry.name)
    except OSError as error:
        raise _refused(folder, error) from error
    starts = tuple(map(str, places.roots))
    return shown(str(folder), _parent(places, folder), folders, files, more=count == _MOST_READ, starts=starts)


def _first(places: Places) -> Path:
    """Where dsgui was started, if that may be reached."""
    here = Path.cwd()
    return here if any(here.is_relative_to(root) for root in places.roots) else places.roots[0]


def _nearest(places: Places, path: str) -> Path:
    if path.strip():
        whole = Path(os.path.abspath(_expanded(path)))
        with suppress(PlaceError):
            found = next((one for one in (whole, *whole.parents) if os.path.isdir(one)), whole)
            return places.check(found)
    return places.check(_first(places))


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody's home
        return Path(path)


def _parent(places: Places, folder: Path) -> str:
    try:
        return str(places.check(folder.parent)) if folder.parent != folder else ""
    except PlaceError:
        return ""


def _is(entry: os.DirEntry[str], folder: bool) -> bool:
    try:
        return entry.is_dir() if folder else entry.is_file()
    except OSError:  # links in a ring
        return False


def _refused(folder: Path, error: OSError) -> PlaceError:
    path = f"{folder!s:.200}"
    if error.errno in (errno.EACCES, errno.EPERM):
        return PlaceError(wrong("browse.denied", path=path))
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return PlaceError(wrong("browse.gone", path=path))
    return PlaceError(wrong("browse.unread", path=path, why=os_reason(error)))
