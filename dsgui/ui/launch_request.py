"""What the Launch page's inputs hold, as a request."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dsgui.core.context import Integration
from dsgui.core.errors import PlanError
from dsgui.core.hostfile import Machines
from dsgui.core.plan import AS_SCRIPT_READS, ConfigArgument, LaunchRequest, StartedBy, WhenBusy
from dsgui.core.slurm import SlurmJob
from dsgui.core.variables import plain_and_secret
from dsgui.core.words import with_option
from dsgui.ui.services import Services
from dsgui.ui.several_machines import (
    HERE,
    SEVERAL,
    SLURM,
)
from dsgui.ui.slurm_panel import slurm_asked

_SAVES = " --enable_jit_checkpoint True"
_AS_CONFIGURED = {Integration.HF.value: ConfigArgument.HF, Integration.NATIVE.value: ConfigArgument.NATIVE}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the desk's inputs hold, by the same names."""

    what: str
    script: str
    arguments: str
    reader: str
    ranks: float | None
    gpus: list[str]
    port: str
    directory: str
    output: str
    name: str
    started_by: str
    when_busy: str
    saves: bool
    logs: bool
    environment: str
    where: str | None
    hostfile: str
    include: str
    exclude: str
    master_addr: str
    slurm_nodes: float | None
    slurm_per_node: float | None
    slurm_on_cpu: bool
    slurm_partition: str
    slurm_time: str
    slurm_account: str
    slurm_options: str
    parent: str


def asked_of(values: tuple[Any, ...]) -> Asked:
    """Gradio gives None for a text box that was never shown or filled."""
    empty: dict[str, Any] = {"gpus": []} | {field.name: "" for field in fields(Asked) if field.type is str}
    pairs = zip((field.name for field in fields(Asked)), values, strict=True)
    given: dict[str, Any] = {name: empty.get(name) if value is None else value for name, value in pairs}
    return Asked(**given)


def request_of(services: Services, text: str, asked: Asked, reader: str, preset: str) -> LaunchRequest:
    recipe = services.recipes.get(asked.what)
    script = str(Path(asked.script.strip()).expanduser().absolute()) if asked.script.strip() else ""
    variables, secrets = plain_and_secret(asked.environment)
    machines, slurm = _elsewhere(asked)
    detects = recipe is not None or asked.reader == AS_SCRIPT_READS
    return LaunchRequest(
        name=asked.name.strip() or (asked.what if recipe else ""),
        script=str(recipe) if recipe else script,
        arguments=arguments_of(asked),
        ranks=len(asked.gpus) if services.target().gpus else int(asked.ranks or 0),
        gpu_indices=() if machines or slurm else tuple(sorted(int(index) for index in asked.gpus)),
        master_port=_port(asked.port.strip()),
        working_directory=asked.directory.strip() or ("" if recipe else str(Path(script).parent)),
        config_text=text,
        config_argument=_AS_CONFIGURED[reader] if detects else ConfigArgument[asked.reader],
        as_script_reads=detects and not recipe,
        target_python=services.target().python,
        environment=variables,
        started_by=StartedBy[asked.started_by],
        when_busy=WhenBusy[asked.when_busy],
        secrets=secrets,
        preset=preset,
        machines=machines,
        slurm=slurm,
        logs=asked.logs,
        parent=asked.parent,
    )


def arguments_of(asked: Asked) -> str:
    """As typed, with what the page's own fields add."""
    typed = asked.arguments + (_SAVES if asked.saves else "")
    if not asked.output.strip():
        return typed
    try:
        words = shlex.split(typed)
    except ValueError:  # the plan says what is wrong with it
        return typed
    return shlex.join(with_option(words, "--output_dir", str(Path(asked.output.strip()).expanduser())))


def _elsewhere(asked: Asked) -> tuple[Machines | None, SlurmJob | None]:
    """Both None for this machine alone. Raises `PlanError`."""
    if asked.where == SEVERAL:
        return Machines(asked.hostfile, asked.include, asked.exclude, asked.master_addr), None
    if asked.where == SLURM:
        words = (asked.slurm_partition, asked.slurm_time, asked.slurm_account, asked.slurm_options)
        return None, slurm_asked(asked.slurm_nodes, asked.slurm_per_node, asked.slurm_on_cpu, *words)
    if asked.where not in (HERE, None):
        raise PlanError(f"Where it trains: “{asked.where[:40]}” is not offered. Choose one of the list.")
    return None, None


def _port(typed: str) -> int | None:
    if typed and not (typed.isascii() and typed.isdecimal() and len(typed) <= 5):
        raise PlanError(f"Master port: “{typed}” is not a number. Give one from 1024 to 65535, or leave it empty.")
    return int(typed) if typed else None


def preset_of(services: Services, id: str | None, text: str | None) -> str:
    """The preset the config began as, for the list of runs; said to be edited where the text is another by now."""
    chosen = next((preset for preset in services.all_presets() if preset.id == id), None)
    if chosen is None:
        return ""
    return chosen.id if chosen.text.strip() == (text or "").strip() else f"{chosen.id} (edited)"
