"""`dsgui import`: what another tool's settings or command line say, as a run that dsgui would start."""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dsgui.commands.validate import FAILED, NOT_CHECKED, PASSED, add_context_arguments, context_of, given_arguments
from dsgui.core.access.secrets import MASK, is_secret_name
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.launch.spec import typed_arguments
from dsgui.core.texts.saying import words, wrong
from dsgui.core.validation.check_report import FORMATS, Checked
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.imports import Imported, open_config, open_file, read_text
from dsgui.shell.files.json_files import replace_file

_MOST = 1 << 20
# The Launch page's fields that have an option of the same meaning.
_OPTIONS = {"reader": "--reader", "started_by": "--launcher", "port": "--port", "model": "--model"}
_OPTIONS |= {"length": "--length", "lora_rank": "--lora-rank"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `import`."""
    parser.add_argument("file", metavar="FILE", help=words("options", "run_file"))
    parser.add_argument("--config", type=Path, metavar="FILE", help=words("options", "run_config"))
    parser.add_argument("--out", type=Path, metavar="FILE", help=words("options", "run_out"))
    add_context_arguments(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help=words("options", "format"))


def run(options: argparse.Namespace) -> int:
    """Prints the run. 0: no errors in its config; 1: errors, or no config; 2: not read, which is told on stderr."""
    try:
        found = _opened(options.file)
        if found.run is None:
            raise DocumentError(wrong("import.no_run", path=options.file))
        text = found.text or (open_config(options.config).text if options.config else "")
        checked = _checked(found, text, options) if text else None
        if text and options.out:
            replace_file(options.out, text.encode())
    except (DsguiError, OSError) as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return NOT_CHECKED
    told = _as_json(found, text, checked) if options.format == "json" else _as_text(found, checked, options)
    sys.stdout.write(told)
    return PASSED if checked and not checked.has_error else FAILED


def _opened(file: str) -> Imported:
    if file != "-":
        return open_file(Path(file))
    text = sys.stdin.read(_MOST + 1)
    if len(text) > _MOST:
        raise DocumentError(wrong("import.too_large", path="-", most="1 MiB"))
    return read_text(text)


def _checked(found: Imported, text: str, options: argparse.Namespace) -> Checked:
    assert found.run is not None
    arguments = given_arguments(options) or found.run.trainer or typed_arguments(found.run.fields)
    document, context = Document(text), context_of(found, options, arguments)
    findings = Checker(Catalog().schema()).findings(document, context, found.written, fixes=False)
    return Checked(options.file, document, False, context, tuple(findings))


def _as_text(found: Imported, checked: Checked | None, options: argparse.Namespace) -> str:
    assert found.run is not None
    lines = [words("imported", "told", name=options.file, kind=found.run.source)]
    lines += [f"- {note}" for note in found.notes]
    config = options.out or options.config or Path("ds_config.json")
    lines += ["", words("imported", "start_with"), f"  {shlex.join(launch_words(found.run.fields, config))}"]
    return "\n".join(lines) + "\n" + (f"\n{FORMATS['text']([checked])}" if checked else "")


def launch_words(fields: Mapping[str, Any], config: Path) -> list[str]:
    """The command that starts the run; where the script is still to be named, SCRIPT stands."""
    line = ["dsgui", "launch", "--config", str(config)]
    for name, option in _OPTIONS.items():
        if value := fields.get(name):
            line += [option, str(value)]
    if fields.get("checkpointing"):
        line.append("--checkpointing")
    if fields.get("gpus"):
        line += ["--gpus", ",".join(fields["gpus"])]
    elif fields.get("ranks"):
        line += ["--ranks", str(fields["ranks"])]
    for variable in filter(None, str(fields["environment"]).split("\n")):
        name, _, value = variable.partition("=")
        line += ["--env", f"{name}={MASK if is_secret_name(name) else value}"]
    return [*line, fields["script"] or "SCRIPT", *shlex.split(fields["arguments"])]


def _as_json(found: Imported, text: str, checked: Checked | None) -> str:
    assert found.run is not None
    answer = {
        "kind": found.run.source,
        "fields": dict(found.run.fields),
        "notes": list(found.notes),
        "config": Document(text).value if text else None,
        "findings": [finding.message for finding in checked.findings] if checked else None,
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, default=str) + "\n"
