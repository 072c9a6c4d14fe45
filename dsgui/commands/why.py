"""Why a run failed, for a terminal: its diagnosis as the page shows it."""

import sys
from functools import partial
from pathlib import Path

from dsgui.commands.before_start import surroundings_of
from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Plan
from dsgui.core.preflight.judging import memory_of, question_of, rows_around
from dsgui.core.preflight.leaner import leaner
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.runs.offering import Offer
from dsgui.core.texts.saying import words
from dsgui.core.validation.checker import Checker
from dsgui.runs.archive import Archive, Judge
from dsgui.runs.runs import Runs
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.oracle.oracle import Oracle
from dsgui.shell.runs.store import Store

_WAIT_S = 10.0  # for a DeepSpeed that first has to be imported


def tell_why(runs: Runs, runs_dir: Path, run_id: str) -> None:
    """Prints nothing of a run that did not fail and whose loss stayed a number, or whose folder was removed."""
    oracles: dict[str, Oracle] = {}

    def refusal(plan: Plan, text: str, around: Surroundings) -> str:
        question = question_of(plan, text, around)
        if question is None:
            return ""
        oracle = oracles.setdefault(plan.target_python, Oracle(plan.target_python, _WAIT_S))
        return oracle.refusal(question, _WAIT_S)

    judge = Judge(
        lambda plan, text: surroundings_of(plan, text, runs, runs_dir),
        partial(rows_around, checker=Checker(Catalog().schema())),
        refusal,
        memory=partial(memory_of, checker=Checker(Catalog().schema())),
        leaner=partial(leaner, checker=Checker(Catalog().schema())),
    )
    try:
        made = Archive(Store(runs_dir), runs, judge=judge).offer(run_id)
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
    rank = "" if found.rank is None else words("commands", "why_rank", rank=str(found.rank))
    lines = [
        f"{found.title}{rank}",
        f"  {found.meaning}",
        *(f"  {one}" for one in made.cause),
        *(f"  - {sentence}" for sentence in found.advice),
    ]
    if found.remedy:
        lines.append("  " + words("commands", "why_change", change=found.remedy.label))
    lines += [f"  {made.checked}"] if made.checked else []
    lines += [f"  {made.ends}"] if made.ends else []
    aside = ("  " + words("commands", "why_not_offered", why=sentence) for sentence in made.set_aside)
    return "\n".join([*lines, *aside])
