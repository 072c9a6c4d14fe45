"""One telemetry poll as a value. What a machine or card can't tell is None, never an exception and never 0.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dsgui.core.decoding import optional, sequence, text, whole
from dsgui.core.metrics.readable import readable

Lack = tuple[str, tuple[tuple[str, str], ...]]  # a code of `sampling` in the catalogue, and what fills its places

_MOST_GPUS = 64
_MOST_COLUMNS = 4096
_LONGEST_NAME = 100
_MOST = 1 << 63
# nvml.h, nvmlClocksEventReason*; 0 is none.
_THROTTLE_REASONS = (
    (0x001, "idle"),
    (0x002, "application"),
    (0x004, "power_cap"),
    (0x008, "hardware"),
    (0x010, "sync"),
    (0x020, "hot_driver"),
    (0x040, "hot_hardware"),
    (0x080, "power_brake"),
    (0x100, "display"),
)
SLOWDOWNS = 0x008 | 0x020 | 0x040 | 0x080  # of these, what is no part of ordinary work: a power cap is


def throttle_reasons(mask: int) -> tuple[tuple[str, ...], int]:
    """What holds a GPU's clocks down, as codes of `clocks` in the catalogue, and the bits that nobody named yet."""
    named = sum(bit for bit, _ in _THROTTLE_REASONS)
    return tuple(code for bit, code in _THROTTLE_REASONS if mask & bit), mask & ~named


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU (`index` is physical). `used_bytes` is everybody's memory on the card, `run_bytes` this run's. `throttle`
    is a bit mask, see `throttle_reasons`. What went over PCIe was counted for 20 ms within the last seconds."""

    index: int
    name: str
    used_bytes: int | None = None
    run_bytes: int | None = None
    total_bytes: int | None = None
    utilisation_percent: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttle: int | None = None
    pcie_rx_bytes_s: float | None = None
    pcie_tx_bytes_s: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """`run_bytes` is the host memory of the run's own processes; `cpu_percent` is the whole machine's, 0 to 100, and
    `run_cpu_percent` what of it the run's own processes took;
    `time_s` is a date (unix seconds) by that machine's clock, `elapsed_s` counts from the run's beginning, whatever the
    clock is set to. `limit_bytes` is what the control groups allow where that is less than the machine has, and
    `limit_used_bytes` what counts against it. The disk is the one that the run writes to."""

    time_s: float
    host_used_bytes: int | None
    host_total_bytes: int | None
    run_bytes: int | None
    cpu_percent: float | None
    gpus: tuple[GpuSample, ...] = ()
    elapsed_s: float | None = None
    swap_used_bytes: int | None = None
    swap_total_bytes: int | None = None
    limit_bytes: int | None = None
    limit_used_bytes: int | None = None
    disk_free_bytes: int | None = None
    disk_total_bytes: int | None = None
    run_processes: int | None = None
    run_cpu_percent: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sample":
        """As another machine sent it, which may be anything: a number that no reading can have is not known, and a
        card without a number is left out. Raises KeyError, TypeError or ValueError for what is no sample."""
        sent = list(value["gpus"])[:_MOST_GPUS]
        gpus = tuple(_gpu_from_json(gpu) for gpu in sent if gpu["index"] in range(_MOST_GPUS))
        return cls(**{name: _number(value[name]) for name in cls.__slots__ if name != "gpus"}, gpus=gpus)

    def flat(self) -> dict[str, float | None]:
        """The readings under the names of their columns; a GPU's begin with "gpu" and its number: "gpu0.used_bytes"."""
        own = {name: getattr(self, name) for name in self.__slots__ if name != "gpus"}
        for gpu in self.gpus:
            readings = {name: getattr(gpu, name) for name in gpu.__slots__ if name not in ("index", "name")}
            own |= {f"gpu{gpu.index}.{name}": value for name, value in readings.items()}
        return own


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that a run had so far, of its own, on any machine and card that told: None where none did."""

    host_bytes: int | None = None
    gpu_bytes: int | None = None

    def over(self, sample: Sample) -> "Peak":
        cards = [gpu.run_bytes for gpu in sample.gpus]
        return Peak(_most(self.host_bytes, sample.run_bytes), _most(self.gpu_bytes, *cards))

    def to_json(self) -> dict[str, int]:
        known = {"host_bytes": self.host_bytes, "gpu_bytes": self.gpu_bytes}
        return {name: count for name, count in known.items() if count}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Peak":
        """Raises ValueError."""
        return cls(*(optional(_count, value.get(name)) for name in cls.__slots__))


def _count(value: Any) -> int:
    return whole(value, 0, _MOST)


def _most(*counts: int | None) -> int | None:
    return max((count for count in counts if count is not None), default=None)


def _gpu_from_json(value: Mapping[str, Any]) -> GpuSample:
    readings = {name: _number(value[name]) for name in GpuSample.__slots__ if name not in ("index", "name")}
    if not isinstance(readings["throttle"], int):
        readings["throttle"] = None
    return GpuSample(int(value["index"]), str(value["name"])[:_LONGEST_NAME], **readings)


def _number(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"expected a number or null, found {str(value)[:40]!r}")
    return value if -_MOST < value < _MOST else None  # NaN neither


@dataclass(frozen=True, slots=True)
class SampleTable:
    """What the rows of kept samples hold, in this order; the first column is `elapsed_s`. `node` is "" for the machine
    that launched; `gpus` names its cards."""

    columns: tuple[str, ...]
    node: str = ""
    gpus: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", readable(self.node))
        object.__setattr__(self, "gpus", {number: readable(name) for number, name in self.gpus.items()})

    def to_json(self) -> dict[str, Any]:
        gpus = {str(number): name for number, name in self.gpus.items()}
        return {"columns": list(self.columns), "node": self.node, "gpus": gpus}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "SampleTable":
        """Raises KeyError, TypeError or ValueError for what is none."""
        gpus = {int(number): str(name) for number, name in value.get("gpus", {}).items()}
        columns = tuple(text(column) for column in sequence(value["columns"], _MOST_COLUMNS))
        if columns[:1] != ("elapsed_s",):
            raise ValueError("the first column is not elapsed_s")
        return cls(columns, text(value.get("node", "")), gpus)
