"""What runs for a plan: argv and environment are pure functions of it.

The preview and the launch get the same `Plan`, so they can't differ. The launcher's options are those of
deepspeed/launcher/runner.py: `--include` and `--num_gpus` exclude each other, and `launch.py` starts the ranks with
`sys.executable`, so the interpreter named here is the one that trains.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Protocol

from dsgui.core.access.secret_forms import NOTIFY
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, Plan, StartedBy
from dsgui.core.script.words import RANK

CONFIG_VARIABLE = "DSGUI_CONFIG"  # where the config is, for a script that is not given it otherwise
MARKER = "DSGUI_RUN_ID"  # every process of a run carries it: that is how a stray is proven to be ours
RUN_FOLDER = "DSGUI_RUN_FOLDER"  # so does this: a run whose folder was moved or deleted is still of that folder's list
CONFIG_FILE = "ds_config.json"
HOSTFILE = "hostfile"
PLAIN_WORD = re.compile(r"[\w@+=:,./-]+\Z", re.ASCII)  # the same to whoever reads it


def argv(plan: Plan) -> tuple[str, ...]:
    """The command, word by word; no shell reads it. () for a training that dsgui did not start."""
    if plan.is_adopted:
        return ()
    starts = _STARTS[plan.started_by](plan)
    launcher = (plan.target_python, *starts, plan.script, *script_words(plan), *config_words(plan))
    return plan.place.command(plan, launcher)


def _deepspeed(plan: Plan) -> tuple[str, ...]:
    without = () if plan.passes_local_rank else ("--no_local_rank",)
    where = plan.place.launcher_options(plan)
    return ("-m", "deepspeed.launcher.runner", *where, f"--master_port={plan.master_port}", *without)


def _torchrun(plan: Plan) -> tuple[str, ...]:
    """It never passes --local_rank; the GPUs are chosen by CUDA_VISIBLE_DEVICES."""
    where = ("--master_addr=127.0.0.1", f"--master_port={plan.master_port}")
    return ("-m", "torch.distributed.run", f"--nproc_per_node={plan.ranks}", *where)


def _alone(plan: Plan) -> tuple[str, ...]:
    return ()


_STARTS: Mapping[StartedBy, Callable[[Plan], tuple[str, ...]]] = {
    StartedBy.DEEPSPEED: _deepspeed,
    StartedBy.TORCHRUN: _torchrun,
    StartedBy.PYTHON: _alone,
}


def environment(plan: Plan, inherited: Mapping[str, str]) -> dict[str, str]:
    """The run's whole environment: the inherited one, with the target's programs first in PATH, plus additions.

    DeepSpeed compiles with the `ninja` it finds in PATH: without the target's own there may be none, and a different
    one considers every cached operator changed and rebuilds it.
    """
    path = ":".join(filter(None, (programs(plan), inherited.get("PATH", ""))))
    handed_on = {name: value for name, value in inherited.items() if name != NOTIFY}  # the supervisor's, no script's
    return {**handed_on, "PATH": path, **added(plan), MARKER: plan.run_id, RUN_FOLDER: plan.run_directory}


def shell_line(plan: Plan) -> str:
    """The command for a terminal; pasted there, it runs the same thing in the same folder and environment.

    The marker is left out: it does not affect the training, and a process that carries it is ended with the run.
    """
    return " ".join(_line_parts(plan))


def _line_parts(plan: Plan) -> tuple[str, ...]:
    """The folder, the environment, the command's parts."""
    if plan.place.script(plan):  # which says the rest
        return (shlex.join(argv(plan)),)
    if plan.is_adopted:
        return ()
    path = f'PATH={shlex.quote(programs(plan))}:"$PATH"'
    variables = plan.place.variables(plan) | added(plan)
    assignments = (f"{name}={shlex.quote(value)}" for name, value in variables.items())
    secrets = (f'{name}="${name}"' for name in plan.secret_names)  # of the shell it is pasted into
    where = f"cd {shlex.quote(plan.working_directory)} &&"
    return where, " ".join((path, *assignments, *secrets)), *map(shlex.join, _command_parts(plan))


def _command_parts(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """The program, its options, and the script with its own."""
    command = argv(plan)
    script = command.index(plan.script)
    program = min(3, script)  # python -m launcher
    return tuple(filter(None, (command[:program], command[program:script], command[script:])))


def shown_command(plan: Plan) -> str:
    """What is shown before the start: the script that is submitted, or the command for a terminal, each part of it on
    a line of its own."""
    return plan.place.script(plan) or " \\\n  ".join(_line_parts(plan))


def programs(plan: Plan) -> str:
    """The folder of the target's programs."""
    return posixpath.dirname(plan.target_python)


def added(plan: Plan) -> dict[str, str]:
    """What a rank's environment has in addition to what it inherits."""
    # CUDA counts the fastest card first unless told to count as nvidia-smi and NVML do.
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if plan.gpu_indices or plan.elsewhere else {}
    if plan.gpu_indices and plan.started_by is StartedBy.TORCHRUN:
        order["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in plan.gpu_indices)
    return {"PYTHONUNBUFFERED": "1"} | order | told_by_environment(plan) | own_variables(plan)


def own_variables(plan: Plan) -> dict[str, str]:
    """Those that the user added, with the config's path where they refer to it."""
    path = config_path(plan)
    return {name: value.replace(PLACEHOLDER, path) for name, value in plan.environment.items()}


def config_path(plan: Plan) -> str:
    """Where the run's config is, on every machine of the run."""
    return posixpath.join(plan.run_directory, CONFIG_FILE)


def script_words(plan: Plan) -> tuple[str, ...]:
    """The script's arguments, with the config's path where they refer to it."""
    return tuple(word.replace(PLACEHOLDER, config_path(plan)) for word in plan.arguments)


def config_words(plan: Plan) -> tuple[str, ...]:
    """What is added to them."""
    return _words_naming(config_path(plan), plan.config_argument)


def _words_naming(path: str, argument: ConfigArgument) -> tuple[str, ...]:
    words = {
        ConfigArgument.HF: ("--deepspeed", path),
        ConfigArgument.NATIVE: ("--deepspeed", "--deepspeed_config", path),
        ConfigArgument.OVERRIDE: (f"deepspeed={path}",),
    }
    return words.get(argument, ())


UNKNOWN_PATH = f"{PLACEHOLDER}/{CONFIG_FILE}"  # of the run's config, as far as it is known before there is a run


class Given(Protocol):
    """What a plan has of what its script is given."""

    @property
    def arguments(self) -> tuple[str, ...]: ...

    @property
    def passes_local_rank(self) -> bool: ...

    @property
    def started_by(self) -> StartedBy: ...

    @property
    def config_argument(self) -> ConfigArgument: ...


def words_before(launch: Given) -> tuple[str, ...]:
    """The script's whole command line as far as it is known before the start: with what the launcher adds, and the
    config."""
    ranked = launch.passes_local_rank and launch.started_by is StartedBy.DEEPSPEED
    words = (word.replace(PLACEHOLDER, UNKNOWN_PATH) for word in launch.arguments)
    return (*([RANK] if ranked else []), *words, *_words_naming(UNKNOWN_PATH, launch.config_argument))


def told_by_environment(plan: Plan) -> dict[str, str]:
    """The variables that name the config: those that `accelerate launch --use_deepspeed` sets
    (accelerate/utils/launch.py), Lightning's own (strategies/deepspeed.py), or ours if the script is told in no other
    way."""
    return variables_naming(config_path(plan), plan.config_argument)


def variables_naming(path: str, argument: ConfigArgument) -> dict[str, str]:
    """The same for a config at `path`."""
    variables = {
        ConfigArgument.ACCELERATE: {
            "ACCELERATE_USE_DEEPSPEED": "true",
            "ACCELERATE_DEEPSPEED_CONFIG_FILE": path,
        },
        ConfigArgument.LIGHTNING: {"PL_DEEPSPEED_CONFIG_PATH": path},
        ConfigArgument.TRAINER: {CONFIG_VARIABLE: path},
        ConfigArgument.NONE: {CONFIG_VARIABLE: path},
    }
    return variables.get(argument, {})
