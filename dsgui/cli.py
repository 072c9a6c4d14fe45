"""`dsgui …`: a command, or the pages. A command is a module with HELP, add_arguments and run."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import dsgui
from dsgui.core.errors import DsguiError
from dsgui.core.texts.languages import LANGUAGES, preferred, speaking
from dsgui.core.texts.saying import text_of
from dsgui.shell.files.installation import missing

COMMANDS = (
    *("serve", "validate", "resolve", "memory", "rules", "doctor"),
    *("launch", "runs", "logs", "stop", "export", "report"),
)
_LANGUAGE = "--lang"
_TERMINALS = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides
_OF_ALL = ("-h", "--help", "--version")
_REFUSED, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name, or serves the pages; returns its exit code, 2 where it can't."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        tag, words = _language(words)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return _REFUSED
    with speaking(tag):
        return _run(words)


def _language(words: list[str]) -> tuple[str, list[str]]:
    """What --lang before the command says, else the terminal's; and the arguments without it. Raises `DsguiError`."""
    first, _, given = words[0].partition("=") if words else ("", "", "")
    if first != _LANGUAGE:
        return preferred(next(filter(None, map(os.environ.get, _TERMINALS)), "")), words
    tag, rest = (given, words[1:]) if given else ("".join(words[1:2]), words[2:])
    if tag not in LANGUAGES:
        raise DsguiError(text_of("commands", "no_language", {"tag": tag, "tags": ", ".join(LANGUAGES)}))
    return tag, rest


def _run(words: list[str]) -> int:
    if not words or (words[0].startswith("-") and words[0] not in _OF_ALL):
        words = ["serve", *words]
    named = words[0] if words[0] in COMMANDS else ""
    try:
        # Only what is asked for is imported: checking a config needs neither what draws curves nor what serves pages.
        options = _parser([named] if named else COMMANDS).parse_args(words)
        code: int = options.do(options)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return _REFUSED
    except ModuleNotFoundError as error:
        if not (told := missing(error.name or "", f"dsgui {named}")):
            raise
        print(f"dsgui: {told}", file=sys.stderr)
        return _REFUSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _parser(names: Iterable[str]) -> argparse.ArgumentParser:
    """Knows the commands `names`."""
    parser = argparse.ArgumentParser(
        prog="dsgui",
        description="Write, check and launch DeepSpeed configs, and monitor the runs. Without a command: serve the "
        "pages, with the "
        "options of “dsgui serve”.",
    )
    parser.add_argument("--version", action="version", version=f"dsgui {dsgui.__version__}")
    told = text_of("commands", "language", {"tags": ", ".join(LANGUAGES)})
    parser.add_argument(_LANGUAGE, choices=LANGUAGES, metavar="TAG", help=told)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        module = import_module(f"dsgui.commands.{name}")
        command = commands.add_parser(name, allow_abbrev=False, help=module.HELP)
        module.add_arguments(command)
        command.set_defaults(do=module.run)
    return parser
