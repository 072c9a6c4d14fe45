"""Start, stop, list and follow runs: the one place that joins the launcher and the store for the page."""

import io
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from dsgui.core.access.secrets import MASK, finished, is_secret_name, longest_first, mask, secret_values
from dsgui.core.config.document import Document
from dsgui.core.decoding import plain
from dsgui.core.errors import DocumentError, PlaceError, PlanError, RunError
from dsgui.core.launch.command import shown_command
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.plan import LaunchRequest, Plan, WhenBusy, shared_devices
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.resume import asked_folder
from dsgui.core.launch.state import UNREAD, Asked, Identity, RunState, RunStatus
from dsgui.core.logs.phases import known_phase
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.metrics.performance import Figures, figures
from dsgui.core.metrics.thinning import STRETCHES_SHOWN, Curve, to_json
from dsgui.core.runs.alerts import with_unit
from dsgui.core.runs.free_name import free_name
from dsgui.core.runs.meaning import meaning
from dsgui.core.runs.news import Change, Cursor, Delta, Listed, RunSummary, Window
from dsgui.core.runs.no_loss import NoLoss, Told, has_loss, no_loss
from dsgui.core.runs.run_settings import Setting, Settings, changes, column_values, searchable
from dsgui.core.runs.what_ran import what_ran
from dsgui.core.script.taken import LOGGING_WORDS, offers_logging
from dsgui.core.script.words import MODEL_OPTIONS, value_of
from dsgui.core.texts.languages import ENGLISH_TAG, speaking
from dsgui.core.texts.saying import Said, altered, as_told, listed, recalled, said, sentences, wrong
from dsgui.shell.access.places import Places
from dsgui.shell.afterwards.worker_files import OWN_SCRIPTS
from dsgui.shell.files.json_files import parse_object
from dsgui.shell.files.regular_files import open_regular
from dsgui.shell.launch.asked_paths import allowed_script, python_path, script_path, script_source, working_directory
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.launch.ports import Ports
from dsgui.shell.launch.where import backend_of
from dsgui.shell.processes.processes import boot_id, is_exiting, is_stopped, members, send_signal, supervises
from dsgui.shell.runs.adrift import adrift
from dsgui.shell.runs.checkpoints import checkpoint_at, has_universal, newest_in
from dsgui.shell.runs.curve_reader import NEWS_BYTES, last_values, read_points, read_samples, sample_series
from dsgui.shell.runs.damage import damage, whole_damage
from dsgui.shell.runs.liveness import Seen, look, owners
from dsgui.shell.runs.run_index import RunIndex
from dsgui.shell.runs.run_list import RunList
from dsgui.shell.runs.store import RunDirectory, Store, size_of
from dsgui.shell.runs.turns import Queue
from dsgui.shell.script.script_answers import arguments_file

_QUICK_BYTES = 1 << 20
_SETTING = re.compile(r'("((?:[^"\\]|\\.){1,100})"\s*:\s*)"(?:[^"\\]|\\.)+"')
_BLOCK_CHARACTERS = 1 << 16
_ADRIFT_S = 5.0
_LOADED_S, _RESUMED_S, _LOOK_S = 20.0, 1.0, 0.05
_MOST_DAMAGES = 256
_LONGEST_NAME = 300
_MOST_CHANGES, _LONGEST_CHANGE = 20, 100
_METRIC_DIGITS = 4
_PROGRESS = ("step", "total", "eta_s", "steps_per_second")  # what a page is told of it with every poll
_MOST_LOOKED_BACK = 10


class Runs:
    """Every run of one store. Holds no run itself: another server on the same folder sees the same.

    `places` bounds what may be launched and where, if given. What a page is told contains no value of `secrets`.
    `preset_title`: what a run's page calls the preset that its plan names."""

    def __init__(
        self,
        store: Store,
        launcher: Launcher,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        places: Places | None = None,
        secrets: Sequence[str] = (),
        preset_title: Callable[[str], str] = str,
    ) -> None:
        self._store, self._launcher, self._clock, self._monotonic = store, launcher, clock, monotonic
        self._places, self._secrets, self._adding = places, tuple(secrets), threading.Lock()
        self._own_secrets, self._secrets_of = tuple(secrets), dict[str, Sequence[str]]()  # by run
        self._preset_title = preset_title
        self._starting: set[str] = set()
        self._launched_as: dict[str, str] = {}  # a run's name when it was launched
        self._index = RunIndex(store, self._adrift)
        told = (self._line, self._searchable, self._columns, self._called)
        self._listing = RunList(store, self._index, self._opened, *told)
        self._ports, self._queue = Ports(), Queue(store, self._index)
        self._lost: set[str] = set()
        self._swept: set[str] = set()
        self._damaged: dict[str, tuple[Said, ...]] = {}
        self._afloat: tuple[float, Collection[str]] = (-math.inf, ())

    # -- starting --------------------------------------------------------------------------------------------------

    def prepare(self, request: LaunchRequest) -> Plan:
        """The plan for `request`, with a new run id and a free port. Writes nothing. Raises `PlanError` and
        `PlaceError`."""
        script, directory = script_path(request), working_directory(request)
        concrete = replace(
            request,
            name=request.name.strip() or Path(script).stem,  # as it was typed, not where that leads
            working_directory=self._real(directory),
            target_python=python_path(request),
        )
        script = self._real(script)
        run_id = self._store.new_id()
        plan = make_plan(
            concrete,
            run_id=run_id,
            run_directory=str(self._store.directory(run_id).path),
            script_path=script,
            master_port=self._ports.hold(run_id, request.master_port),
            script=script_source(script),
        )
        plan = (
            replace(plan, arguments=(*plan.arguments, *LOGGING_WORDS)) if request.logs and self.may_log(plan) else plan
        )
        self._check_resume(plan, request.config_text)
        return plan

    def forget(self, plan: Plan) -> None:
        """Lets go of what is held for a plan that nobody starts."""
        self._ports.release(plan.run_id)

    def _real(self, path: str) -> str:
        """Where `path` leads, which is what starts: a link that is put elsewhere later changes nothing. Raises
        `PlaceError`. As it is where any place may be named."""
        return str(self._places.check(Path(path))) if self._places and path and path not in OWN_SCRIPTS else path

    def may_log(self, plan: Plan) -> bool:
        """Whether --logging_steps may be added to the plan's arguments: its script's Trainer would log every 500
        steps."""
        line = script_source(plan.script).command_line
        check = self._places.check if self._places else lambda path: None
        return offers_logging(line, plan.arguments, arguments_file(plan, line, check))

    def start(
        self,
        plan: Plan,
        config_text: str,
        secrets: Mapping[str, str] | None = None,
        foretold: Foretold | None = None,
        numbered: bool = False,
    ) -> str:
        """Writes the run's folder and starts its supervisor; returns the run id. Takes a fraction of a second.
        `secrets` are handed on to the run and written nowhere; `foretold` is what was said of its memory. `numbered`:
        nobody typed its name, which gets a number where a run of the folder has it already.

        Raises `RunError`, also for a plan that was started before (a double click starts one run), and for one that
        does not start beside others."""
        if self._real(plan.script) != plan.script:
            raise RunError(wrong("run.script_moved", script=plan.script))
        backend_of(plan).check()
        with self._adding:  # another start must not write over it; its output may print them
            self._learn(plan.run_id, secret_values(secrets or {}))
        try:
            return self._start(plan, config_text, secrets or {}, foretold, numbered)
        finally:
            self._starting.discard(plan.run_id)

    def _start(
        self, plan: Plan, config_text: str, secrets: Mapping[str, str], foretold: Foretold | None, numbered: bool
    ) -> str:
        taken = self._names_taken() if numbered else {}  # reads much: nobody waits for it
        with speaking(ENGLISH_TAG), self._queue.turn():  # what is written to disk
            if plan.when_busy is WhenBusy.REFUSE and (others := self._queue.before(plan)):
                raise RunError(_busy(plan, others))
            if numbered:
                plan = replace(plan, name=free_name(plan.name, {*self._names_taken(taken).values()}))
            directory = self._store.create(plan.run_id)
            asked = Asked(self._queue.next_place(), self._monotonic(), boot_id())
            self._store.write_plan(directory, plan, config_text, asked, foretold)
        try:
            self._launcher.start(directory, secrets)
            self._afloat = -math.inf, ()  # one more goes on
        except RunError as error:
            self._store.write_status(
                directory, RunStatus(RunState.FAILED, reasons=(as_told(str(error)),), ended_at=self._clock())
            )
            raise
        finally:
            self._ports.release(plan.run_id)
        return plan.run_id

    def _names_taken(self, known: Mapping[str, str] | None = None) -> dict[str, str]:
        """Those of all runs by id, archived too: as they are called by now, but for those that are `known`."""
        ids = self._index.ids()
        for gone in [*self._launched_as.keys() - set(ids)]:
            self._launched_as.pop(gone, None)
        told = known or {}
        return {one: told[one] if one in told else self._name_taken(self._store.directory(one)) for one in ids}

    def _name_taken(self, directory: RunDirectory) -> str:
        if directory.run_id not in self._launched_as:
            with suppress(RunError):
                self._launched_as[directory.run_id] = directory.read_plan().name
        return directory.read_label().name or self._launched_as.get(directory.run_id, "")

    def _learn(self, run_id: str, secrets: Sequence[str]) -> None:
        """The values of a run's secrets, and no more those of runs that are deleted."""
        self._starting.add(run_id)
        if self._secrets_of:
            known = {*self._starting, *self._index.newest_first(), *self._adrift()}
            self._secrets_of = {one: values for one, values in self._secrets_of.items() if one in known}
        self._secrets_of = self._secrets_of | ({run_id: secrets} if secrets else {})
        self._secrets = longest_first((*self._own_secrets, *chain.from_iterable(self._secrets_of.values())))

    def port_is_free(self, plan: Plan) -> bool:
        """Whether the plan's master port can be had now."""
        return self._ports.is_free_for(plan.run_id, plan.master_port)

    def _check_resume(self, plan: Plan, config_text: str) -> None:
        """DeepSpeed refuses a checkpoint of another number of ranks when all of it is loaded (deepspeed/runtime/zero,
        `load_state_dict`), unless it was made universal. One in a folder that may not be looked into is not judged."""
        asked = asked_folder(script_source(plan.script).resuming, plan)
        if asked is None:
            return
        option, named, is_checkpoint = asked
        try:
            path = self._places.check(Path(named)) if self._places else Path(named)
        except PlaceError:
            return
        if _loads_universal(config_text):
            if path.is_dir() and not has_universal(path):
                raise PlanError(wrong("run.no_universal", option=option, path=str(path)))
            return
        chosen = checkpoint_at(path) if is_checkpoint else newest_in(path)
        if chosen and (problem := chosen.problem(plan.ranks)):
            raise PlanError(wrong("run.resume_option", option=option, problem=problem))

    def busy(self) -> dict[str, list[str]]:
        """Which runs use what now: names of runs by slot ("gpu-0", "cpu")."""
        found: dict[str, list[str]] = {}
        for plan in self._queue.holders():
            for slot in plan.slots:
                found.setdefault(slot, []).append(plan.name)
        return found

    def beside(self, plan: Plan) -> tuple[str, ...]:
        """The names of the runs that `plan`, which does not wait for them, would share its devices with."""
        if plan.when_busy is not WhenBusy.START:
            return ()
        return tuple(other.name for other in self._queue.holders() if plan.slots & other.slots)

    def going_on(self) -> Sequence[Plan]:
        """The plans of the runs that have begun and not ended."""
        return [*self._queue.holders()]

    def shown_command(self, plan: Plan) -> str:
        """The command for the page, or the script that it hands over: as it runs, but for the secrets in it."""
        return mask(shown_command(plan), self._secrets)

    # -- stopping --------------------------------------------------------------------------------------------------

    def stop(self, run_id: str) -> None:
        """Returns at once, or when a run that is being started can be asked; the run's supervisor ends the processes,
        or a new one does where it is gone or hangs. A second stop kills at once. A run that has ended is left as it is.
        Raises `RunError`."""
        directory = self._opened(run_id)
        plan = _plan_of(directory)
        seen = self._begun(directory, plan)
        if not self._tell(directory, signal.SIGTERM):
            if _can_be_ended(plan, seen):
                self._launcher.end(directory)
        elif not seen.responds and self._still_silent(directory):
            self._end_without(directory)

    def save_and_stop(self, run_id: str) -> None:
        """Returns at once; the ranks are asked to write a checkpoint and end. Raises `RunError`."""
        directory = self._store.open(run_id)
        plan = directory.read_plan()
        if not plan.saves_when_asked:
            raise RunError(wrong("run.cannot_save", run=run_id))
        self._begun(directory, plan)
        if not self._tell(directory, signal.SIGUSR1):
            raise RunError(wrong("run.nobody_to_ask", run=run_id))

    def _tell(self, directory: RunDirectory, number: signal.Signals) -> bool:
        """Signals the run's supervisor, or a guardian, which keeps it for the next one; False where there is neither.
        Lets those go on that are suspended."""
        found = self._owners(directory)
        told = any(send_signal(owner, number) for owner in found)
        for owner in filter(is_stopped, found):
            send_signal(owner, signal.SIGCONT)
        return told

    def _owners(self, directory: RunDirectory) -> Sequence[Identity]:
        """The processes that own a run which goes on, its supervisor first."""
        status = directory.read_status()
        if status is None:
            one = owners(directory)
            return one.owners if one else ()
        named = status.owners if status.state.live else ()
        return [owner for owner in named if supervises(owner, directory.run_id)]

    def _end_without(self, directory: RunDirectory) -> None:
        """Ends a run whose supervisor hangs: its guardians start another, which ends it; without them one is started
        here. Raises `RunError`."""
        found = self._owners(directory)
        if any(send_signal(guardian, signal.SIGTERM) for guardian in found[1:]):
            send_signal(found[0], signal.SIGKILL)
        else:
            self._launcher.end(directory)

    def _begun(self, directory: RunDirectory, plan: Plan | None) -> Seen:
        """Waits a while for a supervisor that is still loading: a signal would end it, and the run would have
        failed. Raises `RunError` where it goes on loading."""
        until = self._monotonic() + _LOADED_S
        while (seen := self._seen(directory, plan)).is_awaited:
            if self._monotonic() > until:
                raise RunError(wrong("run.still_starting", run=directory.run_id))
            time.sleep(_LOOK_S)
        return seen

    def _still_silent(self, directory: RunDirectory) -> bool:
        """Waits a moment for a supervisor that was just resumed; whether it goes on being silent."""
        until = self._monotonic() + _RESUMED_S
        while not self._seen(directory, None).responds:
            if self._monotonic() > until:
                return True
            time.sleep(_LOOK_S)
        return False

    def may_go_on(self, run_id: str) -> bool:
        """Whether some of the run's processes live, or may live where this machine can't see. Raises `RunError`."""
        directory = self._opened(run_id)
        plan = _plan_of(directory)
        seen = self._seen(directory, plan)
        return seen.status.state.live or _can_be_ended(plan, seen) or bool(self.alive_processes(run_id))

    def alive_processes(self, run_id: str) -> list[int]:
        """The pids of the run's processes, its supervisor not among them. Looks at every process of the machine."""
        directory = self._opened(run_id)
        status = directory.read_status()
        if status is None:
            one = owners(directory)
            return sorted(members(run_id, None, [identity.pid for identity in one.owners] if one else ()))
        known = [one.pid for one in status.owners if supervises(one, run_id) or is_exiting(one)]
        return sorted(members(run_id, status.process, known))

    # -- looking ---------------------------------------------------------------------------------------------------

    def list(self) -> list[RunSummary]:
        """Every run, newest first. A run that has ended is read again only when its files have changed."""
        return self._listing.all()

    def ids(self) -> Sequence[str]:
        """Of every run, newest first. Costs less than `list`."""
        return self._index.newest_first()

    def newest(self, count: int) -> Sequence[RunSummary]:
        """The runs that were launched last. No other is read."""
        return self._listing.newest(count)

    def listed(self, asked: Window) -> Listed:
        """The part of the list that a page shows, and what in it has changed."""
        return self._listing.window(asked)

    def _adrift(self) -> Collection[str]:
        """The runs that go on, wherever their folders are; looked for every few seconds."""
        at, found = self._afloat
        if self._monotonic() - at > _ADRIFT_S:
            found = frozenset(adrift(self._store.runs_dir))
            self._afloat = self._monotonic(), found
        return found

    def _opened(self, run_id: str) -> RunDirectory:
        """Also of a run whose folder was deleted while it goes on: then nothing is in it. Raises `RunError`."""
        try:
            return self._store.open(run_id)
        except RunError:
            directory = self._store.directory(run_id)
            if run_id not in adrift(self._store.runs_dir):
                raise
            return directory

    def is_away(self, run_id: str) -> bool:
        """Whether a run that goes on has no folder where it was launched: it can be found no more once it has ended."""
        return not self._store.directory(run_id).path.is_dir()

    def summary(self, run_id: str) -> RunSummary:
        """Raises `RunError` when there is no such run."""
        directory = self._opened(run_id)
        plan = _plan_of(directory)
        return self._summary(directory, plan, self._seen(directory, plan))

    def follow(self, run_id: str, cursor: Cursor) -> Delta:
        """What is new since `cursor`; the cost depends on that, not on the run's length. Raises `RunError`."""
        directory = self._opened(run_id)
        plan = _plan_of(directory)
        seen = self._seen(directory, plan)
        turn = _turn_of(directory, plan)
        if anew := not cursor.fresh and cursor.turn != turn:
            cursor = Cursor(events=cursor.events, output=cursor.output)
        curves, news = _curve_news(directory, cursor)
        for series in curves["series"].values():  # a script may print what it likes for a name
            series |= {"name": self.masked(series["name"]), "node": self.masked(series["node"])}
        (self._lost.add if seen.status.state is RunState.LOST else self._lost.discard)(run_id)
        events, events_offset = directory.read_lines(directory.events_file, cursor.events)
        status, progress = seen.status, directory.read_progress()
        output, output_offset = self._shown_output(directory, cursor.output, status.state.live)
        elapsed_s, label = self._elapsed_s(directory, status), directory.read_label()
        return Delta(
            run_id=run_id,
            name=self.name_of(directory, plan),
            state=status.state,
            reason=self.masked(status.reason),
            phase=known_phase(status.phase, {series.kind for series in directory.read_series()}),
            phase_s=None if elapsed_s is None else max(elapsed_s - status.phase_at_s, 0.0),
            exit_code=status.exit_code,
            started_at=status.started_at,
            ended_at=status.ended_at,
            elapsed_s=elapsed_s,
            alive=seen.alive,
            telemetry_note=self.masked(status.telemetry_note),
            problem=self.masked(sentences(_trouble(directory, seen, self._damage_of(directory, cursor.fresh)))),
            kill_in_s=None if status.kill_due_s is None else max(status.kill_due_s - self._monotonic(), 0.0),
            can_end=status.state.live or _can_be_ended(plan, seen),
            can_save=plan is not None and plan.saves_when_asked and status.state is RunState.RUNNING,
            progress={key: progress.get(key) for key in _PROGRESS} if "step" in progress else None,
            epoch={"number": progress["epoch"], "epochs": progress.get("epochs")} if "epoch" in progress else None,
            doing=self._doing(progress, status),
            no_loss=self._no_loss(directory, plan, status),
            about=self._about(directory, plan) if cursor.fresh and plan else {},
            curves=curves,
            events=[self._told(event) for event in _parse(events)],
            output=output,
            cursor=replace(news, events=events_offset, output=output_offset, turn=turn),
            anew=anew,
            tags=tuple(map(self.masked, label.tags)),
            note=self.masked(label.note),
            archived=label.archived,
            peak=progress.get("peak"),
        )

    def _told(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """As a page may be told of it: a script may print what it likes."""
        found = plain(event) | {"text": self.masked(str(event.get("text", "")))}
        if isinstance(given := event.get("given"), dict):
            told = {n: str(recalled("", one, "")) if isinstance(one, dict) else one for n, one in given.items()}
            texts = {name: self.masked(one) for name, one in told.items() if isinstance(one, str)}
            found["given"] = with_unit(texts) if event.get("kind") in ("alert", "calm") else texts
        return found

    def curves(self, run_id: str) -> Sequence[Curve]:
        """All that was logged and sampled, each point of it. Raises `RunError`."""
        directory = self._store.open(run_id)
        samples, _ = read_samples(directory, directory.sample_tables())
        return [*read_points(directory)[0].values(), *samples.values()]

    def figures(self, run_id: str, curves: Sequence[Curve] | None = None) -> Figures:
        """Those of its curves, with what is told of it everywhere else as well: how long it took, how far it came, and
        the most memory that its training had, the compilers before it left out. Raises `RunError`."""
        summary = self.summary(run_id)
        found = figures(self.curves(run_id) if curves is None else curves)
        return found.told(summary.duration_s, summary.peak or {}, summary.step)

    def shown_config(self, run_id: str) -> str:
        """The config as launched, but for what its own keys say is secret (comet's api_key). Raises `RunError`."""

        def hidden(match: re.Match[str]) -> str:
            return f'{match[1]}"{MASK}"' if is_secret_name(match[2]) else match[0]

        return self.masked(_SETTING.sub(hidden, self._store.open(run_id).read_config()))

    def output_end(self, run_id: str) -> tuple[str, int]:
        """The last part of the output without secrets, and from where a page asks on. Raises `RunError`."""
        directory = self._store.open(run_id)
        status = directory.read_status()
        return self._shown_output(directory, -1, status is not None and status.state.live)

    def masked(self, text: str) -> str:
        """The text as it may be shown to others: without what is known to be secret."""
        return mask(text, self._secrets)

    def masked_json(self, value: Any) -> Any:
        """The same of every text in a JSON value, names too."""
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, Mapping):
            return {self.masked(str(name)): self.masked_json(one) for name, one in value.items()}
        return [self.masked_json(one) for one in value] if isinstance(value, list | tuple) else value

    def window(self, run_id: str, ids: Sequence[str], axis: str, low: float, high: float) -> dict[str, Any]:
        """The part of some curves whose `axis` ("step", "epoch", "time") lies in a range, in as many points as a screen
        shows. Raises `RunError`."""
        directory = self._store.open(run_id)
        numbers = {int(one) for one in ids if "." not in one}
        places = {(int(table), int(place)) for table, _, place in (one.partition(".") for one in ids) if place}
        points, _ = read_points(directory, wanted=numbers)
        samples, _ = read_samples(directory, directory.sample_tables(), wanted=places) if places else ({}, ())
        parts = [(name, curve.between(axis, low, high)) for name, curve in _named(points, samples)]
        return to_json(parts, STRETCHES_SHOWN)

    def is_quick(self, run_id: str, cursor: Cursor) -> bool:
        """Whether `follow` has little to read: not all of a long run, and no processes to look for. Raises
        `RunError`."""
        directory = self._store.open(run_id)
        news = max(size_of(directory.points_file) - cursor.points, 0)
        tables = enumerate((*cursor.samples, 0))  # and the one that may have been begun meanwhile
        news += sum(max(size_of(directory.samples_file(number)) - offset, 0) for number, offset in tables)
        little = not cursor.fresh and news < _QUICK_BYTES and run_id not in self._lost
        return little and cursor.turn == _turn_of(directory, _plan_of(directory))

    def _doing(self, progress: Mapping[str, Any], status: RunStatus) -> str:
        """What is prepared now: in a script's own words, which may be anything."""
        doing = progress.get("doing") if status.state is RunState.RUNNING else None
        return self.masked(str(doing.get("text", ""))) if isinstance(doing, dict) else ""

    def _no_loss(self, directory: RunDirectory, plan: Plan | None, status: RunStatus) -> NoLoss | None:
        series = directory.read_series()
        if has_loss(series) or plan is None or plan.is_job or plan.is_adopted:
            return None
        progress = directory.read_progress()
        script = allowed_script(plan.script, self._places.check if self._places else lambda path: None)
        part = trainers_part(plan.config_argument, script, plan.arguments)
        told = Told(
            arguments=plan.arguments,
            trainer=part.trains,
            in_code=part.in_code,
            state=status.state,
            series=series,
            phase=status.phase,
            elapsed_s=self._elapsed_s(directory, status),
            step=progress.get("step"),
            total=progress.get("total"),
        )
        return no_loss(told)

    def _about(self, directory: RunDirectory, plan: Plan) -> dict[str, Any]:
        return {
            "command": self.shown_command(plan),
            "directory": self.masked(str(directory.path)),
            "preset": self.masked(self._preset_title(plan.preset)),
            "ran": [self.masked(one) for one in self._what_ran(directory, plan)],
        }

    def _what_ran(self, directory: RunDirectory, plan: Plan) -> Iterator[str]:
        """Its model, its settings and its devices; nothing of a job, or of what others started."""
        if plan.is_job or plan.is_adopted:
            return
        if model := _model_of(plan, directory.read_foretold()):
            yield model
        script = allowed_script(plan.script, self._places.check if self._places else lambda path: None)
        part = trainers_part(plan.config_argument, script, plan.arguments)
        words = plan.arguments if part.trains and part.takes_options and not part.in_code else None
        with suppress(DocumentError, RunError):
            config = Document(directory.read_config()).value
            yield from map(str, what_ran(config, words, plan.ranks))
        yield str(plan.place.devices(plan))

    def output(self, run_id: str) -> Iterator[str]:
        """All that is kept of what the run printed, as it was written, for the terminal of who owns the files. Raises
        `RunError`."""
        for _, path in self._store.open(run_id).output_pieces:
            with suppress(OSError), io.TextIOWrapper(open_regular(path), "utf-8", "replace", "") as file:
                yield from iter(lambda: file.read(_BLOCK_CHARACTERS), "")

    def output_size(self, run_id: str) -> int:
        """Where the output ends now, for a `Cursor`. Raises `RunError`."""
        return self._store.open(run_id).read_output(-1)[1]

    def _shown_output(self, directory: RunDirectory, offset: int, live: bool) -> tuple[str, int]:
        """News of the output without secrets; while it goes on, half a secret waits for its other half."""
        output, end = directory.read_output(offset)
        length = finished(output, self._secrets) if live else len(output)
        waits = output[length:]
        if "\ufffd" in waits:  # bytes that were no text: how many can't be told any more
            waits = ""
        return mask(output.removesuffix(waits), self._secrets), end - len(waits.encode("utf-8"))

    def settings(self, run_id: str) -> Mapping[str, str]:
        """What a search compares of a run: its arguments and its config. Raises `RunError`."""
        return self._searchable(self._opened(run_id))

    def columns(self, asked: Window) -> Mapping[str, bool]:
        """As `RunList.columns` says."""
        return self._listing.columns(asked)

    def _searchable(self, directory: RunDirectory) -> Mapping[str, str]:
        return {key: self.masked(value) for key, value in _told_of(directory, searchable).items()}

    def _columns(self, directory: RunDirectory) -> Mapping[str, str]:
        """Of its settings and of what it logged last."""
        logged = {f"metrics:{name}": f"{value:.{_METRIC_DIGITS}g}" for name, value in last_values(directory).items()}
        told = _told_of(directory, column_values) | logged
        return {self.masked(key): self.masked(value) for key, value in told.items()}

    def _line(self, directory: RunDirectory) -> tuple[RunSummary, bool] | None:
        """The run in the list, and whether it stays so until its files change: one that was lost with processes left
        does not. One folder that can't be read hides no other."""
        if not self._store.is_run(directory.run_id) and directory.run_id not in self._adrift():
            return None  # emptied since the folders were listed
        try:
            plan = _plan_of(directory)
            seen = self._seen(directory, plan)
            summary = self._summary(directory, plan, seen)
            if plan:
                summary = self._against_earlier(summary, directory, plan)
        except (RunError, OSError):  # deleted meanwhile
            return None
        return summary, not summary.state.live and not seen.alive

    def _summary(self, directory: RunDirectory, plan: Plan | None, seen: Seen) -> RunSummary:
        progress, asked = directory.read_progress(), directory.read_asked()
        foretold = directory.read_foretold()
        label = directory.read_label()
        told = RunSummary(
            run_id=directory.run_id,
            name=self.name_of(directory, plan),
            state=seen.status.state,
            started_at=seen.status.started_at,
            duration_s=self._elapsed_s(directory, seen.status),
            step=progress.get("step"),
            total=progress.get("total"),
            loss=progress.get("loss"),
            preset="",
            place=asked.place if asked else 0,
            doing=self._doing(progress, seen.status),
            no_loss=self._no_loss(directory, plan, seen.status),
            why=self._why(directory, seen.status),
            trouble=tuple(altered(one, self.masked) for one in _trouble(directory, seen, damage(directory))),
            predicted=foretold.predicted if foretold else None,
            peak=progress.get("peak"),
            best_loss=progress.get("best_loss"),
            odd_loss=progress.get("odd_loss"),
            steps_per_second=progress.get("steps_per_second"),
            step_s=progress.get("step_s"),
            tags=tuple(map(self.masked, label.tags)),
            note=self.masked(label.note),
            archived=label.archived,
        )
        if plan is None:
            return told
        return replace(
            told,
            preset=self.masked(plan.preset),
            model=self.masked(_model_of(plan, foretold)),
            devices="" if plan.is_adopted else plan.place.devices(plan),
            script=self.masked(plan.script),
            trial=plan.trial,
            adopted=plan.is_adopted,
        )

    def _why(self, directory: RunDirectory, status: RunStatus) -> str | Said:
        """Why it failed, in a few words, where that was kept."""
        found = directory.read_diagnosis() if status.state is RunState.FAILED else None
        return altered(found.title, self.masked) if found else ""

    def _called(self, directory: RunDirectory) -> str:
        return self.name_of(directory, _plan_of(directory))

    def name_of(self, directory: RunDirectory, plan: Plan | None) -> str:
        """As its user calls it, without a secret: by the name it was given later, else the one it was launched with."""
        launched = (plan.name if plan else directory.foreign_name())[:_LONGEST_NAME] or directory.run_id
        return self.masked(directory.read_label().name or launched)

    def _against_earlier(self, summary: RunSummary, directory: RunDirectory, plan: Plan) -> RunSummary:
        """With the settings that it does not share with the run it was cloned from, or with the last one of its
        script."""
        earlier, before = (None, None) if plan.is_job or plan.is_adopted else self._earlier(directory.run_id, plan)
        if earlier is None or before is None:
            return summary
        all_found = changes(*_settings((earlier, before), (directory, plan)))
        found = sorted(all_found, key=lambda one: (meaning(one[0], one[1].key), _telling(one[1])))[:_MOST_CHANGES]
        told = (Change(part, self.masked(one.key), *self._values(one, part, (before, plan))) for part, one in found)
        return replace(summary, differs=tuple(told), differs_from=earlier.run_id)

    def _values(self, one: Setting, part: str, plans: Sequence[Plan]) -> Sequence[str | Said | None]:
        """Devices are told in the language of whoever asks: the line is kept for all of them."""
        if (part, one.key) == ("launch", "devices"):
            devices = [plan.place.devices(plan) for plan in plans]
            return [self.masked(each) if isinstance(each, str) else altered(each, self.masked) for each in devices]
        return [value and self.masked(value[:_LONGEST_CHANGE]) for value in one.values]

    def _earlier(self, run_id: str, plan: Plan) -> tuple[RunDirectory | None, Plan | None]:
        """Not every run is looked at for it: the one before is nearly always of the same script."""
        ids = [plan.parent] if plan.parent else self._index.before(run_id, _MOST_LOOKED_BACK)
        for one in ids:
            with suppress(RunError):
                directory = self._store.directory(one)
                before = directory.read_plan()
                if plan.parent or before.script == plan.script:
                    return directory, before
        return None, None

    def _seen(self, directory: RunDirectory, plan: Plan | None) -> Seen:
        """As it is; where its plan can't be read, how it ended is known and nothing else."""
        seen = look(directory, plan, self._monotonic)
        if seen.status.state is RunState.LOST and directory.run_id not in self._swept:
            self._swept.add(directory.run_id)
            if not seen.alive:
                directory.sweep(self._clock())
        if plan is None and not seen.status.state.live and not directory.is_deleted:
            state, told = seen.status.state, seen.status.reasons
            if state not in UNREAD:
                told = (said("reasons", "state_is", state=str(said("states", state.value))), *told)
            unread = RunState.FOREIGN if directory.foreign_plan() else RunState.DAMAGED
            return replace(seen, status=replace(seen.status, state=unread, reasons=told))
        return seen

    def _damage_of(self, directory: RunDirectory, fresh: bool) -> tuple[Said, ...]:
        """All of it is looked for when a page is opened."""
        if fresh:
            while len(self._damaged) >= _MOST_DAMAGES:
                self._damaged.pop(next(iter(self._damaged)))
            self._damaged[directory.run_id] = whole_damage(directory)
        return self._damaged.get(directory.run_id) or damage(directory)

    def _elapsed_s(self, directory: RunDirectory, status: RunStatus) -> float | None:
        live = status.state.live
        if live and status.begun_s is not None:
            return max(self._monotonic() - status.begun_s, 0.0)
        if status.is_of_others or (not live and status.lasted_s is not None):
            return status.lasted_s
        if not live and (known := directory.last_elapsed_s()) is not None:
            return known
        untold = status.state in UNREAD or (status.state is RunState.LOST and status.supervisor is None)
        if untold and status.ended_at is None:
            return None  # no state can be read, and its files may have been copied at any time
        # Of a run from before lengths were kept: the dates are all there is.
        end = self._clock() if live else status.ended_at or directory.last_sign_of_life()
        return None if end is None or status.started_at is None else max(end - status.started_at, 0.0)


def _can_be_ended(plan: Plan | None, seen: Seen) -> bool:
    """Of a run whose supervisor is gone: whether something may be left, here or elsewhere."""
    elsewhere = seen.status.state is RunState.LOST and plan is not None and backend_of(plan).OUT_OF_SIGHT
    return seen.alive > 0 or elsewhere


def _loads_universal(config_text: str) -> bool:
    """Whether DeepSpeed is told to load a universal checkpoint."""
    try:
        block = Document(config_text).value.get("checkpoint")
    except DocumentError:
        return "load_universal" in config_text
    return isinstance(block, Mapping) and block.get("load_universal") is True


def _settings(*runs: tuple[RunDirectory, Plan]) -> Iterator[Settings]:
    """Their configs are parsed only where they are not the same file."""
    texts = [directory.read_config() for directory, _ in runs]
    for (_, plan), text in zip(runs, texts, strict=True):
        config = None
        with suppress(DocumentError):
            config = Document(text) if len({*texts}) > 1 else None
        yield Settings(plan, config)


def _told_of(directory: RunDirectory, what: Callable[[Settings], dict[str, str]]) -> dict[str, str]:
    """Of its plan and its config; nothing where the plan can't be read."""
    plan = _plan_of(directory)
    if plan is None:
        return {}
    config = None
    with suppress(DocumentError):
        config = Document(directory.read_config())
    return what(Settings(plan, config))


def _plan_of(directory: RunDirectory) -> Plan | None:
    """None where it can't be read."""
    try:
        return directory.read_plan()
    except RunError:
        return None


def _trouble(directory: RunDirectory, seen: Seen, damaged: tuple[Said, ...]) -> tuple[Said, ...]:
    """What is wrong with a run's folder, and with its supervisor."""
    of_supervisor = () if seen.trouble is None else (seen.trouble,)
    if directory.is_deleted:
        return (said("troubles", "deleted"), *of_supervisor)
    moved = directory.path.parent != directory.launched_in
    place = (said("troubles", "moved", folder=str(directory.path)),) if moved else ()
    return (*place, *damaged, *of_supervisor)


def _telling(change: Setting) -> int:
    """A value that became another tells more than one that was added, and that more than one that is gone."""
    before, after = change.values
    return 2 if after is None else 1 if before is None else 0


def _busy(plan: Plan, others: Sequence[Plan]) -> Said:
    names = listed(f"“{other.name}” ({other.run_id})" for other in others)
    devices = shared_devices(plan, others)
    if plan.gpu_indices:
        return wrong("run.gpus_in_use", devices=devices, runs=names)
    return wrong("run.devices_in_use", devices=devices, runs=names)


# --- what a page is given ---------------------------------------------------------------------------------------------


def _turn_of(directory: RunDirectory, plan: Plan | None) -> int:
    """Of a training of others, which may have been read anew since a page was told of it."""
    adopted = directory.read_adopted() if plan and plan.is_adopted else None
    return adopted.turn if adopted else 0


def _curve_news(directory: RunDirectory, cursor: Cursor) -> tuple[dict[str, Any], Cursor]:
    """What was added to the curves, and the cursor after it."""
    points, points_end = read_points(directory, cursor.points, most_bytes=NEWS_BYTES)
    tables = directory.sample_tables()
    samples, samples_ends = read_samples(directory, tables, cursor.samples, most_bytes=NEWS_BYTES)
    series = directory.read_series() if max(points, default=-1) >= cursor.series else []
    new: dict[str, Any] = {str(number): one.to_json() for number, one in enumerate(series) if number >= cursor.series}
    for number, table in enumerate(tables[len(cursor.samples) :], len(cursor.samples)):
        for place in range(1, len(table.columns)):
            new[f"{number}.{place}"] = sample_series(table, place).to_json()
    found = to_json(_named(points, samples), STRETCHES_SHOWN) | {"series": new}
    return found, Cursor(points_end, samples_ends, series=max(len(series), cursor.series))


def _named(points: Mapping[int, Curve], samples: Mapping[tuple[int, int], Curve]) -> list[tuple[str, Curve]]:
    """The curves by the ids that the page knows them by."""
    logged = [(str(number), curve) for number, curve in points.items()]
    return logged + [(f"{number}.{place}", curve) for (number, place), curve in samples.items()]


def _model_of(plan: Plan, foretold: Foretold | None) -> str:
    """As the arguments name it, else as its memory was foretold."""
    return value_of(plan.arguments, MODEL_OPTIONS) or (foretold.model if foretold else "")


def _parse(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The JSON lines; what a full disk has cut short is left out."""
    found = []
    for line in lines:
        with suppress(ValueError):
            found.append(parse_object(line))
    return found
