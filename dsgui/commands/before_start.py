"""The checks before a start for `launch` and `doctor`: what is asked of the machine, and how the rows are told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.checker import Checker
from dsgui.core.context import LATEST_KNOWN, Context, Integration
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError, TargetError
from dsgui.core.findings import Finding
from dsgui.core.hardware import Target
from dsgui.core.loose_json import tidy
from dsgui.core.machine import Environment
from dsgui.core.machine_report import rows_as_lines, summary
from dsgui.core.plan import Plan
from dsgui.core.planned import Launch, Surroundings
from dsgui.core.preflight import preflight
from dsgui.core.verdicts import Row, Status
from dsgui.runs import Runs
from dsgui.shell.asked_paths import script_source
from dsgui.shell.catalog import Catalog
from dsgui.shell.machine import read_gpus
from dsgui.shell.preflight import Scout
from dsgui.shell.target import VERSIONS_TIMEOUT_S, ask

Judged = tuple[dict[str, Any], tuple[Finding, ...], str]


def rows_of_plan(plan: Plan, text: str, runs: Runs, runs_dir: Path) -> tuple[Row, ...]:
    """For a plan that is about to start. The target is asked for its versions alone: the rest takes seconds, and is
    what `doctor` is for."""
    environment = _versions(plan.target_python)
    scout = Scout.of(runs_dir, lambda: environment)
    return rows_around(plan, text, scout.surroundings(plan, script_source(plan.script), not runs.port_is_free(plan)))


def rows_around(plan: Plan, text: str, around: Surroundings) -> tuple[Row, ...]:
    """For a plan in surroundings that are known."""
    return preflight(with_config(Launch.of(plan, {}), text, around), around)


def with_config(launch: Launch, text: str, around: Surroundings) -> Launch:
    """The launch with its config read and checked for its ranks, in the DeepSpeed that is there."""
    context = _context(launch, around)
    config, findings, unreadable = _judged(text, context)
    return replace(launch, config=config, findings=findings, devices=context.devices, unreadable=unreadable)


def worth_telling(rows: Sequence[Row]) -> bool:
    """Whether there is a problem or a warning among them."""
    return any(row.status in (Status.PROBLEM, Status.WARNING) for row in rows)


def told(rows: Sequence[Row]) -> str:
    """The rows for a terminal; those that are fine as their number."""
    open_rows = [row for row in rows if row.status is not Status.OK]
    fine = len(rows) - len(open_rows)
    lines = [f"Before the start: {summary(rows)}", *rows_as_lines(open_rows)]
    return "\n".join([*lines, f"  {fine} check{' is' if fine == 1 else 's are'} fine"]) + "\n"


def _versions(python: str) -> Environment | None:
    gpus, _ = read_gpus()
    try:
        return Environment(Target.from_json(python, ask(python, "versions", VERSIONS_TIMEOUT_S), gpus))
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


def _judged(text: str, context: Context) -> Judged:
    try:
        document = _document(text, context)
    except DocumentError as error:
        return {}, (), str(error)
    return document.value, tuple(Checker(Catalog().schema()).findings(document, context)), ""


def _document(text: str, context: Context) -> Document:
    """Native DeepSpeed reads hjson too; the HF Trainer strict JSON alone."""
    try:
        return Document(text)
    except DocumentError:
        if context.integration is Integration.HF:
            raise
        return Document(tidy(text).text)
