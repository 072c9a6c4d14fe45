"""In which order processes end, told by the kernel as it happens: they are others' children, so nobody else says."""

import os
import select
from collections.abc import Collection
from contextlib import suppress

_MOST = 4096  # file descriptors


class Ends:
    """Watches processes by pid; `order` are those that have ended, the first one first. Readable (`fileno`) when there
    is news for `take`."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self._poll = select.epoll()
        self._watched: dict[int, int] = {}  # pid by descriptor
        self._seen: set[int] = set()

    def fileno(self) -> int:
        return self._poll.fileno()

    def watch(self, pids: Collection[int]) -> None:
        """Those not watched yet. One that is gone already has ended now."""
        if len(pids) == len(self._seen):
            return
        for pid in [pid for pid in pids if pid not in self._seen][: _MOST - len(self._seen)]:
            self._seen.add(pid)
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                self.order.append(pid)
            except OSError:  # no more descriptors, or an old kernel: then nothing is said of it
                continue
            else:
                self._watched[descriptor] = pid
                self._poll.register(descriptor, select.EPOLLIN)

    def take(self) -> None:
        """Notes those that have ended since."""
        for descriptor, _ in self._poll.poll(0):
            self.order.append(self._watched.pop(descriptor))
            self._poll.unregister(descriptor)
            os.close(descriptor)

    def go_on(self, order: Collection[int]) -> None:
        """With those that another supervisor saw end."""
        self.order, self._seen = list(order), set(order)

    def close(self) -> None:
        for descriptor in self._watched:
            with suppress(OSError):
                os.close(descriptor)
        self._watched = {}
        self._poll.close()
