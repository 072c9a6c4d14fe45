"""What only whole logs show: output that came late, trainings that were resumed, two counts of one script. The lines
are spelled as in public logs, with numbers of their own."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.logs.epochs import MOST_LATE, Bursts
from dsgui.core.logs.readings import Form, Reading
from dsgui.core.logs.trainlog import BAR_PATIENCE, TrainLog
from dsgui.core.metrics.points import Point


def read(text: str) -> list[Point]:
    log = TrainLog()
    return log.feed(text) + log.finish()


def bar(step: int, total: int = 60) -> str:
    return f"\r {step * 100 // total:3}%|██        | {step}/{total} [00:01<00:02,  1.68s/it]"


def logged(*epochs: float) -> str:
    return "".join(f"\n{{'loss': '{2 - epoch:.3f}', 'grad_norm': '0.1', 'epoch': '{epoch}'}}" for epoch in epochs)


def test_dicts_that_came_late_have_the_steps_at_which_they_were_printed() -> None:
    """`python train.py > train.log 2>&1`: standard output waits for 8 KiB, the bars don't."""
    text = "".join(map(bar, range(31))) + logged(0.25, 0.5, 0.75, 1.0, 1.25, 1.5) + "\n" + bar(30) + bar(31)
    text += "".join(map(bar, range(32, 61))) + logged(1.75, 2.0, 2.25)
    text += "\n{'eval_loss': '0.5', 'eval_runtime': '1.2', 'epoch': '2.25'}" + logged(2.5, 2.75, 3.0)
    text += "\n{'train_runtime': '9.1', 'train_loss': '1.2', 'epoch': '3'}\n" + bar(60) + "\n"
    points = read(text)
    assert [point.step for point in points if point.kind == "train"] == list(range(5, 61, 5))
    assert [(point.kind, point.step) for point in points if point.kind != "train"] == [("eval", 45), ("final", 60)]


def test_more_than_a_dozen_that_came_late_are_waited_for() -> None:
    """tqdm.write draws the bar again, also where what it wrote waits in a buffer."""
    drawn = "".join(bar(step) * 2 for step in range(61))
    text = drawn + logged(*(round(step / 30, 4) for step in range(1, 61))) + "\n" + bar(60) + "\n"
    assert [point.step for point in read(text)] == list(range(1, 61))


def test_more_than_a_dozen_are_waited_for_once_the_bar_was_drawn_after_a_dict() -> None:
    text = bar(1) + logged(0.0333) + "\n" + "".join(map(bar, range(1, 61)))
    text += logged(*(round(step / 30, 4) for step in range(2, 61))) + "\n" + bar(60) + "\n"
    assert [point.step for point in read(text)] == list(range(1, 61))


@pytest.mark.parametrize("drawn", [range(101), [*range(0, 101, 7), 100, 100], range(60)])
def test_dicts_behind_a_bar_that_isnt_theirs_wait_for_a_dozen_lines_at_most(drawn: Sequence[int]) -> None:
    """A preparation's bar without a description, then Trainer(disable_tqdm=True)."""
    log = TrainLog()
    log.feed("".join(bar(step, 100) for step in drawn) + "\n")
    found = [len(log.feed(f"{{'loss': '2.5', 'epoch': '{at / 100}'}}\n")) for at in range(1, 301)]
    assert found == [0] * BAR_PATIENCE + [BAR_PATIENCE + 1] + [1] * (300 - BAR_PATIENCE - 1)


def test_after_a_wait_in_vain_no_dict_waits_until_the_bar_is_drawn() -> None:
    """The bar was theirs, but isn't drawn any more."""
    log = TrainLog()
    log.feed(bar(1) + logged(0.01) + "\n" + bar(1) + "\n")
    line = "{'loss': '2.5', 'epoch': '0.02'}\n"
    assert len(log.feed(line * MOST_LATE)) == 0
    assert [len(log.feed(line)) for _ in range(3)] == [MOST_LATE + 1, 1, 1]
    assert log.feed(bar(2) + "\n" + line) == []
    assert [point.step for point in log.feed(bar(3))] == [3]


def test_dicts_behind_a_bar_are_read_at_the_speed_of_others() -> None:
    """Each looked at all that were held, for 15 seconds in all."""
    log, began = TrainLog(), time.perf_counter()
    log.feed(bar(50) * 2 + "\n" + "{'epoch': 0.1, 'loss': 1.0}\n" * 15_000)
    assert time.perf_counter() - began < 3


def test_losses_without_a_step_behind_a_bar_are_not_held_without_end() -> None:
    assert len(TrainLog().feed(bar(50) + "\n" + "loss: 2.5\n" * 1000)) > 1000 - MOST_LATE


@pytest.mark.parametrize("epoch", ["nan", "inf", "-1.2345", "-0.51231", "0", "1e308", "5e-324"])
def test_dicts_with_epochs_that_are_none_are_kept(epoch: str) -> None:
    text = bar(6) + f"\n{{'loss': 1.0, 'epoch': {epoch}}}\n{{'loss': 2.0, 'epoch': 0.2}}\n" + bar(7)
    assert [(point.step, point.values["loss"]) for point in read(text)] == [(7, 1.0), (7, 2.0)]


@given(st.lists(st.lists(st.floats(), min_size=1, max_size=5), max_size=4), st.integers(1, 2**53))
def test_no_epochs_upset_the_telling_of_bursts(several: list[list[float]], at: int) -> None:
    bursts = Bursts()
    for epochs in several:
        for burst in (epochs, sorted(epochs)):
            assert len(bursts.steps([Reading(Form.DICT, {}, epoch=one) for one in burst], at)) == len(burst)


def test_an_evaluations_total_is_not_the_trainings() -> None:
    text = "Epoch 1 step 1000/1000 loss: 2\nEpoch 2 step 100/1000 loss: 1.9\nval epoch 2 step 50/200 loss: 1\n"
    points = read(text + "Epoch 2 step 700 loss: 1.9\n")
    assert [point.step for point in points if point.kind == "train"] == [1000, 1100, 1700]


def steps(*epochs: float, at: int, kinds: str = "") -> list[int]:
    kind = {"t": "train", "e": "eval", "f": "final"}
    held = [
        Reading(Form.DICT, {}, epoch=one, kind=kind[k])
        for one, k in zip(epochs, kinds or "t" * len(epochs), strict=True)
    ]
    return Bursts().steps(held, at)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (steps(0.5, 0.5, at=7, kinds="te"), [7, 7]),  # one step's values and its evaluation
        (steps(0.02, 0.04, 0.05, 0.07, 0.09, at=50), [10, 20, 30, 40, 50]),  # rounded to two decimals
        (steps(0.001, 0.01, 0.02, at=20), [1, 10, 20]),  # logging_first_step
        (steps(0.4, 1.0, 1.2, at=12, kinds="tet"), [4, 10, 12]),
        (steps(2.0, 1.0, at=9), [9, 9]),  # two trainings: nothing is known
    ],
)
def test_a_burst_is_told_by_its_epochs(found: list[int], expected: list[int]) -> None:
    assert found == expected


def test_a_flush_between_two_logged_steps_does_not_stretch_the_epoch() -> None:
    bursts = Bursts()
    dicts = [Reading(Form.DICT, {}, epoch=epoch) for epoch in (0.1, 0.2, 0.3)]
    assert bursts.steps(dicts, 30) == [10, 20, 30]
    later = [Reading(Form.DICT, {}, epoch=epoch) for epoch in (0.4, 0.5)]
    assert bursts.steps(later, 57) == [40, 50]


SPEED = (
    "[2026-01-02 10:00:00,000] [INFO] [timer.py:260:stop] epoch=0/micro_step={k}/global_step={k}, "
    "RunningAvgSamplesPerSec=6.5, CurrSamplesPerSec=6.4, MemAllocated=1.0GB, MaxMemAllocated=2.0GB\n"
)
ENGINE = "[INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[0.001], mom=[[0.9, 0.99]]\n"


def test_deepspeeds_speed_of_a_resumed_training_is_at_its_step() -> None:
    """ThroughputTimer counts from 0 again, the engine goes on."""
    text = ENGINE.format(step=0)
    for step in (510, 520):
        text += ENGINE.format(step=step) + SPEED.format(k=step - 500)
    speeds = [(point.step, point.values) for point in read(text) if "samples_per_second" in point.values]
    assert [step for step, _ in speeds] == [510, 520]


def test_a_line_that_counts_over_all_epochs_leaves_those_that_count_in_each_alone() -> None:
    text = "".join(
        f"Epoch: [{epoch}][  {at}/10]\tTime  1.5 ( 1.5)\tLoss 2.2e+00 (2.2e+00)\n"
        + (f"iter {epoch * 10 + 10} | LR [0.0001]| val_acc 10.9 | layer_token 47\n" if at else "")
        for epoch in range(4)
        for at in (0, 5)
    )
    points = read(text)
    assert [point.step for point in points if point.kind == "train"] == [0, 5, 10, 15, 20, 25, 30, 35]
    assert [point.step for point in points if point.kind == "eval"] == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        ("validation results at iteration 12 | lm_loss value: 3.9E+00 | lm_loss_ppl value: 5.0E+01 |", 12,
         {"eval_loss": 3.9, "perplexity": 50.0}),
        (" validation loss at iteration 12 on validation set | lm loss value: 3.9E+00 | lm loss PPL: 5.0E+01 | ", 12,
         {"eval_loss": 3.9, "perplexity": 50.0}),
        (" validation loss at iteration 12 on test set | lm loss value: 3.9E+00 | lm loss PPL: 5.0E+01 | ", 12,
         {"test_loss": 3.9, "test_perplexity": 50.0}),
        ("validation results at the end of training for val data | lm_loss value: 3.9E+00 |", 20, {"eval_loss": 3.9}),
        ("test results at the end of training for test data | lm_loss value: 3.9E+00 |", 20, {"test_loss": 3.9}),
    ],
)  # fmt: skip
def test_megatrons_and_neox_evaluations_are_read(line: str, step: int, values: dict[str, float]) -> None:
    *_, last = read(f" iteration       20/     100 | lm loss: 4.1E+00 |\n{line}\n")
    assert (last.kind, last.step, last.values) == ("eval", step, values)


def test_the_summary_of_wandb_is_no_point() -> None:
    text = "step 1 loss 2.5\nwandb: \nwandb: Run summary:\nwandb:             train/loss 2.5\nwandb:  loss 2.5\n"
    assert len(read(text)) == 1


def test_overflows_of_fp16_without_zero_are_told_once_whatever_rank_says_them() -> None:
    log = TrainLog()
    said = "[2026-01-02 10:00:00,000] [INFO] [fused_optimizer.py:413:_update_scale] \nGrad overflow on iteration {at}\n"
    text = "".join(said.format(at=at) * 4 for at in (0, 1, 7))
    text += "[2026-01-02 10:00:00,000] [INFO] [unfused_optimizer.py:300:_update_scale] Grad overflow on iteration: 9\n"
    points = log.feed(text + "[INFO] [fused_optimizer.py:421:_update_scale] No Grad overflow for 100 iterations\n")
    assert [event.kind for event in log.take_events()] == ["overflow"] * 4
    assert [point.values for point in points] == [{"skipped_steps": float(count)} for count in (1, 2, 3, 4)]


# --- a training's head ------------------------------------------------------------------------------------------------


def head(examples: int, batch: int, epochs: int, total: int, more: str = "") -> str:
    return (
        f"***** Running training *****\n  Num examples = {examples:,}\n  Num Epochs = {epochs:,}\n"
        f"  Instantaneous batch size per device = 4\n"
        f"  Total train batch size (w. parallel, distributed & accumulation) = {batch}\n"
        f"  Gradient Accumulation steps = 2\n  Total optimization steps = {total:,}\n{more}"
        f"  Number of trainable parameters = 7,492,771,840\n"
    )


def spelled(epoch: float, style: str) -> str:
    return {"two": f"{round(epoch, 2)}", "four": f"{epoch:.4g}", "all": f"{epoch!r}"}[style]


def told(steps: Sequence[int], per_epoch: float, style: str) -> str:
    return "".join(
        f"{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': {spelled(n / per_epoch, style)}}}\n" for n in steps
    )


@pytest.mark.parametrize("style", ["two", "four", "all"])
@pytest.mark.parametrize(
    ("examples", "batch", "epochs", "every", "begun", "count"),
    [
        (160_929, 64, 1, 10, 0, 56),
        (160_929, 64, 1, 10, 0, 12),
        (52_002, 128, 3, 1, 0, 60),
        (52_002, 128, 3, 25, 0, 40),
        (900_000, 32, 2, 500, 0, 20),
        (900_000, 32, 2, 100, 12_000, 80),
        (4_000, 16, 4, 50, 0, 20),
    ],
)
def test_without_bars_the_head_and_the_epochs_tell_the_steps(
    style: str, examples: int, batch: int, epochs: int, every: int, begun: int, count: int
) -> None:
    per_epoch = -(-examples // batch)
    more = f"  Continuing training from global step {begun}\n" if begun else ""
    steps = [begun + every * n for n in range(1, count + 1)]
    log = TrainLog()
    points = log.feed(head(examples, batch, epochs, per_epoch * epochs, more) + told(steps, per_epoch, style))
    points += log.finish()
    assert [point.step for point in points] == steps
    assert log.progress is not None
    assert (log.progress.step, log.progress.total) == (steps[-1], per_epoch * epochs)


@pytest.mark.parametrize(
    ("per_epoch", "every", "count", "known"),
    [(100_000, 10, 60, 0), (100_000, 10, 1000, 200), (20_000, 25, 300, 250), (20_000, 100, 100, 90)],
)
def test_no_step_is_told_of_epochs_that_are_rounded_too_coarsely_to_tell_it(
    per_epoch: int, every: int, count: int, known: int
) -> None:
    """Two decimals of an epoch of 100,000 steps: after 60 dicts these may lie 5, 10 or 20 steps apart."""
    steps = [every * n for n in range(1, count + 1)]
    log = TrainLog()
    points = log.feed(head(per_epoch * 8, 8, 1, per_epoch) + told(steps, per_epoch, "two")) + log.finish()
    found = [point.step for point in points]
    assert len(found) == count
    assert all(at in (None, step) for at, step in zip(found, steps, strict=True))
    assert sum(at is not None for at in found) >= known
    assert (log.progress and log.progress.step) == (steps[-1] if known else None)


def test_a_head_alone_tells_how_far_it_is_to_go() -> None:
    log = TrainLog()
    log.feed("[INFO|trainer.py:1721] 2024-01-01 10:00:00,000 >>   Total optimization steps = 2,515\n")
    assert (log.progress and (log.progress.step, log.progress.total)) == (0, 2515)


def test_steps_that_were_asked_for_say_nothing_of_an_epochs_length() -> None:
    """--max_steps 60 of an epoch of 1,250: the head says one epoch all the same."""
    points = read(head(10_000, 8, 1, 60) + told(range(5, 61, 5), 1250, "all"))
    assert [point.step for point in points] == list(range(5, 61, 5))


def test_a_bar_that_was_drawn_rarely_puts_no_loss_on_a_wrong_step() -> None:
    """The bars of its first steps, then two in 400 steps: what a log pasted into an issue shows."""
    text = head(160_929, 64, 1, 2515) + "".join(bar(n, 2515) + "\n" for n in range(6))
    for begin in (0, 200):
        text += told(range(begin + 10, begin + 201, 10), 2515, "two") + bar(begin + 200, 2515)[1:]
        text += "***** Running Evaluation *****\n  Num examples = 1624\n  Batch size = 8\n"
        text += f"{{'eval_loss': 0.5, 'eval_runtime': 38.5, 'epoch': {(begin + 200) / 2515:.2f}}}\n"
    text += told(range(410, 561, 10), 2515, "two")
    points = read(text)
    assert [point.step for point in points if point.kind == "train"] == list(range(10, 561, 10))
    assert [point.step for point in points if point.kind == "eval"] == [200, 400]


@pytest.mark.parametrize("before", ["", "{'loss': 2.0, 'learning_rate': 1e-05, 'epoch': 0.0}\n"])
def test_the_first_step_may_be_logged_as_well(before: str) -> None:
    points = read(head(160_929, 64, 1, 2515) + before + told(range(10, 301, 10), 2515, "two"))
    assert [point.step for point in points][-30:] == list(range(10, 301, 10))
    assert [point.step for point in points][:-30] == ([1] if before else [])


def test_a_second_training_has_a_head_of_its_own() -> None:
    text = head(4_000, 16, 1, 250) + told(range(50, 251, 50), 250, "all")
    text += "{'train_runtime': 9.1, 'train_loss': 1.2, 'epoch': 1.0}\n"
    text += head(8_000, 16, 1, 500) + told(range(50, 501, 50), 500, "all")
    points = [point for point in read(text) if point.kind == "train"]
    assert [point.step for point in points] == [*range(50, 251, 50), *range(50, 501, 50)]


# --- other bars -------------------------------------------------------------------------------------------------------

OTHERS = [
    "\r  0%|          | 0/170498071 [00:00<?, ?it/s]"
    "\r 40%|████      | 68198400/170498071 [00:06<00:09, 10399821.94it/s]"
    "\r100%|██████████| 170498071/170498071 [00:16<00:00, 10399821.94it/s]\n",
    "\r100%|██████████| 97.8M/97.8M [00:01<00:00, 98.3MB/s]\n",
    "\rmodel.safetensors:  45%|████▌     | 1.2G/2.5G [00:12<00:13, 98.3MB/s]"
    "\rmodel.safetensors: 100%|██████████| 2.5G/2.5G [00:25<00:00, 98.3MB/s]\n",
    "\rpytorch_model.bin: 100%|██████████| 440473133/440473133 [00:04<00:00, 98123456.10it/s]\n",
    "\rLoading checkpoint shards:  50%|█████     | 1/2 [00:03<00:03,  3.10s/it]"
    "\rLoading checkpoint shards: 100%|██████████| 2/2 [00:06<00:00,  3.10s/it]\n",
    "\rFetching 5 files: 100%|██████████| 5/5 [00:00<00:00, 4201.00it/s]\n",
    "\rMap: 100%|██████████| 1000/1000 [00:00<00:00, 3035.98 examples/s]\n",
    "\rTokenizing:  30%|███       | 300/1000 [00:00<00:00, 3035.98it/s]"
    "\rTokenizing: 100%|██████████| 1000/1000 [00:00<00:00, 3035.98it/s]\n",
    "\r100%|██████████| 37/37 [00:03<00:00, 10.99ba/s]\n",
    "\r100%|██████████| 52002/52002 [00:20<00:00, 2512.91ex/s]\n",
]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_bar_of_a_download_or_of_a_preparation_is_no_trainings(other: str, size: int) -> None:
    log, text = (
        TrainLog(),
        other + "[INFO] [logging.py:96:log_dist] [Rank 0] step=0, skipped=0, lr=[0.001], mom=[0.9]\n",
    )
    points = [point for at in range(0, len(text), size) for point in log.feed(text[at : at + size])]
    assert (log.progress and (log.progress.step, log.progress.total)) == (0, None)
    loop = (
        "".join(f"Epoch 1:{bar(n)}\n" for n in range(4))
        + "loss: 2.5\n"
        + "".join(f"Epoch 1:{bar(n)}\n" for n in (4, 5))
    )
    points += log.feed(loop) + log.finish()
    assert log.progress is not None
    assert (log.progress.step, log.progress.total) == (5, 60)
    assert [point.step for point in points if "loss" in point.values] == [4]


@pytest.mark.parametrize("described", ["Epoch 1: ", "Training: ", "loss: 2.31: ", "", "Steps: "])
def test_a_bar_of_a_loop_of_its_own_is_the_trainings(described: str) -> None:
    log = TrainLog()
    log.feed("".join(f"\r{described}{bar(n)[1:]}" for n in range(10)))
    assert log.progress is not None
    assert (log.progress.step, log.progress.total) == (9, 60)


def test_behind_a_head_a_bar_of_another_total_is_an_evaluations() -> None:
    log = TrainLog()
    log.feed(head(10_000, 8, 1, 1250) + bar(0, 1250) + bar(1, 1250) + bar(3, 203) + bar(2, 1250))
    assert (log.progress and (log.progress.step, log.progress.total)) == (2, 1250)
    first = TrainLog()  # eval_on_start
    first.feed(head(10_000, 8, 1, 1250) + bar(3, 203) + bar(1, 1250))
    assert (first.progress and (first.progress.step, first.progress.total)) == (1, 1250)


def test_behind_a_head_a_loop_of_its_own_may_draw_an_epochs_batches() -> None:
    log = TrainLog()
    log.feed(head(10_000, 8, 3, 3750) + "".join(bar(n, 2500) for n in range(5)))
    assert (log.progress and (log.progress.step, log.progress.total)) == (4, 2500)


def test_a_bar_that_begins_anew_in_the_same_epoch_goes_on_counting() -> None:
    """OpenRLHF's PPO: each episode has rounds of experience, and trains one epoch on each."""
    text = ""
    for turn in range(3):
        text += "\rmake_experience: 100%|██████████| 2/2 [00:06<00:00,  3.10s/it]"
        text += "".join(
            f"\rTrain epoch [1/1]: {25 * n:3}%|██ | {n}/4 [00:02<00:01,  2.10s/it, act_loss={turn}.{n}, cri=0.1]"
            for n in range(5)
        )
        text += "\n"
    log = TrainLog()
    points = log.feed(text) + log.finish()
    assert [point.step for point in points] == list(range(1, 13))
    assert (log.progress and (log.progress.step, log.progress.total, log.progress.eta_s)) == (12, None, None)


@pytest.mark.parametrize("drawn", [1, 2])
def test_a_bar_drawn_before_its_epoch_is_named_counts_once(drawn: int) -> None:
    log = TrainLog()
    text = "".join(f"Epoch {epoch}/2\n" + bar(0) * drawn + "".join(map(bar, range(1, 61))) for epoch in (1, 2))
    log.feed(text.replace("Epoch 2/2\n" + bar(0), bar(0) + "\nEpoch 2/2\n"))
    assert (log.progress and (log.progress.step, log.progress.total)) == (120, 120)
