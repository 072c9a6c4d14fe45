"""Prefixes of a line: the host, torchrun's rank, a logger's time, level and location; and what several ranks print of
one step, where no line says whose it is."""

import re
from collections import deque
from collections.abc import Iterable
from typing import Any

from dsgui.core.logs.numerals import is_loss
from dsgui.core.metrics.points import OUTPUT, Point

_KINDS = ("train", "eval")
_ROUNDS = 2  # of lines of all ranks: so far apart are those of one step

_HOST = re.compile(r"(?P<host>[A-Za-z0-9][\w.-]*): +(?=\S)")
_NO_HOST = re.compile(
    r"(?:steps?|global_steps?|iter(?:ation)?|epoch|batch|train(?:ing)?|eval(?:uation)?|val(?:id(?:ation)?)?|test|note|hint|"
    r"tip|info|default|usage|example|expected|config|args|options?|params?|\w*loss|\w*error|\w*warning|\w*exception|"
    r"critical|fatal|debug|lr|accuracy|acc|ppl)\Z",
    re.IGNORECASE,
)
_TORCHRUN = re.compile(r"\[(?:rank|default)(\d{1,9})\]:(?!\[) ?")
_LOGGER = re.compile(
    r"""\s*
    (?:\[(?P<level1>[A-Z]+)\|[^\]]{1,80}\]\s*)?                                    # transformers: [INFO|trainer.py:1]
    (?:\[[\w.-]{1,40}\][ ](?=\d{4}-))?                                              # torchtitan: [titan] 2026-01-01
    (?:\[?\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]?
      |\[?\d\d[/-]\d\d[/-]\d{2,4}[ ]\d\d:\d\d:\d\d[\d.,]*\]?|\[?\d\d:\d\d:\d\d[\d.,]*\]?(?=[ ]))?
    [ |>-]*
    (?:\[?(?P<level2>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b(?:\]|:(?![ ]))?)?
    [ |:>-]*
    (?:\[[\w./<>-]+:\d+(?::[\w<>.]+)?\]|[\w.]+:[\w<>.]+:\d+\b|[\w./]+\.py:\d+\b|(?<=-[ ])[\w.]+(?=[ ]-[ ])
      |__main__|(?<=[A-Z]:)[\w.]+(?=:))?
    [ |:>-]*
    (?:(?P<level3>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)[ ]-[ ])?""",
    re.VERBOSE,
)
_RANK = re.compile(r"\[?\brank\s*+[\[:=]?\s*+(\d{1,9})\b\]?:?", re.IGNORECASE)


def launcher_prefix(text: str) -> tuple[int | None, str]:
    """The rank and the rest of the line, without the host that pdsh adds and the rank that torchrun adds."""
    host = _HOST.match(text)
    if host and not _NO_HOST.match(host["host"]):
        text = text[host.end() :]
    match = _TORCHRUN.match(text)
    return (int(match[1]), text[match.end() :]) if match else (None, text)


def logger_prefix(text: str) -> tuple[str, str]:
    """The level ("" if there is none) and the message of a logger's line."""
    match = _LOGGER.match(text)
    if not match:
        return "", text
    return match["level1"] or match["level2"] or match["level3"] or "", text[match.end() :]


def rank_in(text: str) -> tuple[int | None, str]:
    """The rank that a line names (`[Rank 0]`, `Rank[1]:`, `rank=2`), and the line without it."""
    match = _RANK.search(text)
    return (int(match[1]), text[: match.start()] + text[match.end() :]) if match else (None, text)


class SeveralRanks:
    """Takes points in the order of their lines. DeepSpeed's launcher puts no rank before a line. Ranks that train
    together are at the same step, so the lines of one step follow each other: the first of them is a point, the others
    are the same step of another rank, and would be a zigzag on its curve."""

    def __init__(self) -> None:
        self.mixed = False  # whether there was another rank's
        self._last: deque[tuple[Any, ...]] = deque()

    def first_of_each(self, points: Iterable[Point], ranks: int) -> list[Point]:
        """Without what is another rank's of the same step."""
        return [one for one in points if not self._is_another(one, ranks)]

    def _is_another(self, point: Point, ranks: int) -> bool:
        step, epoch, values, kind, rank, source = point
        if rank is not None or source != OUTPUT or kind not in _KINDS or (step is None and epoch is None):
            return False
        if not any(map(is_loss, values)):
            return False
        place = kind, step, epoch, *values
        before = self._last.count(place)
        self._last.append(place)
        while len(self._last) > _ROUNDS * ranks:
            self._last.popleft()
        is_another = 0 < before < ranks
        self.mixed = self.mixed or is_another
        return is_another
