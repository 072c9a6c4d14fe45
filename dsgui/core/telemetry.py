"""One telemetry poll as a value. What a machine or card can't tell is None, never an exception and never 0."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "GpuSample":
        return cls(**{name: value.get(name) for name in cls.__slots__})  # type: ignore[arg-type]  # checked by a test


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"gpus": [asdict(gpu) for gpu in self.gpus]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sample":
        """Unknown keys are ignored. Raises KeyError when a required one is missing."""
        return cls(
            time_s=float(value["time_s"]),
            host_used_bytes=int(value["host_used_bytes"]),
            host_total_bytes=int(value["host_total_bytes"]),
            run_bytes=value.get("run_bytes"),
            cpu_percent=value.get("cpu_percent"),
            gpus=tuple(GpuSample.from_json(gpu) for gpu in value.get("gpus", ())),
            elapsed_s=value.get("elapsed_s"),
        )
