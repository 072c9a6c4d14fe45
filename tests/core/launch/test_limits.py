"""When a run has reached a limit of its plan."""

from dsgui.core.launch.limits import limit_reached, limit_told
from dsgui.core.launch.plan import RunSpec
from tests.support.cases import each_case


@each_case(
    ("limits", "step", "elapsed_s", "reached"),
    [
        ({}, 10**6, 1e9, ""),
        ({"stop_after_steps": 20}, None, 1e9, ""),
        ({"stop_after_steps": 20}, 19, 1e9, ""),
        ({"stop_after_steps": 20}, 20, 1.0, "20 steps"),
        ({"stop_after_steps": 20}, 27, 1.0, "20 steps"),
        ({"stop_after_minutes": 2}, None, 119.9, ""),
        ({"stop_after_minutes": 2}, None, 120.0, "2 minutes"),
        ({"stop_after_steps": 20, "stop_after_minutes": 2}, 3, 120.0, "2 minutes"),
    ],
)
def test_a_limit(limits, step, elapsed_s, reached):
    spec = RunSpec(script="train.py", ranks=1, target_python="python", **limits)
    assert str(limit_reached(spec, step, elapsed_s) or "") == reached


def test_how_far_a_run_came_that_was_stopped_at_a_limit_is_told_where_that_is_further():
    spec = RunSpec(script="train.py", ranks=1, target_python="python", stop_after_steps=20)
    limit = limit_reached(spec, 20, 1.0)
    assert [str(limit_told(limit, step)) for step in (20, 23, None)] == ["20 steps", "20 steps (step 23)", "20 steps"]
