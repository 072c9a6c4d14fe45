"""A request becomes a plan, or a sentence on what it can't be."""

import posixpath
import re
import shlex
from collections.abc import Mapping

from dsgui.core.errors import PlanError
from dsgui.core.launch.command import MARKER, argv, config_words, script_words, told_by_environment
from dsgui.core.launch.handing import chosen, takes_local_rank
from dsgui.core.launch.plan import LaunchRequest, Plan, StartedBy
from dsgui.core.script.script import ScriptFacts

LOWEST_PORT, HIGHEST_PORT = 1024, 65535
MOST_RANKS = 4096
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# The launcher puts its words into a command line for the other machines' shells; it quotes none but those with a space.
_PLAIN_WORD = re.compile(r"[\w@+=:,./-]+\Z", re.ASCII)
_PLAIN_WORDS = re.compile(r"[\w@+=:,./ -]+\Z", re.ASCII)

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
    """The plan for `request`; `script` is what its source tells. Raises `PlanError`; whether the files exist is for the
    caller to check."""
    ranks = _ranks_elsewhere(request) or request.ranks
    _check_ranks(ranks, request.gpu_indices)
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
    _check_words(argv(plan))
    if plan.machines:
        _check_for_other_shells(plan)
    if plan.slurm:
        _check_for_sbatch(plan)
    return plan


def _shown(name: str) -> str:
    """Without what turns the writing around or can't be seen: a name must read as what it is, wherever it is shown."""
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


def _ranks_elsewhere(request: LaunchRequest) -> int:
    """0 for a launch on this machine. Raises `PlanError` for what the others can't be given."""
    if request.slurm:
        if request.machines or request.gpu_indices:
            raise PlanError("Slurm: GPUs or hosts are selected too, but Slurm allocates them. Clear that selection.")
        request.slurm.check()
        return request.slurm.ranks
    if request.machines is None:
        return 0
    if request.started_by is StartedBy.TORCHRUN:
        raise PlanError("Launcher: torchrun only starts ranks on this machine. Use deepspeed with a hostfile.")
    if request.gpu_indices:
        raise PlanError("GPUs: local GPUs and a hostfile can’t be combined. Select GPUs of the hosts with include.")
    if request.secrets:
        raise PlanError(
            f"Environment: {', '.join(sorted(request.secrets))} can’t be passed to other hosts: the launcher writes "
            "what it hands over into its log and into command lines that every user there can read. Log in there, "
            "or put it into a file that only you can read and that the script loads."
        )
    return sum(len(host.slots) for host in request.machines.hosts())


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


def _check_for_other_shells(plan: Plan) -> None:
    """deepspeed/launcher/multinode_runner.py, PDSHRunner: what is typed here is read there by a shell once more."""
    whole = (
        plan.target_python,
        plan.working_directory,
        plan.script,
        *config_words(plan),
        *told_by_environment(plan).values(),
    )
    address = (plan.machines.master_addr.strip() or "-",) if plan.machines else ()
    for word in (*whole, *address):
        if not _PLAIN_WORD.match(word):
            raise _not_for_other_shells(word, "Paths and addresses may contain only letters, digits and @+=:,./-_")
    values = [value for name, value in plan.environment.items() if value]
    for word in (*script_words(plan), *values):
        if not _PLAIN_WORDS.match(word):
            raise _not_for_other_shells(
                word, "Arguments and variables may contain letters, digits, spaces and @+=:,./-_"
            )


def _check_for_sbatch(plan: Plan) -> None:
    """In its own lines sbatch takes a space for an end, and % for the beginning of a pattern."""
    for path in (plan.working_directory, plan.run_directory):
        if not _PLAIN_WORD.match(path):
            raise PlanError(
                f"Slurm: “{path[:80]}” can’t be used in the directives of a batch script. Expected only letters, "
                "digits and @+=:,./-_. Rename the folder or choose another."
            )


def _not_for_other_shells(word: str, rule: str) -> PlanError:
    return PlanError(
        f"Several machines: “{word[:80]}” would be changed by the other machines’ shells, to which DeepSpeed’s "
        f"launcher gives it unquoted. {rule}. Put such a value into a file that the script reads, or rename it."
    )


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
