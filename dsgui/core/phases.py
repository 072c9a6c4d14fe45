"""What a run is doing, as far as its output tells: waiting in a queue, starting, compiling, training, evaluating."""

import re
from dataclasses import dataclass

_COMPILES = re.compile(
    r"building extension module|creating extension directory|emitting ninja build|detected cuda files|"
    r"^\[\d+/\d+\] .*(?:c\+\+|g\+\+|nvcc|clang)",
    re.IGNORECASE,
)
_COMPILED = re.compile(r"loading extension module|op: [\d.]+ seconds|built successfully|no work to do", re.IGNORECASE)
_SLURM = re.compile(r"slurm: job \d+ is (\w+)")  # shell/follow_job.py
_WAITS_IN_SLURM = "waiting in Slurm’s queue"


@dataclass(slots=True)
class Phase:
    """`name` is a word for the page."""

    name: str = "starting"

    @property
    def before_training(self) -> bool:
        return self.name not in ("training", "evaluating")

    def line(self, text: str) -> None:
        """A line without points."""
        if match := _SLURM.match(text):
            self.name = _WAITS_IN_SLURM if match[1] == "PENDING" else "starting"
        elif self.name == "starting" and _COMPILES.search(text):
            self.name = "compiling"
        elif self.name == "compiling" and _COMPILED.search(text):
            self.name = "starting"
