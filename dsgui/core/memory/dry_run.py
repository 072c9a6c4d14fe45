"""What a dry run wrote down, as an answer: peaks by component and by line, and the timeline.

`shell/memory/rehearsal.py` writes it in the environment that trains: each allocation and its end, in order, with the
line of code that made it. Bytes are counted here as torch's allocators hand them out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgui.core.memory.allocator import replayed
from dsgui.core.memory.answer import (
    DEVICE_OF,
    SMALLER,
    Answer,
    Component,
    Device,
    Kept,
    Moment,
    Part,
    Peak,
    Place,
    Source,
    Stretch,
    Timeline,
)
from dsgui.core.memory.ledger import Waiting, rounded
from dsgui.core.memory.lines import Line, component_of
from dsgui.core.texts.saying import said

MOST_POINTS = 400
_MOST_LINES = 60  # of a peak
_LEAST_SHOWN = 0.002  # of a peak: smaller lines of a component are told as one
_MOMENT_OF = {"model": Moment.INIT, "init": Moment.INIT} | {
    moment.value: moment for moment in (Moment.FORWARD, Moment.BACKWARD, Moment.STEP)
}
_KIND = "memory_notes"
_SHOWN = (Device.GPU, Device.HOST)  # files on NVMe only grow
_ON_HOST = frozenset(place for place in Place if DEVICE_OF[place] is Device.HOST)


@dataclass(frozen=True, slots=True)
class Phase:
    """`[start, end)` are events. `step` is which of the steps that were taken."""

    name: str
    step: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """Event e is the birth of allocation e − 1, or with a minus its end. `sizes` are bytes that were asked for."""

    events: np.ndarray
    sizes: np.ndarray
    keys: np.ndarray
    lines: tuple[Line, ...]
    phases: tuple[Phase, ...]

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Recorded":
        """Raises KeyError, TypeError or ValueError for what is no record."""
        events = np.array(told["events"], dtype=np.int64)
        starts = [int(start) for start, _, _ in told["phases"]] + [len(events)]
        phases = tuple(
            Phase(str(name), int(step), starts[number], starts[number + 1])
            for number, (_, name, step) in enumerate(told["phases"])
        )
        lines = tuple(Line(Place(place), *map(str, more)) for place, *more in told["lines"])
        sizes, keys = (np.array(told[name], dtype=np.int64) for name in ("sizes", "keys"))
        return cls(events, sizes, keys, lines, phases)

    def births(self) -> np.ndarray:
        """The event of each allocation's birth."""
        return np.flatnonzero(self.events > 0)

    def deaths(self) -> np.ndarray:
        """The event of each allocation's end; the number of events for one that has none."""
        ends = np.full(len(self.sizes), len(self.events), dtype=np.int64)
        at = np.flatnonzero(self.events < 0)
        ends[-self.events[at] - 1] = at
        return ends

    def handed_out(self) -> np.ndarray:
        """Bytes of each allocation as its allocator rounds them."""
        places = [line.rounds_as for line in self.lines]
        every = np.array([places.index(place) for place in places])[self.keys]
        out = self.sizes.copy()
        for place in set(places):
            ours = every == places.index(place)
            values, back = np.unique(self.sizes[ours], return_inverse=True)
            out[ours] = np.array([rounded(int(value), place) for value in values], dtype=np.int64)[back]
        return out

    def live(self, places: frozenset[Place]) -> np.ndarray:
        """Bytes in these places after each event."""
        ours = np.array([line.place in places for line in self.lines], dtype=bool)[self.keys]
        counts = np.where(ours, self.handed_out(), 0)
        which = np.abs(self.events) - 1
        return np.cumsum(np.where(self.events > 0, counts[which], -counts[which]))


def answer_of(told: Mapping[str, Any]) -> Answer:
    """The answer in what the worker sent. Raises KeyError, TypeError or ValueError for what is none."""
    recorded = Recorded.from_json(told)
    peaks = peaks_of(recorded)
    return Answer(
        Source.DRY_RUN,
        peaks,
        int(told["parameters"]),
        int(told["trainable"]),
        tuple(said(_KIND, str(note["code"]), **note["given"]) for note in told["notes"]),
        timeline=timeline_of(recorded),
        reserved=reserved_by(recorded),
        code=code_of(recorded, peaks),
        pins_kept=pins_kept(recorded),
    )


def pins_kept(recorded: Recorded) -> dict[Moment, Kept]:
    """What pinned blocks that are free add to the host's peak of each moment."""
    pinned = np.array([line.rounds_as is Place.PINNED for line in recorded.lines], dtype=bool)[recorded.keys]
    waiting, which = Waiting(), np.abs(recorded.events) - 1
    for at in np.flatnonzero(pinned[which]).tolist():
        waiting.take(at, int(recorded.sizes[which[at]]), 1 if recorded.events[at] > 0 else -1)
    live: list[int] = recorded.live(_ON_HOST).tolist() if waiting.events else []
    found = {moment: waiting.beside(live, _stretches(recorded, moment)) for moment in Moment}
    return {moment: kept for moment, kept in found.items() if kept.count}


def _stretches(recorded: Recorded, moment: Moment) -> Iterator[tuple[int, int]]:
    for phase in recorded.phases:
        if _MOMENT_OF.get(phase.name) is moment:
            yield max(phase.start - 1, 0), phase.end


def code_of(recorded: Recorded, peaks: Iterable[Peak]) -> dict[str, str]:
    """The text of each line that stands in the peaks."""
    told = {part.line for peak in peaks for part in peak.parts}
    return {line.where: line.source for line in recorded.lines if line.where in told and line.source}


def reserved_by(recorded: Recorded) -> int:
    """The most that torch's caching allocator holds of the GPU for these allocations."""
    on_gpu = np.array([line.place is Place.GPU for line in recorded.lines], dtype=bool)[recorded.keys]
    return replayed(recorded.events.tolist(), np.where(on_gpu, recorded.sizes, 0).tolist()).most_reserved


def peaks_of(recorded: Recorded) -> tuple[Peak, ...]:
    """Of each moment, whichever step is the fullest: most often the last, but what is pinned in the first one has a
    pageable twin there."""
    return tuple(peak for device in Device for peak in _of_device(recorded, device))


def _of_device(recorded: Recorded, device: Device) -> Iterator[Peak]:
    places = frozenset(place for place in Place if DEVICE_OF[place] is device)
    live = recorded.live(places)
    for moment in Moment:
        spans = [phase for phase in recorded.phases if _MOMENT_OF.get(phase.name) is moment]
        at = max(
            (fullest(live, phase) for phase in spans), key=lambda event: live[event] if event >= 0 else 0, default=-1
        )
        if at >= 0 and live[at]:
            yield Peak(device, moment, parts_at(recorded, places, at))


def fullest(live: np.ndarray, phase: Phase) -> int:
    """The event after which most is alive, with the state that the phase begins in; −1 where nothing ever was."""
    start = max(phase.start - 1, 0)
    span = live[start : phase.end]
    return start + int(span.argmax()) if span.size else -1


def parts_at(recorded: Recorded, places: frozenset[Place], at: int) -> tuple[Part, ...]:
    """What is alive after event `at`: by component, place and line, the largest first."""
    alive = (recorded.births() <= at) & (recorded.deaths() > at)
    counts = np.bincount(recorded.keys[alive], weights=recorded.handed_out()[alive], minlength=len(recorded.lines))
    ours = {line: int(count) for line, count in zip(recorded.lines, counts, strict=True) if line.place in places}
    largest = sorted(ours.values(), reverse=True)
    least = max([_LEAST_SHOWN * sum(largest), *largest[_MOST_LINES - 1 : _MOST_LINES]])
    found: dict[tuple[Component, Place, str], int] = {}
    for line, count in ours.items():
        name = (component_of(line), line.place, line.where if count >= least else SMALLER)
        found[name] = found.get(name, 0) + count
    parts = [Part(component, place, count, (), where) for (component, place, where), count in found.items() if count]
    return tuple(sorted(parts, key=lambda part: -part.count))


def timeline_of(recorded: Recorded) -> Timeline:
    """Bytes by device over the events, thinned to what a screen shows: each phase has its share of points, and a point
    is the fullest instant of its stretch."""
    every = {device: recorded.live(frozenset(p for p in Place if DEVICE_OF[p] is device)) for device in _SHOWN}
    edges = _edges(recorded)
    counts = {device: _most(live, edges) for device, live in every.items() if live.any()}
    stretches = tuple(Stretch(phase.name, phase.step, phase.start, phase.end) for phase in recorded.phases)
    return Timeline(tuple(int(edge) for edge in edges[1:]), counts, stretches)


def _edges(recorded: Recorded) -> np.ndarray:
    spans = [(phase.start, phase.end) for phase in recorded.phases if phase.end > phase.start]
    share = max(MOST_POINTS // max(len(spans), 1), 1)
    inner = [np.linspace(start, end, share + 1) for start, end in spans[:MOST_POINTS]]
    return np.unique(np.concatenate([[0, len(recorded.events)], *inner]).astype(np.int64))


def _most(live: np.ndarray, edges: np.ndarray) -> tuple[int, ...]:
    return tuple(int(value) for value in np.maximum.reduceat(live, edges[:-1])) if live.size else ()
