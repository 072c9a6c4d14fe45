"""JSON files that are replaced as a whole: written in one step, read again only when they have changed."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from dsgui.core.decoding import Unexpected, finite
from dsgui.core.errors import DsguiError
from dsgui.core.texts.saying import Said, said, said_with
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.files.regular_files import read_whole

T = TypeVar("T")
FILE_MODE = 0o600
# A file system's clock may stand still for some milliseconds, that of another machine's file system for whole seconds:
# one that changed a moment ago may change again and look the same.
SETTLED_NS = 2_500_000_000
_MOST_KNOWN = 512
MOST_BYTES = 4 << 20
_MOST_DEEP = 64


# What reading and decoding a file that may hold anything raises.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, DsguiError)


class Known(Generic[T]):
    """What `decode` makes of files, kept until they change. Who gets it must not change it.

    `decode` may raise ValueError, KeyError, TypeError and AttributeError for what was not meant."""

    def __init__(self, decode: Callable[[dict[str, Any]], T]) -> None:
        self._decode = decode
        self._known: dict[str, tuple[tuple[int, ...], T]] = {}

    def read(self, path: Path) -> T | None:
        """None where there is no file, or it holds something else."""
        try:
            return self.read_strictly(path)
        except UNREADABLE:
            return None

    def read_strictly(self, path: Path) -> T:
        """Raises `UNREADABLE`."""
        now, seen = time.time_ns(), os.stat(path)
        version = seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino
        known = self._known.get(str(path))
        if known and known[0] == version:
            return known[1]
        decoded = self._decode(parse_object(read_whole(path, MOST_BYTES)))
        if now - max(seen.st_mtime_ns, seen.st_ctime_ns) > SETTLED_NS:
            if len(self._known) >= _MOST_KNOWN and str(path) not in self._known:
                self._known.pop(next(iter(self._known)), None)
            self._known[str(path)] = version, decoded
        return decoded


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file that is seldom asked for; None where there is none."""
    try:
        return read_strictly(path)
    except (OSError, ValueError):
        return None


def read_strictly(path: Path) -> dict[str, Any]:
    """Raises OSError and ValueError."""
    return parse_object(read_whole(path, MOST_BYTES))


def parse_object(data: bytes) -> dict[str, Any]:
    """A JSON object that can be walked, and given on as JSON again. Raises ValueError for anything else."""
    try:
        value = json.loads(data, parse_float=finite, parse_constant=finite)
    except RecursionError as error:
        raise _too_deep() from error
    if not isinstance(value, dict):
        raise ValueError(said("files", "no_object"))
    level: list[Any] = [value]
    for _ in range(_MOST_DEEP):
        members = (one.values() if isinstance(one, dict) else one for one in level)
        level = [member for one in members for member in one if isinstance(member, dict | list)]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError(said("files", "too_deep", most=str(_MOST_DEEP)))


def why_unreadable(error: BaseException) -> "str | Said":
    """Of `UNREADABLE`, in words."""
    if isinstance(error, KeyError):
        return said("files", "key_missing", key=str(error))
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return said("files", "bad_json", why=str(error))
    if isinstance(error, Unexpected):
        seen, expected = (said_with("decoding", code, {"it": it}) for code, it in (error.seen, error.expected))
        return said("files", "unexpected", seen=seen, expected=expected)
    if error.args[:1] and isinstance(error.args[0], Said):
        return error.args[0]
    return os_reason(error)


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """ASCII only: a path that is no valid UTF-8 (surrogates) survives the round trip."""
    return json.dumps(value, indent=1, allow_nan=False).encode("ascii") + b"\n"


def replace_file(path: Path, data: bytes, durable: bool = True) -> None:
    """Readers see the old content or the new, never a part. A link at `path` is replaced, not followed. Raises
    OSError."""
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)  # made with FILE_MODE
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
