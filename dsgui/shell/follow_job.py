"""Run by path: submits a batch script to Slurm, prints what the job prints, and ends as the job ended.

    python follow_job.py SCRIPT OUTPUT ID_FILE

The standard library alone, since it stays for as long as the job. It is a run's first process for its supervisor; what
it says of the job itself begins with "slurm: ".
"""

import contextlib
import os
import re
import subprocess
import sys
import time

_POLL_S = 2.0
_PATIENCE_S = 30
_CHUNK = 1 << 16
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
_GOING_ON = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING")


def main(script: str, output: str, id_file: str) -> int:
    job = submit(script)
    with open(id_file, "w", encoding="ascii") as file:
        file.write(job)
    said, position, answered_at = "", 0, time.monotonic()
    while True:
        state, reason, code = look(job)
        position = copy(output, position)
        now = f"{state} ({reason})" if reason not in ("", "None") else state
        if state and now != said:
            say(f"job {job} is {now}")
            said = now
        if state in _WAITING or state in _GOING_ON:
            answered_at = time.monotonic()
        elif state:
            time.sleep(_POLL_S)  # what the nodes wrote last arrives late on a shared disk
            copy(output, position)
            return ended(job, state, code)
        elif time.monotonic() - answered_at > _PATIENCE_S:
            say(f"job {job}: Slurm does not know it any more; how it ended can't be told")
            return 1
        time.sleep(_POLL_S)


def submit(script: str) -> str:
    """The job's number."""
    done = subprocess.run(["sbatch", "--parsable", script], capture_output=True, text=True, check=False)
    job = done.stdout.strip().partition(";")[0]
    print(done.stderr, end="", flush=True)
    if done.returncode or not job.isdecimal():
        said = [line.removeprefix("sbatch: error: ") for line in (done.stderr or done.stdout).strip().splitlines()]
        say(f"the job was not taken: {'; '.join(said) or f'exit code {done.returncode}'}")
        sys.exit(done.returncode or 1)
    say(f"submitted as job {job}")
    return job


def look(job: str) -> tuple[str, str, str]:
    """State, reason and exit code ("1:0"); the state is "" where Slurm can't be asked now."""
    for ask in (controller, accounting):
        found = ask(job)
        if found[0]:
            return found
    return "", "", ""


def controller(job: str) -> tuple[str, str, str]:
    """It remembers a job for some minutes after its end."""
    told = answer("scontrol", "show", "job", "--oneliner", job)
    return field(told, "JobState"), field(told, "Reason"), field(told, "ExitCode")


def accounting(job: str) -> tuple[str, str, str]:
    first = answer("sacct", "--noheader", "--parsable2", "--allocations", "--jobs", job, "--format=State,ExitCode")
    state, _, code = first.strip().partition("\n")[0].partition("|")
    return state.partition(" ")[0], "", code


def answer(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def field(told: str, name: str) -> str:
    found = re.search(rf"(?:^|\s){name}=(\S+)", told)
    return found[1] if found else ""


def ended(job: str, state: str, code: str) -> int:
    """The exit code for a job that ended so; a signal as a shell would say it."""
    status, _, number = code.partition(":")
    if state == "COMPLETED":
        return 0
    say(f"job {job} ended: {state}, exit code {code}")
    if number.isdecimal() and int(number):
        return 128 + int(number)
    return int(status) if status.isdecimal() and int(status) else 1


def copy(path: str, position: int) -> int:
    """Prints what was added to the job's output since `position`; returns where it ends now."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        file.seek(position)
        while chunk := file.read(_CHUNK):
            os.write(1, chunk)
            position += len(chunk)
    return position


def say(text: str) -> None:
    print(f"slurm: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
