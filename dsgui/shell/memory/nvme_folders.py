"""A folder that somebody names for offloading to NVMe: whether DeepSpeed could write there, and how much is free."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dsgui.core.errors import PlaceError
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.texts.saying import Said, said
from dsgui.shell.files.refusals import os_reason

_LONGEST = 1000
_NO_SUCH_FILES = (errno.EOPNOTSUPP, errno.EISDIR)  # a file system, or a kernel, without files that have no name


class NvmeFolders:
    """`check` raises `PlaceError` for what may not be looked at."""

    def __init__(self, check: Callable[[Path], object] = lambda path: None) -> None:
        self._check = check

    def read(self, named: str) -> Nvme | CannotSay | None:
        """None where none is named; the sentence says what is wrong with it."""
        named = named.strip()[:_LONGEST]
        if not named:
            return None
        try:
            why = self._problem(named, Path(named))
            return _cannot(named, why) if why else Nvme(named, shutil.disk_usage(named).free)
        except PlaceError:
            return _cannot(named, "nvme_outside")
        except (OSError, ValueError) as error:
            return _cannot(named, "nvme_refused", os_reason(error))

    def _problem(self, named: str, folder: Path) -> str:
        """Its code; "" for none. Raises what looking there raises."""
        if not folder.is_absolute():
            return "nvme_relative"
        self._check(folder)
        if not folder.is_dir():
            return "nvme_is_file" if folder.exists() else "nvme_no_folder"
        if not os.access(folder, os.W_OK | os.X_OK):
            return "nvme_not_writable"
        return "" if _opens(named, os.O_DIRECT) or not _opens(named, 0) else "nvme_no_direct"


def _opens(folder: str, flag: int) -> bool:
    """Whether a file can be opened there as DeepSpeed opens its own (csrc/aio/common/deepspeed_aio_common.cpp: with
    O_DIRECT, which tmpfs may not have). This one has no name, and is gone at once. Raises `OSError`."""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE | flag, 0o600))
    except OSError as error:
        if error.errno in (*_NO_SUCH_FILES, errno.EINVAL):
            return False
        raise
    return True


def _cannot(named: str, code: str, why: str | Said = "") -> CannotSay:
    return CannotSay(said("memory_cannot", code, path=named, **({"why": why} if why else {})))
