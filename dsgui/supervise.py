"""The detached process that owns one run: starts it, drains it, samples, writes its state, ends it.

    python -m dsgui.supervise RUN_DIR          start what plan.json says, and stay until its last process is gone
    python -m dsgui.supervise RUN_DIR --end    end what is left of a run whose supervisor is gone

SIGTERM stops the run, a second one kills it at once; SIGUSR1 asks its ranks to save and end. The command itself returns
at once: a fork of it does the work, below two guardians that start another where it is killed (decision 015).
"""

import argparse
import contextlib
import fcntl
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dsgui.core.access.secrets import Masker, secret_arguments, secret_values
from dsgui.core.config.document import Document
from dsgui.core.diagnosis.diagnosis import diagnose, why_failed
from dsgui.core.diagnosis.ending import likely_code, verdict
from dsgui.core.diagnosis.evidence import modules_missing
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.errors import DocumentError, RunError
from dsgui.core.launch.command import MARKER, environment
from dsgui.core.launch.handing import trainers_part
from dsgui.core.launch.limits import limit_reached, limit_told
from dsgui.core.launch.log_folders import sources
from dsgui.core.launch.plan import Plan, WhenBusy, shared_devices
from dsgui.core.launch.state import Identity, RunState, RunStatus
from dsgui.core.logs.phases import STARTS, Since
from dsgui.core.metrics.points import Event
from dsgui.core.notify.webhook import Message
from dsgui.core.texts.saying import Said, as_told, said
from dsgui.shell.files.json_files import UNREADABLE
from dsgui.shell.launch.asked_paths import script_source
from dsgui.shell.launch.backend import Ended, what_is_left
from dsgui.shell.launch.guardian import dismiss, guarded, is_guarded, new_guardian, stand_by
from dsgui.shell.launch.keeping import Keeping
from dsgui.shell.launch.launched import Launched, drain_until_end
from dsgui.shell.launch.ports import free_port, is_free
from dsgui.shell.launch.where import backend_of
from dsgui.shell.logs.growing import Appender
from dsgui.shell.logs.past import adding
from dsgui.shell.logs.records import Records, note
from dsgui.shell.logs.sources import SourceReader, Watch
from dsgui.shell.machine.leftovers import (
    build_locks,
    extensions_folder,
    held_build_locks,
    remove_shared_buffers,
    remove_stale_locks,
)
from dsgui.shell.machine.provenance import provenance
from dsgui.shell.memory.constants import learn
from dsgui.shell.metrics.nodes import Nodes, folders_written
from dsgui.shell.metrics.nvml import Cards, load_nvml
from dsgui.shell.metrics.proc import Marked
from dsgui.shell.metrics.telemetry import DiskWatch, GpuWatch, Telemetry
from dsgui.shell.notify.notifier import Notifier, asked_webhook
from dsgui.shell.processes.detached import Wakeup, detach
from dsgui.shell.processes.ends import Ends
from dsgui.shell.processes.oom import address_space_limit, read_oom_kills
from dsgui.shell.processes.processes import (
    Kin,
    ProcessStat,
    become_subreaper,
    end_tree,
    forbidden,
    identify,
    is_alive,
    members,
    ranks,
    read_stat,
    reap,
    send_signal,
    supervises,
    wake_when_parent_ends,
)
from dsgui.shell.runs.kept_end import forget, insist
from dsgui.shell.runs.liveness import owners
from dsgui.shell.runs.store import RunDirectory, Store
from dsgui.shell.runs.turns import Queue
from dsgui.shell.script.packages_above import packages_above

GRACE_S = 10.0
SETTLE_S = 2.0  # what outlives the launcher may be about to end by itself
SAMPLE_S = 1.0
_CLOCK_SLACK_S = 2.0  # what keeping the right time moves a clock by anyway
_POLL_S = 0.1
_READ_BYTES = 1 << 18
# Lines that come one by one are read some at a time: waking for each costs more than reading it.
_READ_PAUSE_S = 0.1
_CALM_BYTES = 1 << 16
# What was read since the last save is read again by another supervisor, so it is no loss, but it takes memory. What the
# script wrote to files is saved at once. Saving takes at most so much of the time.
_SAVE_S, _SAVING, _UNSAVED_BYTES = 1.0, 0.02, 4 << 20
_NEW_GUARDIAN_S = 10.0
_MOST_FAULTS = 20  # of supervisors that could not take over: some five seconds apart by then
_COMPILERS = frozenset(
    {"cc1plus", "cc1", "c++", "g++", "clang", "clang++", "nvcc", "cicc", "ptxas", "hipcc", "as", "ld"}
)
_DISK_NOTE = said("reasons", "disk_refuses")


# Alerts that a webhook is told of, and as what.
_TOLD_ELSEWHERE = {
    **dict.fromkeys(("nan", "nan_in_file", "infinite", "infinite_in_file"), "nan"),
    "stalled": "stall",
}
# What a supervisor knows beside its state, its records and its sources.
_KEPT = ("_plan", "_save_told", "_oom_before", "_left", "_locks", "_since", "_elsewhere", "_fault_told", "_limit")


def phase_of(logged: str, program_names: Set[str]) -> str:
    """The phase that the output tells, or "compiling" where a compiler works before the training: DeepSpeed compiles
    some operators without a word."""
    return "compiling" if logged in STARTS and program_names & _COMPILERS else logged


class Supervisor:
    """Owns one run from its first process to its last."""

    def __init__(
        self,
        directory: RunDirectory,
        plan: Plan,
        make_telemetry: Callable[[], Telemetry],
        grace_s: float = GRACE_S,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        make_nodes: Callable[[Plan], Nodes] = Nodes,
        keeping: Keeping | None = None,
        records_in: RunDirectory | None = None,
    ) -> None:
        """`records_in`: another folder for the files that grow, where the run's own takes none."""
        self._keeping = keeping or Keeping.make()
        self._directory, self._plan, self._backend = directory, plan, backend_of(plan)
        self._make_telemetry, self._make_nodes = make_telemetry, make_nodes
        self._grace_s, self._clock, self._monotonic = grace_s, clock, monotonic
        values = secret_values({**os.environ, **environment(plan, os.environ)})
        webhook, unusable = asked_webhook(os.environ)
        address = webhook.secrets if webhook else ()
        self._masker = Masker((*values, *secret_arguments(plan.arguments), *address))
        self._records = Records(records_in or directory, monotonic, self._elapsed_s, self._masker, self._tell_alert)
        self._notifier = Notifier(webhook, self._note_sent, unusable)
        waits = plan.when_busy is WhenBusy.WAIT
        state = RunState.QUEUED if waits else RunState.PENDING
        self._status = RunStatus(
            state,
            supervisor=identify(os.getpid()),
            started_at=clock(),
            begun_s=monotonic(),
            guardians=self._keeping.facts.guardians,
        )
        self._writing = threading.Lock()
        self._save_told = False
        self._kin = Kin([os.getpid()])
        self._kin_of: frozenset[int] = frozenset()
        self._oom_before = read_oom_kills()
        self._left = 0
        self._ends = Ends()
        self._locks: set[Path] = set()
        self._since = Since()
        self._telemetry: Telemetry | None = None
        self._nodes: Nodes | None = None
        self._sources: SourceReader | None = None
        self._limit: Said | None = None  # that was reached
        self._exited_at: float | None = None
        self._machine_failed_at: float | None = None
        self._ending: threading.Thread | None = None
        self._elsewhere: tuple[Ended, ...] = ()
        self._save_due_s = self._guardian_due_s = 0.0
        self._refusal = ""  # why the folder did not take the last state
        self._diagnosis: Mapping[str, Any] | None = None
        self._guardian: subprocess.Popen[bytes] | None = None  # that this process started
        self._process: Launched | None = None
        self._running: Mapping[int, ProcessStat] = {}  # as it was looked for last
        self._fault_told = self._save_refused = False
        self.follows = False  # whether it has taken over from another

    def run(self, ready: Callable[[], None]) -> None:
        """`ready` is called once the state is on the disk."""
        become_subreaper()
        with Wakeup(self._ask) as wakeup:  # before the state names this process as the one to signal
            wake_when_parent_ends()
            if self._has_ended():
                ready()  # the supervisor that wrote so may not have come to it
                return
            if process := self._go_on():
                self.follows = True
                ready()
            else:
                process = self._begin(wakeup, ready)
            if process is None:
                return
            self._process = process
            self._follow(process, wakeup)
            process.wait()
            self._finish(process.exit_code)

    def give_up(self, error: Exception) -> None:
        """A fault of dsgui's own ends no training, and leaves no run that nobody owns: what is printed is taken until
        the run ends or is stopped, and kept nowhere."""
        self._tell_fault(error)
        launcher = self._keeping.facts.launcher
        process = self._process or (Launched(launcher, self._keeping) if launcher else None)
        if process:
            drain_until_end(process, self._keeping, lambda: self._stops > 0, self._beat)
        self._bear(self._end_all)
        if process is None:
            self._write_end(state=RunState.FAILED, reasons=_reasons("supervisor_failed", error=repr(error)))
            return
        if self._stops:
            self._status = replace(self._status, state=RunState.STOPPING)
        process.poll()
        state, told = self._judged(process.exit_code)
        reasons = (*told, *_reasons("records_missing", error=repr(error)))
        self._write_end(state=state, reasons=reasons, exit_code=process.exit_code)

    # -- faults of dsgui's own -------------------------------------------------------------------------------------

    def _bear(self, work: Callable[[], object]) -> bool:
        """Whether it went well. A fault of dsgui's own ends no training: it is told, and all else goes on."""
        try:
            work()
        except Exception as error:  # noqa: BLE001
            self._tell_fault(error)
            return False
        return True

    def _tell_fault(self, error: Exception) -> None:
        """The first of a run."""
        if self._fault_told:
            return
        self._fault_told = True
        with suppress(Exception):
            note("a fault of dsgui's own; the training goes on:\n" + "".join(traceback.format_exception(error)))
            self._records.take_event(Event.of("alert", said("alerts", "own_fault"), subject="dsgui"))

    # -- beginning -------------------------------------------------------------------------------------------------

    def _begin(self, wakeup: Wakeup, ready: Callable[[], None]) -> "Launched | None":
        """None where there is nothing to follow; the state then says why."""
        with suppress(OSError):
            self._directory.reserve()
        self._write()
        if waited := self._status.state is RunState.QUEUED:
            ready()
            self._wait_in_queue(wakeup)
        takes_seconds = self._backend.TAKES_SECONDS
        if takes_seconds and not waited:
            ready()
        process = self._start()
        if not takes_seconds and not waited:
            ready()
        if process is None:
            self._records.finish()
            self._directory.give_up_reserve()
        return process

    def _has_ended(self) -> bool:
        """Whether another supervisor had written how the run ended, and was killed then."""
        written = self._directory.read_status()
        if written and written.state.live:
            guardians = self._keeping.facts.guardians
            self._status = replace(written, supervisor=self._status.supervisor, guardians=guardians)
        return bool(written and not written.state.live)

    def _go_on(self) -> "Launched | None":
        """With what another supervisor had begun when it was killed; None where no process of the run was started."""
        state = self._keeping.load()
        if not (state and self._keeping.facts.starting):
            return None
        identity = self._keeping.facts.launcher
        if identity is None:
            return None
        self._restore(state)
        stopping = self._status.state is RunState.STOPPING
        self._write(state=RunState.STOPPING if stopping else RunState.RUNNING, process=identity)
        for chunk in self._keeping.unsaved():
            self._take_output(chunk)
        if self._keeping.has_gap:
            self._bear(self._records.leave_gap)
        self._records.forget_before()
        self._save()
        if self._sources:
            self._bear(self._sources.start)
        return Launched(identity, self._keeping)

    def _wait_in_queue(self, wakeup: Wakeup) -> None:
        queue = Queue(Store(self._directory.place.parent))
        with selectors.DefaultSelector() as selector:
            selector.register(wakeup.descriptor, selectors.EVENT_READ)
            while not self._stops and not self._directory.is_deleted and not self._has_turn(queue):
                self._beat()
                selector.select(SAMPLE_S)
                wakeup.clear()
        if not self._stops and not is_free(self._plan.master_port):  # taken while it waited
            self._plan = replace(self._plan, master_port=free_port())
            self._directory.write_plan(self._plan, None)

    def _has_turn(self, queue: Queue) -> bool:
        try:
            return self._takes_turn(queue)
        except RunError as error:  # the folder of all runs is not there now, or takes nothing
            self._write(reasons=(as_told(str(error)),))
            return False

    def _takes_turn(self, queue: Queue) -> bool:
        """Raises `RunError`."""
        with queue.turn():
            before = queue.before(self._plan)
            if not before:
                self._write(state=RunState.PENDING, reasons=(), started_at=self._clock(), begun_s=self._monotonic())
            elif (reasons := (waits_for(self._plan, before),)) != self._status.reasons:
                self._write(reasons=reasons)
        return not before

    def _start(self) -> "Launched | None":
        """None where there is nothing to follow; the state then says why."""
        if self._stops or self._directory.is_deleted:
            return self._stopped_early()
        given = environment(self._plan, os.environ)
        with suppress(OSError):
            self._directory.write_provenance(provenance(self._plan))
        self._sources = SourceReader(
            Watch(sources(self._plan, self._config()), self._is_foreign)
        )  # it sees what was there before
        if not self._save():  # nobody could go on with the run, nor know that it was started
            self._write_end(state=RunState.FAILED, reasons=_reasons("no_memory_for_state"))
            return None
        # Left by something that was killed while it compiled, or by a machine that went down: DeepSpeed would wait.
        _say_removed(remove_stale_locks(build_locks(extensions_folder(given))))
        try:
            with self._backend.starting(self._plan, given) as start:
                if self._stops:  # meanwhile
                    return self._stopped_early()
                self._keeping.tell(starting=True)
                popen = subprocess.Popen(
                    start.command,
                    cwd=self._plan.working_directory,
                    env=start.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=self._keeping.into,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=start.descriptors,
                    preexec_fn=self._keeping.be_launcher,  # no thread was started before
                )
        except (OSError, ValueError, RunError, subprocess.SubprocessError) as error:
            self._write_end(state=RunState.FAILED, reasons=_reasons("not_started", error=str(error)))
            return None
        identity = self._keeping.facts.launcher
        assert identity is not None  # else it would not have been started
        self._keeping.tell(launcher=identity.to_json())
        if identity.pid != popen.pid:  # a supervisor that was killed then had started it
            popen.wait()
        return self._launched(identity, popen if identity.pid == popen.pid else None)

    def _launched(self, identity: Identity, popen: "subprocess.Popen[bytes] | None" = None) -> Launched:
        self._write(state=RunState.RUNNING, process=identity)
        if self._sources:
            self._bear(self._sources.start)
        return Launched(identity, self._keeping, popen)

    def _config(self) -> dict[str, Any]:
        with suppress(DocumentError):
            return Document(self._directory.read_config()).value
        return {}

    def _is_foreign(self, pid: int) -> bool:
        """Whether a living process is none of the run's."""
        return identify(pid) is not None and pid not in self._family()

    def _stopped_early(self) -> "Launched | None":
        """What a supervisor that was killed is about to start is the launcher already, or is none any more."""
        self._keeping.tell(launcher=None)
        if launcher := self._keeping.facts.launcher:
            return self._launched(launcher)
        self._write_end(state=RunState.STOPPED, reasons=_reasons("stopped_before_start"))
        return None

    # -- following -------------------------------------------------------------------------------------------------

    def _follow(self, process: "Launched", wakeup: Wakeup) -> None:
        for opening in (self._open_nodes, self._open_telemetry):
            self._bear(opening)
        with selectors.DefaultSelector() as selector:
            for source in (self._keeping.output, wakeup.descriptor, self._ends):
                selector.register(source, selectors.EVENT_READ)
            next_sample = time.monotonic() + SAMPLE_S
            self._tick(process)  # however short the run, it has one sample
            while not self._over(process):
                if not self._bear(partial(self._attend, selector, wakeup, next_sample)):
                    time.sleep(_POLL_S)
                if time.monotonic() >= next_sample:
                    next_sample = time.monotonic() + SAMPLE_S
                    self._tick(process)
        self._bear(self._drain_rest)

    def _open_nodes(self) -> None:
        self._nodes = self._make_nodes(self._plan)

    def _open_telemetry(self) -> None:
        self._telemetry = self._make_telemetry()

    def _attend(self, selector: selectors.BaseSelector, wakeup: Wakeup, next_sample: float) -> None:
        """Waits for whatever comes first, at most until the next sample is due."""
        output = self._keeping.output
        for key, _ in selector.select(self._patience(next_sample)):
            if key.fd == output and not (took := self._drain(_READ_BYTES)):
                selector.unregister(output)
            elif key.fd == output and took < _CALM_BYTES:
                wakeup.wait(_READ_PAUSE_S)
        wakeup.clear()
        self._bear(self._see_to_ends)
        self._bear(self._see_to_guardians)

    def _see_to_ends(self) -> None:
        self._ends.watch(self._records.log.ending.spawned)
        self._ends.take()

    def _patience(self, next_sample: float) -> float:
        left = max(next_sample - time.monotonic(), 0)
        return min(left, _POLL_S) if self._exited_at is not None or self._ending else left

    def _drain(self, limit: int) -> int:
        """Takes what is there; how many bytes, -1 where there is nothing now, 0 when there will be nothing more."""
        try:
            chunk = self._keeping.take(limit)
        except BlockingIOError:
            return -1
        if chunk:
            self._take_output(chunk)
            full = self._keeping.unsaved_bytes > _UNSAVED_BYTES and not self._save_refused
            if full or time.monotonic() >= self._save_due_s:
                self._save()
        return len(chunk)

    def _drain_rest(self) -> None:
        while self._drain(_READ_BYTES) > 0:
            pass

    def _take_output(self, chunk: bytes) -> None:
        self._bear(partial(self._records.take_output, chunk))

    # -- outliving this process ------------------------------------------------------------------------------------

    def _save(self) -> bool:
        """All that another supervisor needs to go on from here; whether it is kept now."""
        began = time.monotonic()
        try:
            self._keeping.save(pickle.dumps(self._state()))
            self._save_refused = False
        except Exception as error:  # noqa: BLE001  no memory, or a fault of dsgui's: the one before it stays
            if not self._save_refused:
                note(f"the state could not be kept for another supervisor: {error!r}")
            self._save_refused = True
        now = time.monotonic()
        self._save_due_s = now + max((now - began) / _SAVING, _SAVE_S)
        return not self._save_refused

    def _state(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in _KEPT}
        kept["sources"] = self._sources.state() if self._sources else None
        return kept | {"ended": self._ends.order, "records": self._records.state()}

    def _restore(self, pickled: bytes) -> None:
        state: Mapping[str, Any] = pickle.loads(pickled)
        for name in _KEPT:
            setattr(self, name, state[name])
        self._ends.go_on(state["ended"])
        self._records.restore(state["records"])
        if state["sources"]:
            watched, found = state["sources"]
            self._sources = SourceReader(Watch.restored(watched, self._is_foreign), found=found)

    def _see_to_guardians(self) -> None:
        """Where none is left, this process starts one."""
        if time.monotonic() < self._guardian_due_s or is_guarded(self._keeping):
            return
        self._guardian_due_s = time.monotonic() + _NEW_GUARDIAN_S
        try:
            self._guardian = new_guardian(self._keeping, self._directory, self._grace_s)
        except OSError as error:
            note(f"no guardian could be started: {error}")

    def _tick(self, process: "Launched") -> None:
        parts: tuple[Callable[[], object], ...] = (
            *(self._beat, self._see_to_state, partial(self._look_and_sample, process), self._take_from_files),
            *(self._notice_clock, self._records.look_for_patterns, self._records.write_progress, self._tell_phase),
            self._notifier.look,
        )
        for part in parts:
            self._bear(part)

    def _look_and_sample(self, process: "Launched") -> None:
        kin = self._look(process)
        reap(process.pid, kin)
        ours = self._owners | (self._nodes.pids if self._nodes else set())
        self._running = {pid: stat for pid, stat in kin.items() if not stat.zombie and pid not in ours}
        self._sample(self._running)

    def _take_from_files(self) -> None:
        if self._sources and (points := self._sources.take()):
            self._records.take_points(points)
            self._save()

    @property
    def _phase(self) -> str:
        return phase_of(self._records.log.phase, {stat.name for stat in self._running.values()})

    def _tell_phase(self) -> None:
        phase = self._phase
        if phase == "compiling":
            self._locks |= held_build_locks(self._running)
        guardians = self._keeping.facts.guardians
        if phase != self._status.phase:
            at_s = self._since.of(phase, self._status.phase, self._elapsed_s())
            self._write(phase=phase, phase_at_s=round(at_s, 3), guardians=guardians)
        elif guardians != self._status.guardians:
            self._write(guardians=guardians)
        if self._records.refused and not self._status.reasons:
            self._write(reasons=(_DISK_NOTE,))  # said at once; the training is left alone

    def _beat(self) -> None:
        with suppress(OSError):
            self._directory.beat(self._monotonic())

    def _see_to_state(self) -> None:
        """Writes it again where the folder refused it, or holds something else in its place."""
        if self._refusal or (self._directory.status_damage() and not self._directory.is_deleted):
            self._write()

    def _sample(self, family: Collection[int]) -> None:
        elapsed_s = round(self._elapsed_s(), 3)
        is_compiling = self._phase == "compiling"
        if self._telemetry:
            sample = replace(self._telemetry.sample(family), elapsed_s=elapsed_s)
            self._records.take_sample(sample, is_compiling=is_compiling)
        if self._nodes:
            for node, sample in self._nodes.take():
                self._records.take_sample(sample, node, is_compiling=is_compiling)
            if self._ending is None and self._exited_at is None:
                self._nodes.ask(elapsed_s)
        if (lacks := self._lacks()) != self._status.lacks:
            self._write(lacks=lacks)

    def _lacks(self) -> tuple[Said, ...]:
        """What the samples lack."""
        here = self._telemetry.lacks if self._telemetry else ()
        elsewhere = self._nodes.lacks if self._nodes else ()
        return (*(said("sampling", code, **dict(given)) for code, given in here), *elsewhere)

    def _elapsed_s(self) -> float:
        return self._monotonic() - (self._status.begun_s or 0.0)

    def _notice_clock(self) -> None:
        """Files saved after the clock was set look older or newer than the run: whoever looks for them must know."""
        back_s = (self._status.started_at or 0.0) + self._elapsed_s() - self._clock()
        if back_s > self._status.clock_back_s + _CLOCK_SLACK_S:
            self._write(clock_back_s=back_s)
        if -back_s > self._status.clock_ahead_s + _CLOCK_SLACK_S:
            self._write(clock_ahead_s=-back_s)

    @property
    def _owners(self) -> frozenset[int]:
        """The pids of this process, of the guardians that live, and of what tells of the run elsewhere."""
        guardians = (one.pid for one in self._keeping.facts.guardians if is_alive(one))
        return frozenset((os.getpid(), *guardians)) | self._notifier.pids

    def _look(self, process: "Launched") -> dict[int, ProcessStat]:
        """Whatever descends from this process or a guardian, by pid; zombies and nodes' clients too."""
        if (owners := self._owners) != self._kin_of:
            self._kin, self._kin_of = Kin(owners), owners
        kin = self._kin.look()
        return kin if process.pid in kin or not process.runs_on else kin | self._family()

    def _family(self) -> dict[int, ProcessStat]:
        """The run's living processes, by pid."""
        pids = members(self._plan.run_id, self._status.process, self._owners)
        ours = pids - (self._nodes.pids if self._nodes else set())
        return {pid: stat for pid in ours if (stat := read_stat(pid))}

    # -- ending ----------------------------------------------------------------------------------------------------

    def _ask(self, number: int) -> None:
        """From a signal handler."""
        self._keeping.ask(number)

    @property
    def _stops(self) -> int:
        """How often Stop was requested, by a limit of its plan too."""
        return sum(number != signal.SIGUSR1 for number in self._keeping.facts.asked) + (self._limit is not None)

    @property
    def _save_asked(self) -> bool:
        return signal.SIGUSR1 in self._keeping.facts.asked

    def _ask_to_save(self) -> None:
        """What the HF Trainer's just-in-time checkpoint understands; the launcher is left alone, it would end them."""
        self._save_told = True
        for pid in ranks(self._family()):
            if identity := identify(pid):
                send_signal(identity, signal.SIGTERM)
        self._write(reasons=_reasons("save_asked"))

    def _over(self, process: "Launched") -> bool:
        """Whether the last process is gone; begins the ending when it is time to."""
        try:
            return self._looks_over(process)
        except Exception as error:  # noqa: BLE001  then with as little as can fail
            self._tell_fault(error)
        exited = not process.poll()
        if self._ending is None and (exited or self._stops):
            self._bear(self._start_ending)
        return exited and self._ending is not None and not self._ending.is_alive()

    def _looks_over(self, process: "Launched") -> bool:
        exited = not process.poll()
        if self._ending is not None:
            return exited and not self._ending.is_alive()
        if not exited:
            self._limit = self._limit or limit_reached(self._plan, self._records.step, self._elapsed_s())
            if self._stops or self._status.state is RunState.STOPPING:
                if self._status.state is not RunState.STOPPING:
                    kill_due_s = self._monotonic() + self._grace_s
                    self._write(state=RunState.STOPPING, kill_due_s=kill_due_s, reasons=())
                    self._records.take_event(Event.of("stop", self._why_stopped()))
                    self._save()
                self._begin_ending()
            elif self._save_asked and not self._save_told:
                self._ask_to_save()
            elif self._waits_in_vain():
                self._begin_ending()
            return False
        return self._nothing_left()

    def _why_stopped(self) -> Said:
        return said("events", "limit_reached", limit=self._limit) if self._limit else said("events", "stop_asked")

    def _waits_in_vain(self) -> bool:
        """Whether one of several machines failed a while ago: the others may wait for its ranks for ever."""
        if not self._records.log.ending.machine:
            return False
        now = time.monotonic()
        self._machine_failed_at = now if self._machine_failed_at is None else self._machine_failed_at
        return now - self._machine_failed_at >= self._grace_s

    def _nothing_left(self) -> bool:
        """After the launcher has ended: waits a little for the others, then ends them."""
        self._leave_nodes()
        now = time.monotonic()
        self._exited_at = now if self._exited_at is None else self._exited_at
        left = len(self._family())
        if self._backend.OUT_OF_SIGHT:
            self._left = left
            self._begin_ending()
            return False
        if left and (self._stops or now - self._exited_at >= SETTLE_S):
            self._left = left
            self._begin_ending()
        return not left

    def _leave_nodes(self) -> None:
        if self._nodes:
            self._nodes.leave()

    def _begin_ending(self) -> None:
        self._leave_nodes()
        self._locks |= held_build_locks(self._family())
        self._start_ending()

    def _start_ending(self) -> None:
        # A thread, since what is ending may still print, and nobody can end while its output is stuck in a full pipe.
        ending = threading.Thread(target=self._end, name="ending")
        ending.start()
        self._ending = ending

    def _end(self) -> None:
        grace_s, process = self._grace_s, self._status.process
        if self._status.kill_due_s is not None:  # another supervisor may have begun it
            grace_s = min(max(self._status.kill_due_s - self._monotonic(), 0), grace_s)
        hurry = lambda: self._stops > 1  # noqa: E731 — the second Stop
        try:
            self._elsewhere = self._backend.end(self._plan, process, grace_s, hurry)
        finally:
            while survivors := end_tree(self._plan.run_id, process, grace_s, self._owners, hurry):
                self._write(reasons=(why_they_stay(survivors),))
                grace_s = 0
        if self._stops:
            self._elsewhere = self._backend.end_late(self._plan, self._elsewhere, hurry)

    def _end_all(self) -> None:
        """At once, everywhere, after a fault."""
        try:
            self._backend.end(self._plan, self._status.process, self._grace_s, lambda: False)
        finally:
            end_tree(self._plan.run_id, self._status.process, self._grace_s, self._owners)

    def _finish(self, exit_code: int | None) -> None:
        if not self._records.finished:  # when another supervisor had come this far
            for part in (self._take_last_points, self._records.finish, self._save):
                self._bear(part)
        self._bear(lambda: _say_removed(remove_shared_buffers(self._plan.master_port)))
        self._bear(lambda: _say_removed(remove_stale_locks(self._locks)))
        state, reasons = self._judged(exit_code)
        for part in (self._close_sources, lambda: reap(spare=0), self._ends.close, self._directory.give_up_reserve):
            self._bear(part)
        if state is RunState.FAILED:  # before the state, so that who reads the one finds the other
            reasons = self._why(exit_code, reasons)
        if self._records.refused:
            reasons = (*reasons, _DISK_NOTE)
        phase = self._records.log.phase
        with contextlib.ExitStack() as held:
            # A pattern that was added meanwhile is read by nobody else.
            self._bear(lambda: held.enter_context(adding(self._directory)))
            self._write_end(state=state, reasons=reasons, exit_code=exit_code, phase=phase, kill_due_s=None)
            self._bear(self._records.read_late_patterns)
        if state is RunState.SUCCEEDED and not self._plan.elsewhere:
            self._bear(self._learn_constants)

    def _learn_constants(self) -> None:
        """What it took of memory beside its tensors: the next prediction is made with it."""
        progress = self._records.log.progress
        with suppress(*UNREADABLE):
            learn(
                self._plan.run_id, self._directory.read_foretold(), self._records.peak, progress.step if progress else 0
            )

    def _take_last_points(self) -> None:
        if self._sources:
            self._records.take_points(self._sources.finish())

    def _close_sources(self) -> None:
        self._status = replace(self._status, lacks=self._lacks())
        for source in (self._telemetry, self._nodes):
            if source:
                source.close()

    def _why(self, exit_code: int | None, otherwise: tuple[Said, ...]) -> tuple[Said, ...]:
        try:
            return self._diagnose(exit_code)
        except Exception as error:  # noqa: BLE001  that it failed is told all the same
            self._tell_fault(error)
            return otherwise

    def _judged(self, exit_code: int | None) -> tuple[RunState, tuple[Said, ...]]:
        try:
            return self._judge(exit_code)
        except Exception as error:  # noqa: BLE001  how it ended is told in any case
            self._tell_fault(error)
        if self._status.state is RunState.STOPPING:
            return RunState.STOPPED, _reasons("only_stopped")
        if exit_code == 0:
            return RunState.SUCCEEDED, ()
        if exit_code is None:
            return RunState.FAILED, _reasons("only_ended")
        return RunState.FAILED, _reasons("only_ended_with_code", code=str(exit_code))

    def _first_ended(self) -> int | None:
        """The rank whose process ended before the others', but for those that ended well."""
        ending = self._records.log.ending
        failed = (pid for pid in self._ends.order if pid not in ending.ended_well)
        pid = next(failed, None)
        return None if pid is None or self._plan.elsewhere else ending.rank_of(pid)

    def _diagnose(self, told: int | None) -> tuple[Said, ...]:
        """Keeps why the run failed; returns it in sentences."""
        ending = self._records.log.ending
        found = diagnose(ending, likely_code(told, ending), self._circumstances())
        self._diagnosis = found.to_json()
        with suppress(OSError):
            self._directory.write_diagnosis(self._diagnosis)
        return why_failed(ending, told, self._left_anywhere, found)

    def _circumstances(self) -> Circumstances:
        oom = read_oom_kills().since(self._oom_before)
        part = trainers_part(self._plan.config_argument, script_source(self._plan.script), self._plan.arguments)
        config = None
        with suppress(DocumentError):
            config = Document(self._directory.read_config())
        return Circumstances(
            config,
            self._plan.arguments,
            self._plan.ranks,
            part.trains,
            takes_options=part.can_be_given_more,
            on_cpu=not self._plan.gpu_indices and not self._plan.elsewhere,
            first_ended=self._first_ended(),
            oom_kills=oom.machine,
            oom_kills_here=oom.group,
            memory_limit_bytes=oom.limit_bytes,
            address_space_bytes=address_space_limit(),
            above=self._above(),
            python_path=environment(self._plan, os.environ).get("PYTHONPATH", ""),
        )

    def _above(self) -> dict[str, str]:
        """Not where the script is a module."""
        plan, tracebacks = self._plan, self._records.log.ending.tracebacks
        asked = bool(plan.script) and not plan.elsewhere
        return packages_above(plan.script, modules_missing(tracebacks.found)) if asked else {}

    @property
    def _left_anywhere(self) -> int:
        """How many processes outlived the launcher and were ended."""
        return self._left + sum(one.told for one in self._elsewhere)

    def _judge(self, exit_code: int | None) -> tuple[RunState, tuple[Said, ...]]:
        if self._status.state is RunState.STOPPING and self._limit:
            limit = limit_told(self._limit, self._records.step)
            return RunState.STOPPED, _reasons("stopped_after", limit=limit, left=self._nothing_is_left())
        if self._status.state is RunState.STOPPING:
            return RunState.STOPPED, _reasons("stopped", left=self._nothing_is_left())
        state, reasons = verdict(exit_code, self._records.log.ending, self._left_anywhere)
        if self._save_told and state is RunState.SUCCEEDED:
            return RunState.STOPPED, (*_reasons("saved"), *reasons)
        return state, reasons

    def _nothing_is_left(self) -> Said:
        """Looked for, not assumed: by marker and session, and in the list of who holds GPU memory."""
        left = members(self._plan.run_id, self._status.process, self._owners)
        elsewhere = what_is_left(self._elsewhere)
        if left:
            found = said("reasons", "processes_left", pids=_listed(sorted(left)), elsewhere=elsewhere)
        else:
            found = said("reasons", "nothing_left", elsewhere=elsewhere)
        holding = self._telemetry.gpu_holders() if self._telemetry else None
        if holding is None:
            return found
        if holding:
            return said("reasons", "gpu_memory_held", left=found, pids=_listed(sorted(holding)))
        return said("reasons", "gpu_memory_free", left=found)

    def _write_end(self, **changes: Any) -> None:
        self._directory.sweep(self._clock())
        self._write(ended_at=self._clock(), lasted_s=self._elapsed_s(), **changes)
        if self._refusal and not self._directory.is_deleted:
            insist(self._directory, self._status, self._diagnosis, self._refusal, lambda: self._stops)
        elif not self._refusal:
            forget(self._directory)
        self._bear(self._tell_end)

    # -- telling elsewhere -----------------------------------------------------------------------------------------

    def _tell_alert(self, event: Event) -> None:
        """Of what may be worth ending the run; the rest is on its page."""
        kind = _TOLD_ELSEWHERE.get(event.said.code if event.said else "")
        if kind:
            self._bear(lambda: self._notifier.tell(self._message(kind, event.text, event.step)))

    def _tell_end(self) -> None:
        """The state is on the disk by now: whoever waits for it does not wait for a network."""
        state = self._status.state
        kind = "failed" if state is RunState.FAILED else "ended"
        lasted = f" after {self._status.lasted_s:.0f} s" if self._status.lasted_s is not None else ""
        text = f"{state.value}{lasted}. {self._status.reason}".strip()
        self._notifier.tell(self._message(kind, text, self._records.step))

    def close(self) -> None:
        """What is still being told of the run elsewhere has some seconds: the run itself is over."""
        self._bear(self._notifier.close)

    def _message(self, kind: str, text: str, step: int | None) -> Message:
        run, hidden = self._plan.run_id, self._masker.text
        return Message(kind, run, hidden(self._plan.name), self._status.state.value, hidden(text), step)

    def _note_sent(self, event: Event) -> None:
        """After the end the records are closed, and nobody else writes."""
        if not self._records.finished:
            self._records.take_event(event)
            return
        line = event.to_json() | {"elapsed_s": round(self._elapsed_s(), 3)}
        events = Appender(self._directory.events_file)
        try:
            events.write_json(line)
        finally:
            events.close()

    def _write(self, **changes: Any) -> None:
        with self._writing:
            self._status = replace(self._status, **changes)
            refused, self._refusal = self._refusal, ""
            try:
                self._directory.write_status(self._status)
            except OSError as error:
                self._write_with_reserve(error, told=bool(refused))

    def _write_with_reserve(self, error: OSError, told: bool) -> None:
        """The reserve is taken again at once: the output would fill what is left free, and there is another state."""
        try:
            if self._directory.give_up_reserve():
                self._directory.write_status(self._status)
                self._directory.reserve()
                return
        except OSError as again:
            error = again
        self._refusal = error.strerror or str(error)
        if not told:
            note(f"the disk refused the state: {error}")


def end_lost(directory: RunDirectory, ready: Callable[[], None], grace_s: float = GRACE_S) -> None:
    """Ends what is left of a run whose supervisor is gone, and says so in its state. Where another process does so by
    now, it does nothing."""
    with _alone(directory) as alone:
        if alone:
            _end_lost(directory, ready, grace_s)
        else:
            ready()


@contextlib.contextmanager
def _alone(directory: RunDirectory) -> Iterator[bool]:
    """Whether no other process ends what is left of the run. A folder that can't be locked keeps nobody from it."""
    with contextlib.ExitStack() as stack:
        try:
            descriptor = os.open(directory.plan_file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass
        yield True


def _end_lost(directory: RunDirectory, ready: Callable[[], None], grace_s: float) -> None:
    plan, status = _plan_if_any(directory), directory.read_status() or RunStatus()
    process: Identity | None = status.process
    hung = [owner for owner in _all_owners(directory, status) if supervises(owner, directory.run_id)]
    spared = [owner.pid for owner in hung]
    left = members(directory.run_id, process, spared)
    if not status.state.live and not left:  # another process has just done so
        ready()
        return
    locks = held_build_locks(left)
    stops: list[int] = []
    with Wakeup(stops.append):  # a second Stop kills at once
        identity, kill_due_s = identify(os.getpid()), time.monotonic() + grace_s
        before, begun_s = status.supervisor, status.begun_s
        if before is None or identity is None or before.boot_id != identity.boot_id:
            begun_s = None  # by the clock of a boot that is over: how long the run lasted is not known
        status = replace(
            status, state=RunState.STOPPING, supervisor=identity, begun_s=begun_s, reasons=(), kill_due_s=kill_due_s
        )
        with suppress(OSError):  # what is asked for is the end, whatever the folder takes
            directory.write_status(status)
        ready()
        hurry = partial(bool, stops)
        elsewhere = what_is_left(backend_of(plan).end(plan, process, grace_s, hurry) if plan else ())
        while end_tree(directory.run_id, process, grace_s, spared, hurry=hurry):
            grace_s = 0
        for owner in reversed(hung):  # guardians first: they would start another
            send_signal(owner, signal.SIGKILL)
    if plan:
        remove_shared_buffers(plan.master_port)
    remove_stale_locks(locks)
    directory.sweep(time.time())
    pids = _listed(sorted(left))
    here = said("reasons", "these_processes", pids=pids) if left else said("reasons", "nothing_here")
    if hung:
        reasons = _reasons("stopped_with_supervisor", pid=str(hung[0].pid), ended=here, elsewhere=elsewhere)
    else:
        reasons = _reasons("stopped_without_supervisor", ended=here, elsewhere=elsewhere)
    lasted_s = None if status.begun_s is None else time.monotonic() - status.begun_s
    ended = replace(
        status, state=RunState.STOPPED, reasons=reasons, ended_at=time.time(), lasted_s=lasted_s, kill_due_s=None
    )
    try:
        directory.write_status(ended)
    except OSError as error:
        if not directory.is_deleted:
            insist(directory, ended, None, error.strerror or str(error), lambda: len(stops))


def _all_owners(directory: RunDirectory, status: RunStatus) -> Sequence[Identity]:
    """Those that the state names, or else those that are there; the supervisor first."""
    found = None if status.supervisor else owners(directory)
    return found.owners if found else status.owners


def _plan_if_any(directory: RunDirectory) -> Plan | None:
    try:
        return directory.read_plan()
    except RunError:  # then what is known of the run is its id, which its processes carry
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """0 once the run's own process has taken over."""
    parser = argparse.ArgumentParser(prog="dsgui.supervise", description="Own one run until its last process is gone.")
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--end", action="store_true", help="end what is left of a run whose supervisor is gone")
    parser.add_argument("--guard", metavar="DESCRIPTORS", help="be a guardian of the run that they belong to")
    parser.add_argument("--run", metavar="ID", help="the run's id, where the folder has another name")
    parser.add_argument("--folder", metavar="DESCRIPTOR", type=int, help="the run's folder, as it was handed on open")
    parser.add_argument("--grace", type=float, default=GRACE_S, help="seconds between TERM and KILL")
    options = parser.parse_args(arguments)
    given = RunDirectory(options.run_dir.absolute(), options.run or "")
    directory = given.hold() if options.folder is None else given.held_by(options.folder)
    if options.end:
        return detach(lambda ready: end_lost(directory, ready, options.grace))
    if options.guard:
        descriptors = [int(number) for number in options.guard.split(",")]
        stand_by(descriptors, lambda keeping: supervise(directory, lambda: None, options.grace, keeping))
        return 0

    def guard(ready: Callable[[], None]) -> None:
        keeping = Keeping.make()
        guarded(keeping, lambda: supervise(directory, ready, options.grace, keeping))

    return detach(guard)


def supervise(
    directory: RunDirectory, ready: Callable[[], None], grace_s: float, keeping: Keeping | None = None
) -> None:
    """Returns at once where another process does. Raises `RunError` when the plan can't be read."""
    keeping = keeping or Keeping.make()
    if not keeping.claim():
        return
    begun, again = keeping.facts.starting, False
    supervisor: Supervisor | None = None
    try:
        plan = kept_plan(keeping) or directory.read_plan()
        follows = bool(keeping.load())
        with contextlib.ExitStack() as stack:
            records_in = stack.enter_context(_scratch(directory)) if follows and not _takes_files(directory) else None
            supervisor = Supervisor(
                directory, plan, lambda: _telemetry(plan), grace_s, keeping=keeping, records_in=records_in
            )
            supervisor.run(ready)
    except Exception as error:
        again = begun and not (supervisor and supervisor.follows) and _may_pass(keeping)
        if supervisor and not again:
            supervisor.give_up(error)
        elif begun and not again:
            _only_drain(directory, keeping, grace_s)
        raise
    finally:
        if not again:
            dismiss(keeping)
            if supervisor:
                supervisor.close()


def _only_drain(directory: RunDirectory, keeping: Keeping, grace_s: float) -> None:
    """What is left to do where there can be no supervisor: the training goes on until it ends or is stopped."""
    if launcher := keeping.facts.launcher:
        process = Launched(launcher, keeping)
        drain_until_end(process, keeping, lambda: bool(keeping.facts.asked))
        end_tree(directory.run_id, launcher, grace_s, [one.pid for one in keeping.facts.guardians])


def _may_pass(keeping: Keeping) -> bool:
    """Whether the next supervisor, which a guardian starts, may succeed where this one could not take over: memory,
    threads or descriptors may have been short for a moment."""
    keeping.tell(fault=True)
    return keeping.facts.faults <= _MOST_FAULTS and is_guarded(keeping)


def _takes_files(directory: RunDirectory) -> bool:
    """Whether records can go on here: not in a folder that was deleted, or on a disk that is read-only by now."""
    try:
        for path in (directory.output_file, directory.points_file, directory.events_file):
            Appender(path).close()
    except OSError as error:
        note(f"the folder takes no records any more: {error}")
        return False
    return True


@contextlib.contextmanager
def _scratch(directory: RunDirectory) -> Iterator[RunDirectory]:
    """A folder that goes at the end: the output must be read, or the training would be ended by writing it."""
    with tempfile.TemporaryDirectory(prefix="dsgui-records-", ignore_cleanup_errors=True) as name:
        yield RunDirectory(Path(name), directory.run_id, directory.launched_in)


def kept_plan(keeping: Keeping) -> Plan | None:
    """As another supervisor has left it: the file may be damaged or deleted since. None where it left nothing."""
    state = keeping.load()
    return pickle.loads(state)["_plan"] if state else None


def _telemetry(plan: Plan) -> Telemetry:
    gpus = GpuWatch(lambda: Cards(load_nvml(), plan.gpu_indices))
    marked = None if backend_of(plan).RANKS_ARE_KIN else Marked(f"{MARKER}={plan.run_id}")
    return Telemetry(gpus, disk=DiskWatch(folders_written(plan)), marked=marked)


def why_they_stay(survivors: Sequence[int]) -> Said:
    """A sentence on processes that SIGKILL did not end."""
    if others := forbidden(survivors):
        return said("reasons", "may_not_signal", pids=_listed(sorted(others)))
    return said("reasons", "not_exiting", pids=_listed(survivors))


def waits_for(plan: Plan, before: Sequence[Plan]) -> Said:
    """A sentence on whom a queued run waits for, and why."""
    given = {"devices": shared_devices(plan, before), "name": before[0].name, "run": before[0].run_id}
    if len(before) == 1:
        return said("reasons", "waits_for_run", **given)
    return said("reasons", "waits_for_runs", **given, count=str(len(before) - 1))


def _reasons(code: str, /, **given: str | Said) -> tuple[Said, ...]:
    return (said("reasons", code, **given),)


def _say_removed(names: Sequence[str]) -> None:
    if names:
        note(f"removed what was left: {' '.join(names)}")


def _listed(pids: Sequence[int]) -> str:
    return ", ".join(str(pid) for pid in pids)


if __name__ == "__main__":
    sys.exit(main())
