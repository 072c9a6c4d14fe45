"""The end of a run where it trains elsewhere: on machines over ssh, or as a job of Slurm."""

import signal
from collections.abc import Callable, Sequence

from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import Identity
from dsgui.shell.launch import slurm_job
from dsgui.shell.launch.other_machines import Ended, end
from dsgui.shell.processes.processes import is_alive, marked, send_signal


def end_elsewhere(
    plan: Plan, launcher: Identity | None, grace_s: float, hurry: Callable[[], bool]
) -> tuple[Ended, ...]:
    """Ends the run on all its machines, or its job in Slurm; () for a run on this machine alone.

    Before this machine's own processes: they are the ssh clients, and at a TERM the launcher would end other runs too.
    """
    if plan.slurm:
        return _end_job(plan, launcher, grace_s, hurry)
    if not plan.machines:
        return ()
    if launcher and marked(plan.run_id, [launcher.pid]):
        send_signal(launcher, signal.SIGKILL)
    return end(plan.hosts, plan.run_id, grace_s, hurry)


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


def _end_job(plan: Plan, follower: Identity | None, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
    """A job that is being submitted has no number yet: it is waited for while whoever submits it lives."""
    job = slurm_job.job_of(plan, lambda: follower is not None and is_alive(follower))
    return (Ended(f"the nodes of Slurm job {job}", problem=slurm_job.cancel(job, grace_s, hurry)),) if job else ()
