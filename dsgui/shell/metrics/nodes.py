"""The samples of a run's other machines: an agent on each, started over the ssh that starts the ranks, and asked once a
second. Nothing here waits for another machine.

The agent is dsgui's own modules, sent as text: nothing of dsgui needs to be installed there. It carries no marker of
the run, so that ending the run does not end it, and the end of its input does.
"""

import base64
import json
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from dsgui.core.launch.command import MARKER
from dsgui.core.launch.hostfile import Host
from dsgui.core.launch.plan import Plan
from dsgui.core.metrics.readable import readable
from dsgui.core.metrics.samples import Sample
from dsgui.core.script.words import OUTPUT_OPTIONS, value_of
from dsgui.core.texts.saying import Said, said
from dsgui.shell.launch.where import backend_of
from dsgui.shell.metrics.node_agent import READY
from dsgui.shell.metrics.nvml import NO_DRIVER
from dsgui.shell.metrics.telemetry import date

_PACKAGE = Path(__file__).parents[2]
# Each needs only those before it.
_SENT = (
    *("core.decoding", "core.machine.cgroups", "core.metrics.readable", "core.metrics.samples"),
    *(f"shell.metrics.{name}" for name in ("aside", "proc", "nvml", "telemetry", "node_agent")),
)
_UNPACK = """
import base64, json, sys, types, zlib
for name, text in json.loads(zlib.decompress(base64.b64decode(sys.stdin.buffer.readline()))):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    exec(compile(text, name, "exec"), module.__dict__)
sys.modules["dsgui.shell.metrics.node_agent"].main(sys.argv[1:])
"""
_AGAIN_S = 30.0
_QUIET_S = 5.0
_END_S = 2.0
_MOST_UNREAD_BYTES = 1 << 20
_MOST_PROBLEM = 200
_MOST_NOTES = 4


def bundle() -> bytes:
    """The agent's modules, one line of text."""
    rooms = dict.fromkeys(name.rpartition(".")[0] for name in _SENT)
    packages = [(name, "") for name in ("dsgui", "dsgui.core", "dsgui.shell", *(f"dsgui.{room}" for room in rooms))]
    modules = [
        (f"dsgui.{name}", _PACKAGE.joinpath(*name.split(".")).with_suffix(".py").read_text("utf-8")) for name in _SENT
    ]
    return base64.b64encode(zlib.compress(json.dumps(packages + modules).encode())) + b"\n"


def folders_written(plan: Plan) -> tuple[str, ...]:
    """Where the run writes, as far as its command says: the first that exists is meant."""
    output = value_of(plan.arguments, OUTPUT_OPTIONS)
    return (*((os.path.join(plan.working_directory, output),) if output else ()), plan.working_directory)


def is_here(name: str) -> bool:
    """Whether a hostfile's name is this machine's own; an alias that only ssh or DNS knows is taken for another."""
    own = socket.gethostname()
    return name in ("localhost", own, own.partition(".")[0]) or name.startswith("127.")


class Nodes:
    """The machines of a plan but this one. `start` runs a program there, if not as the plan's place does."""

    def __init__(
        self,
        plan: Plan,
        start: Sequence[str] | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        others = [host for host in plan.place.hosts() if not is_here(host.name)]
        start = backend_of(plan).REACHES if start is None else start
        given = bundle() if others else b""
        self._not_sampled = plan.place.NOT_SAMPLED
        self._nodes = [_Node(host.name, _command(plan, host, start), given, clock, monotonic) for host in others]

    @property
    def pids(self) -> set[int]:
        """This machine's processes that reach them: none of the run's."""
        return {pid for node in self._nodes if (pid := node.pid) is not None}

    @property
    def lacks(self) -> tuple[Said, ...]:
        """What is missing."""
        told = [node.lacks for node in self._nodes if node.lacks]
        left = len(told) - _MOST_NOTES
        more = (said("sampling", "more_nodes", count=str(left)),) if left > 0 else ()
        here = (said("sampling", self._not_sampled),) if self._not_sampled else ()
        return (*here, *chain.from_iterable(told[:_MOST_NOTES]), *more)

    def take(self) -> Iterator[tuple[str, Sample]]:
        """What came since the last time, by machine."""
        for node in self._nodes:
            for sample in node.take():
                yield node.name, sample

    def ask(self, elapsed_s: float) -> None:
        """For a sample each. Those that could not be reached are tried again now and then."""
        for node in self._nodes:
            node.ask(elapsed_s)

    def leave(self) -> None:
        """They end now, by themselves."""
        for node in self._nodes:
            node.leave()

    def close(self) -> None:
        """Within two seconds nothing of them is left on this machine."""
        self.leave()
        deadline = time.monotonic() + _END_S
        for node in self._nodes:
            node.close(deadline)


class _Node:
    """One machine's agent."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        given: bytes,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self.name = name
        self._command, self._given, self._clock, self._monotonic = command, given, clock, monotonic
        self._process: subprocess.Popen[bytes] | None = None
        self._left = self._ready = False
        self._problem: str | Said = ""
        self._told: tuple[Said, ...] = ()
        self._unread = self._unsent = b""
        self._started_s = self._asked_at = 0.0
        self._asked_s: float | None = None  # while an answer is awaited
        self._start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.returncode is None else None

    @property
    def lacks(self) -> tuple[Said, ...]:
        if self._problem:
            return (said("sampling", "node_problem", node=self.name, why=self._problem),)
        if self._left:
            return ()
        if self._asked_s is not None and self._monotonic() - self._asked_s >= _QUIET_S:
            return (said("sampling", "node_silent", node=self.name, since=date(self._asked_at)),)
        return tuple(said("sampling", "on_node", node=self.name, note=one) for one in self._told)

    def take(self) -> list[Sample]:
        if self._process is None or self._process.stdout is None:
            return []
        over = self._read(self._process.stdout.fileno())
        *lines, self._unread = self._unread.split(b"\n")
        samples = [sample for line in lines if (sample := self._understood(line))]
        if over:
            self._give_up()
        return samples

    def ask(self, elapsed_s: float) -> None:
        if self._process is None:
            if not self._left and self._monotonic() - self._started_s >= _AGAIN_S:
                self._start()
            return
        if self._unsent:  # it does not read: it must not be told more
            pass
        elif self._ready and self._asked_s is None:
            self._asked_s, self._asked_at = self._monotonic(), self._clock()
            self._unsent = f"{elapsed_s:.3f}\n".encode()
        else:
            self._unsent = b"\n"
        self._send()

    def leave(self) -> None:
        self._left = True
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()

    def close(self, deadline: float) -> None:
        if self._process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(deadline - time.monotonic(), 0))
        self._end()

    def _start(self) -> None:
        self._started_s, self._asked_s = self._monotonic(), None
        self._ready, self._unread, self._unsent = False, b"", self._given
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 — `_end` closes it; a pipe may be held by ssh's helpers
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True, bufsize=0
            )
        except OSError as error:
            self._problem = said("sampling", "no_ssh", why=str(error))
            self._errors.close()
            return
        for file in (self._process.stdin, self._process.stdout):
            os.set_blocking(file.fileno(), False)  # type: ignore[union-attr]  # both are PIPE
        self._send()

    def _send(self) -> None:
        """As much as goes in."""
        assert self._process is not None
        assert self._process.stdin is not None  # stdin=PIPE
        with suppress(BlockingIOError, BrokenPipeError, ValueError):  # ValueError: it was left
            self._unsent = self._unsent[os.write(self._process.stdin.fileno(), self._unsent) :]

    def _read(self, descriptor: int) -> bool:
        """Takes what is there; whether it was the last."""
        try:
            while chunk := os.read(descriptor, 1 << 16):
                self._unread += chunk
                if len(self._unread) > _MOST_UNREAD_BYTES:
                    return True
        except BlockingIOError:
            return False
        return True

    def _understood(self, line: bytes) -> Sample | None:
        """None for what else is printed there: a login shell's greeting."""
        if line.strip() == READY.encode():
            self._ready, self._problem = True, ""
            return None
        try:
            value = json.loads(line)
            sample, told = Sample.from_json(value), tuple(_lacking(value["lacks"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        self._asked_s, self._told = None, told
        return sample

    def _give_up(self) -> None:
        told = self._end()
        if not self._left:
            self._problem = told or said("sampling", "agent_ended")

    def _end(self) -> str | Said:
        """Ends what is left of it here; the last line of what it complained of."""
        process, self._process = self._process, None
        if process is None:
            return ""
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for file in (process.stdin, process.stdout):
            with suppress(OSError):
                file.close()  # type: ignore[union-attr]  # both are PIPE
        with self._errors as file:
            file.seek(0)
            told = file.read(1 << 16).decode("utf-8", "replace").strip().splitlines()
        return told[-1][:_MOST_PROBLEM] if told else said("sampling", "ended_with_code", code=str(process.returncode))


def _lacking(told: Any) -> Iterator[Said]:
    """What an agent lacks there, but a driver: a node may have no GPU. Raises ValueError, TypeError or KeyError."""
    for code, given in list(told)[:_MOST_NOTES]:
        words = {str(name): readable(str(value)[:_MOST_PROBLEM]) for name, value in given}
        if code != NO_DRIVER:
            yield said("sampling", code, **words)


def _command(plan: Plan, host: Host, start: Sequence[str]) -> list[str]:
    slots = ",".join(map(str, host.slots))
    arguments = (f"{MARKER}={plan.run_id}", slots, *folders_written(plan))
    there = shlex.join((plan.target_python, "-u", "-c", _UNPACK, *arguments))
    return [*start, host.name, f"cd / && exec {there}"]
