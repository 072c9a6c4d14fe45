"""Seconds a step, after the first."""

from dsgui.core.metrics.step_pace import StepPace


def paced(*told):
    pace = StepPace()
    for step, at_s in told:
        pace.take(step, at_s)
    return pace


def test_the_first_steps_do_not_count():
    assert paced((1, 60.0), (2, 90.0), (3, 95.0)).seconds is None
    pace = paced((1, 60.0), (2, 90.0), (3, 95.0), (4, 96.0), (5, 97.0), (6, 107.0))
    assert (pace.step, pace.seconds) == (6, 1.0)


def test_steps_that_are_told_at_once_share_the_time():
    assert paced((10, 100.0), (20, 105.0)).seconds == 0.5


def test_steps_that_are_read_together_are_none_of_the_pace():
    assert paced((3, 9.0), (4, 9.2), (5, 9.2), (6, 9.6), (7, 9.6), (8, 9.8)).seconds == 0.15
    assert paced(*((step, 9 + step // 4 * 0.1) for step in range(100))).seconds == 0.025


def test_a_step_told_again_is_none():
    assert paced((10, 100.0), (10, 150.0), (4, 160.0), (20, 105.0)).seconds == 0.5
