"""Runs side by side: what explains their memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.compare import differences
from dsgui.core.config.document import Document
from dsgui.core.metrics.performance import Figures
from dsgui.core.sizes import gib, in_gib

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
    """For two runs: the tutorials' question about ZeRO-3, why GPU memory changed and host memory did not."""
    if len(runs) != 2 or runs[0].config is None or runs[1].config is None:
        return []
    changed = {found.pointer for found in differences(runs[0].config, runs[1].config)}
    return [_live_parameters(runs[0], runs[1])] if changed & {_LIVE, _REUSE} else []


def _live_parameters(first: Compared, second: Compared) -> Answer:
    gpus = [_fullest(run.figures) for run in (first, second)]
    hosts = [run.figures.run_peak_bytes for run in (first, second)]
    sentences = [
        _moved("GPU memory (peak of the fullest GPU)", first, second, gpus),
        _moved("Host memory of this run (peak)", first, second, hosts),
        *_limits(first, second),
        "Host memory holds what is offloaded: the partitions of parameters and optimizer state. Their size follows "
        "from the model and the number of ranks, and neither key changes it.",
    ]
    if _differ(hosts) is True:
        sentences.append("It did change here, so something else differs between the runs; see the keys and arguments.")
    return Answer("Why did GPU memory change but host memory not?", tuple(sentences))


def _limits(first: Compared, second: Compared) -> list[str]:
    assert first.config is not None
    assert second.config is not None
    found = []
    live = [_number(config, _LIVE, 1e9) for config in (first.config, second.config)]
    if live[0] != live[1]:
        found.append(
            f"stage3_max_live_parameters went from {_count(live[0])} to {_count(live[1])}: so many parameters may stay "
            "gathered on each GPU before ZeRO-3 releases them, which in 16 bits is up to "
            f"{in_gib(live[0] * _BYTES)} and {gib(live[1] * _BYTES)}. Once it is more than the model has, "
            "the whole model stays on the GPU during a step: memory is traded for fewer gathers."
        )
    reuse = [_number(config, _REUSE, 1e9) for config in (first.config, second.config)]
    if reuse[0] != reuse[1]:
        found.append(
            f"stage3_max_reuse_distance went from {_count(reuse[0])} to {_count(reuse[1])}: a parameter that is used "
            "again within so many others is kept instead of gathered anew."
        )
    return found


def _moved(what: str, first: Compared, second: Compared, bytes_: Sequence[int | None]) -> str:
    before, after = bytes_
    if before is None or after is None:
        return f"{what}: not measured in both runs."
    by = "" if _differ(bytes_) else ", about the same"
    sign = "+" if after >= before else "−"
    change = f"{sign}{gib(abs(after - before), 2)}{by}"
    return f"{what}: {gib(before, 2)} in “{first.name}”, {gib(after, 2)} in “{second.name}” ({change})."


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
