"""Which values of a loss are spikes."""

import math

import numpy as np
import pytest

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.spikes import spikes
from dsgui.core.metrics.thinning import Curve

STEPS = 300


def noisy(noise=0.05):
    """A loss that falls from 2.3 to 0.4, with noise."""
    step = np.arange(1, STEPS + 1)
    return 2 * np.exp(-3 * step / STEPS) + 0.3 + np.random.default_rng(3).uniform(-noise, noise, STEPS)


def curve(value, step=None):
    value = np.array(value, dtype=float)
    step = np.arange(1.0, len(value) + 1) if step is None else np.array(step, dtype=float)
    return Curve(Series("loss"), step, np.full(len(value), math.nan), step.copy(), value)


def raised(by, *places):
    value = noisy()
    for place in places:
        value[place - 1] += by
    return curve(value)


def test_a_value_far_above_those_around_it_is_a_spike():
    found = spikes(raised(4, 120))
    assert (found.step, found.count) == (120, 1)
    assert found.value > 4 > found.usual


def test_of_several_spikes_the_highest_is_told_and_how_many_there_are():
    found = spikes(raised(3, 60, 61, 200, 250))
    assert (found.step in (60, 61, 200, 250), found.count) == (True, 3)


@pytest.mark.parametrize("steps", [300, 3000, 30_000])
@pytest.mark.parametrize("scale", [0.15, 0.5, 1.0])
def test_however_long_a_run_is_its_own_skewed_noise_is_none(steps, scale):
    random = np.random.default_rng(1)
    for _ in range(20):
        assert spikes(curve(1 + random.exponential(scale, steps))) is None
        assert spikes(curve(0.5 + np.abs(random.normal(0, scale, steps)))) is None


def test_a_loss_that_doubles_once_is_mostly_told_where_its_noise_is_ten_per_cent_and_no_noise_is():
    found, false = 0, 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        value = (2 * np.exp(-np.arange(600) / 150) + 0.35) * np.exp(0.1 * random.standard_normal(600))
        false += spikes(curve(value)) is not None
        at = int(random.integers(30, 570))
        value[at : at + 10] *= 1 + np.exp(-np.arange(10) / 3)
        found += (told := spikes(curve(value))) is not None and abs(told.step - at - 1) < 10
    assert false == 0
    assert found > 75  # it was 24 before the noise was measured that far out


@pytest.mark.parametrize("steps", [300, 3000])
@pytest.mark.parametrize(("times", "noise"), [(2, 0.03), (3, 0.1), (10, 0.1)])
def test_a_loss_that_jumps_and_comes_back_slowly_has_one_spike(times, noise, steps):
    for seed in range(10):
        value = (2 * np.exp(-3 * np.arange(steps) / steps) + 1) * (
            1 + np.random.default_rng(seed).normal(0, noise, steps)
        )
        at = steps // 2
        value[at : at + 40] *= 1 + (times - 1) * np.exp(-np.arange(40) / 6)
        found = spikes(curve(value))
        assert found.count == 1
        assert at <= found.step - 1 < at + 4


def test_each_spike_is_counted_however_many_there_are():
    value = np.tile(noisy(), 80)
    value[50::40] = 9.0
    assert spikes(curve(value)).count == len(value[50::40])


def test_a_step_between_two_is_told_as_it_is():
    step = np.arange(1, STEPS + 1) + 0.5
    assert spikes(curve([*noisy()[:119], 5.0, *noisy()[120:]], step)).step == 120.5


@pytest.mark.parametrize("low", [1e308, -1e308])
def test_the_largest_numbers_have_spikes_as_others(low):
    found = spikes(curve([*[low] * 25, 1.7e308, *[low] * 25]))
    assert (found.value, found.usual) == (1.7e308, pytest.approx(low))


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
def test_noise_is_none(noise):
    assert spikes(curve(noisy(noise))) is None


def test_a_loss_that_jumps_from_batch_to_batch_has_hardly_any():
    jumping = noisy(0) * np.random.default_rng(5).lognormal(0, 0.4, STEPS)
    assert spikes(curve(jumping)) is None


@pytest.mark.parametrize(
    "value",
    [
        [*noisy()[:200], *np.full(100, 6.0)],  # it diverges
        [*noisy()[:299], 6.0],  # the last one: nobody knows whether it comes back
        [9.0, *noisy()],  # the first one: there is nothing before it
        [1.0, 5.0, 1.0],  # too few
        [],
    ],
)
def test_what_does_not_come_back_from_somewhere_is_none(value):
    assert spikes(curve(value)) is None


def test_what_is_no_number_or_has_no_step_is_left_out():
    value = noisy()
    value[119], value[150] = 5, math.nan
    assert spikes(curve(value)).step == 120
    assert spikes(curve(value, np.full(STEPS, math.nan))) is None


def test_a_loss_below_nought_has_spikes_too():
    assert spikes(curve(noisy() - 5 + 4 * (np.arange(STEPS) == 99))).step == 100
