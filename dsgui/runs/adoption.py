"""Trainings that dsgui did not start, as runs of its own list: found in a folder, read, and read again.

Each becomes a run directory like any other, so that list, comparison, report and export need to know nothing of it.
Nothing is ever written into the folder itself.
"""

import os
import posixpath
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dsgui.core.access.secrets import Masker
from dsgui.core.adopted.continuing import continued
from dsgui.core.adopted.found_settings import config_of, model_of, words_of
from dsgui.core.adopted.lying import Group, Kind, Lying, groups
from dsgui.core.adopted.record import MOST_FILES, Adopted
from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch.plan import ConfigArgument, Plan, StartedBy
from dsgui.core.launch.state import Asked
from dsgui.core.runs.label import MOST_NAME
from dsgui.core.texts.languages import ENGLISH_TAG, speaking
from dsgui.core.texts.saying import Said, listed, said, sentences, wrong
from dsgui.shell.adopted.recognising_files import SortedOut, sorted_out
from dsgui.shell.adopted.recording import diagnosis_of, keep, status_of
from dsgui.shell.adopted.surroundings import Around, around
from dsgui.shell.adopted.told import Reader, Told, names_of
from dsgui.shell.adopted.walking import Walked, walked
from dsgui.shell.files.regular_files import open_regular
from dsgui.shell.logs.past import adding
from dsgui.shell.processes.processes import boot_id
from dsgui.shell.runs.store import RunDirectory, Store
from dsgui.shell.runs.turns import Queue

MOST_RUNS = 50
_NAMED = 8
_MOST_NOTES = 12
_WRITTEN_S = 60.0
_LEFT_S = 86_400.0
_LONGEST_PATH = 4096
_ADDING = ".adding"


@dataclass(frozen=True, slots=True)
class Added:
    """One training of the folder. `run_id` is "" where nothing could be made of it; then `notes` say why. `again`: it
    was in the list already, and was read again; `changed`: something in it was new."""

    run_id: str
    name: str
    root: str
    kinds: tuple[Kind, ...]
    notes: tuple[Said, ...] = ()
    again: bool = False
    changed: bool = True

    def to_json(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("run_id", "name", "root", "again", "changed")}
        return told | {"kinds": [kind.value for kind in self.kinds], "notes": [str(note) for note in self.notes]}


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found in `source`; `notes` are about all of it."""

    source: str
    added: tuple[Added, ...]
    notes: tuple[Said, ...] = ()

    def to_json(self) -> dict[str, Any]:
        added = [one.to_json() for one in self.added]
        return {"source": self.source, "added": added, "notes": [str(note) for note in self.notes]}


@dataclass(frozen=True, slots=True)
class _Found:
    """What lies in a folder."""

    source: Path
    walked: Walked
    groups: Sequence[Group]
    told: SortedOut


class Adoption:
    """The trainings of others in one store. `check` raises `PlaceError` for what may not be read. Nothing that `masker`
    hides is written."""

    def __init__(
        self,
        store: Store,
        check: Callable[[Path], object] = lambda path: None,
        clock: Callable[[], float] = time.time,
        masker: Callable[[], Masker] = Masker,
    ) -> None:
        self._store, self._check, self._clock, self._masker = store, check, clock, masker
        self._queue = Queue(store)

    # -- adding ----------------------------------------------------------------------------------------------------

    def add(self, typed: str, name: str = "") -> Answer:
        """Each training that the folder (or file) holds becomes a run; one that is in the list already is read again.
        Raises `RunError` where nothing can be made of it, `PlanError` and `PlaceError`."""
        if len(name) > MOST_NAME:
            raise RunError(wrong("adopted.long_name", most=str(MOST_NAME)))
        source = self._source(typed)
        found = self._found(source)
        if not found.groups:
            raise RunError(wrong("adopted.nothing", folder=str(source), seen=_seen(found)))
        known = self._known(str(source))
        added = [self._take(found, group, name, known) for group in found.groups[:MOST_RUNS]]
        if not any(one.run_id for one in added):
            raise RunError(wrong("adopted.nothing_in", folder=str(source), why=sentences(added[0].notes)))
        return Answer(str(source), tuple(added), tuple(_notes(found)))

    def read_again(self, run_id: str, settled: bool = True) -> bool:
        """What has come since; False where nothing has. If not `settled`, what was kept stays as it is where it can,
        whatever is known by now of when it was logged. Raises `RunError` and `PlaceError`."""
        directory = self._store.open(run_id)
        kept = self._kept(directory)
        source = self._source(kept.source)
        found = self._found(source)
        group = _same(found.groups, kept, self._known(str(source)))
        if group is None:
            raise RunError(wrong("adopted.gone", folder=posixpath.join(kept.source, kept.root)))
        return self._update(found, group, directory, kept, settled)[0]

    def has(self, run_id: str) -> bool:
        """Whether the run is a training of others."""
        with suppress(RunError):
            return self._store.open(run_id).adopted_file.exists()
        return False

    def files(self, run_id: str) -> tuple[Lying, ...]:
        """Those that were read, as they were then. Raises `RunError`."""
        return self._kept(self._store.open(run_id)).files

    def is_late(self, run_id: str) -> bool:
        """Whether something of it is to be settled. Raises `RunError`."""
        return self._kept(self._store.open(run_id)).late > 0

    def lying(self, run_id: str) -> tuple[Lying, ...]:
        """What lies in its folder now, of which nothing is opened. Raises as `read_again` does."""
        return self._walked(self._source(self._kept(self._store.open(run_id)).source)).files

    def _kept(self, directory: RunDirectory) -> Adopted:
        kept = directory.read_adopted()
        if kept is None or not directory.read_plan().is_adopted:
            raise RunError(wrong("adopted.not_adopted", run=directory.run_id))
        return kept

    def _source(self, typed: str) -> Path:
        if not typed.strip():
            raise PlanError(wrong("adopted.no_folder"))
        try:
            path = Path(typed.strip()[:_LONGEST_PATH]).expanduser()
            self._check(path)
            real = Path(os.path.realpath(path))
            exists = real.exists()
        except (OSError, ValueError, RuntimeError) as error:
            raise PlanError(wrong("path.unusable", path=typed[:80], why=str(error))) from error
        if not exists:
            raise PlanError(wrong("adopted.missing", folder=str(path)))
        if real == self._store.runs_dir or self._store.runs_dir in real.parents:
            raise PlanError(wrong("adopted.own", folder=str(path)))
        return real

    def _walked(self, source: Path) -> Walked:
        try:
            return walked(source)
        except OSError as error:
            why = str(error.strerror or error)
            raise PlanError(wrong("adopted.unreadable", folder=str(source), why=why)) from error

    def _found(self, source: Path) -> _Found:
        seen = self._walked(source)
        told = sorted_out(source, seen.files)
        return _Found(source, seen, groups(told.kinds), told)

    def _known(self, source: str) -> dict[str, RunDirectory]:
        """The runs that were made of this folder, by their own folders in it."""
        found = {}
        for directory in self._store.list():
            if os.path.exists(directory.adopted_file) and (kept := directory.read_adopted()) and kept.source == source:
                found[kept.root] = directory
        return found

    def _take(self, found: _Found, group: Group, name: str, known: dict[str, RunDirectory]) -> Added:
        shown = _name(found, group, name)
        if (directory := known.get(group.root)) and (kept := directory.read_adopted()):
            changed, notes = self._update(found, group, directory, kept)
            return Added(directory.run_id, shown, group.root, group.kinds, notes, again=True, changed=changed)
        near, told = self._read(found, group)
        if not told.points and told.log is None:
            return Added("", shown, group.root, group.kinds, (*told.short_notes, said("adopted", "no_values")))
        run_id = self._store.new_id()
        with self._store.saying_what_to_do(), self._beside(run_id) as staging:
            self._write(staging, found, group, near, told, shown)
            with self._queue.turn():
                meanwhile = self._known(str(found.source)).get(group.root)  # somebody else was quicker
                if meanwhile is None:
                    staging.write_asked(Asked(self._queue.next_place(), time.monotonic(), boot_id()))
                    staging.path.rename(self._store.directory(run_id).path)
        if meanwhile:
            return Added(meanwhile.run_id, shown, group.root, group.kinds, told.short_notes, again=True, changed=False)
        return Added(run_id, shown, group.root, group.kinds, told.short_notes)

    def _read(self, found: _Found, group: Group) -> tuple[Around, Told]:
        near = around(found.source, group.root, found.walked.files)
        return near, Reader(found.source, group, near.batch).read()

    def _update(
        self, found: _Found, group: Group, directory: RunDirectory, kept: Adopted, settled: bool = True
    ) -> tuple[bool, tuple[Said, ...]]:
        """Only where a file is another than it was: sizes and dates tell; or where times are to be `settled`."""
        now = {one for files in group.files.values() for one in files}
        if now <= {*kept.files} and len(kept.files) < MOST_FILES and not (settled and kept.late):
            with self._store.saying_what_to_do():
                directory.write_adopted(replace(kept, read_at=self._clock()))
            return False, kept.notes
        plan = directory.read_plan()
        with self._store.saying_what_to_do(), adding(directory), self._beside(directory.run_id) as staging:
            near, told = self._read(found, group)
            if self._is_written_to(told):
                return False, kept.notes
            if directory.patterns_file.exists():
                shutil.copyfile(directory.patterns_file, staging.patterns_file)
            self._write(staging, found, group, near, told, plan.name, directory, settled)
            for path in sorted(staging.path.iterdir(), key=_place):
                os.replace(path, directory.path / path.name)
        return True, told.short_notes

    def _is_written_to(self, told: Told) -> bool:
        """Whether a file is being written at this moment: what was read of it before stays until it is whole."""
        return any(self._clock() - one.changed_ns / 1e9 < _WRITTEN_S for one in told.damaged)

    # -- writing ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _beside(self, run_id: str) -> Iterator[RunDirectory]:
        """A folder that no list shows: it becomes the run's, or its files do, or it goes."""
        self._sweep()
        path = self._store.runs_dir / f".{run_id}{_ADDING}"
        path.mkdir(mode=0o700)
        try:
            yield RunDirectory(path, run_id, self._store.runs_dir)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def _sweep(self) -> None:
        """What somebody who was killed has left."""
        for left in self._store.runs_dir.glob(f".*{_ADDING}"):
            with suppress(OSError):
                if self._clock() - left.stat().st_mtime > _LEFT_S:
                    shutil.rmtree(left, ignore_errors=True)

    def _write(
        self,
        staging: RunDirectory,
        found: _Found,
        group: Group,
        near: Around,
        told: Told,
        name: str,
        before: RunDirectory | None = None,
        settled: bool = True,
    ) -> None:
        """`before`: what was kept of it until now. Raises OSError."""
        folder = str(found.source / group.root) if found.source.is_dir() else str(found.source)
        with speaking(ENGLISH_TAG):  # what is written to disk
            keep(staging, found.source, told, self._masker(), before.read_series() if before else ())
            told.notes += near.notes
            staging.write_status(status_of(told, folder))
            if (why := diagnosis_of(told)) is not None:
                staging.write_diagnosis(why.to_json())
            staging.write_adopted(
                Adopted(
                    str(found.source),
                    group.root,
                    group.kinds,
                    tuple(one for files in group.files.values() for one in files)[:MOST_FILES],
                    told.short_notes[:_MOST_NOTES],
                    self._clock(),
                    *(_goes_on(staging, before, settled) if before else (0, 0)),
                )
            )
            staging.write_plan(
                self._plan(staging.run_id, name, folder, near, told), near.config or config_of(told.arguments)
            )

    def _plan(self, run_id: str, name: str, folder: str, near: Around, told: Told) -> Plan:
        words = near.words or words_of(told.arguments) or told.words
        named = near.model or model_of([told.model])
        model = ("--model_name_or_path", named) if named and "--model_name_or_path" not in words else ()
        return Plan(
            run_id=run_id,
            run_directory=str(self._store.directory(run_id).path),
            name=name,
            script="",
            arguments=tuple(map(self._masker().text, (*model, *words))),
            ranks=0,
            master_port=0,
            working_directory=folder,
            config_argument=ConfigArgument.TRAINER if told.words else ConfigArgument.NONE,
            target_python="",
            started_by=StartedBy.OTHERS,
        )


def _same(found: Sequence[Group], kept: Adopted, known: Mapping[str, RunDirectory]) -> Group | None:
    """The training that it was; a log that others have come to lie beside is told of with them, unless they are another
    run's of those that are `known` by their roots."""
    own = next((one for one in found if one.root == kept.root), None)
    others = (directory.read_adopted() for root, directory in known.items() if root != kept.root)
    taken = {file.path for one in others if one for file in one.files}
    paths = {one.path for one in kept.files}
    by_files = (one for one in found if one.root not in known and _paths(one) & paths and not _paths(one) & taken)
    return own or next(by_files, None)


def _paths(group: Group) -> set[str]:
    return {file.path for files in group.files.values() for file in files}


def _goes_on(staging: RunDirectory, before: RunDirectory, settled: bool) -> tuple[int, int]:
    """The `turn` and the `late` of what was read again. Who has read what was kept until now goes on where it ended
    if that only grows: it stays at the beginning. `settled`: with the times that are known by now."""
    kept, began = before.read_adopted(), _began(before)
    turn = kept.turn if kept else 0
    with suppress(OSError):
        found = continued(_records(before.points_file), _records(staging.points_file))
        same = began is None or began == _began(staging)
        if found and same and not (settled and found.late):
            staging.points_file.write_bytes(found.records)
            return turn, found.late
    return turn + 1, 0


def _began(directory: RunDirectory) -> float | None:
    status = directory.read_status()
    return status.started_at if status else None


def _records(path: Path) -> bytes:
    """Raises OSError."""
    with open_regular(path) as file:
        return file.read()


def _place(path: Path) -> tuple[int, str]:
    """In which order files are replaced: who reads a record finds what it is of, and who waits for the reading's end
    finds all of it."""
    last = ("state.json", "adopted.json")
    place = -1 if path.name == "series.json" else 1 + last.index(path.name) if path.name in last else 0
    return place, path.name


def _name(found: _Found, group: Group, given: str) -> str:
    """Of several, each has the name of its own folder."""
    own = group.root.removesuffix("/") if found.source.is_dir() else group.name
    if given.strip():
        return given.strip() if len(found.groups) == 1 else f"{given.strip()}/{own or '.'}"[:MOST_NAME]
    whole = found.source.name if not own or not found.source.is_dir() else f"{found.source.name}/{own}"
    return (whole if len(whole) <= MOST_NAME else whole[-MOST_NAME:]) or "/"


def _seen(found: _Found) -> str | Said:
    """What lies there instead."""
    if not found.walked.files and not found.walked.own:
        return said("adopted", "seen_nothing")
    if found.walked.own:
        return said("adopted", "seen_own", count=str(found.walked.own))
    if found.told.pointers:
        return said("adopted", "seen_pointers", files=names_of(found.told.pointers))
    if found.told.silent:
        return said("adopted", "seen_silent", files=names_of(found.told.silent))
    return said("adopted", "seen_others", files=names_of(found.walked.files))


def _notes(found: _Found) -> Iterator[Said]:
    """About the folder as a whole."""
    seen = found.walked
    if len(found.groups) > MOST_RUNS:
        left = listed([one.root for one in found.groups[MOST_RUNS : MOST_RUNS + _NAMED]])
        yield said("adopted", "many_runs", count=str(len(found.groups)), most=str(MOST_RUNS), left=left)
    if not seen.whole:
        yield said("adopted", "not_whole", count=f"{len(seen.files):,}")
    if seen.links:
        yield said("adopted", "links", count=str(seen.links))
    if seen.closed:
        yield said("adopted", "closed", count=str(seen.closed))
    if seen.own:
        yield said("adopted", "own_runs", count=str(seen.own))
    if silent := found.told.silent:
        yield said("adopted", "silent", files=names_of(silent), count=str(len(silent)))
    if pointers := found.told.pointers:
        yield said("adopted", "pointers", files=names_of(pointers), count=str(len(pointers)))
