"""One planned launch and what is known around it: what the checks before a start are given."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from dsgui.core.access.secrets import is_secret_name
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding
from dsgui.core.launch.circumstances import run_context
from dsgui.core.launch.command import UNKNOWN_PATH, variables_naming, words_before
from dsgui.core.launch.handing import mentions, own_config, own_worth
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, Here, Place, Plan, StartedBy
from dsgui.core.launch.planned import Planned
from dsgui.core.machine.hardware import Gpu, Target
from dsgui.core.machine.machine import Disk, Machine
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice, of_words
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.fits.outside import Outside
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.question import Model
from dsgui.core.preflight.model_size import ModelSize
from dsgui.core.script.in_a_run.parts_trained import PartTrained
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.script.named_files import NamedFile
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.taken import ArgumentsFromFile, ScriptAnswers, Taken, taken, trainer_arguments, values_of
from dsgui.core.texts.saying import Said


@dataclass(frozen=True, slots=True)
class Launch:
    """What is about to be started, as far as it was said: `script` is "" and `master_port` None where none was named.
    `elsewhere` names the machines that train where this one does not: what this one has says nothing then. `devices`
    are the ranks as the findings name them. `by_arguments` are findings that the script's arguments bring up: the
    config by itself has none of them. `unreadable` says why the config is no JSON, or is ""; `config` is then empty.
    `choice`: the model, as it was said or as the arguments name it; `memory`: what it takes, None where none is named;
    `outside`: what would make it fit better, and is no key of the config. `environment` is what the user added.
    `only_here`: findings that this machine adds to those of what is `planned`. `named`: the script's source names this
    config, by a variable of its environment; `filled`: keys that it writes itself before DeepSpeed gets them, with the
    lines."""

    config: Mapping[str, Any]
    findings: tuple[Finding, ...]
    devices: str
    ranks: int
    gpu_indices: tuple[int, ...] = ()
    config_argument: ConfigArgument = ConfigArgument.HF
    script: str = ""
    arguments: tuple[str, ...] = ()
    passes_local_rank: bool = True
    started_by: StartedBy = StartedBy.DEEPSPEED
    master_port: int | None = None
    nodes: int = 1
    elsewhere: str | Said = ""
    unreadable: str = ""
    by_arguments: tuple[Finding, ...] = ()
    target_python: str = ""
    place: Place = field(default_factory=Here)
    choice: ModelChoice = field(default_factory=ModelChoice)
    memory: Fitted | CannotSay | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    outside: tuple[Outside, ...] = ()
    planned: Planned = field(default_factory=Planned)
    only_here: tuple[Finding, ...] = ()
    named: bool = False
    filled: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls,
        plan: Plan,
        config: Mapping[str, Any],
        findings: tuple[Finding, ...] = (),
        devices: str = "",
        by_arguments: tuple[Finding, ...] = (),
    ) -> "Launch":
        """Of a plan, and what was found about its config for these devices and arguments."""
        return cls(
            config=config,
            findings=findings,
            devices=devices,
            by_arguments=by_arguments,
            target_python=plan.target_python,
            choice=plan.model.over(of_words(plan.arguments)),
            environment=plan.environment,
            ranks=plan.ranks,
            gpu_indices=plan.gpu_indices,
            config_argument=plan.config_argument,
            script=plan.script,
            arguments=plan.arguments,
            passes_local_rank=plan.passes_local_rank,
            started_by=plan.started_by,
            master_port=plan.master_port,
            nodes=plan.nodes,
            elsewhere=plan.elsewhere,
            place=plan.place,
            planned=plan.planned,
        )

    @property
    def reader(self) -> Integration:
        """Framework."""
        return self.config_argument.integration

    @property
    def unplanned(self) -> "Launch":
        """The same for what there is, as far as that is known: of other machines only the environment is, which is
        this one's at the same path."""
        return replace(self, planned=Planned() if self.place.ON_THIS_MACHINE else replace(self.planned, version=""))

    @property
    def handed(self) -> bool:
        """Whether the script is given this config, and does not read one of its own."""
        named = self.named or mentions((*self.arguments, *self.environment.values()))
        return not self.config_argument.by_itself or named


@dataclass(frozen=True, slots=True)
class SlurmAnswer:
    """`program` is what was asked, "" where neither it nor another is installed; `submits`: whether sbatch is. `words`
    are its own where it says why it can't answer; `silent`: it said nothing in `LIMIT_S`."""

    LIMIT_S: ClassVar[float] = 3.0

    program: str = ""
    submits: bool = True
    answers: bool = False
    silent: bool = False
    words: str = ""


# What launchers set for each rank (torch.distributed, deepspeed/launcher/launch.py), and schedulers.
_BY_LAUNCHERS = ("LOCAL_", "CROSS_", "NODE_", "GROUP_", "MASTER_", "SLURM_", "OMPI_", "PMI_", "TORCHELASTIC_", "CUDA_")


def _is_set_by_others(name: str) -> bool:
    return name in ("RANK", "WORLD_SIZE") or name.startswith(_BY_LAUNCHERS) or is_secret_name(name)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a launch meets: the script's source, this machine, the model's size, where checkpoints go (`output` is the
    folder as given, `output_disk` None where it could not be asked), whether somebody else listens on the port.
    `own_python` is the release that read the script's source, (3, 11); `own_config` the file that its source names as
    the config, None where it names none or that can't be read. `answers`: what the training environment has for the
    script; `arguments_file`: the file of arguments it reads; `missing_files`: what its arguments name to be read and is
    not there, with the place that was looked at. `shape`: the model's, None where none is named; `model_loaded` is the
    one that its source or its file of arguments names, "" where its arguments do, or nobody. `sharpened`: what this
    machine's finished runs told; `inherited`: of dsgui's own environment what asks something of torch's allocators, and
    `variables` those of it that the script reads.
    `folders`: by their names those on NVMe that the config offloads to, and the plan's own. `beside`: names of runs
    that train on what this one gets, if it does not wait for them. `slurm`: what it answers here, None where it was not
    asked."""

    script: ScriptFacts
    machine: Machine
    model: ModelSize = field(default_factory=ModelSize)
    output: str = ""
    output_disk: Disk | None = None
    port_taken: bool = False
    own_python: tuple[int, int] = (3, 11)
    own_config: str | None = None
    answers: ScriptAnswers = field(default_factory=ScriptAnswers)
    arguments_file: ArgumentsFromFile = field(default_factory=ArgumentsFromFile)
    missing_files: tuple[tuple[NamedFile, str], ...] = ()
    shape: Model | CannotSay | None = None
    model_loaded: str = ""
    sharpened: Sharpened | None = None
    inherited: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, Nvme | CannotSay] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    slurm: SlurmAnswer | None = None

    def taken(self, arguments: tuple[str, ...]) -> Taken:
        """What the script's parser makes of its arguments."""
        return taken(self.script.command_line, self.answers, arguments, self.arguments_file)

    def values(self, launch: "Plan | Launch") -> Values:
        """What the script's options and the variables that it reads are worth in that launch; what a launcher sets is
        not known, nor what other machines have set."""
        added = {name: value.replace(PLACEHOLDER, UNKNOWN_PATH) for name, value in launch.environment.items()}
        told = variables_naming(UNKNOWN_PATH, launch.config_argument) | added
        inherited = {} if launch.elsewhere else {name: self.variables.get(name) for name in self.script.variables}
        known = {name: value for name, value in inherited.items() if not _is_set_by_others(name)}
        return values_of(self.script.command_line, self.taken(words_before(launch)), known | told)

    def part_trained(self, launch: "Plan | Launch") -> PartTrained:
        """Whether it trains a part of its model."""
        return self.script.part_trained(launch.arguments, self.values(launch))

    def arguments_of(self, plan: Plan) -> TrainingArguments | None:
        """The HF Trainer's, where the script's parser takes them and it is given the config that they are held to."""
        if plan.config_argument.by_itself and not self.is_handed(plan):
            return None
        return self.trainers_arguments(plan)

    def is_handed(self, plan: "Plan | Launch") -> bool:
        """Whether a script that finds its config itself is told of this one."""
        return self.names_this(plan) or mentions((*plan.arguments, *plan.environment.values()))

    def names_this(self, plan: "Plan | Launch") -> bool:
        """Whether its source names this config, by a variable of its environment."""
        own = own_config(self.script)
        named = own_worth(own, self.values(plan)) if own else None
        return isinstance(named, str) and PLACEHOLDER in named

    def trainers_arguments(self, plan: "Plan | Launch") -> TrainingArguments | None:
        """The same, whichever config the script is given."""
        line, values, name = self.script.command_line, self.values(plan), posixpath.basename(plan.script)
        return trainer_arguments(line, self.answers, self.taken(plan.arguments), values, name)

    def version(self, package: str) -> str:
        """What the training environment has; "" where there is none, or it was not asked yet."""
        environment = self.machine.environment
        return environment.target.version(package) if environment else ""


def context_of(launch: Launch, around: Surroundings) -> Context:
    """What a launch's config is checked against, as far as the surroundings tell."""
    environment = around.machine.environment
    return context_in(launch, environment.target if environment else Target("", gpus=around.machine.gpus))


def context_in(launch: Launch, target: Target, arguments: TrainingArguments | None = None) -> Context:
    """The same for an environment that is known."""
    per_node = max(launch.ranks // launch.nodes, 1)
    return run_context(
        target,
        launch.reader,
        launch.nodes,
        per_node,
        place=launch.place,
        planned=launch.planned,
        arguments=arguments,
    )


@dataclass(frozen=True, slots=True)
class Question:
    """What each check judges: the launch in its surroundings."""

    launch: Launch
    around: Surroundings

    @property
    def config(self) -> Mapping[str, Any]:
        return self.launch.config

    @property
    def taken(self) -> Taken:
        return self.around.taken(self.launch.arguments)

    @property
    def context(self) -> Context:
        """For the readings that rules and these checks share."""
        return context_of(self.launch.unplanned, self.around)

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """This machine's GPUs that train: the chosen ones, or as many as there are ranks."""
        every = self.around.machine.gpus
        if self.launch.gpu_indices:
            return tuple(gpu for gpu in every if gpu.index in self.launch.gpu_indices)
        return every[: self.launch.ranks]
