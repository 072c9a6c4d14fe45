"""Whether a training fits: what it takes, with everything that is not DeepSpeed's, against the room there is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from dsgui.core.memory.answer import Answer, Component, Device, Kept, Moment, Part, Peak, Place, Source, total
from dsgui.core.memory.fits.overhead import Amount, Overhead, exactly
from dsgui.core.memory.fits.room import Room
from dsgui.core.sizes import GIB, beside, gib, size
from dsgui.core.texts.saying import Said, said


class Fit(StrEnum):
    """`fits`: even if all that has a margin takes the most. `tight`: if it takes what is likely, and nobody else holds
    memory, or more by no more than anybody knows (`UNKNOWN_SHARE`). `does_not_fit`: what is likely is too much."""

    FITS = "fits"
    TIGHT = "tight"
    SHORT = "does_not_fit"
    UNKNOWN = "cannot_say"


# Of a GPU's capacity: estimates that differ by less are not told apart. On an H200 tensors were 0.07 GiB beside what
# was predicted; a Llama-3-8B that is likely to take 1 % more than a 24 GiB card has ran out of memory there.
UNKNOWN_SHARE = 0.005

_WORST_FIRST = (Fit.SHORT, Fit.UNKNOWN, Fit.TIGHT, Fit.FITS)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: `code` is a component's or an overhead's (`memory_parts`)."""

    code: str
    place: Place
    amount: Amount
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """What is on one GPU, or on one machine's host for all of its ranks, at one moment. `capacity` None: not known.
    `uncounted`: something in it has no number."""

    device: Device
    moment: str
    segments: tuple[Segment, ...]
    capacity: int | None
    in_use: int = 0
    uncounted: bool = False

    @property
    def amount(self) -> Amount:
        whole = Amount()
        for segment in self.segments:
            whole = whole.plus(segment.amount)
        return whole

    @property
    def fit(self) -> Fit:
        amount = self.amount
        if self.capacity is None:
            return Fit.UNKNOWN
        unknown = UNKNOWN_SHARE if self.device is Device.GPU else 0.0
        if amount.likely > self.capacity * (1 + unknown):
            return Fit.SHORT
        fits = amount.high + self.in_use <= self.capacity and not self.uncounted
        return Fit.FITS if fits else Fit.TIGHT

    @property
    def short_by(self) -> int:
        """What is likely to be missing; 0 where nothing is, or where that is not known."""
        return max(self.amount.likely - self.capacity, 0) if self.capacity is not None else 0


# What a host has that nobody has to think of, in bytes: a large laptop's.
USUAL_HOST = 64 * GIB


@dataclass(frozen=True, slots=True)
class Verdict:
    """`bars`: of each device every moment there is. `short`: sentences on what is too small, the worst first.
    `notes`: what was assumed, what is not counted, and what else should be known. `host_asked`: in bytes per node, what
    a host that nobody described has to have where that is more than its GPUs hold together or than a laptop has
    (`USUAL_HOST`), as many hosts don't; else 0."""

    bars: tuple[Bar, ...]
    short: tuple[Said, ...]
    notes: tuple[Said, ...]
    source: Source = Source.FORMULA
    host_asked: int = 0

    def of(self, device: Device) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.device is device)

    def worst(self, device: Device) -> Bar | None:
        """The bar of the fullest moment."""
        return max(self.of(device), key=lambda bar: bar.amount.likely, default=None)

    @property
    def devices(self) -> tuple[Device, ...]:
        return tuple(device for device in Device if self.of(device))

    @property
    def fit(self) -> Fit:
        """The worst of the devices. A host that is not known leaves it to the GPUs: what it needs is told."""
        fits = {device: self.fit_of(device) for device in self.devices}
        if fits.get(Device.NVME) is Fit.UNKNOWN:
            del fits[Device.NVME]
        if Device.GPU in fits and fits.get(Device.HOST) is Fit.UNKNOWN:
            del fits[Device.HOST]
        return min(fits.values(), key=_WORST_FIRST.index, default=Fit.UNKNOWN)

    def fit_of(self, device: Device) -> Fit:
        """Of all its moments; what is locked beyond its limit counts as too small."""
        locked = device is Device.HOST and any(one.code == "short_memlock" for one in self.short)
        fits = [Fit.SHORT] if locked else [bar.fit for bar in self.of(device)]
        return min(fits, key=_WORST_FIRST.index, default=Fit.UNKNOWN)


def judge(answer: Answer, room: Room) -> Verdict:
    """`answer` is of one rank, and taken for every rank of a machine."""
    bars = (*_gpu_bars(answer, room), *_host_bars(answer, room), *_nvme_bars(answer, room))
    short, notes = tuple(_short(bars, answer, room)), tuple(_notes(bars, answer, room))
    return Verdict(bars, short, notes, answer.source, _host_asked(bars, room))


def _host_asked(bars: Iterable[Bar], room: Room) -> int:
    if room.on_cpu or room.gpu_bytes is None or room.host_bytes is not None:
        return 0
    need = _host_need(bars)
    return need if need > min(room.gpu_bytes * room.ranks_per_node, USUAL_HOST) else 0


def _host_need(bars: Iterable[Bar]) -> int:
    return max((bar.amount.likely for bar in bars if bar.device is Device.HOST), default=0)


# --------------------------------------------------------------------------------------------------------- bars
def _gpu_bars(answer: Answer, room: Room) -> Iterator[Bar]:
    if room.on_cpu:
        return
    for peak in answer.of(Device.GPU):
        yield _gpu_bar(peak, room, uncounted=bool(answer.left_out))


def _gpu_bar(peak: Peak, room: Room, *, uncounted: bool = False) -> Bar:
    extra = room.overheads
    beside = {Overhead.CONTEXT: extra.of(Overhead.CONTEXT), Overhead.WORKSPACE: extra.workspace(room.capability)}
    beside |= {Overhead.NCCL: extra.nccl(room.ranks)}
    beside |= {Overhead.FRAGMENTATION: extra.fragmentation(peak.count)}
    segments = (*_segments(peak.parts, room, 1), *_beside(beside, Place.GPU))
    return Bar(Device.GPU, peak.moment, segments, room.gpu_bytes, room.gpu_in_use, uncounted)


def is_too_much(count: int, room: Room) -> bool:
    """Whether a training with so many bytes on the GPU at some moment surely does not fit there without doubt."""
    if room.on_cpu:
        return False
    peak = Peak(Device.GPU, Moment.STEP, (Part(Component.OTHER, Place.GPU, count),))
    return _gpu_bar(peak, room).fit in (Fit.SHORT, Fit.TIGHT)


def _host_bars(answer: Answer, room: Room) -> Iterator[Bar]:
    """A bar for the whole machine. On CPU ranks what would be on GPUs is there, too."""
    beside = tuple(_beside(_of_host(room), Place.HOST))
    here = (room.host_bytes, room.host_in_use)
    parts: dict[str, list[Part]] = {peak.moment: [] for peak in answer.peaks}
    for peak in answer.peaks:
        on_host = peak.device is Device.HOST or (room.on_cpu and peak.device is Device.GPU)
        parts[peak.moment] += peak.parts if on_host else ()
    for moment, some in parts.items():
        yield Bar(
            Device.HOST,
            moment,
            (*_segments(some, room, room.ranks_per_node), *_kept(answer, Moment(moment), room), *beside),
            *here,
            bool(some and answer.left_out),
        )


def _kept(answer: Answer, moment: Moment, room: Room) -> Iterator[Segment]:
    """Pinned blocks that DeepSpeed frees, and torch does not."""
    kept = answer.pins_kept.get(moment, Kept())
    count = kept.count - kept.rounding * room.overheads.unrounded
    if count:
        yield Segment(Overhead.PINS.value, Place.PINNED, exactly(count * room.ranks_per_node))


def _nvme_bars(answer: Answer, room: Room) -> Iterator[Bar]:
    for peak in answer.of(Device.NVME):
        segments = tuple(_segments(peak.parts, room, room.ranks_per_node))
        yield Bar(Device.NVME, peak.moment, segments, room.nvme.free_bytes if room.nvme else None)


def _of_host(room: Room) -> dict[Overhead, Amount]:
    extra = room.overheads
    found = {Overhead.INTERPRETER: extra.of(Overhead.INTERPRETER).times(room.ranks_per_node)}
    if room.workers:
        found[Overhead.WORKERS] = extra.of(Overhead.WORKERS).times(room.workers * room.ranks_per_node)
    if not room.limited:
        found[Overhead.SYSTEM] = extra.of(Overhead.SYSTEM)
    return found


def _beside(amounts: dict[Overhead, Amount], place: Place) -> Iterator[Segment]:
    for which, amount in amounts.items():
        yield Segment(which.value, place, amount)


def _segments(parts: Iterable[Part], room: Room, ranks: int) -> Iterator[Segment]:
    """The parts of one component in one place as one, in the components' order."""
    found: dict[tuple[Component, Place], list[Part]] = {}
    for part in parts:
        found.setdefault((part.component, part.place), []).append(part)
    for component in Component:
        for place in Place:
            some = found.get((component, place), [])
            left_out = sum(part.rounding for part in some) if room.overheads.unrounded else 0
            count = (sum(part.count for part in some) - left_out) * ranks
            if count:
                keys = tuple(dict.fromkeys(key for part in some for key in part.keys))
                yield Segment(component.value, place, exactly(count), keys)


# ---------------------------------------------------------------------------------------------------- sentences
def _short(bars: Iterable[Bar], answer: Answer, room: Room) -> Iterator[Said]:
    every = list(bars)
    for device in Device:
        worst = max((bar for bar in every if bar.device is device), key=lambda bar: bar.amount.likely, default=None)
        if worst is not None and worst.capacity is not None and worst.fit in (Fit.SHORT, Fit.TIGHT):
            yield _too_small(worst, room)
    locked = max((total(_locked(peak.parts), Place.PINNED) for peak in answer.of(Device.HOST)), default=0)
    if room.memlock_bytes is not None and locked > room.memlock_bytes:
        yield said("memory_told", "short_memlock", need=size(locked), limit=size(room.memlock_bytes))


def _locked(parts: Iterable[Part]) -> list[Part]:
    """What is locked by mlock, which RLIMIT_MEMLOCK bounds: the swap buffers. CUDA's pinned memory it does not."""
    return [part for part in parts if part.component is Component.SWAP]


def _gib(count: float) -> str:
    """With as many digits as the page's bars have."""
    return gib(count, 2)


_SHORT = {Device.GPU: "short_gpu", Device.HOST: "short_host", Device.NVME: "short_nvme"}


def _too_small(bar: Bar, room: Room) -> Said:
    on_gpu, capacity = bar.device is Device.GPU, bar.capacity or 0
    if bar.fit is Fit.SHORT:
        need = bar.amount.likely
        given = {"need": _gib(need), "has": _gib(capacity), "short": _gib(bar.short_by)}
        return said("memory_told", _SHORT[bar.device], **given)
    high = bar.amount.high
    least, most, has = beside(bar.amount.low, high, 2), _gib(high), _gib(capacity)
    if bar.amount.high > capacity or bar.uncounted:
        return said("memory_told", "tight_gpu" if on_gpu else "tight_host", least=least, most=most, has=has)
    code = "in_use_gpu" if on_gpu else "in_use_host"
    return said("memory_told", code, most=most, has=has, used=_gib(bar.in_use))


def _notes(bars: Iterable[Bar], answer: Answer, room: Room) -> Iterator[Said]:
    yield from answer.assumed
    yield from answer.left_out
    need = _host_need(bars)
    if room.host_bytes is None and need:
        yield said("memory_told", "no_host", need=_gib(need))
    if room.on_cpu:
        yield said("memory_told", "on_cpu")
    elif room.gpu_bytes is None:
        yield said("memory_told", "no_card")
    if runs := room.overheads.runs:
        yield said("memory_told", "from_run") if runs == 1 else said("memory_told", "from_runs", runs=str(runs))
    if not room.overheads.measured and not room.on_cpu:
        yield said("memory_told", "not_measured")
