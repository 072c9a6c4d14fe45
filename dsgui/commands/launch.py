"""`dsgui launch`: start a run as the page does; it belongs to a supervisor, not to this terminal."""

import argparse
import os
import sys
from pathlib import Path

from dsgui.commands.before_start import rows_of_plan, told, worth_telling
from dsgui.commands.logs import follow
from dsgui.commands.run_options import DONE, FAILED, add_reader, add_runs_dir, open_runs
from dsgui.core.errors import PlanError, RunError
from dsgui.core.hostfile import Machines
from dsgui.core.plan import AS_SCRIPT_READS, READERS, ConfigArgument, LaunchRequest, StartedBy, WhenBusy
from dsgui.core.slurm import SlurmJob
from dsgui.core.variables import plain_and_secret
from dsgui.core.verdicts import has_problem

HELP = "start a run: launch --config ds_config.json train.py [arguments of the script]"
_WHEN_BUSY = {"wait": WhenBusy.WAIT, "start": WhenBusy.START, "refuse": WhenBusy.REFUSE}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `launch`; what follows the script is the script's."""
    parser.add_argument("--config", type=Path, required=True, help="the ds_config.json; the run keeps its own copy")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--gpus", type=_indices, default=(), help="GPUs by number, as nvidia-smi counts: 0,1")
    where.add_argument("--ranks", type=int, default=1, help="ranks on the CPU (default: %(default)s)")
    where.add_argument("--hostfile", type=Path, help="several machines, one a line: worker-0 slots=4")
    parser.add_argument("--include", default="", help="of the hostfile, these only: worker-0@worker-1:0,2")
    parser.add_argument("--exclude", default="", help="of the hostfile, all but these")
    parser.add_argument("--master-addr", default="", help="where the ranks meet (default: the first machine's address)")
    slurm = parser.add_argument_group("Slurm", "--slurm-nodes submits a batch script and follows its job")
    slurm.add_argument("--slurm-nodes", type=int, metavar="N", help="how many nodes to ask for")
    slurm.add_argument("--gpus-per-node", type=int, metavar="N", help="without it, --ranks ranks a node on its CPU")
    slurm.add_argument("--partition", default="", help="(default: Slurm's)")
    slurm.add_argument("--time", default="", help="limit: minutes or [days-]hours:minutes:seconds")
    slurm.add_argument("--account", default="", help="(default: yours)")
    slurm.add_argument(
        "--slurm-option", action="append", default=[], metavar="=--OPTION", help="a further one of sbatch"
    )
    add_reader(parser)
    parser.add_argument("--launcher", choices=[kind.value for kind in StartedBy], default=StartedBy.DEEPSPEED.value)
    parser.add_argument(
        "--when-busy", choices=_WHEN_BUSY, help="if another run uses these GPUs (default: wait; on the CPU: start)"
    )
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="an environment variable")
    parser.add_argument("--name", default="", help="of the run (default: the script's)")
    parser.add_argument("--cwd", default="", help="working directory (default: the script's folder)")
    parser.add_argument("--port", type=int, help="master port (default: a free one)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that trains (default: this one)")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the command and the checks, and start nothing; exit 1: problems"
    )
    parser.add_argument(
        "--no-logging-steps",
        action="store_true",
        help="don’t add --logging_steps 10, which scripts with the HF Trainer are given where they would log every 500 "
        "steps",
    )
    parser.add_argument("--although", action="store_true", help="start although a check says that the run would fail")
    parser.add_argument("-f", "--follow", action="store_true", help="print the run's output until it has ended")
    add_runs_dir(parser)
    parser.add_argument("script", help="the Python file that trains")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own")


def _indices(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"“{text}” is no list of GPU numbers such as 0,1")
    return tuple(sorted(int(word) for word in words))


def run(options: argparse.Namespace) -> int:
    """Prints the run's id. Raises `PlanError` or `RunError`."""
    runs = open_runs(options)
    text = _text(options.config, "Config", "a JSON file")
    variables, secrets = plain_and_secret("\n".join(options.env))
    plan = runs.prepare(_request(options, text, variables, secrets))
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
    run_id = runs.start(plan, text, secrets)
    print(run_id, flush=True)
    return follow(runs, run_id, options.runs_dir) if options.follow else DONE


def _request(
    options: argparse.Namespace, text: str, variables: dict[str, str], secrets: dict[str, str]
) -> LaunchRequest:
    script = Path(options.script).expanduser().absolute()
    return LaunchRequest(
        name=options.name,
        script=str(script),
        arguments=tuple(options.arguments),
        ranks=len(options.gpus) or options.ranks,
        gpu_indices=options.gpus,
        master_port=options.port,
        working_directory=options.cwd or str(script.parent),
        config_text=text,
        config_argument=READERS.get(options.reader, ConfigArgument.HF),
        as_script_reads=options.reader == AS_SCRIPT_READS,
        target_python=options.python,
        environment=variables,
        started_by=StartedBy(options.launcher),
        when_busy=_WHEN_BUSY.get(options.when_busy, WhenBusy.usual(bool(options.gpus or options.hostfile))),
        secrets=secrets,
        machines=_machines(options),
        slurm=_slurm(options),
        logs=not options.no_logging_steps,
    )


def _slurm(options: argparse.Namespace) -> SlurmJob | None:
    if options.slurm_nodes is None:
        if options.gpus_per_node or options.partition or options.time or options.account or options.slurm_option:
            raise PlanError("--partition and the like are about Slurm. Give --slurm-nodes too, or leave them out.")
        return None
    on_cpu = options.gpus_per_node is None
    per_node = options.ranks if on_cpu else options.gpus_per_node
    asked = "\n".join(options.slurm_option)
    return SlurmJob(options.slurm_nodes, per_node, on_cpu, options.partition, options.time, options.account, asked)


def _machines(options: argparse.Namespace) -> Machines | None:
    if options.hostfile:
        text = _text(options.hostfile, "Hostfile", "a file such as “worker-0 slots=4”")
        return Machines(text, options.include, options.exclude, options.master_addr)
    if options.include or options.exclude or options.master_addr:
        raise PlanError("--include, --exclude and --master-addr are about a hostfile. Give it with --hostfile.")
    return None


def _text(path: Path, what: str, expected: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{what}: {path} can't be read ({error}). Expected {expected} in {os.getcwd()}.") from error
