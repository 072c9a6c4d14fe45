"""The figures of a run are those of its curves, and None where they don't tell."""

import json
import math

import numpy as np
import pytest

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.evaluations import MOST_ROWS, better_of, evaluation_rows
from dsgui.core.metrics.performance import Figures, figures, training_curve
from dsgui.core.metrics.samples import GpuSample, Peak, Sample
from dsgui.core.metrics.thinning import Curve

NAN = math.nan


def curve(name, value, *, step=None, time=None, **series):
    value = np.array(value, dtype=float)
    step = np.full(len(value), NAN) if step is None else np.array(step, dtype=float)
    time = np.arange(len(value), dtype=float) if time is None else np.array(time, dtype=float)
    return Curve(Series(name, **series), step, np.full(len(value), NAN), time, value)


def sampled(name, value, node=""):
    return curve(name, value, kind="sample", source="telemetry", node=node)


def test_without_curves_nothing_is_known():
    assert figures([]) == Figures()


def test_the_final_loss_is_the_last_logged_and_the_best_the_lowest_finite():
    found = figures([curve("loss", [3, 1, NAN, 2], step=[10, 20, 30, 40])])
    assert (found.final_loss, found.best_loss, found.steps) == (2, 1, 40)


@pytest.mark.parametrize("name", ["lm_loss", "train_loss", "my_own_loss"])
def test_the_loss_of_a_script_that_names_it_otherwise_is_final_and_best_too(name):
    others = [curve("aux_loss", [9.0]), curve("loss_scale", [1024])] if name != "my_own_loss" else []
    found = figures([*others, curve(name, [3, 1, 2], step=[10, 20, 30]), curve("eval_loss", [8], kind="eval")])
    assert (found.final_loss, found.best_loss) == (2, 1)


def test_of_several_losses_without_a_usual_name_none_is_the_loss():
    found = figures([curve("actor_loss", [3]), curve("critic_loss", [2])])
    assert (found.final_loss, found.best_loss) == (None, None)


def test_a_loss_that_ended_as_nan_says_so_in_json_too():
    found = figures([curve("loss", [3, NAN], step=[1, 2])])
    assert math.isnan(found.final_loss)
    assert found.best_loss == 3
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["final_loss"] == "NaN"


def test_speed_leaves_out_what_came_before_the_first_step():
    found = figures([curve("loss", [3, 2, 1], step=[10, 20, 30], time=[60, 65, 70])])
    assert found.steps_per_second == 2


def test_speed_is_that_of_the_last_stretch_where_steps_began_anew():
    found = figures([curve("loss", [3, 2, 3, 2], step=[90, 100, 1, 5], time=[1, 2, 10, 12])])
    assert found.steps_per_second == 2


def test_over_a_moment_the_speed_is_what_the_training_says_of_it():
    """12 steps in a fifth of a second, read ten times a second: nobody has more steps/s than samples/s."""
    told = [curve(f"train_{what}_per_second", [84.73], step=[12], kind="final") for what in ("samples", "steps")]
    quick = figures([curve("loss", [3, 2], step=[1, 12], time=[8.2, 8.307]), *told])
    assert (quick.steps_per_second, quick.samples_per_second) == (84.73, 84.73)
    assert figures([curve("loss", [3, 2], step=[1, 12], time=[8, 30]), *told]).steps_per_second == 0.5
    own = [curve(name, [value], step=[10]) for name, value in (("steps_per_second", 1.5), ("samples_per_second", 12))]
    found = figures([curve("loss", [3], step=[10]), *own])
    assert (found.steps_per_second, found.samples_per_second) == (1.5, 12)


def test_speed_is_unknown_where_all_points_came_at_once():
    assert figures([curve("loss", [3, 2], step=[1, 2], time=[5, 5])]).steps_per_second is None


def test_what_was_printed_goes_before_what_was_written_to_a_file_and_rank_0_before_others():
    printed = curve("loss", [2.0], step=[1])
    written = curve("loss", [2.5, 1.5], step=[1, 2], source="tensorboard")
    other = curve("loss", [9.0, 8.0, 7.0], step=[1, 2, 3], rank=1)
    assert training_curve([other, written, printed], "loss") is printed
    assert figures([other, written]).final_loss == 1.5


def test_throughput_is_what_the_training_said_last():
    found = figures(
        [
            curve("samples_per_second", [5, 6, NAN], step=[1, 2, 3]),
            curve("tokens_per_second", [500, 600], step=[1, 2]),
        ]
    )
    assert (found.samples_per_second, found.tokens_per_second) == (6, 600)
    at_the_end = curve("train_samples_per_second", [7], kind="final")
    assert figures([at_the_end, curve("samples_per_second", [5], step=[1])]).samples_per_second == 7


def test_memory_has_its_peak_and_mean_and_what_was_not_told_counts_nothing():
    found = figures([sampled("host_used_bytes", [100, NAN, 300]), sampled("run_bytes", [10, 20])])
    assert (found.host_peak_bytes, found.host_mean_bytes) == (300, 200)
    assert (found.run_peak_bytes, found.run_mean_bytes) == (20, 15)


def test_each_gpu_of_each_node_has_its_own_and_tables_of_one_series_are_joined():
    found = figures(
        [
            sampled("gpu1.used_bytes", [4, 6]),
            sampled("gpu1.used_bytes", [8]),
            sampled("gpu0.used_bytes", [1, 3], node="b"),
            sampled("gpu0.total_bytes", [80]),
        ]
    )
    assert found.gpu_peak_bytes == {("", 1): 8, ("b", 0): 3}
    assert found.gpu_mean_bytes == {("", 1): 6, ("b", 0): 2}
    assert found.to_json()["gpus"][0] == {"node": "", "index": 1, "peak_bytes": 8, "mean_bytes": 6}


def test_the_runs_own_gpu_memory_is_apart_from_what_all_processes_hold_of_the_gpu():
    found = figures(
        [
            sampled("gpu0.used_bytes", [70, 80]),
            sampled("gpu0.run_bytes", [NAN, 10, 20]),
            sampled("gpu1.run_bytes", [10, 30, 20]),
            sampled("gpu1.run_bytes", [5], node="b"),
        ]
    )
    assert (found.run_gpu_peak_bytes, found.run_gpu_mean_bytes) == (30, 20)
    assert found.gpu_peak_bytes == {("", 0): 80}
    assert found.to_json()["run_gpu_peak_bytes"] == 30


def test_what_the_run_recorded_goes_before_its_curves():
    found = figures([curve("loss", [3, 2], step=[100, 150]), sampled("gpu0.run_bytes", [20, 40])])
    told = found.told(9.0, {"gpu_bytes": 25}, 153)
    assert (told.steps, told.duration_s) == (153, 9.0)  # it came further than it logged
    assert (told.run_gpu_peak_bytes, told.run_gpu_mean_bytes) == (25, 25)
    assert found.told(None, {}, 10).steps == 150
    assert figures([]).told(None, {}, None).steps is None


def test_no_loss_is_better_where_what_was_trained_is_another():
    runs = [figures([curve(name, [1.0], step=[1], kind="eval") for name in ("eval_loss", "ppl", "wer", "bleu")])] * 2
    better = {row.name: row.better for row in evaluation_rows(runs, comparable=False)}
    assert better == {"Final eval loss": "", "Best eval loss (lowest)": "", "ppl": "", "wer": "less", "bleu": "more"}
    assert {row.better for row in evaluation_rows(runs)} == {"less", "more"}
    assert {row.better for row in evaluation_rows(runs, comparable=False, scores=False)} == {""}


def test_a_run_that_had_no_memory_of_a_gpu_has_no_figure_of_it_as_its_record_has_none():
    found = figures([curve("loss", [3, 2], step=[1, 2]), sampled("gpu0.run_bytes", [0, 0]), sampled("run_bytes", [0])])
    assert (found.run_gpu_peak_bytes, found.run_gpu_mean_bytes, found.run_peak_bytes) == (None, None, None)
    idle = Sample(1.0, 30, 64, 0, None, (GpuSample(0, "A100", 7, 0),), 1.0)
    assert Peak().over(idle).to_json() == {}


def test_memory_of_the_launching_machine_goes_before_that_of_others():
    own, other = sampled("host_used_bytes", [5]), sampled("host_used_bytes", [9], node="b")
    assert figures([other, own]).host_peak_bytes == 5
    assert figures([other, sampled("host_used_bytes", [7], node="c")]).host_peak_bytes == 9


def test_the_duration_is_when_the_last_was_known():
    found = figures([curve("loss", [1], step=[1], time=[12]), sampled("run_bytes", [1, 2, 3])])
    assert found.duration_s == 12


def scored(name, value):
    return curve(name, value, kind="eval")


def test_evaluations_tell_their_loss_and_their_scores_and_not_what_they_took():
    costs = [scored(name, [7]) for name in ("eval_runtime", "eval_samples_per_second", "eval_steps_per_second")]
    loss, scores = scored("eval_loss", [3, 1, 2]), [scored("eval_wer", [0.9, 0.4]), scored("eval_rouge1", [0.1, 0.3])]
    found = figures([curve("loss", [9]), *costs, *scores, loss])
    assert (found.eval_loss, found.best_eval_loss) == (2, 1)
    assert found.scores == {"eval_wer": 0.4, "eval_rouge1": 0.3}
    rows = [(row.name, row.values, row.better) for row in evaluation_rows([found, figures([loss])])]
    assert rows == [
        ("Final eval loss", (2, 2), "less"),
        ("Best eval loss (lowest)", (1, 1), "less"),
        ("wer", (0.4, None), "less"),
        ("rouge1", (0.3, None), "more"),
    ]


def test_of_many_scores_those_come_first_that_say_what_is_better_and_that_most_runs_have():
    many = [scored(f"eval_own_{number}", [number]) for number in range(9)]
    first, second = figures([*many, scored("eval_f1_macro", [1])]), figures([scored("eval_own_8", [math.nan])])
    rows = evaluation_rows([first, second])
    assert [row.name for row in rows] == ["f1 macro", "own 8", "own 0", "own 1", "own 2", "own 3"]
    assert len(rows) == MOST_ROWS
    assert rows[1].to_json(str.upper) == {"name": "OWN 8", "values": [8, "NaN"], "better": ""}
    assert evaluation_rows([figures([])]) == []


@pytest.mark.parametrize(
    ("better", "names"),
    [
        ("less", ["eval_de_loss", "eval_perplexity", "eval_wer", "cer"]),
        (
            "more",
            ["eval_exact_match", "eval_chrf", "chrf++", "eval_bleu", "eval_rougeLsum", "eval_mean_token_accuracy"],
        ),
        ("", ["eval_own", "eval_length", "eval_accuracy_drop", "eval_werewolf"]),
        ("", ["eval_neg_log_loss", "eval_negative_loss", "one_minus_wer", "eval_inverse_ppl"]),
        ("", ["eval_no_match", "eval_not_match", "false_match", "eval_delta_loss", "diff_f1", "eval_gap_accuracy"]),
    ],
)
def test_what_is_better_is_said_of_scores_that_everybody_knows_alone(better, names):
    assert {better_of(name) for name in names} == {better}
