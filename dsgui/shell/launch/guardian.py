"""Guardians: processes that sleep beside a run's supervisor, hold what outlives it, and start another where it is
killed. Each is a fork from before the run began, so that it shares its memory with the supervisor and needs no file.

Two of them stand above the supervisor, and all three are child subreapers: whichever is killed, what it was the parent
of falls to one that is left, which learns the launcher's exit code.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from dsgui.shell.files.installation import FOLDER, MODULE
from dsgui.shell.launch.keeping import Keeping
from dsgui.shell.processes.detached import Wakeup
from dsgui.shell.processes.processes import (
    become_subreaper,
    identify,
    is_alive,
    is_stopped,
    send_signal,
    wake_when_parent_ends,
)
from dsgui.shell.runs.store import RunDirectory

GUARDIANS = 2
_LOOK_S = 5.0  # signals wake it; nothing it waits for can be missed for longer than that
_PAUSE_S, _LONGEST_PAUSE_S, _CALM_S = 0.02, 5.0, 10.0


def guarded(keeping: Keeping, work: Callable[[], None]) -> None:
    """Does `work` in a process below new guardians; in each of them returns when the run is over."""
    for _ in range(GUARDIANS):
        _enlist(keeping)
        if os.fork():
            guard(keeping, work)
            return
    work()


def guard(keeping: Keeping, work: Callable[[], None]) -> None:
    """Until the run is over, sees to it that a process does `work`, which claims `keeping` first."""
    if _watch(keeping):
        work()


def stand_by(descriptors: Sequence[int], work: Callable[[Keeping], None]) -> None:
    """A guardian that a supervisor has started with `new_guardian`."""
    keeping = Keeping(descriptors)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    _enlist(keeping)
    guard(keeping, lambda: work(keeping))


def new_guardian(keeping: Keeping, directory: RunDirectory, grace_s: float) -> "subprocess.Popen[bytes]":
    """A guardian for a supervisor that has lost its own. Raises OSError."""
    descriptors = ",".join(map(str, keeping.descriptors))
    folder = () if directory.descriptor is None else (directory.descriptor,)
    held = [f"--folder={descriptor}" for descriptor in folder]
    return subprocess.Popen(
        [
            *(sys.executable, *MODULE, "dsgui.supervise", str(directory.given), *held),
            *(f"--grace={grace_s}", f"--guard={descriptors}"),
        ],
        cwd=FOLDER,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(*keeping.descriptors, *folder),
    )


def collect(keeping: Keeping, pid: int | None = None) -> None:
    """Waits for children that have ended, or for one; their exit codes are told before the kernel forgets them."""
    which = (os.P_ALL, 0) if pid is None else (os.P_PID, pid)
    with suppress(ChildProcessError):
        while found := os.waitid(*which, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            _tell_end(keeping, found)
            os.waitpid(found.si_pid, os.WNOHANG)


def _tell_end(keeping: Keeping, found: os.waitid_result) -> None:
    identity = identify(found.si_pid)
    if identity and keeping.facts.launcher == identity:
        exited = found.si_code == os.CLD_EXITED
        keeping.tell(ended=(found.si_pid, found.si_status if exited else -found.si_status))


def _watch(keeping: Keeping) -> bool:
    """True in a new process that is to be the supervisor."""
    become_subreaper()
    last_s, pause_s = 0.0, _PAUSE_S
    with Wakeup(keeping.ask) as wakeup:
        wake_when_parent_ends()
        while True:
            wakeup.wait(_LOOK_S)
            wakeup.clear()
            collect(keeping)
            if keeping.facts.over:
                return False
            if keeping.is_claimed():
                continue
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S) if time.monotonic() - last_s < _CALM_S else _PAUSE_S
            last_s = time.monotonic()
            with suppress(OSError):  # no process may be added now: it tries again
                if os.fork() == 0:
                    return True
            time.sleep(pause_s)  # it claims meanwhile; where something kills each of them, not too many are started


def _enlist(keeping: Keeping) -> None:
    """Before there is anybody to guard, who wants to know."""
    if own := identify(os.getpid()):
        keeping.tell(guardian=own.to_json())


def dismiss(keeping: Keeping) -> None:
    """The run is over: guardians that are suspended go on, and end."""
    keeping.tell(over=True)
    for guardian in filter(is_stopped, keeping.facts.guardians):
        send_signal(guardian, signal.SIGCONT)


def is_guarded(keeping: Keeping) -> bool:
    """Whether one of the guardians lives."""
    return any(is_alive(guardian) for guardian in keeping.facts.guardians)
