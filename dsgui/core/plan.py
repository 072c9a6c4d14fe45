"""A launch as a value: what was asked for, and the plan that it becomes."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from dsgui.core.context import Integration
from dsgui.core.decoding import sequence, whole
from dsgui.core.hostfile import Host, Machines
from dsgui.core.slurm import SlurmJob

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
    START = "start anyway"
    REFUSE = "don’t start"

    @classmethod
    def usual(cls, on_gpus: bool) -> "WhenBusy":
        """Unless somebody says otherwise, on the page and the command line alike: GPUs are waited for, processors are
        shared."""
        return cls.WAIT if on_gpus else cls.START


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What is asked for: `arguments` as typed, or in words. `gpu_indices` are physical (PCI bus order), empty on CPU.
    `as_script_reads`: `config_argument` counts only where the script itself tells nothing. `logs`:
    --logging_steps 10 is added where its Trainer would log every 500 steps. `secrets` are environment
    variables whose values are handed on and written nowhere. `parent`: the run that this is a clone of, "" for none."""

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
    as_script_reads: bool = False
    logs: bool = False
    parent: str = ""


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
    parent: str = ""

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
        names = {name: getattr(self, name).name for name in ("config_argument", "started_by", "when_busy")}
        return asdict(self) | names | {"environment": dict(self.environment)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Plan":
        """The inverse of `to_json`; unknown keys are ignored. Raises KeyError, TypeError or ValueError."""
        return cls(
            run_id=str(value["run_id"]),
            name=str(value["name"]),
            run_directory=str(value["run_directory"]),
            script=str(value["script"]),
            arguments=tuple(str(word) for word in sequence(value["arguments"], _MOST_WORDS)),
            ranks=whole(value["ranks"], 0, _MOST_RANKS),
            gpu_indices=tuple(whole(index, 0, _MOST_RANKS) for index in sequence(value["gpu_indices"], _MOST_RANKS)),
            master_port=whole(value["master_port"], 0, 65535),
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
            parent=str(value.get("parent", "")),
        )


def shared_devices(plan: Plan, others: Iterable[Plan]) -> str:
    """What both `plan` and the `others` want: "GPUs 0, 1", "worker-0:0", "this machine’s processor"."""
    wanted = plan.slots & {slot for other in others for slot in other.slots}
    if plan.elsewhere:
        return ", ".join(sorted(wanted))
    gpus = sorted(index for index in plan.gpu_indices if f"gpu-{index}" in wanted)
    return f"GPU{'s' * (len(gpus) > 1)} {', '.join(map(str, gpus))}" if gpus else "this machine’s processor"
