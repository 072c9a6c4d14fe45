"""What one does with runs that were started before: read about them, do the same again, resume, delete."""

import posixpath
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dsgui.core.access.ansi import without_escapes
from dsgui.core.access.secrets import mask, secret_arguments
from dsgui.core.adopted.record import called
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Fix
from dsgui.core.diagnosis.damaged_run import DamagedRun
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.lost_run import LostRun
from dsgui.core.diagnosis.memory_cause import Cause, cause_of, ran_out
from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.errors import DocumentError, PlaceError, RunError
from dsgui.core.launch.checkpoint import Checkpoint
from dsgui.core.launch.command import words_before
from dsgui.core.launch.plan import LaunchRequest, Plan
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.resume import can_load, is_resumed, note_on, options_for, way_of
from dsgui.core.launch.state import UNREAD, RunState, RunStatus
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.memory_report import foretold
from dsgui.core.preflight.as_it_ran import as_it_ran, as_planned, checked_for
from dsgui.core.preflight.memory_check import MODEL_MEMORY
from dsgui.core.preflight.model_size import ModelSize, OffloadNeed
from dsgui.core.preflight.offloading import estimate
from dsgui.core.preflight.preflight import CONFIG, OF_SETTINGS
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.runs.clone import Clone, clone
from dsgui.core.runs.label import Label
from dsgui.core.runs.offering import Objections, Offer, Refusal, Tried, offer, told_of
from dsgui.core.script.resume_options import Resuming
from dsgui.core.script.script import Parser, ScriptFacts
from dsgui.core.script.taken import values_of_words
from dsgui.core.script.words import MODEL_OPTIONS, OUTPUT_OPTIONS, value_of
from dsgui.core.texts.languages import spoken
from dsgui.core.texts.saying import Said, listed, said, sentences, wrong
from dsgui.runs.late_diagnosis import TOLD_OF, Diagnoses
from dsgui.runs.runs import Runs
from dsgui.shell.files.json_files import parse_object
from dsgui.shell.launch.asked_paths import allowed_script
from dsgui.shell.launch.where import backend_of
from dsgui.shell.logs.past import adding
from dsgui.shell.preflight.model_files import model_size
from dsgui.shell.runs.checkpoints import Span, find_checkpoints, looked_into, saved_at, universal_of, written_folders
from dsgui.shell.runs.damage import damage_found, kept, whole_damage
from dsgui.shell.runs.kept_end import forget
from dsgui.shell.runs.liveness import look
from dsgui.shell.runs.removal import Removal, measure, remove
from dsgui.shell.runs.store import RunDirectory, Store

# Of a file's date: clocks of file servers differ. At the beginning none is needed, for a run saves nothing in its first
# second, and the run that it was resumed from may have ended just before.
_LATE_S, _EARLY_S = 2.0, 0.05
_ALONE_S = 60.0  # how long ranks may go on, and save, when nobody reads what they print
_LONGEST_CHAIN, _MOST_KNOWN = 50, 256
_LONGEST_COMMAND = 2000
_FOR_UNIVERSAL = (Change("/checkpoint/load_universal", "true"),)
# Of a run whose plan can't be read; it can be deleted.
_NOTHING_KNOWN: Mapping[str, Any] = {
    "damaged": True,
    "opens_config": False,
    "checking": False,
    "diagnosis": None,
    "parent": "",
    "provenance": {},
    "checkpoints": [],
    "resume_note": "",
    "script": "",
    "estimate": None,
    "predicted": None,
    "loss_spike": None,
    "is_job": False,
    "adopted": None,
}


@dataclass(frozen=True, slots=True)
class Judge:
    """Who says what a config and its script's arguments would meet. `surroundings` are those of a plan and its config
    now; in them, `rows` are the checks before a start, `refusal` how DeepSpeed itself refuses the config, or "", and
    `memory` what the plan takes, None where no model is named; `leaner` are changes by which a plan would have fitted
    that died of memory."""

    surroundings: Callable[[Plan, str], Surroundings]
    rows: Callable[[Plan, str, Surroundings], Iterable[Row]]
    refusal: Callable[[Plan, str, Surroundings], str] = lambda plan, text, around: ""
    memory: Callable[[Plan, str, Surroundings], Fitted | CannotSay | None] = lambda plan, text, around: None
    leaner: Callable[[Plan, str, Surroundings, Cause], Iterable[Remedy]] = lambda plan, text, around, cause: ()


@dataclass(frozen=True, slots=True)
class Leaner:
    """Changes by which a run would have fitted that died of memory, and what its changes were `checked` for."""

    changes: tuple[Remedy, ...] = ()
    checked: Said | None = None
    is_of_memory: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """What a run saved: its `checkpoints`, the `folders` it wrote to that may be read, and why others may not; `since`:
    when it began, unix seconds by the date of files."""

    checkpoints: tuple[Checkpoint, ...]
    folders: tuple[Path, ...]
    outside: tuple[Said, ...]
    since: float


class Archive:
    """The runs of one store, as things that are kept. Every method raises `RunError` when there is no such run."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        check: Callable[[Path], object] = lambda path: None,
        judge: "Judge | None" = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`check` raises `PlaceError` for a stored plan's path that may not be read. Without a `judge` nothing speaks
        against a change."""
        self._store, self._runs, self._check, self._judge, self._clock = store, runs, check, judge, clock
        self._diagnoses = Diagnoses(check)
        self._leaner_known: dict[tuple[str, str], Leaner] = {}  # by the language, too

    def about(self, run_id: str) -> dict[str, Any]:
        """What the page shows once, not with every poll: diagnosis, provenance, checkpoints. Nothing here waits for the
        judge: where `checking` says so, `judged` tells the rest."""
        directory = self._store.open(run_id)
        if directory.plan_damage():
            config = self._runs.shown_config(run_id)
            told = {"config": config, "opens_config": _is_config(config), "diagnosis": self._damaged(directory)}
            return {**_NOTHING_KNOWN, **told}
        plan = directory.read_plan()
        if plan.is_adopted:
            return self._about_adopted(directory, plan)
        made, kept = self._unjudged(directory, plan), directory.read_foretold()
        checking = self._judge is not None and (kept is None or bool(made and _has_changes(made)))
        return {
            "damaged": False,
            "opens_config": False,  # a clone has it
            "checking": checking,
            "is_job": plan.is_job,
            "adopted": None,
            "diagnosis": self._card(directory, plan, made),
            "parent": self._runs.masked(plan.parent),
            "provenance": self._runs.masked_json(directory.read_provenance()),
            **self._resuming(directory, plan),
            "config": self._runs.shown_config(run_id),
            "script": self._runs.masked(plan.script),
            "estimate": self._estimate(directory, plan),
            "predicted": kept.predicted if kept else None,
            "loss_spike": self._spike(directory),
        }

    def judged(self, run_id: str) -> dict[str, Any]:
        """The diagnosis with the changes that nothing speaks against, and the prediction; may take as long as the
        checks before a start."""
        directory = self._store.open(run_id)
        made, plan = self.offer(run_id), self._own(run_id)
        return {"diagnosis": self._card(directory, plan, made), "predicted": self._predicted(directory, plan)}

    def _spike(self, directory: RunDirectory) -> Mapping[str, float] | None:
        found = self._diagnoses.spike(directory)
        return found.to_json() if found else None

    def _card(self, directory: RunDirectory, plan: Plan, made: Offer | None) -> Any:
        """Why it failed, or what is known of one that was lost or whose state is damaged; None of any other."""
        if made is not None:
            return self._runs.masked_json(made.to_json())
        return self._damaged(directory) if directory.status_damage() else self._lost(directory, plan)

    def lost(self, run_id: str) -> Any:
        """What is known of a run that was lost; None of any other."""
        directory = self._store.open(run_id)
        return self._lost(directory, directory.read_plan())

    def _damaged(self, directory: RunDirectory) -> Any:
        is_plan = directory.plan_damage() is not None
        file = directory.plan_file if is_plan else directory.state_file
        what, left = sentences(damage_found(directory)), kept(directory)
        foreign = directory.foreign_plan() if is_plan else directory.foreign_state()
        problem = sentences(whole_damage(directory))
        told = DamagedRun(what, file.name, is_plan, left, str(directory.path), foreign, problem)
        if is_plan:
            told = replace(told, state=_state_of(directory), command=_command_of(directory))
        return self._runs.masked_json(told.to_json())

    def _lost(self, directory: RunDirectory, plan: Plan) -> Any:
        seen = look(directory, plan)
        if seen.status.state is not RunState.LOST:
            return None
        told = self._runs.summary(directory.run_id)
        found, outside = ([], ()) if plan.is_job else self._checkpoints(directory, plan)
        whole = next((one for one in found if one.complete), None)
        lost = LostRun(
            status=seen.status,
            alive=seen.alive,
            away=backend_of(plan).OUT_OF_SIGHT,
            is_job=plan.is_job,
            step=told.step,
            total=told.total,
            recorded_s=told.duration_s,
            output=without_escapes(self._runs.output_end(directory.run_id)[0]),
            log=str(directory.output_file),
            saved=str(whole.to_json(plan.ranks)["path"]) if whole else None if outside else "",
            checkpoints=self._resuming(directory, plan)["checkpoints"],
            resumes=not plan.is_job and is_resumed(self._way(plan), plan.arguments, saved=whole is not None),
        )
        return self._runs.masked_json(lost.to_json())

    def _about_adopted(self, directory: RunDirectory, plan: Plan) -> dict[str, Any]:
        """What is known of a training that dsgui did not start, and what of its files was not understood."""
        kept = directory.read_adopted()
        told = {
            "folder": plan.working_directory,
            "kinds": [called(kind) for kind in kept.kinds] if kept else [],
            "notes": [str(note) for note in kept.notes] if kept else [],
            "read_at": kept.read_at if kept else None,
        }
        config, settings = self._runs.shown_config(directory.run_id), shlex.join(plan.arguments)
        why = self._diagnosed(directory)
        about = {
            "damaged": False,
            "config": config,
            "opens_config": _is_config(config),
            "adopted": told | {"settings": settings},
            "diagnosis": Offer(why).to_json() if why else None,
            "loss_spike": self._spike(directory),
        }
        return {**_NOTHING_KNOWN, **dict(self._runs.masked_json(about))}

    def _own(self, run_id: str) -> Plan:
        """Of a run that dsgui started: nobody knows how to start another again, and its files are only read."""
        plan = self._store.open(run_id).read_plan()
        if plan.is_adopted:
            raise RunError(wrong("adopted.read_only", run=run_id))
        return plan

    def _resuming(self, directory: RunDirectory, plan: Plan) -> dict[str, Any]:
        """The checkpoints that its script can go on from, and why not from all."""
        if plan.is_job:
            return {"checkpoints": [], "resume_note": ""}
        way, (found, outside) = self._way(plan), self._checkpoints(directory, plan)
        note = self._why_not(plan, way, found, outside)
        trained = directory.read_progress().get("step")
        if trained and not note and not any(one.complete for one in found) and _stopped_short(directory.read_status()):
            logged = _last_logged(directory)
            gone = said("resuming", "checkpoint_gone", step=str(logged))
            note = (said("resuming", "no_checkpoint") if logged is None else gone,)
        plain = [one.to_json(plan.ranks) for one in found if can_load(way, one)]
        universal = [
            one.to_json(plan.ranks) | {"path": folder, "name": posixpath.basename(folder)}
            for folder, one in _universals(way, found)
        ]
        return {
            "checkpoints": self._runs.masked_json([*plain, *universal]),
            "resume_note": self._runs.masked(sentences(note)),
        }

    def _why_not(
        self, plan: Plan, way: Resuming, found: Sequence[Checkpoint], outside: tuple[Said, ...]
    ) -> tuple[Said, ...]:
        note = note_on(way, found, self._script(plan).problem)
        return (note,) if note else outside

    def _script(self, plan: Plan) -> ScriptFacts:
        return allowed_script(plan.script, self._check)

    def _estimate(self, directory: RunDirectory, plan: Plan) -> dict[str, Any] | None:
        """The host memory that DeepSpeed's estimator foretells for what is offloaded, to hold the measured against;
        None where it has no answer."""
        named = value_of(plan.arguments, MODEL_OPTIONS)
        try:
            config = Document(directory.read_config()).value
        except DocumentError:
            return None
        model = model_size(named, plan.working_directory, plan.environment, self._check) if named else ModelSize()
        script = self._script(plan)
        values = values_of_words(script.command_line, words_before(plan))
        need = estimate(Launch.of(plan, config), model, script.part_trained(plan.arguments, values))
        if not isinstance(need, OffloadNeed):
            return None
        return {"states_bytes": need.states_bytes, "estimate_bytes": need.estimate_bytes, "source": need.source}

    def _predicted(self, directory: RunDirectory, plan: Plan) -> dict[str, int] | None:
        """The memory that was foretold at the launch, to hold the measured against; of a run of an older dsgui what the
        model foretells now, unless it ran on GPUs and here are none: what training on the CPU takes is not its own.
        None where there is no number."""
        if kept := directory.read_foretold():
            return kept.predicted
        if self._judge is None:
            return None
        text = directory.read_config()
        fitted = self._judge.memory(plan, text, self._judge.surroundings(plan, text))
        found = foretold(fitted) if isinstance(fitted, Fitted) else None
        return found if not plan.gpu_indices or (found and "gpu_bytes" in found) else None

    # -- why it failed ---------------------------------------------------------------------------------------------

    def offer(self, run_id: str) -> Offer | None:
        """Why the run failed, or that its loss was no number, and which changes may help; None of any other."""
        directory = self._store.open(run_id)
        found = self._diagnosed(directory)
        if found is None:
            return None
        plan = directory.read_plan()
        now = Tried(run_id, directory.read_config(), plan.arguments, found.title, environment=plan.environment)
        cause = _cause(directory, found)
        leaner = self._leaner(directory, plan, now, found, cause)
        fitting = self._taken(plan, leaner.changes)
        found = replace(found, remedies=(*fitting, *self._taken(plan, found.remedies)))
        fits = any(one.fix or one.options for one in fitting)
        objections, refusal = self._against(directory, plan, now, fits=fits)
        made = offer(found, now, self._earlier(plan), objections, refusal)
        checked = _checked(made, leaner, now, objections, fits=fits)
        away = self._away(plan, now) if made.diagnosis.remedies else None
        return replace(made, cause=cause.sentences if cause else (), checked=checked, away=away)

    def _away(self, plan: Plan, now: Tried) -> Said | None:
        """Where a clone goes that needs a GPU and finds none here."""
        if self._judge is None or not plan.place.ON_THIS_MACHINE or not plan.gpu_indices:
            return None
        if self._judge.surroundings(plan, now.config_text).machine.gpus:
            return None
        return said("set_aside", "away", gpus=listed(map(str, plan.gpu_indices)))

    def _unjudged(self, directory: RunDirectory, plan: Plan) -> Offer | None:
        """As `offer`, with every change that is known: none was checked yet. Without a judge, as `offer`."""
        if self._judge is None:
            return self.offer(directory.run_id)
        found = self._diagnosed(directory)
        if found is None:
            return None
        cause = _cause(directory, found)
        found = replace(found, remedies=self._taken(plan, found.remedies))
        told = told_of(Tried(plan.run_id, directory.read_config(), plan.arguments, environment=plan.environment), found)
        return Offer(found, cause=cause.sentences if cause else (), does=told)

    def _diagnosed(self, directory: RunDirectory) -> Diagnosis | None:
        found = self._diagnoses.of(directory)
        return found if found and self._runs.summary(directory.run_id).state in TOLD_OF else None

    def _taken(self, plan: Plan, remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
        return tuple(one for one in remedies if _takes(self._script(plan), one))

    def _leaner(self, directory: RunDirectory, plan: Plan, now: Tried, found: Diagnosis, cause: Cause | None) -> Leaner:
        """By the model that foretold its memory; looked for once, since it takes a while."""
        device = ran_out(found) if cause is None else cause.device
        if self._judge is None or device is None:
            return Leaner()
        key = (plan.run_id, spoken())
        if key not in self._leaner_known:
            while len(self._leaner_known) >= _MOST_KNOWN:
                self._leaner_known.pop(next(iter(self._leaner_known)), None)
            self._leaner_known[key] = self._looked_for(self._judge, directory, plan, now, device, cause)
        return self._leaner_known[key]

    def _looked_for(
        self, judge: Judge, directory: RunDirectory, plan: Plan, now: Tried, device: Device, cause: Cause | None
    ) -> Leaner:
        kept, text = directory.read_foretold(), now.config_text
        if cause is None:
            return Leaner((), checked_for(device, kept, None, elsewhere=False), is_of_memory=True)
        here = judge.surroundings(plan, text)
        around = _as_it_ran(here, directory, plan)
        found = tuple(judge.leaner(plan, text, around, cause))
        memory = judge.memory(plan, text, around)
        return Leaner(found, checked_for(device, kept, memory, elsewhere=around is not here), is_of_memory=True)

    def _against(self, directory: RunDirectory, plan: Plan, now: Tried, *, fits: bool) -> tuple[Objections, Refusal]:
        """What speaks against other settings of the plan, in surroundings that are looked at once: what else changes
        on this machine meanwhile is not held against a change. `fits`: there is one by which the run would fit in
        memory; others that lessen what is too much are in its way."""
        judge = self._judge
        if judge is None:
            return (lambda tried: (), lambda tried: "")
        around = cache(lambda: _as_it_ran(judge.surroundings(plan, now.config_text), directory, plan))

        def of(tried: Tried) -> tuple[Plan, str, Surroundings]:
            changed = replace(plan, arguments=tried.arguments, environment=tried.environment)
            return changed, tried.config_text, around()

        def objections(tried: Tried) -> list[tuple[str, str]]:
            told = (tried.config_text, tried.arguments) != (now.config_text, now.arguments)
            return _objections(judge.rows(*of(tried)), fits and told)

        return objections, lambda tried: judge.refusal(*of(tried))

    def _earlier(self, plan: Plan) -> list[Tried]:
        """The runs it was cloned from, its parent first, as far as they are still there."""
        found: list[Tried] = []
        seen = {plan.run_id}
        while plan.parent and plan.parent not in seen and len(found) < _LONGEST_CHAIN:
            seen.add(plan.parent)
            try:
                directory = self._store.open(plan.parent)
                plan = directory.read_plan()
                diagnosis = self._diagnoses.of(directory) if _failed(directory) else None  # what it had is no failure
                told = (diagnosis.title, diagnosis.remedies) if diagnosis else ()
                tried = Tried(plan.run_id, directory.read_config(), plan.arguments, *told)
                found.append(replace(tried, environment=plan.environment))
            except (RunError, OSError):
                break
        return found

    # -- the same again --------------------------------------------------------------------------------------------

    def launched(self, run_id: str) -> LaunchRequest:
        """What started the run, by the name that it has by now."""
        directory, plan = self._store.open(run_id), self._own(run_id)
        request = clone(plan, directory.read_config()).request
        return replace(request, name=self._runs.name_of(directory, plan), parent=plan.parent)

    def ran_on(self, run_id: str) -> Planned:
        """The card and the host that it ran on, as far as they were kept at its launch and are known here."""
        kept = self._store.open(run_id).read_foretold()
        return as_planned(kept) if kept else Planned()

    def config_of(self, run_id: str) -> str:
        """The config as launched, of a run of which nothing else can be had. Raises `RunError` where it is none."""
        config = self._store.open(run_id).read_config()
        if not _is_config(config):
            raise RunError(wrong("run.no_config", run=run_id))
        return config

    def clone(self, run_id: str) -> Clone:
        """The same again."""
        return clone(self._own(run_id), self._store.open(run_id).read_config())

    def repaired(self, run_id: str, key: str = "") -> Clone:
        """The same again with the change of that `Remedy.key`, or the likeliest that its diagnosis proposes."""
        self._own(run_id)
        directory, made = self._store.open(run_id), self.offer(run_id)
        if made is None or made.diagnosis.remedy is None:
            raise RunError(_no_change(run_id, made))
        remedy = next((one for one in made.diagnosis.remedies if key in ("", one.key)), None)
        if remedy is None:
            raise RunError(_no_change(run_id, made))
        return clone(directory.read_plan(), directory.read_config(), remedy)

    def resumed(self, run_id: str, path: str) -> Clone:
        """The same again from the checkpoint at `path`, one of those that `about` lists."""
        directory, plan = self._store.open(run_id), self._own(run_id)
        way = self._way(plan)
        found, outside = self._checkpoints(directory, plan)
        loadable = [(one.path, one) for one in found if can_load(way, one)]
        universal = _universals(way, found)
        named = (one for at, one in (*loadable, *universal) if path in (at, self._runs.masked(at)))  # as `about` shows
        chosen = next(named, None)
        if chosen is None:
            why = self._why_not(plan, way, found, outside) or (said("resuming", "may_be_removed"),)
            raise RunError(wrong("run.no_such_checkpoint", run=run_id, path=path[:200], why=sentences(why)))
        problem = chosen.problem(plan.ranks)
        if problem and not chosen.complete:
            raise RunError(wrong("run.checkpoint", run=run_id, problem=problem))
        label = said("remedies", "resume")
        fix = Fix(label, _FOR_UNIVERSAL) if any(chosen is one for _, one in universal) else None
        made = clone(plan, directory.read_config(), Remedy(label, fix, options_for(way, chosen, plan)))
        return replace(made, notes=(*made.notes, *([str(problem)] if problem else [])))

    def _way(self, plan: Plan) -> Resuming:
        script = self._script(plan)
        return way_of(script.resuming, plan.arguments, script.options)

    def left(self, run_id: str) -> Left:
        """What the run saved, by the date of files and the names in them. Raises `RunError`."""
        directory, plan = self._store.open(run_id), self._own(run_id)
        folders, outside = self._folders(plan)
        span = self._span(directory)
        own = looked_into(plan, [one for one in folders if one == directory.path])
        return Left(tuple(find_checkpoints(plan, span, folders)), (*folders, *own), outside, span.begin)

    def _checkpoints(self, directory: RunDirectory, plan: Plan) -> tuple[list[Checkpoint], tuple[Said, ...]]:
        """Those in folders that may be read, and why others may not."""
        folders, outside = self._folders(plan)
        return find_checkpoints(plan, self._span(directory), folders), outside

    def written_by(self, plan: Plan) -> list[Path]:
        """The folders that a run writes to, by its arguments and its script."""
        way = self._way(plan)
        options = (*way.saving, *filter(None, [way.folder]))
        return written_folders(plan, options, self._script(plan).text_defaults(OUTPUT_OPTIONS))

    def _folders(self, plan: Plan) -> tuple[list[Path], tuple[Said, ...]]:
        """Where it writes, as far as that may be read: a stored plan may be somebody else's."""
        folders = self.written_by(plan)
        refused = {folder: why for folder in folders if (why := self._refusal(folder))}
        outside = tuple(said("resuming", "not_searched", why=why) for why in refused.values())
        return [one for one in folders if one not in refused], outside

    def _refusal(self, folder: Path) -> str:
        try:
            self._check(folder)
        except PlaceError as error:
            return str(error)
        return ""

    def _span(self, directory: RunDirectory) -> Span:
        """The plan is written as the run is started: what is older belongs to another run, and so does what is newer
        than its end. Where the clock was set meanwhile, what the run saved may bear a date outside of that."""
        status = directory.read_status() or RunStatus()
        planned = directory.plan_file.stat().st_mtime
        begin = min(planned, status.started_at or planned) - status.clock_back_s - _EARLY_S
        if status.ended_at is None:
            return Span(begin, self._lost_at(directory))
        lasted = (status.started_at or planned) + (status.lasted_s or 0.0)
        return Span(begin, max(status.ended_at, lasted + status.clock_ahead_s) + _LATE_S)

    def _lost_at(self, directory: RunDirectory) -> float | None:
        """After which nothing of a lost run wrote any more; None while something may."""
        lost = self._runs.summary(directory.run_id).state is RunState.LOST
        if not lost or self._runs.alive_processes(directory.run_id):
            return None
        seen = directory.last_sign_of_life()
        return None if seen is None else seen + _ALONE_S

    # -- what is written on it -------------------------------------------------------------------------------------

    def label(self, run_id: str, change: Mapping[str, Any]) -> None:
        """Changes its name, tags or note, or puts it away; whoever else does so at the same time loses nothing."""
        directory = self._store.open(run_id)
        with self._store.saying_what_to_do(), adding(directory):
            directory.write_label(_masked(directory.read_label().changed(change), self._runs.masked))

    # -- stopping --------------------------------------------------------------------------------------------------

    def stake(self, run_id: str) -> dict[str, Any]:
        """What stopping it now would lose: how far it has come, and the newest checkpoint that is whole, None where
        none was found. `looked` is False where its folders may not be searched."""
        directory, summary = self._store.open(run_id), self._runs.summary(run_id)
        told = {"step": summary.step, "elapsed_s": summary.duration_s, "checkpoint": None, "looked": False}
        try:
            found, outside = self._checkpoints(directory, self._own(run_id))
        except RunError:  # its plan can't be read, or it is not dsgui's
            return told
        newest = next((one for one in found if one.complete), None)
        if newest is None:
            return told | {"looked": not outside}
        age_s = max(self._clock() - saved_at(newest), 0.0)
        kept = {"name": self._runs.masked(newest.name), "step": newest.step, "age_s": age_s}
        return told | {"checkpoint": kept, "looked": True}

    # -- deleting --------------------------------------------------------------------------------------------------

    def removal(self, run_id: str) -> Removal:
        """What `delete` would remove."""
        return measure(self._ended(run_id).path)

    def delete(self, run_id: str) -> None:
        """Removes the run's folder and nothing else. Refuses while any process of the run is alive."""
        directory = self._ended(run_id)
        remove(directory.path)
        forget(directory)

    def _ended(self, run_id: str) -> RunDirectory:
        directory = self._store.open(run_id)
        if self._runs.may_go_on(run_id):
            raise RunError(wrong("run.may_be_running", run=run_id))
        return directory


def _universals(way: Resuming, found: Iterable[Checkpoint]) -> list[tuple[str, Checkpoint]]:
    """The universal checkpoints made of these that the script can go on from, by their folders."""
    made = [one for each in found if (one := universal_of(each))]
    return [(folder, one) for folder, one in made if can_load(way, one)]


def _masked(label: Label, hide: Callable[[str], str]) -> Label:
    return replace(label, name=hide(label.name), tags=tuple(map(hide, label.tags)), note=hide(label.note))


def _cause(directory: RunDirectory, found: Diagnosis) -> Cause | None:
    return cause_of(found, directory.read_foretold(), directory.read_progress().get("peak") or {})


def _has_changes(made: Offer) -> bool:
    """Whether there are any to check, or to look for."""
    return bool(made.diagnosis.remedies or made.cause)


def _no_change(run_id: str, made: Offer | None) -> Said:
    if made is None or not made.set_aside:
        return wrong("run.no_change", run=run_id)
    return wrong("run.changes_set_aside", run=run_id, why=" ".join(map(str, made.set_aside)))


def _last_logged(directory: RunDirectory) -> int | None:
    """The step of the last checkpoint that its output told of."""
    lines, offset = directory.read_lines(directory.events_file, 0)
    found = None
    while lines:
        for line in lines:
            with suppress(ValueError):
                event = parse_object(line)
                if event.get("kind") == "checkpoint" and isinstance(event.get("step"), int):
                    found = event["step"]
        lines, offset = directory.read_lines(directory.events_file, offset)
    return found


def _stopped_short(status: RunStatus | None) -> bool:
    return status is not None and status.state in (RunState.STOPPED, RunState.FAILED, RunState.LOST)


def _failed(directory: RunDirectory) -> bool:
    return look(directory, None).status.state is RunState.FAILED


def _state_of(directory: RunDirectory) -> Said | str:
    """How a run ended, or that it goes on; "" where that is not known either."""
    state = look(directory, None).status.state
    return "" if state in UNREAD else said("states", state.value)


def _command_of(directory: RunDirectory) -> str:
    """What it ran, without what its options name as secret: its plan can't tell these; "" where that is no command."""
    try:
        words = shlex.split(directory.read_command())
    except ValueError:
        return ""
    secrets = secret_arguments(words)
    command = shlex.join(mask(word, secrets) for word in words)
    return command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]}…"


def _is_config(text: str) -> bool:
    with suppress(DocumentError):
        return bool(text.strip()) and bool(Document(text))
    return False


def _takes(facts: ScriptFacts, remedy: Remedy) -> bool:
    """Whether the script's own source, as far as it tells, takes the options that the remedy sets."""
    if facts.problem or facts.parser not in (Parser.NONE, Parser.ARGPARSE, Parser.DEEPSPEED):
        return True
    return all(value is None or option in facts.options for option, value in remedy.options)


def _checked(made: Offer, leaner: Leaner, now: Tried, objections: Objections, *, fits: bool) -> Said | None:
    """What the likeliest change was checked for; that it is too little, where the memory model says so."""
    remedy = made.diagnosis.remedy
    if remedy is None or remedy.is_empty or not leaner.is_of_memory:
        return None
    is_sure = leaner.checked is None or leaner.checked.code.startswith("checked")
    if is_sure and not fits and any(MODEL_MEMORY in name for name, _ in objections(now.changed(remedy))):
        return said("set_aside", "still_short")
    return leaner.checked


def _as_it_ran(around: Surroundings, directory: RunDirectory, plan: Plan) -> Surroundings:
    versions = directory.read_provenance().get("versions") or {}
    return as_it_ran(around, plan, directory.read_foretold(), versions)


def _objections(rows: Iterable[Row], of_memory: bool) -> list[tuple[str, str]]:
    """What the checks say would stop these settings; the config's by what it is about, and of a run that died of memory
    that by how much: less of it may still be too much."""
    problems = (row for row in rows if row.status is Status.PROBLEM and row.check in OF_SETTINGS)
    told = (CONFIG, *([MODEL_MEMORY] if of_memory else []))
    return [(f"{row.check} {row.seen if row.check in told else ''}", row.all_seen) for row in problems]
