"""A launch as a value: what was asked for, and the plan that it becomes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, ClassVar, Protocol, Self

from dsgui.core.access.secret_forms import NOTIFY
from dsgui.core.config.context import Integration
from dsgui.core.launch.field import Field
from dsgui.core.launch.hostfile import Host
from dsgui.core.launch.planned import Planned
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.verdicts import saw
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.script.words import PLACEHOLDER as PLACEHOLDER
from dsgui.core.texts.languages import translated
from dsgui.core.texts.saying import Said, listed, phrase

_JIT = "__enable_jit_checkpoint"


class ConfigArgument(Enum):
    """How the script learns where its DeepSpeed config is: from arguments, from the environment, or not at all if it
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
        """Whose rules apply to the config: those of the framework that finally reads it."""
        natively = (ConfigArgument.NATIVE, ConfigArgument.LIGHTNING, ConfigArgument.NONE)
        return Integration.NATIVE if self in natively else Integration.HF

    @property
    def by_itself(self) -> bool:
        """Whether the script finds its config by itself."""
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
    """What the command line and the page call this."""
    return next(word for word, one in READERS.items() if one is reader)


def itself(integration: Integration) -> ConfigArgument:
    """The script reads a config of its own, by these rules."""
    return ConfigArgument.TRAINER if integration is Integration.HF else ConfigArgument.NONE


class StartedBy(Enum):
    """Which program starts the ranks."""

    DEEPSPEED = "deepspeed"
    TORCHRUN = "torchrun"
    PYTHON = "python"  # no ranks: dsgui's own jobs after training
    OTHERS = "others"  # not dsgui: it reads what a training left

    @property
    def starts_ranks(self) -> bool:
        """Whether it can be chosen for a training."""
        return self in (StartedBy.DEEPSPEED, StartedBy.TORCHRUN)


class WhenBusy(Enum):
    """What a new run does while another run uses one of its GPUs (on a CPU: while any other run trains)."""

    WAIT = "wait in the queue"
    START = "start now"
    REFUSE = "don’t start"

    @classmethod
    def usual(cls, on_gpus: bool) -> "WhenBusy":
        """The default, on the page and on the command line: wait for GPUs, share processors."""
        return cls.WAIT if on_gpus else cls.START


WHEN_BUSY = {"wait": WhenBusy.WAIT, "start": WhenBusy.START, "refuse": WhenBusy.REFUSE}


class Place(Protocol):
    """Where a run trains: what is requested from that place, and what this means for plan, command and page. The
    defaults here are those of this machine; another place overrides what differs. `where.py` lists them."""

    __slots__ = ()

    NAME: ClassVar[str]
    """What the page's choice and the command line call it."""
    LABEL: ClassVar[str]
    """What people call it, in English."""
    KEY: ClassVar[str] = ""
    """Of what is asked of it, in plan.json."""
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    """Its panel on the Launch page, and its options."""
    ON_THIS_MACHINE: ClassVar[bool] = True
    """Whether its ranks and GPUs are chosen among this machine's."""
    IS_WAITED_FOR: ClassVar[bool] = False
    """Whether a run waits there for others unless somebody says otherwise; here it does for GPUs."""
    CAN_BE_ASKED: ClassVar[str] = ""
    """What the page can ask before a start, in a word; its backend does."""
    COUNTS_GPUS: ClassVar[bool] = True
    """Whether what it has per machine are GPUs, where nobody said otherwise."""
    NOT_SAMPLED: ClassVar[str] = ""
    """The code of a sentence on what the samples lack."""
    FOLLOWS: ClassVar[tuple[str, ...]] = ()
    """Its fields of nodes and of ranks per node, which are as 1 · Configure plans them until somebody changes one."""

    # -- from and to those who ask ---------------------------------------------------------------------------------

    @classmethod
    def called(cls) -> str:
        """What people call it, in the language in use."""
        return translated("launch_fields", f"where_is_{cls.NAME}") or cls.LABEL

    @classmethod
    def options_note(cls) -> str:
        """A sentence on its options; those without one stand among the others."""
        return ""

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """As the values of the fields request it."""
        return cls()

    @classmethod
    def of_options(cls, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The values of the fields that options request, where these differ from the options' own; None if another
        place is meant. Raises `PlanError`."""
        return {}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`. Raises KeyError, TypeError, ValueError or `PlanError`."""
        return cls()

    def to_json(self) -> dict[str, Any]:
        """What is requested from it."""
        return {}

    def values(self) -> dict[str, Any]:
        """The inverse of `of_values`."""
        return {}

    @classmethod
    def placeholders(cls, nodes: int, per_node: int) -> dict[str, str]:
        """What empty fields of its show where so much is planned."""
        return {}

    @classmethod
    def as_planned(cls, nodes: int, per_node: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of its fields that make the run as planned; `values` are those they have."""
        return dict(zip(cls.FOLLOWS, (nodes, per_node), strict=False))

    # -- what it makes of a plan -----------------------------------------------------------------------------------

    def ranks(self, asked: int) -> int:
        """The number of ranks, if the fields of this machine say `asked`. Raises `PlanError`."""
        return asked

    def check(self, plan: "Plan") -> None:
        """Raises `PlanError` for what can't run there."""
        return

    @property
    def nodes(self) -> int:
        return 1

    @property
    def elsewhere(self) -> str | Said:
        return ""

    @property
    def not_asked(self) -> Said:
        """What nobody knows of one that `CAN_BE_ASKED` before it was."""
        return saw("elsewhere.not_yet")

    def hosts(self) -> tuple[Host, ...]:
        """The machines that are reached individually. Raises `PlanError`."""
        return ()

    def hardware(self, here: tuple[Hardware, ...], planned: tuple[Hardware, ...] = ()) -> tuple[Hardware, ...]:
        """The hardware its config is checked for: `planned` is what the user plans for, `here` this machine's; () while
        unknown. Elsewhere, only what is planned is known."""
        return planned or (here if self.ON_THIS_MACHINE else ())

    def slots(self, plan: "Plan") -> frozenset[str]:
        return frozenset(f"gpu-{index}" for index in plan.gpu_indices) or frozenset({"cpu"})

    def devices(self, plan: "Plan") -> str | Said:
        """What the ranks train on, for the list of runs: told in the language of who reads that."""
        if plan.gpu_indices:
            return f"GPU {', '.join(str(index) for index in plan.gpu_indices)}"
        return ranks_said(plan.ranks)

    # -- its command -----------------------------------------------------------------------------------------------

    def launcher_options(self, plan: "Plan") -> tuple[str, ...]:
        """Where to train, in the words of DeepSpeed's launcher."""
        if plan.gpu_indices:
            return ("--include=localhost:" + ",".join(str(index) for index in plan.gpu_indices),)
        return (f"--num_gpus={plan.ranks}",)

    def command(self, plan: "Plan", launcher: tuple[str, ...]) -> tuple[str, ...]:
        """The command started here, through which `launcher` starts the ranks there."""
        return launcher

    def variables(self, plan: "Plan") -> dict[str, str]:
        """What the command needs in the environment, besides what every run has: shown for pasting."""
        return {}

    def script(self, plan: "Plan") -> str:
        """The script that the command submits; "" if the command is complete in itself."""
        return ""

    def files(self, plan: "Plan") -> dict[str, str]:
        """What is written into the run's folder, by name."""
        return {}


@dataclass(frozen=True, slots=True)
class Here(Place):
    """Only this machine."""

    NAME = "here"
    LABEL = "This machine"


@dataclass(frozen=True, slots=True)
class Anywhere(Place):
    """Some machine of which nothing is known: a config alone is checked for it, and nothing trains there."""

    NAME = LABEL = "anywhere"
    ON_THIS_MACHINE = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What is to run, from the request to `plan.json`: `arguments` as typed, or in words. `gpu_indices` are physical
    (PCI bus order), empty on a CPU and when other machines train. `master_port` is None for any free port.
    `environment` is what the user added. `parent`: the run that this is a clone of, "" for none. `model`: as it was
    given, to compute the run's memory; the script's arguments may also name one. `planned`: what its config is checked
    for, where that is not what there is. `stop_after_steps`, `stop_after_minutes`: when dsgui ends it, 0 for never.
    `trial`: which step of the ladder it tries, in which circumstances; "" for no trial."""

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
    place: Place = Here()
    parent: str = ""
    model: ModelChoice = field(default_factory=ModelChoice)
    planned: Planned = field(default_factory=Planned)
    stop_after_steps: int = 0
    stop_after_minutes: int = 0
    trial: str = ""

    def spec(self) -> dict[str, Any]:
        """The fields above, by name."""
        return {one.name: getattr(self, one.name) for one in fields(RunSpec)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest(RunSpec):
    """What is asked for. `as_script_reads`: `config_argument` counts only if the script itself does not show it.
    `logs`: --logging_steps 10 is added if its Trainer would log every 500 steps. `secrets` are environment variables
    whose values are passed on but never written down; `notify` is the address of a webhook, one too."""

    config_text: str
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    as_script_reads: bool = False
    logs: bool = False
    notify: str = field(default="", repr=False)

    @property
    def handed_on(self) -> dict[str, str]:
        """What the run's supervisor is given and nothing keeps: the secrets, and where to tell of the run."""
        return {**self.secrets, **({NOTIFY: self.notify} if self.notify else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(RunSpec):
    """A launch made concrete: absolute paths, arguments split, port chosen. Of the secrets only the names are kept.
    `passes_local_rank`: whether the script gets --local_rank. If other machines train, the ranks are those of all
    machines together, and `gpu_indices` is empty."""

    run_id: str
    run_directory: str
    arguments: tuple[str, ...]
    master_port: int
    secret_names: tuple[str, ...] = ()
    passes_local_rank: bool = True

    @property
    def nodes(self) -> int:
        """The number of machines; 1 if their numbers of ranks differ, as if all were on one."""
        return self.place.nodes

    @property
    def elsewhere(self) -> str | Said:
        """The machines that train, in words; "" for this one."""
        return self.place.elsewhere

    @property
    def slots(self) -> frozenset[str]:
        """What the run occupies: its GPUs, or this machine's processor; no other waits for a job."""
        return frozenset() if self.is_job or self.is_adopted else self.place.slots(self)

    @property
    def is_job(self) -> bool:
        """Whether it is work of dsgui's own on what `parent` left, not a training."""
        return self.started_by is StartedBy.PYTHON

    @property
    def is_adopted(self) -> bool:
        """Whether dsgui did not start it, and only reads what it left in its `working_directory`: no command is known,
        and nothing of it can be stopped, resumed or changed."""
        return self.started_by is StartedBy.OTHERS

    @property
    def saves_when_asked(self) -> bool:
        """Whether the script saves and exits on SIGTERM: the HF Trainer's just-in-time checkpoint
        (transformers/trainer_jit_checkpoint.py). Ranks of other machines are not signalled."""
        if self.elsewhere:
            return False
        words = [word.replace("-", "_") for word in self.arguments]
        option = next((n for n, word in enumerate(words) if word.partition("=")[0] == _JIT), None)
        if option is None:
            return False
        value = words[option].partition("=")[2] or (words[option + 1] if option + 1 < len(words) else "")
        return value.lower() not in ("false", "0", "no", "off")


def shared_devices(plan: Plan, others: Iterable[Plan]) -> str | Said:
    """What both `plan` and the `others` want: "GPUs 0, 1", "worker-0:0", "this machine’s CPU"."""
    wanted = plan.slots & {slot for other in others for slot in other.slots}
    if plan.elsewhere:
        return listed(sorted(wanted))
    gpus = sorted(index for index in plan.gpu_indices if f"gpu-{index}" in wanted)
    if not gpus:
        return phrase("own_cpu")
    return phrase("these_gpus" if len(gpus) > 1 else "this_gpu", gpus=listed(map(str, gpus)))


def ranks_words(ranks: int) -> str:
    """`1 rank`, `2 ranks`, in the reader's language."""
    return str(ranks_said(ranks))


def ranks_said(ranks: int) -> Said:
    return phrase("ranks" if ranks > 1 else "rank", count=str(ranks))
