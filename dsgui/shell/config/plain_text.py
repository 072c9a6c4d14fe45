"""Plain text files that somebody names: found by their path, bounded, told in one sentence where they can't be read."""

import os
import stat
from pathlib import Path

from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, wrong
from dsgui.shell.access.places import Places
from dsgui.shell.files.refusals import os_reason

MAX_BYTES = 1 << 20


def expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise DocumentError(wrong("import.no_home", path=str(path))) from error


def reached(path: Path, places: Places | None) -> Path:
    """`path` as it was given, or where it leads when only `places` may be read: a link put in its way later is then
    refused, not followed."""
    return places.check(path) if places else path


def read_plain(path: Path, shown: str = "") -> str:
    """The text of a plain file, called `shown` in messages; no pipe or device is waited for. Raises `DocumentError`."""
    shown = shown or str(path)
    try:
        with open(path, "rb", opener=_plain_file) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise DocumentError(_why_not(path, error)) from error
    if len(content) > MAX_BYTES:
        raise DocumentError(wrong("import.too_large", path=shown, most=f"{MAX_BYTES >> 20} MiB"))
    return _decoded(shown, content)


def _plain_file(path: str, flags: int) -> int:
    """Opens `path` without waiting for a pipe's other end; refuses what is no file before anything is read."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise DocumentError(wrong("import.folder" if stat.S_ISDIR(mode) else "import.device", path=path))


def _why_not(path: Path, error: OSError | ValueError) -> Said:
    if isinstance(error, FileNotFoundError):
        where = "" if path.is_absolute() else wrong("import.started_in", folder=str(Path.cwd()))
        return wrong("import.not_found", path=str(path), where=where)
    if isinstance(error, PermissionError):
        return wrong("import.denied", path=str(path))
    return wrong("import.not_opened", path=f"{path!s:.200}", why=os_reason(error))


def _decoded(shown: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, line = content[error.start], content.count(b"\n", 0, error.start) + 1
        told = wrong("import.no_utf8", path=shown, byte=f"{byte:#04x}", line=str(line))
        raise DocumentError(told, line) from error
