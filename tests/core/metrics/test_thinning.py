"""Fewer points that show the same: extremes stay, nothing is invented, and what is sent can be read back."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.thinning import Curve, thin, to_json
from tests.support.curves_json import logged

VALUES = st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=400)


def curve(values: list[float], name: str = "loss", kind: str = "train", steps: list[float] | None = None) -> Curve:
    steps = [float(step) for step in range(len(values))] if steps is None else steps
    x = np.array(steps)
    return Curve(Series(name, kind), x, x / 10, x / 2, np.array(values, dtype=float))


@given(VALUES, st.integers(1, 50))
@example([1.0, 2.0, 3.0], 2)
@example([1.0, math.inf, 4.0], 1)
def test_the_lowest_and_the_highest_of_each_bucket_stay_where_they_were(values: list[float], most: int) -> None:
    thinned = thin(np.array(values), most)
    assert len(thinned.mean) <= most
    for number in range(len(thinned.mean)):
        part = values[number * thinned.size : (number + 1) * thinned.size]
        finite = [value for value in part if math.isfinite(value)]
        places = thinned.places[2 * number : 2 * number + 2]
        assert all(number * thinned.size <= place < number * thinned.size + len(part) for place in places)
        assert places[0] <= places[1]
        if finite:
            assert {values[place] for place in places} == {min(finite), max(finite)}
            near = 1e-12 * max(map(abs, finite))
            assert math.isclose(thinned.mean[number], math.fsum(finite) / len(finite), rel_tol=1e-12, abs_tol=near)
    assert thinned.odd.tolist() == [place for place, value in enumerate(values) if not math.isfinite(value)]


@given(VALUES)
def test_a_short_curve_is_sent_as_it_is(values: list[float]) -> None:
    answer = to_json([("0", curve(values))], 400) | {"series": {"0": Series("loss").to_json()}}
    points = logged(answer)
    assert [point["step"] for point in points] == list(range(len(values)))
    for point, value in zip(points, values, strict=True):
        short = float(f"{value:.6g}")
        # What is larger or smaller than any loss may differ by the last bit of a float.
        same = math.isclose(point["values"]["loss"], short, rel_tol=1e-15 if 1e-15 < abs(value) < 1e20 else 1e-5)
        assert same or math.isnan(value) or abs(value) < 1e-30


def test_curves_of_the_same_lines_share_their_steps() -> None:
    answer = to_json([("0", curve([1.0, 2.0])), ("1", curve([3.0, 4.0], "grad_norm")), ("2", curve([5.0]))], 10)
    assert [one["x"] for one in answer["y"]] == [0, 0, 1]


def test_steps_that_are_not_known_are_gaps_and_no_zeros() -> None:
    answer = to_json([("0", curve([1.0, 2.0], steps=[math.nan, 7.0]))], 10)
    assert answer["x"][0]["step"] == {"v": [None, 7]}
    assert to_json([("0", curve([1.0], steps=[math.nan]))], 10)["x"][0] == {"step": None, "time": None, "epoch": None}


@pytest.mark.parametrize("absurd", [1e30, -1e30, 1e308, 2.0**63])
def test_an_absurd_epoch_is_sent_beside_the_others(absurd: float) -> None:
    epoch, ones = np.array([1.0, 2.0, 3.0, absurd]), np.ones(4)
    (x,) = to_json([("0", Curve(Series("loss"), ones, epoch, epoch, ones))], 10)["x"]
    for axis in ("epoch", "time"):
        assert json.loads(json.dumps(x[axis], allow_nan=False)) == {"v": [1, 2, 3, absurd]}


def test_one_step_spikes_and_nan_of_a_million_are_sent() -> None:
    values = np.ones(1_000_000)
    spikes = list(range(25_000, 1_000_000, 50_000))
    values[spikes] = 9.0
    values[123_456] = math.nan
    steps = np.arange(1_000_000.0)
    (one,) = to_json([("0", Curve(Series("loss"), steps, steps, steps, values))], 1000)["y"]
    assert one["v"].count(9) == len(spikes)
    assert (one["size"], one["count"], len(one["v"]), len(one["mean"])) == (1000, 1_000_000, 2000, 1000)
    assert one["odd"]["v"] == ["NaN"]


def test_a_part_is_cut_with_a_point_more_on_either_side() -> None:
    part = curve([float(place) for place in range(100)]).between("step", 10.5, 20.5)
    assert part.value.tolist() == [float(place) for place in range(10, 22)]
    assert len(curve([1.0, 2.0]).between("time", 50, 60)) == 0
