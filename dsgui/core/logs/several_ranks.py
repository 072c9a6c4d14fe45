"""What several ranks print of one step, where no line says whose it is.

DeepSpeed's launcher puts no rank before a line. Ranks that train together are at the same step, so the lines of one
step follow each other: the first of them is a point, the others are the same step of another rank. On one curve they
would be a zigzag between ranks.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from dsgui.core.logs.numerals import is_loss
from dsgui.core.metrics.points import OUTPUT, Point

_KINDS = ("train", "eval")
_ROUNDS = 2  # of lines of all ranks: so far apart are those of one step


class SeveralRanks:
    """Takes points in the order of their lines."""

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
