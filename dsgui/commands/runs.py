"""`dsgui runs`: the runs, newest first; `dsgui runs show RUN`: one of them; `dsgui runs add FOLDER`: others'."""

import argparse
import json
import sys
import time
from collections.abc import Sequence

from dsgui.commands.elsewhere.add_runs import add
from dsgui.commands.run_options import DONE, add_runs_dir, called, find_run, open_runs, open_store
from dsgui.commands.show import shown
from dsgui.core.errors import RunError
from dsgui.core.runs.filters import Settings, unfinished
from dsgui.core.runs.listing import fits, searched_text
from dsgui.core.runs.news import RunSummary
from dsgui.core.runs.no_loss import TOLD_BY_STATE
from dsgui.core.texts.columns import padded, width
from dsgui.core.texts.durations import duration
from dsgui.core.texts.saying import words, wrong
from dsgui.runs.runs import Runs

_MOST_EXPLAINED = 5
_SHOWN = 50
_MOST = 10**6
_SHOW, _ADD = "show", "add"
_HEADINGS = ("run", "state", "step", "loss", "took", "started", "name")  # of columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `runs`."""
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help=words("options", "searched_words", searched=words("commands", "searched")),
    )
    add_runs_dir(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help=words("options", "list_format"))
    parser.add_argument("--name", metavar="TEXT", help=words("options", "adopted_name"))
    parser.add_argument("--limit", type=_limit, metavar="N", help=words("options", "limit", shown=str(_SHOWN)))


def _limit(text: str) -> int:
    if text.isdecimal() and int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="0", most=str(_MOST)))


def run(options: argparse.Namespace) -> int:
    """Prints the list, or one run, or adds some. Raises `RunError` and `PlanError`."""
    if options.words[:1] == [_SHOW] and len(options.words) == 2:
        store, runs = open_store(options)
        sys.stdout.write(shown(store, runs, find_run(runs, options.words[1])))
        return DONE
    if options.words[:1] == [_ADD] and len(options.words) == 2:
        return add(options, options.words[1])
    if asked := unfinished(options.words):
        raise RunError(wrong("options.unfinished_word", word=asked[0], example=asked[1]))
    limit = options.limit if options.limit is not None else _SHOWN if options.format == "text" else 0
    summaries, count = _asked_for(open_runs(options), options.words, limit)
    if options.format == "json":
        print(json.dumps([summary.to_json() for summary in summaries], indent=2))
    elif summaries:
        sys.stdout.write(table([_headings(), *(_row(summary) for summary in summaries)]))
        sys.stdout.writelines(
            "\n" + words("commands", "of_run", run=one.run_id, what=one.problem) + "\n"
            for one in summaries
            if one.problem
        )
        sys.stdout.writelines(f"\n{text}\n  {', '.join(ids)}\n" for text, ids in _without_loss(summaries).items())
        if count > len(summaries):
            print("\n" + words("commands", "showing", shown=f"{len(summaries):,}", all=f"{count:,}"))
    elif options.words:
        given = {"folder": str(options.runs_dir), "words": " ".join(options.words)}
        print(words("commands", "none_with", searched=words("commands", "searched"), **given))
    else:
        print(words("commands", "none", folder=str(options.runs_dir), command=called()))
    return DONE


def _headings() -> tuple[str, ...]:
    return tuple(words("commands", f"column_{one}") for one in _HEADINGS)


def _asked_for(runs: Runs, words: Sequence[str], limit: int) -> tuple[list[RunSummary], int]:
    """The newest that have these words, at most `limit` of them or, with 0, all; and how many have them."""
    if words or not limit:
        asked = [word.lower() for word in words]
        found = [run for run in runs.list() if fits(run, searched_text(run), asked, _settings_of(runs, run))]
        return found[: limit or None], len(found)
    return [*runs.newest(limit)], len(runs.ids())


def _settings_of(runs: Runs, run: RunSummary) -> Settings:
    return lambda: runs.settings(run.run_id)


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
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(padded(cell, wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows)
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
    name += f" ({words('commands', 'archived')})" if summary.archived else ""
    return (
        summary.run_id,
        words("states", summary.state.value),
        step,
        loss,
        duration(summary.duration_s),
        started or "–",
        name,
    )
