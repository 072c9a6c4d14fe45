"""The end of a run that its folder does not take (no space, no permission, a disk gone read-only): kept in another
place until the folder takes it, so that nobody has to guess it.

Two places are tried, which seldom fail with the runs' folder: the user's data folder, then memory (/dev/shm), which
lasts as long as the machine is up. Who looks at the run next reads the end there, and writes it where it belongs.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsgui.core.decoding import text
from dsgui.core.launch.state import RunStatus
from dsgui.shell.files.folders import data_home, make_private
from dsgui.shell.files.json_files import UNREADABLE, json_bytes, read_strictly, replace_file
from dsgui.shell.runs.store import RunDirectory

_MEMORY = Path("/dev/shm")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0


@dataclass(frozen=True, slots=True)
class KeptEnd:
    """What the folder does not hold: the last state, and the diagnosis of a run that failed. `why` its folder refused
    them, and `place` is the file they are in."""

    status: RunStatus
    diagnosis: Mapping[str, Any] | None
    why: str
    place: Path


def keep_end(directory: RunDirectory, status: RunStatus, diagnosis: Mapping[str, Any] | None, why: str) -> Path | None:
    """Where it is kept now; None where no place takes it."""
    value = {"status": status.to_json(), "diagnosis": diagnosis, "why": why, "folder": _inode(directory)}
    for place in _places():
        with suppress(OSError):
            make_private(place)
            if _is_private(place):
                replace_file(place / _name(directory), json_bytes(value))
                return place / _name(directory)
    return None


def kept_end(directory: RunDirectory) -> KeptEnd | None:
    """The end that is kept of this very folder's run, if any."""
    for place in _places():
        path = place / _name(directory)
        if not os.path.lexists(path) or not _is_private(place):
            continue
        with suppress(*UNREADABLE):
            value = read_strictly(path)
            if value["folder"] == _inode(directory):
                diagnosis = value["diagnosis"] if isinstance(value["diagnosis"], dict) else None
                return KeptEnd(RunStatus.from_json(value["status"]), diagnosis, text(value["why"]), path)
    return None


def settle(directory: RunDirectory, kept: KeptEnd) -> bool:
    """Writes the end where it belongs, and keeps it elsewhere no more; False while the folder does not take it."""
    try:
        if kept.diagnosis is not None:
            directory.write_diagnosis(kept.diagnosis)
        directory.write_status(kept.status)
    except OSError:
        return False
    forget(directory)
    return True


def insist(
    directory: RunDirectory,
    status: RunStatus,
    diagnosis: Mapping[str, Any] | None,
    why: str,
    stops: Callable[[], int],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Until the folder takes the end: tries again, ever less often. Ends as well where the folder is deleted, and at
    the next Stop: then whoever looks at the run next writes it."""
    place, asked = keep_end(directory, status, diagnosis, why), stops()
    kept = KeptEnd(status, diagnosis, why, place or directory.state_file)
    pause_s = _FIRST_PAUSE_S
    while stops() == asked and not directory.is_deleted:
        for _ in range(round(pause_s / _FIRST_PAUSE_S)):
            if stops() == asked:
                sleep(_FIRST_PAUSE_S)
        with suppress(OSError):
            directory.beat(time.monotonic())
        if settle(directory, kept):
            return
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    if directory.is_deleted:
        forget(directory)


def forget(directory: RunDirectory) -> None:
    """It is where it belongs, or the run was deleted."""
    for place in _places():
        with suppress(OSError):
            os.unlink(place / _name(directory))


def _places() -> Iterator[Path]:
    yield data_home() / "ends"
    yield _MEMORY / f"dsgui-{os.geteuid()}"


def _name(directory: RunDirectory) -> str:
    return f"{directory.run_id}.json"


def _inode(directory: RunDirectory) -> int:
    """Tells the folder from a copy of it, wherever it is moved to."""
    try:
        return os.stat(directory.path).st_ino
    except OSError:
        return 0


def _is_private(place: Path) -> bool:
    """Whether nobody else can have written there: /dev/shm is everybody's."""
    try:
        seen = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & 0o022
