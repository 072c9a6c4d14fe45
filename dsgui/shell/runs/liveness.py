"""A run's state as readers must see it: what is written, checked against the processes that are really there."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from dsgui.core.decoding import number
from dsgui.core.launch.plan import Plan, WhenBusy
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.runs.listing import prepared_at
from dsgui.core.texts.saying import Said, said
from dsgui.shell.files.json_files import UNREADABLE, read_strictly
from dsgui.shell.processes.processes import boot_id, is_owned, is_rebooted, is_stopped, members
from dsgui.shell.runs.adrift import Adrift, adrift
from dsgui.shell.runs.kept_end import KeptEnd, kept_end, settle
from dsgui.shell.runs.store import RunDirectory

# A supervisor writes its first state in a fraction of a second.
_PENDING_S = 90
# A sign of life comes every second; what a busy machine delays by more than this is worth a word.
SILENT_S = 30.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A run's status, and how many processes a lost one still has. `trouble` says what is wrong with its folder or its
    supervisor, in a text; `responds`: whether that can be asked to stop."""

    status: RunStatus
    alive: int = 0
    trouble: Said | None = None
    responds: bool = True

    @property
    def holds(self) -> bool:
        """Whether the run has processes that use what it was given, or will in a moment."""
        return (self.status.state.live and self.status.state is not RunState.QUEUED) or self.alive > 0

    @property
    def is_awaited(self) -> bool:
        """Whether it was launched just now, and nobody has written its state yet."""
        return self.status.state in (RunState.PENDING, RunState.QUEUED) and self.status.supervisor is None


def look(directory: RunDirectory, plan: Plan | None, monotonic: Callable[[], float] = time.monotonic) -> Seen:
    """Reads the state, twice where its owners are gone: it may have ended between the two looks. `plan` None: it
    can't be read."""
    status = directory.read_status()
    if status is None:
        return _untold(directory, plan, monotonic)
    if not status.state.live:
        return Seen(status)
    if is_owned(status):
        return _owned(directory, status, monotonic)
    status = directory.read_status() or status
    if not status.state.live:
        return Seen(status)
    if is_owned(status):
        return _owned(directory, status, monotonic)
    return _lost(directory, status)


def _owned(directory: RunDirectory, status: RunStatus, monotonic: Callable[[], float]) -> Seen:
    """Of a run whose supervisor lives: it may have ended all the same, where its folder does not take the end."""
    if kept := kept_end(directory):
        return Seen(kept.status, trouble=_not_taken(kept))
    trouble = _silence(directory, status, monotonic)
    return Seen(status, trouble=trouble, responds=not trouble)


def _silence(directory: RunDirectory, status: RunStatus, monotonic: Callable[[], float]) -> Said | None:
    """What keeps a supervisor from its work."""
    supervisor = status.supervisor
    if supervisor is None:
        return None
    if is_stopped(supervisor):
        return said("troubles", "suspended", pid=str(supervisor.pid))
    beat = directory.last_beat()
    silent_s = 0.0 if beat is None or status.state is RunState.PENDING else monotonic() - beat
    if not SILENT_S <= silent_s < monotonic():  # no moment of this boot: the file holds something else
        return None
    return said("troubles", "silent", pid=str(supervisor.pid), seconds=f"{silent_s:.0f}")


def _not_taken(kept: KeptEnd) -> Said:
    return said("troubles", "end_not_taken", why=kept.why, place=str(kept.place))


def _untold(directory: RunDirectory, plan: Plan | None, monotonic: Callable[[], float]) -> Seen:
    """Of a run whose state can't be read, or is not there."""
    damage = directory.status_damage()
    if kept := kept_end(directory):
        settled = settle(directory, kept)
        return Seen(kept.status, trouble=None if settled else _not_taken(kept))
    since, asked = _began(directory), directory.read_asked()
    if not damage and asked and asked.boot_id == boot_id() and monotonic() - asked.at_s < _PENDING_S:
        waits = plan is not None and plan.when_busy is WhenBusy.WAIT
        state = RunState.QUEUED if waits else RunState.PENDING
        return Seen(RunStatus(state, started_at=since, begun_s=asked.at_s))
    if one := owners(directory):  # it goes on, whatever became of its folder
        status = RunStatus(RunState.RUNNING, one.owners[0], started_at=since, guardians=one.owners[1:])
        trouble = _silence(directory, status, monotonic)
        return Seen(status, trouble=trouble, responds=not trouble)
    seen = _lost(directory, RunStatus(started_at=since))
    if damage:
        left = [said("reasons", "some_still_run", count=str(seen.alive))] if seen.alive else []
        reasons = (said("reasons", "end_unknown"), *left)
        return replace(seen, status=replace(seen.status, state=_unread(directory), reasons=reasons))
    return seen


def _unread(directory: RunDirectory) -> RunState:
    return RunState.FOREIGN if directory.foreign_state() else RunState.DAMAGED


def _began(directory: RunDirectory) -> float | None:
    """By what can be read of the state, else by the id; the dates of files may be those of a copied folder."""
    with suppress(*UNREADABLE):
        return number(read_strictly(directory.state_file).get("started_at"))
    prepared = prepared_at(directory.run_id)
    return directory.last_sign_of_life() if prepared is None else prepared


def owners(directory: RunDirectory) -> Adrift | None:
    """The processes that supervise the run, for want of a state that names them; None where there is none."""
    one = adrift(directory.launched_in).get(directory.run_id)
    return one if one and one.owners else None


def _lost(directory: RunDirectory, status: RunStatus) -> Seen:
    if kept := kept_end(directory):
        settled = settle(directory, kept)
        return Seen(kept.status, trouble=None if settled else _not_taken(kept))
    rebooted = is_rebooted(status.supervisor)
    alive = 0 if rebooted else len(members(directory.run_id, status.process))
    return Seen(status.lost(alive, rebooted), alive)
