"""A dry run that somebody waits for: how far it is, in words, and what it found, as JSON for a page to draw."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dsgui.core.memory.answer import SMALLER, Answer, CannotSay, Device, Moment, Peak, Timeline
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.question import Question
from dsgui.core.texts.saying import Said, said

_KIND = "memory_rehearsal"
_OF_A_STEP = (Moment.FORWARD, Moment.BACKWARD, Moment.STEP)
_END = "end"


@dataclass(frozen=True, slots=True)
class Rehearsing:
    """`ahead`: dry runs that come first. `phase` is "" until DeepSpeed is imported; `step` counts from 0. `told` is
    there once it is over."""

    question: Question
    made: Made
    seconds: float = 0.0
    ahead: int = 0
    phase: str = ""
    step: int = 0
    steps: int = 0
    told: Answer | CannotSay | None = None

    @property
    def key(self) -> str:
        return key_of(self.question, self.made)

    def now(self) -> Said:
        """What it does."""
        if self.ahead:
            return said(_KIND, "waiting", ahead=str(self.ahead))
        if self.phase in _OF_A_STEP:
            return said(_KIND, self.phase, step=str(self.step + 1), steps=str(self.steps))
        return said(_KIND, self.phase or "starting")


def key_of(question: Question, made: Made) -> str:
    """The same for the same question, in whatever order its keys stand."""
    asked = json.dumps([asdict(question), asdict(made)], sort_keys=True, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def as_json(going: Rehearsing) -> dict[str, Any]:
    """Bytes everywhere; `of` says what was asked."""
    about = {"of": going.key, "seconds": round(going.seconds)}
    if going.told is None:
        return about | {"state": "waiting" if going.ahead else "running", "said": str(going.now())}
    if isinstance(going.told, CannotSay):
        return about | cannot(going.told)
    return about | {"state": "answered", "said": str(_done(going))} | _found(going.told)


def cannot(why: CannotSay) -> dict[str, Any]:
    """No dry run, and why."""
    return {"state": "cannot", "said": str(why.why)}


def _done(going: Rehearsing) -> Said:
    group, steps = going.question.group, str(going.steps)
    rank = {"rank": str(group.rank), "ranks": str(group.ranks)}
    return said(_KIND, "done", release=going.question.release, steps=steps, seconds=f"{going.seconds:.0f}", **rank)


def _found(answer: Answer) -> dict[str, Any]:
    phases = list(phases_of(answer.timeline)) if answer.timeline else []
    return {"phases": phases, "peaks": [_peak(answer, peak) for peak in answer.peaks], "code": dict(answer.code)}


def phases_of(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """Each phase in which anything happened, with its own points of each device."""
    begin = 0
    for stretch in timeline.stretches:
        end = begin + sum(1 for at in timeline.ends[begin:] if at <= stretch.end)
        if stretch.name != _END and end > begin:
            counts = {device.value: list(every[begin:end]) for device, every in timeline.counts.items()}
            yield {"phase": stretch.name, "step": stretch.step, "counts": counts}
        begin = end


def _peak(answer: Answer, peak: Peak) -> dict[str, Any]:
    """`fullest` of the moments of its device."""
    parts = [
        {"part": part.component.value, "place": part.place.value, "bytes": part.count}
        | ({"smaller": True} if part.line == SMALLER else {"line": part.line} if part.line else {})
        for part in peak.parts
    ]
    fullest = answer.worst(Device(peak.device)) is peak
    return {"device": peak.device.value, "moment": peak.moment.value, "fullest": fullest, "parts": parts}
