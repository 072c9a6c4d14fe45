"""`python -m dsgui …`: dsgui without its pages. A command is a module with HELP, add_arguments and run."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from dsgui.commands import doctor, export, launch, logs, report, resolve, rules, runs, stop, validate
from dsgui.core.errors import DsguiError

_COMMANDS: dict[str, Any] = {
    "validate": validate,
    "resolve": resolve,
    "rules": rules,
    "doctor": doctor,
    "launch": launch,
    "runs": runs,
    "logs": logs,
    "stop": stop,
    "export": export,
    "report": report,
}
_REFUSED, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name; returns its exit code, 2 for what can't be done."""
    parser = argparse.ArgumentParser(prog="python -m dsgui", description="dsgui without its pages.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in _COMMANDS.items():
        module.add_arguments(commands.add_parser(name, allow_abbrev=False, help=module.HELP))
    options = parser.parse_args(arguments)
    try:
        code: int = _COMMANDS[options.command].run(options)
    except DsguiError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return _REFUSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code
