"""What took the memory that a run died of: which part was the largest when it ran out, and which key governs it, by
what dsgui had said of the run at its launch. Where that was wrong, it is told."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsgui.core.config.pointer import dotted
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.memory.answer import Component, Device, Moment
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment
from dsgui.core.sizes import GIB, MIB, beside, gib, size
from dsgui.core.texts.saying import Said, listed, said

# Diagnoses of memory, and the device that ran out.
_DEVICES: Mapping[str, Device] = {
    **dict.fromkeys(("cuda-memory", "cuda-memory-start", "cuda-memory-optimizer"), Device.GPU),
    **dict.fromkeys(("host-memory", "cgroup-memory", "killed", "memlock"), Device.HOST),
}
_PERHAPS = frozenset({"killed", "memlock"})
# A signal tells no reason: only where the host was, or should have been, this full is memory spoken of.
_NEARLY = 0.8
_LEAST_TOLD = GIB // 2
_MOST_KEYS = 2

_FRAME = r'deepspeed/runtime/[\w/]{1,80}\.py", line \d{1,7}, in '
# The first that a traceback has: a backward that forwards anew is a backward, and accelerate steps inside of one.
_MOMENTS: tuple[tuple[Moment, re.Pattern[str]], ...] = (
    (
        Moment.INIT,
        re.compile(
            r"in (?:from_pretrained|_load_pretrained_model|_move_model_to_device|_prepare_deepspeed|"
            r"_configure_distributed_model|_configure_optimizer|_configure_zero_optimizer|initialize)\n"
        ),
    ),
    (Moment.STEP, re.compile(rf"{_FRAME}(?:step|_take_model_step|_optimizer_step)\n")),
    (Moment.BACKWARD, re.compile(r"in (?:backward|_engine_run_backward)\n")),
    (Moment.FORWARD, re.compile(r"in (?:forward|compute_loss|_call_impl)\n")),
)

_NUMBER = r"(\d{1,9}(?:\.\d{1,4})?) ([KMG]iB|bytes)"
_ASKED = re.compile(rf"Tried to allocate {_NUMBER}")
_CAPACITY = re.compile(rf"total capacity of {_NUMBER} of which {_NUMBER} is free")
_OWN = re.compile(rf"this process has {_NUMBER} memory in use")
_UNUSED = re.compile(rf"(?:and )?{_NUMBER} is reserved by PyTorch but unallocated")
_UNITS = {"bytes": 1, "KiB": 1024, "MiB": MIB, "GiB": GIB}


@dataclass(frozen=True, slots=True)
class Ending:
    """How it was when the memory ran out, as far as anybody told: bytes of the process, the allocation that failed,
    what others had of the card, what torch held without using it, and what the card has in all."""

    used: int | None = None
    asked: int = 0
    others: int = 0
    unused: int = 0
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """`missing`: how much more than predicted the run would have needed; 0 where the prediction was enough, or nobody
    told. `unused`: what torch's allocator held without using it."""

    device: Device
    sentences: tuple[Said, ...]
    missing: int = 0
    unused: int = 0


def is_of_memory(found: Diagnosis) -> bool:
    return found.signature in _DEVICES


def ran_out(found: Diagnosis | None) -> Device | None:
    """What a run died of for lack of it, where that is certain."""
    device = _DEVICES.get(found.signature) if found else None
    return None if found and found.signature in _PERHAPS else device


def cause_of(found: Diagnosis, foretold: Foretold | None, peak: Mapping[str, int]) -> Cause | None:
    """`peak` is what telemetry measured at most, by device. None where the run did not die of memory, or nothing was
    predicted."""
    device = _DEVICES.get(found.signature)
    if device is None or foretold is None:
        return None
    moment = moment_of(found.traceback)
    bar = foretold.bar(device, moment)
    if bar is None:
        return None
    ended = told_by(found.evidence) if device is Device.GPU else Ending(peak.get("host_bytes"))
    if found.signature == "killed" and not _was_full(bar, ended):
        return None
    if found.signature == "memlock":
        return Cause(device, tuple(_locked(bar)))
    missing = _missing(device, bar, ended)
    shown = foretold.bar(device) or bar  # the peak: no other number is said of the same card
    said_less = missing if shown is bar else _missing(device, shown, ended)
    sentences = (*_compared(shown, moment, ended), *_honest(foretold, shown, said_less), *_largest(bar))
    return Cause(device, sentences, missing, ended.unused)


def moment_of(traceback: str) -> str:
    """By the frames; "" where they do not tell."""
    return next((moment.value for moment, frames in _MOMENTS if frames.search(traceback)), "")


def told_by(message: str) -> Ending:
    """What torch's message says (c10/cuda/CUDACachingAllocator.cpp)."""
    capacity, own = _CAPACITY.search(message), _OWN.search(message)
    used = _count(own) if own else None
    whole, free = (_count(capacity), _count(capacity, 3)) if capacity else (0, 0)
    others = max(whole - free - used, 0) if capacity and used is not None else 0
    return Ending(
        used if used is not None else (whole - free if capacity else None),
        _count(_ASKED.search(message)),
        others,
        _count(_UNUSED.search(message)),
        whole,
    )


def _count(found: re.Match[str] | None, group: int = 1) -> int:
    return round(float(found[group]) * _UNITS[found[group + 1]]) if found else 0


def _was_full(bar: Bar, ended: Ending) -> bool:
    return bar.capacity is not None and max(bar.amount.likely, ended.used or 0) > _NEARLY * bar.capacity


def _missing(device: Device, bar: Bar, ended: Ending) -> int:
    """On a GPU torch tells what it would have taken; on the host it was more than there is."""
    needed = (ended.used or 0) + ended.asked if device is Device.GPU else bar.capacity or 0
    return max(needed - bar.amount.likely, 0)


# ---------------------------------------------------------------------------------------------------------- sentences
def _compared(bar: Bar, moment: str, ended: Ending) -> Iterator[Said]:
    yield _predicted(bar, ended.whole)
    if ended.used is not None and bar.device is Device.GPU:
        given: dict[str, str | Said] = {"used": gib(ended.used), "asked": size(ended.asked)}
        when = {"when": said("memory_when", moment)} if moment else {}
        yield said("memory_cause", "ran_out_when" if moment else "ran_out", **given, **when)
    elif ended.used is not None:
        yield said("memory_cause", "last_measured", used=gib(ended.used))
    if ended.others > _LEAST_TOLD:
        yield said("memory_cause", "others", used=gib(ended.others))
    if ended.unused > _LEAST_TOLD:
        yield said("memory_cause", "unused", unused=gib(ended.unused))


def _predicted(bar: Bar, whole: int) -> Said:
    likely, has = bar.amount.likely, bar.capacity
    if bar.device is Device.GPU:
        if has is None:
            return said("memory_cause", "predicted_gpu", need=gib(likely))
        if whole > has:
            digits = _digits(likely, has, whole)
            given = {"has": beside(has, whole, digits), "whole": gib(whole, digits)}
            return said("memory_cause", "predicted_gpu_whole", need=gib(likely, digits), **given)
        digits = _digits(likely, has)
        return said("memory_cause", "predicted_gpu_of", need=gib(likely, digits), has=gib(has, digits))
    when = said("memory_when", bar.moment)
    if has is None:
        return said("memory_cause", "predicted_host", need=gib(likely), when=when)
    digits = _digits(likely, has)
    given = {"need": beside(likely, has, digits), "has": gib(has, digits)}
    return said("memory_cause", "predicted_host_of", **given, when=when)


def _digits(*counts: int) -> int:
    """One, or two where different amounts would read alike."""
    return 1 if len({gib(count) for count in counts}) == len(set(counts)) else 2


def _honest(foretold: Foretold, bar: Bar, missing: int) -> Iterator[Said]:
    """That dsgui was wrong."""
    if bar.capacity is not None and bar.amount.likely <= bar.capacity:
        fits = foretold.fit is Fit.FITS
        if missing:
            yield said("memory_cause", "said_fits" if fits else "said_tight", missing=gib(missing))
        else:
            yield said("memory_cause", "said_fits_only" if fits else "said_tight_only")


def _locked(bar: Bar) -> Iterator[Said]:
    """The limit is a process's, the bar a machine's."""
    locked = next((one for one in bar.segments if one.code == Component.SWAP), None)
    if locked is not None:
        yield said("memory_cause", "locked", size=gib(locked.amount.likely), keys=_keys(locked))


def _largest(bar: Bar) -> Iterator[Said]:
    """The largest part that something governs."""
    largest = max((one for one in bar.segments if one.keys), key=lambda one: one.amount.likely, default=None)
    if largest is not None:
        yield said(
            "memory_cause",
            "largest",
            part=said("memory_parts", largest.code),
            size=gib(largest.amount.likely),
            keys=_keys(largest),
        )


def _keys(segment: Segment) -> str | Said:
    return listed(dotted(key) if key.startswith("/") else key for key in segment.keys[:_MOST_KEYS])
