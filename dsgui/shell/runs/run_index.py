"""Which runs a store has and in which order they were launched: a look costs what has changed, not what there is.

The folder is listed again when its date has changed; a run's place, which never changes, is read once. A training that
dsgui did not start stands where it would, had dsgui started it then.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from dsgui.shell.files.json_files import SETTLED_NS
from dsgui.shell.files.regular_files import open_regular
from dsgui.shell.runs.store import Store

_MOST_BYTES = 4096
_MOST_STATE_BYTES = 1 << 16
_STAMP = "%Y%m%d-%H%M%S"  # as the id of a run begins
_STAMPED = 15


class RunIndex:
    """The runs of one store, seen from one process, by as many threads as like."""

    def __init__(self, store: Store, going_on: Callable[[], Collection[str]] = frozenset) -> None:
        """`going_on` names the runs that live: one whose folder was moved or deleted is listed as well."""
        self._store, self._going_on = store, going_on
        self._lock = threading.RLock()
        self._listed_at: tuple[int, int] | None = None
        self._begun: tuple[str, ...] = ()  # folders without a plan: one is made before its plan is written
        self._ids: tuple[str, ...] = ()  # of the folders
        self._away: tuple[str, ...] = ()
        self._all: tuple[str, ...] = ()
        self._ordered: tuple[str, ...] = ()
        self._ordered_of: tuple[str, ...] | None = None  # None: of no list yet, also not of an empty one
        self._places: dict[str, int] = {}
        self._stamps: dict[str, str] = {}  # when trainings of others began
        self._position_of: Sequence[str] = ()
        self._positions: dict[str, int] = {}

    def ids(self) -> tuple[str, ...]:
        """Of every run, newest id first."""
        with self._lock:
            version = self._version()
            names: Sequence[str]
            if version is None or version != self._listed_at:
                names = self._store.names()
                begun = set(names).difference(self._ids)
                self._listed_at = version
            else:
                names, begun = self._ids, set(self._begun)
            if begun or len(names) != len(self._ids):
                self._take(names, begun)
            away = tuple(sorted((one for one in self._going_on() if not self._store.is_run(one)), reverse=True))
            if away != self._away or self._all[len(away) :] != self._ids:
                self._away, self._all = away, (*away, *self._ids)
            return self._all

    def _take(self, names: Iterable[str], begun: set[str]) -> None:
        """`begun` are those of the names, and of the folders without a plan, that may have one by now."""
        runs = {name for name in begun if self._store.is_run(name)}
        ids = tuple(sorted({*names, *runs} - (begun - runs), reverse=True))
        self._begun = tuple(begun - runs)
        if ids != self._ids:
            self._ids = ids

    def newest_first(self, most_read: int | None = None) -> Sequence[str]:
        """As they were launched: a clock that was set back changes nothing. Reads at most `most_read` new places; where
        there are more the order is that of the ids, until somebody has read them all."""
        with self._lock:
            ids, away, places = self.ids(), len(self._away), self._places
        if self._ordered_of is ids:
            return self._ordered
        here = ids[away:]  # the place of one that is away can't be read
        new = [run_id for run_id in here if run_id not in places]
        if most_read is not None and len(new) > most_read:
            return ids
        for run_id in new:
            places[run_id] = self._read_place(run_id)
            if stamp := self._read_stamp(run_id):
                self._stamps[run_id] = stamp
        launched = sorted(here, key=lambda run_id: (places[run_id], run_id), reverse=True)
        ordered = (*ids[:away], *self._dated(launched))
        with self._lock:
            if self._all is ids:  # else another thread knows of newer runs
                self._ordered, self._ordered_of = ordered, ids
                if len(places) > len(here):  # others may be sorting by them: they stay as they are
                    self._places = {run_id: places[run_id] for run_id in here}
                    self._stamps = {run_id: one for run_id in here if (one := self._stamps.get(run_id))}
        return ordered

    def _dated(self, launched: list[str]) -> Sequence[str]:
        """With each training of others where its date has it; the order of the launches stays as it is, for a clock
        that was set back makes no run older than the one before."""
        stamps = self._stamps
        if not stamps:
            return launched
        keys: dict[str, tuple[str, int, str]] = {}
        latest = ""
        for number, run_id in enumerate(reversed(launched)):
            stamp = stamps.get(run_id, "")
            latest = latest if stamp else max(latest, run_id[:_STAMPED])
            keys[run_id] = (stamp or latest, number, run_id)
        return sorted(launched, key=keys.__getitem__, reverse=True)

    def before(self, run_id: str, count: int) -> Sequence[str]:
        """The runs launched before this one, the last of them first; as far as their order is known."""
        ordered = self.newest_first(0)
        with self._lock:
            if self._position_of is not ordered:
                self._position_of = ordered
                self._positions = {one: place for place, one in enumerate(ordered)}
            place = self._positions.get(run_id, len(ordered))
        return ordered[place + 1 : place + 1 + count]

    @property
    def is_ordered(self) -> bool:
        """Whether every place is known."""
        return self._ordered_of is self._all

    def last_place(self) -> int:
        """The place of the run that was launched last, 0 where there is none."""
        ordered = self.newest_first()
        return max((self._places.get(run_id, 0) for run_id in ordered), default=0)

    def _version(self) -> tuple[int, int] | None:
        """Of the folder; None where it changed a moment ago and may change again unseen."""
        try:
            seen = os.stat(self._store.runs_dir)
        except OSError:
            return None
        settled = time.time_ns() - max(seen.st_mtime_ns, seen.st_ctime_ns) > SETTLED_NS
        return (seen.st_mtime_ns, seen.st_ino) if settled else None

    def _read_place(self, run_id: str) -> int:
        """0 for a run from before places were counted. It is written before the plan, with which a run is listed."""
        try:
            with open_regular(f"{self._store.runs_dir}/{run_id}/asked.json") as file:
                return int(json.loads(file.read(_MOST_BYTES))["place"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0

    def _read_stamp(self, run_id: str) -> str:
        """When a training that dsgui did not start began, as ids have it; "" of others, and where its files don't
        say."""
        folder = f"{self._store.runs_dir}/{run_id}"
        if not os.path.exists(f"{folder}/adopted.json"):
            return ""
        try:
            with open_regular(f"{folder}/state.json") as file:
                began = float(json.loads(file.read(_MOST_STATE_BYTES))["started_at"])
            return time.strftime(_STAMP, time.localtime(began))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return ""
