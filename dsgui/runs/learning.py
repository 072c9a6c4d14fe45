"""Learn: what of the reader's runs the tutorials look at, and what the reader has done."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.errors import DocumentError, RunError
from dsgui.core.launch.state import RunState
from dsgui.core.learn import numbers
from dsgui.core.learn.checking import Checked, checked, is_pair
from dsgui.core.learn.drawer_texts import state
from dsgui.core.learn.numbers import Numbers
from dsgui.core.learn.picture import Sliders, picture, reached
from dsgui.core.learn.run_facts import Outcome, RunFacts, setup_of
from dsgui.core.learn.track import Doing, Step
from dsgui.core.learn.tracks import BY_ID, STEPS, TRACKS
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.memory_report import told as why_told
from dsgui.core.memory.fits.stages_compared import as_json
from dsgui.core.metrics.performance import loss_curve
from dsgui.core.runs.news import RunSummary
from dsgui.core.texts.languages import spoken
from dsgui.core.texts.saying import wrong
from dsgui.core.validation.checker import Checker
from dsgui.runs.runs import Runs
from dsgui.shell.learn.progress_file import ProgressFile
from dsgui.shell.runs.store import RunDirectory, Store, size_of

_MOST_RUNS, _MOST_KNOWN = 60, 300
_MOST_SHOWN = 6
_ASKED = [one for track in TRACKS for step in track.steps for one in step.wanted]


class Learning:
    """The tutorials over the runs of one store. `presets` are the shipped ones, by id."""

    def __init__(self, store: Store, runs: Runs, checker: Checker, presets: Mapping[str, Preset]) -> None:
        self._store, self._runs, self._checker, self._presets = store, runs, checker, presets
        self._progress = ProgressFile(store.runs_dir)
        self._outcomes: dict[tuple[str, int, int], Outcome] = {}
        self._modelled = cache(self._by_model)

    # -- looking ---------------------------------------------------------------------------------------------------

    def state(self, track: str) -> dict[str, Any]:
        """How far the reader is in a track. Raises `RunError` for one that there is not."""
        chosen, progress = BY_ID.get(track), self._progress.read()
        if chosen is None:
            raise RunError(wrong("learn.no_track", track=track[:40]))
        return state(chosen, checked(chosen, self._facts(), progress), progress, self._numbers)

    def picture(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The picture of ZeRO for where the sliders stand."""
        found = picture(Sliders.of(given), self._checker)
        return {"why": why_told(found.why)} if isinstance(found, CannotSay) else as_json(found)

    def _numbers(self, step: Step, found: Checked) -> Numbers | None:
        if step.numbers == "runs":
            return numbers.of_runs(found.runs) if found.runs else None
        return self._modelled(step.numbers, spoken()) if step.numbers else None

    def _by_model(self, name: str, tag: str) -> Numbers | None:
        """In the language `tag`, which is the one spoken."""
        makers = {"two_keys": numbers.of_two_keys, "lora": numbers.of_lora}
        return makers[name](self._presets, self._checker)

    # -- what the reader does --------------------------------------------------------------------------------------

    def answer(self, step: str, choice: int) -> None:
        """Raises `RunError` for a step without that choice."""
        if not 0 <= choice < _step(step, Doing.ANSWERS).choices:
            raise RunError(wrong("learn.no_step", step=step[:40]))
        self._progress.change(lambda progress: progress.answered(step, choice))

    def compare(self, step: str, shown: Sequence[str]) -> None:
        """These runs are seen side by side; counts where they are what the step wants. Raises `RunError`."""
        wanted = _step(step, Doing.COMPARES).wanted
        runs = [run for run in self._facts() if run.run_id in shown[:_MOST_SHOWN]]
        if is_pair(wanted, runs):
            ids = tuple(run.run_id for run in runs)
            self._progress.change(lambda progress: progress.having_compared(step, ids))

    def move(self, step: str, given: Mapping[str, str]) -> None:
        """The sliders of a step stand here; counts where the picture is as it asks. Raises `RunError`."""
        goal, at = _step(step, Doing.FINDS).goal, Sliders.of(given)
        if reached(goal, at, picture(at, self._checker)):
            self._progress.change(lambda progress: progress.having_found(step))

    def forget(self, track: str) -> None:
        """What was answered, compared and found in a track; runs stay. Raises `RunError`."""
        if track not in BY_ID:
            raise RunError(wrong("learn.no_track", track=track[:40]))
        steps = frozenset(step.id for step in BY_ID[track].steps)
        self._progress.change(lambda progress: progress.without(steps))

    # -- the runs --------------------------------------------------------------------------------------------------

    def _facts(self) -> list[RunFacts]:
        """Of the newest runs the trainings that any step asks for; trials of the ladder don't count."""
        newest = self._runs.newest(_MOST_RUNS)
        worked_on = {parent for run in newest if run.state is RunState.SUCCEEDED and (parent := self._parent(run))}
        found = (self._facts_of(run, run.run_id in worked_on) for run in newest if not run.trial)
        return [one for one in found if one]

    def _parent(self, run: RunSummary) -> str:
        """Of a job after training the run it worked on."""
        with suppress(RunError):
            plan = self._store.open(run.run_id).read_plan()
            return plan.parent if plan.is_job else ""
        return ""

    def _facts_of(self, run: RunSummary, worked_on: bool) -> RunFacts | None:
        try:
            directory = self._store.open(run.run_id)
            plan = directory.read_plan()
            if plan.is_job:
                return None
            found = RunFacts(
                run.run_id, run.name, run.state, setup_of(plan, _config_of(directory)), Outcome(), worked_on
            )
            asked_for = any(one.fits(found) for one in _ASKED)
            return replace(found, outcome=self._outcome(directory, run)) if asked_for else None
        except RunError:  # deleted meanwhile
            return None

    def _outcome(self, directory: RunDirectory, run: RunSummary) -> Outcome:
        """Read again when something was logged, or the run has ended."""
        key = (run.run_id, size_of(directory.points_file), int(run.state.live))
        if key not in self._outcomes:
            while len(self._outcomes) >= _MOST_KNOWN:
                self._outcomes.pop(next(iter(self._outcomes)))
            self._outcomes[key] = _outcome_of(self._runs, run)
        return self._outcomes[key]


def _outcome_of(runs: Runs, run: RunSummary) -> Outcome:
    curves = runs.curves(run.run_id)
    told, loss = runs.figures(run.run_id, curves), loss_curve(curves)
    finite = [float(value) for value in loss.value if math.isfinite(value)] if loss is not None else []
    return Outcome(
        first_loss=finite[0] if finite else None,
        lowest_loss=told.best_loss,
        final_loss=told.final_loss if finite else None,
        steps=told.steps,
        step_s=run.step_s or (1 / told.steps_per_second if told.steps_per_second else None),
        host_bytes=told.run_peak_bytes,
        gpu_bytes=told.run_gpu_peak_bytes or max(told.gpu_peak_bytes.values(), default=None),
    )


def _config_of(directory: RunDirectory) -> Mapping[str, Any]:
    try:
        return Document(directory.read_config()).value
    except DocumentError:
        return {}


def _step(step: str, does: Doing) -> Step:
    """Raises `RunError` for one that there is not, or where something else is done."""
    found = STEPS.get(step)
    if found is None or found.does is not does:
        raise RunError(wrong("learn.no_step", step=step[:40]))
    return found
