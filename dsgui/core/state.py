"""What a run is doing, as a value: its state, who its processes are, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

STARTING = "starting"


class RunState(Enum):
    """`LOST` is never written: it is what readers see when a supervisor is gone without having said how it ended."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"

    @property
    def live(self) -> bool:
        """True while something is still going to happen."""
        return self in (RunState.PENDING, RunState.QUEUED, RunState.RUNNING, RunState.STOPPING)


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, for ever: a pid alone is reused. `start_time` is field 22 of /proc/<pid>/stat (clock ticks)."""

    pid: int
    start_time: int
    boot_id: str

    def to_json(self) -> dict[str, Any]:
        return {"pid": self.pid, "start_time": self.start_time, "boot_id": self.boot_id}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> "Identity | None":
        if not value:
            return None
        return cls(int(value["pid"]), int(value["start_time"]), str(value["boot_id"]))


@dataclass(frozen=True, slots=True)
class Asked:
    """When a run was launched, told so that no clock that is set changes it: its place among all that were launched
    into one folder, and seconds of the monotonic clock, which count for one boot of the machine."""

    place: int
    at_s: float
    boot_id: str

    def to_json(self) -> dict[str, Any]:
        return {"place": self.place, "at_s": self.at_s, "boot_id": self.boot_id}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Asked":
        """Raises KeyError, TypeError or ValueError for what is none."""
        return cls(int(value["place"]), float(value["at_s"]), str(value["boot_id"]))


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run's state. `process` is the DeepSpeed launcher; `guardians` start another `supervisor` where it is killed;
    `reason` and `telemetry_note` are sentences for the page.

    `started_at` and `ended_at` are dates, unix seconds: they are shown and never subtracted, since a clock may be set
    in between. `begun_s`, and `kill_due_s` (when a stopping run's processes are killed), are seconds of the monotonic
    clock, which count while the supervisor's boot lasts; `lasted_s` is a length. `clock_back_s`, `clock_ahead_s`: how
    far the clock was set back and ahead while it ran, so that the dates of its files can be understood."""

    state: RunState = RunState.PENDING
    supervisor: Identity | None = None
    process: Identity | None = None
    exit_code: int | None = None
    reason: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    phase: str = STARTING
    telemetry_note: str = ""
    begun_s: float | None = None
    lasted_s: float | None = None
    kill_due_s: float | None = None
    clock_back_s: float = 0.0
    clock_ahead_s: float = 0.0
    guardians: tuple[Identity, ...] = ()

    @property
    def owners(self) -> tuple[Identity, ...]:
        """Whoever sees to it that the run's end is written, first who does it now."""
        return (*([self.supervisor] if self.supervisor else ()), *self.guardians)

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.state.value,
            "supervisor": self.supervisor and self.supervisor.to_json(),
            "process": self.process and self.process.to_json(),
            "exit_code": self.exit_code,
            "reason": self.reason,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "phase": self.phase,
            "telemetry_note": self.telemetry_note,
            "begun_s": self.begun_s,
            "lasted_s": self.lasted_s,
            "kill_due_s": self.kill_due_s,
            "clock_back_s": self.clock_back_s,
            "clock_ahead_s": self.clock_ahead_s,
            "guardians": [guardian.to_json() for guardian in self.guardians],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RunStatus":
        """Unknown keys are ignored and absent ones take their default. Raises ValueError for an unknown state."""
        return cls(
            state=RunState(value.get("state", "pending")),
            supervisor=Identity.from_json(value.get("supervisor")),
            process=Identity.from_json(value.get("process")),
            exit_code=value.get("exit_code"),
            reason=str(value.get("reason", "")),
            started_at=value.get("started_at"),
            ended_at=value.get("ended_at"),
            phase=str(value.get("phase", STARTING)),
            telemetry_note=str(value.get("telemetry_note", "")),
            begun_s=value.get("begun_s"),
            lasted_s=value.get("lasted_s"),
            kill_due_s=value.get("kill_due_s"),
            clock_back_s=float(value.get("clock_back_s", 0.0)),
            clock_ahead_s=float(value.get("clock_ahead_s", 0.0)),
            guardians=tuple(found for one in value.get("guardians", ()) if (found := Identity.from_json(one))),
        )

    def lost(self, alive: int, rebooted: bool) -> "RunStatus":
        """The same as readers must see it when its supervisor is gone; `alive` processes of the run still run."""
        return replace(self, state=RunState.LOST, reason=_lost_reason(alive, rebooted))


def _lost_reason(alive: int, rebooted: bool) -> str:
    if rebooted:
        return "The machine was restarted while this run was going on."
    if alive:
        runs = "1 process still runs" if alive == 1 else f"{alive} processes still run"
        return f"Its supervisor is gone, {runs}; Stop ends {'it' if alive == 1 else 'them'}."
    return "Its supervisor is gone and none of its processes is left; how it ended is not known. Its output may tell."
