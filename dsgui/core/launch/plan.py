"""A launch as a value: what was asked for, and the plan that it becomes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.decoding import sequence, whole
from dsgui.core.launch.hostfile import Host, Machines
from dsgui.core.launch.slurm import SlurmJob

_MOST_RANKS, _MOST_WORDS = 1 << 17, 1 << 16

_JIT = "__enable_jit_checkpoint"
PLACEHOLDER = "{config}"  # among the arguments: the place of the run's config


class ConfigArgument(Enum):
    """How the script is told where its DeepSpeed config is: by arguments, by the environment, or not at all, where it
    names a config of its own."""

    HF = "--deepspeed FILE"
    NATIVE = "--deepspeed --deepspeed_config FILE"
    OVERRIDE = "deepspeed=FILE"  # LLaMA-Factory, after a settings file
    ACCELERATE = "ACCELERATE_DEEPSPEED_CONFIG_FILE=FILE"
    LIGHTNING = "PL_DEEPSPEED_CONFIG_PATH=FILE"
    TRAINER = "by itself, through the HF Trainer or accelerate"
    NONE = ""  # by itself, natively

    @property
    def integration(self) -> Integration:
        """Whose rules count for the config: who reads it in the end."""
        natively = (ConfigArgument.NATIVE, ConfigArgument.LIGHTNING, ConfigArgument.NONE)
        return Integration.NATIVE if self in natively else Integration.HF

    @property
    def by_itself(self) -> bool:
        """Whether nothing hands the config to the script."""
        return self in (ConfigArgument.TRAINER, ConfigArgument.NONE)


# How the command line names them.
READERS = {
    "hf": ConfigArgument.HF,
    "native": ConfigArgument.NATIVE,
    "llamafactory": ConfigArgument.OVERRIDE,
    "accelerate": ConfigArgument.ACCELERATE,
    "lightning": ConfigArgument.LIGHTNING,
    "script-hf": ConfigArgument.TRAINER,
    "none": ConfigArgument.NONE,
}
AS_SCRIPT_READS = "auto"


def reader_word(reader: ConfigArgument) -> str:
    """What the command line and the page call it."""
    return next(word for word, one in READERS.items() if one is reader)


def itself(integration: Integration) -> ConfigArgument:
    """The script reads a config of its own, by these rules."""
    return ConfigArgument.TRAINER if integration is Integration.HF else ConfigArgument.NONE


class StartedBy(Enum):
    """Which program starts the ranks."""

    DEEPSPEED = "deepspeed"
    TORCHRUN = "torchrun"


class WhenBusy(Enum):
    """What a new run does when another run uses a GPU of its own (on a CPU: when another run trains at all)."""

    WAIT = "wait in the queue"
    START = "start now"
    REFUSE = "don’t start"

    @classmethod
    def usual(cls, on_gpus: bool) -> "WhenBusy":
        """Unless somebody says otherwise, on the page and the command line alike: GPUs are waited for, processors are
        shared."""
        return cls.WAIT if on_gpus else cls.START


WHEN_BUSY = {"wait": WhenBusy.WAIT, "start": WhenBusy.START, "refuse": WhenBusy.REFUSE}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What is to run, from whoever asks for it to `plan.json`: `arguments` as typed, or in words. `gpu_indices` are
    physical (PCI bus order), empty on a CPU and where `machines` or `slurm` train. `master_port` is None for a free
    one. `environment` is what the user added. `parent`: the run that this is a clone of, "" for none."""

    name: str = ""
    script: str
    arguments: str | tuple[str, ...] = ()
    ranks: int
    gpu_indices: tuple[int, ...] = ()
    master_port: int | None = None
    working_directory: str = ""
    config_argument: ConfigArgument = ConfigArgument.HF
    target_python: str
    environment: Mapping[str, str] = field(default_factory=dict)
    preset: str = ""
    started_by: StartedBy = StartedBy.DEEPSPEED
    when_busy: WhenBusy = WhenBusy.START
    machines: Machines | None = None
    slurm: SlurmJob | None = None
    parent: str = ""

    def spec(self) -> dict[str, Any]:
        """The fields above, by name."""
        return {one.name: getattr(self, one.name) for one in fields(RunSpec)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest(RunSpec):
    """What is asked for. `as_script_reads`: `config_argument` counts only where the script itself tells nothing.
    `logs`: --logging_steps 10 is added where its Trainer would log every 500 steps. `secrets` are environment
    variables whose values are handed on and written nowhere."""

    config_text: str
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    as_script_reads: bool = False
    logs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(RunSpec):
    """A launch made concrete: absolute paths, arguments split, port chosen. Of `secret_names` only the names are kept.
    `passes_local_rank`: whether the script is given --local_rank. With `machines` or `slurm` the ranks are all of
    theirs together, and `gpu_indices` is empty."""

    run_id: str
    run_directory: str
    arguments: tuple[str, ...]
    master_port: int
    secret_names: tuple[str, ...] = ()
    passes_local_rank: bool = True

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
        (transformers/trainer_jit_checkpoint.py). Ranks of other machines are not signalled."""
        if self.elsewhere:
            return False
        words = [word.replace("-", "_") for word in self.arguments]
        option = next((n for n, word in enumerate(words) if word.partition("=")[0] == _JIT), None)
        if option is None:
            return False
        value = words[option].partition("=")[2] or (words[option + 1] if option + 1 < len(words) else "")
        return value.lower() not in ("false", "0", "no", "off")

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {name: _WRITTEN.get(name, _same)(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """The inverse of `to_json`; unknown keys are ignored. Raises KeyError, TypeError or ValueError."""
        needed = {name: value[name] for name in _NEEDED}
        given = {one.name: value[one.name] for one in fields(cls) if one.name in value}
        return cls(**{name: _READ[name](one) for name, one in (needed | given).items()})


def _same(value: Any) -> Any:
    return value


def _name_of(choice: Enum) -> str:
    return choice.name


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in sequence(value, _MOST_WORDS))


# How each field of a plan stands in plan.json, where that is not as it is; and how it is read from there.
_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "config_argument": _name_of,
    "started_by": _name_of,
    "when_busy": _name_of,
    "environment": dict,
}
_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("name", "script", "working_directory", "target_python", "preset", "parent"), str),
    **dict.fromkeys(("run_id", "run_directory"), str),
    "ranks": lambda value: whole(value, 0, _MOST_RANKS),
    "master_port": lambda value: whole(value, 0, 65535),
    **dict.fromkeys(("arguments", "secret_names"), _texts),
    "gpu_indices": lambda value: tuple(whole(index, 0, _MOST_RANKS) for index in sequence(value, _MOST_RANKS)),
    "config_argument": lambda value: ConfigArgument[value],
    "started_by": lambda value: StartedBy[value],
    "when_busy": lambda value: WhenBusy[value],
    "environment": lambda value: {str(name): str(one) for name, one in value.items()},
    "passes_local_rank": bool,
    "machines": Machines.from_json,
    "slurm": SlurmJob.from_json,
}
# What a plan of any release of dsgui has.
_NEEDED = (
    *("run_id", "run_directory", "name", "script", "arguments", "ranks", "gpu_indices", "master_port"),
    *("working_directory", "config_argument", "target_python"),
)


def shared_devices(plan: Plan, others: Iterable[Plan]) -> str:
    """What both `plan` and the `others` want: "GPUs 0, 1", "worker-0:0", "this machine’s CPU"."""
    wanted = plan.slots & {slot for other in others for slot in other.slots}
    if plan.elsewhere:
        return ", ".join(sorted(wanted))
    gpus = sorted(index for index in plan.gpu_indices if f"gpu-{index}" in wanted)
    return f"GPU{'s' * (len(gpus) > 1)} {', '.join(map(str, gpus))}" if gpus else "this machine’s CPU"
