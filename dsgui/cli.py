"""`python -m dsgui …`: dsgui without its pages. A command is a module with HELP, add_arguments and run."""

import argparse
from collections.abc import Sequence
from typing import Any

from dsgui.commands import rules, validate

_COMMANDS: dict[str, Any] = {"validate": validate, "rules": rules}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m dsgui", description="dsgui without its pages.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in _COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.HELP))
    options = parser.parse_args(arguments)
    code: int = _COMMANDS[options.command].run(options)
    return code
