"""What `memory` and `validate` share: the verdict on a config."""

import argparse
import os
import shlex

from dsgui.commands.field_options import model_said
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.machine import Machine
from dsgui.core.memory import instant
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice, of_words
from dsgui.core.memory.fits.fitting import Answerer, Case, Fitted, fit
from dsgui.core.memory.fits.nvme import Nvme, usable
from dsgui.core.memory.fits.outside import asks_for_unrounded
from dsgui.core.memory.fits.overhead import asks_for_expandable
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.question import Group
from dsgui.core.sizes import GIB
from dsgui.core.validation.check_report import Checked
from dsgui.core.validation.checker import Checker
from dsgui.shell.files.folders import default_runs_dir
from dsgui.shell.machine.machine_reader import read_here
from dsgui.shell.memory.constants import sharpened
from dsgui.shell.memory.nvme_folders import NvmeFolders
from dsgui.shell.preflight.model_shapes import ModelShapes


def judged(
    checked: Checked,
    checker: Checker,
    options: argparse.Namespace,
    arguments: TrainingArguments | None,
    answer: Answerer = instant.answer,
) -> Fitted | CannotSay:
    """The verdict on a file that was checked. Raises `DsguiError`."""
    nvme = nvme_of(options, checked.context)
    if isinstance(nvme, CannotSay):
        return nvme
    machine = read_here(default_runs_dir())
    case = case_of(checked, options, arguments)
    return fit(case, checker.schema, lambda group: room_for(options, machine, checked.context, group, nvme), answer)


def nvme_of(options: argparse.Namespace, context: Context) -> Nvme | CannotSay | None:
    """The folder that may be offloaded to, as it is now."""
    return usable(NvmeFolders().read(options.nvme or ""), context)


def case_of(checked: Checked, options: argparse.Namespace, arguments: TrainingArguments | None) -> Case:
    """A file that was checked, with the model that the options choose. Raises `DsguiError`."""
    choice = choice_of(options, arguments)
    model = ModelShapes().read(choice.model)
    return Case(checked.document.value, checked.context, checked.findings, model, choice, options.micro_batch)


def choice_of(options: argparse.Namespace, arguments: TrainingArguments | None) -> ModelChoice:
    """What the options say, then the script's arguments. Raises `PlanError`."""
    named = arguments.model_name_or_path if arguments else ""
    return model_said(options).over(of_words(_words(options.training_args))).over(ModelChoice(model=named, named=named))


def _words(text: str | None) -> list[str]:
    """Those of a command line; a file or an object of arguments has none."""
    if not (text or "").lstrip().startswith("-"):
        return []
    try:
        return shlex.split(text or "")
    except ValueError:
        return []


def room_for(
    options: argparse.Namespace, machine: Machine, context: Context, group: Group, nvme: Nvme | None = None
) -> Room:
    """The card that was asked for, else this machine's; the host is this one's."""
    own = tuple(
        Hardware("this", f"GPU {gpu.index}: {gpu.name}", "nvidia", gpu.capability, gpu.memory_bytes)
        for gpu in machine.gpus
    )
    return room_of(
        context.hardware or own,
        machine.host,
        group,
        gpus=machine.gpus,
        host_bytes=options.host_memory * GIB if options.host_memory else None,
        expandable=asks_for_expandable(os.environ),
        workers=options.workers,
        unrounded=asks_for_unrounded(os.environ),
        sharpened=sharpened(),
        release=context.release,
        nvme=nvme,
    )
