"""Who a process is, which processes are a run's, and ending all of them and nothing else (Linux, through /proc).

A process is a run's when it carries the run's marker in its environment, is in the session of the run's launcher while
that launcher still holds its pid, descends from one that is, or descends from the run's owners: its supervisor and its
guardians. They are child subreapers (prctl(2)): a process that detaches itself becomes their child, never init's.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dsgui.core.launch.command import MARKER
from dsgui.core.launch.state import Identity, RunStatus

_PROC = Path("/proc")
_SUPERVISOR, _ENDS = b"dsgui.supervise", b"--end"  # what `shell.launch.launcher` starts
_ZOMBIE_STATES = frozenset({b"Z", b"X", b"x"})
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PF_EXITING = 0x4  # include/linux/sched.h
_SCAN_S = 0.05
_KILL_WAIT_S = 3.0
_ANEW = 60  # looks
_STAT_BYTES = 4096  # one line of some fifty numbers and a name of 15 bytes


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """The fields of /proc/<pid>/stat that say who a process is."""

    pid: int
    parent: int
    session: int
    start_time: int
    zombie: bool
    name: str  # the kernel's: the program's, cut to 15 bytes
    state: str = ""  # a letter of proc(5)
    exiting: bool = False  # its memory may be gone already, and its command line and environment with it

    @property
    def stopped(self) -> bool:
        """By a signal (SIGSTOP, Ctrl-Z) or a debugger."""
        return self.state in ("T", "t")


@cache
def boot_id() -> str:
    """Changes with every boot of the machine."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def read_stat(pid: int) -> ProcessStat | None:
    """None when there is no such process, or it is another user's and hidden (procfs mounted with hidepid)."""
    try:  # without the layers of `open`: a supervisor does this for each process once a second
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    try:
        text = os.read(descriptor, _STAT_BYTES)
    except (ProcessLookupError, PermissionError):
        return None
    finally:
        os.close(descriptor)
    before, _, after = text.rpartition(b")")  # the name may hold spaces and brackets itself
    fields = after.split(None, 20)
    return ProcessStat(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        start_time=int(fields[19]),
        zombie=fields[0] in _ZOMBIE_STATES,
        name=before.partition(b"(")[2].decode("utf-8", "replace"),
        state=fields[0].decode("ascii", "replace"),
        exiting=bool(int(fields[6]) & _PF_EXITING),
    )


def exit_code_of_zombie(pid: int) -> int | None:
    """As `Popen` has it; None where it is not there any more, or hidden."""
    try:
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return os.waitstatus_to_exitcode(int(fields[49]))  # proc(5): exit_code, the 52nd
    except (OSError, ValueError, IndexError):
        return None


def identify(pid: int) -> Identity | None:
    """The identity of a process that exists (zombies too), else None."""
    stat = read_stat(pid)
    return Identity(pid, stat.start_time, boot_id()) if stat else None


def is_alive(identity: Identity | None) -> bool:
    """Whether this very process runs; a zombie does not."""
    stat = _stat_of(identity)
    return stat is not None and not stat.zombie


def is_stopped(identity: Identity | None) -> bool:
    """Whether this very process is held by a signal or a debugger."""
    stat = _stat_of(identity)
    return stat is not None and stat.stopped


def is_exiting(identity: Identity | None) -> bool:
    """Whether this very process is on its way out, or a zombie: it can't be asked any more what it was started for."""
    stat = _stat_of(identity)
    return stat is not None and stat.exiting


def is_owned(status: RunStatus) -> bool:
    """Whether somebody will write how the run ended: its supervisor, or a guardian that starts another."""
    return any(is_alive(owner) for owner in status.owners)


def is_rebooted(identity: Identity | None) -> bool:
    """Whether the machine was restarted since, or it is another machine's."""
    return identity is not None and identity.boot_id != boot_id()


def supervises(identity: Identity | None, run_id: str) -> bool:
    """Whether this process of ours was started to supervise that run, whoever wrote down that it was. A folder from
    elsewhere may name any process."""
    return identity is not None and is_alive(identity) and _is_ours(identity.pid) and _owns(identity.pid, run_id)


def _owns(pid: int, run_id: str) -> bool:
    """Whether its command line says so."""
    words = _words(pid)
    return _SUPERVISOR in words and any(os.path.basename(word.rstrip(b"/")) == run_id.encode() for word in words)


def our_pids() -> Iterator[int]:
    """Every process of this user."""
    return (pid for pid in _pids() if _is_ours(pid))


def supervised_folder(pid: int) -> str:
    """The run's folder that a process was started to supervise, as it was given; "" for any other process, and for one
    that only ends what is left of a run."""
    words = _words(pid)
    if _SUPERVISOR not in words or _ENDS in words:
        return ""
    folder = words[words.index(_SUPERVISOR) + 1 :][:1]
    return os.fsdecode(folder[0]) if folder else ""


def environment_of(pid: int) -> dict[str, str]:
    """A process's environment, as it was started; empty where it can't be read."""
    parts = (os.fsdecode(line).partition("=") for line in _environment(pid).split(b"\0"))
    return {name: value for name, _, value in parts if name}


def _is_ours(pid: int) -> bool:
    try:
        return (_PROC / str(pid)).stat().st_uid == os.geteuid()
    except OSError:
        return False


def _words(pid: int) -> list[bytes]:
    """A process's command line."""
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def send_signal(identity: Identity, number: signal.Signals) -> bool:
    """Signals this very process, with no moment in which its pid could become another's. False when it is gone,
    and where it may not be signalled: see `forbidden`."""
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(identity):
            return False
        signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def forbidden(pids: Iterable[int]) -> set[int]:
    """Those of `pids` that this user may not signal: what sudo or a set-user-ID program made another's."""
    return {pid for pid in pids if _is_forbidden(pid)}


def _is_forbidden(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return False


def open_files(pid: int) -> Iterator[Path]:
    """The paths of the files that a process has open; none where /proc hides them."""
    folder = _PROC / str(pid) / "fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            yield Path(os.readlink(folder / name))


def become_subreaper() -> bool:
    """From now on orphaned descendants become this process's children. False where the kernel refuses."""
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def wake_when_parent_ends() -> None:
    """From now on a parent's death is told as a child's is, by SIGCHLD."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCHLD, 0, 0, 0)


def snapshot() -> dict[int, ProcessStat]:
    """Every process of the machine, by pid."""
    return _read_stats(_pids())


class Kin:
    """The descendants of some processes, looked for again and again at little cost: who was seen to be a stranger is
    not read a second time, for nobody becomes a descendant later. Now and then all are read anew, in case a stranger's
    pid was given to a descendant between two looks."""

    def __init__(self, roots: Collection[int]) -> None:
        self._roots = frozenset(roots)
        self._strangers: set[int] = set()
        self._looks = 0

    def look(self) -> dict[int, ProcessStat]:
        """By pid, zombies too."""
        if self._looks % _ANEW == 0:
            self._strangers.clear()
        self._looks += 1
        pids = _pids()
        self._strangers &= pids
        table = _read_stats(pids - self._strangers)
        kin = descendants(self._roots, table)
        # Only whoever descends from a known stranger or the kernel is one: a parent that has ended between the two
        # readings leaves open whose child it was.
        self._strangers |= _closure(self._strangers | {0}, table) - kin - self._roots
        return {pid: table[pid] for pid in kin}


def descendants(roots: Collection[int], table: dict[int, ProcessStat]) -> set[int]:
    """The pids below `roots`, without them."""
    return _closure(set(roots), table) - set(roots)


def marked(run_id: str, pids: Iterable[int]) -> set[int]:
    """Those of `pids` whose environment carries the run's marker; other users' can't be read and aren't ours."""
    line = f"{MARKER}={run_id}".encode()
    return {pid for pid in pids if line in _environment(pid).split(b"\0")}


def members(run_id: str, process: Identity | None = None, owners: Collection[int] = ()) -> set[int]:
    """The pids of the run's processes that are alive, never this process itself. `owners` are pids known to be the
    run's supervisor and guardians: everything else below them is the run's, but for one that is about to be an owner
    and has not said so."""
    table = snapshot()
    seeds = marked(run_id, table) | _session(process, run_id, table)
    below = descendants(owners, table)
    found = (_closure(seeds, table) | below) - {os.getpid(), *owners}
    found -= {pid for pid in below if _owns(pid, run_id) and not marked(run_id, [pid])}
    return {pid for pid in found if not table[pid].zombie}


def ranks(pids: Iterable[int]) -> set[int]:
    """Those of `pids` that a launcher started as ranks; what a rank starts itself inherits RANK and is none."""
    table = snapshot()
    given = {pid for pid in pids if any(line.startswith(b"RANK=") for line in _environment(pid).split(b"\0"))}
    return {pid for pid in given if pid in table and table[pid].parent not in given}


def end_tree(
    run_id: str,
    process: Identity | None,
    grace_s: float = 10,
    owners: Collection[int] = (),
    hurry: Callable[[], bool] = lambda: False,
) -> tuple[int, ...]:
    """TERM to every process of the run, also to those that appear meanwhile; after `grace_s` in all, or as soon as
    `hurry` says so, KILL.

    Returns the pids that are still alive a few seconds after (in an uninterruptible wait)."""
    deadline = time.monotonic() + grace_s
    _signal_while(lambda: time.monotonic() < deadline and not hurry(), signal.SIGTERM, run_id, process, owners)
    deadline = time.monotonic() + _KILL_WAIT_S
    return _signal_while(lambda: time.monotonic() < deadline, signal.SIGKILL, run_id, process, owners)


def reap(spare: int, table: dict[int, ProcessStat] | None = None) -> None:
    """Collects adopted orphans that have ended, but not `spare`, which its own parent object waits for. `table` spares
    looking at every process."""
    for pid, stat in (snapshot() if table is None else table).items():
        if stat.zombie and stat.parent == os.getpid() and pid != spare:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _signal_while(
    patient: Callable[[], bool],
    number: signal.Signals,
    run_id: str,
    process: Identity | None,
    owners: Collection[int],
) -> tuple[int, ...]:
    told: set[Identity] = set()
    while alive := members(run_id, process, owners):
        if not patient():
            break
        fresh = {identity for pid in alive if (identity := identify(pid))} - told
        for identity in fresh:
            send_signal(identity, number)
        told |= fresh
        time.sleep(_SCAN_S)
    return tuple(sorted(alive))


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdecimal()}


def _read_stats(pids: Iterable[int]) -> dict[int, ProcessStat]:
    return {pid: stat for pid in pids if (stat := read_stat(pid))}


def _stat_of(identity: Identity | None) -> ProcessStat | None:
    if identity is None or identity.boot_id != boot_id():
        return None
    stat = read_stat(identity.pid)
    return stat if stat and stat.start_time == identity.start_time else None


def _session(process: Identity | None, run_id: str, table: dict[int, ProcessStat]) -> set[int]:
    """The launcher's session, if the launcher (or its zombie, whose environment is gone) still holds the pid that names
    it: a folder from elsewhere may name any process."""
    stat = _stat_of(process)
    if process is None or stat is None or not (stat.zombie or marked(run_id, [process.pid])):
        return set()
    return {pid for pid, stat in table.items() if stat.session == process.pid}


def _closure(seeds: set[int], table: dict[int, ProcessStat]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, stat in table.items():
        children.setdefault(stat.parent, []).append(pid)
    found, todo = set(seeds) & table.keys(), list(seeds)
    while todo:
        new = [child for child in children.get(todo.pop(), ()) if child not in found]
        found.update(new)
        todo += new
    return found


def _environment(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""
