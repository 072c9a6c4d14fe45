"""`dsgui report`: one run, or several compared, as one HTML file to hand on."""

import argparse
import sys
from pathlib import Path

from dsgui.commands.run_options import DONE, add_runs_dir, find_run, open_store
from dsgui.runs.report import Reports, write

HELP = "write a report on one run, or a comparison of several, as one HTML file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `report`."""
    parser.add_argument("run", nargs="+", metavar="RUN", help="run ids or their beginnings, or “last”")
    add_runs_dir(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="a new file")


def run(options: argparse.Namespace) -> int:
    """Writes; says where. Raises `RunError`."""
    store, runs = open_store(options)
    found = [find_run(runs, named) for named in options.run]
    write(options.output, Reports(store, runs).html(found))
    print(options.output, file=sys.stderr)
    return DONE
