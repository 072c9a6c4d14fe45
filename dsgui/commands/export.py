"""`dsgui export`: all points and telemetry of a run, for other programs."""

import argparse
import sys
from pathlib import Path

from dsgui.commands.run_options import DONE, add_run, find_run, open_store
from dsgui.core.texts.saying import words
from dsgui.runs.export import Exports


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    add_run(parser)
    parser.add_argument("--to", choices=("csv", "tensorboard"), required=True, help=words("options", "export_to"))
    parser.add_argument("path", type=Path, metavar="FILE_OR_DIR", help=words("options", "export_path"))


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
