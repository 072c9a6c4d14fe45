"""Taking turns: runs that want the same GPU train one after the other, in the order they were launched; a number says
which, since clocks are set.

There is no scheduler to lose: each waiting run's own supervisor looks, under one file lock, whether a run before it
still has what it wants. What a lost run's processes still hold counts as held.
"""

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator

from dsgui.core.errors import RunError
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import RunState
from dsgui.shell.runs.liveness import look
from dsgui.shell.runs.run_index import RunIndex
from dsgui.shell.runs.store import Store

_LOCK = ".queue.lock"


class Queue:
    """The queue of one store, seen from one process."""

    def __init__(self, store: Store, index: RunIndex | None = None) -> None:
        self._store, self._index = store, index or RunIndex(store)
        self._over: set[str] = set()  # ended runs, which never hold anything again

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Alone among all servers and supervisors of the store: deciding, and writing what was decided. Raises
        `RunError`."""
        with self._store.saying_what_to_do():
            descriptor = os.open(self._store.runs_dir / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def before(self, plan: Plan) -> list[Plan]:
        """The runs that hold what `plan` wants, or wait for it since earlier."""
        asked_at = self._asked_at(plan.run_id)
        return [
            other
            for other, waits in self._others(plan.run_id)
            if other.slots & plan.slots and (not waits or self._asked_at(other.run_id) < asked_at)
        ]

    def next_place(self) -> int:
        """Behind every run of the store. To be taken within a turn."""
        return self._index.last_place() + 1

    def holders(self) -> list[Plan]:
        """The runs that have processes now."""
        return [other for other, waits in self._others("") if not waits]

    def _others(self, run_id: str) -> Iterator[tuple[Plan, bool]]:
        for other_id in self._index.ids():
            if other_id == run_id or other_id in self._over:
                continue
            directory = self._store.directory(other_id)
            try:
                if (status := directory.read_status()) and not status.state.live:  # of most runs, and no more is read
                    self._over.add(other_id)
                    continue
                plan = directory.read_plan()
                seen = look(directory, plan)
            except (RunError, OSError):
                continue
            if seen.holds or seen.status.state is RunState.QUEUED:
                yield plan, not seen.holds
            elif not seen.status.state.live:
                self._over.add(directory.run_id)

    def _asked_at(self, run_id: str) -> tuple[int, int, str]:
        """What runs are ordered by: their place; those from before there were places come first, by their date. (A run
        id is as old as the preview of its command.)"""
        directory = self._store.directory(run_id)
        if asked := directory.read_asked():
            return asked.place, 0, run_id
        try:
            return 0, directory.plan_file.stat().st_mtime_ns, run_id
        except OSError:
            return sys.maxsize, 0, run_id
