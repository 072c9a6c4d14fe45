"""Why a run failed, with what its loss or gradient norm has to say: by the diagnosis that was kept, or, where there is
none (its supervisor was killed first, say, or the file is damaged), by the end of its output."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from dsgui.core.config.document import Document
from dsgui.core.diagnosis.diagnosis import UNKNOWN, Diagnosis, diagnose
from dsgui.core.diagnosis.ending import Ending, likely_code
from dsgui.core.diagnosis.lost_numbers import with_lost_numbers, with_no_norm
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.errors import DocumentError, RunError
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import RunState
from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.metrics.not_numbers import NoNorm, NotNumbers, no_norm, not_numbers
from dsgui.core.metrics.performance import loss_curve, training_curve
from dsgui.core.metrics.spikes import Spikes, spikes
from dsgui.core.metrics.the_loss import is_loss
from dsgui.core.metrics.thinning import Curve
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.saying import said
from dsgui.shell.launch.asked_paths import allowed_script
from dsgui.shell.runs.curve_reader import read_points
from dsgui.shell.runs.store import RunDirectory, size_of

# What a server keeps of them: each is read from at most 256 KiB of output.
_MOST_KNOWN = 64
_NORM = "grad_norm"
# Of a run that ended otherwise, or goes on, no diagnosis is told; of what others train it is, though it may go on.
TOLD_OF = (RunState.FAILED, RunState.SUCCEEDED, RunState.STOPPED, RunState.ELSEWHERE)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Diagnoses:
    """Each that has to be read is read once, as long as the run's files are the same. `check` raises `PlaceError` for a
    stored plan's script that may not be read."""

    def __init__(self, check: Callable[[Path], object] = lambda path: None) -> None:
        self._check = check
        self._read: dict[tuple[str, int, int, int | None], Diagnosis | None] = {}
        self._seen: dict[tuple[str, int], _Seen] = {}

    def of(self, directory: RunDirectory) -> Diagnosis | None:
        """None of a run that did not fail, unless its loss, or for good its gradient norm, became NaN or infinite."""
        found, status = self._why_failed(directory), directory.read_status()
        if status is None or status.state not in TOLD_OF:
            return found
        found = found if status.state is RunState.FAILED else None
        lost = self._seen_in(directory).lost
        if isinstance(lost, NoNorm):
            return with_no_norm(found, lost, self._started(directory))
        return with_lost_numbers(found, lost, self._started(directory)) if lost else found

    def spike(self, directory: RunDirectory) -> Spikes | None:
        """The highest spike of the loss of a run that ended, or that others train."""
        status = directory.read_status()
        return self._seen_in(directory).spike if status and status.state in TOLD_OF else None

    def _seen_in(self, directory: RunDirectory) -> "_Seen":
        key = (directory.run_id, size_of(directory.points_file))
        with suppress(KeyError):
            return self._seen[key]
        wanted = [at for at, one in enumerate(directory.read_series()) if one.kind == "train" and _tells(one.name)]
        curves = list(read_points(directory, wanted=wanted)[0].values()) if wanted else []
        return _kept(self._seen, key, _seen_in(curves))

    def _started(self, directory: RunDirectory) -> Circumstances | None:
        """How it was started; None of what others did, and where its plan can't be read."""
        try:
            plan = directory.read_plan()
        except (RunError, OSError):
            return None
        if plan.is_adopted or plan.is_job:
            return None
        return _circumstances(directory, plan, allowed_script(plan.script, self._check))

    def _why_failed(self, directory: RunDirectory) -> Diagnosis | None:
        """The diagnosis that was kept, or what the output tells; None of a run that did not fail."""
        status = directory.read_status()
        if kept := directory.read_diagnosis():
            return kept
        if status is None or status.state is not RunState.FAILED or directory.read_adopted():
            return None
        key = (directory.run_id, size_of(directory.output_file), size_of(directory.state_file), status.exit_code)
        with suppress(KeyError):  # another thread may make room meanwhile
            return self._read[key]
        found = self._late(directory, status.exit_code)
        told = found is not None and (found.signature != UNKNOWN or found.traceback)
        found = found if told or not status.reasons else None  # its state says more
        return _kept(self._read, key, found)

    def _late(self, directory: RunDirectory, exit_code: int | None) -> Diagnosis | None:
        try:
            plan, ending = directory.read_plan(), _ending(directory)
        except (RunError, OSError):  # deleted meanwhile, or damaged
            return None
        script = allowed_script(plan.script, self._check)
        found = diagnose(ending, likely_code(exit_code, ending), _circumstances(directory, plan, script))
        if exit_code is None and found.signature == UNKNOWN and not found.traceback:
            return replace(found, title=said("diagnosis_titles", "silent_unknown"))
        return found


def _tells(name: str) -> bool:
    return name == _NORM or is_loss(name)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was no number of the loss, or of the gradient norm where each loss is one; and the loss's spike."""

    lost: NotNumbers | NoNorm | None
    spike: Spikes | None


def _seen_in(curves: list[Curve]) -> _Seen:
    norm = training_curve(curves, _NORM)
    loss = loss_curve(curves)
    lost = (not_numbers(loss) if loss else None) or (no_norm(norm, loss) if norm else None)
    return _Seen(lost, spikes(loss) if loss else None)


def _kept(known: dict[_Key, _Value], key: _Key, value: _Value) -> _Value:
    """With what is known, of which the oldest makes room."""
    for oldest in list(known)[: max(0, 1 + len(known) - _MOST_KNOWN)]:
        known.pop(oldest, None)
    known[key] = value
    return value


def _ending(directory: RunDirectory) -> Ending:
    log = TrainLog()
    log.feed(directory.read_output(0)[0])
    log.finish()
    log.ending.trained = log.ending.trained or size_of(directory.points_file) > 0
    return log.ending


def _circumstances(directory: RunDirectory, plan: Plan, script: ScriptFacts) -> Circumstances:
    """What the machine said at its end is not known any more."""
    part = trainers_part(plan.config_argument, script, plan.arguments)
    config = None
    with suppress(DocumentError, RunError):
        config = Document(directory.read_config())
    on_cpu = not plan.gpu_indices and not plan.elsewhere
    return Circumstances(
        config, plan.arguments, plan.ranks, part.trains, on_cpu=on_cpu, takes_options=part.can_be_given_more
    )
