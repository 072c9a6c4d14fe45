"""Runs side by side: what explains their memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.compare import differences
from dsgui.core.config.document import Document
from dsgui.core.metrics.performance import Figures
from dsgui.core.sizes import beside, gib
from dsgui.core.texts.saying import words

_LIVE, _REUSE = "/zero_optimization/stage3_max_live_parameters", "/zero_optimization/stage3_max_reuse_distance"
_BYTES = 2  # of a parameter that is gathered, in fp16 or bf16
_SAME = 0.05  # memory that differs by less is called the same


@dataclass(frozen=True, slots=True)
class Compared:
    """One run of a comparison; `config` is as launched, None where it can't be read."""

    name: str
    config: Document | None
    figures: Figures


@dataclass(frozen=True, slots=True)
class Answer:
    """A question that users have about such a comparison, and what the numbers say."""

    question: str
    sentences: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"question": self.question, "sentences": list(self.sentences)}


def answers(runs: Sequence[Compared]) -> list[Answer]:
    """For two runs: the tutorials' question about ZeRO-3, why GPU memory changed and host memory did not; where it was
    measured so."""
    if len(runs) != 2 or runs[0].config is None or runs[1].config is None:
        return []
    changed = {found.pointer for found in differences(runs[0].config, runs[1].config)}
    own = [run.figures.run_gpu_peak_bytes for run in runs]
    is_own = None not in own
    gpus = own if is_own else [_fullest(run.figures) for run in runs]
    hosts = [run.figures.run_peak_bytes for run in runs]
    if not changed & {_LIVE, _REUSE} or not _differ(gpus) or _differ(hosts) is not False:
        return []
    moved = (
        _moved("moved_run_gpu" if is_own else "moved_gpu", runs[0], runs[1], gpus),
        _moved("moved_host", runs[0], runs[1], hosts),
    )
    return [_live_parameters(runs[0], runs[1], moved)]


def _live_parameters(first: Compared, second: Compared, moved: Sequence[str]) -> Answer:
    sentences = (*moved, *_limits(first, second), words("report_page", "host_holds"))
    return Answer(words("report_page", "why_gpu_only"), sentences)


def _limits(first: Compared, second: Compared) -> list[str]:
    assert first.config is not None
    assert second.config is not None
    found = []
    live = [_number(config, _LIVE, 1e9) for config in (first.config, second.config)]
    if live[0] != live[1]:
        found.append(
            words(
                "report_page",
                "live_parameters",
                before=_count(live[0]),
                after=_count(live[1]),
                bytes_before=beside(live[0] * _BYTES, live[1] * _BYTES),
                bytes_after=gib(live[1] * _BYTES),
            )
        )
    reuse = [_number(config, _REUSE, 1e9) for config in (first.config, second.config)]
    if reuse[0] != reuse[1]:
        found.append(words("report_page", "reuse_distance", before=_count(reuse[0]), after=_count(reuse[1])))
    return found


def _moved(what: str, first: Compared, second: Compared, bytes_: Sequence[int | None]) -> str:
    before, after = (one or 0 for one in bytes_)
    told = words("report_page", what)
    sign = "+" if after >= before else "−"
    change = f"{sign}{gib(abs(after - before), 2)}"
    return words(
        "report_page",
        "moved" if _differ(bytes_) else "moved_little",
        what=told,
        before=gib(before, 2),
        first=first.name,
        after=gib(after, 2),
        second=second.name,
        change=change,
    )


def _differ(bytes_: Sequence[int | None]) -> bool | None:
    before, after = bytes_
    return None if before is None or after is None else abs(after - before) > _SAME * max(before, after, 1)


def _count(value: float) -> str:
    """As it is usually written in a config: 1e9."""
    return f"{value:g}".replace("e+0", "e").replace("e+", "e")


def _fullest(figures: Figures) -> int | None:
    return max(figures.gpu_peak_bytes.values(), default=None)


def _number(config: Document, pointer: str, default: float) -> float:
    node = config.node(pointer)
    value = node.value if node else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
