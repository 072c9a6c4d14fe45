"""`dsgui …`: a command, or the pages. A command is a module with add_arguments and run."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import dsgui
from dsgui.core.errors import DsguiError
from dsgui.core.texts.columns import width, wrapped
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.languages import LANGUAGES, preferred, speaking, tag_of
from dsgui.core.texts.saying import listed, words
from dsgui.shell.files.installation import missing

COMMANDS = (
    *("serve", "validate", "resolve", "memory", "rules", "doctor"),
    *("launch", "import", "runs", "logs", "stop", "export", "report", "after"),
)
_MODULES = {"import": "elsewhere.import_run"}  # where Python has the word for itself
_LANGUAGE = "--lang"
_RUNS_SCRIPT = "launch"
_TERMINALS = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides
_OF_ALL = ("-h", "--help", "--version")
_REFUSED, _INTERRUPTED, _PIPE_CLOSED = 2, 130, 141
_KIND = "argparse"
_CODES = {text: code for code, text in TEXTS[_KIND].items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name, or serves the pages; returns its exit code, 2 where it can't."""
    wish, given = _language(list(sys.argv[1:] if arguments is None else arguments))
    terminal = preferred(next(filter(None, map(os.environ.get, _TERMINALS)), ""))
    tag = terminal if wish is None else tag_of(wish)
    with speaking(tag or terminal), _in_words():
        if tag:
            return _run(given)
        print(f"dsgui: {words('commands', 'no_language', tag=wish or '', tags=', '.join(LANGUAGES))}", file=sys.stderr)
    return _REFUSED


def _language(given: list[str]) -> tuple[str | None, list[str]]:
    """What --lang says, None without it; and the arguments without it. After the options of `launch` a script may have
    its own: there it counts before and directly behind the command."""
    reach = 2 if _RUNS_SCRIPT in given[:1] else given.index("--") if "--" in given else len(given)
    place = next((at for at, word in enumerate(given[:reach]) if word.partition("=")[0] == _LANGUAGE), None)
    if place is None:
        return None, given
    _, equals, named = given[place].partition("=")
    rest = given[place + 1 :]
    return (named, [*given[:place], *rest]) if equals else ("".join(rest[:1]), [*given[:place], *rest[1:]])


def _run(given: list[str]) -> int:
    if not given or (given[0].startswith("-") and given[0] not in _OF_ALL):
        given = ["serve", *given]
    named = given[0] if given[0] in COMMANDS else ""
    try:
        # Only what is asked for is imported: checking a config needs neither what draws curves nor what serves pages.
        options = _parser([named] if named else COMMANDS).parse_args(given)
        code: int = options.do(options)
        sys.stdout.flush()
    except BrokenPipeError:  # `dsgui runs | head`: whoever read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed at the exit
        return _PIPE_CLOSED
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
    """Knows the commands `names`, in the language in use."""
    parser = argparse.ArgumentParser(prog="dsgui", formatter_class=_Lines, description=words("options", "dsgui"))
    parser.add_argument(
        "--version", action="version", version=f"dsgui {dsgui.__version__}", help=words("options", "version")
    )
    told = words("commands", "language", tags=listed(LANGUAGES))
    parser.add_argument(_LANGUAGE, choices=LANGUAGES, metavar="TAG", help=told)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        module = import_module(f"dsgui.commands.{_MODULES.get(name, name)}")
        command = commands.add_parser(
            name, allow_abbrev=False, formatter_class=_Lines, help=words("commands", f"help_{name}")
        )
        module.add_arguments(command)
        command.set_defaults(do=module.run)
    return parser


class _Lines(argparse.HelpFormatter):
    """In columns that fit Chinese."""

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        """The lines after the first start below where it does: argparse counts characters, not columns."""
        told = _told("usage: ") if prefix is None else prefix
        stand_in = " " * width(told)
        return told + super()._format_usage(usage, actions, groups, stand_in).removeprefix(stand_in)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrapped(text, width - len(indent)))


def _told(message: str) -> str:
    """What argparse says, in the language in use; unchanged where the catalogue doesn't have it."""
    code = _CODES.get(message)
    return message if code is None else words(_KIND, code)


@contextmanager
def _in_words() -> Iterator[None]:
    """Inside, argparse looks its words up here. Its own way, gettext, wants compiled files and changes the environment
    that a run would inherit."""
    module = vars(argparse)
    before = module["_"]
    module["_"] = _told
    try:
        yield
    finally:
        module["_"] = before
