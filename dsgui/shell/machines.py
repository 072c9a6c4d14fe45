"""A run's other machines, reached by ssh as DeepSpeed's launcher reaches them: its config is put there, and its
processes are ended there.

DeepSpeed's own launcher, asked to stop, ends every DeepSpeed run of the user on those machines: its `pkill` pattern is
the interpreter and `-m deepspeed.launcher.launch` (deepspeed/launcher/multinode_runner.py). Here the marker decides.
"""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dsgui.core.command import CONFIG_FILE, MARKER, remote_environment
from dsgui.core.errors import RunError
from dsgui.core.hostfile import Host
from dsgui.core.plan import Plan
from dsgui.core.state import Identity
from dsgui.shell import slurm
from dsgui.shell.processes import send_signal

_CONNECT_S = 5
_ANSWER_S = 15  # beyond what was asked to take longer
_POLL_S = 0.1
_OWN_FILE = ".deepspeed_env"  # deepspeed/launcher/runner.py, DEEPSPEED_ENVIRONMENT_NAME
_SSH = (
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


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of ending a run on one machine: how many processes were `told` to, which are `left`, or a `problem`."""

    host: str
    told: int = 0
    left: tuple[int, ...] = ()
    problem: str = ""


def end_elsewhere(
    plan: Plan, launcher: Identity | None, grace_s: float, hurry: Callable[[], bool]
) -> tuple[Ended, ...]:
    """Ends the run on all its machines, or its job in Slurm; () for a run on this machine alone.

    Before this machine's own processes: they are the ssh clients, and at a TERM the launcher would end other runs too.
    """
    if plan.slurm:
        return _end_job(plan, grace_s, hurry)
    if not plan.machines:
        return ()
    if launcher:
        send_signal(launcher, signal.SIGKILL)
    return end(plan.hosts, plan.run_id, grace_s, hurry)


def _end_job(plan: Plan, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
    job = slurm.job_of(plan)
    return (Ended(f"the nodes of Slurm job {job}", problem=slurm.cancel(job, grace_s, hurry)),) if job else ()


def what_is_left(ended: Sequence[Ended]) -> str:
    """Goes on a sentence about this machine: ", nor on worker-1; worker-2 could not be asked (No route to host)"."""
    clear = [one.host for one in ended if not one.left and not one.problem]
    said = f", nor on {', '.join(clear)}" if clear else ""
    for one in ended:
        if one.problem:
            said += f"; {one.host} could not be asked ({one.problem})"
        elif one.left:
            said += f"; on {one.host} processes {', '.join(map(str, one.left))} are left"
    return said


@contextmanager
def handing_on(plan: Plan, environment: dict[str, str]) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """The launcher's environment, and the descriptors it needs. With several machines the config is put on each first,
    and DS_ENV_FILE names what the launcher hands to them: the user's own `.deepspeed_env` files, as without dsgui, and
    the run's. That lies in memory, since theirs may hold what must not be written down. Raises `RunError`, OSError."""
    if not plan.machines:
        yield environment, ()
        return
    directory = Path(plan.run_directory)
    problems = put(plan.hosts, directory / CONFIG_FILE, (directory / CONFIG_FILE).read_bytes())
    if problems:
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise RunError(f"the config could not be put on every machine ({told})")
    descriptor = os.memfd_create("deepspeed_env")
    try:
        os.write(descriptor, (_own_environment_files(plan) + remote_environment(plan)).encode())
        yield environment | {"DS_ENV_FILE": f"/proc/self/fd/{descriptor}"}, (descriptor,)
    finally:
        os.close(descriptor)


def _own_environment_files(plan: Plan) -> str:
    """The user's, in the order in which the launcher reads them."""
    text = ""
    for folder in (Path.home(), Path(plan.working_directory)):
        with suppress(OSError):
            text += (folder / _OWN_FILE).read_text("utf-8", "replace").rstrip("\n") + "\n"
    return text


def put(hosts: Sequence[Host], path: Path, data: bytes) -> dict[str, str]:
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
    """One command on one machine, under way."""

    def __init__(self, host: str, command: str, given: bytes) -> None:
        self._problem = ""
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                [*_SSH, host, command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            self._process, self._problem = None, f"ssh can't be started ({error})"
            return
        assert self._process.stdin is not None  # stdin=PIPE
        try:
            self._process.stdin.write(given)  # small: it fits into the pipe
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # what ssh says tells why
        self._process.stdin = None

    def done(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def answer(self, deadline: float) -> tuple[str, str]:
        """What it printed, and the problem or ""."""
        if self._process is None:
            return "", self._problem
        try:
            out, err = self._process.communicate(timeout=max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return "", "it did not answer in time"
        said = err.decode("utf-8", "replace").strip().splitlines()
        last = said[-1] if said else f"code {self._process.returncode}"
        return out.decode("utf-8", "replace"), last if self._process.returncode else ""


def answers(asked: dict[str, Asked], deadline: float) -> dict[str, tuple[str, str]]:
    return {name: one.answer(deadline) for name, one in asked.items()}


def _ending(host: Host, run_id: str, grace_s: float) -> Asked:
    return Asked(host.name, f"sh -s - {shlex.quote(run_id)} {round(grace_s)}", _END.encode())


def _read_ended(host: str, printed: str, problem: str) -> Ended:
    told, whole = 0, False
    left: tuple[int, ...] = ()
    for line in printed.splitlines():
        word, *numbers = line.split()
        if word == "told" and len(numbers) == 1:
            told = int(numbers[0])
        elif word == "left":
            left, whole = tuple(int(pid) for pid in numbers), True
    return Ended(host, told, left, problem or ("" if whole else "it gave no answer"))
