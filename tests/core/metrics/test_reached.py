"""How far a training has come, as its points tell it."""

import math

from dsgui.core.metrics.points import Point
from dsgui.core.metrics.reached import Reached
from tests.support.cases import each_case


def reached(*points: tuple[float, Point]) -> dict[str, object]:
    found = Reached()
    for at, point in points:
        found.take(point, at)
    return found.to_json()


def test_the_step_is_known_without_a_bar() -> None:
    points = [(float(step), Point(step, None, {"loss": 3.0 - step % 2})) for step in range(1, 13)]
    assert reached(*points) == {
        "loss": 3.0,
        "best_loss": 2.0,
        "step": 12,
        "total": None,
        "eta_s": None,
        "steps_per_second": 1.0,
    }


def test_what_is_no_number_is_no_best_loss() -> None:
    found = reached((1, Point(1, None, {"loss": 2.0})), (2, Point(2, None, {"loss": math.nan})))
    assert (found["loss"], found["best_loss"]) == ("NaN", 2.0)


@each_case(
    ("names", "expected"),
    [
        (["lm_loss"], "lm_loss"),
        (["aux_loss", "train_loss", "loss_scale"], "train_loss"),
        (["lm_loss", "loss"], "loss"),
        (["actor_loss", "critic_loss"], None),  # neither is what the other counts into
        (["aux_loss"], None),  # stands beside one that is not logged
        (["z_loss", "nll_loss"], "nll_loss"),
        ([*(f"layer{number}_loss" for number in range(40)), "loss"], "loss"),
        (["loss_scale", "accuracy"], None),
    ],
)
def test_the_loss_is_found_under_the_name_that_its_script_gave_it(names: list[str], expected: str | None) -> None:
    points = [
        (at, Point(int(at), None, {name: place + 1 / at for place, name in enumerate(names)})) for at in (1.0, 2.0)
    ]
    found = reached(*points)
    value = None if expected is None else names.index(expected) + 0.5
    assert (found.get("loss"), found.get("best_loss")) == (value, value)


def test_the_speed_is_measured_from_where_the_count_began_again() -> None:
    points = [(1, Point(100, None, {})), (2, Point(200, None, {})), (10, Point(1, None, {})), (14, Point(3, None, {}))]
    assert reached(*points)["steps_per_second"] == 0.5


def test_others_than_the_first_ranks_training_are_not_counted() -> None:
    others = [Point(50, None, {"loss": 0.1}, "eval"), Point(50, None, {"loss": 0.1}, rank=1)]
    assert reached(*((1.0, point) for point in others)) == {}


def test_what_files_tell_counts_until_the_output_tells_of_training() -> None:
    files = [(float(step), Point(step, None, {"loss": 1.0 / step}, source="tensorboard")) for step in (5, 10)]
    assert reached(*files)["step"] == 10
    assert reached(*files)["best_loss"] == 0.1
    printed = (11.0, Point(2, None, {"loss": 3.0}))
    assert reached(*files, printed, *files) == {"loss": 3.0, "best_loss": 3.0, "step": 2, "total": None, "eta_s": None}


def test_over_a_moment_the_speed_is_what_the_training_says_of_it() -> None:
    final = Point(12, None, {"train_samples_per_second": 65.85, "train_steps_per_second": 65.85}, "final")
    quick = [(step / 100, Point(step, None, {"loss": 1.0})) for step in range(1, 13)]
    assert reached(*quick, (0.12, final))["steps_per_second"] == 65.85
    slow = [(float(step), Point(step, None, {"loss": 1.0})) for step in range(1, 13)]
    assert reached(*slow, (12.0, final))["steps_per_second"] == 1.0
    assert (
        reached((1.0, Point(1, None, {"steps_per_second": 1.5, "samples_per_second": 12.0})))["steps_per_second"] == 1.5
    )


def test_lines_without_a_time_do_not_undo_the_speed_of_those_that_have_one() -> None:
    points = [(float(step), Point(step, None, {"learning_rate": 1.0})) for step in (10, 20, 30)]
    found = reached(*points, (math.nan, Point(30, None, {"loss": 2.0})), (math.nan, Point(31, None, {"loss": 2.0})))
    assert (found["steps_per_second"], found["step"]) == (1.0, 31)
