"""`dsgui doctor`: what a run on this machine, or one planned launch, would trip over."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from dsgui.commands.field_options import add_model, model_said
from dsgui.commands.run_options import add_reader, add_runs_dir
from dsgui.core.errors import PlanError
from dsgui.core.launch.handing import chosen
from dsgui.core.launch.plan import AS_SCRIPT_READS, READERS, ConfigArgument
from dsgui.core.machine.machine import Machine
from dsgui.core.machine.machine_checks import check
from dsgui.core.machine.machine_report import FORMATS
from dsgui.core.machine.verdicts import Row, has_problem, saw, worst_first
from dsgui.core.preflight.judging import with_config
from dsgui.core.preflight.model_size import ModelSize
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.saying import words, wrong
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.plain_text import expanded, read_plain
from dsgui.shell.launch.asked_paths import script_source
from dsgui.shell.machine.machine_reader import read_disk, read_machine
from dsgui.shell.memory.constants import sharpened
from dsgui.shell.preflight.model_shapes import ModelShapes
from dsgui.shell.preflight.scout import read_own_config

PASSED, FAILED, NOT_CHECKED = 0, 1, 2
_COUNT = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)([MB]?)\Z", re.IGNORECASE)
_UNITS = {"": 1, "M": 10**6, "B": 10**9}
_MOST_PARAMETERS = 10**15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.add_argument("--python", default=sys.executable, help=words("options", "python"))
    add_runs_dir(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help=words("options", "format"))
    launch = parser.add_argument_group(words("options", "launch_group"), words("options", "launch_group_about"))
    launch.add_argument("--config", type=Path, help=words("options", "ds_config"))
    launch.add_argument("--script", default="", help=words("options", "script"))
    launch.add_argument("--ranks", type=_ranks, help=words("options", "doctor_ranks"))
    add_reader(launch)
    add_model(launch)
    launch.add_argument("--parameters", type=_parameters, help=words("options", "parameters"))


def _ranks(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(wrong("options.no_ranks", text=text))
    return int(text)


def _parameters(text: str) -> int:
    found = _COUNT.match(text)
    count = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    if not 1 <= count <= _MOST_PARAMETERS:  # before it is rounded: it may be infinite
        raise argparse.ArgumentTypeError(wrong("options.no_parameters", text=text))
    return round(count)


def run(options: argparse.Namespace) -> int:
    """Prints the answer. 0: no problem; 1: problems; 2: the interpreter gave no usable answer. Raises `PlanError` for a
    config that can't be opened."""
    text = _text(options)
    machine = read_machine(options.python, options.runs_dir)
    rows = _merged(_rows_of_launch(options, text, machine) if text is not None else (), check(machine))
    sys.stdout.write(FORMATS[options.format](machine, rows))
    if machine.problem:
        print(f"dsgui: {machine.problem}", file=sys.stderr)
        return NOT_CHECKED
    return FAILED if has_problem(rows) else PASSED


def _merged(of_launch: Sequence[Row], of_machine: Sequence[Row]) -> tuple[Row, ...]:
    """Both, the worst first; where the launch's rows judge the same, they know more."""
    judged = {row.check for row in of_launch}
    return worst_first([*of_launch, *(row for row in of_machine if row.check not in judged)])


def _text(options: argparse.Namespace) -> str | None:
    if options.config is None:
        if options.script or options.ranks or options.parameters or options.model:
            raise PlanError(wrong("options.need_config"))
        return None
    return read_plain(expanded(options.config))


def _rows_of_launch(options: argparse.Namespace, text: str, machine: Machine) -> tuple[Row, ...]:
    script = str(Path(options.script).expanduser().absolute()) if options.script else ""
    facts = script_source(script) if script else ScriptFacts()
    folder = Path(script).parent if script else Path.cwd()
    around = Surroundings(
        facts,
        machine,
        output=str(folder),
        output_disk=read_disk(folder),
        own_python=sys.version_info[:2],
        model=_model(options.parameters),
        own_config=read_own_config(folder, facts),
        shape=ModelShapes().read(options.model) if options.model else None,
        sharpened=sharpened(),
    )
    asked = READERS.get(options.reader, ConfigArgument.HF)
    launch = Launch(
        config={},
        findings=(),
        devices="",
        ranks=options.ranks or len(machine.gpus) or 1,
        config_argument=chosen(asked, options.reader == AS_SCRIPT_READS, facts, ()),
        script=script,
        passes_local_rank=facts.passes_local_rank,
        choice=model_said(options),
    )
    return preflight(with_config(launch, text, around, Checker(Catalog().schema())), around)


def _model(parameters: int | None) -> ModelSize:
    if parameters is None:
        return ModelSize(why=saw("model_size.give"))
    return ModelSize("--parameters", parameters)
