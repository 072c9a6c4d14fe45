"""The checks before a start for `launch` and `doctor`: what is asked of the machine, and how the rows are told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dsgui.core.arguments import TrainingArguments
from dsgui.core.checker import Checker
from dsgui.core.context import LATEST_KNOWN, Context, Integration
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError, TargetError
from dsgui.core.hardware import Target
from dsgui.core.launch_findings import launch_findings
from dsgui.core.loose_json import tidy
from dsgui.core.machine import Environment
from dsgui.core.machine_report import rows_as_lines, summary
from dsgui.core.oracle import Question
from dsgui.core.plan import Plan
from dsgui.core.planned import Launch, Surroundings
from dsgui.core.preflight import preflight
from dsgui.core.rules.base import enabled
from dsgui.core.verdicts import Row, Status
from dsgui.runs import Runs
from dsgui.shell.asked_paths import script_source
from dsgui.shell.catalog import Catalog
from dsgui.shell.machine import read_gpus
from dsgui.shell.preflight import Scout
from dsgui.shell.target import ACCELERATOR_TIMEOUT_S, VERSIONS_TIMEOUT_S, ask


def rows_of_plan(plan: Plan, text: str, runs: Runs, runs_dir: Path) -> tuple[Row, ...]:
    """For a plan that is about to start."""
    return rows_around(plan, text, surroundings_of(plan, text, runs, runs_dir))


def surroundings_of(plan: Plan, text: str, runs: Runs, runs_dir: Path) -> Surroundings:
    """What the plan would meet. The target is asked for its versions alone, and for what its accelerator can do only
    where that decides: it takes seconds, and is what `doctor` is for."""
    environment = _asked(plan.target_python, "versions", VERSIONS_TIMEOUT_S)
    scout = Scout.of(runs_dir, lambda: environment)
    around = scout.surroundings(plan, script_source(plan.script), not runs.port_is_free(plan))
    if _wants_half_precision(with_config(Launch.of(plan, {}), text, around), around, around.arguments_of(plan)):
        environment = _asked(plan.target_python, "accelerator", ACCELERATOR_TIMEOUT_S) or environment
        around = replace(around, machine=replace(around.machine, environment=environment))
    return around


def rows_around(plan: Plan, text: str, around: Surroundings) -> tuple[Row, ...]:
    """For a plan in surroundings that are known."""
    return preflight(with_config(Launch.of(plan, {}), text, around, around.arguments_of(plan)), around)


def _wants_half_precision(launch: Launch, around: Surroundings, arguments: TrainingArguments | None) -> bool:
    """Whether what the accelerator answers decides: no GPU here, and fp16 or bf16 switched on."""
    if around.machine.gpus or launch.elsewhere:
        return False
    context = replace(_context(launch, around), arguments=arguments)
    return any(enabled(launch.config, block, context) for block in ("fp16", "bf16", "bfloat16"))


def with_config(launch: Launch, text: str, around: Surroundings, arguments: TrainingArguments | None = None) -> Launch:
    """The launch with its config read and checked for its ranks, in the DeepSpeed that is there, and for the HF
    Trainer's `arguments` where they are known."""
    context = _context(launch, around)
    launch = replace(launch, devices=context.devices)
    try:
        document = _document(text, context)
    except DocumentError as error:
        return replace(launch, unreadable=str(error))
    checker = Checker(Catalog().schema())
    found = launch_findings(lambda one: checker.findings(document, one), context, arguments)
    return replace(launch, config=document.value, findings=found.alone, by_arguments=found.by_arguments)


def question_of(plan: Plan, text: str, around: Surroundings) -> Question | None:
    """What to ask DeepSpeed about a plan's config; None where another machine's DeepSpeed would read it."""
    launch = Launch.of(plan, {})
    if launch.elsewhere:
        return None
    return Question.of(text, replace(_context(launch, around), arguments=around.arguments_of(plan)))


def worth_telling(rows: Sequence[Row]) -> bool:
    """Whether there is a problem or a warning among them."""
    return any(row.status in (Status.PROBLEM, Status.WARNING) for row in rows)


def told(rows: Sequence[Row]) -> str:
    """The rows for a terminal; those that are fine as their number."""
    open_rows = [row for row in rows if row.status is not Status.OK]
    fine = len(rows) - len(open_rows)
    lines = [f"Before the start: {summary(rows)}", *rows_as_lines(open_rows)]
    return "\n".join([*lines, f"  {fine} check{' is' if fine == 1 else 's are'} fine"]) + "\n"


def _asked(python: str, what: str, timeout_s: float) -> Environment | None:
    gpus, _ = read_gpus()
    try:
        return Environment(Target.from_json(python, ask(python, what, timeout_s), gpus))
    except TargetError:
        return None


def _context(launch: Launch, around: Surroundings) -> Context:
    environment = around.machine.environment
    target = environment.target if environment else Target("", gpus=around.machine.gpus)
    return Context(
        integration=launch.reader,
        nodes=launch.nodes,
        gpus_per_node=launch.ranks // launch.nodes,
        deepspeed_version=target.version("deepspeed") or LATEST_KNOWN,
        torch_version=target.version("torch"),
        hardware=() if launch.elsewhere else target.hardware,
        missing_ops=target.missing_ops,
    )


def _document(text: str, context: Context) -> Document:
    """Native DeepSpeed reads hjson too; the HF Trainer strict JSON alone."""
    try:
        return Document(text)
    except DocumentError:
        if context.integration is Integration.HF:
            raise
        return Document(tidy(text).text)
