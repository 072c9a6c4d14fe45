"""Gathers what the checks before a start need to know of this machine; quick, for it is asked with every keystroke."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dsgui.core.config.document import Document
from dsgui.core.config.loose_json import tidy
from dsgui.core.errors import DocumentError, PlaceError
from dsgui.core.launch.handing import own_file
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.recipes import read_by_recipe
from dsgui.core.machine.machine import Environment, Machine
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import of_words
from dsgui.core.memory.fits.nvme import folders_of
from dsgui.core.memory.fits.outside import ALLOC_CONF, OLDER_ALLOC_CONF
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.question import Model
from dsgui.core.preflight.model_size import ModelSize
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.script.in_a_run.models_loaded import model_loaded
from dsgui.core.script.named_files import NamedFile
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.taken import taken
from dsgui.core.script.words import MODEL_OPTIONS, OUTPUT_OPTIONS, value_of
from dsgui.shell.files.regular_files import read_regular
from dsgui.shell.machine.machine_reader import read_disk, read_here
from dsgui.shell.memory.constants import sharpened
from dsgui.shell.memory.nvme_folders import NvmeFolders
from dsgui.shell.preflight.model_files import model_size
from dsgui.shell.preflight.model_shapes import ModelShapes
from dsgui.shell.preflight.slurm_asked import SlurmAsked
from dsgui.shell.script.script_answers import ScriptReader, arguments_file

_CONFIG_BYTES = 1_000_000
FRESH_S = 2.0  # readings of the machine are kept that long: a person types faster


class Scout:
    """`here` reads this machine without asking its Python; `known` is what that has answered by now, or None. `check`
    raises `PlaceError` for a path that may not be read; `sharpened` is what this machine's runs told of it."""

    def __init__(
        self,
        here: Callable[[], Machine],
        known: Callable[[], Environment | None],
        check: Callable[[Path], object] = lambda path: None,
        clock: Callable[[], float] = time.monotonic,
        sharpened: Callable[[], Sharpened] = Sharpened,
        recipes: Iterable[Path] = (),
    ) -> None:
        self._recipes = frozenset(map(str, recipes))
        self._sharpened = sharpened
        self._here, self._known, self._check, self._clock = here, known, check, clock
        self._read: tuple[float, Machine] | None = None
        self._scripts = ScriptReader(clock)
        self._shapes = ModelShapes(check)
        self._nvme = NvmeFolders(check)
        self._slurm = SlurmAsked()
        self._sizes: dict[tuple[str, ...], tuple[float, ModelSize]] = {}

    @classmethod
    def of(
        cls,
        runs_dir: Path,
        known: Callable[[], Environment | None],
        check: Callable[[Path], object] = lambda path: None,
        recipes: Iterable[Path] = (),
    ) -> "Scout":
        """For the machine dsgui runs on."""
        return cls(lambda: read_here(runs_dir), known, check, sharpened=sharpened, recipes=recipes)

    def surroundings(
        self, plan: Plan, script: ScriptFacts, port_taken: bool, text: str = "", beside: tuple[str, ...] = ()
    ) -> Surroundings:
        """What `plan` would meet now with the config `text`, `beside` those runs."""
        if plan.script in self._recipes:
            script = replace(script, command_line=read_by_recipe(script.command_line))
        environment = {**os.environ, **plan.environment}
        output = value_of(plan.arguments, OUTPUT_OPTIONS) or plan.working_directory
        folder = Path(plan.working_directory, output)
        line = script.command_line
        answers, file = self._scripts.read(plan, line), arguments_file(plan, line, self._check)
        found = taken(line, answers, plan.arguments, file)
        words = found.words_with_file
        around = replace(
            self.machine(script),
            answers=answers,
            arguments_file=file,
            missing_files=tuple(self._missing(plan, found.named_files)),
            output=str(folder),
            output_disk=read_disk(folder) if self._may_read(folder) else None,
            port_taken=port_taken,
            folders={name: one for name in _folders(plan, text) if (one := self._nvme.read(name)) is not None},
            beside=beside,
            variables={name: os.environ[name] for name in script.variables if name in os.environ},
            slurm=self._slurm.answer(environment) if isinstance(plan.place, SlurmJob) else None,
        )
        values = around.values(plan)
        model = value_of(words, MODEL_OPTIONS) or model_loaded(script.models, values)
        by_itself = "" if plan.model.over(of_words(plan.arguments)).model else model
        around = replace(
            around,
            model_loaded=_from_anywhere(by_itself, plan.working_directory),
            model=self._model(plan, model, environment),
            shape=self._shape(plan, plan.model.over(of_words(words)).model or model, environment),
        )
        named = own_file(script, values) or str(file.values.get("deepspeed") or "")
        return replace(around, own_config=read_own_config(Path(plan.working_directory), script, self._check, named))

    def machine(self, script: ScriptFacts) -> Surroundings:
        """This machine alone, where no launch is planned in full."""
        now = self._clock()
        if self._read is None or now - self._read[0] > FRESH_S:
            self._read = (now, self._here())
        machine = replace(self._read[1], environment=self._known())
        own = {name: os.environ[name] for name in (ALLOC_CONF, OLDER_ALLOC_CONF) if name in os.environ}
        known = self._sharpened()
        return Surroundings(script, machine, own_python=sys.version_info[:2], sharpened=known, inherited=own)

    def _model(self, plan: Plan, named: str, environment: Mapping[str, str]) -> ModelSize:
        if not named:
            return ModelSize(is_small=plan.script in self._recipes)
        now = self._clock()
        # Not the working directory: it may be the run's own, another one with each preview.
        place = str(Path(plan.working_directory, named))
        key = (
            place if os.path.isdir(place) else named,
            *(environment.get(name, "") for name in ("HF_HOME", "HF_HUB_CACHE")),
        )
        read, size = self._sizes.get(key, (now, None))
        if size is None or now - read > FRESH_S:
            size = model_size(named, plan.working_directory, environment, self._check)
            self._sizes = {key: (now, size)}  # of one launch at a time
        return size

    def _shape(self, plan: Plan, named: str, environment: Mapping[str, str]) -> Model | CannotSay | None:
        return self._shapes.read(named, plan.working_directory, environment) if named else None

    def _missing(self, plan: Plan, named: Iterable[NamedFile]) -> Iterator[tuple[NamedFile, str]]:
        for file in named:
            place = Path(plan.working_directory, file.path)
            if self._may_read(place) and not os.path.exists(place):
                yield file, str(place)

    def _may_read(self, folder: Path) -> bool:
        try:
            self._check(folder)
        except PlaceError:
            return False
        return True


def _from_anywhere(named: str, directory: str) -> str:
    """A folder by its whole path; a hub's name as it is."""
    folder = os.path.join(directory, named)
    return folder if named and os.path.isdir(folder) else named


def _folders(plan: Plan, text: str) -> tuple[str, ...]:
    """On NVMe: those that the config names, and the plan's. One whose name has blanks around it can't be named here."""
    try:
        named = folders_of(Document(tidy(text).text).value) if "nvme" in text else ()
    except DocumentError:
        named = ()
    return (*(name for name in named if name == name.strip()), plan.model.nvme)


def read_own_config(
    directory: Path,
    script: ScriptFacts,
    check: Callable[[Path], object] = lambda path: None,
    named: str | None = None,
) -> str | None:
    """The text of the config that the script's source names, a path from its working directory; None where it names
    none, or that can't be read. `named`: the path, where more than the source tells it."""
    named = own_file(script) if named is None else named
    if not named:
        return None
    with suppress(OSError, ValueError, PlaceError):
        check(directory / named)
        return read_regular(directory / named, _CONFIG_BYTES)
    return None
