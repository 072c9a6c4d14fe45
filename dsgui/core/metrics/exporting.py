"""Points and telemetry as CSV: one row per value, without thinning, for pandas, R or a spreadsheet."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.thinning import Floats

CSV_HEADER = "step,epoch,elapsed_s,kind,rank,source,node,name,value\r\n"
# What a spreadsheet takes for the beginning of a formula (OWASP, “CSV injection”).
_FORMULA = re.compile(r"[=+\-@\t\r]")
_ODD = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_QUOTED = re.compile(r'[",\r\n]')


@dataclass(frozen=True, slots=True)
class Block:
    """Some of a run's values, in the order in which they were stored: arrays of equal length. `number` is an index into
    `series`; `time` is seconds since the run began; a step or an epoch that is not known is NaN."""

    series: Sequence[Series]
    number: NDArray[np.intp]
    step: Floats
    epoch: Floats
    time: Floats
    value: Floats

    def of(self, wanted: Collection[Series]) -> "Block":
        """Only the values of some series."""
        places = [place for place, series in enumerate(self.series) if series in wanted]
        own = np.isin(self.number, places)
        return Block(self.series, self.number[own], self.step[own], self.epoch[own], self.time[own], self.value[own])


def csv_rows(block: Block) -> str:
    """The block's rows. A step or an epoch that is not known is empty; a value may be NaN, Infinity or -Infinity."""
    labels = [_label(series) for series in block.series]
    columns = (block.step.tolist(), block.epoch.tolist(), block.time.tolist(), block.number.tolist())
    return "".join(
        [
            f"{'' if step != step else int(step)},{'' if epoch != epoch else f'{epoch:.7g}'},"
            f"{'' if time != time else f'{time:.3f}'},{labels[number]},{value}\r\n"
            for step, epoch, time, number, value in zip(*columns, _spelt(block.value), strict=True)
        ]
    )


def _spelt(values: Floats) -> list[str]:
    """Each value with as many digits as it takes to read it back unchanged; NaN and infinities as the words that pandas
    and R read."""
    found = [repr(value) for value in values.tolist()]
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        found[place] = _ODD[found[place]]
    return found


def _label(series: Series) -> str:
    rank = "" if series.rank is None else str(series.rank)
    return ",".join((cell(series.kind), rank, cell(series.source), cell(series.node), cell(series.name)))


def cell(text: str) -> str:
    """A text as a cell that no spreadsheet interprets as a formula."""
    text = f"'{text}" if _FORMULA.match(text) else text
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
