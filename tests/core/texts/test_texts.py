"""Texts are looked up by code, and the browser has the same ones."""

import re
from string import Formatter

import pytest

from dsgui.core.launch.state import RunState
from dsgui.core.logs.phases import COMPILING, PREPARATIONS, SLURM_QUEUE, STARTING
from dsgui.core.metrics.chart_table import CHARTS, ENDINGS, LOGGED, READINGS, name_of, place_of
from dsgui.core.metrics.curves import Series
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import said
from scripts.browser_catalogue import PAGE, catalogue

CODE = re.compile(r"[a-z][a-z0-9_]*\Z")


def test_the_browser_has_the_same_texts_and_charts() -> None:
    assert PAGE.read_text("utf-8") == catalogue(), "make docs writes it"


def test_codes_are_codes_and_places_have_names() -> None:
    for kind, texts in TEXTS.items():
        assert all(CODE.match(code) for code in (kind, *texts))
        places = [name for text in texts.values() for _, name, _, _ in Formatter().parse(text) if name is not None]
        assert all(CODE.match(name) for name in places)


def test_every_state_and_phase_has_its_text() -> None:
    assert set(TEXTS["states"]) == {state.value for state in RunState}
    assert set(TEXTS["phases"]) == {STARTING, COMPILING, SLURM_QUEUE, "training", "evaluating"} | PREPARATIONS


def test_a_text_that_is_not_there_or_lacks_a_word_is_noticed_where_it_is_said() -> None:
    assert str(said("alerts", "nan", name="loss")) == "loss is NaN."
    for wrong in (lambda: said("alerts", "none"), lambda: said("alerts", "nan")):
        with pytest.raises(KeyError):
            wrong()


def test_every_curve_of_the_table_has_its_chart() -> None:
    places = (*LOGGED.values(), *ENDINGS.values(), *READINGS.values())
    assert {place.chart for place in places} <= set(CHARTS)


@pytest.mark.parametrize(
    ("series", "chart", "name"),
    [
        (Series("lm_loss", rank=3), "loss", "lm_loss (rank 3)"),
        (Series("eval_loss", "eval"), "loss", "eval"),
        (Series("eval_exact_match", "eval"), "evaluation", "exact match"),
        (Series("eval_runtime", "eval"), None, ""),
        (Series("train_runtime", "final"), None, ""),
        (Series("fwd_ms"), "step_times", "fwd ms"),
        (Series("gpu1.run_bytes", "sample", node="b"), "gpu_memory", "b: GPU 1, this run"),
        (Series("host_used_bytes", "sample"), "host_memory", "host, all processes"),
        (Series("gpu0.total_bytes", "sample"), None, ""),
        (Series("lossless"), None, ""),
    ],
)
def test_a_curve_is_drawn_where_the_page_draws_it(series: Series, chart: str | None, name: str) -> None:
    """As tests/js/charts.test.js has it."""
    place = place_of(series)
    assert (place and place.chart) == chart
    assert place is None or name_of(series, place) == name
