"""What the memory model answers: the bytes of one rank at the fullest instant of each moment, part by part.

The formula (`core/memory/instant.py`) and the dry run (the real DeepSpeed, on tensors without storage) both
answer so."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dsgui.core.texts.saying import Said


class Place(StrEnum):
    """Where bytes are. `HOST` is pageable, `PINNED` is page-locked, counted as torch's allocator rounds it."""

    GPU = "gpu"
    HOST = "host"
    PINNED = "pinned"
    NVME = "nvme"


class Device(StrEnum):
    """What can be too small: pageable and pinned memory share the host."""

    GPU = "gpu"
    HOST = "host"
    NVME = "nvme"


DEVICE_OF = {
    Place.GPU: Device.GPU,
    Place.HOST: Device.HOST,
    Place.PINNED: Device.HOST,
    Place.NVME: Device.NVME,
}


class Moment(StrEnum):
    """When: `deepspeed.initialize`, a forward, a backward, an `engine.step()`; of a step that all states exist in."""

    INIT = "init"
    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


class Component(StrEnum):
    """What bytes are for. The words stand in the catalogue (`memory_parts`)."""

    WEIGHTS = "weights"
    FROZEN = "frozen_weights"
    GATHERED = "gathered"
    SECONDARY = "secondary_partition"
    GRADIENTS = "gradients"
    MASTER = "master"
    MOMENTS = "moments"
    BUCKETS = "buckets"
    STAGING = "staging"
    ACTIVATIONS = "activations"
    LOGITS = "logits"
    STEP = "step"
    INIT = "initialize"
    SWAP = "swap_buffers"
    OTHER = "other"


SMALLER = "…"


@dataclass(frozen=True, slots=True)
class Part:
    """`count` bytes. `keys` change them, the strongest first: pointers into the config (`/zero_optimization/stage`) or
    arguments of the script (`--per_device_train_batch_size`). `line` is who allocated them, known to the dry run: ""
    where no line of Python did (autograd), `SMALLER` for lines that are too small to be told one by one. `rounding`:
    how much of `count` is what torch rounds large pinned blocks up by, where that is known."""

    component: Component
    place: Place
    count: int
    keys: tuple[str, ...] = ()
    line: str = ""
    rounding: int = 0

    def without_arguments(self) -> "Part":
        return replace(self, keys=tuple(key for key in self.keys if key.startswith("/")))


@dataclass(frozen=True, slots=True)
class Peak:
    """What is on `device` at the fullest instant of `moment`."""

    device: Device
    moment: Moment
    parts: tuple[Part, ...]

    @property
    def count(self) -> int:
        return sum(part.count for part in self.parts)


class Source(StrEnum):
    FORMULA = "formula"
    DRY_RUN = "dry_run"


@dataclass(frozen=True, slots=True)
class Stretch:
    """`init`, `forward` … of one step: the events from `start` on, before `end`."""

    name: str
    step: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """How a dry run went: `counts[device][i]` is the most that was on a device up to event `ends[i]` since the one
    before it."""

    ends: tuple[int, ...]
    counts: Mapping[Device, tuple[int, ...]]
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """`count` bytes, of which torch's rounding of large pinned blocks is `rounding`."""

    count: int = 0
    rounding: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one rank. `parameters` are all of the model's elements, `trainable` those that are trained. `assumed` says
    what was taken for granted, `left_out` what the model has no case for and so does not count. A dry run has the lines
    of its parts, so several for one component, a timeline, and what torch's caching allocator would reserve of the GPU
    for it (blocks that are free included; 0 where it is not known); `code` is the text of its parts' lines.
    `pins_kept`: what pinned blocks that are free, and that torch keeps, add to the host's peak of a moment."""

    source: Source
    peaks: tuple[Peak, ...]
    parameters: int
    trainable: int
    assumed: tuple[Said, ...] = ()
    left_out: tuple[Said, ...] = ()
    timeline: Timeline | None = None
    reserved: int = 0
    pins_kept: Mapping[Moment, Kept] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)

    def of(self, device: Device) -> tuple[Peak, ...]:
        return tuple(peak for peak in self.peaks if peak.device is device)

    def without_arguments(self) -> "Answer":
        """Natively the HF Trainer's arguments change nothing."""
        parts = ((peak, tuple(part.without_arguments() for part in peak.parts)) for peak in self.peaks)
        return replace(self, peaks=tuple(replace(peak, parts=some) for peak, some in parts))

    def worst(self, device: Device) -> Peak | None:
        """The fullest moment of a device; None where nothing of it is used."""
        return max(self.of(device), key=lambda peak: peak.count, default=None)


@dataclass(frozen=True, slots=True)
class CannotSay:
    """No number: `why` is one sentence that says what to do."""

    why: Said


def total(parts: Iterable[Part], place: Place) -> int:
    """Bytes of `parts` in one place."""
    return sum(part.count for part in parts if part.place is place)
