"""`dsgui logs`: what a run printed, and with -f what it goes on to print."""

import argparse
import sys
import time
from pathlib import Path

from dsgui.commands.run_options import DONE, FAILED, add_run, find_run, open_runs
from dsgui.commands.why import tell_why
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.core.runs.no_loss import TOLD_BY_STATE
from dsgui.core.texts.saying import in_row, words
from dsgui.runs.runs import Runs

_POLL_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `logs`."""
    add_run(parser)
    parser.add_argument("-f", "--follow", action="store_true", help=words("options", "follow"))


def run(options: argparse.Namespace) -> int:
    """Prints; interrupting it leaves the run alone. Raises `RunError`."""
    runs = open_runs(options)
    run_id = find_run(runs, options.run)
    if not options.follow:
        for text in runs.output(run_id):
            _put(text)
        return DONE
    return follow(runs, run_id, options.runs_dir)


def follow(runs: Runs, run_id: str, runs_dir: Path) -> int:
    """Prints until the run has ended, then how it did and why, and why it has no loss. 0: it succeeded or was stopped;
    1: it did not."""
    for text in runs.output(run_id):
        _put(text)
    cursor, live, told, problem = Cursor(output=runs.output_size(run_id)), True, "", ""
    while live:
        live = runs.summary(run_id).state.live  # before the look: what is printed last is not missed
        delta = runs.follow(run_id, cursor)
        cursor = delta.cursor
        _put(delta.output)
        if delta.state is RunState.QUEUED and delta.reason != told:
            told = delta.reason
            _tell(run_id, in_row((_state(delta.state), told)))
        if delta.problem and delta.problem != problem:
            problem = delta.problem
            _tell(run_id, problem)
        if live:
            time.sleep(_POLL_S)
    print(file=sys.stderr)
    _tell(run_id, in_row((_state(delta.state), delta.reason)))
    silent = runs.summary(run_id).no_loss
    if silent and silent.code not in TOLD_BY_STATE:
        _tell(run_id, silent.text)
    tell_why(runs, runs_dir, run_id)
    return DONE if delta.state in (RunState.SUCCEEDED, RunState.STOPPED, RunState.ELSEWHERE) else FAILED


def _state(state: RunState) -> str:
    return words("commands", "state", state=words("states", state.value))


def _tell(run_id: str, what: str) -> None:
    """Beside what the run prints."""
    print(words("commands", "of_run", run=run_id, what=what), file=sys.stderr, flush=True)


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
