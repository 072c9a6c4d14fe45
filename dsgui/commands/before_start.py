"""The checks before a start for `launch` and `doctor`: what is asked of the machine, and how the rows are told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.errors import TargetError
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.recipes import RECIPES
from dsgui.core.machine.hardware import Target
from dsgui.core.machine.machine import Environment
from dsgui.core.machine.machine_report import counted, rows_as_lines, summary
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import kept
from dsgui.core.preflight.judging import with_config
from dsgui.core.preflight.preflight import preflight
from dsgui.core.preflight.surroundings import Launch, Surroundings, context_of
from dsgui.core.rules.base import enabled
from dsgui.core.texts.saying import words
from dsgui.core.validation.checker import Checker
from dsgui.runs.runs import Runs
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.launch.asked_paths import script_source
from dsgui.shell.machine.machine_reader import read_gpus
from dsgui.shell.machine.target import ACCELERATOR_TIMEOUT_S, VERSIONS_TIMEOUT_S, ask
from dsgui.shell.preflight.scout import Scout


def judged_plan(plan: Plan, text: str, runs: Runs, runs_dir: Path) -> tuple[tuple[Row, ...], Foretold | None]:
    """The checks of a plan that is about to start, and what is said of its memory."""
    around, checker = surroundings_of(plan, text, runs, runs_dir), Checker(Catalog().schema())
    launch = with_config(Launch.of(plan, {}), text, around, checker, around.arguments_of(plan))
    return preflight(launch, around), kept(launch.memory)


def surroundings_of(plan: Plan, text: str, runs: Runs, runs_dir: Path) -> Surroundings:
    """What the plan would meet. The target is asked for its versions alone, and for what its accelerator can do only
    where that decides: it takes seconds, and is what `doctor` is for."""
    environment = _asked(plan.target_python, "versions", VERSIONS_TIMEOUT_S)
    catalog = Catalog()
    scout = Scout.of(runs_dir, lambda: environment, recipes=[catalog.recipe(one.name) for one in RECIPES])
    taken, beside = not runs.port_is_free(plan), runs.beside(plan)
    around = scout.surroundings(plan, script_source(plan.script), taken, text, beside)
    launch = with_config(Launch.of(plan, {}), text, around, Checker(catalog.schema()))
    if _wants_half_precision(launch, around, around.arguments_of(plan)):
        environment = _asked(plan.target_python, "accelerator", ACCELERATOR_TIMEOUT_S) or environment
        around = replace(around, machine=replace(around.machine, environment=environment))
    return around


def _wants_half_precision(launch: Launch, around: Surroundings, arguments: TrainingArguments | None) -> bool:
    """Whether what the accelerator answers decides: no GPU here, and fp16 or bf16 switched on."""
    if around.machine.gpus or launch.elsewhere:
        return False
    context = replace(context_of(launch.unplanned, around), arguments=arguments)
    return any(enabled(launch.config, block, context) for block in ("fp16", "bf16", "bfloat16"))


def worth_telling(rows: Sequence[Row]) -> bool:
    """Whether there is a problem or a warning among them."""
    return any(row.status in (Status.PROBLEM, Status.WARNING) for row in rows)


def told(rows: Sequence[Row]) -> str:
    """The rows for a terminal; those that are fine as their number."""
    open_rows = [row for row in rows if row.status is not Status.OK]
    fine = len(rows) - len(open_rows)
    lines = [words("launch_page", "preflight", summary=summary(rows)), *rows_as_lines(open_rows)]
    return "\n".join([*lines, f"  {counted(Status.OK, fine)}"]) + "\n"


def _asked(python: str, what: str, timeout_s: float) -> Environment | None:
    gpus, _ = read_gpus()
    try:
        return Environment(Target.from_json(python, ask(python, what, timeout_s), gpus))
    except TargetError:
        return None
