"""A step is done by the reader's own runs and answers, and by nothing else."""

from dataclasses import replace

import pytest

from dsgui.core.config.context import Integration
from dsgui.core.launch.state import RunState
from dsgui.core.learn.checking import checked, is_pair
from dsgui.core.learn.progress import Progress
from dsgui.core.learn.run_facts import Outcome, RunFacts, Setup
from dsgui.core.learn.track import Doing
from dsgui.core.learn.tracks import BY_ID, STEPS, TRACKS

HF, NATIVE = Integration.HF, Integration.NATIVE
HALVED = Outcome(first_loss=4.0, lowest_loss=1.9, final_loss=2.1, steps=40)


def run(run_id="a", *, halved=False, worked_on=False, script="translation.py", **setup):
    given = {"integration": HF, "stage": 2, "ranks": 2, **setup}
    outcome = HALVED if halved else Outcome()
    return RunFacts(run_id, run_id, RunState.SUCCEEDED, Setup(script=script, **given), outcome, worked_on)


def done(track, runs=(), progress=None):
    found = checked(BY_ID[track], list(runs), progress or Progress())
    return [step for step, one in found.items() if one.done]


@pytest.mark.parametrize("track", BY_ID)
def test_nothing_is_done_before_the_reader_did_anything(track):
    assert done(track) == []


@pytest.mark.parametrize("track", BY_ID)
def test_runs_of_something_else_count_for_nothing(track):
    others = [run("x", script="train.py"), run("y", script="train.py", integration=NATIVE, stage=3, batch=48)]
    assert done(track, others) == []


def test_a_run_counts_for_its_stage_and_its_loss_for_the_step_after_it():
    assert done("translation", [run()]) == ["zero2_run"]
    assert done("translation", [run(stage=3)]) == ["zero3_run"]
    assert done("translation", [run(halved=True)]) == ["zero2_run", "zero2_loss"]


def test_a_loss_that_fell_by_less_than_half_says_what_is_missing():
    short = replace(run(), outcome=Outcome(first_loss=4.0, lowest_loss=2.5, final_loss=2.5))
    found = checked(BY_ID["translation"], [short], Progress())["zero2_loss"]
    assert not found.done
    assert str(found.note) == "The loss of “a” fell from 4 to 2.5 so far; half would be 2."


def test_the_run_that_learned_counts_before_a_newer_one_that_was_stopped():
    found = checked(BY_ID["translation"], [run("new"), run("old", halved=True)], Progress())["zero2_loss"]
    assert found.done
    assert [one.run_id for one in found.runs] == ["old"]


def test_a_run_that_went_on_from_anothers_checkpoint_is_not_the_batch_split_otherwise():
    native = {"integration": NATIVE, "batch": 64, "script": "pretraining.py"}
    first, other = run("a", micro=8, ranks=1, **native), run("b", micro=2, ranks=4, **native)
    assert "other_cut" in done("native", [first, other])
    assert "other_cut" not in done("native", [first, replace(other, setup=replace(other.setup, resumed=True))])


def test_a_comparison_counts_once_it_was_looked_at_and_both_runs_are_there():
    both, seen = [run("a"), run("b", stage=3)], Progress().having_compared("side_by_side", ("a", "b"))
    assert "side_by_side" not in done("translation", both)
    assert "side_by_side" in done("translation", both, seen)
    assert "side_by_side" not in done("translation", both[:1], seen)
    assert not is_pair(STEPS["side_by_side"].wanted, [run("a"), run("c")])


def test_runs_of_one_name_are_told_apart_by_their_ids():
    both = [
        replace(run(f"20260101-{end}", stage=stage), name="translation") for end, stage in (("3e13", 2), ("8ff1", 3))
    ]
    found = checked(BY_ID["translation"], both, Progress())["side_by_side"]
    assert str(found.note).endswith("translation (3e13), translation (8ff1).")


def test_the_same_batch_has_to_be_cut_in_another_way():
    one, two = (run(name, script="pre.py", integration=NATIVE, batch=64, micro=8) for name in "ab")
    assert done("native", [one, two]) == ["first_cut"]
    assert done("native", [one, replace(two, setup=replace(two.setup, ranks=1))]) == ["first_cut", "other_cut"]


def test_a_question_that_is_answered_from_runs_waits_for_them():
    right = Progress().answered("same_batch", STEPS["same_batch"].right)
    assert done("native", [], right) == []
    pair = [run(name, integration=NATIVE, batch=64, micro=8, ranks=ranks) for name, ranks in (("a", 1), ("b", 2))]
    assert "same_batch" in done("native", pair, right)
    assert "same_batch" not in done("native", pair, Progress().answered("same_batch", 0))


def test_a_job_after_training_counts_for_the_run_it_worked_on():
    adapter = run("l", script="instruction_lora.py", lora=True)
    assert "adapter" not in done("lora", [adapter])
    assert "adapter" in done("lora", [replace(adapter, worked_on=True)])


def test_every_question_has_a_right_answer_and_every_track_ends_in_one():
    asking = [step for step in STEPS.values() if step.does is Doing.ANSWERS]
    assert all(0 <= step.right < step.choices for step in asking)
    assert all(track.steps[-1].does is Doing.ANSWERS and track.steps[-1].numbers for track in TRACKS)
    assert len({step.right for step in asking}) > 1
    assert len(STEPS) == sum(len(track.steps) for track in TRACKS)
    assert not STEPS.keys() & BY_ID.keys()


def test_progress_survives_its_file_and_a_strange_file_is_refused():
    progress = Progress().answered("auto", 1).having_compared("side_by_side", ("a", "b")).having_found("stages")
    assert Progress.from_json(progress.to_json()) == progress
    assert progress.without(frozenset({"auto", "stages"})) == Progress().having_compared("side_by_side", ("a", "b"))
    for strange in ({"answers": {"auto": "1"}}, {"found": "x"}, {"compared": {"a": [1]}}, {"answers": [1]}):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            Progress.from_json(strange)
