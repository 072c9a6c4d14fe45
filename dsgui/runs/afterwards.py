"""After training: jobs on what a run left, each a run of its own under a supervisor, and old checkpoints removed."""

import os
import posixpath
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dsgui.core.afterwards.jobs import (
    DTYPES,
    USUAL_SHARD,
    Job,
    Needs,
    Room,
    arguments,
    made_by,
    needs,
    refusal,
    shard_bytes,
    usual_name,
    usual_place,
    warning,
)
from dsgui.core.afterwards.pruning import Judged, Rule, going, judged
from dsgui.core.afterwards.things import Thing, Verb
from dsgui.core.errors import PlaceError, PlanError, RunError
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan, StartedBy
from dsgui.core.sizes import file_size, size
from dsgui.core.texts.saying import listed, sentences, wrong
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs
from dsgui.shell.afterwards.contents import best_in
from dsgui.shell.afterwards.left import held_by, left_in, room_for, unfinished
from dsgui.shell.afterwards.worker_files import WEIGHTS_WORKER
from dsgui.shell.runs.removal import remove
from dsgui.shell.runs.store import Store

NO_CONFIG = "{}"
_MOST_JOBS, _MOST_LOOKED_AT, _MOST_KNOWN = 20, 300, 2000
_LONGEST_PATH = 4096


class AfterTraining:
    """What can be done with what runs left. Every method raises `RunError` when there is no such run.

    `python` runs jobs where a run's own may not be named; `check` raises `PlaceError` for what may not."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        archive: Archive,
        python: str = "",
        check: Callable[[Path], object] = lambda path: None,
    ) -> None:
        self._store, self._runs, self._archive, self._python, self._check = store, runs, archive, python, check
        self._jobs_of: OrderedDict[str, str] = OrderedDict()

    # -- looking ---------------------------------------------------------------------------------------------------

    def told(self, run_id: str) -> dict[str, Any]:
        """What the page shows: what the run left, what can be made of it, the jobs that were started."""
        plan = self._store.open(run_id).read_plan()
        nothing = plan.is_job or plan.is_adopted  # nothing is made of what dsgui only reads
        things = () if nothing else self.things(run_id)
        outside = () if nothing else self._archive.left(run_id).outside
        told = {
            "is_job": nothing,
            "things": [one.to_json() | {"to": _places(one)} for one in things],
            "jobs": [self._job_told(one) for one in self._jobs(run_id)],
            "note": str(wrong("adopted.read_only", run=run_id)) if plan.is_adopted else sentences(outside),
            "has_best": bool(self._best(things)),
        }
        return dict(self._runs.masked_json(told))

    def things(self, run_id: str) -> list[Thing]:
        """What the run left, the latest checkpoint first; then what killed jobs on it left."""
        left = self._left(run_id)
        return [*left, *self._unfinished(run_id, left)]

    def _left(self, run_id: str) -> list[Thing]:
        left = self._archive.left(run_id)
        return left_in(left.folders, left.checkpoints, left.since)

    def _unfinished(self, run_id: str, left: Sequence[Thing]) -> list[Thing]:
        """Where the jobs wrote to whose runs are there, and where a job on what is `left` usually does. Nothing that a
        job may still be writing."""
        found: dict[str, Thing] = {}
        busy = {os.path.realpath(made_by(plan.arguments)) for plan in self._runs.going_on() if plan.is_job}
        written = {job: self._written_by(job) for job in self._jobs(run_id)}
        for to in filter(None, (*written.values(), *_usual_places(left))):
            if self._may(to) and (one := unfinished(to)):
                found[os.path.realpath(to)] = one
        for job, to in written.items():
            if os.path.realpath(to) in found and self._runs.may_go_on(job):
                busy.add(os.path.realpath(to))
        return [one for to, one in found.items() if to not in busy]

    def _written_by(self, job: str) -> str:
        """Where the job puts what it makes; "" where its plan can't be read."""
        with suppress(RunError):
            return made_by(self._store.open(job).read_plan().arguments)
        return ""

    def _job_told(self, run_id: str) -> dict[str, Any]:
        one = self._runs.summary(run_id)
        return {
            "run_id": run_id,
            "name": one.name,
            "state": one.state.value,
            "live": one.state.live,
            "doing": one.doing,
        }

    def _jobs(self, run_id: str) -> list[str]:
        """The newest first, among the newest runs. A plan is read once."""
        newest = self._runs.ids()[:_MOST_LOOKED_AT]
        return [one for one in newest if self._after_what(one) == run_id][:_MOST_JOBS]

    def _after_what(self, run_id: str) -> str:
        if run_id not in self._jobs_of:
            while len(self._jobs_of) >= _MOST_KNOWN:
                self._jobs_of.popitem(last=False)
            with suppress(RunError):
                plan = self._store.open(run_id).read_plan()
                self._jobs_of[run_id] = plan.parent if plan.is_job else ""
        return self._jobs_of.get(run_id, "")

    # -- jobs ------------------------------------------------------------------------------------------------------

    def asked(self, run_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the job would take, and whether it can be started. Raises `PlanError` and `PlaceError`."""
        job = self._job(run_id, given)
        wanted, room = self._needs(job)
        told = {
            "to": job.to,
            "disk": file_size(wanted.disk_bytes) if wanted.disk_bytes else "",
            "memory": size(wanted.memory_bytes) if wanted.memory_bytes else "",
            "free_disk": file_size(room.disk_bytes) if room.disk_bytes is not None else "",
            "free_memory": size(room.memory_bytes) if room.memory_bytes is not None else "",
            "refusal": str(refusal(wanted, room) or ""),
            "warning": str(warning(wanted, room) or ""),
        }
        return dict(self._runs.masked_json(told))

    def start(self, run_id: str, given: Mapping[str, Any]) -> str:
        """Starts the job; the id of the run that it is. Raises `RunError`, `PlanError` and `PlaceError`."""
        job = self._job(run_id, given)
        if why := refusal(*self._needs(job)):
            raise RunError(why)
        if any(job.to in _words(plan) for plan in self._runs.going_on() if plan.is_job):
            raise RunError(wrong("after.same_job", to=job.to))
        plan = self._runs.prepare(self._request(run_id, job))
        return self._runs.start(plan, NO_CONFIG)

    def _needs(self, job: Job) -> tuple[Needs, Room]:
        return needs(job, held_by(job)), room_for(Path(job.to))

    def _request(self, run_id: str, job: Job) -> LaunchRequest:
        plan = self._store.open(run_id).read_plan()
        return LaunchRequest(
            name=str(job.label),
            script=str(WEIGHTS_WORKER),
            arguments=arguments(job),
            ranks=1,
            config_argument=ConfigArgument.NONE,
            target_python=self.python_of(plan),
            working_directory=self._working_directory(plan),
            started_by=StartedBy.PYTHON,
            parent=run_id,
            config_text=NO_CONFIG,
        )

    def python_of(self, plan: Plan) -> str:
        """The interpreter that trained, where it may be named: a stored plan may be somebody else's."""
        if not self._python or plan.target_python == self._python or self._may(plan.target_python):
            return plan.target_python
        return self._python

    def _working_directory(self, plan: Plan) -> str:
        """Where the run's relative paths are told from."""
        there = plan.working_directory
        return there if self._may(there) and Path(there).is_dir() else ""

    def _may(self, path: str) -> bool:
        try:
            self._check(Path(path))
        except PlaceError:
            return False
        return True

    def _job(self, run_id: str, given: Mapping[str, Any]) -> Job:
        thing = self.thing(run_id, str(given.get("source", "")))
        verb = next((one for one in thing.verbs if one.value == given.get("verb")), None)
        if verb is None:
            raise PlanError(wrong("after.no_verb", name=thing.name))
        dtype = str(given.get("dtype") or ("same" if verb is Verb.MERGE else "fp32"))
        if dtype not in (*DTYPES, "same"):
            raise PlanError(wrong("after.dtype", typed=dtype[:20]))
        shards = shard_bytes(str(given.get("shard") or USUAL_SHARD))
        base = self._base(run_id, thing, str(given.get("base") or "")) if verb is Verb.MERGE else ""
        return Job(verb, thing, self._to(verb, thing, dtype, str(given.get("to") or "")), dtype, shards, base)

    def thing(self, run_id: str, path: str, usable: Callable[[Thing], object] = lambda one: one.verbs) -> Thing:
        """The one at `path`, by its path as it is shown or by its name; the latest that is `usable` where nothing is
        named."""
        things = self._left(run_id)
        if not path:
            found = next(filter(usable, things), None)
        else:
            found = next((one for one in things if path in (one.path, self._runs.masked(one.path), one.name)), None)
        if found is None and not path:
            raise RunError(wrong("after.nothing_usable"))
        if found is None:
            names = listed(one.name for one in things[:10])
            raise RunError(wrong("after.no_thing", path=path[:200], names=names or "–"))
        return found

    def _to(self, verb: Verb, thing: Thing, dtype: str, typed: str) -> str:
        """Absolute, and nothing is there yet. Raises `PlanError` and `PlaceError`."""
        usual = posixpath.join(usual_place(verb, thing), usual_name(verb, thing, dtype))
        to = usual if verb is Verb.UNIVERSAL or not typed.strip() else typed.strip()
        path = Path(posixpath.normpath(posixpath.join(thing.folder, posixpath.expanduser(to)[:_LONGEST_PATH])))
        self._check(path)
        try:
            exists = path.exists() or path.is_symlink()
        except (OSError, ValueError) as error:
            raise PlanError(wrong("path.unusable", path=str(path)[:80], why=str(error))) from error
        if exists:
            raise PlanError(wrong("after.exists", to=str(path)))
        return str(path)

    def _base(self, run_id: str, thing: Thing, typed: str) -> str:
        """A folder's path is told from where the run was; what is no folder is a name of the hub."""
        named = typed.strip() or thing.base
        if not named:
            raise PlanError(wrong("after.no_base", name=thing.name))
        there = self._store.open(run_id).read_plan().working_directory
        path = Path(posixpath.join(there, posixpath.expanduser(named)))
        if named[0] not in "/.~" and not path.is_dir():
            return named
        self._check(path)
        if not path.is_dir():
            raise PlanError(wrong("after.base_missing", path=str(path)))
        return str(path)

    # -- old checkpoints -------------------------------------------------------------------------------------------

    def old(self, run_id: str, rule: Rule) -> list[Judged]:
        """Each of the run's checkpoints, and why it stays by this rule."""
        things = self._left(run_id)
        busy = self._runs.going_on()
        words = [word for plan in busy for word in _words(plan)]
        used = {one.path for one in things if any(one.path in word for word in words)}
        folders = {Path(one.folder) for one in things if one.checkpoint}
        live = any(plan.run_id == run_id or folders.intersection(self._archive.written_by(plan)) for plan in busy)
        return judged(things, rule, best=self._best(things), live=live, in_use=used)

    def old_told(self, run_id: str, rule: Rule) -> dict[str, Any]:
        """The dry list."""
        found = self.old(run_id, rule)
        freed = sum(one.size_bytes for one in going(found))
        told = {
            "checkpoints": [one.to_json() for one in found],
            "unfinished": [one.to_json() for one in self._unfinished(run_id, self._left(run_id))],
            "freed_bytes": freed,
            "count": len(going(found)),
        }
        return dict(self._runs.masked_json(told))

    def delete_old(self, run_id: str, rule: Rule, seen: Sequence[str]) -> list[str]:
        """Removes those that may go by the rule and were `seen` on the list, by path, and what killed jobs left; the
        names of those that went. Raises `RunError`."""
        gone = []

        def take(things: Iterable[Thing]) -> None:
            for thing in things:
                if self._runs.masked(thing.path) in seen or thing.path in seen:
                    self._check(Path(thing.path))
                    remove(Path(thing.path))
                    gone.append(thing.name)

        left = self._left(run_id)
        take(going(self.old(run_id, rule)))
        take(self._unfinished(run_id, left))  # asked now: a job may have begun while checkpoints were removed
        return gone

    def _best(self, things: Iterable[Thing]) -> str:
        """The path of the checkpoint that the newest state of the Trainer calls the best; by its name, for the folder
        may have been moved."""
        found = [one for one in things if one.saved_by_trainer]
        name = posixpath.basename(best_in(Path(found[0].path)).rstrip("/")) if found else ""
        return next((one.path for one in found if name and one.name == name), "")


def _places(thing: Thing) -> dict[str, str]:
    """Where the result goes, by the verb."""
    return {
        verb.value: posixpath.join(usual_place(verb, thing), usual_name(verb, thing, "fp32")) for verb in thing.verbs
    }


def _usual_places(things: Iterable[Thing]) -> set[str]:
    """Where jobs on these put what they make, unless they are told otherwise."""
    return {
        posixpath.join(usual_place(verb, thing), usual_name(verb, thing, dtype))
        for thing in things
        for verb in thing.verbs
        for dtype in (*DTYPES, "same")
    }


def _words(plan: Plan) -> list[str]:
    """The run's arguments, as they are and as absolute paths."""
    values = [value for word in plan.arguments for value in (word, word.partition("=")[2]) if value]
    return [*values, *(posixpath.normpath(posixpath.join(plan.working_directory, one)) for one in values)]
