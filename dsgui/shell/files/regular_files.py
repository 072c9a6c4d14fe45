"""Opens files that a stranger may have put there: a pipe in a file's place would be waited for, a device has no end."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


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
            raise OSError(f"it has {max(size, len(data)):,} bytes; at most {most_bytes:,} are read")
        return data


def kind_of(mode: int) -> str:
    """What a file of this mode is, in words."""
    return next((name for is_one, name in _KINDS if is_one(mode)), "no file")


_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _is_name(path: Path | str) -> bool:
    return "\0" not in str(path)


def _irregular(path: Path | str, mode: int) -> OSError:
    return OSError(f"{str(path)!r} is not a regular file but {kind_of(mode)}")
