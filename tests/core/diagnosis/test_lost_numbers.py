"""A loss that became NaN or infinite leads the diagnosis, with what is true of it; changes only where they apply."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dsgui.core.config.document import Document
from dsgui.core.diagnosis.diagnosis import UNKNOWN, Diagnosis
from dsgui.core.diagnosis.lost_numbers import with_lost_numbers, with_no_norm
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.not_numbers import NotNumbers, no_norm, not_numbers
from dsgui.core.metrics.thinning import Curve
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import said

NAN, INF = math.nan, math.inf
SILENT = Diagnosis(
    UNKNOWN,
    said("diagnosis_titles", "silent", code="1"),
    said("diagnosis_meanings", "nothing_printed"),
    (said("diagnosis_advice", "see_output"),),
)


def lost_in(*values: float) -> NotNumbers:
    unknown = np.full(len(values), np.nan)
    steps = np.arange(1.0, len(values) + 1)
    found = not_numbers(Curve(Series("loss", "train"), steps, unknown, steps, np.array(values)))
    assert found is not None
    return found


def told(*values: float, run: Circumstances | None = None) -> Diagnosis:
    return with_lost_numbers(None, lost_in(*values), run)


def run_with(config: str, *arguments: str, trainer: bool = False, takes_options: bool = True) -> Circumstances:
    return Circumstances(Document(config), arguments, trainer=trainer, takes_options=takes_options)


@pytest.mark.parametrize(
    ("values", "title", "meaning"),
    [
        ((1, NAN, NAN), "The loss was NaN from step 2 on", "No loss logged after that was finite."),
        ((1, 1, INF), "The loss was infinite from step 3 on", "It was the last loss logged."),
        ((1, NAN, 1), "The loss was NaN at step 2", "It was finite again from step 3 on."),
        ((1, NAN, NAN, 1), "The loss was NaN at steps 2–3", "It was finite again from step 4 on."),
        (
            (NAN, 1, INF, 1),
            "The loss was NaN or infinite 2 times in steps 1–3",
            "It was finite again from step 4 on.",
        ),
        ((NAN, 1, NAN, NAN), "The loss was NaN from step 3 on", "It happened before, first at step 1."),
    ],
)
def test_it_is_told_where_it_began_and_whether_it_came_back(
    values: tuple[float, ...], title: str, meaning: str
) -> None:
    assert (str(told(*values).title), str(told(*values).meaning)) == (title, meaning)


@pytest.mark.parametrize(
    ("epochs", "title", "meaning", "chinese"),
    [
        (
            (0.53, 0.53, 0.53, 0.53),
            "The loss was NaN at epoch 0.53",
            "It was finite again right after it.",
            "epoch 为 0.53 时的损失为 NaN",
        ),
        (
            (0.25, 0.5, 0.75, 1.0),
            "The loss was NaN at epochs 0.5–0.75",
            "It was finite again from epoch 1 on.",
            "epoch 为 0.5–0.75 时的损失为 NaN",
        ),
        (
            (NAN, NAN, NAN, NAN),
            "The loss was NaN at logged values 2–3",
            "It was finite again from logged value 4 on.",
            "第 2–3 条记录的损失为 NaN",
        ),
    ],
)
def test_a_log_without_steps_is_told_by_epoch_or_by_its_values(
    epochs: tuple[float, ...], title: str, meaning: str, chinese: str
) -> None:
    unknown, value = np.full(4, np.nan), np.array([1, NAN, NAN, 1])
    lost = not_numbers(Curve(Series("loss", "train"), unknown, np.array(epochs), np.arange(4.0), value))
    assert lost
    found = with_lost_numbers(None, lost, None)
    assert (str(found.title), str(found.meaning)) == (title, meaning)
    with speaking("zh-CN"):
        assert str(found.title) == chinese


@pytest.mark.parametrize(
    ("values", "chinese"),
    [
        ((NAN, 1, NAN, 1), "epoch 为 0.25–0.75 时，损失有 2 次为 NaN"),
        ((1, 1, NAN, NAN), "从 epoch 为 0.75 时起，损失为 NaN"),
        ((1, NAN, 1, 1), "epoch 为 0.5 时的损失为 NaN"),
    ],
)
def test_epochs_read_well_in_chinese(values: tuple[float, ...], chinese: str) -> None:
    unknown, epochs = np.full(4, np.nan), np.array([0.25, 0.5, 0.75, 1.0])
    lost = not_numbers(Curve(Series("loss", "train"), unknown, epochs, np.arange(4.0), np.array(values)))
    assert lost
    with speaking("zh-CN"):
        assert str(with_lost_numbers(None, lost, None).title) == chinese


def test_epochs_that_are_shown_alike_are_one_place() -> None:
    unknown, epochs = np.full(3, np.nan), np.array([12.34561, 12.34562, 12.5])
    lost = not_numbers(Curve(Series("loss", "train"), unknown, epochs, np.arange(3.0), np.array([NAN, NAN, 1])))
    assert lost
    assert str(with_lost_numbers(None, lost, None).title) == "The loss was NaN at epoch 12.346"


def test_nothing_is_told_of_a_loss_that_stayed_a_number() -> None:
    steps = np.arange(1.0, 4)
    assert not_numbers(Curve(Series("loss", "train"), steps, steps, steps, steps)) is None


def test_it_leads_where_a_run_failed_without_a_word() -> None:
    found = with_lost_numbers(SILENT, lost_in(1, NAN, 1), run_with("{}"))
    assert str(found.title) == "The loss was NaN at step 2"
    assert str(found.meaning) == (
        "It was finite again from step 3 on. It ended with exit code 1 and no traceback. It printed no output."
    )
    with speaking("zh-CN"):
        assert str(found.title) == "第 2 步的损失为 NaN"


def test_it_stands_behind_what_explains_the_end() -> None:
    memory = Diagnosis(
        "gpu-memory", said("diagnosis_titles", "syntax"), said("diagnosis_meanings", "nothing_printed"), ()
    )
    found = with_lost_numbers(memory, lost_in(1, NAN, 1), run_with("{}"))
    assert found.signature == "gpu-memory"
    assert str(found.meaning) == "It printed no output. The loss was NaN at step 2."


def changes(run: Circumstances | None) -> list[str]:
    return [str(one.label) for one in told(1, NAN, run=run).remedies]


def test_changes_are_offered_only_where_they_apply() -> None:
    rate = '"optimizer": {"type": "Adam", "params": {"lr": 3e-4}}'
    lower, clipped = "Learning rate 1.5e-4 instead of 3e-4", "gradient_clipping 1.0"
    assert changes(run_with("{}")) == []  # DeepSpeed clips at 1.0
    assert changes(run_with('{"gradient_clipping": 1.0}')) == []
    assert changes(run_with(f'{{"gradient_clipping": 0, {rate}}}')) == [clipped, lower]
    assert changes(run_with("{}", "--learning_rate", "3e-4", trainer=True)) == [lower]
    assert clipped not in changes(run_with("{}", "--max_grad_norm", "0", trainer=True))  # which fills nothing
    assert changes(run_with('{"gradient_clipping": "auto"}', "--max_grad_norm", "0", trainer=True))[0] == clipped
    assert changes(run_with("{}", "--learning_rate", "3e-4", trainer=True, takes_options=False)) == []
    assert changes(run_with('{"fp16": {"enabled": true}, "gradient_clipping": 1.0}')) == ["bf16 instead of fp16"]
    assert changes(None) == []


def test_the_rate_is_lowered_wherever_it_is_set() -> None:
    config = '{"gradient_clipping": 1.0, "optimizer": {"params": {"lr": 1e-3}}}'
    (one,) = told(1, NAN, run=run_with(config, "--learning_rate", "1e-3", trainer=True)).remedies
    assert one.options == (("--learning_rate", "5e-4"),)
    assert one.fix
    assert [each.literal for each in one.fix.changes] == ["5e-4"]


@pytest.mark.parametrize(
    ("held", "edited"),
    [
        ("1e-3", ["/optimizer/params/lr", "/scheduler/params/warmup_max_lr"]),
        ('"auto"', ["/optimizer/params/lr"]),
        ("2e-3", None),
    ],
)
def test_a_scheduler_that_leads_to_the_rate_is_lowered_with_it_and_to_another_stops_it(
    held: str, edited: list[str] | None
) -> None:
    scheduler = f'"scheduler": {{"type": "WarmupLR", "params": {{"warmup_max_lr": {held}}}}}'
    config = f'{{"gradient_clipping": 1.0, "optimizer": {{"params": {{"lr": 1e-3}}}}, {scheduler}}}'
    found = [one.fix for one in told(1, NAN, run=run_with(config)).remedies]
    assert [[each.pointer for each in fix.changes] for fix in found if fix] == ([edited] if edited else [])


@pytest.mark.parametrize("rate", ["0", "5e-324", "true", '"x"'])
def test_no_rate_is_halved_to_nothing_or_raised(rate: str) -> None:
    config = f'{{"gradient_clipping": 1.0, "optimizer": {{"params": {{"lr": {rate}}}}}}}'
    assert [one for one in changes(run_with(config)) if "earning" in one] == []
    assert not any("instead of 0" in one for one in changes(run_with(config, trainer=True)))


def test_steps_that_begin_again_are_one_step_and_no_row_of_them() -> None:
    steps = np.array([1.0, 2, 3, 1, 2, 3, 4])
    values = np.array([1, 1, NAN, 1, 1, NAN, 1])
    found = not_numbers(Curve(Series("loss", "train"), steps, np.full(7, np.nan), steps, values))
    assert found is not None
    assert str(with_lost_numbers(None, found, None).title) == "The loss was NaN 2 times in step 3"


def test_only_who_trains_in_fp16_is_told_of_it() -> None:
    def advice(config: str) -> str:
        return " ".join(map(str, told(1, NAN, run=run_with(config)).advice))

    assert "loss_scale" in advice('{"fp16": {"enabled": true}}')
    assert "fp16" not in advice('{"bf16": {"enabled": true}}')


def norm_told(norm: list[float], loss: list[float], run: Circumstances | None = None) -> Diagnosis | None:
    """Of values logged every 10 steps."""
    steps = np.arange(1.0, len(norm) + 1) * 10
    curves = [Curve(Series(name, "train"), steps, steps, steps, np.array(of)) for name, of in named(norm, loss)]
    found = no_norm(*curves)
    return with_no_norm(None, found, run) if found else None


def named(norm: list[float], loss: list[float]) -> list[tuple[str, list[float]]]:
    return [("grad_norm", norm), ("loss", loss)]


def test_a_loss_of_0_beside_a_norm_of_nan_is_what_the_hf_trainer_makes_of_a_nan_loss() -> None:
    run = run_with("{}", "--learning_rate", "2e-5", trainer=True)
    found = norm_told([NAN, NAN], [0, 0], run)
    assert found
    assert str(found.title) == "The gradient norm was NaN from step 10 on, and the loss 0"
    assert "a logged 0 most likely means that the loss itself was NaN" in str(found.meaning)
    assert "-100" in str(found.advice[0])
    assert found.remedies[-1].options == (("--logging_nan_inf_filter", "false"),)
    with speaking("zh-CN"):
        assert str(found.title) == "从第 10 步起，梯度范数为 NaN，损失为 0"
        assert "logging_nan_inf_filter" in str(found.meaning)
        assert "-100" in str(found.advice[0])


@pytest.mark.parametrize(
    "words", [("--logging_nan_inf_filter", "false"), ("--no_logging_nan_inf_filter",), ("--no-logging-nan-inf-filter",)]
)
def test_a_loss_of_0_is_one_where_nan_losses_are_logged_as_they_are(words: tuple[str, ...]) -> None:
    found = norm_told([NAN, NAN], [0, 0], run_with("{}", *words, trainer=True))
    assert found
    assert str(found.meaning) == "NaN losses are not filtered out of this log, so the loss was indeed 0."
    assert not [one for one in found.remedies if "nan_inf" in str(one.options)]


def test_the_loss_of_the_step_whose_gradients_broke_first_came_before_them() -> None:
    found = norm_told([1, NAN, NAN, NAN], [2, 1.5, 0, 0])
    assert found
    assert str(found.title) == "The gradient norm was NaN from step 20 on, and the loss 0 after that"
    assert norm_told([1, NAN, NAN, NAN], [2, 1.5, 0, 1]) is None
    with speaking("zh-CN"):
        assert str(found.title) == "从第 20 步起，梯度范数为 NaN，此后损失为 0"


def test_of_a_run_that_others_started_the_trainers_filter_is_a_case() -> None:
    found = norm_told([NAN, NAN], [0, 0], None)
    assert found
    assert str(found.meaning).startswith("If the HF Trainer trained this run")
    assert not found.remedies


def test_a_norm_that_broke_later_beside_a_finite_loss_has_the_advice_of_a_loss_that_did() -> None:
    found = norm_told([1, *[NAN] * 4], [2, 2, 2, 2, 2], run_with("{}"))
    assert found
    assert str(found.title) == "The gradient norm was NaN from step 20 on"
    assert "finite" in str(found.meaning)
    assert "-100" not in str(found.advice[0])


def test_labels_are_not_to_blame_where_the_loss_beside_it_is_a_number() -> None:
    found = norm_told([INF] * 4, [2, 1.5, 1.2, 1], run_with("{}"))
    assert found
    assert "-100" not in str(found.advice[0])


def test_what_has_no_loss_beside_it_is_told_nothing_of_one() -> None:
    steps = np.arange(10.0, 300, 10)
    found = no_norm(Curve(Series("grad_norm", "train"), steps, steps, steps, np.full(29, NAN)), None)
    assert found
    assert "loss" not in str(with_no_norm(None, found, None).meaning)


def test_rows_that_print_one_rounded_epoch_belong_together_by_their_order() -> None:
    epoch, nowhere = np.zeros(4), np.full(4, NAN)
    curves = [
        Curve(Series(name, "train"), nowhere, nowhere, epoch, np.array(of))
        for name, of in named([NAN] * 4, [1.968, 0, 0, 0])
    ]
    found = no_norm(*curves)
    assert found
    assert found.loss == "then_zero"


def test_of_a_training_that_began_anew_in_the_same_log_the_last_one_counts() -> None:
    steps, nowhere = np.array([1.0, 2, 3, 1, 2, 3]), np.full(6, NAN)
    values = named([1, NAN, NAN, NAN, NAN, NAN], [2, 0, 5, 1, 0, 0])
    curves = [Curve(Series(name, "train"), steps, nowhere, steps, np.array(of)) for name, of in values]
    found = no_norm(*curves)
    assert found is not None
    assert found.loss == "then_zero"


OVERLAPS = '{"zero_optimization": {"stage": 2, "overlap_comm": true}}'


def overlap_told(config: str, **given: object) -> tuple[list[str], str]:
    found = norm_told([1, NAN, NAN], [2, 0, 0], replace(run_with(config), **{"ranks": 2, **given}))
    assert found
    return [one.label.code for one in found.remedies], " ".join(map(str, found.advice))


def test_overlap_comm_is_offered_to_be_ruled_out_where_it_may_have_made_the_gradients_nan() -> None:
    offered, advice = overlap_told(OVERLAPS)
    assert offered == ["without_overlap"]
    assert "#7188" in advice


@pytest.mark.parametrize(
    ("config", "given"),
    [
        (OVERLAPS.replace("2", "3"), {}),
        (OVERLAPS.replace("true", "false"), {}),
        ('{"zero_optimization": {"stage": 2}}', {}),
        (OVERLAPS, {"ranks": 1}),
        (OVERLAPS, {"on_cpu": True}),
    ],
)
def test_of_overlap_comm_nothing_is_said_where_it_can_t_have(config: str, given: dict[str, object]) -> None:
    offered, advice = overlap_told(config, **given)
    assert "without_overlap" not in offered
    assert "overlap" not in advice


def test_loss_and_norm_belong_together_by_their_steps_whenever_they_were_written() -> None:
    at_once = np.zeros(3)
    steps = np.array([1.0, 2, 3])
    for time in (at_once, np.full(3, NAN)):
        norm, loss = (
            Curve(Series(name, "train"), steps, steps, time, np.array(value))
            for name, value in named([1, NAN, NAN], [2, 0, 0])
        )
        found = no_norm(norm, loss)
        assert found
        assert found.loss == "zero"


def of_steps(name: str, steps: list[float], values: list[float]) -> Curve:
    unknown = np.full(len(steps), NAN)
    return Curve(Series(name, "train"), np.array(steps), unknown, np.arange(float(len(steps))), np.array(values))


def test_a_loss_that_was_logged_before_the_norm_is_not_beside_it() -> None:
    norm = of_steps("grad_norm", [*range(1, 41)], [*[1.0] * 10, *[NAN] * 30])
    found = no_norm(norm, of_steps("loss", [*range(1, 11)], [2.0] * 10))
    assert found
    assert found.loss == "none"


def test_of_a_training_that_began_anew_the_latest_counts() -> None:
    steps = [10.0, 20, 30, 40, 50, 30, 40, 50, 60]
    norm = of_steps("grad_norm", steps, [1, 1, 1, 1, 1, NAN, NAN, NAN, NAN])
    found = no_norm(norm, of_steps("loss", steps, [2, 2, 2, 2, 2, 0, 0, 0, 0]))
    assert found
    assert found.loss == "zero"


def test_a_last_norm_without_a_step_belongs_nowhere() -> None:
    steps, times = np.array([1.0, 2, NAN]), np.arange(3.0)
    norm, loss = (
        Curve(Series(name, "train"), steps, np.full(3, NAN), times, np.array(value))
        for name, value in named([NAN, NAN, 1.0], [0, 0, 0.8])
    )
    found = no_norm(norm, loss)
    assert found
    assert (found.numbers.since, found.loss, found.always) == (1, "zero", True)


@pytest.mark.parametrize("norm", [[INF, INF, 1], [1, 1, 1], [1, INF, NAN], [1, 1, NAN]])
def test_norms_that_the_search_for_a_loss_scale_skips_are_no_diagnosis(norm: list[float]) -> None:
    assert norm_told(norm, [2, 2, 2]) is None


def test_why_it_failed_stands_before_its_norm() -> None:
    steps = np.array([1.0, 2])
    found = no_norm(*(Curve(Series(n, "train"), steps, steps, steps, np.array(v)) for n, v in named([NAN] * 2, [0, 0])))
    assert found
    told = with_no_norm(replace(SILENT, signature="gpu-memory"), found, None)
    assert told.title == SILENT.title
    assert str(told.meaning).endswith("The gradient norm was NaN from step 1 on, and the loss 0.")
