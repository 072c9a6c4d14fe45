"""What is known of a run whose supervisor is gone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.diagnosis.fact_card import Fact, fact_card
from dsgui.core.launch.state import RunStatus
from dsgui.core.texts.durations import duration
from dsgui.core.texts.saying import Said, said

LOST = "lost"
_RESTARTED = "machine_restarted"
_LINES_SHOWN, _LINE_SHOWN = 5, 300


@dataclass(frozen=True, slots=True)
class LostRun:
    """`alive` processes of it still run here; `away`: others may on machines that nobody looks at. `output` is the end
    of what it printed, `log` the file that has all of it. `saved` is the newest complete checkpoint's path, "" for
    none, None where nobody could look; `checkpoints` are those that the script can go on from, as the page has them,
    the newest first. `is_job`: it does not train, so there is neither a step nor a checkpoint to miss. `resumes`: one
    that is started as it was goes on from a checkpoint."""

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
    resumes: bool = False

    def to_json(self) -> dict[str, Any]:
        return fact_card(
            LOST,
            self._title,
            (self._processes, *self._first),
            self._facts,
            quote=self._last_lines,
            in_output=-1 if self._last_lines else None,  # a button of its own
            resume=self._resume,
        )

    @property
    def _title(self) -> Said:
        return _said("lost_restarted" if self._is_of_another_boot else "lost_supervisor")

    @property
    def _is_of_another_boot(self) -> bool:
        """A folder that came from another machine looks the same: no record of a run names its machine."""
        return any(one.code == _RESTARTED for one in self.status.reasons)

    @property
    def _first(self) -> tuple[Said, ...]:
        """What to do first. Where processes may be left, that is said with them."""
        if self.alive or self.away:
            return ()
        if self._resume:
            return (_said("lost_resume", checkpoint=self._resume["name"]),)
        looks = (_said("lost_look"),) if self._last_lines else ()
        if self.is_job:
            return looks
        return (*looks, _said("lost_clone_resumes") if self.resumes else _said("lost_clone"))

    @property
    def _facts(self) -> Iterator[Fact]:
        if step := self._step:
            yield Fact(_said("lost_step_name"), step)
        if self.recorded_s:
            yield Fact(_said("lost_time_name"), duration(self.recorded_s))
        if self.saved is not None and not self.is_job:
            saved = self.saved or _said("lost_no_checkpoint")
            yield Fact(_said("lost_checkpoint_name"), saved, is_path=bool(self.saved))
        yield Fact(_said("lost_output_name"), self.log, is_path=True)

    @property
    def _processes(self) -> Said:
        if not self.alive and self.away:
            return _said("lost_away")
        if not self.alive:
            return _said("lost_end_unknown_here" if self._is_of_another_boot else "lost_end_unknown")
        return _said("lost_one_runs") if self.alive == 1 else _said("lost_some_run", count=str(self.alive))

    @property
    def _step(self) -> Said | None:
        if self.step is None:
            return None if self.is_job else _said("lost_no_step")
        if self.total:
            return _said("lost_step_of", step=_plain(self.step), total=_plain(self.total))
        return _said("lost_step", step=_plain(self.step))

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
