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
    """`alive` processes of it still run; `output` is the end of what it printed, `log` the file that has all of it.
    `checkpoints` are as the page has them, the newest first."""

    status: RunStatus
    alive: int
    step: float | None
    total: float | None
    recorded_s: float | None
    output: str
    log: str
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
        return (self._processes, self._recorded, self._saved)

    @property
    def _processes(self) -> Said:
        if not self.alive:
            return _said("lost_end_unknown_here" if self._is_of_another_boot else "lost_end_unknown")
        return _said("lost_one_runs") if self.alive == 1 else _said("lost_some_run", count=str(self.alive))

    @property
    def _recorded(self) -> Said:
        if not self.step:
            return _said("lost_no_step")
        if self.total:
            steps = said("reasons", "lost_step_of", step=f"{self.step:g}", total=f"{self.total:g}")
        else:
            steps = said("reasons", "lost_step", step=f"{self.step:g}")
        return _said("lost_recorded", steps=steps, time=duration(self.recorded_s))

    @property
    def _whole(self) -> Mapping[str, Any] | None:
        return next((one for one in self.checkpoints if one.get("complete")), None)

    @property
    def _saved(self) -> Said:
        found = self._whole
        return _said("lost_checkpoint", checkpoint=str(found["name"])) if found else _said("lost_no_checkpoint")

    @property
    def _resume(self) -> dict[str, str] | None:
        """The checkpoint to offer; none while processes of it may still write there."""
        found = self._whole
        if not found or self.alive or found.get("problem"):
            return None
        return {"path": str(found["path"]), "name": str(found["name"])}

    @property
    def _last_lines(self) -> str:
        lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in self.output.split("\n")]
        return "\n".join([line[:_LINE_SHOWN] for line in lines if line][-_LINES_SHOWN:])


def _said(code: str, /, **given: str | Said) -> Said:
    return said("reasons", code, **given)
