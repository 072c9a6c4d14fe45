"""`dsgui stop`: end every process of a run."""

import argparse
import time

from dsgui.commands.run_options import DONE, FAILED, add_run, called, find_run, open_runs
from dsgui.core.errors import RunError
from dsgui.core.texts.saying import listed, words
from dsgui.runs.runs import Runs

_POLL_S = 0.2
_PATIENCE_S = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `stop`."""
    add_run(parser)
    parser.add_argument("--save", action="store_true", help=words("options", "save"))
    parser.add_argument("--no-wait", action="store_true", help=words("options", "no_wait"))


def run(options: argparse.Namespace) -> int:
    """0: nothing of it is left, or it was told; 1: something is left after a minute. Raises `RunError`."""
    runs = open_runs(options)
    run_id = find_run(runs, options.run)
    if options.save:
        runs.save_and_stop(run_id)
        print(words("commands", "save_asked", run=run_id, dsgui=called()))
        return DONE
    away = runs.is_away(run_id)
    runs.stop(run_id)
    try:
        _wait(runs, run_id, 0 if options.no_wait else _PATIENCE_S)
        left, state = runs.alive_processes(run_id), words("states", runs.summary(run_id).state.value)
    except RunError:
        if not away:
            raise
        print(words("commands", "folder_gone", run=run_id, folder=str(options.runs_dir)))
        return DONE
    if left:
        print(words("commands", "processes_left", run=run_id, state=state, pids=listed(map(str, left))))
    else:
        print(words("commands", "of_run", run=run_id, what=state))
    return FAILED if left and not options.no_wait else DONE


def _wait(runs: Runs, run_id: str, patience_s: float) -> None:
    """For its end."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and runs.summary(run_id).state.live:
        time.sleep(_POLL_S)
