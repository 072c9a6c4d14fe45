"""What several ranks print of one step, where no line says whose it is."""

from collections.abc import Iterable
from typing import Any

from dsgui.core.metrics.points import OUTPUT, Point
from dsgui.core.metrics.the_loss import is_loss

_KINDS = ("train", "eval")
_PROOF = 3  # steps, of each of which there were as many lines as there are ranks
_OPEN = 2  # steps: a rank may be at the next one while another's line of this one comes
_MOST_SHAPES = 16  # of lines, told apart by the names of their values

_Place = tuple[int, float]


class SeveralRanks:
    """Takes points in the order of their lines. DeepSpeed's launcher puts no rank before a line. Ranks that train
    together are at the same step: where each step comes as often as there are ranks, the first line of it is a point,
    and the others would be a zigzag on its curve. Until a few steps have shown that all points are kept, and from the
    first on that came more or less often: what one rank prints must not be lost."""

    def __init__(self) -> None:
        self.mixed = False  # whether a point was left out
        self._rounds: dict[tuple[Any, ...], _Rounds] = {}

    def first_of_each(self, points: Iterable[Point], ranks: int) -> list[Point]:
        """Without what is another rank's of the same step."""
        return [one for one in points if not self._is_another(one, ranks)]

    def _is_another(self, point: Point, ranks: int) -> bool:
        step, epoch, values, kind, rank, source = point
        if step is None or rank is not None or source != OUTPUT or kind not in _KINDS or not any(map(is_loss, values)):
            return False
        shape = kind, *values
        if (rounds := self._rounds.get(shape)) is None:
            if len(self._rounds) >= _MOST_SHAPES:
                return False
            rounds = self._rounds[shape] = _Rounds()
        is_another = rounds.repeats((step, -1.0 if epoch is None else epoch), ranks)
        self.mixed = self.mixed or is_another
        return is_another


class _Rounds:
    """How often each step came, of lines of one shape."""

    def __init__(self) -> None:
        self._proven = 0
        self._broken = False
        self._open: dict[_Place, int] = {}
        self._last: _Place | None = None  # that was whole

    def repeats(self, place: _Place, ranks: int) -> bool:
        """Whether it is another line of a step that has one, after it is proven that each has one for each rank."""
        if self._broken:
            return False
        before = self._open.get(place, 0)
        if not before and (len(self._open) >= _OPEN or place == self._last or self._goes_back(place)):
            self._broken = True
            return False
        is_proven = self._proven >= _PROOF
        self._open[place] = before + 1
        if before + 1 == ranks:
            if next(iter(self._open)) != place:  # the one before it will not be whole
                self._broken = True
            del self._open[place]
            self._proven, self._last = self._proven + 1, place
        return bool(before) and is_proven

    def _goes_back(self, place: _Place) -> bool:
        """Where a step is not whole: an epoch may begin its steps anew after whole ones only."""
        known = max(self._open, default=None) or (self._last if self._proven < _PROOF else None)
        return known is not None and place < known
