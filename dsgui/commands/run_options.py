"""What the commands about runs share: the folder of runs, and naming one of them."""

import argparse
import os
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.plan import AS_SCRIPT_READS, READERS
from dsgui.core.secrets import secret_values
from dsgui.runs import Runs
from dsgui.shell.folders import default_runs_dir
from dsgui.shell.launcher import Launcher
from dsgui.shell.store import Store

DONE, FAILED, REFUSED = 0, 1, 2
_HOW = (
    "how the script gets the config. auto: as its source reads it, else as hf; hf: --deepspeed FILE; native: "
    "--deepspeed --deepspeed_config FILE; llamafactory: deepspeed=FILE after a YAML file; accelerate, lightning: by "
    "the variables that each reads; script-hf, none: not at all, it reads one of its own (with the HF Trainer or "
    "accelerate; natively). "
    "{config} among the script's arguments stands for the config's place (default: %(default)s)"
)


def add_reader(parser: argparse._ActionsContainer) -> None:
    """The option --reader."""
    parser.add_argument("--reader", choices=(AS_SCRIPT_READS, *READERS), default=AS_SCRIPT_READS, help=_HOW)


def add_runs_dir(parser: argparse.ArgumentParser) -> None:
    """The option --runs-dir, as `app.py` has it."""
    parser.add_argument(
        "--runs-dir", type=Path, default=default_runs_dir(), help="where runs are kept (default: %(default)s)"
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """The argument RUN, and --runs-dir."""
    parser.add_argument("run", metavar="RUN", help="a run's id, the beginning of one, or “last”")
    add_runs_dir(parser)


def open_runs(options: argparse.Namespace) -> Runs:
    """The runs of the folder. Raises `RunError`."""
    return Runs(Store(options.runs_dir), Launcher())


def open_store(options: argparse.Namespace) -> tuple[Store, Runs]:
    """The folder, and its runs without the secrets of this process's environment: for what is given to others. Raises
    `RunError`."""
    store = Store(options.runs_dir)
    return store, Runs(store, Launcher(), secrets=secret_values(os.environ))


def find_run(runs: Runs, named: str) -> str:
    """The id of the run that `named` means. Raises `RunError` when it is none or more than one."""
    ids = runs.ids()
    if named == "last" and ids:
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(named)]
    if len(found) == 1 or named in found:
        return named if named in found else found[0]
    if not found:
        raise RunError(f"Run “{named}”: there is none. See “python -m dsgui runs” for those there are.")
    raise RunError(f"Run “{named}”: {len(found)} runs begin so ({', '.join(found[:4])} …). Give more of the id.")
