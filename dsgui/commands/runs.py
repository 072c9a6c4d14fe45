"""`dsgui runs`: every run, newest first."""

import argparse
import json
import sys
import time
from collections.abc import Sequence

from dsgui.commands.run_options import DONE, add_runs_dir, called, open_runs
from dsgui.core.news import RunSummary
from dsgui.core.no_loss import TOLD_BY_STATE

HELP = "list runs, newest first"
_MOST_EXPLAINED = 5
_HEADINGS = ("run", "state", "step", "loss", "took", "started", "name")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `runs`."""
    add_runs_dir(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the list (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Prints the list. Raises `RunError`."""
    summaries = open_runs(options).list()
    if options.format == "json":
        print(json.dumps([summary.to_json() for summary in summaries], indent=2))
    elif summaries:
        sys.stdout.write(table([_HEADINGS, *(_row(summary) for summary in summaries)]))
        sys.stdout.writelines(f"\n{one.run_id}: {one.problem}\n" for one in summaries if one.problem)
        sys.stdout.writelines(f"\n{text}\n  {', '.join(ids)}\n" for text, ids in _without_loss(summaries).items())
    else:
        print(f"No runs in {options.runs_dir}. Start one with “{called()} launch” or in the browser.")
    return DONE


def _without_loss(summaries: Sequence[RunSummary]) -> dict[str, list[str]]:
    """Why the newest of those without a loss have none; of one that never began its state tells enough."""
    silent = [one for one in summaries if one.no_loss and one.no_loss.code not in TOLD_BY_STATE][:_MOST_EXPLAINED]
    found: dict[str, list[str]] = {}
    for one in silent:
        if one.no_loss:
            found.setdefault(one.no_loss.text, []).append(one.run_id)
    return found


def table(rows: list[tuple[str, ...]]) -> str:
    """The rows with their columns aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"


def _row(summary: RunSummary) -> tuple[str, ...]:
    step = (
        summary.doing or "–"
        if summary.step is None
        else f"{summary.step}" + (f"/{summary.total}" if summary.total else "")
    )
    loss = f"{summary.loss:.4g}" if isinstance(summary.loss, int | float) else summary.loss or "–"
    started = summary.started_at and time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.started_at))
    name = " ".join(summary.name.split()) + (f" ({summary.doing})" if summary.doing else "")
    return summary.run_id, summary.state.value, step, loss, duration(summary.duration_s), started or "–", name


def duration(seconds: float | None) -> str:
    """`1:02:03`, `02:03`; “–” where it is not known."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
