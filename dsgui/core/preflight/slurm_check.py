"""Whether Slurm takes a job from here: what it answers on the machine that would submit it."""

from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.machine.verdicts import Verdict, advise, ok, problem, saw, unknown
from dsgui.core.preflight.surroundings import Question


def slurm(question: Question) -> Verdict | None:
    answer = question.around.slurm
    if answer is None or not isinstance(question.launch.place, SlurmJob):
        return None
    if not answer.submits:
        return problem(saw("slurm.no_sbatch"), advise("slurm.login_node"))
    if not answer.program:
        return unknown(saw("slurm.no_sinfo"))
    if answer.answers:
        return ok(saw("slurm.answers", program=answer.program))
    if answer.silent:  # a busy controller may take a job all the same
        return unknown(saw("slurm.silent", program=answer.program, seconds=f"{answer.LIMIT_S:g}"))
    why = (saw("slurm.says", program=answer.program, words=answer.words),) if answer.words else ()
    return problem((saw("slurm.no_answer"), *why), advise("slurm.must_answer", program=answer.program))
