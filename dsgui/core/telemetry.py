"""One telemetry poll as a value. What a machine or card can't tell is None, never an exception and never 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU (`index` is physical). `used_bytes` is everybody's memory on the card, `run_bytes` this run's."""

    index: int
    name: str
    used_bytes: int | None = None
    run_bytes: int | None = None
    total_bytes: int | None = None
    utilisation_percent: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """`run_bytes` is the main memory of the run's own processes; `cpu_percent` is the whole machine's, 0 to 100;
    `time_s` is a date (unix seconds), `elapsed_s` counts from the run's beginning, whatever the clock is set to."""

    time_s: float
    host_used_bytes: int
    host_total_bytes: int
    run_bytes: int | None
    cpu_percent: float | None
    gpus: tuple[GpuSample, ...] = ()
    elapsed_s: float | None = None

    def flat(self) -> dict[str, float | None]:
        """The readings under the names of their columns; a GPU's begin with "gpu" and its number: "gpu0.used_bytes"."""
        own = {name: getattr(self, name) for name in self.__slots__ if name != "gpus"}
        for gpu in self.gpus:
            readings = {name: getattr(gpu, name) for name in gpu.__slots__ if name not in ("index", "name")}
            own |= {f"gpu{gpu.index}.{name}": value for name, value in readings.items()}
        return own


@dataclass(frozen=True, slots=True)
class SampleTable:
    """What the rows of kept samples hold, in this order; the first column is `elapsed_s`. `node` is "" for the machine
    that launched; `gpus` names its cards."""

    columns: tuple[str, ...]
    node: str = ""
    gpus: Mapping[int, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        gpus = {str(number): name for number, name in self.gpus.items()}
        return {"columns": list(self.columns), "node": self.node, "gpus": gpus}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "SampleTable":
        """Raises KeyError, TypeError or ValueError for what is none."""
        gpus = {int(number): str(name) for number, name in value.get("gpus", {}).items()}
        return cls(tuple(str(column) for column in value["columns"]), str(value.get("node", "")), gpus)
