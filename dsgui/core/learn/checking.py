"""Whether a step is done, by the reader's own runs and answers, and what is still missing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from dsgui.core.learn.progress import Progress
from dsgui.core.learn.run_facts import RunFacts, told_apart
from dsgui.core.learn.track import Doing, Step, Track, Wanted
from dsgui.core.texts.saying import Said, listed, said


@dataclass(frozen=True, slots=True)
class Checked:
    """`note`: what was found, or what is missing; "" where the question says it. `runs`: the reader's runs that the
    step is about, one for each that is wanted, as far as there are any."""

    done: bool
    note: Said | None = None
    runs: tuple[RunFacts, ...] = ()


def checked(track: Track, runs: Sequence[RunFacts], progress: Progress) -> dict[str, Checked]:
    """Every step of a track. `runs`: the newest first."""
    return {step.id: _CHECKS[step.does](step, runs, progress) for step in track.steps}


def found_for(wanted: Sequence[Wanted], runs: Sequence[RunFacts]) -> tuple[RunFacts, ...]:
    """For each that is wanted the best of the runs; () where one is missing."""
    candidates = [sorted(filter(one.fits, runs), key=_worth, reverse=True) for one in wanted]
    apart = any(one.apart for one in wanted)
    found = (chosen for chosen in product(*candidates) if _differ(chosen, apart))
    return next(found, ())


def _worth(run: RunFacts) -> tuple[bool, bool]:
    """One that has learned tells more than a newer one that was stopped."""
    return run.outcome.halved, run.outcome.final_loss is not None


def _differ(chosen: Sequence[RunFacts], apart: bool) -> bool:
    """Runs that compare two splits of one batch both begin at the first step: a resumed one doesn't count."""
    if apart and any(run.setup.resumed for run in chosen):
        return False
    cuts = {(run.setup.ranks, run.setup.micro) for run in chosen}
    distinct = len({run.run_id for run in chosen}) == len(chosen)
    return distinct and (not apart or len(cuts) == len(chosen))


def _launched(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    found = found_for(step.wanted, runs)
    if not found:
        return Checked(False, said("learn_notes", "no_run"))
    newest = found[-1]
    state = said("states", newest.state.value)
    return Checked(True, said("learn_notes", "launched", name=newest.name, state=state), found)


def _halved(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    found = found_for(step.wanted, runs)
    if not found:
        return Checked(False, said("learn_notes", "no_run"))
    run, outcome = found[0], found[0].outcome
    if outcome.first_loss is None or outcome.lowest_loss is None:
        return Checked(False, said("learn_notes", "no_loss", name=run.name), found)
    given = {"name": run.name, "first": figure(outcome.first_loss), "lowest": figure(outcome.lowest_loss)}
    if outcome.halved:
        return Checked(True, said("learn_notes", "halved", **given), found)
    return Checked(False, said("learn_notes", "not_halved", half=figure(outcome.first_loss / 2), **given), found)


def _compared(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    found = found_for(step.wanted, runs)
    if not found:
        return Checked(False, said("learn_notes", "no_pair"))
    known = {run.run_id: run for run in runs}
    seen = tuple(known[one] for one in progress.compared.get(step.id, ()) if one in known)
    if seen and is_pair(step.wanted, seen):
        return Checked(True, said("learn_notes", "compared", names=listed(told_apart(seen))), seen)
    return Checked(False, said("learn_notes", "not_compared", names=listed(told_apart(found))), found)


def is_pair(wanted: Sequence[Wanted], shown: Iterable[RunFacts]) -> bool:
    """Whether among the runs that are shown side by side are those that are wanted."""
    return bool(found_for(wanted, tuple(shown)))


def _answered(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    """An answer that is drawn from runs counts once there are those runs."""
    found = found_for(step.wanted, runs)
    if step.wanted and not found:
        return Checked(False, said("learn_notes", "needs_runs"))
    return Checked(progress.answers.get(step.id) == step.right, None, found)


def _found(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    return Checked(step.id in progress.found)


def _worked_on(step: Step, runs: Sequence[RunFacts], progress: Progress) -> Checked:
    fitting = [run for run in runs if all(one.fits(run) for one in step.wanted)]
    done = next((run for run in fitting if run.worked_on), None)
    if done:
        return Checked(True, said("learn_notes", "worked_on", name=done.name), (done,))
    if not fitting:
        return Checked(False, said("learn_notes", "no_run"))
    return Checked(False, said("learn_notes", "not_worked_on", name=fitting[0].name), (fitting[0],))


_CHECKS = {
    Doing.ANSWERS: _answered,
    Doing.LAUNCHES: _launched,
    Doing.HALVES: _halved,
    Doing.COMPARES: _compared,
    Doing.FINDS: _found,
    Doing.WORKS_ON: _worked_on,
}


def figure(value: float) -> str:
    """A loss as people read it."""
    return f"{value:.3g}"
