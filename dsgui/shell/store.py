"""Run directories: one class owns every path of a run, another the folder of them all.

The supervisor writes, everyone else reads. A whole document is replaced in one step; a line is appended with one
write, so that a reader, and whoever comes after a `kill -9`, sees whole ones.
"""

import contextlib
import os
import re
import secrets
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dsgui.core.command import (
    BATCH_SCRIPT,
    CONFIG_FILE,
    HOSTFILE,
    REMOTE_ENVIRONMENT_FILE,
    argv,
    environment,
    remote_environment,
    shell_line,
    slurm_script,
)
from dsgui.core.curves import Series
from dsgui.core.diagnosis import Diagnosis
from dsgui.core.errors import PlanError, RunError
from dsgui.core.plan import Plan
from dsgui.core.state import Asked, RunStatus
from dsgui.core.telemetry import SampleTable
from dsgui.shell.documents import Known, json_bytes, read_json, replace_file
from dsgui.shell.folders import make_private

_RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}\Z")
_DIRECTORY_MODE = 0o700
OUTPUT_BLOCK_BYTES = 1 << 18
_TAIL = "output.tail."
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
    provenance_file = _inside("provenance.json")
    supervisor_log = _inside("supervisor.log")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths: dict[str, Path] = {}

    @property
    def run_id(self) -> str:
        return self.path.name

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
        if plan.machines:
            replace_file(self.path / HOSTFILE, plan.machines.text.encode())
            replace_file(self.path / REMOTE_ENVIRONMENT_FILE, remote_environment(plan).encode())
        if plan.slurm:
            replace_file(self.path / BATCH_SCRIPT, slurm_script(plan).encode("utf-8", "surrogateescape"))
        replace_file(self.command_file, (shell_line(plan) + "\n").encode("utf-8", "surrogateescape"))
        told = {"argv": argv(plan), "added_environment": environment(plan, {})}  # for people and other tools
        replace_file(self.plan_file, json_bytes(plan.to_json() | told))

    def read_plan(self) -> Plan:
        """Raises `RunError` when there is none or it can't be read."""
        try:
            return _PLANS.read_strictly(self.plan_file)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, PlanError) as error:
            raise RunError(
                f"Run {self.run_id}: {self.plan_file} can't be read ({error}). Expected what dsgui wrote when the run "
                "was started. Delete the folder, or put the file back."
            ) from error

    def write_asked(self, asked: Asked) -> None:
        """Raises OSError."""
        replace_file(self.asked_file, json_bytes(asked.to_json()))

    def read_asked(self) -> Asked | None:
        """None for a run that was launched before dsgui kept it."""
        return _ASKED.read(self.asked_file)

    def read_config(self) -> str:
        """The config as launched, "" when it is gone."""
        try:
            return self.config_file.read_bytes().decode("utf-8", "replace")
        except OSError:
            return ""

    def write_provenance(self, value: Mapping[str, Any]) -> None:
        """Raises OSError."""
        replace_file(self.provenance_file, json_bytes(value), durable=False)

    def read_provenance(self) -> dict[str, Any]:
        """Empty for a run that was started before dsgui kept it."""
        return read_json(self.provenance_file) or {}

    # -- why it failed ---------------------------------------------------------------------------------------------

    def write_diagnosis(self, value: Mapping[str, Any]) -> None:
        """Raises OSError."""
        replace_file(self.diagnosis_file, json_bytes(value))

    def read_diagnosis(self) -> Diagnosis | None:
        """None for a run that did not fail."""
        value = read_json(self.diagnosis_file)
        try:
            return Diagnosis.from_json(value) if value is not None else None
        except (KeyError, TypeError, ValueError):
            return None

    # -- how it goes -----------------------------------------------------------------------------------------------

    def write_status(self, status: RunStatus) -> None:
        """Raises OSError."""
        replace_file(self.state_file, json_bytes(status.to_json()))

    def read_status(self) -> RunStatus | None:
        """None before the supervisor has written one, or when the file is not one."""
        return _STATUSES.read(self.state_file)

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
        while (table := _TABLES.read(self.sample_columns_file(len(found)))) is not None:
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

    # -- what it printed -------------------------------------------------------------------------------------------

    def read_lines(self, path: Path, offset: int) -> tuple[list[bytes], int]:
        """The whole lines of `path` from byte `offset` on, and the offset after them. A half line waits; where the file
        can't be read, or not there, nothing is new."""
        try:
            if os.stat(path).st_size <= offset:
                return [], offset
            with path.open("rb") as file:
                file.seek(offset)
                block = file.read()
        except FileNotFoundError:
            return [], 0
        except OSError:
            return [], offset
        whole = block[: block.rfind(b"\n") + 1]
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
            names = [name for name in os.listdir(self.path) if name.startswith(_TAIL)]
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
                raise PermissionError("it is not writable")

    def new_id(self) -> str:
        """A run id nobody has: local date and time, and four hexadecimal digits."""
        while True:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._clock()))
            run_id = f"{stamp}-{secrets.token_hex(2)}"
            if not (self.runs_dir / run_id).exists():
                return run_id

    def directory(self, run_id: str) -> RunDirectory:
        """Where the run is or will be. Raises `RunError` for what is not a run id: an id is never a path."""
        if not _RUN_ID.match(run_id):
            raise RunError(f"Run “{run_id[:80]}”: not a run id. Expected one like 20260131-235959-0a1b. See the list.")
        return _run_directory(self.runs_dir, run_id)

    def create(self, run_id: str) -> RunDirectory:
        """Makes the run's folder. Raises `RunError` when it is there already, or the disk can't take it."""
        directory = self.directory(run_id)
        with self.saying_what_to_do():
            try:
                directory.path.mkdir(mode=_DIRECTORY_MODE)
            except FileExistsError as error:
                raise RunError(f"Run {run_id} was started already. Follow it, or make a new one on Launch.") from error
        return directory

    def open(self, run_id: str) -> RunDirectory:
        """Raises `RunError` when there is no such run."""
        directory = self.directory(run_id)
        if not directory.path.is_dir():
            raise RunError(f"Run {run_id}: there is none in {self.runs_dir}. It may have been deleted. See the list.")
        return directory

    def list(self) -> list[RunDirectory]:
        """Every run with a plan, newest first."""
        return [_run_directory(self.runs_dir, name) for name in sorted(self.names(), reverse=True) if self.is_run(name)]

    def names(self) -> Sequence[str]:
        """The folders that are runs by their names."""
        try:
            return [name for name in os.listdir(self.runs_dir) if _RUN_ID.match(name)]
        except FileNotFoundError:
            return []

    def is_run(self, run_id: str) -> bool:
        """Whether the folder has a plan. Others' runs are theirs."""
        return os.access(f"{self.runs_dir}/{run_id}/plan.json", os.R_OK)

    def write_plan(self, directory: RunDirectory, plan: Plan, config_text: str, asked: Asked | None = None) -> None:
        """Raises `RunError`."""
        with self.saying_what_to_do():
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
            raise RunError(
                f"Runs folder {self.runs_dir}: can't be written ({error.strerror or error}). Expected a folder of "
                "yours with free space. Give another with --runs-dir, or free some space."
            ) from error


@lru_cache(maxsize=512)  # with its paths: joining them takes longer than reading what they lead to
def _run_directory(runs_dir: Path, run_id: str) -> RunDirectory:
    return RunDirectory(runs_dir / run_id)


def _plan(value: Mapping[str, Any]) -> Plan:
    plan = Plan.from_json(value)
    if plan.machines:
        plan.machines.hosts()  # raises now, so that nobody trips over it later
    return plan


# A page asks for these every second.
_PLANS, _STATUSES, _ASKED = Known(_plan), Known(RunStatus.from_json), Known(Asked.from_json)
_PROGRESS = Known[Mapping[str, Any]](MappingProxyType)
_SERIES = Known(lambda value: tuple(Series.from_json(one) for one in value["series"]))
_TABLES = Known(SampleTable.from_json)


def size_of(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _read_from(path: Path, offset: int, count: int) -> bytes:
    if count <= 0:
        return b""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(count)
    except OSError:
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
