"""`dsgui stop`: end every process of a run."""

import argparse
import time

from dsgui.commands.run_options import DONE, FAILED, add_run, called, find_run, open_runs
from dsgui.core.errors import RunError
from dsgui.runs.runs import Runs

HELP = "stop every process of a run; a second stop kills immediately"
_POLL_S = 0.2
_PATIENCE_S = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `stop`."""
    add_run(parser)
    parser.add_argument("--save", action="store_true", help="ask the run to save a checkpoint first, and return")
    parser.add_argument(
        "--no-wait", action="store_true", help="return immediately instead of when the last process has ended"
    )


def run(options: argparse.Namespace) -> int:
    """0: nothing of it is left, or it was told; 1: something is left after a minute. Raises `RunError`."""
    runs = open_runs(options)
    run_id = find_run(runs, options.run)
    if options.save:
        runs.save_and_stop(run_id)
        print(f"{run_id}: asked to save a checkpoint and exit. Follow it with “{called()} logs -f {run_id}”.")
        return DONE
    away = runs.is_away(run_id)
    runs.stop(run_id)
    try:
        _wait(runs, run_id, 0 if options.no_wait else _PATIENCE_S)
        left, state = runs.alive_processes(run_id), runs.summary(run_id).state.value
    except RunError:
        if not away:
            raise
        print(f"{run_id}: it has ended, and its folder is no longer in {options.runs_dir}: moved or deleted.")
        return DONE
    print(f"{run_id}: {state}" + (f"; processes {', '.join(map(str, left))} are left" if left else ""))
    return FAILED if left and not options.no_wait else DONE


def _wait(runs: Runs, run_id: str, patience_s: float) -> None:
    """For its end."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and runs.summary(run_id).state.live:
        time.sleep(_POLL_S)
