"""What runs for a plan: argv, environment and Slurm's script are pure functions of it.

The preview and the launch are given the same `Plan`, so they cannot differ. The launcher's options are those of
deepspeed/launcher/runner.py: `--include` and `--num_gpus` exclude each other, and `launch.py` starts the ranks with
`sys.executable`, so the interpreter named here is the one that trains.
"""

import posixpath
import shlex
from collections.abc import Mapping

from dsgui.core.launch.hostfile import Machines
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, Plan, StartedBy
from dsgui.core.launch.slurm import batch_script

CONFIG_VARIABLE = "DSGUI_CONFIG"  # where the config is, for a script that is not given it otherwise
MARKER = "DSGUI_RUN_ID"  # every process of a run carries it: that is how a stray is proven to be ours
RUN_FOLDER = "DSGUI_RUN_FOLDER"  # so does this: a run whose folder was moved or deleted is still of that folder's list
CONFIG_FILE = "ds_config.json"
HOSTFILE = "hostfile"
BATCH_SCRIPT, BATCH_OUTPUT = "job.sh", "slurm.out"
REMOTE_ENVIRONMENT_FILE = "deepspeed_env"
# pdsh holds back what has no line end yet, and errors apart from the rest: the bars of an hour would come at once, and
# nobody could tell to which of them a line belongs. The launcher hands on names unquoted, so this is run there.
_MERGED = "PYTHONUNBUFFERED; exec 2>&1; export PYTHONUNBUFFERED=1\n"


def argv(plan: Plan) -> tuple[str, ...]:
    """The command, word by word; no shell reads it."""
    if plan.slurm:
        return ("sbatch", "--parsable", posixpath.join(plan.run_directory, BATCH_SCRIPT))
    starts = _torchrun(plan) if plan.started_by is StartedBy.TORCHRUN else _deepspeed(plan)
    return (plan.target_python, "-m", *starts, plan.script, *script_words(plan), *config_words(plan))


def _deepspeed(plan: Plan) -> tuple[str, ...]:
    without = () if plan.passes_local_rank else ("--no_local_rank",)
    where = _several(plan, plan.machines) if plan.machines else (_devices(plan),)
    return ("deepspeed.launcher.runner", *where, f"--master_port={plan.master_port}", *without)


def _several(plan: Plan, machines: Machines) -> tuple[str, ...]:
    """`--force_multi`: a filter may leave one machine, which need not be this one."""
    given = (("include", machines.include), ("exclude", machines.exclude), ("master_addr", machines.master_addr))
    return (
        f"--hostfile={posixpath.join(plan.run_directory, HOSTFILE)}",
        *(f"--{name}={value.strip()}" for name, value in given if value.strip()),
        "--force_multi",
    )


def _torchrun(plan: Plan) -> tuple[str, ...]:
    """It never passes --local_rank; the GPUs are chosen by CUDA_VISIBLE_DEVICES."""
    where = ("--master_addr=127.0.0.1", f"--master_port={plan.master_port}")
    return ("torch.distributed.run", f"--nproc_per_node={plan.ranks}", *where)


def environment(plan: Plan, inherited: Mapping[str, str]) -> dict[str, str]:
    """The run's whole environment: what is inherited, the target's programs first in PATH, and what is added.

    DeepSpeed compiles with the `ninja` it finds in PATH: without the target's own there may be none, and another one
    takes every cached operator for changed and builds it again.
    """
    path = ":".join(filter(None, (_programs(plan), inherited.get("PATH", ""))))
    return {**inherited, "PATH": path, **_added(plan), MARKER: plan.run_id, RUN_FOLDER: plan.run_directory}


def slurm_script(plan: Plan) -> str:
    """What sbatch is given, "" for a plan without Slurm. Secrets come from the environment that submits it."""
    job = plan.slurm
    if job is None:
        return ""
    directory, port = plan.run_directory, f"--master_port={plan.master_port}"
    static = {name: shlex.quote(value) for name, value in {**_added(plan), MARKER: plan.run_id}.items()}
    if plan.started_by is StartedBy.TORCHRUN:
        module = "torch.distributed.run"
        where = [f"--nnodes={job.nodes}", f"--nproc_per_node={job.per_node}", '--master_addr="$first"', port]
    else:
        module = "deepspeed.launcher.runner"
        without = () if plan.passes_local_rank else ("--no_local_rank",)
        where = ['--hostfile="$hosts"', "--no_ssh", '--master_addr="$first"', port, *without]
    trains = (plan.script, *script_words(plan), *config_words(plan))
    return batch_script(
        f"dsgui run {plan.run_id}, submitted with: {shlex.join(argv(plan))}",
        job.directives(plan.name, posixpath.join(directory, BATCH_OUTPUT), plan.working_directory),
        {"PATH": f'{shlex.quote(_programs(plan))}:"$PATH"', **static},
        posixpath.join(directory, HOSTFILE),
        job.per_node,
        [shlex.quote(plan.target_python), module, *where, *(shlex.quote(word) for word in trains)],
    )


def remote_environment(plan: Plan) -> str:
    """What the launcher hands to every machine, one NAME=value a line, as in a `.deepspeed_env`. The marker is among
    it: by it a run's processes are found there."""
    added = {"PATH": f"{_programs(plan)}:$PATH", **_added(plan), MARKER: plan.run_id}
    return "".join(f"{name}={value}\n" for name, value in added.items()) + _MERGED


def shell_line(plan: Plan) -> str:
    """The command for a terminal; pasted there it runs the same, in the same folder and environment.

    The marker is left out: it changes nothing in the training, and a process that carries it is ended with the run.
    With several machines it is in the file that DS_ENV_FILE names.
    """
    path = f'PATH={shlex.quote(_programs(plan))}:"$PATH"'
    if plan.machines:
        path += f" DS_ENV_FILE={shlex.quote(posixpath.join(plan.run_directory, REMOTE_ENVIRONMENT_FILE))}"
    assignments = (f"{name}={shlex.quote(value)}" for name, value in _added(plan).items())
    secrets = (f'{name}="${name}"' for name in plan.secret_names)  # of the shell it is pasted into
    if plan.slurm:
        return shlex.join(argv(plan))
    command = " ".join((path, *assignments, *secrets, shlex.join(argv(plan))))
    return f"cd {shlex.quote(plan.working_directory)} && {command}"


def _programs(plan: Plan) -> str:
    """The folder of the target's programs."""
    return posixpath.dirname(plan.target_python)


def _added(plan: Plan) -> dict[str, str]:
    # CUDA counts the fastest card first unless told to count as nvidia-smi and NVML do.
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if plan.gpu_indices or plan.machines or plan.slurm else {}
    if plan.gpu_indices and plan.started_by is StartedBy.TORCHRUN:
        order["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in plan.gpu_indices)
    return {"PYTHONUNBUFFERED": "1"} | order | told_by_environment(plan) | dict(plan.environment)


def _devices(plan: Plan) -> str:
    if plan.gpu_indices:
        return "--include=localhost:" + ",".join(str(index) for index in plan.gpu_indices)
    return f"--num_gpus={plan.ranks}"


def config_path(plan: Plan) -> str:
    """Where the run's config is, on every machine of the run."""
    return posixpath.join(plan.run_directory, CONFIG_FILE)


def script_words(plan: Plan) -> tuple[str, ...]:
    """The script's arguments, with the config's place where they name it."""
    return tuple(word.replace(PLACEHOLDER, config_path(plan)) for word in plan.arguments)


def config_words(plan: Plan) -> tuple[str, ...]:
    """What is added to them."""
    path = config_path(plan)
    words = {
        ConfigArgument.HF: ("--deepspeed", path),
        ConfigArgument.NATIVE: ("--deepspeed", "--deepspeed_config", path),
        ConfigArgument.OVERRIDE: (f"deepspeed={path}",),
    }
    return words.get(plan.config_argument, ())


def told_by_environment(plan: Plan) -> dict[str, str]:
    """The variables that name the config: those that `accelerate launch --use_deepspeed` sets
    (accelerate/utils/launch.py), Lightning's own (strategies/deepspeed.py), or ours where the script is told nothing
    else."""
    path = config_path(plan)
    variables = {
        ConfigArgument.ACCELERATE: {
            "ACCELERATE_USE_DEEPSPEED": "true",
            "ACCELERATE_DEEPSPEED_CONFIG_FILE": path,
        },
        ConfigArgument.LIGHTNING: {"PL_DEEPSPEED_CONFIG_PATH": path},
        ConfigArgument.TRAINER: {CONFIG_VARIABLE: path},
        ConfigArgument.NONE: {CONFIG_VARIABLE: path},
    }
    return variables.get(plan.config_argument, {})
