"""What the commands about runs share: the folder of runs, and naming one of them."""

import argparse
import os
import sys
from pathlib import Path

from dsgui.commands.field_options import add_field
from dsgui.core.access.secrets import secret_values
from dsgui.core.errors import RunError
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.core.texts.saying import listed, words, wrong
from dsgui.runs.runs import Runs
from dsgui.shell.files.folders import default_runs_dir
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store

DONE, FAILED, REFUSED = 0, 1, 2


def add_reader(parser: argparse._ActionsContainer) -> None:
    """The option --reader."""
    add_field(parser, BY_NAME["reader"])


def add_runs_dir(parser: argparse.ArgumentParser) -> None:
    """The option --runs-dir, as `app.py` has it."""
    parser.add_argument("--runs-dir", type=Path, default=default_runs_dir(), help=words("options", "runs_dir"))


def add_run(parser: argparse.ArgumentParser) -> None:
    """The argument RUN, and --runs-dir."""
    parser.add_argument("run", metavar="RUN", help=words("options", "run"))
    add_runs_dir(parser)


def open_runs(options: argparse.Namespace) -> Runs:
    """The runs of the folder, told of without the secrets of this process's environment: a terminal is shown to others,
    too. Raises `RunError`."""
    return open_store(options)[1]


def open_store(options: argparse.Namespace) -> tuple[Store, Runs]:
    """The folder, and its runs as `open_runs` has them. Raises `RunError`."""
    store = Store(options.runs_dir)
    return store, Runs(store, Launcher(), secrets=secret_values(os.environ))


def called() -> str:
    """How this program was started, to be named in a sentence: the command is not on PATH in a checkout."""
    return "dsgui" if Path(sys.argv[0]).name == "dsgui" else "python -m dsgui"


def find_run(runs: Runs, named: str) -> str:
    """The id of the run that `named` means. Raises `RunError` when it is none or more than one."""
    if not named:
        raise RunError(wrong("run.no_id", dsgui=called()))
    ids = runs.ids()
    if named == "last" and ids:
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(named)]
    if len(found) == 1 or named in found:
        return named if named in found else found[0]
    if not found:
        raise RunError(wrong("run.not_found", run=named, dsgui=called()))
    given = {"run": named, "count": str(len(found)), "runs": listed(found[:4])}
    raise RunError(wrong("run.several", **given))
