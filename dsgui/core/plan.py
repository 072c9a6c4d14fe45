"""A launch as a value: what was asked for becomes a plan, and argv and environment are pure functions of the plan.

The preview and the launch are given the same `Plan`, so they cannot differ. The launcher's options are those of
deepspeed/launcher/runner.py: `--include` and `--num_gpus` exclude each other, and `launch.py` starts the ranks with
`sys.executable`, so the interpreter named here is the one that trains.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from dsgui.core.errors import PlanError
from dsgui.core.hostfile import Host, Machines
from dsgui.core.slurm import SlurmJob, batch_script

MARKER = "DSGUI_RUN_ID"  # every process of a run carries it: that is how a stray is proven to be ours
CONFIG_FILE = "ds_config.json"
HOSTFILE = "hostfile"
BATCH_SCRIPT, BATCH_OUTPUT = "job.sh", "slurm.out"
REMOTE_ENVIRONMENT_FILE = "deepspeed_env"
LOWEST_PORT, HIGHEST_PORT = 1024, 65535
_JIT = "__enable_jit_checkpoint"
MOST_RANKS = 4096
# pdsh holds back what has no line end yet, and errors apart from the rest: the bars of an hour would come at once, and
# nobody could tell to which of them a line belongs. The launcher hands on names unquoted, so this is run there.
_MERGED = "PYTHONUNBUFFERED; exec 2>&1; export PYTHONUNBUFFERED=1\n"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# The launcher puts its words into a command line for the other machines' shells; it quotes none but those with a space.
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+\Z")
_PLAIN_WORDS = re.compile(r"[\w@%+=:,./ -]+\Z")


class ConfigArgument(Enum):
    """How the script is told where its DeepSpeed config is."""

    HF = "--deepspeed FILE"
    NATIVE = "--deepspeed --deepspeed_config FILE"
    NONE = ""  # not passed; the script knows its own


class StartedBy(Enum):
    """Which program starts the ranks."""

    DEEPSPEED = "deepspeed"
    TORCHRUN = "torchrun"


class WhenBusy(Enum):
    """What a new run does when another run uses a GPU of its own (on a CPU: when another run trains at all)."""

    WAIT = "wait in the queue"
    START = "start anyway"
    REFUSE = "don’t start"


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What is asked for: `arguments` as typed, or in words. `gpu_indices` are physical (PCI bus order), empty on CPU.
    `secrets` are environment variables whose values are handed on and written nowhere."""

    name: str
    script: str
    arguments: str | tuple[str, ...]
    ranks: int
    gpu_indices: tuple[int, ...]
    master_port: int | None
    working_directory: str
    config_text: str
    config_argument: ConfigArgument
    target_python: str
    environment: Mapping[str, str]
    preset: str = ""
    started_by: StartedBy = StartedBy.DEEPSPEED
    when_busy: WhenBusy = WhenBusy.START
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    machines: Machines | None = None
    slurm: SlurmJob | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch made concrete: absolute paths, arguments split, port chosen. `environment` is what the user added, of
    `secret_names` only the names. `passes_local_rank`: whether the script is given --local_rank. With `machines` or
    `slurm` the ranks are all of theirs together, and `gpu_indices` is empty."""

    run_id: str
    name: str
    run_directory: str
    script: str
    arguments: tuple[str, ...]
    ranks: int
    gpu_indices: tuple[int, ...]
    master_port: int
    working_directory: str
    config_argument: ConfigArgument
    target_python: str
    environment: Mapping[str, str] = field(default_factory=dict)
    preset: str = ""
    started_by: StartedBy = StartedBy.DEEPSPEED
    when_busy: WhenBusy = WhenBusy.START
    secret_names: tuple[str, ...] = ()
    passes_local_rank: bool = True
    machines: Machines | None = None
    slurm: SlurmJob | None = None

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The machines that train; () where it is this one alone."""
        return self.machines.hosts() if self.machines else ()

    @property
    def nodes(self) -> int:
        """On how many machines; 1 where they have different numbers of ranks, as if all were on one."""
        if self.slurm:
            return self.slurm.nodes
        return len(self.hosts) if len({len(host.slots) for host in self.hosts}) == 1 else 1

    @property
    def elsewhere(self) -> str:
        """The machines that train, in words; "" for this one."""
        if self.slurm:
            return "the nodes that Slurm chooses"
        names = [host.name for host in self.hosts]
        return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")

    @property
    def slots(self) -> frozenset[str]:
        """What the run takes for itself: its GPUs, or this machine's processor."""
        if self.machines:
            return frozenset(f"{host.name}:{slot}" for host in self.hosts for slot in host.slots)
        if self.slurm:
            return frozenset({f"slurm:{self.run_id}"})  # Slurm has a queue of its own
        return frozenset(f"gpu-{index}" for index in self.gpu_indices) or frozenset({"cpu"})

    @property
    def saves_when_asked(self) -> bool:
        """Whether the script saves and ends at a SIGTERM: the HF Trainer's just-in-time checkpoint
        (transformers/trainer_jit_checkpoint.py)."""
        words = [word.replace("-", "_") for word in self.arguments]
        option = next((n for n, word in enumerate(words) if word.partition("=")[0] == _JIT), None)
        if option is None:
            return False
        value = words[option].partition("=")[2] or (words[option + 1] if option + 1 < len(words) else "")
        return value.lower() not in ("false", "0", "no", "off")

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON; `argv` and `added_environment` are there for people and other tools to read."""
        names = {name: getattr(self, name).name for name in ("config_argument", "started_by", "when_busy")}
        fields = asdict(self) | names | {"environment": dict(self.environment)}
        return fields | {"argv": list(argv(self)), "added_environment": environment(self, {})}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """The inverse of `to_json`; unknown keys are ignored. Raises KeyError, TypeError or ValueError."""
        return cls(
            run_id=str(value["run_id"]),
            name=str(value["name"]),
            run_directory=str(value["run_directory"]),
            script=str(value["script"]),
            arguments=tuple(str(word) for word in value["arguments"]),
            ranks=int(value["ranks"]),
            gpu_indices=tuple(int(index) for index in value["gpu_indices"]),
            master_port=int(value["master_port"]),
            working_directory=str(value["working_directory"]),
            config_argument=ConfigArgument[value["config_argument"]],
            target_python=str(value["target_python"]),
            environment={str(k): str(v) for k, v in value.get("environment", {}).items()},
            preset=str(value.get("preset", "")),
            started_by=StartedBy[value.get("started_by", "DEEPSPEED")],
            when_busy=WhenBusy[value.get("when_busy", "START")],
            secret_names=tuple(str(name) for name in value.get("secret_names", ())),
            passes_local_rank=bool(value.get("passes_local_rank", True)),
            machines=Machines.from_json(value.get("machines")),
            slurm=SlurmJob.from_json(value.get("slurm")),
        )


def make_plan(
    request: LaunchRequest,
    *,
    run_id: str,
    run_directory: str,
    script_path: str,
    master_port: int,
    passes_local_rank: bool = True,
) -> Plan:
    """The plan for `request`. Raises `PlanError`; whether the files exist is for the caller to check."""
    ranks = _ranks_elsewhere(request) or request.ranks
    _check_ranks(ranks, request.gpu_indices)
    check_port(master_port)
    _check_environment({**request.environment, **request.secrets})
    if not request.script.strip():
        raise PlanError("Script: nothing was given. Expected the path of the Python file that trains. Give it.")
    plan = Plan(
        run_id=run_id,
        name=request.name.strip() or posixpath.splitext(posixpath.basename(script_path))[0],
        run_directory=run_directory,
        script=script_path,
        arguments=_split(request.arguments),
        ranks=ranks,
        gpu_indices=request.gpu_indices,
        master_port=master_port,
        working_directory=request.working_directory or run_directory,
        config_argument=request.config_argument,
        target_python=request.target_python,
        environment=dict(request.environment),
        preset=request.preset,
        started_by=request.started_by,
        when_busy=request.when_busy,
        secret_names=tuple(sorted(request.secrets)),
        passes_local_rank=passes_local_rank,
        machines=request.machines,
        slurm=request.slurm,
    )
    _check_words(argv(plan))
    if plan.machines:
        _check_for_other_shells(plan)
    if plan.slurm:
        _check_for_sbatch(plan)
    return plan


def argv(plan: Plan) -> tuple[str, ...]:
    """The command, word by word; no shell reads it."""
    if plan.slurm:
        return ("sbatch", "--parsable", posixpath.join(plan.run_directory, BATCH_SCRIPT))
    starts = _torchrun(plan) if plan.started_by is StartedBy.TORCHRUN else _deepspeed(plan)
    return (plan.target_python, "-m", *starts, plan.script, *plan.arguments, *_config_words(plan))


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
    return {**inherited, "PATH": path, **_added(plan), MARKER: plan.run_id}


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
    trains = (plan.script, *plan.arguments, *_config_words(plan))
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


def shared_devices(plan: Plan, others: Iterable[Plan]) -> str:
    """What both `plan` and the `others` want: "GPUs 0, 1", "this machine’s processor"."""
    wanted = sorted({index for other in others for index in other.gpu_indices} & set(plan.gpu_indices))
    return f"GPU{'s' * (len(wanted) > 1)} {', '.join(map(str, wanted))}" if wanted else "this machine’s processor"


def check_port(port: int) -> None:
    """Raises `PlanError` for a port that an ordinary user's process can't listen on."""
    if not LOWEST_PORT <= port <= HIGHEST_PORT:
        raise PlanError(
            f"Master port: {port} is outside {LOWEST_PORT} to {HIGHEST_PORT}. Give one inside, or leave it empty and a "
            "free one is chosen."
        )


def _programs(plan: Plan) -> str:
    """The folder of the target's programs."""
    return posixpath.dirname(plan.target_python)


def _added(plan: Plan) -> dict[str, str]:
    # CUDA counts the fastest card first unless told to count as nvidia-smi and NVML do.
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if plan.gpu_indices or plan.machines or plan.slurm else {}
    if plan.gpu_indices and plan.started_by is StartedBy.TORCHRUN:
        order["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in plan.gpu_indices)
    return {"PYTHONUNBUFFERED": "1"} | order | dict(plan.environment)


def _devices(plan: Plan) -> str:
    if plan.gpu_indices:
        return "--include=localhost:" + ",".join(str(index) for index in plan.gpu_indices)
    return f"--num_gpus={plan.ranks}"


def _config_words(plan: Plan) -> tuple[str, ...]:
    path = posixpath.join(plan.run_directory, CONFIG_FILE)
    words = {
        ConfigArgument.HF: ("--deepspeed", path),
        ConfigArgument.NATIVE: ("--deepspeed", "--deepspeed_config", path),
        ConfigArgument.NONE: (),
    }
    return words[plan.config_argument]


def _split(arguments: str | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(arguments, tuple):
        return arguments
    try:
        return tuple(shlex.split(arguments))
    except ValueError as error:
        raise PlanError(
            f"Arguments: “{arguments}” can't be split into words ({str(error).lower()}). Expected them as typed in a "
            "shell. Close the quote, or put a backslash before it."
        ) from error


def _ranks_elsewhere(request: LaunchRequest) -> int:
    """0 for a launch on this machine. Raises `PlanError` for what the others can't be given."""
    if request.slurm:
        if request.machines or request.gpu_indices:
            raise PlanError("Slurm: GPUs or machines of your own are chosen too. Expected that Slurm chooses them.")
        request.slurm.check()
        return request.slurm.ranks
    if request.machines is None:
        return 0
    if request.started_by is StartedBy.TORCHRUN:
        raise PlanError("Launcher: torchrun starts ranks on this machine alone here. Choose deepspeed for a hostfile.")
    if request.gpu_indices:
        raise PlanError("GPUs: this machine’s are chosen beside a hostfile. Expected one or the other. Use include.")
    if request.secrets:
        raise PlanError(
            f"Environment: {', '.join(sorted(request.secrets))} can’t be handed to other machines: the launcher writes "
            "what it hands over into its log and into command lines that every user there can read. Log in there, "
            "or put it into a file that only you can read and that the script loads."
        )
    return sum(len(host.slots) for host in request.machines.hosts())


def _check_ranks(ranks: int, gpu_indices: tuple[int, ...]) -> None:
    if ranks < 1:
        raise PlanError(f"Ranks: {ranks} was asked for, at least 1 is needed. Give 1 or more, or choose a GPU.")
    if ranks > MOST_RANKS:
        raise PlanError(f"Ranks: {ranks:g} was asked for, at most {MOST_RANKS} are started. Give fewer.")
    if gpu_indices and len(gpu_indices) != ranks:
        raise PlanError(
            f"Ranks: {ranks} ranks on {len(gpu_indices)} chosen GPUs. Expected one rank a GPU. Choose as many GPUs as "
            "ranks."
        )
    if len(set(gpu_indices)) != len(gpu_indices) or any(index < 0 for index in gpu_indices):
        raise PlanError(f"GPUs: {list(gpu_indices)} is not a list of different GPU numbers. Choose each once.")


def _check_for_other_shells(plan: Plan) -> None:
    """deepspeed/launcher/multinode_runner.py, PDSHRunner: what is typed here is read there by a shell once more."""
    whole = (plan.target_python, plan.working_directory, plan.script, *_config_words(plan))
    address = (plan.machines.master_addr.strip() or "-",) if plan.machines else ()
    for word in (*whole, *address):
        if not _PLAIN_WORD.match(word):
            raise _not_for_other_shells(word, "Paths and addresses have letters, digits and @%+=:,./-_ only")
    values = [value for name, value in plan.environment.items() if value]
    for word in (*plan.arguments, *values):
        if not _PLAIN_WORDS.match(word):
            raise _not_for_other_shells(word, "Arguments and variables may have spaces beside @%+=:,./-_")


def _check_for_sbatch(plan: Plan) -> None:
    """In its own lines sbatch knows no quotes, and takes % for the beginning of a pattern."""
    for path in (plan.working_directory, plan.run_directory):
        if not _PLAIN_WORD.match(path) or "%" in path:
            raise PlanError(
                f"Slurm: “{path[:80]}” can’t stand in a batch script’s directives. Expected letters, digits and "
                "@+=:,./-_ only. Rename the folder, or give another."
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
                f"Environment: “{name}” can't be a variable here. Expected letters, digits and underscores, and a "
                "value without a null character. Rename or remove it."
            )
        if name == MARKER:
            raise PlanError(f"Environment: {MARKER} is dsgui's own mark on a run's processes. Remove it.")


def _check_words(words: tuple[str, ...]) -> None:
    for word in words:
        if "\0" in word:
            raise PlanError(f"Arguments: {word!r} has a null character, which no command can take. Remove it.")
