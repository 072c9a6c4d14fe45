"""A run's job in Slurm: the command that submits and follows it, and its end."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.launch.places.slurm import BATCH_OUTPUT, BATCH_SCRIPT, SlurmJob
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import Identity
from dsgui.core.texts.saying import Said, said, wrong
from dsgui.shell.launch.backend import Backend, Ended, Start
from dsgui.shell.processes.processes import is_alive

_FOLLOWS = Path(__file__).parents[1] / "follow_job.py"
_ID_FILE = "slurm.job"
_ANSWER_S = 15
_POLL_S = 0.5
_SUBMIT_S = 60
_OVERRULES = frozenset(
    {"SBATCH_EXPORT", "SBATCH_CLUSTERS", "SLURM_CLUSTERS", "SLURM_EXPORT_ENV", "SBATCH_OUTPUT", "SBATCH_ERROR"}
    | {"SBATCH_JOB_NAME", "SBATCH_OPEN_MODE", "SBATCH_ARRAY_INX", "SBATCH_WAIT", "SBATCH_GPUS_PER_NODE"}
)


class Slurm(Backend):
    """A job: its first process here submits the batch script and follows it."""

    OUT_OF_SIGHT = True

    def check(self) -> None:
        if not shutil.which("sbatch"):
            raise RunError(wrong("slurm.no_sbatch"))

    @contextmanager
    def starting(self, plan: Plan, environment: Mapping[str, str]) -> Iterator[Start]:
        yield Start(_following(plan), submitting(environment, plan))

    def end(self, plan: Plan, process: Identity | None, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        """A job that is being submitted has no number yet: it is waited for while whoever submits it lives."""
        job = job_of(plan, lambda: process is not None and is_alive(process))
        return (Ended(said("slurm", "nodes_of_job", job=job), problem=cancel(job, grace_s, hurry)),) if job else ()


def _following(plan: Plan) -> tuple[str, ...]:
    """Submits the run's batch script, prints what the job prints, and ends as it ends."""
    directory = Path(plan.run_directory)
    files = (directory / BATCH_SCRIPT, directory / BATCH_OUTPUT, directory / _ID_FILE)
    return (sys.executable, "-u", str(_FOLLOWS), *map(str, files))


def submitting(given: Mapping[str, str], plan: Plan) -> dict[str, str]:
    """The environment for sbatch, without what in it would overrule the script: sbatch(1), INPUT ENVIRONMENT VARIABLES.
    What the plan leaves to Slurm's default may be set there."""
    job = plan.place
    assert isinstance(job, SlurmJob)
    set_here = {"PARTITION": job.partition, "ACCOUNT": job.account, "TIMELIMIT": job.time}
    set_here |= dict.fromkeys(("CPUS_PER_TASK", "CPUS_PER_GPU"), job.cpus)
    set_here |= dict.fromkeys(("MEM_PER_NODE", "MEM_PER_CPU", "MEM_PER_GPU"), job.memory)
    overrules = {f"SBATCH_{name}" for name, value in set_here.items() if value} | _OVERRULES
    return {name: value for name, value in given.items() if name not in overrules}


def job_of(plan: Plan, submits: Callable[[], bool] = lambda: False) -> str:
    """The number of the run's job; "" where none was submitted. While it `submits` the number is waited for."""
    path = Path(plan.run_directory) / _ID_FILE
    deadline = time.monotonic() + _SUBMIT_S
    while True:
        going_on = submits() and time.monotonic() < deadline
        try:
            return path.read_text("ascii").strip()
        except OSError:
            if not going_on:
                return ""
        time.sleep(_POLL_S)


def cancel(job: str, grace_s: float, hurry: Callable[[], bool]) -> str | Said:
    """Ends the job: TERM to its processes, KILL after `grace_s` or as soon as `hurry` says so. Returns once Slurm has
    no process of it any more, or a problem in words."""
    problem = _scancel(job)  # TERM, and KILL after Slurm's own KillWait
    killed = False
    deadline = time.monotonic() + grace_s
    while not _is_over(job):
        if not killed and (problem or hurry() or time.monotonic() >= deadline):
            # Of a job whose processes are gone, and which is not yet cleaned up, it says that there is none.
            problem = _scancel("--signal=KILL", job)
            killed, deadline = True, time.monotonic() + _ANSWER_S
        elif killed and time.monotonic() >= deadline:
            return problem or said("slurm", "not_cancelled")
        time.sleep(_POLL_S)
    return ""


def _scancel(*words: str) -> str | Said:
    try:
        done = subprocess.run(["scancel", *words], capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"scancel: {error}"
    if not done.returncode:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else said("slurm", "scancel_ended", code=str(done.returncode))


def _is_over(job: str) -> bool:
    """squeue lists what waits or has processes; of a job that is forgotten it says nothing, or that it is invalid."""
    try:
        done = subprocess.run(
            ["squeue", "--noheader", "--jobs", job, "--format=%T"],
            capture_output=True,
            text=True,
            timeout=_ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return not done.stdout.strip() and (done.returncode == 0 or "nvalid job id" in done.stderr)
