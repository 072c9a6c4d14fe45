"""`dsgui resolve`: what DeepSpeed is really given, each value with where it comes from."""

import argparse
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.commands.validate import FAILED, NOT_CHECKED, PASSED, add_context_arguments, context_of, given_arguments
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.config.filling import Unknown
from dsgui.core.config.findings import Severity
from dsgui.core.config.pointer import MISSING, dotted
from dsgui.core.errors import DsguiError
from dsgui.core.texts.columns import padded, width
from dsgui.core.texts.saying import words, wrong
from dsgui.core.validation.check_report import Checked, file_entry, finding_lines, subject
from dsgui.core.validation.checker import Checker
from dsgui.core.validation.resolve import Resolution, Value, final_json, resolve
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.imports import open_config

_WIDEST = 48  # characters of a value before the column of origins gives way
_MOST = 10**9
_HEAD = ("head_key", "head_value", "head_from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `resolve`."""
    parser.add_argument("file", type=Path, metavar="FILE", help=words("options", "config_file"))
    add_context_arguments(parser)
    parser.set_defaults(integration=Integration.HF.value)
    parser.add_argument("--hidden-size", type=_positive, metavar="N", help=words("options", "hidden_size"))
    parser.add_argument("--total-steps", type=_positive, metavar="N", help=words("options", "total_steps"))
    parser.add_argument("--format", choices=("text", "json"), default="text", help=words("options", "format"))


def _positive(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="1", most=str(_MOST)))


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: DeepSpeed would take it; 1: errors; 2: something could not be read, told on stderr."""
    checker = Checker(Catalog().schema())
    try:
        arguments = _arguments(options)
        found = open_config(options.file)
        document, context = Document(found.text), context_of(found, options, arguments)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return NOT_CHECKED
    told = checker.findings(document, context, found.written, fixes=options.format == "json")
    errors = tuple(finding for finding in told if finding.severity is Severity.ERROR)
    checked = Checked(str(options.file), document, not found.notes, context, errors)
    resolution = resolve(document.value, context, checker.schema)
    sys.stdout.write((_as_json if options.format == "json" else _as_text)(resolution, checked))
    return FAILED if errors else PASSED


def _arguments(options: argparse.Namespace) -> TrainingArguments:
    """Those given, or the Trainer's defaults; the model's size and the steps from options of their own."""
    arguments = given_arguments(options) or TrainingArguments()
    known = {"hidden_size": options.hidden_size, "total_steps": options.total_steps}
    known = {name: value for name, value in known.items() if value is not None}
    return replace(arguments, **known, given=arguments.given | known.keys())


def _as_text(resolution: Resolution, checked: Checked) -> str:
    rows = [(dotted(value.pointer), value.text, _origin(value)) for value in resolution.values]
    key, value, origin = (words("commands", code) for code in _HEAD)
    rows.insert(0, (key, value, origin))
    widths = [max(width(row[column]) for row in rows) for column in range(2)]
    widths[1] = min(widths[1], _WIDEST)
    table = [f"{padded(key, widths[0])}  {padded(value, widths[1])}  {origin}" for key, value, origin in rows]
    head = words("commands", "gets", file=checked.file, subject=subject(checked.context))
    return "\n".join([head, "", *table, "", *_errors(checked)]) + "\n"


def _origin(value: Value) -> str:
    origin, detail = str(value.source.origin.told), value.source.detail
    origin = words("commands", "line", file=origin, line=detail) if detail else origin
    if value.is_changed and value.was == "auto":
        return words("commands", "of_file", origin=origin, was=value.was)
    return origin


def _errors(checked: Checked) -> Iterator[str]:
    if not checked.findings:
        yield words("commands", "no_errors", file=checked.file)
    for finding in checked.findings:
        yield from finding_lines(checked, finding)


def _as_json(resolution: Resolution, checked: Checked) -> str:
    entry = file_entry(checked) | {"values": [_value_entry(value) for value in resolution.values]}
    entry |= {"config": json.loads(final_json(resolution.config))}
    return final_json(entry) + "\n"


def _value_entry(value: Value) -> dict[str, Any]:
    """`value` is null where only the model or the data tell, or where JSON can't express it; `text` says it."""
    unknown = isinstance(value.value, Unknown) or value.value == math.inf
    return {
        "pointer": value.pointer,
        "value": None if unknown else value.value,
        "text": value.text,
        "from": value.source.origin.value,
        "detail": value.source.detail,
        "in_file": value.was is not MISSING,
    }
