"""Opens files that a stranger may have put there: a pipe in a file's place would be waited for, a device has no end."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path | str, *, follow: bool = True) -> BinaryIO:
    """For reading bytes. Raises OSError, also for what is no regular file, no name that a file can have, and, unless
    `follow`, for a link."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        file = open(os.open(path, flags), "rb")  # noqa: SIM115
    except ValueError as error:  # a null character
        raise OSError(str(error)) from error
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(f"{path} is no regular file")


def read_regular(path: Path | str, most_bytes: int) -> str:
    """The beginning of a text. Raises OSError."""
    with open_regular(path) as file:
        return file.read(most_bytes).decode("utf-8", "replace")
