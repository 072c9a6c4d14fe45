"""`dsgui memory`: what a training takes of its GPUs and of the host, and whether it fits."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from dsgui.commands.run_options import add_field
from dsgui.commands.validate import add_context_arguments, context_of, given_arguments
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.document import Document
from dsgui.core.errors import DsguiError
from dsgui.core.launch.field import Part
from dsgui.core.launch.run_fields import complete, fields_of
from dsgui.core.launch.spec import model_of
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.machine import Machine
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice, of_words
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import as_json, as_text
from dsgui.core.memory.fits.overhead import asks_for_expandable
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.question import Group
from dsgui.core.sizes import GIB
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.imports import open_file
from dsgui.shell.files.folders import default_runs_dir
from dsgui.shell.machine.machine_reader import read_here
from dsgui.shell.preflight.model_shapes import ModelShapes

HELP = "what a training takes of GPU and host memory; exit 0: fits, 1: does not, 2: can’t say"
FITS, SHORT, CANNOT_SAY = 0, 1, 2
_CODES = {Fit.FITS: FITS, Fit.TIGHT: FITS, Fit.SHORT: SHORT, Fit.UNKNOWN: CANNOT_SAY}
_MOST = 10**6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memory`."""
    parser.add_argument("file", type=Path, metavar="CONFIG", help="a ds_config.json or an accelerate YAML")
    add_model_arguments(parser)
    parser.add_argument("--micro-batch", type=_count, metavar="B", help="sequences a GPU (default: the config's)")
    parser.add_argument(
        "--workers", type=_number, default=0, metavar="N", help="DataLoader workers a rank (default: none)"
    )
    parser.add_argument(
        "--host-memory", type=_number, metavar="GIB", help="host memory of a node in GiB (default: this machine's)"
    )
    add_context_arguments(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="of the answer (default: %(default)s)"
    )


def add_model_arguments(parser: argparse._ActionsContainer) -> None:
    """The options that say which model, and how much of it at once."""
    for field in fields_of(Part.MODEL):
        add_field(parser, field)


def _count(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 1 to {_MOST}")


def _number(text: str) -> int:
    if text.isdecimal() and int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 0 to {_MOST}")


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: it fits, perhaps tightly; 1: it does not; 2: it can't be said, or something could not be
    read."""
    try:
        fitted = fitted_for(options)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return CANNOT_SAY
    if options.format == "json":
        print(json.dumps({"file": str(options.file), **as_json(fitted)}, indent=2))
    elif isinstance(fitted, CannotSay):
        print(as_text(fitted), end="", file=sys.stderr)
    else:
        print(as_text(fitted), end="")
    return CANNOT_SAY if isinstance(fitted, CannotSay) else _CODES[fitted.verdict.fit]


def fitted_for(options: argparse.Namespace) -> Fitted | CannotSay:
    """The verdict on the file that the options name. Raises `DsguiError`."""
    checker, machine = Checker(Catalog().schema()), read_here(default_runs_dir())
    arguments = given_arguments(options)
    found = open_file(options.file)
    document, context = Document(found.text), context_of(found, options, arguments)
    choice = choice_of(options, arguments)
    case = Case(
        config=document.value,
        context=context,
        findings=checker.findings(document, context, found.written, fixes=False),
        model=ModelShapes().read(choice.model),
        choice=choice,
        micro_batch=options.micro_batch,
    )
    return fit(case, checker.schema, lambda group: room_for(options, machine, context.hardware, group))


def choice_of(options: argparse.Namespace, arguments: TrainingArguments | None) -> ModelChoice:
    """What the options say, then the script's arguments. Raises `PlanError`."""
    given = vars(options)
    said = model_of(complete({field.name: given[field.name] for field in fields_of(Part.MODEL)}))
    named = arguments.model_name_or_path if arguments else ""
    return said.over(of_words(_words(options.training_args))).over(ModelChoice(model=named))


def _words(text: str | None) -> list[str]:
    """Those of a command line; a file or an object of arguments has none."""
    if not (text or "").lstrip().startswith("-"):
        return []
    try:
        return shlex.split(text or "")
    except ValueError:
        return []


def room_for(options: argparse.Namespace, machine: Machine, planned: tuple[Hardware, ...], group: Group) -> Room:
    """The card that was asked for, else this machine's; the host is this one's."""
    own = tuple(
        Hardware("this", f"GPU {gpu.index}: {gpu.name}", "nvidia", gpu.capability, gpu.memory_bytes)
        for gpu in machine.gpus
    )
    return room_of(
        planned or own,
        machine.host,
        group,
        gpus=machine.gpus,
        host_bytes=options.host_memory * GIB if options.host_memory else None,
        expandable=asks_for_expandable(os.environ),
        workers=options.workers,
    )
