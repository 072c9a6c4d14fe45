"""Why a run failed, for a terminal: its diagnosis as the page shows it."""

import sys
from pathlib import Path

from dsgui.archive import Archive
from dsgui.commands.before_start import question_of, rows_of_plan, surroundings_of
from dsgui.core.errors import DsguiError
from dsgui.core.offering import Offer
from dsgui.core.plan import Plan
from dsgui.core.verdicts import Row
from dsgui.runs import Runs
from dsgui.shell.oracle import Oracle
from dsgui.shell.store import Store

_WAIT_S = 10.0  # for a DeepSpeed that first has to be imported


def tell_why(runs: Runs, runs_dir: Path, run_id: str) -> None:
    """Prints nothing of a run that did not fail, or whose folder was removed meanwhile."""
    oracles: dict[str, Oracle] = {}

    def refusal(plan: Plan, text: str) -> str:
        question = question_of(plan, text, surroundings_of(plan, text, runs, runs_dir))
        if question is None:
            return ""
        oracle = oracles.setdefault(plan.target_python, Oracle(plan.target_python, _WAIT_S))
        return oracle.refusal(question, _WAIT_S)

    def judge(plan: Plan, text: str) -> tuple[Row, ...]:
        return rows_of_plan(plan, text, runs, runs_dir)

    try:
        made = Archive(Store(runs_dir), runs, judge=judge, refusal=refusal).offer(run_id)
    except DsguiError:
        return
    finally:
        for oracle in oracles.values():
            oracle.close()
    if made:
        print(runs.masked(as_text(made)), file=sys.stderr, flush=True)


def as_text(made: Offer) -> str:
    """The diagnosis in lines; the traceback is left to the output, which has it."""
    found = made.diagnosis
    rank = "" if found.rank is None else f" (rank {found.rank})"
    lines = [f"{found.title}{rank}", f"  {found.meaning}", *(f"  - {sentence}" for sentence in found.advice)]
    if found.remedy:
        lines.append(f"  Change: {found.remedy.label}. The run’s page opens a clone with it.")
    lines += [f"  {made.ends}"] if made.ends else []
    return "\n".join([*lines, *(f"  Not offered: {sentence}" for sentence in made.set_aside)])
