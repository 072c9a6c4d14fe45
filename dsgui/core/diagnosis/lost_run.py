"""What is known of a run whose supervisor is gone: in the shape in which the page is told why a run failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.durations import duration
from dsgui.core.launch.state import RunStatus
from dsgui.core.texts.saying import Said, said, sentences

LOST = "lost"
_RESTARTED = "machine_restarted"
_LINES_SHOWN, _LINE_SHOWN = 5, 300


@dataclass(frozen=True, slots=True)
class LostRun:
    """`alive` processes of it still run here; `away`: others may on machines that nobody looks at. `output` is the end
    of what it printed, `log` the file that has all of it. `saved` names the newest complete checkpoint, "" for none,
    None where nobody could look; `checkpoints` are those that the script can go on from, as the page has them, the
    newest first. `is_job`: it does not train, so there is neither a step nor a checkpoint to miss."""

    status: RunStatus
    alive: int
    away: bool
    is_job: bool
    step: float | None
    total: float | None
    recorded_s: float | None
    output: str
    log: str
    saved: str | None
    checkpoints: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return {
            "signature": LOST,
            "title": str(self._title),
            "rank": None,
            "meaning": "\n".join([sentences(self._known), *([str(_said("lost_printed"))] if self._last_lines else [])]),
            "quote": self._last_lines,
            "in_output": -1 if self._last_lines else None,  # a button of its own
            "advice": [str(_said("lost_log", log=self.log))],
            "resume": self._resume,
            "traceback": "",
            "evidence": "",
            "ends": "",
        } | {name: [] for name in ("remedies", "set_aside", "cause", "offered")}

    @property
    def _title(self) -> Said:
        return _said("lost_restarted" if self._is_of_another_boot else "lost_supervisor")

    @property
    def _is_of_another_boot(self) -> bool:
        """A folder that came from another machine looks the same: no record of a run names its machine."""
        return any(one.code == _RESTARTED for one in self.status.reasons)

    @property
    def _known(self) -> tuple[Said, ...]:
        ran = [_said("lost_ran", time=duration(self.recorded_s))] if self.recorded_s else []
        return (self._processes, *self._recorded, *ran, *self._checkpoint)

    @property
    def _processes(self) -> Said:
        if not self.alive and self.away:
            return _said("lost_away")
        if not self.alive:
            return _said("lost_end_unknown_here" if self._is_of_another_boot else "lost_end_unknown")
        return _said("lost_one_runs") if self.alive == 1 else _said("lost_some_run", count=str(self.alive))

    @property
    def _recorded(self) -> tuple[Said, ...]:
        if self.step is None:
            return () if self.is_job else (_said("lost_no_step"),)
        if self.total:
            steps = said("reasons", "lost_step_of", step=_plain(self.step), total=_plain(self.total))
        else:
            steps = said("reasons", "lost_step", step=_plain(self.step))
        return (_said("lost_recorded", steps=steps),)

    @property
    def _checkpoint(self) -> tuple[Said, ...]:
        if self.saved is None or self.is_job:
            return ()
        return (_said("lost_checkpoint", checkpoint=self.saved) if self.saved else _said("lost_no_checkpoint"),)

    @property
    def _resume(self) -> dict[str, str] | None:
        """The checkpoint to offer; none while processes of it may still write there."""
        found = next((one for one in self.checkpoints if one.get("complete")), None)
        if not found or self.alive or self.away or found.get("problem"):
            return None
        return {"path": str(found["path"]), "name": str(found["name"])}

    @property
    def _last_lines(self) -> str:
        lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in self.output.split("\n")]
        return "\n".join([line[:_LINE_SHOWN] for line in lines if line][-_LINES_SHOWN:])


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"


def _said(code: str, /, **given: str | Said) -> Said:
    return said("reasons", code, **given)
