"""Files that are on no disk."""

import errno
import os

_CLOEXEC, _NOEXEC_SEAL = 0x1, 0x8  # linux/memfd.h; the second since 6.3, where administrators may insist on it


def file_in_memory(name: str) -> int:
    """A new one's descriptor, which nothing can be executed from where the kernel knows that. Raises OSError."""
    try:
        return os.memfd_create(name, _CLOEXEC | _NOEXEC_SEAL)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return os.memfd_create(name, _CLOEXEC)
