"""JSON files that are replaced as a whole: written in one step, read again only when they have changed."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
FILE_MODE = 0o600
# A file system's clock may stand still for some milliseconds, that of another machine's file system for whole seconds:
# one that changed a moment ago may change again and look the same.
SETTLED_NS = 2_500_000_000
_MOST_KNOWN = 512


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
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def read_strictly(self, path: Path) -> T:
        """Raises OSError and what `decode` raises."""
        now, seen = time.time_ns(), os.stat(path)
        version = seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino
        known = self._known.get(str(path))
        if known and known[0] == version:
            return known[1]
        value = json.loads(path.read_bytes())
        if not isinstance(value, dict):
            raise ValueError("it is no JSON object")
        decoded = self._decode(value)
        if now - max(seen.st_mtime_ns, seen.st_ctime_ns) > SETTLED_NS:
            if len(self._known) >= _MOST_KNOWN and str(path) not in self._known:
                self._known.pop(next(iter(self._known)), None)
            self._known[str(path)] = version, decoded
        return decoded


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file that is seldom asked for; None where there is none."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


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
