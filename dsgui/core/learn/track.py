"""A tutorial as a value: its steps, what each opens of the real pages, and what it takes to be done.

The words stand in the catalogue under "learn": a step's as `<step>.<part>`, a track's as `<track>.<part>`.
"""

from dataclasses import dataclass
from enum import Enum

from dsgui.core.config.context import Integration
from dsgui.core.launch.plan import Place
from dsgui.core.learn.run_facts import RunFacts


class Doing(Enum):
    """What the reader does in a step."""

    ANSWERS = "answers"  # a question, with the right choice
    LAUNCHES = "launches"  # a run that fits
    HALVES = "halves"  # the loss of such a run falls by half
    COMPARES = "compares"  # two such runs are shown side by side
    FINDS = "finds"  # sliders are moved until the picture is as the step asks
    WORKS_ON = "works_on"  # a job after training on what such a run left


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs count; None or "" for any. `named`: what the script's name has in it. `apart`: of two, the second cuts
    its batch in another way than the first."""

    integration: Integration | None = None
    stage: int | None = None
    offloads: bool | None = None
    batch: int | None = None
    lora: bool | None = None
    named: str = ""
    apart: bool = False

    def fits(self, run: RunFacts) -> bool:
        """Whether a run is one of them; of `apart` nothing can be said of one run alone."""
        setup = run.setup
        asked = (
            (self.integration, setup.integration),
            (self.stage, setup.stage),
            (self.offloads, setup.optimizer_at != "none"),
            (self.batch, setup.batch),
            (self.lora, setup.lora),
        )
        return self.named in setup.script and all(wish is None or wish == is_so for wish, is_so in asked)


@dataclass(frozen=True, slots=True)
class Opens:
    """The state a button puts the real pages in; what is "" or 0 stays as it is. `plan` is the place of one of the
    preset's plans, -1 for none. `arguments` None: those the recipe begins with. `place` None: on this machine, on as
    many `ranks`."""

    tab: str
    preset: str = ""
    plan: int = -1
    recipe: str = ""
    arguments: str | None = None
    ranks: int = 0
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """`wanted`: the runs it is checked by, or that an answer is drawn from. `choices` counts the answers offered,
    `right` is the place of the right one. `table`, `sliders` and `numbers` are what is shown besides, by their names;
    `goal`: what the sliders are to show. `alone`: of the picture only the stage that is set. `noted`: whether there are
    words on how to read the picture."""

    id: str
    does: Doing
    opens: tuple[Opens, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    choices: int = 0
    right: int = 0
    table: str = ""
    sliders: str = ""
    goal: str = ""
    alone: bool = False
    noted: bool = False
    numbers: str = ""


@dataclass(frozen=True, slots=True)
class Track:
    """A tutorial; its last step is the question that its document asks."""

    id: str
    steps: tuple[Step, ...]
