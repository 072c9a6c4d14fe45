"""What the pages are given: collaborators made by `app.py`, so that no page touches the world itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dsgui.core.access.folder_list import Listing
from dsgui.core.config.context import Integration
from dsgui.core.config.form_texts import FormTexts
from dsgui.core.config.preset import Preset
from dsgui.core.imported.brought import Brought
from dsgui.core.launch.plan import Plan
from dsgui.core.machine.hardware import Target
from dsgui.core.machine.machine import Machine
from dsgui.core.machine.verdicts import Row
from dsgui.core.memory.answer import Answer as MemoryAnswer
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.fits.rehearsing import Rehearsing
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.question import Model
from dsgui.core.memory.question import Question as MemoryQuestion
from dsgui.core.metrics.samples import GpuSample
from dsgui.core.oracle.answers import Answer, Asking, Question
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.texts.languages import spoken
from dsgui.core.texts.saying import Said
from dsgui.core.validation.checker import Checker
from dsgui.runs.adoption import Adoption
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.export import Exports
from dsgui.runs.growing import Growing
from dsgui.runs.inspection import Inspection
from dsgui.runs.learning import Learning
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.runs.trying import TryIt


class Opened(Protocol):
    """A config from a file: strict JSON, what was changed to make it so, and the context the file asks for."""

    @property
    def text(self) -> str: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def integration(self) -> Integration | None: ...
    @property
    def nodes(self) -> int | None: ...
    @property
    def gpus(self) -> int | None: ...
    @property
    def run(self) -> "OpenedRun | None": ...
    @property
    def missing(self) -> "MissingConfig | None": ...


class MissingConfig(Protocol):
    """A config that a run names and that was not read, the note that says so, and the id of a preset like it."""

    @property
    def file(self) -> str: ...
    @property
    def note(self) -> str: ...
    @property
    def preset(self) -> str: ...


class OpenedRun(Protocol):
    """What another tool's settings or command line say of a run: what they are, values of the Launch page's fields, and
    the HF Trainer's arguments as that tool has them."""

    @property
    def source(self) -> str: ...
    @property
    def fields(self) -> Mapping[str, Any]: ...
    @property
    def brought(self) -> Brought | None: ...


class OwnPresets(Protocol):
    """The user's own presets. Each method raises `PresetError` when the folder or the request is no good."""

    def list(self) -> tuple[Preset, ...]: ...
    def problems(self) -> tuple[str, ...]: ...
    def save(
        self,
        title: str,
        text: str,
        integration: Integration,
        gpus: int,
        nodes: int,
        purpose: str = "",
        *,
        replace: bool = False,
    ) -> Preset: ...
    def remove(self, id: str) -> None: ...


class MachineReader(Protocol):
    """This machine and the target environment; the target answers after seconds, meanwhile it is `asking`."""

    def current(self) -> Machine: ...
    def refresh(self) -> Machine: ...
    @property
    def asking(self) -> bool: ...


class Asks(Protocol):
    """The real DeepSpeed of the target. `begin` asks without waiting; `progress` tells how that goes and for how many
    seconds, None for what was never asked; `cached` is the answer once it is there."""

    def begin(self, question: Question) -> None: ...
    def progress(self, question: Question) -> tuple[Asking, float] | None: ...
    def cached(self, question: Question) -> Answer | None: ...
    def close(self) -> None: ...


class Rehearses(Protocol):
    """Dry runs of the target's DeepSpeed, one for each `session`, a page that is open. `begin` asks without waiting;
    `progress` tells how that goes, None for a session that asks nothing, and has to be asked again and again; `known`
    is the answer to a question that was asked before."""

    def begin(self, session: str, question: MemoryQuestion, made: Made) -> None: ...
    def progress(self, session: str) -> Rehearsing | None: ...
    def known(self, key: str) -> MemoryAnswer | None: ...
    def cancel(self, session: str) -> None: ...
    def forget(self, session: str) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """`target` answers with what is known of the training environment by now; `target_complete` says when that is all.
    `recipes` maps a recipe's name to its script. `surroundings` tells in milliseconds what a plan and its config
    would meet here.
    `open_file` reads a config, an accelerate YAML or another tool's settings by path, `open_upload` the same from an
    uploaded file's copy, `open_text` from what was pasted.
    `gpu_use` reads the GPUs' memory now. `ask_place` asks where a plan will train, for up to 20 s. `read_model` reads
    the shape of a model that somebody named, or says why it can't; `nvme_folder` looks the same way at a folder that
    may be offloaded to, None where none is named. `sharpened` is what this machine's runs told.
    `browse` lists the folder at (or near) a path with the files that are wanted; raises `PlaceError`.
    `shipped` are our presets, `form_texts` what the form says, each by a language's tag."""

    checker: Checker
    shipped: Callable[[str], tuple[Preset, ...]]
    form_texts: Callable[[str], FormTexts]
    own_presets: OwnPresets
    recipes: Mapping[str, Path]
    target: Callable[[], Target]
    target_complete: Callable[[], bool]
    open_file: Callable[[Path], Opened]
    open_upload: Callable[[Path], Opened]
    open_text: Callable[[str], Opened]
    runs: Runs
    archive: Archive
    adoption: Adoption
    growing: Growing
    after: AfterTraining
    box: TryIt
    inspection: Inspection
    learning: Learning
    exports: Exports
    reports: Reports
    surroundings: Callable[[Plan, str], Surroundings]
    gpu_use: Callable[[], tuple[GpuSample, ...]]
    machine: MachineReader
    oracle: Asks
    ask_place: Callable[[Plan], tuple[Row, ...]]
    read_model: Callable[[str], Model | CannotSay]
    nvme_folder: Callable[[str], Nvme | CannotSay | None]
    dry_runs: Rehearses
    browse: Callable[[str, str, bool], Listing]
    sharpened: Callable[[], Sharpened] = Sharpened
    try_webhook: Callable[[str], tuple[str, str | Said] | None] = lambda typed: None

    @property
    def presets(self) -> tuple[Preset, ...]:
        """The shipped presets, in the language spoken."""
        return self.shipped(spoken())

    def all_presets(self) -> tuple[Preset, ...]:
        """Every preset there is now, the shipped ones first."""
        return (*self.presets, *self.own_presets.list())
