"""What a run is doing, as a value: its state, its processes, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from dsgui.core.decoding import MOST_PID, number, optional, sequence, text, unexpected, whole
from dsgui.core.texts.saying import Said, recalled_sentences, said, sentences, sentences_to_json

STARTING = "starting"
_MOST_STEPS = 1e18
MOST_GUARDIANS = 8
_MOST_PEAKS = 8
_SPELLED = ("NaN", "Infinity", "-Infinity")


OF_OTHERS = "trained_elsewhere"  # the reason that each training of others has


class RunState(Enum):
    """`LOST`, `DAMAGED` and `FOREIGN` are never written. Readers see `LOST` when a supervisor is gone without having
    recorded how the run ended, `DAMAGED` when the files that would tell can't be read, and `FOREIGN` when another
    version of dsgui wrote in them what this one does not know."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"
    DAMAGED = "damaged"
    FOREIGN = "foreign"
    ELSEWHERE = "elsewhere"  # trained by others: that it failed is not known

    @property
    def live(self) -> bool:
        """True while the run has not ended."""
        return self in (RunState.PENDING, RunState.QUEUED, RunState.RUNNING, RunState.STOPPING)

    @property
    def settled(self) -> bool:
        """Whether the run has ended and recorded how: nothing changes after that."""
        return not self.live and self not in (RunState.LOST, *UNREAD)


# Of these nobody can tell how they ended.
UNREAD = (RunState.DAMAGED, RunState.FOREIGN)


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, uniquely: a pid alone is reused. `start_time` is field 22 of /proc/<pid>/stat (clock ticks)."""

    pid: int
    start_time: int
    boot_id: str

    def to_json(self) -> dict[str, Any]:
        return {"pid": self.pid, "start_time": self.start_time, "boot_id": self.boot_id}

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> "Identity | None":
        if not value:
            return None
        return cls(whole(value["pid"], 1, MOST_PID), whole(value["start_time"], 0, 1 << 62), text(value["boot_id"]))


@dataclass(frozen=True, slots=True)
class Asked:
    """When a run was launched, independent of changes to the clock: its place among all runs launched into one folder,
    and seconds of the monotonic clock, which are valid for one boot of the machine."""

    place: int
    at_s: float
    boot_id: str

    def to_json(self) -> dict[str, Any]:
        return {"place": self.place, "at_s": self.at_s, "boot_id": self.boot_id}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Asked":
        """Raises KeyError, TypeError or ValueError for what is none."""
        return cls(whole(value["place"], 0, 1 << 50), number(value["at_s"]), text(value["boot_id"]))


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run's state. `process` is the DeepSpeed launcher; `guardians` start another `supervisor` if it is killed;
    `reasons`, and what the samples lack, are sentences for the page.

    `started_at` and `ended_at` are dates, unix seconds: they are shown and never subtracted, since a clock may be set
    in between. `begun_s`, and `kill_due_s` (when a stopping run's processes are killed), are seconds of the monotonic
    clock, valid for the supervisor's boot; `lasted_s` is a duration. `clock_back_s`, `clock_ahead_s`: how far the clock
    was set back and ahead during the run, so that the dates of its files can be interpreted. `phase_at_s`: how long the
    run had lasted when its phase began."""

    state: RunState = RunState.PENDING
    supervisor: Identity | None = None
    process: Identity | None = None
    exit_code: int | None = None
    reasons: tuple[Said, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    phase: str = STARTING
    lacks: tuple[Said, ...] = ()
    begun_s: float | None = None
    lasted_s: float | None = None
    kill_due_s: float | None = None
    clock_back_s: float = 0.0
    clock_ahead_s: float = 0.0
    phase_at_s: float = 0.0
    guardians: tuple[Identity, ...] = ()

    @property
    def owners(self) -> tuple[Identity, ...]:
        """The processes responsible for recording the run's end, the currently responsible one first."""
        return (*([self.supervisor] if self.supervisor else ()), *self.guardians)

    @property
    def is_of_others(self) -> bool:
        """Whether it is of a training that dsgui did not start: only what its files tell is known."""
        return any(one.code == OF_OTHERS for one in self.reasons)

    @property
    def reason(self) -> str:
        """In words."""
        return sentences(self.reasons)

    @property
    def telemetry_note(self) -> str:
        """What the samples lack, in words."""
        return sentences(self.lacks)

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.state.value,
            "supervisor": self.supervisor and self.supervisor.to_json(),
            "process": self.process and self.process.to_json(),
            "exit_code": self.exit_code,
            "reason": self.reason,  # for whoever does not know the codes
            "reasons": sentences_to_json(self.reasons),
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "phase": self.phase,
            "telemetry_note": self.telemetry_note,  # as with the reason
            "lacks": sentences_to_json(self.lacks),
            "begun_s": self.begun_s,
            "lasted_s": self.lasted_s,
            "kill_due_s": self.kill_due_s,
            "clock_back_s": self.clock_back_s,
            "clock_ahead_s": self.clock_ahead_s,
            "phase_at_s": self.phase_at_s,
            "guardians": [guardian.to_json() for guardian in self.guardians],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RunStatus":
        """Unknown keys are ignored and absent ones take their default. Raises KeyError, TypeError or ValueError for
        what is none."""
        return cls(
            state=_written_state(value.get("state", "pending")),
            supervisor=Identity.from_json(value.get("supervisor")),
            process=Identity.from_json(value.get("process")),
            exit_code=optional(_exit_code, value.get("exit_code")),
            reasons=recalled_sentences(value.get("reasons"), text(value.get("reason", ""))),
            started_at=optional(number, value.get("started_at")),
            ended_at=optional(number, value.get("ended_at")),
            phase=text(value.get("phase", STARTING)),
            lacks=recalled_sentences(value.get("lacks"), text(value.get("telemetry_note", ""))),
            begun_s=optional(number, value.get("begun_s")),
            lasted_s=optional(number, value.get("lasted_s")),
            kill_due_s=optional(number, value.get("kill_due_s")),
            clock_back_s=number(value.get("clock_back_s", 0.0)),
            clock_ahead_s=number(value.get("clock_ahead_s", 0.0)),
            phase_at_s=number(value.get("phase_at_s", 0.0)),
            guardians=tuple(
                found
                for one in sequence(value.get("guardians", []), MOST_GUARDIANS)
                if (found := Identity.from_json(one))
            ),
        )

    def lost(self, alive: int, rebooted: bool) -> "RunStatus":
        """The status as readers must see it when its supervisor is gone; `alive` processes of the run still run."""
        return replace(self, state=RunState.LOST, reasons=(_lost_reason(alive, rebooted),))


def progress_from_json(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What `progress.json` says of a run: step, total, eta_s, loss, best_loss, steps_per_second,
    step_s, odd_loss, epoch, epochs, doing; `peak`, the most memory that it had. Raises ValueError."""
    found: dict[str, Any] = {
        name: optional(_count, value[name]) for name in ("step", "total", "eta_s", "epochs") if name in value
    }
    found |= {name: _spelled(value[name]) for name in ("loss", "best_loss", "epoch") if name in value}
    rates = ("steps_per_second", "step_s")
    found |= {name: _count(value[name]) for name in rates if value.get(name) is not None}
    if isinstance(odd := value.get("odd_loss"), dict) and odd.get("value") in _SPELLED:
        found["odd_loss"] = {"value": odd["value"], "step": optional(_count, odd.get("step"))}
    if isinstance(value.get("doing"), dict):
        found["doing"] = {"text": text(value["doing"].get("text", ""))}
    if isinstance(value.get("peak"), dict):
        found["peak"] = {name: whole(count, 0, 1 << 63) for name, count in list(value["peak"].items())[:_MOST_PEAKS]}
    return MappingProxyType(found)


def _spelled(value: Any) -> float | str:
    """A number, or one that JSON can't express, as `number_to_json` wrote it."""
    return value if value in _SPELLED and isinstance(value, str) else _any_number(value)


def _count(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST_STEPS:
        raise unexpected(value, "number")
    return value


def _any_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise unexpected(value, "number")
    return float(value)


_WRITTEN = frozenset(state.value for state in RunState) - {one.value for one in (RunState.LOST, *UNREAD)}


def _written_state(value: Any) -> RunState:
    if text(value) not in _WRITTEN:
        raise unexpected(value, "state")
    return RunState(value)


def _exit_code(value: Any) -> int:
    return whole(value, -(1 << 31), 1 << 32)


def _lost_reason(alive: int, rebooted: bool) -> Said:
    if rebooted:
        return said("reasons", "machine_restarted")
    if alive == 1:
        return said("reasons", "supervisor_gone_one_runs")
    if alive:
        return said("reasons", "supervisor_gone_some_run", count=str(alive))
    return said("reasons", "supervisor_gone")
