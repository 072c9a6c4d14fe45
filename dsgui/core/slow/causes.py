"""Why a run is slow, in one line, with the figures it is told from and what to try."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dsgui.core.metrics.thinning import Curve, Floats
from dsgui.core.sizes import GIB
from dsgui.core.slow.sampled import Card, Moment, Readings, readings
from dsgui.core.texts.saying import Said, said

TOO_FEW = "too_few"  # the code that says so
FEWEST = 30  # samples, one a second: in a shorter training its first steps, which compile and warm up, weigh most
NOTABLE = 0.1  # of the time: what is less is not worth a change, and one sample a second can't tell it
IDLE = 20.0  # percent: NVML's figure is the part of its last period in which a kernel ran; below, the GPU mostly waited
BUSIER = 5.0  # percent of all cores, more than while the GPU works: above what a machine's other processes vary
SATURATED = 90.0  # percent of all cores: who has something to do waits for a core
SATURATED_FOR = 0.5  # of the time
PCIE_BYTES_S = 6 * GIB  # half of what PCIe 3.0 x16 carries in one direction; newer ones carry more
SLOWER_RANK = 1.15  # of the others' median: in every step they wait for it, and steps vary by a few percent
UNEVEN = 25.0  # percent between the busiest and the idlest GPU: with one program on all, they differ by a few
SWAPPED = GIB // 2  # more than a machine moves out at leisure when nothing is short


@dataclass(frozen=True, slots=True)
class Cause:
    """`share` is the part of the time that it takes, 0 to 1; None where that is not known."""

    code: str
    share: float | None
    line: Said
    figures: tuple[Said, ...]
    advice: Said

    def to_json(self) -> dict[str, Any]:
        figures = [str(one) for one in self.figures]
        return {"code": self.code, "share": self.share, "line": str(self.line)} | {
            "figures": figures,
            "advice": str(self.advice),
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """`code`: that of the first cause, else "nothing", "no_gpu" or "too_few"; `causes`, the largest first."""

    code: str
    line: Said
    causes: tuple[Cause, ...] = ()
    figures: tuple[Said, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """In the language in use."""
        causes = [one.to_json() for one in self.causes]
        return {"code": self.code, "line": str(self.line)} | {
            "causes": causes,
            "figures": [str(one) for one in self.figures],
        }


def why_slow(curves: Sequence[Curve], moments: Sequence[Moment] = (), *, offloads: bool = False) -> Judgement:
    """`curves` are all of a run, telemetry too; `offloads`: its optimizer runs on the CPU, which the GPU waits for."""
    seen = readings(curves, moments)
    if seen.trained < FEWEST:
        return Judgement(TOO_FEW, said("slow", TOO_FEW, count=str(seen.trained), fewest=str(FEWEST)))
    causes = [found for cause in _CAUSES for found in cause(seen, offloads)]
    causes.sort(key=lambda one: -(one.share or 0))
    if causes:
        return Judgement(causes[0].code, causes[0].line, tuple(causes))
    code = "nothing" if seen.cards else "no_gpu"
    return Judgement(code, said("slow", code), (), tuple(_usual(seen)))


def _usual(seen: Readings) -> Iterator[Said]:
    """The figures of a run in which nothing stands out."""
    if seen.cards:
        yield _figure("gpu", value=_percent(100 - 100 * _idle_share(seen.cards)))
    if len(seen.cpu):
        yield _figure("cpu", value=_percent(seen.cpu.mean()))


# --- the causes: each yields at most one --------------------------------------------------------------------------


def _gpu_waits(seen: Readings, offloads: bool) -> Iterator[Cause]:
    """The GPU has nothing to do; what the machine did meanwhile says what it waited for."""
    share = _idle_share(seen.cards)
    if not seen.cards or share < NOTABLE:
        return
    idle, busy = _cpu_by(seen.cards)
    figures = [_figure("gpu", value=_percent(100 - 100 * share))]
    if idle is not None:
        figures.append(_figure("cpu_while_idle", value=_percent(idle)))
    if busy is not None:
        figures.append(_figure("cpu_while_busy", value=_percent(busy)))
    pcie = _pcie(seen.cards)
    if pcie is not None:
        figures.append(_figure("pcie", value=f"{pcie / GIB:.1f}"))
    if seen.processes is not None:
        figures.append(_figure("processes", value=str(seen.processes)))
    code = _waited_for(idle, busy, pcie, offloads)
    if code == "cpu_full" and (taken := _taken(seen)):
        code = "cpu_full_others" if taken.others > taken.own else code
        figures += taken.figures
    yield _cause(code, share, figures)


def _waited_for(idle: float | None, busy: float | None, pcie: float | None, offloads: bool) -> str:
    if pcie is not None and pcie >= PCIE_BYTES_S:
        return "transfers"
    if idle is not None and idle >= SATURATED:
        return "cpu_full"
    works = idle is not None and busy is not None and idle - busy >= BUSIER
    if not works:
        return "idle"
    return "offload" if offloads else "data"


def _cpu_is_full(seen: Readings, _: bool) -> Iterator[Cause]:
    """Told of a run without GPUs; with them the GPUs' waiting tells it."""
    if seen.cards or not len(seen.cpu):
        return
    share = float((seen.cpu >= SATURATED).mean())
    if share >= SATURATED_FOR:
        taken, figures = _taken(seen), [_figure("cpu", value=_percent(seen.cpu.mean()))]
        code = "cpu_limit" if taken is None else "cpu_others" if taken.others > taken.own else "cpu_own"
        yield _cause(code, share, [*figures, *(taken.figures if taken else ())])


class _Taken(NamedTuple):
    """What took the host's CPU while it was saturated, in percent of all cores."""

    own: float
    others: float

    @property
    def figures(self) -> list[Said]:
        both = (("of_run", self.own), ("of_others", self.others))
        return [_figure(code, value=_percent(value)) for code, value in both]


def _taken(seen: Readings) -> _Taken | None:
    """None where the run's own was not sampled."""
    told = (seen.cpu >= SATURATED) & np.isfinite(seen.own_cpu)
    if not told.any():
        return None
    own = float(seen.own_cpu[told].mean())
    return _Taken(own, max(float(seen.cpu[told].mean()) - own, 0.0))


def _pauses(seen: Readings, _: bool) -> Iterator[Cause]:
    if seen.pauses is None or seen.pauses.trained_s <= 0:
        return
    for code, took in (("evaluation", seen.pauses.evaluation_s), ("checkpoint", seen.pauses.checkpoint_s)):
        share = took / seen.pauses.trained_s
        if share >= NOTABLE:
            told = {"value": f"{took:.0f}", "of": f"{seen.pauses.trained_s:.0f}"}
            yield _cause(code, share, [said("slow_figures", "seconds", **told)])


def _swaps(seen: Readings, _: bool) -> Iterator[Cause]:
    if len(seen.swap) and (grown := float(seen.swap.max() - seen.swap[0])) >= SWAPPED:
        yield _cause("swap", None, [_figure("swap", value=f"{grown / GIB:.1f}")])


def _one_rank(seen: Readings, _: bool) -> Iterator[Cause]:
    """What every other rank waits in a step, of the time that the slowest takes."""
    if len(seen.rank_ms) < 2:
        return
    slowest = max(seen.rank_ms, key=lambda rank: seen.rank_ms[rank])
    others = float(np.median([value for rank, value in seen.rank_ms.items() if rank != slowest]))
    if others > 0 and seen.rank_ms[slowest] / others >= SLOWER_RANK:
        times = f"{seen.rank_ms[slowest] / others:.2f}"
        told = {"rank": str(slowest), "value": f"{seen.rank_ms[slowest]:.0f}", "others": f"{others:.0f}"}
        share = 1 - others / seen.rank_ms[slowest]
        line = said("slow", "rank", rank=str(slowest), times=times)
        yield Cause("rank", share, line, (said("slow_figures", "rank", **told),), said("slow_advice", "rank"))


def _uneven(seen: Readings, _: bool) -> Iterator[Cause]:
    by_busy = sorted(seen.cards, key=lambda card: float(card.busy.mean()))
    if len(by_busy) < 2:
        return
    low, high = by_busy[0], by_busy[-1]
    if high.busy.mean() - low.busy.mean() >= UNEVEN:
        figures = [_figure("of_gpu", name=card.name, value=_percent(card.busy.mean())) for card in (low, high)]
        line = said("slow", "uneven", name=low.name)
        yield Cause("uneven", None, line, tuple(figures), said("slow_advice", "uneven"))


def _slowed(seen: Readings, _: bool) -> Iterator[Cause]:
    worst = max(seen.cards, key=lambda card: float(card.slowed.mean()), default=None)
    if worst is not None and (share := float(worst.slowed.mean())) >= NOTABLE:
        line = said("slow", "slowed", name=worst.name, share=_percent(100 * share))
        yield Cause("slowed", share, line, (), said("slow_advice", "slowed"))


_CAUSES: tuple[Callable[[Readings, bool], Iterator[Cause]], ...] = (
    _gpu_waits,
    _cpu_is_full,
    _pauses,
    _swaps,
    _one_rank,
    _uneven,
    _slowed,
)


# --- figures ------------------------------------------------------------------------------------------------------


def _cause(code: str, share: float | None, figures: Sequence[Said]) -> Cause:
    given = {} if share is None else {"share": _percent(100 * share)}
    return Cause(code, share, said("slow", code, **given), tuple(figures), said("slow_advice", code))


def _figure(code: str, **given: str) -> Said:
    return said("slow_figures", code, **given)


def _percent(value: float) -> str:
    return f"{value:.0f} %"


def _idle_share(cards: Sequence[Card]) -> float:
    """Of all GPUs together."""
    return float(np.mean([1 - card.busy.mean() / 100 for card in cards])) if cards else 0.0


def _cpu_by(cards: Sequence[Card]) -> tuple[float | None, float | None]:
    """The host's CPU while a GPU of it was idle, and while it was busy."""
    busy, cpu = (np.concatenate([getattr(card, name) for card in cards]) for name in ("busy", "cpu"))
    told = np.isfinite(cpu)
    idle = told & (busy < IDLE)
    return _mean(cpu[idle]), _mean(cpu[told & (busy >= IDLE)])


def _pcie(cards: Sequence[Card]) -> float | None:
    values = np.concatenate([card.pcie_bytes_s for card in cards])
    return _mean(values[np.isfinite(values)])


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
