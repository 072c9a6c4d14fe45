"""`dsgui launch`: start a run as the page does; it belongs to a supervisor, not to this terminal."""

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.commands.before_start import rows_of_plan, told, worth_telling
from dsgui.commands.logs import follow
from dsgui.commands.run_options import DONE, FAILED, add_field, add_reader, add_runs_dir, open_runs
from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch.plan import LaunchRequest
from dsgui.core.launch.run_fields import BY_NAME, SEVERAL, SLURM
from dsgui.core.launch.spec import request_of
from dsgui.core.machine.verdicts import has_problem

HELP = "start a run: launch --config ds_config.json train.py [arguments of the script]"
# Of what is to run, how the options are grouped; the rest of the fields is the page's.
_PLACES = ("gpus", "ranks")
_SEVERAL = ("include", "exclude", "master_addr")
_SLURM = ("slurm_nodes", "slurm_per_node", "slurm_partition", "slurm_time", "slurm_account", "slurm_options")
_OTHERS = ("started_by", "when_busy", "environment", "name", "directory", "port", "logs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `launch`; what follows the script is the script's."""
    parser.add_argument("--config", type=Path, required=True, help="the ds_config.json; the run keeps its own copy")
    where = parser.add_mutually_exclusive_group()
    _add(where, _PLACES)
    where.add_argument("--hostfile", type=Path, help="several machines, one a line: worker-0 slots=4")
    _add(parser, _SEVERAL)
    slurm = parser.add_argument_group("Slurm", "--slurm-nodes submits a batch script and follows its job")
    _add(slurm, _SLURM)
    add_reader(parser)
    _add(parser, _OTHERS)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that trains (default: this one)")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the command and the checks, and start nothing; exit 1: problems"
    )
    parser.add_argument("--although", action="store_true", help="start although a check says that the run would fail")
    parser.add_argument("-f", "--follow", action="store_true", help="print the run's output until it has ended")
    add_runs_dir(parser)
    parser.add_argument("script", help="the Python file that trains")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own")


def _add(parser: argparse._ActionsContainer, names: Iterable[str]) -> None:
    for name in names:
        add_field(parser, BY_NAME[name])


def run(options: argparse.Namespace) -> int:
    """Prints the run's id. Raises `PlanError` or `RunError`."""
    runs = open_runs(options)
    text = _text(options.config, "Config", "a JSON file")
    request = _request(options, text)
    plan = runs.prepare(request)
    if added := plan.arguments[len(options.arguments) :]:
        why = "the HF Trainer would log every 500 steps. --no-logging-steps leaves it out"
        print(f"dsgui: added {' '.join(added)}: {why}.", file=sys.stderr, flush=True)
    rows = rows_of_plan(plan, text, runs, options.runs_dir)
    stops = has_problem(rows) and not options.although
    if options.dry_run:
        print(runs.shown_command(plan), flush=True)
    if options.dry_run or worth_telling(rows):
        print(told(rows), end="", file=sys.stderr, flush=True)
    if options.dry_run:
        return FAILED if stops else DONE
    if stops:
        raise RunError("Not started: see the problems above. Correct them, or give --although to start all the same.")
    run_id = runs.start(plan, text, request.secrets)
    print(run_id, flush=True)
    return follow(runs, run_id, options.runs_dir) if options.follow else DONE


def _request(options: argparse.Namespace, text: str) -> LaunchRequest:
    script = Path(options.script).expanduser().absolute()
    given = vars(options)
    values = {name: given[name] for name in ("reader", *_PLACES, *_SEVERAL, *_SLURM, *_OTHERS)}
    values |= {name: "\n".join(given[name]) for name in ("environment", "slurm_options")}
    values |= {"script": str(script), "directory": options.directory or str(script.parent)}
    request = request_of(values | _elsewhere(options), text, options.python)
    return replace(request, arguments=tuple(options.arguments))


def _elsewhere(options: argparse.Namespace) -> dict[str, Any]:
    """Where it trains, and what is said of that place."""
    if options.slurm_nodes is None and any(getattr(options, name) for name in _SLURM):
        raise PlanError("--partition and the like are about Slurm. Give --slurm-nodes too, or leave them out.")
    if not options.hostfile and any(getattr(options, name) for name in _SEVERAL):
        raise PlanError("--include, --exclude and --master-addr are about a hostfile. Give it with --hostfile.")
    if options.slurm_nodes is not None and (options.gpus or options.hostfile):
        raise PlanError("Slurm chooses the GPUs and the nodes. Leave out --gpus and --hostfile, or --slurm-nodes.")
    if options.hostfile:
        text = _text(options.hostfile, "Hostfile", "a file such as “worker-0 slots=4”")
        return {"where": SEVERAL, "hostfile": text, "ranks": 0}
    if options.slurm_nodes is None:
        return {}
    on_cpu = options.slurm_per_node is None
    per_node = options.ranks if on_cpu else options.slurm_per_node
    return {"where": SLURM, "slurm_on_cpu": on_cpu, "slurm_per_node": per_node}


def _text(path: Path, what: str, expected: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{what}: {path} can't be read ({error}). Expected {expected} in {os.getcwd()}.") from error
