"""Turns a request into a plan, or into a sentence on why that is impossible."""

import posixpath
import re
import shlex
from collections.abc import Mapping

from dsgui.core.errors import PlanError
from dsgui.core.launch.command import MARKER, argv
from dsgui.core.launch.handing import chosen, takes_local_rank
from dsgui.core.launch.plan import LaunchRequest, Plan
from dsgui.core.script.script import ScriptFacts

LOWEST_PORT, HIGHEST_PORT = 1024, 65535
MOST_RANKS = 4096
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_UNREAD = ScriptFacts()


def make_plan(
    request: LaunchRequest,
    *,
    run_id: str,
    run_directory: str,
    script_path: str,
    master_port: int,
    script: ScriptFacts = _UNREAD,
) -> Plan:
    """The plan for `request`; `script` is what its source shows. Raises `PlanError`; the caller checks whether the
    files exist."""
    ranks = request.place.ranks(request.ranks)
    check_port(master_port)
    _check_environment({**request.environment, **request.secrets})
    if not request.script.strip():
        raise PlanError("Enter the path to your training script.")
    words = _split(request.arguments)
    concrete = {
        "name": _shown(request.name.strip()) or posixpath.splitext(posixpath.basename(script_path))[0],
        "script": script_path,
        "arguments": words,
        "ranks": ranks,
        "master_port": master_port,
        "working_directory": request.working_directory or run_directory,
        "config_argument": chosen(request.config_argument, request.as_script_reads, script, words),
        "environment": dict(request.environment),
    }
    plan = Plan(
        **(request.spec() | concrete),
        run_id=run_id,
        run_directory=run_directory,
        secret_names=tuple(sorted(request.secrets)),
        passes_local_rank=takes_local_rank(script, words),
    )
    plan.place.check(plan)
    _check_ranks(plan.ranks, plan.gpu_indices)
    _check_words(argv(plan))
    return plan


def _shown(name: str) -> str:
    """Without bidirectional and invisible characters: a name must look the same wherever it is shown."""
    return "".join(letter for letter in name if letter.isprintable())


def check_port(port: int) -> None:
    """Raises `PlanError` for a port that an ordinary user's process can't listen on."""
    if not LOWEST_PORT <= port <= HIGHEST_PORT:
        raise PlanError(
            f"Master port: {port} is outside {LOWEST_PORT} to {HIGHEST_PORT}. Enter a port in this range, or leave it "
            "empty to use a free one."
        )


def _split(arguments: str | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(arguments, tuple):
        return arguments
    try:
        return tuple(shlex.split(arguments))
    except ValueError as error:
        raise PlanError(
            f"Arguments: “{arguments}” can't be parsed ({str(error).lower()}). Quote them as in a shell: close the "
            "quote or escape it with a backslash."
        ) from error


def _check_ranks(ranks: int, gpu_indices: tuple[int, ...]) -> None:
    if ranks < 1:
        raise PlanError(f"Ranks: {ranks} is too few. Enter 1 or more, or select a GPU.")
    if ranks > MOST_RANKS:
        raise PlanError(f"Ranks: {ranks:g} is more than the limit of {MOST_RANKS}. Enter fewer.")
    if gpu_indices and len(gpu_indices) != ranks:
        raise PlanError(
            f"Ranks: {ranks} ranks on {len(gpu_indices)} selected GPUs. Expected one rank per GPU. Select as many "
            "GPUs as "
            "ranks."
        )
    if len(set(gpu_indices)) != len(gpu_indices) or any(index < 0 for index in gpu_indices):
        raise PlanError(f"GPUs: {list(gpu_indices)} is not a list of distinct GPU indices. Select each once.")


def _check_environment(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        if not _VARIABLE.match(name) or "\0" in value:
            raise PlanError(
                f"Environment: “{name}” is not a valid environment variable. Expected letters, digits and "
                "underscores, and a "
                "value without a null character. Rename or remove it."
            )
        if name == MARKER:
            raise PlanError(f"Environment: {MARKER} is dsgui's own mark on a run's processes. Remove it.")


def _check_words(words: tuple[str, ...]) -> None:
    for word in words:
        if "\0" in word:
            raise PlanError(f"Arguments: {word!r} has a null character, which a command line can’t contain. Remove it.")
