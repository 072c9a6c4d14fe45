"""Whether what a training of others tells now goes on from what it told before: then its readers go on, too."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.curves import RECORD

_ROW = np.dtype([("number", "<u4"), ("rest", "V12"), ("time", "<f8"), ("value", "V8")])
assert _ROW.itemsize == RECORD.size
_FEW, _SHARE = 200, 4  # of so many points, or of that part of them, the time may be told later


class Continued(NamedTuple):
    """All records, those from before first; when `late` of these were logged is known by now, or is no more."""

    records: bytes
    late: int


def continued(before: bytes, now: bytes) -> Continued | None:
    """None where a curve does not begin with what it was, where its times are others, or too many are known by now."""
    then, told = _rows(before), _rows(now)
    if len(told) < len(then):
        return None
    if not _same_but_time(then, told[: len(then)]):
        ordered = _in_order(then, told)
        if ordered is None or not _same_but_time(then, ordered[: len(then)]):
            return None
        told = ordered
    late = _late(then["time"], told["time"][: len(then)])
    if late is None or late > max(_FEW, len(then) // _SHARE):
        return None
    return Continued(before + told[len(then) :].tobytes(), late)


def _rows(records: bytes) -> NDArray[np.void]:
    return np.frombuffer(records, _ROW, len(records) // _ROW.itemsize)


def _late(then: NDArray[np.float64], now: NDArray[np.float64]) -> int | None:
    """How many times were not known where they are, or the other way round; None where some were others."""
    known = ~np.isnan(then), ~np.isnan(now)
    both = known[0] & known[1]
    return int((known[0] != known[1]).sum()) if bool((then[both] == now[both]).all()) else None


def _same_but_time(one: NDArray[np.void], other: NDArray[np.void]) -> bool:
    return all(bool((one[name] == other[name]).all()) for name in ("number", "rest", "value"))


def _in_order(then: NDArray[np.void], told: NDArray[np.void]) -> NDArray[np.void] | None:
    """What was told, each curve in its own order: as many of each as were known before, in the order of then, and the
    rest. Files that grow side by side are read one after the other."""
    by_curve = np.argsort(told["number"], kind="stable")
    begins = np.searchsorted(told["number"][by_curve], then["number"])
    places = begins + _count_within(then["number"])
    if len(places) and places.max() >= len(told):
        return None
    known = by_curve[places]
    if len(np.unique(known)) < len(known):
        return None
    rest = np.ones(len(told), bool)
    rest[known] = False
    return np.concatenate([told[known], told[rest]])


def _count_within(numbers: NDArray[np.uint32]) -> NDArray[np.intp]:
    """For each, how many of the same came before it."""
    order = np.argsort(numbers, kind="stable")
    counted = np.empty(len(numbers), np.intp)
    counted[order] = np.arange(len(numbers)) - np.searchsorted(numbers[order], numbers[order])
    return counted
