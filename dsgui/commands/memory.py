"""`dsgui memory`: what a training takes of its GPUs and of the host, and whether it fits."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dsgui.commands import asking, memory_asking
from dsgui.commands.field_options import add_model, add_room
from dsgui.commands.model_memory import case_of, judged, nvme_of, room_for
from dsgui.commands.validate import add_context_arguments, check, given_arguments
from dsgui.core.config.context import Context
from dsgui.core.errors import DsguiError
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits import asked as told_of
from dsgui.core.memory.fits.beyond import Beyond, beyond
from dsgui.core.memory.fits.beyond import as_json as beyond_json
from dsgui.core.memory.fits.beyond import as_text as beyond_text
from dsgui.core.memory.fits.cheapest import Cheapest, cheapest, in_bf16, is_wanted
from dsgui.core.memory.fits.cheapest import as_json as cheapest_json
from dsgui.core.memory.fits.cheapest import as_text as cheapest_text
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.memory_report import as_json, as_text
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.question import Group
from dsgui.core.texts.saying import Said, words
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.files.folders import default_runs_dir
from dsgui.shell.machine.machine_reader import read_here

FITS, SHORT, CANNOT_SAY = 0, 1, 2
Change = tuple[Cheapest | Said | None, Said | None, tuple[Beyond, ...]]  # and what would fit as well, or instead
_CODES = {Fit.FITS: FITS, Fit.TIGHT: FITS, Fit.SHORT: SHORT, Fit.UNKNOWN: CANNOT_SAY}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memory`."""
    parser.add_argument("file", type=Path, metavar="CONFIG", help=words("options", "config_file"))
    add_model(parser)
    add_room(parser)
    add_context_arguments(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help=words("options", "format"))
    group = parser.add_argument_group(words("options", "dry_group"), words("options", "dry_group_about"))
    group.add_argument("--ask", action="store_true", help=words("options", "dry_ask"))
    asking.add_target(group, memory_asking.LIMIT_S, words("options", "dry_timeout"))


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: it fits, perhaps tightly; 1: it does not; 2: it can't be said, or something could not be
    read."""
    try:
        asked = memory_asking.ask(options) if options.ask else None
        fitted = asked.counting if asked else fitted_for(options)
        change = change_for(fitted, options)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return CANNOT_SAY
    if options.format == "json":
        told = as_json(fitted) | told_of.as_json(asked) | change_json(change)
        print(json.dumps({"file": str(options.file), **told}, indent=2))
    elif isinstance(fitted, CannotSay):
        why = fitted if asked else told_of.pointed_on(fitted)
        print(as_text(why) + told_of.as_text(asked), end="", file=sys.stderr)
    else:
        print(as_text(fitted) + told_of.as_text(asked) + change_text(change), end="")
    return CANNOT_SAY if isinstance(fitted, CannotSay) else _CODES[fitted.verdict.fit]


def fitted_for(options: argparse.Namespace) -> Fitted | CannotSay:
    """The verdict on the file that the options name. Raises `DsguiError`."""
    checker = Checker(Catalog().schema())
    arguments = given_arguments(options)
    checked = check(options.file, checker, options, arguments)
    return judged(checked, checker, options, arguments)


def change_for(fitted: Fitted | CannotSay, options: argparse.Namespace) -> Change:
    """The cheapest change that makes it fit where it does not, or only just. Raises `DsguiError`."""
    if isinstance(fitted, CannotSay) or not is_wanted(fitted):
        return None, None, ()
    checker = Checker(Catalog().schema())
    arguments = given_arguments(options)
    checked = check(options.file, checker, options, arguments)
    case = case_of(checked, options, arguments)
    found = cheapest(fitted, case, checked.document, checker)
    other = in_bf16(found, fitted, case, checked.document, checker)
    if not isinstance(found, Said) or fitted.verdict.fit is not Fit.SHORT:
        return found, other, ()
    machine, nvme = read_here(default_runs_dir()), nvme_of(options, checked.context)

    def rooms(context: Context, group: Group) -> Room:
        return room_for(options, machine, context, group, None if isinstance(nvme, CannotSay) else nvme)

    return found, other, beyond(case, checked.document, checker, rooms)


def change_text(change: Change) -> str:
    """Below the verdict."""
    found, other, others = change
    return f"\n{lines}" if (lines := cheapest_text(found, other) + beyond_text(others)) else ""


def change_json(change: Change) -> dict[str, Any]:
    """Beside the verdict, where it is too little or only just enough."""
    found, other, others = change
    told = cheapest_json(found, other)
    return {"cheapest": told} | ({"beyond": [beyond_json(one) for one in others]} if others else {}) if told else {}
