"""`make gpu-memory`: what it makes of measurements; the measuring itself needs a card."""

import math

import pytest

from benchmarks.gpu_memory import Seen, every_case, lines_of, main, predicted, row_of, seen_of
from benchmarks.gpu_memory import constants_of as constants
from benchmarks.gpu_memory import share_of as share
from dsgui.core.memory.answer import Device, Moment
from dsgui.core.sizes import GIB, MIB

CASES = every_case()
SMALL = [case for case in CASES if case.model == "t5-small"]


def as_if(case, times=1.0, spare=0.05):
    """Measured, of a card that takes `times` what the formula says."""
    moments = {peak.moment: round(peak.count * times) for peak in predicted(case).of(Device.GPU)}
    reserved = round(max(moments.values()) * (1 + spare))
    return Seen(case, moments, reserved, reserved + 500 * MIB, GIB)


def rows_of(seen):
    calibrate = [one for one in seen if one.case.calibrates]
    return [row_of(one, constants(calibrate), share(calibrate)) for one in seen]


def test_half_of_the_cases_calibrate_and_every_one_has_a_prediction():
    assert sum(case.calibrates for case in CASES) == len(CASES) / 2 == 12
    assert all(predicted(case).worst(Device.GPU) for case in CASES)


def test_what_is_as_predicted_is_close_and_never_said_to_fit_wrongly():
    rows = rows_of([as_if(case) for case in SMALL])
    assert max(abs(row.off) for row in rows) < 0.02  # cuBLAS's workspace
    assert max(abs(row.tensors_off) for row in rows) < 1e-6
    assert not any(row.false_fit for row in rows)


def test_a_card_that_takes_more_than_predicted_shows_and_is_a_false_fit():
    seen = [as_if(case, 1.0 if case.calibrates else 1.4) for case in SMALL]
    text = "\n".join(lines_of(rows_of(seen), "a card"))
    assert "worst 28.6% of 6" in text
    assert f"a MiB too small: {sum(not case.calibrates for case in SMALL)} of {len(SMALL)}" in text


def test_a_training_without_finite_losses_shows_nothing():
    with pytest.raises(RuntimeError, match="nan"):
        seen_of(CASES[0], {"losses": [1.0, math.nan]})


def test_moments_are_those_of_the_last_step():
    each = {moment.value: {"allocated": 7, "anonymous": 2, "pinned": 1} for moment in Moment}
    told = {"losses": [1.0], "moments": each, "driver": 30, "reserved": 10, "most_reserved": 12}
    seen = seen_of(CASES[0], told)
    assert (seen.allocated, seen.driver, seen.host) == (7, 32, 3)


def test_without_a_gpu_it_says_that_nothing_was_measured(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.gpu_memory.name_of_card", lambda: "")
    monkeypatch.setattr("sys.argv", ["gpu_memory"])
    assert main() == 2
    assert "nothing was measured" in capsys.readouterr().err
