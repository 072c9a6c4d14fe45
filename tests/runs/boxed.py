"""Run by path, as a Python that knows one more place where a run can train: `boxed.py -m dsgui launch --box red …`.

A place as somebody would add it. What stands in `register` would be an entry of each `where.py`.
"""

import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch import where
from dsgui.core.launch.command import argv
from dsgui.core.launch.field import Field, Part
from dsgui.core.launch.plan import Place, Plan
from dsgui.core.launch.state import Identity
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.texts.saying import as_told
from dsgui.shell.launch import where as backends
from dsgui.shell.launch.backend import Backend, Ended, Start


@dataclass(frozen=True, slots=True)
class Box(Place):
    """A coloured box: its ranks are this machine's."""

    NAME = "box"
    LABEL = "A box"
    KEY = "box"
    FIELDS = (
        Field(name="box", part=Part.PLACE, label="Colour of the box", option="--box", usage="train in it", id="box"),
    )
    CAN_BE_ASKED = "box"

    colour: str

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["box"])

    @classmethod
    def of_options(cls, given: Mapping[str, Any]) -> dict[str, Any] | None:
        return {} if given["box"] else None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(str(value["colour"]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def values(self) -> dict[str, Any]:
        return {"box": self.colour}

    def check(self, plan: Plan) -> None:
        if not self.colour.isalpha():
            raise PlanError(f"Box: “{self.colour}” is no colour. Expected a word such as “red”.")

    def slots(self, plan: Plan) -> frozenset[str]:
        return frozenset({f"box:{self.colour}"})

    def devices(self, plan: Plan) -> str:
        return f"the {self.colour} box"

    def command(self, plan: Plan, launcher: tuple[str, ...]) -> tuple[str, ...]:
        return ("env", f"BOX={self.colour}", *launcher)

    def files(self, plan: Plan) -> dict[str, str]:
        return {"box.txt": self.colour}


class Boxes(Backend):
    """A file in the run's folder is what a box is seen by."""

    OUT_OF_SIGHT = True

    def check(self) -> None:
        if "NO_BOXES" in os.environ:
            raise RunError("Box: there is none on this machine.")

    def ask(self, plan: Plan) -> tuple[Row, ...]:
        return (Row("box", as_told(str(plan.place.devices(plan))), Status.OK, (as_told("It is empty."),)),)

    @contextmanager
    def starting(self, plan: Plan, environment: Mapping[str, str]) -> Iterator[Start]:
        _lid(plan).touch()
        yield Start(argv(plan), {**environment, "LID": str(_lid(plan))})

    def end(self, plan: Plan, process: Identity | None, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        _lid(plan).unlink(missing_ok=True)
        return (Ended(str(plan.place.devices(plan))),)


def _lid(plan: Plan) -> Path:
    return Path(plan.run_directory, "lid")


def register() -> None:
    """Before what is made of the places is imported."""
    where.PLACES = (*where.PLACES, Box)
    where.BY_NAME = {kind.NAME: kind for kind in where.PLACES}
    backends.BACKENDS = {**backends.BACKENDS, Box.NAME: Boxes()}


if __name__ == "__main__":
    from tests.runs import boxed  # as a module, which what is pickled is found in

    boxed.register()
    sys.executable = os.environ["BOXED_PYTHON"]  # supervisors know the place as well
    _, option, what, *arguments = sys.argv
    sys.argv = [what, *arguments]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what)
