"""A process of its own: it leaves whoever started it, and signals wake it."""

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from dsgui.core.errors import DsguiError


def detach(work: Callable[[Callable[[], None]], None]) -> int:
    """Forks; the child does `work` and ends. The parent returns 0 once the child calls `ready`, else 1."""
    said, saying = os.pipe()
    if os.fork():
        os.close(saying)
        with open(said, "rb") as file:
            return 0 if file.read(1) else 1
    os.close(said)
    code = 1
    try:
        work(lambda: _say(saying))
        code = 0
    except DsguiError as error:
        print(error, file=sys.stderr)
    except Exception:  # noqa: BLE001  the outermost boundary of a process with no other place to tell it
        traceback.print_exc()
    finally:
        with suppress(OSError):  # a full disk
            sys.stderr.flush()
        os._exit(code)


def _say(descriptor: int) -> None:
    with suppress(OSError):  # told before, by a process that was killed
        os.write(descriptor, b"1")
        os.close(descriptor)


class Wakeup:
    """Turns signals into something a selector can wait for: SIGTERM and SIGINT ask for a stop, SIGUSR1 to save first,
    SIGCHLD only wakes. `ask` is given the signal's number."""

    def __init__(self, ask: Callable[[int], None]) -> None:
        self._ask = ask
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> "Wakeup":
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        # Handlers, not SIG_IGN: what is ignored would be ignored by the run's processes too.
        handlers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
            signal.SIGTERM: lambda number, frame: self._ask(number),
            signal.SIGINT: lambda number, frame: self._ask(number),
            signal.SIGUSR1: lambda number, frame: self._ask(number),
            signal.SIGHUP: lambda number, frame: None,
            signal.SIGCHLD: lambda number, frame: None,
        }
        for number, handler in handlers.items():
            signal.signal(number, handler)
        return self

    def wait(self, timeout_s: float) -> None:
        """Until a signal comes, at most so long."""
        select.select([self.descriptor], [], [], timeout_s)

    def clear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self.descriptor, 4096)

    def __exit__(self, *exception: object) -> None:
        # The process ends next: until then a late SIGTERM still finds the handlers, and hurts nothing.
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._write)
