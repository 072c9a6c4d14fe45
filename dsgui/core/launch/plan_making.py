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
from dsgui.core.texts.saying import wrong

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
        raise PlanError(wrong("script.none"))
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
        given = {"port": str(port), "lowest": str(LOWEST_PORT), "highest": str(HIGHEST_PORT)}
        raise PlanError(wrong("port.outside", **given))


def _split(arguments: str | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(arguments, tuple):
        return arguments
    try:
        return tuple(shlex.split(arguments))
    except ValueError as error:
        given = {"arguments": arguments, "why": str(error).lower()}
        raise PlanError(wrong("arguments.unreadable", **given)) from error


def _check_ranks(ranks: int, gpu_indices: tuple[int, ...]) -> None:
    if ranks < 1:
        raise PlanError(wrong("ranks.few", ranks=str(ranks)))
    if ranks > MOST_RANKS:
        raise PlanError(wrong("ranks.many", ranks=f"{ranks:g}", most=str(MOST_RANKS)))
    if gpu_indices and len(gpu_indices) != ranks:
        raise PlanError(wrong("ranks.not_the_gpus", ranks=str(ranks), gpus=str(len(gpu_indices))))
    if len(set(gpu_indices)) != len(gpu_indices) or any(index < 0 for index in gpu_indices):
        raise PlanError(wrong("gpus.twice", gpus=str(list(gpu_indices))))


def _check_environment(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        if not _VARIABLE.match(name) or "\0" in value:
            raise PlanError(wrong("environment.bad_name", name=name))
        if name == MARKER:
            raise PlanError(wrong("environment.marker", name=MARKER))


def _check_words(words: tuple[str, ...]) -> None:
    for word in words:
        if "\0" in word:
            raise PlanError(wrong("arguments.null", word=repr(word)))
