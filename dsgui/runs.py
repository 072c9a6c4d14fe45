"""Start, stop, list and follow runs: the one place that joins the launcher and the store for the page."""

import errno
import json
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from dsgui.core.errors import PlanError, RunError
from dsgui.core.plan import LaunchRequest, Plan, check_port, make_plan, shell_line
from dsgui.core.secrets import finished, mask
from dsgui.core.state import RunState, RunStatus
from dsgui.shell.launcher import Launcher
from dsgui.shell.places import Places
from dsgui.shell.processes import is_alive, is_rebooted, members, send_signal
from dsgui.shell.store import RunDirectory, Store

_T = TypeVar("_T")

# Below Linux's ephemeral ports (32768 and up), which any outgoing connection may take, and away from DeepSpeed's 29500.
_PORTS = range(20_000, 29_000)
_PORT_TRIES = 50
# A screen shows some thousand columns; a run logs a million lines.
POINTS_SHOWN = 3000
SAMPLES_SHOWN = 3000
# A supervisor writes its first state in a fraction of a second.
_PENDING_S = 90


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a page has already: byte offsets. `output` is -1 for "nothing yet, begin near the end"."""

    points: int = 0
    samples: int = 0
    output: int = -1


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the list. `loss` is a number, or "NaN", "Infinity", "-Infinity"; None where nothing was logged."""

    run_id: str
    name: str
    state: RunState
    started_at: float | None
    duration_s: float | None
    step: int | None
    total: int | None
    loss: float | str | None
    preset: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"state": self.state.value}


@dataclass(frozen=True, slots=True)
class Delta:
    """One run as it is now, and what was added since a cursor. `alive` counts the processes of a lost run; `progress`
    has `step`, `total`, `eta_s`, or is None before the output told any."""

    run_id: str
    name: str
    state: RunState
    reason: str
    phase: str
    exit_code: int | None
    started_at: float | None
    ended_at: float | None
    elapsed_s: float | None
    alive: int
    command: str
    directory: str
    telemetry_note: str
    preset: str
    progress: dict[str, Any] | None
    points: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    output: str
    cursor: Cursor

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, no NaN."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"state": self.state.value, "cursor": asdict(self.cursor)}


@dataclass(frozen=True, slots=True)
class _Seen:
    """A run's status as readers must see it, and how many processes a lost one still has."""

    status: RunStatus
    alive: int = 0


class Runs:
    """Every run of one store. Holds no run itself: another server on the same folder sees the same.

    `places` bounds what may be launched and where, if given. `secrets` are values that nothing it tells contains."""

    def __init__(
        self,
        store: Store,
        launcher: Launcher,
        clock: Callable[[], float] = time.time,
        *,
        places: Places | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self._store, self._launcher, self._clock = store, launcher, clock
        self._places, self._secrets = places, secrets
        self._ended: dict[str, RunSummary] = {}

    # -- starting --------------------------------------------------------------------------------------------------

    def prepare(self, request: LaunchRequest) -> Plan:
        """The plan for `request`, with a new run id and a free port. Writes nothing. Raises `PlanError` and
        `PlaceError`."""
        script, directory = _script(request), _working_directory(request)
        if self._places:
            for path in filter(None, (script, directory)):
                self._places.check(Path(path))
        concrete = replace(request, working_directory=directory, target_python=_python(request))
        run_id = self._store.new_id()
        return make_plan(
            concrete,
            run_id=run_id,
            run_directory=str(self._store.directory(run_id).path),
            script_path=script,
            master_port=_port(request.master_port),
        )

    def start(self, plan: Plan, config_text: str) -> str:
        """Writes the run's folder and starts its supervisor; returns the run id. Takes a fraction of a second.

        Raises `RunError`, also for a plan that was started before: a double click starts one run."""
        directory = self._store.create(plan.run_id)
        self._store.write_plan(directory, plan, config_text)
        try:
            self._launcher.start(directory)
        except RunError as error:
            self._store.write_status(directory, RunStatus(RunState.FAILED, reason=str(error), ended_at=self._clock()))
            raise
        return plan.run_id

    def shown_command(self, plan: Plan) -> str:
        """The command for the page: as it runs, but for the secrets in it."""
        return mask(shell_line(plan), self._secrets)

    # -- stopping --------------------------------------------------------------------------------------------------

    def stop(self, run_id: str) -> None:
        """Returns at once; the run's supervisor ends the processes, or a new one does where it is gone. A run that has
        ended is left as it is. Raises `RunError`."""
        directory = self._store.open(run_id)
        status = directory.read_status()
        if status and status.state.live and status.supervisor and send_signal(status.supervisor, signal.SIGTERM):
            return
        if self._seen(directory).alive:
            self._launcher.end(directory)

    def alive_processes(self, run_id: str) -> list[int]:
        """The pids of the run's processes, its supervisor not among them. Looks at every process of the machine."""
        status = self._store.open(run_id).read_status()
        if status is None:
            return sorted(members(run_id))
        supervisor = status.supervisor
        return sorted(members(run_id, status.process, supervisor.pid if supervisor and is_alive(supervisor) else None))

    # -- looking ---------------------------------------------------------------------------------------------------

    def list(self) -> list[RunSummary]:
        """Every run, newest first. A run that has ended is read once."""
        directories = self._store.list()
        self._ended = {d.run_id: self._ended[d.run_id] for d in directories if d.run_id in self._ended}
        summaries = (self._listed(directory) for directory in directories)
        return [summary for summary in summaries if summary]

    def summary(self, run_id: str) -> RunSummary:
        """Raises `RunError` when there is no such run, or its plan can't be read."""
        directory = self._store.open(run_id)
        return self._summary(directory, directory.read_plan(), self._seen(directory))

    def follow(self, run_id: str, cursor: Cursor) -> Delta:
        """What is new since `cursor`; the cost depends on that, not on the run's length. Raises `RunError`."""
        directory = self._store.open(run_id)
        plan, seen = directory.read_plan(), self._seen(directory)
        point_lines, points_offset = directory.read_lines(directory.points_file, cursor.points)
        sample_lines, samples_offset = directory.read_lines(directory.samples_file, cursor.samples)
        status, progress = seen.status, directory.read_progress()
        output, output_offset = self._shown_output(directory, cursor.output, status.state.live)
        return Delta(
            run_id=run_id,
            name=plan.name,
            state=status.state,
            reason=mask(status.reason, self._secrets),
            phase=status.phase,
            exit_code=status.exit_code,
            started_at=status.started_at,
            ended_at=status.ended_at,
            elapsed_s=self._elapsed_s(directory, status),
            alive=seen.alive,
            command=self.shown_command(plan),
            directory=str(directory.path),
            telemetry_note=status.telemetry_note,
            preset=plan.preset,
            progress={key: progress.get(key) for key in ("step", "total", "eta_s")} if "step" in progress else None,
            points=_thin_points(_parse(point_lines)),
            samples=_parse(_thin(sample_lines, SAMPLES_SHOWN)),
            output=output,
            cursor=Cursor(points_offset, samples_offset, output_offset),
        )

    def _shown_output(self, directory: RunDirectory, offset: int, live: bool) -> tuple[str, int]:
        """News of the output without secrets; while it goes on, half a secret waits for its other half."""
        output, end = directory.read_output(offset)
        length = finished(output, self._secrets) if live else len(output)
        waits = output[length:]
        if "\ufffd" in waits:  # bytes that were no text: how many can't be told any more
            waits = ""
        return mask(output.removesuffix(waits), self._secrets), end - len(waits.encode("utf-8"))

    def _listed(self, directory: RunDirectory) -> RunSummary | None:
        if directory.run_id in self._ended:
            return self._ended[directory.run_id]
        try:
            plan, seen = directory.read_plan(), self._seen(directory)
        except (RunError, OSError):  # one folder that can't be read hides no other
            return None
        summary = self._summary(directory, plan, seen)
        # "Lost" may be taken back: its processes are looked for anew each time.
        if not summary.state.live and summary.state is not RunState.LOST:
            self._ended[directory.run_id] = summary
        return summary

    def _summary(self, directory: RunDirectory, plan: Plan, seen: _Seen) -> RunSummary:
        progress = directory.read_progress()
        return RunSummary(
            run_id=plan.run_id,
            name=plan.name,
            state=seen.status.state,
            started_at=seen.status.started_at,
            duration_s=self._elapsed_s(directory, seen.status),
            step=progress.get("step"),
            total=progress.get("total"),
            loss=progress.get("loss"),
            preset=plan.preset,
        )

    def _seen(self, directory: RunDirectory) -> _Seen:
        status = directory.read_status()
        if status is None:
            return self._unwritten(directory)
        if not status.state.live or is_alive(status.supervisor):
            return _Seen(status)
        # It may have written its last state and ended between the two looks.
        status = directory.read_status() or status
        if not status.state.live or is_alive(status.supervisor):
            return _Seen(status)
        return self._lost(directory, status)

    def _unwritten(self, directory: RunDirectory) -> _Seen:
        since = directory.last_sign_of_life()
        if since is None or self._clock() - since < _PENDING_S:
            return _Seen(RunStatus(started_at=since))
        return self._lost(directory, RunStatus(started_at=since))

    def _lost(self, directory: RunDirectory, status: RunStatus) -> _Seen:
        rebooted = is_rebooted(status.supervisor)
        alive = 0 if rebooted else len(members(directory.run_id, status.process))
        return _Seen(status.lost(alive, rebooted), alive)

    def _elapsed_s(self, directory: RunDirectory, status: RunStatus) -> float | None:
        if status.started_at is None:
            return None
        end = self._clock() if status.state.live else status.ended_at or directory.last_sign_of_life()
        return None if end is None else max(end - status.started_at, 0.0)


# --- what a plan needs of the machine ---------------------------------------------------------------------------------


def _script(request: LaunchRequest) -> str:
    typed = request.script.strip()
    if not typed:
        raise PlanError("Script: nothing was given. Expected the path of the Python file that trains. Give it.")
    path = _absolute(typed, request.working_directory)
    if path.is_dir():
        raise PlanError(f"Script: {path} is a folder. Expected a Python file. Give the file inside it that trains.")
    if not path.is_file():
        raise PlanError(f"Script: {path} does not exist. Expected a Python file on this machine. Check the path.")
    if not os.access(path, os.R_OK):
        raise PlanError(f"Script: {path} can't be read. Expected a file you may read. Check its permissions.")
    return str(path)


def _python(request: LaunchRequest) -> str:
    found = shutil.which(request.target_python)
    if not found:
        raise PlanError(
            f"Python: {request.target_python} is no program that can be run. Expected the interpreter that has "
            "DeepSpeed. Start dsgui with --python PATH."
        )
    return str(Path(found).absolute())  # not resolved: a virtual environment's python is a link


def _working_directory(request: LaunchRequest) -> str:
    """Absolute, or "" for the run's own folder."""
    typed = request.working_directory.strip()
    if not typed:
        return ""
    path = _absolute(typed, "")
    if not path.is_dir():
        raise PlanError(
            f"Working directory: {path} is not a folder. Expected one that exists. Make it, or leave the field empty "
            "for the run's own folder."
        )
    if not os.access(path, os.X_OK):
        raise PlanError(f"Working directory: {path} can't be entered. Check its permissions, or give another.")
    return str(path)


def _absolute(typed: str, base: str) -> Path:
    try:
        path = Path(typed).expanduser()
        path = path if path.is_absolute() or not base.strip() else Path(base.strip()).expanduser() / path
        path = path.absolute()
        if "\0" in typed:
            raise ValueError("it has a null character")
        path.exists()  # raises for a name that no file can have
    except (RuntimeError, ValueError, OSError) as error:
        raise PlanError(f"Path “{typed[:80]}” can't be used ({error}). Expected a path on this machine.") from error
    return path


def _port(asked: int | None) -> int:
    if asked is None:
        return _free_port()
    check_port(asked)
    if not _is_free(asked):
        raise PlanError(
            f"Master port: {asked} is in use. Expected a free one. Give {_free_port()}, which is free now, or leave "
            "the field empty."
        )
    return asked


def _free_port() -> int:
    for port in random.sample(_PORTS, _PORT_TRIES):
        if _is_free(port):
            return port
    raise PlanError(f"Master port: none of {_PORT_TRIES} tried ones is free. Give one.")


def _is_free(port: int) -> bool:
    """Whether a rank could listen there, on every address."""
    families = [(socket.AF_INET, "0.0.0.0")] + ([(socket.AF_INET6, "::")] if socket.has_ipv6 else [])
    return all(_can_listen(family, address, port) for family, address in families)


def _can_listen(family: socket.AddressFamily, address: str, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            # As torch's store does: a connection in TIME_WAIT does not keep a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(1)
    except OSError as error:
        # A machine without IPv6 has no such address to be taken.
        return error.errno not in (errno.EADDRINUSE, errno.EACCES)
    return True


# --- what a page is given ---------------------------------------------------------------------------------------------


def _parse(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The JSON lines; what a full disk has cut short is left out."""
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _thin(items: Sequence[_T], limit: int) -> Sequence[_T]:
    """Evenly spread ones, the last among them."""
    stride = -(-len(items) // limit)
    return items if stride <= 1 else items[(len(items) - 1) % stride :: stride]


def _thin_points(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each rank's training points thinned alone; evaluations, and points without a step, stay."""
    if len(points) <= POINTS_SHOWN:
        return points
    groups: dict[Any, list[int]] = {}
    kept: set[int] = set()
    for place, point in enumerate(points):
        if point.get("kind") == "train" and point.get("step") is not None:
            groups.setdefault((point.get("rank"), *sorted(point.get("values", {}))), []).append(place)
        else:
            kept.add(place)
    for places in groups.values():
        kept.update(_thin(places, POINTS_SHOWN))
    return [points[place] for place in sorted(kept)]
