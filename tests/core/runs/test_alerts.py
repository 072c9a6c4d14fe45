"""What needs a look: told once, and once more when it is over."""

import math

import pytest

from dsgui.core.logs.trainlog import Progress
from dsgui.core.metrics.points import OUTPUT, Event, Point
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.runs.alerts import Alerts
from dsgui.core.texts.saying import said

GIB = 1 << 30


def kinds(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.kind, event.subject) for event in events]


def loss(step: int, value: float, name: str = "loss", source: str = OUTPUT) -> list[Point]:
    return [Point(step, None, {name: value}, source=source)]


def test_a_loss_that_is_nan_is_told_once_and_again_when_it_is_a_number() -> None:
    alerts = Alerts()
    (told,) = alerts.points(loss(7, math.nan))
    assert told == Event.of("alert", said("alerts", "nan", name="loss"), 7, "loss 0")
    assert told.to_json() == {"kind": "alert", "text": "loss is NaN.", "step": 7, "subject": "loss 0"} | {
        "code": "nan",
        "given": {"name": "loss"},
    }
    assert alerts.points(loss(8, math.nan)) == []
    assert alerts.points(loss(9, 2.0)) == [Event.of("calm", said("alerts", "finite", name="loss"), 9, "loss 0")]
    assert kinds(alerts.points(loss(10, math.inf))) == [("alert", "loss 0")]


@pytest.mark.parametrize("name", ["lm_loss", "train_loss", "val_loss", "actor_loss"])
def test_a_loss_by_any_name_is_watched(name: str) -> None:
    alerts = Alerts()
    assert [event.text for event in alerts.points(loss(7, math.nan, name))] == [f"{name} is NaN."]
    assert kinds(alerts.points(loss(8, 2.0, name))) == [("calm", f"{name} 0")]
    assert alerts.points(loss(9, math.inf, "loss_scale")) == []


def test_the_parts_of_a_loss_are_not_told_beside_it() -> None:
    parts = {"ce_loss": math.nan, "aux_loss": math.nan, "loss": math.nan}
    assert kinds(Alerts().points([Point(1, None, parts)])) == [("alert", "loss 0")]
    apart = {"actor_loss": 1.0, "critic_loss": math.nan}  # none of the two is the one that is minimized
    assert kinds(Alerts().points([Point(1, None, apart)])) == [("alert", "critic_loss 0")]


def test_a_file_that_is_read_later_does_not_gainsay_the_output() -> None:
    alerts = Alerts()
    alerts.points(loss(7, math.nan))
    alerts.points(loss(9, 2.0))
    (told,) = alerts.points(loss(7, math.nan, source="tensorboard"))
    assert (told.subject, told.text) == ("loss 0 tensorboard", "loss is NaN (tensorboard).")
    assert alerts.points(loss(10, 2.0)) == []
    (calm,) = alerts.points(loss(9, 2.0, source="tensorboard"))
    assert (calm.kind, calm.subject) == ("calm", told.subject)


def test_an_infinite_gradient_norm_is_an_overflow_that_is_skipped() -> None:
    assert Alerts().points(loss(1, math.inf, "grad_norm")) == []
    alerts = Alerts()
    assert kinds(alerts.points(loss(1, math.nan, "grad_norm"))) == [("alert", "grad_norm 0")]
    assert alerts.points(loss(2, math.inf, "grad_norm")) == []


def sample(host: float, gpu: float | None) -> Sample:
    used = None if gpu is None else int(gpu * GIB)
    return Sample(0, int(host * GIB), 100 * GIB, None, None, (GpuSample(3, "a", used, None, 100 * GIB),))


def test_memory_near_its_limit_is_told_and_calms_down_only_well_below_it() -> None:
    alerts = Alerts()
    assert alerts.sample(sample(94.9, None)) == []
    (told,) = alerts.sample(sample(50, 95))
    assert (told.kind, told.text) == ("alert", "GPU 3: 95.0 of 100.0 GiB in use (95 %).")
    assert alerts.sample(sample(50, 94)) == []
    told, calm = alerts.sample(sample(96, 92))
    assert kinds([told, calm]) == [("alert", "memory"), ("calm", "memory gpu3")]
    assert calm.text == "GPU 3: back below its limit, 92.0 of 100.0 GiB in use (92 %)."


def test_what_is_told_of_another_machine_names_it() -> None:
    (told,) = Alerts("worker-1").sample(sample(96, None))
    assert told.subject == "worker-1 memory"
    assert told.text == "worker-1: Host memory: 96.0 of 100.0 GiB in use (96 %)."


def test_a_card_that_is_too_hot_is_told_and_an_ordinary_power_cap_is_not() -> None:
    def reading(throttle: int | None) -> Sample:
        return Sample(0, GIB, 100 * GIB, None, None, (GpuSample(0, "a", GIB, throttle=throttle),))

    alerts = Alerts()
    assert alerts.sample(reading(0x004 | 0x001)) == []
    (told,) = alerts.sample(reading(0x040 | 0x004))
    assert (told.kind, told.text) == ("alert", "GPU 0 is throttled: hot (slowed by hardware).")
    assert alerts.sample(reading(None)) == []
    (calm,) = alerts.sample(reading(0x001))
    assert (calm.kind, calm.subject, calm.text) == ("calm", "clocks gpu0", "GPU 0 is no longer throttled.")


def test_a_containers_limit_counts_before_the_machines_memory() -> None:
    given = Sample(0, 20 * GIB, 100 * GIB, None, None, limit_bytes=10 * GIB, limit_used_bytes=int(9.6 * GIB))
    assert kinds(Alerts().sample(given)) == [("alert", "memory limit")]


def steps(alerts: Alerts, count: int, each_s: float, begin: int = 0, now_s: float = 0.0) -> tuple[float, list[Event]]:
    found = []
    for step in range(begin + 1, begin + count + 1):
        now_s += each_s
        found += alerts.progress(Progress(step, 1000), True, now_s)
    return now_s, found


def test_no_step_for_ten_times_the_usual_is_a_stall_until_the_next() -> None:
    alerts = Alerts()
    now_s, found = steps(alerts, 20, 5.0)
    assert found == []
    assert alerts.progress(Progress(20, 1000), True, now_s + 49) == []
    (told,) = alerts.progress(Progress(20, 1000), True, now_s + 51)
    assert (told.kind, told.subject, told.text) == ("alert", "stall", "No step for 51 s; a step usually takes 5.0 s.")
    assert alerts.progress(Progress(20, 1000), True, now_s + 60) == []
    assert kinds(alerts.progress(Progress(21, 1000), True, now_s + 70)) == [("calm", "stall")]


def test_no_stall_while_it_evaluates_has_ended_or_is_quick() -> None:
    alerts = Alerts()
    now_s, _ = steps(alerts, 20, 1.0)
    assert alerts.progress(Progress(20, 1000), False, now_s + 500) == []
    assert alerts.progress(Progress(20, 1000), True, now_s + 20) == []  # 20 times the usual, and yet half a minute only
    over = Alerts()
    now_s, _ = steps(over, 1000, 1.0)
    assert over.progress(Progress(1000, 1000), True, now_s + 500) == []
    assert Alerts().progress(None, True, 1e9) == []


def test_half_the_usual_speed_is_told_and_taken_back() -> None:
    alerts = Alerts()
    now_s, found = steps(alerts, 400, 1.0)
    assert found == []
    now_s, found = steps(alerts, 40, 2.5, 400, now_s)
    assert kinds(found) == [("alert", "speed")]
    assert "0.4 steps/s in the last minute; 1 is usual." in found[0].text
    _, found = steps(alerts, 200, 1.0, 440, now_s)
    assert kinds(found) == [("calm", "speed")]
    assert found[0].text.endswith(" steps/s in the last minute, near the usual 1 again.")


def test_the_time_of_an_evaluation_is_neither_a_stall_nor_lost_speed() -> None:
    alerts = Alerts()
    now_s, found = 0.0, []
    for step in range(10, 6010, 10):  # 10 steps/s, looked at once a second
        now_s += 1
        found += alerts.progress(Progress(step, 99_999), True, now_s)
    for _ in range(180):
        now_s += 1
        found += alerts.progress(Progress(6000, 99_999), False, now_s)
    now_s += 1
    found += alerts.progress(Progress(6000, 99_999), True, now_s)
    for step in range(6010, 8010, 10):
        now_s += 1
        found += alerts.progress(Progress(step, 99_999), True, now_s)
    assert found == []
    assert kinds(alerts.progress(Progress(8000, 99_999), True, now_s + 31)) == [("alert", "stall")]
