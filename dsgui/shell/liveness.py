"""A run's state as readers must see it: what is written, checked against the processes that are really there."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from dsgui.core.plan import Plan, WhenBusy
from dsgui.core.state import RunState, RunStatus
from dsgui.shell.processes import boot_id, is_owned, is_rebooted, members
from dsgui.shell.store import RunDirectory

# A supervisor writes its first state in a fraction of a second.
_PENDING_S = 90


@dataclass(frozen=True, slots=True)
class Seen:
    """A run's status, and how many processes a lost one still has."""

    status: RunStatus
    alive: int = 0

    @property
    def holds(self) -> bool:
        """Whether the run has processes that use what it was given, or will in a moment."""
        return (self.status.state.live and self.status.state is not RunState.QUEUED) or self.alive > 0


def look(directory: RunDirectory, plan: Plan, monotonic: Callable[[], float] = time.monotonic) -> Seen:
    """Reads the state, twice where its owners are gone: it may have ended between the two looks."""
    status = directory.read_status()
    if status is None:
        return _unwritten(directory, plan, monotonic)
    if not status.state.live or is_owned(status):
        return Seen(status)
    status = directory.read_status() or status
    if not status.state.live or is_owned(status):
        return Seen(status)
    return _lost(directory, status)


def _unwritten(directory: RunDirectory, plan: Plan, monotonic: Callable[[], float]) -> Seen:
    since, asked = directory.last_sign_of_life(), directory.read_asked()
    if asked and asked.boot_id == boot_id() and monotonic() - asked.at_s < _PENDING_S:
        state = RunState.QUEUED if plan.when_busy is WhenBusy.WAIT else RunState.PENDING
        return Seen(RunStatus(state, started_at=since, begun_s=asked.at_s))
    return _lost(directory, RunStatus(started_at=since))


def _lost(directory: RunDirectory, status: RunStatus) -> Seen:
    rebooted = is_rebooted(status.supervisor)
    alive = 0 if rebooted else len(members(directory.run_id, status.process))
    return Seen(status.lost(alive, rebooted), alive)
