"""The list of runs in any order, and what the words of a search find."""

from dataclasses import replace

from dsgui.core.launch.state import RunState
from dsgui.core.runs.listing import SORTS, fits, ordered, ordered_by, searched_text
from dsgui.core.runs.news import Change, RunSummary
from tests.support.cases import each_case


def run(name: str, **told: object) -> RunSummary:
    made = RunSummary(name, name, RunState.SUCCEEDED, 0.0, 1.0, 10, 10, 0.5, "")
    return replace(made, **told)  # type: ignore[arg-type]


def names(runs: list[RunSummary]) -> list[str]:
    return [one.name for one in runs]


def test_what_has_no_value_comes_last_either_way() -> None:
    runs = [run("none", loss=None), run("nan", loss="NaN"), run("high", loss=2.0), run("low", loss=0.1)]
    assert names(ordered(runs, "final_loss", False)) == ["low", "high", "none", "nan"]
    assert names(ordered(runs, "final_loss", True)) == ["high", "low", "none", "nan"]


def test_runs_that_are_equal_stay_as_they_were_launched() -> None:
    runs = [run("c"), run("a"), run("b", steps_per_second=2.0)]
    assert names(ordered(runs, "speed", True)) == ["b", "c", "a"]
    assert names(ordered(runs, "duration", True)) == ["c", "a", "b"]


def test_dates_are_compared_as_they_are_shown() -> None:
    """One that could not be started has the date of its id; a training of others may have none."""
    runs = [
        run("first", started_at=1_735_700_000.0),
        run("20250110-000000-0000", started_at=None, state=RunState.FAILED),
        run("20250111-000000-0000", started_at=None, state=RunState.ELSEWHERE),
        run("last", started_at=1_795_700_000.0),
    ]
    assert [one.name[:8] for one in ordered(runs, "date", True)] == ["last", "20250110", "first", "20250111"]


def test_an_option_without_a_value_is_apart_from_one_that_is_not_set() -> None:
    runs = [run("unset"), run("set"), run("word"), run("number")]
    values = {"set": "", "word": "x", "number": "2"}
    assert names(ordered_by(runs, values, False)) == ["number", "set", "word", "unset"]


@each_case("sort", SORTS)
def test_every_column_takes_runs_that_tell_nothing(sort: str) -> None:
    bare = RunSummary("x", "x", RunState.PENDING, None, None, None, None, None, "")
    assert len(ordered([bare, run("full", tags=("a",), note="n", peak={"gpu_bytes": 1}), bare], sort, True)) == 3


@each_case(
    ("words", "found"),
    [
        ("tag:lora", True),
        ("tag:full", False),
        ("state:succeeded", True),
        ("state:fail", False),
        ("learning_rate", True),
        ("1e-3", True),
        ("note:best", True),
        ("tag:best", False),
        ("tag:", False),
        ("http://x", False),
    ],
)
def test_a_word_may_name_the_part_it_looks_at(words: str, found: bool) -> None:
    change = Change("arguments", "--learning_rate", "3e-3", "1e-3")
    one = run("t5", tags=("LoRA",), note="the Best so far", differs=(change,))
    assert fits(one, searched_text(one), words.split()) is found
