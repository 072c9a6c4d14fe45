"""What the commands about runs share: the folder of runs, and naming one of them."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from dsgui.core.access.secrets import secret_values
from dsgui.core.errors import RunError
from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.run_fields import BY_NAME, complete, fields_of
from dsgui.core.launch.spec import model_of
from dsgui.core.memory.choice import ModelChoice
from dsgui.runs.runs import Runs
from dsgui.shell.files.folders import default_runs_dir
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store

DONE, FAILED, REFUSED = 0, 1, 2


def add_reader(parser: argparse._ActionsContainer) -> None:
    """The option --reader."""
    add_field(parser, BY_NAME["reader"])


def add_field(parser: argparse._ActionsContainer, field: Field) -> None:
    """The option of one field of what is to run."""
    given: dict[str, Any] = {"dest": field.name, "help": field.usage or None}
    if field.from_file:
        given |= {"type": Path}
    elif field.kind is Kind.CHOICE:
        given |= {"choices": [value for _, value in field.choices], "default": field.default or None}
    elif field.kind is Kind.LINES:
        given |= {"action": "append", "default": [], "metavar": field.metavar}
    elif field.kind is Kind.COUNT:
        given |= {"type": int, "metavar": field.metavar, "default": None if field.metavar else field.default}
    elif field.kind is Kind.TICK:
        given |= {"action": "store_false" if field.default else "store_true"}
    elif field.kind is Kind.GPUS:
        given |= {"type": _indices, "default": field.default}
    else:
        given |= {"default": field.default}
    parser.add_argument(field.option, **given)


def add_model(parser: argparse._ActionsContainer) -> None:
    """The options that say which model, and how much of it at once."""
    for field in fields_of(Part.MODEL):
        add_field(parser, field)


def model_said(options: argparse.Namespace) -> ModelChoice:
    """What these options say. Raises `PlanError`."""
    given = vars(options)
    return model_of(complete({field.name: given[field.name] for field in fields_of(Part.MODEL)}))


def _indices(text: str) -> tuple[str, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"“{text}” is not a list of GPU indices such as 0,1")
    return tuple(words)


def add_runs_dir(parser: argparse.ArgumentParser) -> None:
    """The option --runs-dir, as `app.py` has it."""
    parser.add_argument(
        "--runs-dir", type=Path, default=default_runs_dir(), help="folder of the runs (default: %(default)s)"
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """The argument RUN, and --runs-dir."""
    parser.add_argument("run", metavar="RUN", help="a run id or its beginning, or “last”")
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
        raise RunError(f"Run: its id is empty. Give one of “{called()} runs”, the beginning of one, or “last”.")
    ids = runs.ids()
    if named == "last" and ids:
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(named)]
    if len(found) == 1 or named in found:
        return named if named in found else found[0]
    if not found:
        raise RunError(f"Run “{named}” not found. See “{called()} runs” for the list.")
    raise RunError(f"Run “{named}”: {len(found)} runs start with it ({', '.join(found[:4])} …). Give more of the id.")
