"""A run's first process, followed by whoever supervises it now: its parent, or a process that came later."""

import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from dsgui.core.launch.state import Identity
from dsgui.shell.launch.guardian import collect
from dsgui.shell.launch.keeping import Keeping
from dsgui.shell.processes.processes import ProcessStat, exit_code_of_zombie, read_stat

_PATIENCE_S = 5.0  # a guardian that its child's end has woken tells in a few milliseconds, unless it is suspended
_POLL_S = 0.01
_DRAIN_BYTES, _DRAIN_S = 1 << 20, 0.1
# linux/pidfd.h: PIDFD_GET_INFO, its struct's first version, PIDFD_INFO_EXIT.
_GET_INFO, _INFO_BYTES, _INFO_EXIT = 0xC040FF0B, 64, 1 << 3


class Launched:
    """`exit_code` is as `Popen` has it: None while it runs, and where nobody of dsgui's was left to be told."""

    def __init__(self, identity: Identity, keeping: Keeping, popen: "subprocess.Popen[bytes] | None" = None) -> None:
        self.identity, self.pid, self._keeping = identity, identity.pid, keeping
        self._popen = popen  # that it does not wait for the process itself once nobody holds it
        self.exit_code: int | None = None
        self.runs_on = True
        self._ended_s: float | None = None  # when it was first seen to have
        self._handle: int | None = None  # of a run's first process: kept as long as this one lives
        with suppress(OSError):
            self._handle = os.pidfd_open(self.pid)

    def poll(self) -> bool:
        """Whether it runs on."""
        if self.runs_on:
            collect(self._keeping, self.pid)
            stat = read_stat(self.pid)  # before what was told is read: whoever waits for it tells first
            there = stat if stat and stat.start_time == self.identity.start_time else None
            self.exit_code = dict(self._keeping.facts.ended).get(self.pid)
            if self.exit_code is None and (there is None or self._is_forsaken(there)):
                self.exit_code = self._kernels_word(there)
                self.runs_on = False
            self.runs_on = self.runs_on and self.exit_code is None
            if not self.runs_on and self._popen:
                self._popen.returncode = self.exit_code
        return self.runs_on

    def _is_forsaken(self, stat: ProcessStat) -> bool:
        """Ended, and nobody of dsgui's is its parent any more, or one that does not tell: it is suspended, or hangs."""
        if not stat.zombie:
            return False
        now = time.monotonic()
        self._ended_s = now if self._ended_s is None else self._ended_s
        owners = (os.getpid(), *(one.pid for one in self._keeping.facts.guardians))
        return stat.parent not in owners or now - self._ended_s > _PATIENCE_S

    def _kernels_word(self, stat: ProcessStat | None) -> int | None:
        """How it ended, where no process of dsgui's was told: kernels since 6.15 keep it, others while it is there."""
        if stat is not None:
            return exit_code_of_zombie(self.pid)
        if self._handle is None:
            return None
        info = bytearray(_INFO_BYTES)
        struct.pack_into("Q", info, 0, _INFO_EXIT)
        with suppress(OSError):
            fcntl.ioctl(self._handle, _GET_INFO, info)
            if struct.unpack_from("Q", info)[0] & _INFO_EXIT:
                return os.waitstatus_to_exitcode(struct.unpack_from("i", info, _INFO_BYTES - 4)[0])
        return None

    def wait(self) -> None:
        while self.poll():
            time.sleep(_POLL_S)


def drain_until_end(
    process: Launched, keeping: Keeping, stopped: Callable[[], bool], beat: Callable[[], object] = lambda: None
) -> None:
    """Takes what is printed and drops it, so that a training which nobody can record goes on; until it ends, or is to
    be stopped."""
    while process.poll() and not stopped():
        with suppress(OSError):  # nothing is there now
            while os.read(keeping.output, _DRAIN_BYTES):
                pass
        beat()
        time.sleep(_DRAIN_S)
