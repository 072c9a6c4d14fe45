"""`dsgui launch`: start a run as the page does; it belongs to a supervisor, not to this terminal."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.commands.before_start import judged_plan, told, worth_telling
from dsgui.commands.field_options import add_field, add_model
from dsgui.commands.logs import follow
from dsgui.commands.run_options import DONE, FAILED, add_reader, add_runs_dir, open_runs
from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.plan import LaunchRequest
from dsgui.core.launch.recipes import BY_NAME as RECIPES
from dsgui.core.launch.run_fields import BY_NAME, fields_of
from dsgui.core.launch.spec import request_of
from dsgui.core.launch.where import PLACES
from dsgui.core.machine.verdicts import has_problem
from dsgui.core.preflight.preflight import is_final
from dsgui.core.texts.saying import words, wrong
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.plain_text import expanded, read_plain
from dsgui.shell.files.refusals import os_reason

# Of what is to run, how the options are grouped; the rest of the fields is the page's.
_DEVICES = ("gpus", "ranks")
_OF_PLACES = tuple(field for kind in PLACES for field in kind.FIELDS if field.option)
_MODEL = tuple(field.name for field in fields_of(Part.MODEL))
_OTHERS = ("name", *(field.name for field in fields_of(Part.MORE) if field.option), "logs")
_PLANNED = ("device", "version", "host_memory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `launch`; what follows the script is the script's."""
    parser.add_argument("--config", type=Path, required=True, help=words("options", "launch_config"))
    devices = parser.add_mutually_exclusive_group()
    _add(devices, _DEVICES)
    for kind in PLACES:
        group = parser.add_argument_group(kind.called(), kind.options_note()) if kind.options_note() else parser
        for field in (one for one in kind.FIELDS if one.option):
            add_field(devices if field.instead_of_devices else group, field)
    add_reader(parser)
    _add(parser, (*_OTHERS, *_PLANNED))
    add_model(parser.add_argument_group(words("options", "model_group"), words("options", "model_group_about")))
    parser.add_argument("--python", default=sys.executable, help=words("options", "python"))
    parser.add_argument("--dry-run", action="store_true", help=words("options", "dry_run"))
    parser.add_argument("--although", action="store_true", help=words("options", "although"))
    parser.add_argument("-f", "--follow", action="store_true", help=words("options", "launch_follow"))
    add_runs_dir(parser)
    parser.add_argument("script", help=words("options", "script"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=words("options", "script_arguments"))


def _add(parser: argparse._ActionsContainer, names: Iterable[str]) -> None:
    for name in names:
        add_field(parser, BY_NAME[name])


def run(options: argparse.Namespace) -> int:
    """Prints the run's id. Raises `PlanError`, `RunError`, or `DocumentError` for a config that can't be read."""
    runs = open_runs(options)
    text = read_plain(expanded(options.config))
    request = _request(options, text)
    plan = runs.prepare(request)
    if added := plan.arguments[len(options.arguments) :]:
        print(words("commands", "added", options=" ".join(added)), file=sys.stderr, flush=True)
    rows, foretold = judged_plan(plan, text, runs, options.runs_dir)
    stops = has_problem(rows) and (not options.although or is_final(rows))
    if options.dry_run:
        print(runs.shown_command(plan), flush=True)
    if options.dry_run or worth_telling(rows):
        print(told(rows), end="", file=sys.stderr, flush=True)
    if options.dry_run:
        return FAILED if stops else DONE
    if stops:
        raise RunError(wrong("run.problems"))
    run_id = runs.start(plan, text, request.handed_on, foretold, numbered=not (options.name or "").strip())
    print(run_id, flush=True)
    return follow(runs, run_id, options.runs_dir) if options.follow else DONE


def _request(options: argparse.Namespace, text: str) -> LaunchRequest:
    script = Path(options.script).expanduser().absolute()
    given = vars(options)
    fields = (*(BY_NAME[name] for name in ("reader", *_DEVICES, *_OTHERS, *_MODEL, *_PLANNED)), *_OF_PLACES)
    values = {field.name: _said(field, given[field.name]) for field in fields}
    values |= {"script": str(script), "directory": options.directory or _begins_in(script)}
    said = {name: value for name, value in (values | _where(values)).items() if value is not None}
    request = request_of(said, text, options.python)
    return replace(request, arguments=tuple(options.arguments), name=request.name.strip() or _title(script))


def _begins_in(script: Path) -> str:
    """Its own folder; "", which is the run's, for a bundled recipe: what that writes is the run's, as on the page."""
    return "" if Catalog().is_recipe(script) else str(script.parent)


def _title(script: Path) -> str:
    """What runs of a bundled recipe are called, as on the page; "" for another script, whose file's name is taken."""
    return RECIPES[script.stem].title if Catalog().is_recipe(script) else ""


def _said(field: Field, given: Any) -> Any:
    """The field's value; None where nothing was said."""
    if field.from_file:
        return None if given is None else _text(given, field.told("label"), field.told("from_file"))
    return "\n".join(given) if field.kind is Kind.LINES else given


def _where(given: Mapping[str, Any]) -> dict[str, Any]:
    """Where it trains, and what that changes in the values. Raises `PlanError`."""
    asked = [(kind, values) for kind in PLACES if (values := kind.of_options(given)) is not None]
    usual, *chosen = asked  # the first place needs no option
    if len(chosen) > 1:
        first, second = (kind.called() for kind, _ in chosen[:2])
        raise PlanError(wrong("options.of_two_places", first=first, second=second))
    kind, values = chosen[0] if chosen else usual
    return {**values, "where": kind.NAME}


def _text(path: Path, what: str, expected: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error)
        given = {"what": what, "path": str(path), "why": why, "expected": expected, "folder": os.getcwd()}
        raise PlanError(wrong("file.unreadable", **given)) from error
