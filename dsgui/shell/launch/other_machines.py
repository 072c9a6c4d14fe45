"""A run's other machines, reached by ssh as DeepSpeed's launcher reaches them: files are put there, questions asked,
the run's processes ended.

DeepSpeed's own launcher, asked to stop, ends every DeepSpeed run of the user on those machines: its `pkill` pattern is
the interpreter and `-m deepspeed.launcher.launch` (deepspeed/launcher/multinode_runner.py). Here the marker decides.
"""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from dsgui.core.launch.command import MARKER
from dsgui.core.launch.hostfile import Host
from dsgui.core.machine.verdicts import saw
from dsgui.core.texts.saying import Said
from dsgui.shell.launch.backend import Ended

_CONNECT_S = 5
_ANSWER_S = 15  # beyond what was asked to take longer
_POLL_S = 0.1
_MOST_BYTES = 1 << 20
SSH = (
    *("ssh", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"),
)
# A name of its own for each: the folder may be shared.
_PUT = 'umask 077 && mkdir -p "$(dirname "$1")" && new=$(mktemp "$1.XXXXXX") && cat > "$new" && mv -f "$new" "$1"'
# TERM to each process of the run once, also to those that appear meanwhile; KILL after the grace. Zombies have no
# environment any more. Prints how many were told, and which are left.
_END = f"""
ours() {{ grep -lzxF "{MARKER}=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }}
deadline=$(($(date +%s) + $2)); told=" "
while left=$(ours "$1"); [ -n "$left" ]; do
  for pid in $left; do case "$told" in *" $pid "*) ;; *) kill -TERM "$pid" 2>/dev/null; told="$told$pid ";; esac; done
  [ "$(date +%s)" -ge "$deadline" ] && break
  sleep 0.2
done
tries=0
while left=$(ours "$1"); [ -n "$left" ] && [ $tries -lt 15 ]; do
  kill -KILL $left 2>/dev/null; tries=$((tries + 1)); sleep 0.2
done
set -- $told; echo "told $#"; echo "left" $left
"""


def put(hosts: Sequence[Host], path: Path, data: bytes) -> dict[str, str | Said]:
    """Writes the file to the same place on every machine, readable by its owner alone. Returns problems by machine."""
    asked = {
        host.name: Asked(host.name, f"sh -c {shlex.quote(_PUT)} - {shlex.quote(str(path))}", data) for host in hosts
    }
    told = answers(asked, time.monotonic() + _ANSWER_S)
    return {name: problem for name, (_, problem) in told.items() if problem}


def end(hosts: Sequence[Host], run_id: str, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
    """TERM to every process of the run on every machine; KILL after `grace_s`, or as soon as `hurry` says so. Takes
    about that long, also where a machine does not answer."""
    asked = {host.name: _ending(host, run_id, grace_s) for host in hosts}
    deadline = time.monotonic() + grace_s + _ANSWER_S
    while not all(one.done() for one in asked.values()) and time.monotonic() < deadline:
        if hurry():
            now = {host.name: _ending(host, run_id, 0) for host in hosts}
            answers(now, time.monotonic() + _ANSWER_S)
            break
        time.sleep(_POLL_S)
    return tuple(_read_ended(name, *answer) for name, answer in answers(asked, deadline).items())


class Asked:
    """One command on one machine, under way. What goes in and comes out lies in files: helpers of ssh may hold a pipe
    open for longer than it lives."""

    def __init__(self, host: str, command: str, given: bytes) -> None:
        self._problem: str | Said = ""
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 — `answer` closes them
        with tempfile.TemporaryFile() as file:
            file.write(given)
            file.seek(0)
            try:
                self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                    [*SSH, host, command], stdin=file, stdout=self._out, stderr=self._err, start_new_session=True
                )
            except OSError as error:
                self._process, self._problem = None, saw("host.ssh_not_started", error=str(error))

    def done(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def answer(self, deadline: float) -> tuple[str, str | Said]:
        """What it printed, and the problem or "". Ends it at the deadline. May be called once."""
        with self._out, self._err:
            if self._process is None:
                return "", self._problem
            try:
                code = self._process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
                return "", saw("host.timed_out")
            said = _read(self._err).strip().splitlines()
            told = said[-1] if said else saw("host.exit_code", code=str(code))
            return _read(self._out), told if code else ""


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST_BYTES).decode("utf-8", "replace")


def answers(asked: dict[str, Asked], deadline: float) -> dict[str, tuple[str, str | Said]]:
    return {name: one.answer(deadline) for name, one in asked.items()}


def _ending(host: Host, run_id: str, grace_s: float) -> Asked:
    return Asked(host.name, f"sh -s - {shlex.quote(run_id)} {round(grace_s)}", _END.encode())


def _read_ended(host: str, printed: str, problem: str | Said) -> Ended:
    told, whole = 0, False
    left: tuple[int, ...] = ()
    for line in printed.splitlines():  # among what the login shell prints
        word, _, rest = line.partition(" ")
        numbers = [int(number) for number in rest.split() if number.isdecimal()]
        if word == "told" and len(numbers) == 1:
            told = numbers[0]
        elif word == "left":
            left, whole = tuple(numbers), True
    return Ended(host, told, left, problem or ("" if whole else saw("host.no_answer")))
