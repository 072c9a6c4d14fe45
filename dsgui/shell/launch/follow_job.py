"""Run by path: submits a batch script to Slurm, prints what the job prints, and ends as the job ended.

    python follow_job.py SCRIPT OUTPUT ID_FILE

The standard library alone, since it stays for as long as the job. It is a run's first process for its supervisor; what
it says of the job itself begins with "slurm: ".
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

_POLL_S = 2.0
_PATIENCE_S = 30
_CHUNK = 1 << 16
# Of a job that is over; whatever else Slurm says, it goes on.
_OVER = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED"}
    | {"TIMEOUT"}
)
_GONE = "no longer known to Slurm"


def main(script: str, output: str, id_file: str) -> int:
    # sbatch inherits it: who ends while the job is taken, and has no number yet, leaves a job that nobody knows.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    job = submit(script)
    keep(id_file, job)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    said, position = "", 0
    while True:
        state, reason, code = look(job)
        position = copy(output, position)
        now = f"{state} ({reason})" if reason not in ("", "None") else state or "unknown: Slurm is not responding"
        if now != said:
            say(f"job {job} is {now}")
            said = now
        if state in _OVER or state == _GONE:
            time.sleep(_POLL_S)  # what the nodes wrote last arrives late on a shared disk
            copy(output, position)
            return ended(job, state, code)
        time.sleep(_POLL_S)


def keep(path: str, job: str) -> None:
    """Readers see no number, or the whole."""
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(job)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def submit(script: str) -> str:
    """The job's number."""
    done = subprocess.run(["sbatch", "--parsable", script], capture_output=True, text=True, check=False)
    job = done.stdout.strip()
    print(done.stderr, end="", flush=True)
    if done.returncode or not job.isdecimal():
        said = [line.removeprefix("sbatch: error: ") for line in (done.stderr or done.stdout).strip().splitlines()]
        say(f"the job was rejected: {'; '.join(said) or f'exit code {done.returncode}'}")
        sys.exit(done.returncode or 1)
    say(f"submitted as job {job}")
    return job


def look(job: str) -> tuple[str, str, str]:
    """State, reason and exit code ("1:0"); the state is "" where Slurm can't be asked now."""
    told, forgotten = answer("scontrol", "show", "job", "--oneliner", job)
    if state := field(told, "JobState"):
        return state, field(told, "Reason"), field(told, "ExitCode")
    # The controller forgets a job some minutes after its end; accounting, where there is any, does not.
    listed, failed = answer(
        "sacct", "--noheader", "--parsable2", "--allocations", "--jobs", job, "--format=State,ExitCode"
    )
    state, _, code = listed.strip().partition("\n")[0].partition("|")
    if state:
        return state.partition(" ")[0], "", code
    is_gone = "nvalid job id" in forgotten and (not failed or "disabled" in failed)
    return (_GONE if is_gone else ""), "", ""


def answer(*words: str) -> tuple[str, str]:
    """What was printed, and what went wrong or ""."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    return (done.stdout, "") if done.returncode == 0 else ("", done.stderr or f"code {done.returncode}")


def field(told: str, name: str) -> str:
    found = re.search(rf"(?:^|\s){name}=(\S+)", told)
    return found[1] if found else ""


def ended(job: str, state: str, code: str) -> int:
    """The exit code for a job that ended so; a signal as a shell would say it."""
    status, _, number = code.partition(":")
    if state == "COMPLETED":
        return 0
    say(f"job {job} ended: {state}, exit code {code or 'unknown'}")
    if number.isdecimal() and int(number):
        return 128 + int(number)
    return int(status) if status.isdecimal() and int(status) else 1


def copy(path: str, position: int) -> int:
    """Prints what was added to the job's output since `position`; returns where it ends now."""
    with contextlib.suppress(OSError), open(path, "rb") as file:  # not there yet, or a shared disk that is away
        file.seek(position)
        while chunk := file.read(_CHUNK):
            os.write(1, chunk)
            position += len(chunk)
    return position


def say(text: str) -> None:
    print(f"slurm: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
