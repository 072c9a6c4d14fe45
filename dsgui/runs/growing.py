"""Trainings of others that still grow: while a page shows one, its files are looked at again and what is new is read.

The page's own questions carry it: there is no thread per run, and of a run that nobody looks at nothing is read.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from dsgui.core.adopted.lying import Lying
from dsgui.core.errors import DsguiError
from dsgui.runs.adoption import Adoption

_LOOK_S, _STILL_LOOK_S = 5.0, 30.0
_SHARE = 20.0  # looking and reading may take that part of the time
_LONGEST_S = 86_400.0
_GROWS_S = 600.0  # what was not changed for so long grows no more, as far as anybody can tell
_SURELY_S = 60.0  # what was seen to change so lately is said to grow


@dataclass(frozen=True, slots=True)
class Growth:
    """Of one training. `growing`: its files changed in the last ten minutes; `seen`: in the last one, while somebody
    watched. `read_s` is how long ago they were last looked at, `changed_s` how long ago they changed, in seconds;
    `problem` says why they can't be looked at."""

    growing: bool
    seen: bool
    read_s: float
    changed_s: float
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        ago = {"read_s": round(self.read_s, 1), "changed_s": round(self.changed_s, 1)}
        return {"growing": self.growing, "seen": self.seen, "problem": self.problem, **ago}


@dataclass(slots=True)
class _Looked:
    """What was seen of a training, and when."""

    at: float
    due: float
    files: Sequence[Lying] = field(default=())
    grew: float = -math.inf
    seen: bool = False
    late: bool = False
    problem: str = ""


class Growing:
    """The trainings that pages of this server show. `monotonic` and `clock` are seconds."""

    def __init__(
        self,
        adoption: Adoption,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._adoption, self._monotonic, self._clock = adoption, monotonic, clock
        self._looked: dict[str, _Looked] = {}
        self._busy = Lock()

    def is_due(self, run_id: str) -> bool:
        """Whether its files are to be looked at: every five seconds at most, and the less often the longer it takes."""
        if not self._adoption.has(run_id):
            return False
        known = self._looked.get(run_id)
        return known is None or self._monotonic() >= known.due

    def look(self, run_id: str) -> None:
        """Reads what is new. Whoever comes while others are read has it next time."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            self._look(run_id)
        finally:
            self._busy.release()

    def told(self, run_id: str) -> Growth | None:
        """None for what does not grow, or was never looked at."""
        known = self._looked.get(run_id)
        if known is None:
            return None
        now = self._monotonic()
        still_s = now - known.grew
        growing, seen = still_s < _GROWS_S, known.seen and still_s < _SURELY_S
        growth = Growth(growing, seen, now - known.at, min(still_s, _LONGEST_S), known.problem)
        return growth if growing or known.problem else None

    def _look(self, run_id: str) -> None:
        began = self._monotonic()
        known = self._looked.get(run_id) or _Looked(began, began)
        try:
            known.files = self._read(run_id, known, began)
            known.problem = ""
        except DsguiError as error:
            known.problem = str(error)
        known.at = self._monotonic()
        usual = _LOOK_S if known.at - known.grew < _GROWS_S else _STILL_LOOK_S
        known.due = known.at + max(usual, _SHARE * (known.at - began))
        self._looked[run_id] = known

    def _read(self, run_id: str, known: _Looked, now: float) -> Sequence[Lying]:
        files = self._adoption.lying(run_id)
        still = not known.files or now - known.grew > _SURELY_S
        if files == known.files and not (known.late and still):
            return files
        if self._adoption.read_again(run_id, settled=still) and files != known.files and known.files:
            known.grew, known.seen = now, True
        known.late = self._adoption.is_late(run_id)
        newest = max((one.changed_ns for one in self._adoption.files(run_id)), default=0) / 1e9
        known.grew = max(known.grew, now - max(self._clock() - newest, 0.0))
        return files
