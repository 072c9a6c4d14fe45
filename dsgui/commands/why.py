"""Why a run failed, for a terminal: its diagnosis as the page shows it."""

import sys
from pathlib import Path

from dsgui.archive import Archive
from dsgui.commands.before_start import rows_of_plan
from dsgui.core.errors import DsguiError
from dsgui.core.offering import Offer
from dsgui.runs import Runs
from dsgui.shell.store import Store


def tell_why(runs: Runs, runs_dir: Path, run_id: str) -> None:
    """Prints nothing of a run that did not fail, or whose folder was removed meanwhile."""
    archive = Archive(Store(runs_dir), runs, judge=lambda plan, text: rows_of_plan(plan, text, runs, runs_dir))
    try:
        made = archive.offer(run_id)
    except DsguiError:
        return
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
