"""`dsgui export`: all points and telemetry of a run, for other programs."""

import argparse
import sys
from pathlib import Path

from dsgui.commands.run_options import DONE, add_run, find_run, open_store
from dsgui.runs.export import Exports

HELP = "export all points and telemetry of a run as CSV or as TensorBoard event files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    add_run(parser)
    parser.add_argument("--to", choices=("csv", "tensorboard"), required=True, help="csv: one file, one row per value")
    parser.add_argument(
        "path", type=Path, metavar="FILE_OR_DIR", help="a new file for csv (- is standard output); a folder otherwise"
    )


def run(options: argparse.Namespace) -> int:
    """Writes; says where. Raises `RunError`."""
    store, runs = open_store(options)
    exports, run_id = Exports(store, runs), find_run(runs, options.run)
    if options.to == "tensorboard":
        exports.write_tensorboard(run_id, options.path)
        print(f"tensorboard --logdir {options.path}", file=sys.stderr)
    elif str(options.path) == "-":
        for piece in exports.csv(run_id):
            sys.stdout.buffer.write(piece)
        sys.stdout.flush()
    else:
        exports.write_csv(run_id, options.path)
        print(options.path, file=sys.stderr)
    return DONE
