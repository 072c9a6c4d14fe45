"""The charts and the curves they show: one table for the page (as `ui/static/texts/catalogue.js`) and for reports. A
curve that is not in it gets a chart of its own on the page."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.the_loss import is_loss
from dsgui.core.sizes import GIB, MIB
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import listed, words

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")  # Okabe and Ito
# On a dark ground the darkest gives way to a lighter blue, which no other line then has.
ON_DARK = {"#0072B2": "#5AA9E6", "#56B4E9": "#A6DAF7"}
DASHES = ("solid", "dash", "dot", "dashdot")  # as plotly calls them; a report has one more
_BLUE, _ORANGE, _, _PINK, _, _, _GREY = COLOURS
LOSS, EVALUATION, THROUGHPUT = "loss", "evaluation", "throughput"
MOST_SCORES = 12  # that have a chart each; the page folds the others
# In a name: what it took.
EVALUATION_COSTS = ("runtime", "per_second", "gen_len", "num_tokens", "preparation_time", "_mem_")
EVALUATION_COUNTS = "_samples"  # at a name's end
CARD = re.compile(r"gpu(\d+)\.(\w+)\Z")


@dataclass(frozen=True, slots=True)
class ChartOf:
    """A chart: `code` has its title among the texts of the charts; `y`: what the vertical axis shows, a text's code or
    a unit. Values are in `unit`, in multiples of `scale`; whether it begins at zero, and whether the page collapses it
    with the other system metrics."""

    code: str
    y: str
    unit: str = ""
    scale: int = 1
    zero: bool = False
    more: bool = False

    @property
    def title(self) -> str:
        return words("charts_page", self.code)

    @property
    def label(self) -> str:
        """Of the vertical axis."""
        return told(self.y)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a curve is drawn: its chart; `note`: the code of what it is there; `right`: on an axis of its own, in this
    unit or what the text of this code says.
    `alone`: only if a single run is shown; `unless`: of several runs only if this one has no reading of that name
    either; `if_any`: only if one of its values is above zero."""

    chart: str
    note: str = ""
    right: str = ""
    dash: str = ""
    colour: str = ""
    alone: bool = False
    unless: str = ""
    if_any: bool = False


def told(one: str) -> str:
    """The text of a code; a unit is its own."""
    return words("charts_page", one) if one in TEXTS["charts_page"] else one


# In the order in which they stand.
CHARTS: Mapping[str, ChartOf] = MappingProxyType(
    {
        LOSS: ChartOf(LOSS, "y_loss"),
        "gpu_memory": ChartOf("gpu_memory", "GiB", "GiB", GIB, zero=True),
        "host_memory": ChartOf("host_memory", "GiB", "GiB", GIB, zero=True),
        "learning_rate": ChartOf("learning_rate", "y_learning_rate"),
        "grad_norm": ChartOf("grad_norm", "y_grad_norm"),
        "gpu_utilization": ChartOf("gpu_utilization", "%", "%", zero=True),
        EVALUATION: ChartOf(EVALUATION, ""),  # one for each score, by its name: an accuracy is flat beside a perplexity
        THROUGHPUT: ChartOf(THROUGHPUT, "samples/s"),
        "loss_scale": ChartOf("loss_scale", "y_loss_scale"),
        "step_times": ChartOf("step_times", "ms"),
        "memory_logged": ChartOf("memory_logged", "GB"),
        "cpu": ChartOf("cpu", "%", "%", zero=True, more=True),
        "gpu_power": ChartOf("gpu_power", "W", "W", zero=True, more=True),
        "gpu_temperature": ChartOf("gpu_temperature", "°C", "°C", more=True),
        "gpu_clocks": ChartOf("gpu_clocks", "MHz", "MHz", more=True),
        "pcie": ChartOf("pcie", "MiB/s", "MiB/s", MIB, zero=True, more=True),
        "free_disk": ChartOf("free_disk", "GB", "GB", 10**9, zero=True, more=True),
    }
)
LOGGED: Mapping[str, Place] = MappingProxyType(
    {
        "learning_rate": Place("learning_rate"),
        "grad_norm": Place("grad_norm"),
        "loss_scale": Place("loss_scale"),
        "skipped_steps": Place("loss_scale", right="y_skipped"),
        "samples_per_second": Place(THROUGHPUT),
        "tokens_per_second": Place(THROUGHPUT, right="tokens/s"),
    }
)
# By a name's end.
ENDINGS: Mapping[str, Place] = MappingProxyType({"_ms": Place("step_times"), "_gb": Place("memory_logged")})
# Of the machine; gpu.… stands for each card.
READINGS: Mapping[str, Place] = MappingProxyType(
    {
        "gpu.used_bytes": Place("gpu_memory", unless="run_bytes"),
        "gpu.run_bytes": Place("gpu_memory", "note_run", dash="dot"),
        "host_used_bytes": Place("host_memory", "note_host", colour=_GREY),
        "run_bytes": Place("host_memory", "note_run", colour=_ORANGE),
        "swap_used_bytes": Place("host_memory", "note_swap", colour=_PINK, if_any=True),
        "gpu.utilisation_percent": Place("gpu_utilization"),
        "cpu_percent": Place("cpu", "note_cores"),
        "run_cpu_percent": Place("cpu", "note_run", colour=_ORANGE, alone=True),
        "gpu.power_w": Place("gpu_power"),
        "gpu.temperature_c": Place("gpu_temperature"),
        "gpu.sm_clock_mhz": Place("gpu_clocks"),
        "gpu.pcie_rx_bytes_s": Place("pcie", "note_received"),
        "gpu.pcie_tx_bytes_s": Place("pcie", "note_sent", dash="dot"),
        "disk_free_bytes": Place("free_disk", "note_disk"),
    }
)
# What their lines are called: the code of a text.
LOSSES: Mapping[str, str] = MappingProxyType({"loss": "line_train", "eval_loss": "line_eval"})


def place_of(series: Series) -> Place | None:
    """As `ui/static/metrics/charts.js` decides; None if no chart of the table shows it."""
    name, kind = series.name, series.kind
    if kind == "sample":
        card = CARD.match(name)
        return READINGS.get(f"gpu.{card[2]}" if card else name)
    if kind == "final" or (kind == "eval" and _is_cost(name)):
        return None
    if is_loss(name):
        return Place(LOSS)
    ending = next((place for end, place in ENDINGS.items() if name.endswith(end)), None)
    return LOGGED.get(name) or ending or (Place(EVALUATION) if kind == "eval" else None)


def name_of(series: Series, place: Place) -> str:
    """What its line is called."""
    if series.kind == "sample":
        card = CARD.match(series.name)
        note = told(place.note)
        named = str(listed(filter(None, (f"GPU {card[1]}", note)))) if card else note or series.name
        return f"{series.node}: {named}" if series.node else named
    rank = f" (rank {series.rank})" if series.rank else ""
    if place.chart == LOSS:
        return f"{told(LOSSES.get(series.name, series.name))}{rank}"
    return f"{score_of(series.name)}{rank}"


def score_of(name: str) -> str:
    """What the chart of an evaluation's score is called after."""
    return name.removeprefix("eval_").replace("_", " ")


def table_json() -> dict[str, Any]:
    """All of it, for the browser."""
    return {
        "colours": COLOURS,
        "onDark": ON_DARK,
        "dashes": DASHES,
        "charts": {id: _told(chart) | {"y": chart.y} for id, chart in CHARTS.items()},
        "logged": {name: _told(place) for name, place in LOGGED.items()},
        "endings": {end: _told(place) for end, place in ENDINGS.items()},
        "readings": {name: _told(place) for name, place in READINGS.items()},
        "losses": dict(LOSSES),
        "evaluationCosts": EVALUATION_COSTS,
        "evaluationCounts": EVALUATION_COUNTS,
        "mostScores": MOST_SCORES,
    }


def _told(one: ChartOf | Place) -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if value}


def _is_cost(name: str) -> bool:
    return name.endswith(EVALUATION_COUNTS) or any(part in name for part in EVALUATION_COSTS)
