"""Where dsgui keeps what outlives it. Imported at start: the standard library alone."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def default_runs_dir() -> Path:
    """`$XDG_DATA_HOME/dsgui/runs`: outside the checkout, so that an update of dsgui touches no run."""
    return data_home() / "runs"


def default_presets_dir() -> Path:
    """Beside the runs, for the same reason."""
    return data_home() / "presets"


def data_home() -> Path:
    """Where dsgui keeps the user's things. Raises `PlaceError` for a user without a home who names no other folder."""
    if named := os.environ.get("XDG_DATA_HOME"):
        return Path(named) / "dsgui"
    if (found := home()) is None:
        raise _homeless()
    return found / ".local" / "share" / "dsgui"


def _homeless() -> Exception:
    from dsgui.core.errors import PlaceError
    from dsgui.core.texts.saying import wrong

    return PlaceError(wrong("place.no_home"))


def make_private(folder: Path) -> None:
    """Makes a folder and those missing above it for their owner alone, whatever the umask is.
    `Path.mkdir(parents=True)` gives its mode to the last one only. Raises OSError."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in (*reversed(missing), folder):
        place.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def held(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Meanwhile `remove_abandoned` leaves this folder of ours alone; the kernel lets go when the process ends. Without
    `wait`, raises BlockingIOError where another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Removes the folders of that name which are ours and held by nobody: what made them was killed."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # another's, held, or just removed by who made it
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(descriptor).st_uid == os.getuid():
                    shutil.rmtree(folder)
            finally:
                os.close(descriptor)


def home() -> Path | None:
    """None for a user who has none: neither HOME nor an entry in the list of users."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def is_anyones(folder: Path) -> bool:
    """A folder for everybody's files, as /tmp is: no project's. By its sticky bit: where permissions are not kept, as
    on Windows' disks under WSL, every folder can be written by all."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)
