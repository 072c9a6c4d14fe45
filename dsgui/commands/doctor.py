"""`python -m dsgui doctor`: what a run on this machine would trip over."""

import argparse
import sys
from pathlib import Path

from dsgui.core.machine_checks import check
from dsgui.core.machine_report import FORMATS
from dsgui.core.verdicts import has_problem
from dsgui.shell.folders import default_runs_dir
from dsgui.shell.machine import read_machine

HELP = "check this machine; exit 0: no problem, 1: problems, 2: the Python that trains can't be asked"
PASSED, FAILED, NOT_CHECKED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that trains (default: the one that runs dsgui)"
    )
    parser.add_argument(
        "--runs-dir", type=Path, default=default_runs_dir(), help="where runs are kept (default: %(default)s)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the answer (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: no problem; 1: problems; 2: the interpreter gave no usable answer."""
    machine = read_machine(options.python, options.runs_dir)
    rows = check(machine)
    sys.stdout.write(FORMATS[options.format](machine, rows))
    if machine.problem:
        print(f"dsgui: {machine.problem}", file=sys.stderr)
        return NOT_CHECKED
    return FAILED if has_problem(rows) else PASSED
