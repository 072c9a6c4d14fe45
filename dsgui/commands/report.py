"""`dsgui report`: one run, or several compared, as one HTML file to hand on."""

import argparse
import sys
from pathlib import Path

from dsgui.commands.run_options import DONE, add_runs_dir, find_run, open_store
from dsgui.core.errors import RunError
from dsgui.core.texts.saying import words, wrong
from dsgui.runs.report import Reports, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `report`."""
    parser.add_argument("run", nargs="+", metavar="RUN", help=words("options", "runs"))
    parser.add_argument("--baseline", metavar="RUN", help=words("options", "baseline"))
    add_runs_dir(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=words("options", "new_file"))


def run(options: argparse.Namespace) -> int:
    """Writes; says where. Raises `RunError`."""
    store, runs = open_store(options)
    found = [find_run(runs, named) for named in options.run]
    baseline = found[0] if options.baseline is None else find_run(runs, options.baseline)
    if baseline not in found:
        raise RunError(wrong("report.baseline", run=baseline))
    write(options.output, Reports(store, runs).html(found, baseline))
    print(options.output, file=sys.stderr)
    return DONE
