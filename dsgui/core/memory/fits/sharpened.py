"""A machine's constants as its finished runs told them. A few runs are needed before one gets smaller than is usual."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from dsgui.core.decoding import optional, sequence, text, whole
from dsgui.core.memory.fits.overhead import CONSTANTS, ON_THE_CPU, Amount, Constant, Overhead

CPU = "cpu"
ENOUGH = 3  # runs, before what was measured may be less than what is usual
MOST_RUNS, MOST_KINDS = 8, 64  # that are kept: of one kind, and kinds
_OUTLIER = 0.5  # of the median: what is further from it counts for nothing
_MARGIN = 1.15
_LONGEST, _MOST_BYTES = 200, 1 << 50


@dataclass(frozen=True, slots=True)
class Seen:
    """One run. `device`: "cpu", or the card's name. `interpreter` and `context` are bytes of a rank, None where the run
    does not tell. `alone`: of a single rank, which communicates with itself only."""

    run_id: str
    device: str
    release: str
    interpreter: int | None = None
    context: int | None = None
    alone: bool = False

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Seen":
        """Raises KeyError, TypeError or ValueError."""
        run_id, device, release = (text(value[name])[:_LONGEST] for name in ("run_id", "device", "release"))
        interpreter, context = (optional(_bytes, value.get(name)) for name in ("interpreter", "context"))
        return cls(run_id, device, release, interpreter, context, value.get("alone") is True)


@dataclass(frozen=True, slots=True)
class Sharpened:
    """What runs of one machine told, the oldest first."""

    seen: tuple[Seen, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"runs": [asdict(one) for one in self.seen]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sharpened":
        """Raises KeyError, TypeError or ValueError."""
        return cls(tuple(map(Seen.from_json, sequence(value["runs"], MOST_RUNS * MOST_KINDS))))

    def adding(self, new: Seen) -> "Sharpened":
        """With one run more; of each kind the last few stay."""
        every = [*(one for one in self.seen if one.run_id != new.run_id), new]
        kinds = list(dict.fromkeys(_kind(one) for one in reversed(every)))[:MOST_KINDS]
        kept = {kind: [one for one in every if _kind(one) == kind][-MOST_RUNS:] for kind in kinds}
        return Sharpened(tuple(one for one in every if one in kept.get(_kind(one), ())))

    def constants(self, device: str, release: str, *, alone: bool = False) -> dict[Overhead, Constant]:
        """What takes the place of the usual ones, for a device and a release of DeepSpeed."""
        own = [one for one in self.seen if _kind(one) == (device, release, alone)]
        usual = usual_of(device)
        told = {
            Overhead.INTERPRETER: [one.interpreter for one in own if one.interpreter is not None],
            Overhead.CONTEXT: [one.context for one in own if one.context is not None],
        }
        likely = {which: [n for n in counts if 2 * n >= usual[which].amount.low] for which, counts in told.items()}
        return {which: _constant(usual[which], counts) for which, counts in likely.items() if counts}


def _kind(one: Seen) -> tuple[str, str, bool]:
    return one.device, one.release, one.alone


def usual_of(device: str) -> Mapping[Overhead, Constant]:
    return {**CONSTANTS, Overhead.INTERPRETER: ON_THE_CPU} if device == CPU else CONSTANTS


def _constant(usual: Constant, counts: Sequence[int]) -> Constant:
    """Fewer than three runs make it larger only."""
    middle = median(counts)
    kept = [count for count in counts if abs(count - middle) <= _OUTLIER * middle]
    low, likely = min([*kept, round(middle)]), round(middle)
    was = usual.amount
    high = max([*kept, round(middle * _MARGIN), was.likely])  # what is beside it was estimated too
    if len(kept) < ENOUGH:
        low, likely, high = min(low, was.low), max(likely, was.likely), max(high, was.high)
    return Constant(Amount(low, likely, high), usual.source, measured=True, runs=len(counts))


def _bytes(value: Any) -> int:
    return whole(value, 0, _MOST_BYTES)
