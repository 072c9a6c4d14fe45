"""Run directories: one class owns every path of a run, another the folder of them all.

The supervisor writes, everyone else reads. A whole document is replaced in one step; a line is appended with one
write, so that a reader, and whoever comes after a `kill -9`, sees whole ones.
"""

import contextlib
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from dsgui.core.adopted.record import Adopted
from dsgui.core.decoding import plain, sequence, text
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.errors import RunError
from dsgui.core.launch.command import (
    CONFIG_FILE,
    argv,
    environment,
    shell_line,
)
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.plan_json import foreign_in, plan_from_json, plan_to_json
from dsgui.core.launch.state import Asked, RunState, RunStatus, progress_from_json
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.metrics.curves import MOST_SERIES, Series
from dsgui.core.metrics.samples import SampleTable
from dsgui.core.runs.label import Label
from dsgui.core.texts.saying import Said, said, wrong
from dsgui.shell.files.folders import make_private
from dsgui.shell.files.json_files import (
    FILE_MODE,
    MOST_BYTES,
    UNREADABLE,
    Known,
    json_bytes,
    read_json,
    read_strictly,
    replace_file,
    why_unreadable,
)
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.files.regular_files import open_regular, read_whole
from dsgui.shell.runs.adrift import RUN_ID, adrift

_DIRECTORY_MODE = 0o700
OUTPUT_BLOCK_BYTES = 1 << 18
LINES_BLOCK_BYTES = 4 << 20
MOST_TABLES = 200
_MOST_KEPT_PATTERNS = 1000
_LEFTOVER = re.compile(r"\.[^/]{1,64}\.tmp|\.reserve")
_AT_WORK_S = 60.0
_NOT_READ = (OSError, OverflowError)  # a place in a file that no file can have
_TAIL = "output.tail."
_LONGEST_TAIL = len(_TAIL) + 15  # a place that a file can have
_RESERVE_BYTES = 1 << 16
_FLOAT = struct.Struct("<d")
OUTPUT_TAIL_BYTES = 1 << 16


def _inside(name: str) -> cached_property[Path]:
    return cached_property(lambda directory: directory.path / name)


class RunDirectory:
    """One run's folder: its paths, and reading and writing what is in it."""

    plan_file = _inside("plan.json")
    config_file = _inside(CONFIG_FILE)
    asked_file = _inside("asked.json")
    command_file = _inside("command.txt")
    state_file = _inside("state.json")
    progress_file = _inside("progress.json")
    output_file = _inside("output.log")
    points_file = _inside("points.bin")
    series_file = _inside("series.json")
    events_file = _inside("events.jsonl")
    patterns_file = _inside("patterns.json")
    diagnosis_file = _inside("diagnosis.json")
    memory_file = _inside("memory.json")
    provenance_file = _inside("provenance.json")
    label_file = _inside("label.json")
    adopted_file = _inside("adopted.json")
    supervisor_log = _inside("supervisor.log")
    beat_file = _inside("beat")

    def __init__(self, path: Path, run_id: str = "", launched_in: Path | None = None) -> None:
        """`run_id`, and the folder of runs that it was launched in, where the path does not tell: the folder was moved,
        or is held."""
        self.path = path
        self.run_id = run_id or path.name
        self.launched_in = launched_in or path.parent
        self.descriptor: int | None = None
        self._paths: dict[str, Path] = {}

    def hold(self) -> "RunDirectory":
        """The same folder wherever it is moved to, for this process and while it lives: who writes the files of a run
        uses it. Where the folder can't be opened, this one."""
        try:
            return self.held_by(os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError:
            return self

    def held_by(self, descriptor: int) -> "RunDirectory":
        """The same folder, as this process has it open."""
        held = RunDirectory(Path(f"/proc/self/fd/{descriptor}"), self.run_id, self.launched_in)
        held.descriptor = descriptor
        return held

    @property
    def given(self) -> Path:
        """Where the folder was when the run was launched."""
        return self.launched_in / self.run_id

    @property
    def place(self) -> Path:
        """Where the folder is now. Raises OSError."""
        return self.path if self.descriptor is None else Path(os.readlink(self.path))

    def mark(self) -> object:
        """Changes when the plan or the state is written, taken away, or becomes something else."""
        return _mark(self.plan_file), _mark(self.state_file)

    @property
    def is_deleted(self) -> bool:
        """Whether the folder is there no more, under any name. One that can't be looked at may be."""
        try:
            return os.stat(self.path).st_nlink == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def _numbered(self, name: str) -> Path:
        if name not in self._paths:
            self._paths[name] = self.path / name
        return self._paths[name]

    def samples_file(self, number: int) -> Path:
        """The rows of one sample table."""
        return self._numbered(f"samples-{number}.bin")

    def sample_columns_file(self, number: int) -> Path:
        """What the columns of that table are."""
        return self._numbered(f"samples-{number}.json")

    # -- what was asked for ----------------------------------------------------------------------------------------

    def write_plan(self, plan: Plan, config_text: str | None) -> None:
        """`config_text` None: the config stays as it is. Raises OSError."""
        if config_text is not None:
            replace_file(self.config_file, config_text.encode("utf-8", "surrogatepass"))
        for name, content in plan.place.files(plan).items():
            replace_file(self.path / name, content.encode("utf-8", "surrogateescape"))
        replace_file(self.command_file, (shell_line(plan) + "\n").encode("utf-8", "surrogateescape"))
        added = {} if plan.is_adopted else environment(plan, {})
        told = {"argv": argv(plan), "added_environment": added}  # for people and other tools
        replace_file(self.plan_file, json_bytes(plan_to_json(plan) | told))

    def read_plan(self) -> Plan:
        """Raises `RunError` when there is none or it can't be read."""
        try:
            return self._own_plan()
        except UNREADABLE as error:
            given = {"run": self.run_id, "file": str(self.plan_file), "why": why_unreadable(error)}
            raise RunError(wrong("run.plan_unreadable", **given)) from error

    def plan_damage(self) -> Said | None:
        """What is wrong with the plan."""
        return _damage(self._own_plan, self.plan_file)

    def foreign_plan(self) -> Said | None:
        """What another version of dsgui wrote in a plan that this one can't read, in a sentence; None of any other."""
        return foreign_in(read_json(self.plan_file) or {}) if self.plan_damage() else None

    def foreign_name(self) -> str:
        """The name in such a plan; "" where there is none."""
        name = (read_json(self.plan_file) or {}).get("name") if self.foreign_plan() else ""
        return name if isinstance(name, str) else ""

    def _own_plan(self) -> Plan:
        plan = _PLANS.read_strictly(self.plan_file)
        if plan.run_id != self.run_id:  # to end its processes would end another's
            raise ValueError(said("files", "anothers_plan", run=plan.run_id[:40]))
        return plan

    def write_asked(self, asked: Asked) -> None:
        """Raises OSError."""
        replace_file(self.asked_file, json_bytes(asked.to_json()))

    def read_asked(self) -> Asked | None:
        """None for a run that was launched before dsgui kept it."""
        return _ASKED.read(self.asked_file)

    def write_foretold(self, foretold: Foretold) -> None:
        """Raises OSError."""
        replace_file(self.memory_file, json_bytes(foretold.to_json()))

    def read_foretold(self) -> Foretold | None:
        """None where no model was named, for a run that was launched before dsgui kept it, and for what can't be
        read."""
        return _FORETOLD.read(self.memory_file)

    def read_config(self) -> str:
        """The config as launched, "" when it is gone or can't be read."""
        try:
            return read_whole(self.config_file, MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def read_command(self) -> str:
        """What it runs, as one would type it; "" when that is gone or can't be read."""
        try:
            return read_whole(self.command_file, MOST_BYTES).decode("utf-8", "replace").strip()
        except OSError:
            return ""

    def write_provenance(self, value: Mapping[str, Any]) -> None:
        """Raises OSError."""
        replace_file(self.provenance_file, json_bytes(value), durable=False)

    def read_provenance(self) -> dict[str, Any]:
        """Empty for a run that was started before dsgui kept it."""
        try:
            return _provenance(read_json(self.provenance_file) or {})
        except UNREADABLE:
            return {}

    def write_label(self, label: Label) -> None:
        """Raises OSError."""
        replace_file(self.label_file, json_bytes(label.to_json()))

    def read_label(self) -> Label:
        """What the user wrote on it; nothing where that can't be read."""
        return _LABELS.read(self.label_file) or _NO_LABEL

    def write_adopted(self, adopted: Adopted) -> None:
        """Raises OSError."""
        replace_file(self.adopted_file, json_bytes(adopted.to_json()))

    def read_adopted(self) -> Adopted | None:
        """Of a training that dsgui did not start: where it lies. None for any other, and for what can't be read."""
        return _ADOPTED.read(self.adopted_file)

    # -- why it failed ---------------------------------------------------------------------------------------------

    def write_diagnosis(self, value: Mapping[str, Any]) -> None:
        """Raises OSError."""
        replace_file(self.diagnosis_file, json_bytes(value))

    def read_diagnosis(self) -> Diagnosis | None:
        """None for a run that did not fail."""
        value = read_json(self.diagnosis_file)
        try:
            return Diagnosis.from_json(value) if value is not None else None
        except UNREADABLE:
            return None

    # -- how it goes -----------------------------------------------------------------------------------------------

    def write_status(self, status: RunStatus) -> None:
        """Raises OSError."""
        replace_file(self.state_file, json_bytes(status.to_json()))

    def read_status(self) -> RunStatus | None:
        """None before the supervisor has written one, or when the file is not one."""
        return _STATUSES.read(self.state_file)

    def status_damage(self) -> Said | None:
        """What is wrong with the state: nothing is where there is none yet."""
        return _damage(lambda: _STATUSES.read_strictly(self.state_file), self.state_file, may_miss=True)

    def foreign_state(self) -> Said | None:
        """The state that another version of dsgui wrote, which this one does not know, in a sentence; None where there
        is none such."""
        state = (read_json(self.state_file) or {}).get("state")
        is_name = isinstance(state, str) and _STATE_NAME.fullmatch(state)
        is_foreign = is_name and state not in {one.value for one in RunState}
        return said("reasons", "another_state", state=str(state)) if is_foreign else None

    def other_damage(self) -> dict[str, Said]:
        """What is wrong with its other documents: names of files, and a clause each."""
        readers: dict[Path, Callable[[], object]] = {
            self.asked_file: lambda: _ASKED.read_strictly(self.asked_file),
            self.progress_file: lambda: _PROGRESS.read_strictly(self.progress_file),
            self.series_file: lambda: _SERIES.read_strictly(self.series_file),
            self.sample_columns_file(0): lambda: _TABLES.read_strictly(self.sample_columns_file(0)),
            self.diagnosis_file: lambda: Diagnosis.from_json(read_strictly(self.diagnosis_file)),
            self.provenance_file: lambda: _provenance(read_strictly(self.provenance_file)),
            self.memory_file: lambda: _FORETOLD.read_strictly(self.memory_file),
            self.patterns_file: lambda: _patterns(read_strictly(self.patterns_file)),
            self.label_file: lambda: _LABELS.read_strictly(self.label_file),
            self.adopted_file: lambda: _ADOPTED.read_strictly(self.adopted_file),
        }
        told = {path.name: _damage(read, path, may_miss=True) for path, read in readers.items()}
        return {name: clause for name, clause in told.items() if clause}

    def beat(self, monotonic_s: float) -> None:
        """A sign of life of the run's supervisor: by a clock that no one sets, and which stands still while the machine
        sleeps. Overwritten in place, which a full disk allows. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(self.beat_file, flags, FILE_MODE)
        try:
            os.pwrite(descriptor, _FLOAT.pack(monotonic_s), 0)
        finally:
            os.close(descriptor)

    def last_beat(self) -> float | None:
        """None where there is none."""
        read = _read_from(self.beat_file, 0, _FLOAT.size)
        return _FLOAT.unpack(read)[0] if len(read) == _FLOAT.size else None

    def write_progress(self, progress: Mapping[str, Any]) -> None:
        """Raises OSError. Not forced to the disk: it is replaced a second later."""
        replace_file(self.progress_file, json_bytes(progress), durable=False)

    def read_progress(self) -> Mapping[str, Any]:
        """Empty before there is any."""
        return _PROGRESS.read(self.progress_file) or {}

    def last_elapsed_s(self) -> float | None:
        """How long the run had lasted at its last telemetry poll; None where none tells."""
        found: list[float] = []
        for number, table in enumerate(self.sample_tables()):
            rows, width = self.samples_file(number), _FLOAT.size * len(table.columns)
            if not table.node and (last := size_of(rows) // width - 1) >= 0:
                read = _read_from(rows, last * width, _FLOAT.size)
                if len(read) == _FLOAT.size:  # not so where the run was deleted meanwhile
                    found += _FLOAT.unpack(read)
        return max(found, default=None)

    def patterns_changed(self) -> float | None:
        """When the patterns were written; None where there are none."""
        return _modified(self.patterns_file)

    def write_patterns(self, templates: Sequence[str]) -> None:
        """Raises OSError."""
        replace_file(self.patterns_file, json_bytes({"patterns": list(templates)}))

    def read_patterns(self) -> list[str]:
        """The user's own patterns for lines of the output."""
        found = (read_json(self.patterns_file) or {}).get("patterns", [])
        return [template for template in found if isinstance(template, str)] if isinstance(found, list) else []

    def write_series(self, series: Sequence[Series]) -> None:
        """Raises OSError."""
        replace_file(self.series_file, json_bytes({"series": [one.to_json() for one in series]}))

    def read_series(self) -> Sequence[Series]:
        """The curves of the run's points; a record's number is a place among them."""
        return _SERIES.read(self.series_file) or ()

    def sample_tables(self) -> list[SampleTable]:
        """The telemetry that was kept, in the order in which the tables were begun: a table's number is its place."""
        found: list[SampleTable] = []
        while len(found) < MOST_TABLES and (table := _TABLES.read(self.sample_columns_file(len(found)))) is not None:
            found.append(table)
        return found

    def write_sample_table(self, number: int, table: SampleTable) -> None:
        """Raises OSError."""
        replace_file(self.sample_columns_file(number), json_bytes(table.to_json()))

    def last_sign_of_life(self) -> float | None:
        """When the supervisor last wrote something, unix seconds."""
        times = [_modified(path) for path in (self.samples_file(0), self.output_file, self.state_file, self.plan_file)]
        return max((at for at in times if at is not None), default=None)

    def reserve(self) -> None:
        """Takes a little space, to have it for the last state if the disk fills up. Raises OSError."""
        replace_file(self._reserve_file, bytes(_RESERVE_BYTES))

    def give_up_reserve(self) -> bool:
        """Frees it. False when there is none any more."""
        try:
            self._reserve_file.unlink()
        except OSError:
            return False
        return True

    @property
    def _reserve_file(self) -> Path:
        return self.path / ".reserve"

    def sweep(self, now: float) -> None:
        """Removes what a process that was killed in the middle of a write has left. To be called when no supervisor of
        the run lives; what was written a moment ago may be another's, who is still at it."""
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if _LEFTOVER.fullmatch(entry.name):
                    with suppress(OSError):
                        if abs(now - entry.stat(follow_symlinks=False).st_mtime) > _AT_WORK_S:
                            os.unlink(entry.path)

    # -- what it printed -------------------------------------------------------------------------------------------

    def read_lines(self, path: Path, offset: int) -> tuple[list[bytes], int]:
        """The whole lines of `path` from byte `offset` on, some MiB of them, and the offset after them. A half line
        waits; where the file can't be read, or not there, nothing is new."""
        try:
            if os.stat(path).st_size <= offset:
                return [], offset
            with open_regular(path) as file:
                file.seek(offset)
                block = file.read(LINES_BLOCK_BYTES)
        except FileNotFoundError:
            return [], 0
        except _NOT_READ:
            return [], offset
        whole = block[: block.rfind(b"\n") + 1]
        if not whole and len(block) == LINES_BLOCK_BYTES:  # no line that was ever written is so long
            return [], offset + len(block)
        return whole.splitlines(), offset + len(whole)

    def read_output(self, offset: int) -> tuple[str, int]:
        """The output from byte `offset` on and the offset after it; a negative offset means the last 64 KiB.

        More than 256 KiB of news is cut to its end. A character whose bytes aren't all there yet waits."""
        limit = OUTPUT_TAIL_BYTES if offset < 0 else OUTPUT_BLOCK_BYTES
        block, end = self._output_end(limit, max(offset, 0))
        if end - len(block) > max(offset, 0):
            block = _from_line_start(block)
        whole = _whole_characters(block)
        return whole.decode("utf-8", "replace"), end - len(block) + len(whole)

    def output_tail(self, begins: int) -> Path:
        """A piece of a long output's end, while the run goes on; `begins`: its first byte's place in the output."""
        return self.path / f"{_TAIL}{begins}"

    @property
    def output_pieces(self) -> list[tuple[int, Path]]:
        """Where each piece of the output begins, and its file, in order. Between the first and the others some may
        have been left out, and of a run that was deleted none is there any more."""
        try:
            names = [name for name in os.listdir(self.path) if name.startswith(_TAIL) and len(name) <= _LONGEST_TAIL]
        except OSError:
            names = []
        begins = sorted(int(name[len(_TAIL) :]) for name in names if name[len(_TAIL) :].isdecimal())
        return [(0, self.output_file), *((place, self.output_tail(place)) for place in begins)]

    def _output_end(self, limit: int, offset: int) -> tuple[bytes, int]:
        """At most `limit` bytes of the output's end, none before `offset`, without a gap; and where they end."""
        pieces = self.output_pieces
        end = max(pieces[-1][0] + size_of(pieces[-1][1]), offset)
        start, position, block = max(end - limit, offset), end, b""
        for begins, path in reversed(pieces):
            first = max(begins, start)
            piece = _read_from(path, first - begins, position - first)
            if first + len(piece) < position:
                break
            block, position = piece + block, first
            if begins <= start:
                break
        return block, end


class Store:
    """The folder of all runs. Made if missing; raises `RunError` when it can't be written."""

    def __init__(self, runs_dir: Path, clock: Callable[[], float] = time.time) -> None:
        self.runs_dir = Path(runs_dir).expanduser().absolute()
        self._clock = clock
        with self.saying_what_to_do():
            make_private(self.runs_dir)
            if not os.access(self.runs_dir, os.W_OK | os.X_OK):
                raise PermissionError(said("files", "not_writable"))

    def new_id(self) -> str:
        """A run id nobody has: local date and time, and four hexadecimal digits."""
        while True:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._clock()))
            run_id = f"{stamp}-{secrets.token_hex(2)}"
            if not (self.runs_dir / run_id).exists():
                return run_id

    def directory(self, run_id: str) -> RunDirectory:
        """Where the run is or will be. Raises `RunError` for what is not a run id: an id is never a path."""
        if not RUN_ID.match(run_id):
            raise RunError(wrong("run.not_an_id", run=run_id[:80]))
        return _run_directory(self.runs_dir, run_id)

    def create(self, run_id: str) -> RunDirectory:
        """Makes the run's folder. Raises `RunError` when it is there already, or the disk can't take it."""
        directory = self.directory(run_id)
        with self.saying_what_to_do():
            try:
                directory.path.mkdir(mode=_DIRECTORY_MODE)
            except FileExistsError as error:
                raise RunError(wrong("run.started_already", run=run_id)) from error
        return directory

    def open(self, run_id: str) -> RunDirectory:
        """Also one that was moved while it goes on. Raises `RunError` when there is no such run."""
        directory = self.directory(run_id)
        if directory.path.is_dir():
            return directory
        if (one := adrift(self.runs_dir).get(run_id)) and one.place:
            return RunDirectory(one.place, run_id, self.runs_dir)
        raise RunError(wrong("run.none", run=run_id, folder=str(self.runs_dir)))

    def list(self) -> list[RunDirectory]:
        """Every run with a plan, or something in the place of one, newest first."""
        return [_run_directory(self.runs_dir, name) for name in sorted(self.names(), reverse=True) if self.is_run(name)]

    def names(self) -> Sequence[str]:
        """The folders that are runs by their names."""
        try:
            return [name for name in os.listdir(self.runs_dir) if RUN_ID.match(name)]
        except FileNotFoundError:
            return []

    def is_run(self, run_id: str) -> bool:
        """Whether the folder has a plan, or something in the place of one. Others' runs are theirs."""
        return _is_run(_run_directory(self.runs_dir, run_id))

    def write_plan(
        self,
        directory: RunDirectory,
        plan: Plan,
        config_text: str,
        asked: Asked | None = None,
        foretold: Foretold | None = None,
    ) -> None:
        """Raises `RunError`."""
        with self.saying_what_to_do():
            if foretold:
                directory.write_foretold(foretold)
            if asked:  # first: with the plan the run is there for everybody
                directory.write_asked(asked)
            directory.write_plan(plan, config_text)

    def write_status(self, directory: RunDirectory, status: RunStatus) -> None:
        """Raises `RunError`."""
        with self.saying_what_to_do():
            directory.write_status(status)

    @contextlib.contextmanager
    def saying_what_to_do(self) -> Iterator[None]:
        """Translates what the disk refuses into a `RunError`."""
        try:
            yield
        except OSError as error:
            given = {"folder": str(self.runs_dir), "why": os_reason(error)}
            raise RunError(wrong("runs_folder.not_written", **given)) from error


@lru_cache(maxsize=512)  # with its paths: joining them takes longer than reading what they lead to
def _run_directory(runs_dir: Path, run_id: str) -> RunDirectory:
    return RunDirectory(runs_dir / run_id)


def _is_run(directory: RunDirectory) -> bool:
    """Others' runs are theirs. A folder with a state, whose plan was taken away, was a run; an empty one is not yet."""
    if os.access(directory.plan_file, os.R_OK):
        return True
    if not any(os.path.lexists(path) for path in (directory.plan_file, directory.state_file)):
        return False
    return os.access(directory.path, os.R_OK | os.W_OK | os.X_OK)


# A page asks for these every second.
_STATE_NAME = re.compile(r"[a-z][a-z_]{0,39}")
_PLANS, _STATUSES, _ASKED = Known(plan_from_json), Known(RunStatus.from_json), Known(Asked.from_json)
_PROGRESS, _FORETOLD = Known(progress_from_json), Known(Foretold.from_json)
_SERIES = Known(lambda value: tuple(Series.from_json(one) for one in sequence(value["series"], MOST_SERIES)))
_TABLES = Known(SampleTable.from_json)
_LABELS, _NO_LABEL = Known(Label.from_json), Label()
_ADOPTED = Known(Adopted.from_json)


def size_of(path: Path) -> int:
    """0 for what is not a regular file."""
    try:
        seen = os.stat(path)
    except OSError:
        return 0
    return seen.st_size if stat.S_ISREG(seen.st_mode) else 0


def _patterns(value: Mapping[str, Any]) -> list[str]:
    return [text(one) for one in sequence(value["patterns"], _MOST_KEPT_PATTERNS)]


def _provenance(value: Mapping[str, Any]) -> dict[str, Any]:
    """Raises TypeError or ValueError."""
    found: dict[str, Any] = {"python": text(value["python"])} if "python" in value else {}
    for name in ("versions", "git"):
        if value.get(name) is not None:
            found[name] = plain(dict(value[name]))
    return found


def _mark(path: Path) -> tuple[int, ...]:
    try:
        seen = os.stat(path)
    except OSError:
        return ()
    return seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _damage(read: Callable[[], object], path: Path, *, may_miss: bool = False) -> Said | None:
    try:
        read()
    except UNREADABLE as error:
        if may_miss and isinstance(error, FileNotFoundError) and not os.path.lexists(path):
            return None
        why = why_unreadable(error)
        if isinstance(why, Said) and (seen := dict(why.given).get("seen")):  # it is JSON, of something else
            return said("troubles", "invalid", file=path.name, seen=seen)
        return said("troubles", "unreadable", file=path.name, why=why)
    return None


def _read_from(path: Path, offset: int, count: int) -> bytes:
    if count <= 0:
        return b""
    try:
        with open_regular(path) as file:
            file.seek(offset)
            return file.read(count)
    except _NOT_READ:
        return b""


def _modified(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _from_line_start(block: bytes) -> bytes:
    """What follows the first line end, if there is one near."""
    match = re.search(rb"[\r\n]", block[:4096])
    return block[match.end() :] if match else block.lstrip(bytes(range(0x80, 0xC0)))


def _whole_characters(block: bytes) -> bytes:
    """`block` without the first bytes of a UTF-8 character at its end, if its other bytes are still to come."""
    for back in range(1, min(4, len(block) + 1)):
        byte = block[-back]
        if 0xC2 <= byte <= 0xF4:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return block[:-back] if back < length else block
        if not 0x80 <= byte < 0xC0:
            break
    return block
