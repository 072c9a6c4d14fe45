"""The detached process that owns one run: starts it, drains it, samples, writes its state, ends it.

    python -m dsgui.supervise RUN_DIR          start what plan.json says, and stay until its last process is gone
    python -m dsgui.supervise RUN_DIR --end    end what is left of a run whose supervisor is gone

SIGTERM stops the run. The command itself returns at once: a fork of it does the work.
"""

import argparse
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from dsgui.core.diagnosis import diagnose
from dsgui.core.document import Document
from dsgui.core.ending import verdict
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.plan import ConfigArgument, Plan, argv, environment
from dsgui.core.remedies import Circumstances
from dsgui.core.state import Identity, RunState, RunStatus
from dsgui.core.trainlog import Point, Progress, TrainLog, number_to_json
from dsgui.shell.leftovers import (
    build_locks,
    extensions_folder,
    held_build_locks,
    remove_shared_buffers,
    remove_stale_locks,
)
from dsgui.shell.oom import read_oom_kills
from dsgui.shell.processes import (
    ProcessStat,
    become_subreaper,
    descendants,
    end_tree,
    identify,
    members,
    reap,
    snapshot,
)
from dsgui.shell.provenance import provenance
from dsgui.shell.store import Appender, RunDirectory
from dsgui.shell.telemetry import Gpus, Telemetry, load_nvml

GRACE_S = 10.0
SETTLE_S = 2.0  # what outlives the launcher may be about to end by itself
SAMPLE_S = 1.0
_POLL_S = 0.1
_READ_BYTES = 1 << 16
_COMPILERS = frozenset(
    {"cc1plus", "cc1", "c++", "g++", "clang", "clang++", "nvcc", "cicc", "ptxas", "hipcc", "as", "ld"}
)
_DISK_NOTE = "The disk refused some of this run's records: parts are missing here."


def phase_of(logged: str, program_names: Set[str]) -> str:
    """The phase that the output tells, or "compiling" where a compiler works before the training: DeepSpeed compiles
    some operators without a word."""
    return "compiling" if logged == "starting" and program_names & _COMPILERS else logged


@dataclass(slots=True)
class Pace:
    """Time left, from the steps done since the first was seen; for output that has no bar to say it."""

    first_at: float | None = None
    first_step: int = 0

    def eta_s(self, progress: Progress, now: float) -> float | None:
        if progress.eta_s is not None:
            return progress.eta_s
        if self.first_at is None or progress.step < self.first_step:
            self.first_at, self.first_step = now, progress.step
        done = progress.step - self.first_step
        if not done or progress.total is None:
            return None
        return round((now - self.first_at) / done * max(progress.total - progress.step, 0), 1)


class Records:
    """The files that grow with the run. A disk that refuses them never stops the training."""

    def __init__(self, directory: RunDirectory, clock: Callable[[], float]) -> None:
        self._directory, self._clock = directory, clock
        self.log = TrainLog()
        self.refused = False
        self._output = Appender(directory.output_file)
        self._points = Appender(directory.points_file)
        self._samples = Appender(directory.samples_file)
        self._pace = Pace()
        self._loss: float | None = None
        self._progress: dict[str, Any] = {}

    def take_output(self, chunk: bytes) -> None:
        self._try(self._output.write, chunk)
        self._take_points(self.log.feed(chunk))

    def take_sample(self, sample: dict[str, Any]) -> None:
        self._try(self._samples.write_json, sample)

    def write_progress(self) -> None:
        """Only if it changed."""
        if (now := self._current()) != self._progress:
            self._progress = now
            self._try(self._directory.write_progress, now)

    def finish(self) -> None:
        self._take_points(self.log.finish())
        self.write_progress()
        for file in (self._output, self._points, self._samples):
            file.close()

    def _take_points(self, points: list[Point]) -> None:
        for point in points:
            self._try(self._points.write_json, point.to_json())
            if point.kind == "train" and not point.rank:
                self._loss = point.values.get("loss", self._loss)

    def _current(self) -> dict[str, Any]:
        progress = self.log.progress
        found: dict[str, Any] = {} if self._loss is None else {"loss": number_to_json(self._loss)}
        if progress:
            eta_s = self._pace.eta_s(progress, self._clock())
            found |= {"step": progress.step, "total": progress.total, "eta_s": eta_s}
        return found

    def _try(self, write: Callable[[Any], None], value: Any) -> None:
        try:
            write(value)
        except OSError as error:
            if not self.refused:
                print(f"the disk refused a record: {error}", file=sys.stderr, flush=True)
            self.refused = True


class Supervisor:
    """Owns one run from its first process to its last."""

    def __init__(
        self,
        directory: RunDirectory,
        plan: Plan,
        make_telemetry: Callable[[], Telemetry],
        grace_s: float = GRACE_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory, self._plan, self._make_telemetry = directory, plan, make_telemetry
        self._grace_s, self._clock = grace_s, clock
        self._records = Records(directory, clock)
        self._status = RunStatus(supervisor=identify(os.getpid()), started_at=clock())
        self._writing = threading.Lock()
        self._oom_before = read_oom_kills()
        self._stop_asked = False
        self._left = 0
        self._locks: set[Path] = set()
        self._exited_at: float | None = None
        self._ending: threading.Thread | None = None

    def run(self, ready: Callable[[], None]) -> None:
        """`ready` is called once the state is on the disk."""
        become_subreaper()
        with Wakeup(self._ask_stop) as wakeup:  # before the state names this process as the one to signal
            self._write()
            process = self._start()
            ready()
            if process is None:
                self._records.finish()
                return
            try:
                self._follow(process, wakeup)
            except Exception:
                # Ended before anybody waits for it: Stop reaches nobody any more.
                end_tree(self._plan.run_id, self._status.process, self._grace_s, os.getpid())
                raise
            finally:
                with suppress(OSError):
                    process.stdout.close()  # type: ignore[union-attr]  # stdout=PIPE
                process.wait()
            self._finish(process.returncode)

    def give_up(self, error: Exception) -> None:
        """A fault of dsgui's own must not leave a run that nobody owns."""
        end_tree(self._plan.run_id, self._status.process, self._grace_s, os.getpid())
        reason = f"dsgui's supervisor failed and ended the run: {error!r}. See supervisor.log."
        self._write(state=RunState.FAILED, reason=reason, ended_at=self._clock())

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self) -> "subprocess.Popen[bytes] | None":
        given = environment(self._plan, os.environ)
        with suppress(OSError):
            self._directory.write_provenance(provenance(self._plan))
        # Left by something that was killed while it compiled, or by a machine that went down: DeepSpeed would wait.
        _say_removed(remove_stale_locks(build_locks(extensions_folder(given))))
        try:
            process = subprocess.Popen(
                argv(self._plan),
                cwd=self._plan.working_directory,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            self._write(state=RunState.FAILED, reason=f"It could not be started: {error}.", ended_at=self._clock())
            return None
        self._write(state=RunState.RUNNING, process=identify(process.pid))
        return process

    # -- following -------------------------------------------------------------------------------------------------

    def _follow(self, process: "subprocess.Popen[bytes]", wakeup: "Wakeup") -> None:
        telemetry = self._make_telemetry()
        self._write(telemetry_note=telemetry.note)
        assert process.stdout is not None  # stdout=PIPE
        output = process.stdout.fileno()
        os.set_blocking(output, False)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(wakeup.descriptor, selectors.EVENT_READ)
            next_sample = time.monotonic() + SAMPLE_S
            self._tick(process, telemetry)  # however short the run, it has one sample
            while not self._over(process):
                for key, _ in selector.select(self._patience(next_sample)):
                    if key.fd == output and not self._drain(output, _READ_BYTES):
                        selector.unregister(output)
                wakeup.clear()
                if time.monotonic() >= next_sample:
                    next_sample = time.monotonic() + SAMPLE_S
                    self._tick(process, telemetry)
        while self._drain(output, _READ_BYTES):
            pass
        telemetry.close()

    def _patience(self, next_sample: float) -> float:
        left = max(next_sample - time.monotonic(), 0)
        return min(left, _POLL_S) if self._exited_at is not None or self._ending else left

    def _drain(self, descriptor: int, limit: int) -> bool:
        """Takes what is there. False when there is nothing more."""
        try:
            chunk = os.read(descriptor, limit)
        except BlockingIOError:
            return False
        if chunk:
            self._records.take_output(chunk)
        return bool(chunk)

    def _tick(self, process: "subprocess.Popen[bytes]", telemetry: Telemetry) -> None:
        reap(spare=process.pid)
        family = self._family()
        self._records.take_sample(telemetry.sample(family).to_json())
        self._records.write_progress()
        phase = phase_of(self._records.log.phase, {stat.name for stat in family.values()})
        if phase == "compiling":
            self._locks |= held_build_locks(family)
        if phase != self._status.phase:
            self._write(phase=phase)

    def _family(self) -> dict[int, ProcessStat]:
        """The run's living processes, by pid."""
        table = snapshot()
        return {pid: table[pid] for pid in descendants(os.getpid(), table) if not table[pid].zombie}

    # -- ending ----------------------------------------------------------------------------------------------------

    def _ask_stop(self) -> None:
        self._stop_asked = True

    def _over(self, process: "subprocess.Popen[bytes]") -> bool:
        """Whether the last process is gone; begins the ending when it is time to."""
        exited = process.poll() is not None
        if self._ending is not None:
            return exited and not self._ending.is_alive()
        if not exited:
            if self._stop_asked:
                self._write(state=RunState.STOPPING)
                self._begin_ending()
            return False
        return self._nothing_left()

    def _nothing_left(self) -> bool:
        """After the launcher has ended: waits a little for the others, then ends them."""
        now = time.monotonic()
        self._exited_at = now if self._exited_at is None else self._exited_at
        left = len(self._family())
        if left and (self._stop_asked or now - self._exited_at >= SETTLE_S):
            self._left = left
            self._begin_ending()
        return not left

    def _begin_ending(self) -> None:
        self._locks |= held_build_locks(self._family())
        # A thread, since what is ending may still print, and nobody can end while its output is stuck in a full pipe.
        self._ending = threading.Thread(target=self._end, name="ending")
        self._ending.start()

    def _end(self) -> None:
        grace_s, process = self._grace_s, self._status.process
        while survivors := end_tree(self._plan.run_id, process, grace_s, os.getpid()):
            self._write(reason=f"Processes {_listed(survivors)} don't end even when killed; waiting for the kernel.")
            grace_s = 0

    def _finish(self, exit_code: int) -> None:
        reap(spare=0)
        self._records.finish()
        _say_removed(remove_shared_buffers(self._plan.master_port) + remove_stale_locks(self._locks))
        state, reason = self._judge(exit_code)
        if self._records.refused:
            reason = f"{reason} {_DISK_NOTE}".strip()
        if state is RunState.FAILED:  # before the state, so that who reads the one finds the other
            with suppress(OSError):
                self._directory.write_diagnosis(
                    diagnose(self._records.log.ending, exit_code, self._circumstances()).to_json()
                )
        phase = self._records.log.phase
        self._write(state=state, reason=reason, exit_code=exit_code, ended_at=self._clock(), phase=phase)

    def _circumstances(self) -> Circumstances:
        oom = read_oom_kills().since(self._oom_before)
        trainer = self._plan.config_argument is ConfigArgument.HF
        config = None
        with suppress(DocumentError):
            config = Document(self._directory.read_config())
        return Circumstances(config, self._plan.arguments, self._plan.ranks, trainer, oom.machine, oom.group)

    def _judge(self, exit_code: int) -> tuple[RunState, str]:
        if self._status.state is RunState.STOPPING:
            return RunState.STOPPED, "Stopped on request."
        return verdict(exit_code, self._records.log.ending, self._left)

    def _write(self, **changes: Any) -> None:
        with self._writing:
            self._status = replace(self._status, **changes)
            try:
                self._directory.write_status(self._status)
            except OSError as error:
                print(f"the disk refused the state: {error}", file=sys.stderr, flush=True)


class Wakeup:
    """Turns signals into something a selector can wait for: SIGTERM and SIGINT ask for a stop, SIGCHLD only wakes."""

    def __init__(self, ask_stop: Callable[[], None]) -> None:
        self._ask_stop = ask_stop
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> "Wakeup":
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        # Handlers, not SIG_IGN: what is ignored would be ignored by the run's processes too.
        handlers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
            signal.SIGTERM: lambda number, frame: self._ask_stop(),
            signal.SIGINT: lambda number, frame: self._ask_stop(),
            signal.SIGHUP: lambda number, frame: None,
            signal.SIGCHLD: lambda number, frame: None,
        }
        for number, handler in handlers.items():
            signal.signal(number, handler)
        return self

    def clear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self.descriptor, 4096)

    def __exit__(self, *exception: object) -> None:
        # The process ends next: until then a late SIGTERM still finds the handlers, and hurts nothing.
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._write)


def end_lost(directory: RunDirectory, ready: Callable[[], None], grace_s: float = GRACE_S) -> None:
    """Ends what is left of a run whose supervisor is gone, and says so in its state."""
    plan, status = directory.read_plan(), directory.read_status() or RunStatus()
    process: Identity | None = status.process
    left = members(plan.run_id, process)
    locks = held_build_locks(left)
    status = replace(status, state=RunState.STOPPING, supervisor=identify(os.getpid()), reason="")
    directory.write_status(status)
    ready()
    while end_tree(plan.run_id, process, grace_s):
        grace_s = 0
    remove_shared_buffers(plan.master_port)
    remove_stale_locks(locks)
    reason = f"Its supervisor was gone; Stop ended what still ran of it (processes {_listed(sorted(left))})."
    directory.write_status(replace(status, state=RunState.STOPPED, reason=reason, ended_at=time.time()))


def main(arguments: Sequence[str] | None = None) -> int:
    """0 once the run's own process has taken over."""
    parser = argparse.ArgumentParser(prog="dsgui.supervise", description="Own one run until its last process is gone.")
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--end", action="store_true", help="end what is left of a run whose supervisor is gone")
    parser.add_argument("--grace", type=float, default=GRACE_S, help="seconds between TERM and KILL")
    options = parser.parse_args(arguments)
    directory = RunDirectory(options.run_dir.absolute())
    if options.end:
        return detach(lambda ready: end_lost(directory, ready, options.grace))
    return detach(lambda ready: supervise(directory, ready, options.grace))


def supervise(directory: RunDirectory, ready: Callable[[], None], grace_s: float) -> None:
    """Raises `RunError` when the plan can't be read."""
    plan = directory.read_plan()
    supervisor = Supervisor(directory, plan, lambda: Telemetry(Gpus(load_nvml(), plan.gpu_indices)), grace_s)
    try:
        supervisor.run(ready)
    except Exception as error:
        supervisor.give_up(error)
        raise


def detach(work: Callable[[Callable[[], None]], None]) -> int:
    """Forks; the child does `work` and ends. The parent returns 0 once the child calls `ready`, else 1."""
    said, saying = os.pipe()
    if os.fork():
        os.close(saying)
        with open(said, "rb") as file:
            return 0 if file.read(1) else 1
    os.close(said)
    code = 1
    try:
        work(lambda: _say(saying))
        code = 0
    except DsguiError as error:
        print(error, file=sys.stderr)
    except Exception:  # noqa: BLE001  the outermost boundary of a process with no other place to tell it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _say(descriptor: int) -> None:
    os.write(descriptor, b"1")
    os.close(descriptor)


def _say_removed(names: Sequence[str]) -> None:
    if names:
        print(f"removed what was left: {' '.join(names)}", file=sys.stderr, flush=True)


def _listed(pids: Sequence[int]) -> str:
    return ", ".join(str(pid) for pid in pids)


if __name__ == "__main__":
    sys.exit(main())
