"""Points with their times, from files that may tell a part twice."""

import math

from dsgui.core.adopted.timed import furthest, lent, span, timed_points, without_repeated
from dsgui.core.metrics.event_file import Scalar
from dsgui.core.metrics.logged_files import Batch
from dsgui.core.metrics.points import Point


def losses(*steps: int, at: float = 1000.0, tag: str = "train/loss") -> list[Scalar]:
    return [Scalar(tag, step, step / 10, at + step) for step in steps]


def test_what_was_resumed_counts_from_where_it_goes_on():
    kept = without_repeated([losses(5, 10, 15, 20), losses(15, 20, 25, at=5000)])
    assert [(one.step, one.wall_time) for one in kept] == [(5, 1005), (10, 1010), (15, 5015), (20, 5020), (25, 5025)]


def test_an_evaluation_afterwards_takes_nothing_back():
    kept = without_repeated([losses(5, 10), losses(0, at=2000, tag="eval/loss")])
    assert [(one.tag, one.step) for one in kept] == [("train/loss", 5), ("train/loss", 10), ("eval/loss", 0)]


def test_scalars_of_a_step_become_one_point_with_the_epoch_and_the_time():
    scalars = [
        *losses(5),
        Scalar("train/epoch", 5, 0.5, 1005.2),
        Scalar("train/learning_rate", 5, 1e-3, 1005.1),
        Scalar("eval/loss", 5, 2.0, 1006.0),
    ]
    (train, at), (judged, _) = timed_points(scalars, Batch())
    assert (train.step, train.epoch, train.values, at) == (5, 0.5, {"loss": 0.5, "learning_rate": 1e-3}, 1005.0)
    assert (judged.kind, judged.values) == ("eval", {"eval_loss": 2.0})


def test_deepspeeds_samples_become_steps():
    scalars = losses(16, 32, 48, tag="Train/Samples/train_loss")
    assert [point.step for point, _ in timed_points(scalars, Batch())] == [1, 2, 3]
    assert [point.step for point, _ in timed_points(scalars, Batch(8))] == [2, 4, 6]


def test_a_date_that_is_none_is_no_time_and_a_step_that_is_none_no_step():
    told = timed_points([Scalar("loss", -3, 1.0, 0.0), Scalar("loss", 1 << 60, 1.0, math.inf)], Batch())
    assert [(point.step, math.isnan(at)) for point, at in told] == [(None, True), (None, True)]


def test_times_are_lent_by_step_and_span_what_is_known():
    events = list(timed_points(losses(5, 10), Batch()))
    points = [Point(5, None, {"loss": 1.0}), Point(7, None, {"loss": 1.0}), Point(10, None, {"x": 1.0}, "eval")]
    got = lent(points, events)
    assert [at for _, at in got][::2] == [1005.0, 1010.0]
    assert math.isnan(got[1].at)
    assert span(got) == (1005.0, 1010.0)
    assert span(lent(points, [])) is None
    assert furthest(got) == 7
