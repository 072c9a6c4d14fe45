"""Which runs a store has and in which order they began: a look costs what has changed, not what there is.

The folder is listed again when its date has changed; a run's place and its date are read once, the date of one that
waits until it has begun.
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
_WAITING = frozenset({None, "queued"})  # the states of a run whose date is still to come
_MOST_WAITING = 50  # are looked at again, the newest


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
        self._stamps: dict[str, str] = {}  # when each began
        self._waiting: tuple[str, ...] = ()  # have not begun
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
        """By the date on which they began, as a list shows it; those of one second as they were launched. So runs of
        several machines stand in one order; where a clock was set back between two launches, the later one stands
        below.

        Reads at most `most_read` new places; where there are more the order is that of the ids, until somebody has read
        them all."""
        with self._lock:
            ids, away, places, stamps = self.ids(), len(self._away), self._places, self._stamps
        changed = most_read != 0 and self._have_begun()
        if self._ordered_of is ids and not changed:
            return self._ordered
        here = ids[away:]  # the place of one that is away can't be read
        new = [run_id for run_id in here if run_id not in places]
        if most_read is not None and len(new) > most_read:
            return ids
        for run_id in new:
            stamps[run_id], waits = self._read_stamp(run_id)
            if waits:
                with self._lock:
                    self._waiting = (*self._waiting, run_id)
            places[run_id] = self._read_place(run_id)
        launched = sorted(here, key=lambda run_id: (stamps[run_id], places[run_id], run_id), reverse=True)
        ordered = (*ids[:away], *launched)
        with self._lock:
            if self._all is ids:  # else another thread knows of newer runs
                self._ordered, self._ordered_of = ordered, ids
                if len(places) > len(here):  # others may be sorting by them: they stay as they are
                    self._places = {run_id: places[run_id] for run_id in here}
                    self._stamps = {run_id: stamps[run_id] for run_id in here}
        return ordered

    def _have_begun(self) -> bool:
        """Whether one that waited began since the last look."""
        with self._lock:
            stamps, waiting = self._stamps, sorted(self._waiting, reverse=True)[:_MOST_WAITING]
        changed, begun = False, set()
        for run_id in waiting:
            stamp, waits = self._read_stamp(run_id)
            if not waits or run_id not in stamps:
                begun.add(run_id)
            changed |= stamps.get(run_id) != stamp
            stamps[run_id] = stamp
        if begun:
            with self._lock:
                self._waiting = tuple(run_id for run_id in self._waiting if run_id not in begun)
        return changed

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

    def _read_stamp(self, run_id: str) -> tuple[str, bool]:
        """When it began, as ids have it, and whether that is still to come; where its files don't say, its id does."""
        try:
            with open_regular(f"{self._store.runs_dir}/{run_id}/state.json") as file:
                told = json.loads(file.read(_MOST_STATE_BYTES))
            waits = told.get("state") in _WAITING
            return time.strftime(_STAMP, time.localtime(float(told["started_at"]))), waits
        except FileNotFoundError:
            return run_id[:_STAMPED], True
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return run_id[:_STAMPED], False
