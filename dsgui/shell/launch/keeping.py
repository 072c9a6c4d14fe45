"""What outlives a run's supervisor, held by several processes at once: the pipe of its output, and memory for what was
read and is not recorded yet, for how far the records go, and for what must be known of its processes.

Output goes from the pipe into memory by splice(2): whenever a supervisor is killed, each byte is in the one or the
other. The supervisor's own state lies there as well, with the length of each record at that moment; the next one takes
both, and reads on. Nothing of it is on a disk: output has not met the masking yet (decision 015).
"""

import errno
import fcntl
import json
import os
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dsgui.core.launch.state import MOST_GUARDIANS, Identity
from dsgui.shell.files.in_memory import file_in_memory
from dsgui.shell.processes.processes import identify

_PIPE_BYTES = 1 << 20  # the most that Linux gives everybody
_WORD = 8
_PIECE_BYTES = 1 << 18
_TOGETHER_S = 2.0
# While no state can be saved, what is read is kept up to here; what comes then would be lost with its supervisor.
MOST_UNSAVED_BYTES = 64 << 20
_FLOCK = "hhqqi4x"  # struct flock of 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run's processes told each other."""

    starting: bool = False  # the launcher may have been started
    launcher: Identity | None = None  # None for ever where that was told first
    ended: tuple[tuple[int, int], ...] = ()  # pid and exit code, as `Popen` has it, of those that were waited for
    asked: tuple[int, ...] = ()  # signals for the supervisor
    guardians: tuple[Identity, ...] = ()  # the last ones: a new one comes where none lives
    over: bool = False
    faults: int = 0  # supervisors that could not take over
    gaps: frozenset[int] = frozenset()  # the states after which not all that was read is kept


class Keeping:
    """The memory and the pipe. One of its processes at a time claims it, and that one alone reads and saves."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = tuple(descriptors)
        self.output, self.into, self._head, self._diary, *self._pages = self.descriptors
        self._number, self._begin, self._end = 0, _WORD, _WORD
        self._read_bytes, self._facts = 0, Facts()

    @classmethod
    def make(cls) -> "Keeping":
        """Raises OSError."""
        output, into = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(output, False)
        with suppress(OSError):  # small pipes are all that is left to a user who has many
            fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        head, diary, *pages = (file_in_memory(f"dsgui-{name}") for name in ("head", "diary", "even", "odd"))
        fcntl.fcntl(diary, fcntl.F_SETFL, os.O_APPEND)
        os.pwrite(head, bytes(_WORD), 0)
        os.pwrite(pages[0], bytes(_WORD), 0)
        return cls((output, into, head, diary, *pages))

    # -- whose turn it is ------------------------------------------------------------------------------------------

    def claim(self) -> bool:
        """For as long as this process lives; False while another has it."""
        try:
            fcntl.lockf(self._head, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def is_claimed(self) -> bool:
        """By another process. Only asks: whoever claims it at this moment gets it."""
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        told = fcntl.fcntl(self._head, fcntl.F_GETLK, asked)
        return bool(struct.unpack(_FLOCK, told)[0] != fcntl.F_UNLCK)

    # -- output ----------------------------------------------------------------------------------------------------

    @property
    def unsaved_bytes(self) -> int:
        """How much was read since the last save."""
        return self._end - self._begin

    def take(self, limit: int) -> bytes:
        """What was printed; b"" at its end. Raises BlockingIOError where there is nothing now."""
        if self.unsaved_bytes >= MOST_UNSAVED_BYTES:
            return self._take_at_risk(limit)
        try:
            count = os.splice(self.output, self._page, limit, offset_dst=self._end, flags=os.SPLICE_F_NONBLOCK)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOMEM, errno.ENOSPC, errno.EFBIG):
                raise
            return self._take_at_risk(limit)  # no memory for it
        chunk = os.pread(self._page, count, self._end)
        self._end += count
        return chunk

    def _take_at_risk(self, limit: int) -> bytes:
        """Better than not read: the training would wait."""
        chunk = os.read(self.output, limit)
        if chunk and not self.has_gap:
            self.tell(gap=self._number)
        return chunk

    @property
    def has_gap(self) -> bool:
        """Whether more was read since the state that was loaded than `unsaved` has."""
        return self._number in self.facts.gaps

    def save(self, state: bytes) -> None:
        """In one step, whenever the process is killed: from now on all that was read is recorded, as `state` says.
        Raises OSError."""
        new = self._pages[(self._number + 1) % 2]
        os.ftruncate(new, 0)
        whole = len(state).to_bytes(_WORD, "little") + state
        if os.pwrite(new, whole, 0) != len(whole):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        old, self._number = self._page, self._number + 1
        os.pwrite(self._head, self._number.to_bytes(_WORD, "little"), 0)
        self._begin = self._end = len(whole)
        os.ftruncate(old, 0)

    def load(self) -> bytes:
        """The last state that was saved, b"" where none was. `unsaved` has what was read since."""
        self._number = int.from_bytes(os.pread(self._head, _WORD, 0), "little")
        length = int.from_bytes(os.pread(self._page, _WORD, 0), "little")
        self._begin, self._end = _WORD + length, os.fstat(self._page).st_size
        return os.pread(self._page, length, _WORD)

    def unsaved(self) -> Iterator[bytes]:
        """What was read and not recorded when the state that was loaded was saved."""
        for place in range(self._begin, self._end, _PIECE_BYTES):
            yield os.pread(self._page, min(_PIECE_BYTES, self._end - place), place)

    @property
    def _page(self) -> int:
        return self._pages[self._number % 2]

    # -- facts -----------------------------------------------------------------------------------------------------

    def tell(self, **fact: Any) -> None:
        """From any of the processes, in signal handlers too."""
        with suppress(OSError):
            os.write(self._diary, b"\n" + json.dumps(fact).encode() + b"\n")

    def ask(self, number: int) -> None:
        """Tells of a signal for the supervisor that this process got."""
        self.tell(asked=(number, os.getpid(), time.monotonic()))

    def be_launcher(self) -> None:
        """In a process that is about to be the run's first: the first to come here is it, and any other ends. Whoever
        started it may be killed at any moment, and another supervisor may start another. Raises OSError."""
        own = identify(os.getpid())
        assert own is not None
        os.write(self._diary, b"\n" + json.dumps({"launcher": own.to_json()}).encode() + b"\n")
        if self.facts.launcher != own:
            os._exit(0)

    @property
    def facts(self) -> Facts:
        size = os.fstat(self._diary).st_size
        if size != self._read_bytes:
            self._read_bytes, self._facts = size, _facts(os.pread(self._diary, size, 0))
        return self._facts


def _facts(diary: bytes) -> Facts:
    told: dict[str, list[Any]] = {}
    for line in diary.splitlines():
        with suppress(ValueError):  # cut short by a kill
            for name, value in json.loads(line).items() if line else ():
                told.setdefault(name, []).append(value)
    launchers = [Identity.from_json(value) for value in told.get("launcher", ())]
    guardians = [Identity.from_json(value) for value in told.get("guardian", ())]
    return Facts(
        "starting" in told,
        launchers[0] if launchers else None,
        tuple((pid, code) for pid, code in told.get("ended", ())),
        tuple(_asked(told.get("asked", ()))),
        tuple(guardian for guardian in guardians if guardian)[-MOST_GUARDIANS:],
        "over" in told,
        len(told.get("fault", ())),
        frozenset(told.get("gap", ())),
    )


def _asked(told: Sequence[tuple[int, int, float]]) -> Iterator[int]:
    """What was sent to several processes at once (a group, a control group, whoever has that name) was asked once."""
    before: dict[int, tuple[int, float]] = {}
    for number, pid, at_s in told:
        known_pid, known_s = before.get(number, (pid, at_s))
        if known_pid == pid or at_s - known_s > _TOGETHER_S:
            before[number] = pid, at_s
            yield number
