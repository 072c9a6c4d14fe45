"""Opens files that a stranger may have put there: a pipe in a file's place would be waited for, a device has no end."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dsgui.core.texts.saying import Said, said


def open_regular(path: Path | str, *, follow: bool = True) -> BinaryIO:
    """For reading bytes. Raises OSError, also for what is not a regular file, no name that a file can have, and, unless
    `follow`, for a link."""
    seen = os.stat(path, follow_symlinks=follow) if _is_name(path) else None
    if seen is None or not stat.S_ISREG(seen.st_mode):  # to open a device may already do something
        raise _irregular(path, seen.st_mode if seen else 0)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = open(os.open(path, flags), "rb")  # noqa: SIM115
    if stat.S_ISREG(mode := os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise _irregular(path, mode)


def read_regular(path: Path | str, most_bytes: int) -> str:
    """The beginning of a text. Raises OSError."""
    with open_regular(path) as file:
        return file.read(most_bytes).decode("utf-8", "replace")


def read_whole(path: Path | str, most_bytes: int) -> bytes:
    """All of a file. Raises OSError, also where it is larger: not a byte of that is read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most_bytes + 1) if size <= most_bytes else b""
        if size > most_bytes or len(data) > most_bytes:
            raise OSError(said("files", "too_large", bytes=f"{max(size, len(data)):,}", most=f"{most_bytes:,}"))
        return data


def kind_of(mode: int) -> Said:
    """What a file of this mode is."""
    return said("files", next((code for is_one, code in _KINDS if is_one(mode)), "none"))


_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def _is_name(path: Path | str) -> bool:
    return "\0" not in str(path)


def _irregular(path: Path | str, mode: int) -> OSError:
    return OSError(said("files", "irregular", path=repr(str(path)), kind=kind_of(mode)))
