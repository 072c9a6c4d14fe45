"""`dsgui validate`: the page's checks on the command line, for CI."""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dsgui.commands import asking
from dsgui.commands.field_options import add_model, add_room
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import LATEST_KNOWN, Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError, DsguiError, PlanError, TargetError
from dsgui.core.launch.circumstances import run_context
from dsgui.core.launch.plan import Anywhere, Here
from dsgui.core.launch.planned import THIS_MACHINE, Planned
from dsgui.core.machine.hardware import ALIASES, CARDS, Target
from dsgui.core.texts.saying import listed, words, wrong
from dsgui.core.validation.check_report import FORMATS, Checked
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.imports import Imported, open_config, read_training_arguments

PASSED, FAILED, NOT_CHECKED = 0, 1, 2
_RELEASE = re.compile(r"\d+\.\d+\.\d+(\+[\w.]+)?")
_MOST_RANKS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `validate`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=words("options", "config_file"))
    add_context_arguments(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help=words("options", "format"))
    asking.add_arguments(parser)
    group = parser.add_argument_group(words("options", "memory_group"), words("options", "memory_group_about"))
    add_model(group)
    add_room(group)


def add_context_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say what a config is checked against."""
    parser.add_argument("--gpus", type=_count, help=words("options", "gpus"))
    parser.add_argument("--nodes", type=_count, help=words("options", "nodes"))
    parser.add_argument("--target-version", type=_release, help=words("options", "target_version"))
    parser.add_argument(
        "--integration",
        choices=[integration.value for integration in Integration],
        help=words("options", "integration"),
    )
    devices = ["any", THIS_MACHINE, "cpu", *(card.id for card in CARDS), *ALIASES]
    parser.add_argument(
        "--device",
        choices=devices,
        default="any",
        metavar="DEVICE",
        help=words("options", "device", devices=listed(devices)),
    )
    parser.add_argument("--training-args", metavar="FILE|JSON", help=words("options", "training_args"))


def _count(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST_RANKS:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="1", most=str(_MOST_RANKS)))


def _release(text: str) -> str:
    if _RELEASE.fullmatch(text):
        return text
    raise argparse.ArgumentTypeError(wrong("options.no_release", text=text, release=LATEST_KNOWN))


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: no errors; 1: errors; 2: a file could not be read, which is told on stderr."""
    checker = Checker(Catalog().schema())
    try:
        arguments = given_arguments(options)
    except DsguiError as error:
        print(f"dsgui: --training-args: {error}", file=sys.stderr)
        return NOT_CHECKED
    try:
        with asking.asker(options, checker.schema) as asker:
            checked, unread = _checked(options, checker, arguments, asker)
    except TargetError as error:
        print(f"dsgui: {error}", file=sys.stderr)
        return NOT_CHECKED
    sys.stdout.write(FORMATS[options.format](checked) if checked else "")
    if unread:
        return NOT_CHECKED
    return FAILED if any(one.has_error or _is_short(one) for one in checked) else PASSED


def _checked(
    options: argparse.Namespace,
    checker: Checker,
    arguments: TrainingArguments | None,
    asker: asking.Asker | None,
) -> tuple[list[Checked], bool]:
    """The files that could be checked, and whether one could not, which is told on stderr."""
    checked, unread = list[Checked](), False
    this_machine = cache(_this_machine)  # an answer takes seconds
    for path in options.files:
        try:
            one = check(path, checker, options, arguments, asker.release if asker else "", this_machine)
            one = replace(one, memory=_memory(one, checker, options, arguments)) if options.model else one
            checked.append(asker.ask(one, path) if asker else one)
        except (DocumentError, PlanError, TargetError) as error:
            unread = True
            told = str(error) if str(path) in str(error) else words("commands", "line", file=str(path), line=str(error))
            print(f"dsgui: {told}", file=sys.stderr)
    return checked, unread


def _memory(
    one: Checked, checker: Checker, options: argparse.Namespace, arguments: TrainingArguments | None
) -> dict[str, Any]:
    from dsgui.commands.model_memory import judged  # reads the machine, which checking a config needs not
    from dsgui.core.memory.fits.memory_report import as_json, in_lines

    fitted = judged(one, checker, options, arguments)
    return as_json(fitted) | {"lines": in_lines(fitted)}


def _is_short(one: Checked) -> bool:
    return one.memory is not None and one.memory["fit"] == "does_not_fit"


def check(
    path: Path,
    checker: Checker,
    options: argparse.Namespace,
    arguments: TrainingArguments | None = None,
    installed: str = "",
    this_machine: Callable[[str], Target] | None = None,
) -> Checked:
    """The findings of one file, for the `installed` release where no other is asked for. `this_machine` tells what the
    environment of a Python has. Raises `DocumentError` when the file can't be read."""
    found = open_config(path)
    if arguments is None and found.run:
        arguments = found.run.trainer
    document, context = Document(found.text), context_of(found, options, arguments, installed, this_machine)
    findings = tuple(checker.findings(document, context, found.written, fixes=options.format == "json"))
    return Checked(str(path), document, not found.notes, context, findings)


def given_arguments(options: argparse.Namespace) -> TrainingArguments | None:
    """What --training-args says. Raises `DsguiError` when it can't be read."""
    return read_training_arguments(options.training_args) if options.training_args is not None else None


def context_of(
    found: Imported,
    options: argparse.Namespace,
    arguments: TrainingArguments | None,
    installed: str = "",
    this_machine: Callable[[str], Target] | None = None,
) -> Context:
    """What the options say, then the file, then the defaults."""
    default = Integration.HF if arguments is not None else found.integration or Integration.NATIVE
    python = vars(options).get("python", sys.executable)
    target = (this_machine or _this_machine)(python) if options.device == THIS_MACHINE else _named_only(installed)
    return run_context(
        target,
        Integration(options.integration) if options.integration else default,
        options.nodes or found.nodes or 1,
        options.gpus or found.gpus or 1,
        place=Here() if options.device == THIS_MACHINE else Anywhere(),
        planned=Planned(options.device, options.target_version or ""),
        arguments=arguments,
    )


def _this_machine(python: str) -> Target:
    """What the pages know of it. Raises `TargetError`."""
    from dsgui.shell.machine.machine_reader import read_gpus
    from dsgui.shell.machine.target import ACCELERATOR_TIMEOUT_S, ask

    return Target.from_json(python, ask(python, "accelerator", ACCELERATOR_TIMEOUT_S), read_gpus()[0])


def _named_only(installed: str) -> Target:
    """An environment of which the releases are known."""
    names = ("deepspeed", "torch")
    return Target(sys.executable, versions={name: release_of(name) for name in names} | _known(installed))


def _known(installed: str) -> dict[str, str]:
    return {"deepspeed": installed} if installed else {}


def release_of(package: str) -> str:
    """What this environment has of it, read from its metadata; "" without one."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
