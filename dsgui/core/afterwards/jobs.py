"""A job after training as a value: what is made of what, what it takes, and the worker's arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.afterwards.things import Thing, Verb
from dsgui.core.errors import PlanError
from dsgui.core.sizes import file_size, size
from dsgui.core.texts.saying import Said, said, wrong

DTYPES = {"fp32": 4, "bf16": 2}  # bytes of an element
USUAL_SHARD = "5GB"
_SHARD = re.compile(r"(\d{1,9})\s?([KMGT])(I?)B\Z", re.IGNORECASE)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}
_IMPORTS_BYTES = 1 << 30  # torch, DeepSpeed and transformers, before any tensor
_SPARE = 1.05
_LABELS = {
    Verb.CONSOLIDATE: "label_consolidate",
    Verb.MERGE: "label_merge",
    Verb.UNIVERSAL: "label_universal",
}


@dataclass(frozen=True, slots=True)
class Job:
    """`to` is the folder to make; `dtype` a key of `DTYPES`, or "same"; `base` the model to merge an adapter into."""

    verb: Verb
    thing: Thing
    to: str
    dtype: str = "fp32"
    shard_bytes: int = 5 * 10**9
    base: str = ""

    @property
    def label(self) -> Said:
        """What the list of runs calls it."""
        return said("after", _LABELS[self.verb], name=self.thing.name, dtype=self.dtype)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a checkpoint's or a model's files hold, told without loading a tensor: `elements` of all its weights, None
    where that can't be told; `largest_bytes` of its largest file."""

    elements: int | None
    largest_bytes: int = 0
    total_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes; None for what can't be told before."""

    disk_bytes: int | None
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Room:
    """What is free where the result goes; None where nobody knows."""

    disk_bytes: int | None = None
    memory_bytes: int | None = None


def shard_bytes(typed: str) -> int:
    """ "5GB", "500MB", "2GiB" in bytes; a b is a byte in small letters as well. Raises `PlanError`."""
    match = _SHARD.match(typed.strip())
    if not match or int(match[1]) == 0:
        raise PlanError(wrong("after.shard_size", typed=typed[:20]))
    count: int = int(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()]
    return count


def usual_name(verb: Verb, thing: Thing, dtype: str) -> str:
    """Not `checkpoint-…`: the Trainer counts such folders among its own, and removes the oldest."""
    if verb is Verb.UNIVERSAL:
        return f"{thing.states.rstrip('/').rpartition('/')[2]}_universal"
    number = f"-{thing.step}" if thing.step else f"-{thing.name}"
    return f"merged{number}" if verb is Verb.MERGE else f"weights{number}-{dtype}"


def usual_place(verb: Verb, thing: Thing) -> str:
    """The folder that it goes into, if nobody says otherwise: DeepSpeed looks for universal ones beside the states."""
    return thing.states.rstrip("/").rpartition("/")[0] if verb is Verb.UNIVERSAL else thing.folder


def needs(job: Job, held: Contents) -> Needs:
    """What the job writes and what the host holds at its peak: the weights once, and the largest file while it is
    read."""
    if job.verb is Verb.UNIVERSAL:  # fp32 weights and the optimizer's states again, by parameter; pieces of them before
        return Needs(_about(2 * held.total_bytes), _about(3 * held.largest_bytes) + _IMPORTS_BYTES)
    if held.elements is None:
        return Needs(None, None)
    width = DTYPES.get(job.dtype)
    whole = held.elements * width if width else held.total_bytes
    loaded = 4 * held.elements if job.verb is Verb.CONSOLIDATE else whole
    return Needs(_about(whole), _about(loaded + held.largest_bytes) + _IMPORTS_BYTES)


def _about(count: int) -> int:
    return int(count * _SPARE)


def refusal(wanted: Needs, room: Room) -> Said | None:
    """Why it isn't started: the disk would be full."""
    if wanted.disk_bytes is None or room.disk_bytes is None or wanted.disk_bytes <= room.disk_bytes:
        return None
    return said("after", "no_disk", needed=file_size(wanted.disk_bytes), free=file_size(room.disk_bytes))


def warning(wanted: Needs, room: Room) -> Said | None:
    """What may end it: the host's memory."""
    if wanted.memory_bytes is None or room.memory_bytes is None or wanted.memory_bytes <= room.memory_bytes:
        return None
    return said("after", "little_memory", needed=size(wanted.memory_bytes), free=size(room.memory_bytes))


def arguments(job: Job) -> tuple[str, ...]:
    """The worker's."""
    named = {name: value for name, value in {**_NAMED[job.verb](job), "to": job.to}.items() if value}
    return (job.verb.value, *(f"--{name}={value}" for name, value in named.items()))


def made_by(given: Sequence[str]) -> str:
    """The folder that a job with these arguments makes; "" where none is named."""
    return next((word.removeprefix("--to=") for word in given if word.startswith("--to=")), "")


def _consolidate(job: Job) -> dict[str, str]:
    return {"states": job.thing.states, "beside": job.thing.beside, **_written_as(job)}


def _merge(job: Job) -> dict[str, str]:
    return {"adapter": job.thing.path, "base": job.base or job.thing.base, **_written_as(job)}


def _universal(job: Job) -> dict[str, str]:
    return {"states": job.thing.states}


def _written_as(job: Job) -> dict[str, str]:
    return {"dtype": job.dtype, "shard-bytes": str(job.shard_bytes)}


_NAMED: Mapping[Verb, Callable[[Job], dict[str, str]]] = {
    Verb.CONSOLIDATE: _consolidate,
    Verb.MERGE: _merge,
    Verb.UNIVERSAL: _universal,
}
