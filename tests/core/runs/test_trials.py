"""A trial: a request of its own, known again, and what it measured."""

from dataclasses import replace

import pytest

from dsgui.core.launch.plan import LaunchRequest, Plan, WhenBusy
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import RunSummary
from dsgui.core.runs.trials import MINUTES, STEPS, apart, as_json, circumstances, newest, trial_of

REQUEST = LaunchRequest(
    script="/w/train.py",
    arguments="--max_steps 500 --gradient_accumulation_steps 2 --output_dir /w/out",
    ranks=2,
    target_python="python",
    config_text="{}",
    environment={"A": "1"},
    notify="https://hooks.example/1",
    preset="zero2-hf",
)


def test_a_trial_is_the_same_run_with_another_config_and_an_end():
    added = ("--gradient_accumulation_steps", "4", "--gradient_checkpointing")
    trial = trial_of(REQUEST, '{"a": 1}', added, "trial 2: x", "abc")
    assert trial.arguments == (
        *("--max_steps", "500", "--gradient_accumulation_steps", "4", "--output_dir", "/w/out"),
        "--gradient_checkpointing",
    )
    same = ("script", "ranks", "gpu_indices", "environment", "target_python", "place", "working_directory")
    assert [getattr(trial, name) for name in same] == [getattr(REQUEST, name) for name in same]
    assert (trial.stop_after_steps, trial.stop_after_minutes, trial.when_busy) == (STEPS, MINUTES, WhenBusy.WAIT)
    assert trial.trial == f"abc.{circumstances(REQUEST)}"
    assert trial.config_text == '{"a": 1}'


def plan_of(request, **more):
    given = {**request.spec(), "arguments": ("--output_dir", "/w/out", "--x"), "master_port": 2000, **more}
    return Plan(**given, run_id="1", run_directory="/runs/1")


def test_the_results_of_a_training_are_not_written_over():
    assert apart(plan_of(REQUEST)).arguments == ("--output_dir", "/runs/1/output", "--x")
    without = plan_of(REQUEST, arguments=("--x",))
    assert apart(without) is without


def test_the_plans_file_keeps_what_ends_it():
    plan = plan_of(trial_of(REQUEST, "{}", (), "t", "abc"))
    read = plan_from_json(plan_to_json(plan))
    assert (read.stop_after_steps, read.stop_after_minutes, read.trial) == (STEPS, MINUTES, plan.trial)
    old = {key: value for key, value in plan_to_json(plan).items() if "stop_after" not in key and key != "trial"}
    assert (plan_from_json(old).stop_after_steps, plan_from_json(old).trial) == (0, "")


def run(run_id, trial, state=RunState.STOPPED, **more):
    nothing = dict.fromkeys(("started_at", "duration_s", "step", "total", "loss"))
    return RunSummary(run_id=run_id, name="", state=state, preset="", trial=trial, **nothing | more)


def test_the_newest_trial_in_the_same_circumstances_counts():
    about = circumstances(REQUEST)
    runs = [run("3", ""), run("2", f"k.{about}"), run("1", f"k.{about}"), run("0", "l.other")]
    assert {key: one.run_id for key, one in newest(runs, ["k", "l"], about).items()} == {"k": "2"}
    for changed in ({"arguments": ""}, {"ranks": 1}, {"environment": {}}, {"script": "/w/other.py"}):
        assert circumstances(replace(REQUEST, **changed)) != about
    assert circumstances(replace(REQUEST, config_text="{1}", name="n")) == about


@pytest.mark.parametrize(
    ("state", "step", "says"),
    [
        (RunState.QUEUED, None, "queued"),
        (RunState.RUNNING, 4, "running · step 4"),
        (RunState.STOPPED, 21, "20 steps, as asked"),
        (RunState.STOPPED, 4, "stopped · step 4"),
        (RunState.FAILED, None, "failed"),
    ],
)
def test_how_a_trial_stands(state, step, says):
    told = as_json(run("1", "k", state, step=step, step_s=0.5, peak={"host_bytes": 7}))
    assert (told["says"], told["step_s"], told["gpu"], told["host"]) == (says, 0.5, None, 7)
    assert (told["live"], told["failed"]) == (state.live, state is RunState.FAILED)
