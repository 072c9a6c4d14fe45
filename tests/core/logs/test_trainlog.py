"""What training prints becomes points, progress and a phase. The transcripts are copied from transformers 5.23, torch
2.13 and deepspeed 0.19.8; older spellings from their tutorials."""

import math
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgui.core.diagnosis.diagnosis import diagnose, why_failed
from dsgui.core.diagnosis.ending import Ending, signal_number, verdict
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.launch.state import RunState
from dsgui.core.logs.phases import Doing
from dsgui.core.logs.trainlog import LINE_LIMIT_BYTES, Epoch, Progress, TrainLog
from dsgui.core.metrics.curves import RECORD, SeriesTable
from dsgui.core.metrics.points import Point
from dsgui.core.texts.saying import sentences
from tests.support.cases import AS_USUAL, each_case

BAR = "█████     "
TRAINER = (
    "\r  0%|          | 0/12 [00:00<?, ?it/s]\r  8%|▊         | 1/12 [00:00<00:02,  5.43it/s]"
    "\r                                              "
    "\r{'loss': '0.6893', 'grad_norm': '0.389', 'learning_rate': '5e-05', 'epoch': '0.0625'}\n"
    "\r  8%|▊         | 1/12 [00:00<00:02,  5.43it/s]\r                                              "
    "\r{'loss': '0.6892', 'grad_norm': '0.7717', 'learning_rate': '4.167e-05', 'epoch': '0.1875'}\n"
    f"\r 25%|{BAR}| 3/12 [00:00<00:01,  5.43it/s]\r                                              "
    "\r{'loss': '0.6941', 'grad_norm': '0.4087', 'learning_rate': '2.917e-05', 'epoch': '0.375'}\n"
    f"\r 50%|{BAR}| 6/12 [00:00<00:01,  5.43it/s]\n"
    "\r  0%|          | 0/2 [00:00<?, ?it/s]\x1b[A\r                                              \r\n"
    "\r                                     \r\x1b[A{'eval_loss': '0.6929', 'eval_runtime': '0.0154', "
    "'eval_samples_per_second': '1036', 'eval_steps_per_second': '129.5', 'epoch': '0.375'}\n"
    f"\r 50%|{BAR}| 6/12 [00:00<00:01,  5.43it/s]\n\r100%|██████████| 2/2 [00:00<00:00, 768.61it/s]\x1b[A\n"
    f"\r                                              \x1b[A\r 67%|{BAR}| 8/12 [00:00<00:00, 32.09it/s]"
    "\r100%|██████████| 12/12 [00:00<00:00, 24.10it/s]\r                                               "
    "\r{'train_runtime': '0.5331', 'train_samples_per_second': '90.04', 'train_steps_per_second': '22.51', "
    "'train_loss': '0.6927', 'epoch': '0.75'}\n"
    "\r100%|██████████| 12/12 [00:00<00:00, 24.10it/s]\r100%|██████████| 12/12 [00:00<00:00, 22.53it/s]\n"
)


def read(text: str | bytes) -> list[Point]:
    log = TrainLog()
    return log.feed(text) + log.finish()


def test_a_trainers_transcript_gives_every_point_its_step() -> None:
    log = TrainLog()
    points = log.feed(TRAINER) + log.finish()
    assert [(point.kind, point.step, point.epoch) for point in points] == [
        ("train", 1, 0.0625),
        ("train", 3, 0.1875),
        ("train", 6, 0.375),
        ("eval", 6, 0.375),
        ("final", 12, 0.75),
    ]
    assert points[0].values == {"loss": 0.6893, "grad_norm": 0.389, "learning_rate": 5e-05}
    assert points[3].values["eval_loss"] == 0.6929
    assert log.progress == Progress(12, 12, 0.0)
    assert (log.bad_lines, log.ending.finished) == (0, True)


def test_a_point_is_known_as_soon_as_its_bar_is_drawn_again() -> None:
    log = TrainLog()
    first_bar = TRAINER.index("\r  8%", TRAINER.index("0.0625"))
    assert log.feed(TRAINER[:first_bar]) == []
    [point] = log.feed("\r  8%|▊         | 1/12 [00:00<00:02,  5.43it/s]")
    assert point.step == 1
    assert log.phase == "training"


@given(st.lists(st.integers(0, len(TRAINER.encode())), max_size=30))
def test_how_the_output_is_cut_changes_nothing(cuts: list[int]) -> None:
    data, log = TRAINER.encode(), TrainLog()
    edges = [0, *sorted(cuts), len(data)]
    points = [p for a, b in pairwise(edges) for p in log.feed(data[a:b])] + log.finish()
    assert points == read(TRAINER)


_PIECES = st.sampled_from(
    ["\r", "\n", "{'loss': 1.0, 'epoch': 1}", "{'loss': ", "  5%|x| 1/20 [00:01<00:19, 1it/s]", "x" * 9, "|", "9%|",
     " 3/4 [", "]", "step=3 loss=2", "è\x1b[A", "Epoch 1:", "{'eval_loss': '2'}\n"]
)  # fmt: skip


@settings(max_examples=2 * AS_USUAL)
@given(st.lists(_PIECES, max_size=25), st.integers(1, 7))
def test_any_output_reads_the_same_byte_by_byte(pieces: list[str], size: int) -> None:
    data, log = "".join(pieces).encode(), TrainLog()
    points = [p for start in range(0, len(data), size) for p in log.feed(data[start : start + size])] + log.finish()
    assert points == read(data)


@settings(max_examples=3 * AS_USUAL)
@given(
    st.lists(_PIECES | st.just("plain words\n"), max_size=40), st.integers(1, 60), st.lists(st.booleans(), min_size=1)
)
def test_skimming_finds_the_same_points(pieces: list[str], size: int, hurries: list[bool]) -> None:
    data, skimmed, read_all = "".join(pieces).encode(), TrainLog(), TrainLog()
    found, expected = [], []
    for place, start in enumerate(range(0, len(data), size)):
        take = skimmed.skim if hurries[place % len(hurries)] else skimmed.feed
        found += take(data[start : start + size])
        expected += read_all.feed(data[start : start + size])
    found, expected = found + skimmed.finish(), expected + read_all.finish()
    assert [(point.values, point.kind, point.epoch) for point in found] == [
        (point.values, point.kind, point.epoch) for point in expected
    ]


@pytest.mark.parametrize(
    "line",
    [
        "step=3 loss=2",
        "Epoch 1, STEP 5 / 9, LOSS 3.1",
        "{'loss': '0.69', 'epoch': '0.06'}",
        '{"eval_chrf": 2.0, "epoch": 1}',
        "[Rank 0] step=10, skipped=0, lr=[0.001], mom=[(0.9, 0.999)]",
    ],
)
def test_a_point_in_the_middle_of_a_flood_is_found(line: str) -> None:
    plain, log = b"nothing to see here\n" * 20_000, TrainLog()
    found = log.skim(plain) + log.skim(plain + line.encode() + b"\n" + plain) + log.skim(plain) + log.finish()
    assert [point.values for point in found] == [point.values for point in read(line)]
    assert len(found) == 1


def test_a_bar_in_the_middle_of_a_flood_is_found() -> None:
    plain, log = b"nothing to see here\n" * 20_000, TrainLog()
    log.skim(plain + f"\r 25%|{BAR}| 3/12 [00:00<00:01,  5.43it/s]\r".encode() + plain)
    assert log.progress is not None
    assert (log.progress.step, log.progress.total) == (3, 12)


def test_skimming_reads_tracebacks_the_launchers_lines_and_the_last_words() -> None:
    log, plain = TrainLog(), b"nothing to see here\n" * 20_000
    log.skim(b"[launch.py:245:main] process 61 spawned with command: ['python']\n" + plain)
    log.skim(plain + b'Traceback (most recent call last):\n  File "train.py", line 3, in f\n')
    log.skim(b"ValueError: bad\n" + plain)
    log.skim(plain + b"RuntimeError: these were the last words")
    log.finish()
    assert list(log.ending.spawned) == [61]
    assert [one.error for one in log.ending.tracebacks.found] == ["ValueError: bad"]
    assert "in f" in log.ending.tracebacks.found[0].text
    assert log.ending.last_line == "RuntimeError: these were the last words"


def test_of_a_flood_the_last_lines_are_read_and_those_before_cost_nothing() -> None:
    seen: list[str] = []

    class Listens(Ending):
        def line(self, text: str) -> None:
            seen.append(text)

    log, lines = TrainLog(), b"nothing to see here\n" * 50_000
    log.ending = Listens()
    log.skim(lines)
    assert len(seen) <= 1
    log.finish()
    assert 3000 < len(seen) < 4000  # the last 64 KiB


@given(st.binary(max_size=300))
def test_no_bytes_upset_it(data: bytes) -> None:
    read(data)


@given(
    st.lists(
        st.sampled_from(
            ["epoch: ", "nan", "inf", " step ", "loss ", "{'loss': ", "'epoch': ", "}", ", ", "\n", "9" * 5000, "1"]
        )
        | st.text(max_size=4),
        max_size=20,
    )
)
def test_whatever_is_read_can_be_kept(pieces: list[str]) -> None:
    table = SeriesTable()
    for point in read("".join(pieces)):
        assert len(table.encode(point, 0.0)) == len(point.values) * RECORD.size


def test_an_epoch_that_is_no_number_and_a_step_without_end_are_only_lines() -> None:
    (point, *_) = read("epoch: nan, step 1, loss 2\n")
    assert point.epoch is not None
    assert math.isnan(point.epoch)
    read("step " + "9" * 5000 + " loss 1\n")
    read("step 1 loss ınf\n{'loss': ınf}\nepoch ınf step 1 loss 2\n")
    many = "9" * 5000
    read(
        f"process {many} spawned with command: []\nProcess {many} exits successfully.\n"
        f"exits with return code = -{many}\n"
    )


def test_without_bars_dicts_have_no_step() -> None:
    old = "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.5}\n"
    [point] = read("HOST: " + old)
    assert (point.step, point.epoch, point.values) == (None, 0.5, {"loss": 2.5, "learning_rate": 5e-05})


def cut(records: bytes) -> list[bytes]:
    return [records[begin : begin + RECORD.size] for begin in range(0, len(records), RECORD.size)]


def test_nan_infinity_and_zero_are_values() -> None:
    [point] = read("{'loss': nan, 'grad_norm': 'inf', 'learning_rate': 0.0, 'epoch': 0}\n")
    assert math.isnan(point.values["loss"])
    assert point.values["grad_norm"] == math.inf
    assert point.values["learning_rate"] == 0.0
    records = [RECORD.unpack(record) for record in cut(SeriesTable().encode(point, 1.5))]
    assert [(number, epoch, at) for number, epoch, _, at, _ in records] == [(0, 0.0, 1.5), (1, 0.0, 1.5), (2, 0.0, 1.5)]
    assert math.isnan(records[0][4])
    assert [value for *_, value in records[1:]] == [math.inf, 0.0]


@pytest.mark.parametrize(
    ("line", "step", "rank", "values"),
    [
        (
            "[2024-05-01 10:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[0.001, 0.002], "
            "mom=[(0.9, 0.999)]",
            10,
            0,
            {"learning_rate": 0.001, "skipped_steps": 0.0},
        ),
        ("Rank[0]: Epoch 1, step 7059 / 37256, loss 3.7812", 7059, 0, {"loss": 3.7812}),
        ("HOST: step=10 loss=2.3", 10, None, {"loss": 2.3}),
        ("step: 4, train_loss: nan, lr: 1e-4.", 4, None, {"train_loss": math.nan, "learning_rate": 1e-4}),
        ("\x1b[32mstep 3/9: loss 2.5\x1b[0m", 3, None, {"loss": 2.5}),
        ("epoch=0/micro_step=8/global_step=8, RunningAvgSamplesPerSec=12.5, CurrSamplesPerSec=13", 8, None,
         {"samples_per_second": 12.5}),
    ],
)  # fmt: skip
def test_other_loops_lines_are_read(line: str, step: int, rank: int | None, values: dict[str, float]) -> None:
    [point] = read(line + "\n")
    assert (point.step, point.rank) == (step, rank)
    assert repr(point.values) == repr(values)


@each_case(
    ("line", "values"),
    [
        ("step 10 | loss 2.3 | 1.5 steps/s | 12.0 samples/s", "steps_per_second=1.5 samples_per_second=12"),
        ("step=10 loss=2.3 steps/s=1.5 samples/s=12", "steps_per_second=1.5 samples_per_second=12"),
        ("step=10 loss=2.3 samples/s=12 steps/s=1.5", "steps_per_second=1.5 samples_per_second=12"),
        ("step 10 loss 2.3 samples/s 12 steps/s 1.5", "steps_per_second=1.5 samples_per_second=12"),
        ("step 10 loss 2.3 1.5 steps/sec 12.0 samples/sec", "steps_per_second=1.5 samples_per_second=12"),
        ("Step: 10, Loss: 2.3, Samples/sec: 12, Steps/sec: 1.5", "steps_per_second=1.5 samples_per_second=12"),
        ("step 10 loss 2.3 (1.5 it/s, 12.0 samples/s)", "steps_per_second=1.5 samples_per_second=12"),
        ("step 10 loss 2.3 tokens/sec 99", "tokens_per_second=99"),
        ("step 10 loss 2.3 tok/sec 99", "tokens_per_second=99"),
        ("step 10 loss 2.3 tokens/sec/gpu: 99", "tokens_per_second_per_gpu=99"),
        ("step 10 loss 2.3 | 99 tokens/s/gpu", ""),
        ("step 10 loss 2.3 | 12 samples/s/gpu", ""),
        ("steps: 10 loss: 2.3 iter time (s): 0.400 samples/sec: 640", "iteration_ms=400 samples_per_second=640"),
        ("step 10 loss 2.3 s/it: 0.4", "iteration_ms=400"),
        ("iteration 10/ 100 | elapsed time per iteration (ms): 400.0 | lm loss: 2.3E+00 |", "iteration_ms=400"),
    ],
)
def test_a_speed_is_what_its_name_says(line: str, values: str) -> None:
    (point,) = read(f"{line}\n")
    told = {name.replace("lm_loss", "loss"): value for name, value in point.values.items()}
    assert told == {"loss": 2.3} | {
        name: float(value) for name, _, value in (one.partition("=") for one in values.split())
    }


def test_the_engines_mean_speed_stands_not_on_the_curve_of_the_scripts_own() -> None:
    engine = "[INFO] [timer.py:260:stop] epoch=0/micro_step={0}/global_step={0}, RunningAvgSamplesPerSec=57.1\n"
    own = "step {0} | loss 2.5 | samples/s: 56.4\n"
    points = read("".join(own.format(n) + engine.format(n) for n in range(1, 9)))
    assert {point.values["samples_per_second"] for point in points if "samples_per_second" in point.values} == {56.4}
    alone = read("".join(engine.format(n) for n in range(1, 9)))
    assert [point.values["samples_per_second"] for point in alone] == [57.1] * 8


def _engine(step: int) -> str:
    return f"[INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[0.0001], mom=[(0.9, 0.999)]\n"


def _loss(step: int) -> str:
    return f"2023-07-24 13:21:33.260 | INFO     | __main__:log_dist:53 - [Rank 0] Loss: {10 - step / 100}\n"


@each_case(
    ("lines", "steps"),
    [
        ([_engine(0), *(_engine(n) + _loss(n) for n in (10, 20, 30))], [10, 20, 30]),  # HelloDeepSpeed's
        ([_engine(10), _loss(10)], [10]),
        ([_loss(10) + _engine(10), _loss(20) + _engine(20)], [None, None]),  # before the step
        ([_engine(10), _loss(10), _loss(11), _engine(20), _loss(20), _loss(21)], [None] * 4),  # more often
        ([_engine(10), _loss(10), _engine(20), _loss(20), _loss(21)], [10, 20, None]),
        ([_engine(n) + (_loss(n) if n % 20 == 0 else "") for n in range(10, 70, 10)], [20, 40, 60]),
        # Before the engine's lines of 20, 40 and 60: 10, 30 and 50 are steps of no script that logs every 20.
        ([(_loss(n) if n % 20 == 0 else "") + _engine(n) for n in range(10, 70, 10)], [None] * 3),
    ],
)
def test_a_loss_without_a_step_is_of_the_engines_where_that_can_be_told(
    lines: list[str], steps: list[int | None]
) -> None:
    points = [point for point in read("".join(lines)) if "loss" in point.values]
    assert [point.step for point in points] == steps


def test_counted_times_of_steps_tell_how_far_it_is() -> None:
    log = TrainLog()
    log.feed("[Rank 0] step=0, skipped=0, lr=[0.001], mom=[0.9]\n" + "time (ms) | forward: 1.2 | step: 2.1\n" * 7)
    assert (log.progress and (log.progress.step, log.progress.total)) == (7, None)


def test_steps_that_begin_again_with_an_epoch_go_on() -> None:
    points = read("Epoch 1, step 9 / 10, loss 3\nEpoch 2, step 1 / 10, loss 2\nEpoch 3, step 1 / 10, loss 1\n")
    assert [point.step for point in points] == [9, 11, 21]


@each_case(
    "line",
    ["", "hello", "{'lr': 0.1, 'betas': (0.9, 0.99)}", "{'a': {'loss': 'x'}}", "stepping on loss", "100%|",
     "loss: high", "  train_loss               =     7.1178", "epoch 3 step by step"],
)  # fmt: skip
def test_other_lines_are_no_points(line: str) -> None:
    assert read(line + "\n") == []


def test_a_broken_metrics_line_is_counted() -> None:
    log = TrainLog()
    assert log.feed("{'loss': '0.6\n") == []
    assert log.bad_lines == 1


def test_bars_of_preparation_and_evaluation_are_not_the_training() -> None:
    log = TrainLog()
    log.feed("\rMap: 100%|██| 500/500 [00:01<00:00, 400it/s]\n\rLoading weights:  50%|█ | 1/2 [00:01<00:01, 1it/s]")
    assert log.progress is None
    log.feed(
        "\r100%|██| 7/7 [00:01<00:00, 4it/s]\n\r  0%|  | 0/40 [00:00<?, ?it/s]\r  5%|█ | 2/40 [00:10<1:01:20, 2s/it]"
    )
    assert log.progress == Progress(2, 40, 3680.0)
    log.feed("\n{'loss': 1.0, 'epoch': 1}\n\r  5%|█ | 2/40 [00:10<00:20, 2s/it]\n\r 50%|█ | 2/4 [00:01<00:01, 1it/s]")
    assert (log.progress, log.phase) == (Progress(2, 40, 20.0), "evaluating")


def output(name: str) -> bytes:
    return (Path(__file__).parents[2] / "outputs" / f"{name}.txt").read_bytes()


@pytest.mark.parametrize("name", ["trainer-not-logged", "trainer-not-logged-info", "trainer-metric-blocks"])
def test_after_the_training_no_bar_is_its(name: str) -> None:
    log = TrainLog()
    points = log.feed(output(name)) + log.finish()
    assert log.progress == Progress(100, 100, 0.0)
    said = {value: point for point in points for value in point.values}
    assert {said[one].kind for one in ("train_runtime", "train_samples", "total_flos")} == {"final"}
    assert {said[one].kind for one in ("eval_loss", "perplexity", "predict_bleu")} == {"eval"}
    assert (said["perplexity"].step, said["predict_bleu"].values["predict_bleu"]) == (100, 12.3456)
    at_the_end = [one for one in points if one.step == 100]
    assert sum("eval_loss" in one.values for one in at_the_end) == 1  # the block repeats what a dict said
    assert sum("train_loss" in one.values for one in at_the_end) == 1


def test_an_evaluation_that_is_repeated_at_its_step_counts_with_what_it_says_otherwise() -> None:
    """As LLaMA-Factory does after the training: the same loss, another duration."""
    said = (
        b"\r 90%%|x| 9/10 [00:01<00:00, 4.05it/s]\r100%%|x| 10/10 [00:02<00:00, 4.05it/s]"
        b"{'eval_loss': '5.129', 'eval_runtime': '%s', 'epoch': '2'}\n100%%|x| 10/10 [00:02<00:00, 4.05it/s]\n"
    )
    block = b"***** eval metrics *****\n  eval_loss    =     5.1287\n  eval_runtime = 0:00:00.07\n\n"
    for before, values in ((b"0.0508", [0.0508, 0.07]), (b"0.0702", [0.0702])):
        log = TrainLog()
        points = log.feed(said % before + block) + log.finish()
        told = [one.values for one in points if one.kind == "eval"]
        assert [one["eval_runtime"] for one in told if "eval_runtime" in one] == values
        assert [one["eval_loss"] for one in told if "eval_loss" in one] == [5.129]


@pytest.mark.parametrize(
    ("line", "doing"),
    [
        ("Running tokenizer on train dataset:   3%|x| 4000/120000 [00:01<00:30, 3800.00 examples/s]",
         Doing("tokenizing", "Running tokenizer on train dataset", 4000, 120000, "examples")),
        ("Map (num_proc=4):   3%|x| 4/120 [00:01<00:30, 3800.00 examples/s]",
         Doing("preparing", "Map (num_proc=4)", 4, 120, "examples")),
        ("Generating train split: 4000 examples [00:01, 3800.00 examples/s]",
         Doing("preparing", "Generating train split", 4000, None, "examples")),
        ("Loading checkpoint shards:  50%|x| 1/2 [00:01<00:01,  1.20s/it]",
         Doing("loading", "Loading checkpoint shards", 1, 2)),
        ("Fetching 3 files:  33%|x| 1/3 [00:01<00:01,  1.20it/s]", Doing("downloading", "Fetching 3 files", 1, 3)),
        ("model.safetensors:  50%|x| 1.20G/2.40G [00:10<00:10, 120MB/s]",
         Doing("downloading", "model.safetensors", 1_200_000_000, 2_400_000_000, "B")),
    ],
)  # fmt: skip
def test_a_preparation_is_named_as_what_it_is(line: str, doing: Doing) -> None:
    log = TrainLog()
    log.feed(f"\r{line}\r")
    assert (log.doing, log.phase, log.progress) == (doing, doing.code, None)
    log.feed("\r  5%|x| 2/40 [00:10<00:20, 2.00s/it]\r")
    assert (log.doing, log.phase, log.progress) == (None, "training", Progress(2, 40, 20.0))


@pytest.mark.parametrize(
    "line",
    ["Epoch 1:   5%|x| 2/40 [00:10<00:20, 2.00s/it]", "Training:   5%|x| 2/40 [00:10<00:20, 2.00s/it]",
     "wikitext:   5%|x| 2/40 [00:10<00:20, 2.00s/it, loss=2.5]", "  5%|x| 2/40 [00:10<00:20, 2.00s/it]"],
)  # fmt: skip
def test_a_bar_of_a_training_is_one(line: str) -> None:
    log = TrainLog()
    log.feed(f"\r{line}\r")
    assert (log.doing, log.phase, log.progress) == (None, "training", Progress(2, 40, 20.0))


def test_a_bar_below_one_that_goes_on_takes_not_its_place() -> None:
    log = TrainLog()
    log.feed("\r100%|x| 40/40 [00:10<00:00, 2.00s/it]\n\r  0%|x| 0/7 [00:00<?, ?it/s]\x1b[A\n")
    log.feed("\r 14%|x| 1/7 [00:00<00:01, 9.0it/s]")
    assert log.progress is not None
    assert (log.progress.step, log.progress.total, log.phase) == (40, 40, "evaluating")


def test_steps_run_on_over_epochs() -> None:
    lines = ["[ 1,   100] loss: 2.059", "[ 1, 12000] loss: 1.5", "[ 2,  2000] loss: 1.2"]
    assert [(one.step, one.epoch) for one in read("\n".join(lines))] == [(100, 1), (12000, 1), (14000, 2)]


def test_an_epochs_dict_is_an_evaluation() -> None:
    (point,) = read("epoch 0: {'accuracy': 0.68, 'f1': np.float64(0.81)}\n")
    assert (point.kind, point.epoch, point.values) == ("eval", 0, {"accuracy": 0.68, "f1": 0.81})


@pytest.mark.parametrize("name", ["keras", "keras-lines"])
def test_a_line_that_names_the_epoch_counts_for_those_below(name: str) -> None:
    log = TrainLog()
    points = log.feed(output(name)) + log.finish()
    assert {(one.epoch, one.step) for one in points} >= {(1, 15), (2, 30), (3, 45)}
    assert (log.progress, log.epoch) == (Progress(45, 45), Epoch(3, 3))


def test_lightnings_bars_count_on() -> None:
    log = TrainLog()
    assert [one.step for one in log.feed(output("lightning-tqdm"))] == list(range(5, 61, 5))
    (last, *_) = read(output("lightning-rich"))
    assert (last.step, dict(last.values)) == (60, {"train_loss": 0.068})


def test_compiling_is_a_phase_until_the_extension_is_loaded() -> None:
    log = TrainLog()
    assert log.phase == "starting"
    log.feed("Building extension module deepspeed_shm_comm...\n")
    assert log.phase == "compiling"
    log.feed("Loading extension module deepspeed_shm_comm...\n")
    assert log.phase == "first_step"


def test_a_start_goes_from_the_launcher_to_imports_operators_and_the_first_step() -> None:
    log = TrainLog()
    log.feed(_launched(2))
    assert log.phase == "importing"
    bar = "Map: {}%|██| {}/4 [00:00<00:00, 9.0 examples/s]\n"
    log.feed(bar.format(50, 2))
    assert log.phase == "preparing"
    log.feed(bar.format(100, 4))
    assert log.phase == "importing"
    # Built by a compiler that prints nothing.
    log.feed("DeepSpeed deepspeed.ops.comm.deepspeed_shm_comm_op built successfully\n")
    assert log.phase == "first_step"
    log.feed("{'loss': 1.0, 'epoch': 0.1}\n")
    assert log.phase == "training"


def test_a_line_without_end_takes_bounded_memory() -> None:
    log = TrainLog()
    for _ in range(100):
        log.feed(b"x" * 100_000)
    assert len(log._tail) == LINE_LIMIT_BYTES
    assert [point.step for point in log.feed("\nstep=3 loss=1\n")] == [3]


def test_a_hundred_thousand_lines_take_seconds_at_most() -> None:
    data = b"".join(b"[rank0] some ordinary line %d\nstep=%d loss=2.5 lr=0.1\n" % (n, n) for n in range(50_000))
    log, began = TrainLog(), time.perf_counter()
    count = sum(len(log.feed(data[start : start + 65536])) for start in range(0, len(data), 65536))
    assert count == 50_000
    assert time.perf_counter() - began < 15


# --- how it ended -----------------------------------------------------------------------------------------------------

LAUNCH = "[2026-11-21 05:52:21,303] [INFO] [launch.py:245:main] "


def ending(*lines: str) -> Ending:
    log = TrainLog()
    log.feed("\n".join(lines) + "\n")
    return log.ending


def judged(exit_code: int, ending: Ending, left: int) -> tuple[RunState, str]:
    state, reasons = verdict(exit_code, ending, left)
    return state, sentences(reasons)


def test_two_ranks_that_end_well_are_a_success() -> None:
    said = ending(
        LAUNCH + "process 61 spawned with command: ['python']",
        LAUNCH + "process 62 spawned with command: ['python']",
        LAUNCH + "Process 61 exits successfully.",
        LAUNCH + "Process 62 exits successfully.",
    )
    assert verdict(0, said, 0) == (RunState.SUCCEEDED, ())


def test_exit_code_0_with_a_rank_unaccounted_for_is_a_failure() -> None:
    said = ending(LAUNCH + "process 61 spawned with command: ['python']", "step=1 loss=2")
    state, reason = judged(0, said, 1)
    assert state is RunState.FAILED
    assert "1 of its 1 rank processes" in reason
    assert "1 process it left behind was ended" in reason


def test_a_rank_killed_by_a_signal_is_a_failure_whatever_the_exit_code() -> None:
    said = ending(
        LAUNCH + "process 61 spawned with command: ['python']",
        LAUNCH + "Killing subprocess 61",
        "[2026-11-21 05:52:21,303] [ERROR] [launch.py:285:sigkill_handler] ['python'] exits with return code = -9",
    )
    state, reason = judged(0, said, 0)
    assert state is RunState.FAILED
    assert "SIGKILL" in reason
    told = sentences(why_failed(said, 0, 0, diagnose(said, 0, Circumstances(first_ended=0))))
    assert told.startswith("Rank 0 was killed by SIGKILL (signal 9). ")
    assert "memory" in told


def test_the_first_tracebacks_last_line_is_the_reason() -> None:
    said = ending(
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "train.py", line 3, in <module>',
        "[rank1]:     main()",
        "[rank1]: ValueError: 100 is not 4 * 8",
        LAUNCH + "Killing subprocess 61",
        LAUNCH + "['python'] exits with return code = 1",
    )
    assert judged(1, said, 0) == (RunState.FAILED, "Ended with exit code 1: ValueError: 100 is not 4 * 8.")


def test_a_traceback_that_training_went_on_after_is_not_the_reason() -> None:
    trouble = ["Traceback (most recent call last):", '  File "x"', "KeyError: 'wandb'"]
    said = ending(*trouble, *(f"step={n} loss=1" for n in range(5)), "error: disk on fire")
    assert "disk on fire" in judged(3, said, 0)[1]


def test_an_abort_after_the_final_metrics_is_a_success_that_says_so() -> None:
    said = ending(
        "{'train_runtime': '3.5', 'train_loss': '7.1', 'epoch': '2'}", "terminate called without an active exception"
    )
    for code in (-6, 250, 134):
        state, reason = judged(code, said, 0)
        assert state is RunState.SUCCEEDED
        assert "SIGABRT" in reason
    assert verdict(250, ending("step=1 loss=2"), 0)[0] is RunState.FAILED


@each_case(
    ("code", "number"),
    [(0, None), (1, None), (2, None), (-9, 9), (247, 9), (137, 9), (128, None), (255, None), (254, None)],
)
def test_signals_are_found_behind_return_codes(code: int, number: int | None) -> None:
    assert signal_number(code) == number


def test_a_machine_that_failed_is_seen_in_a_flood() -> None:
    log = TrainLog()
    log.skim(b"x" * 70 + b"\n" + b"pdsh@here: worker-b: ssh exited with exit code 3\n" + b"y\n" * 50_000)
    assert (log.ending.machine, log.ending.return_code) == ("worker-b", 3)


@pytest.mark.parametrize(
    "line",
    [
        "x:  50%|#| 999999999999999P/999999999999999P [00:10<00:10, 1it/s, loss=0.5]\r",
        "Epoch 999999999/999999999 ━━━━━ 999999999999999/999999999999999 0:00:01 • 0:00:00 12.3it/s train_loss: 0.5\n",
        " 50%|#| 999999999999999/999999999999999 [00:10<00:10,  1.00it/s, loss=0.5]\r",
    ],
)
def test_no_step_is_larger_than_a_number_can_say_exactly(line: str) -> None:
    log = TrainLog()
    points = [*log.feed(line), *log.feed(line), *log.finish()]
    steps = [point.step for point in points] + ([log.progress.step, log.progress.total] if log.progress else [])
    assert all(step is None or step < 2**53 for step in steps)


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
def test_nanogpts_means_over_many_batches_are_no_points_of_the_steps_curve(size: int) -> None:
    lines = []
    for step in range(0, 1001, 10):
        if step % 100 == 0:
            lines.append(f"step {step}: train loss {3 - step / 1000:.4f}, val loss {3.2 - step / 1000:.4f}")
        lines.append(f"iter {step}: loss {3.1 - step / 1000:.4f}, time 50.12ms, mfu 17.77%")
    output, log = "\n".join([*lines, ""]).encode(), TrainLog()
    found = [point for at in range(0, len(output), size) for point in log.feed(output[at : at + size])]
    steps = [point.step for point in found if "loss" in point.values]
    assert steps[1:] == list(range(0, 1001, 10))  # before the first, nothing tells one from the other
    apart = [(point.step, point.values["eval_loss"]) for point in found if "train_loss" in point.values]
    assert apart == [(step, pytest.approx(3.2 - step / 1000)) for step in range(100, 1001, 100)]


@pytest.mark.parametrize("before", ["", "step 1: loss 10.8"])
@pytest.mark.parametrize(
    "line",
    ["step {}: train loss 2.1, val loss 2.2", "step {} | train loss 2.1 | lr 1e-3{}", "step {}: training loss: 2"],
)
def test_other_logs_with_both_losses_keep_one_curve(before: str, line: str) -> None:
    """Where no line is an iteration's, what is called the train loss is the loss."""
    lines = [line.format(step, " | val loss 2.9" if step % 20 == 0 else "") for step in range(10, 101, 10)]
    found = [*(log := TrainLog()).feed("\n".join([before, *lines, ""]).encode()), *log.finish()]
    steps = [point.step for point in found if "loss" in point.values]
    assert [step for step in steps if step != 1] == list(range(10, 101, 10))
    assert not any("train_loss" in point.values for point in found)


def _launched(ranks: int) -> str:
    return "".join(
        f"[2026-11-26 20:27:40,406] [INFO] [launch.py:245:main] process {100 + one} spawned with command: "
        f"['python', '-u', 'train.py', '--local_rank={one}']\n"
        for one in range(ranks)
    )


def _logged(ranks: int, lines: Iterable[str]) -> tuple[list[Point], list[str]]:
    """However it is cut: the points of the training, and what dsgui says of them."""
    log, output = TrainLog(), "".join(lines)
    log.feed(_launched(ranks))
    points = [one for cut in range(0, len(output), 7) for one in log.feed(output[cut : cut + 7])] + log.finish()
    codes = [event.said.code for event in log.take_events() if event.said]
    return [point for point in points if point.kind == "train"], codes


def _steps(points: list[Point]) -> list[int | None]:
    return [point.step for point in points]


def test_where_each_step_came_once_for_each_rank_its_first_line_is_drawn() -> None:
    lines = [f"step {step} loss {3 - step / 10 + rank / 100:.3f}\n" for step in range(1, 20) for rank in range(4)]
    points, codes = _logged(4, lines)
    assert _steps(points) == [step for step in (1, 2, 3) for _ in range(4)] + list(range(4, 20))
    assert [point.values["loss"] for point in points[12:]] == [round(3 - step / 10, 3) for step in range(4, 20)]
    assert codes == ["mixed_ranks"]
    assert (len(_logged(1, lines)[0]), _logged(1, lines)[1]) == (4 * 19, [])  # who prints it more than once means it


def test_a_rank_may_be_a_step_ahead_and_an_epoch_begin_its_steps_anew() -> None:
    lines = [f"step {step} loss 1.5\n" for step in (1, 2, 1, 2, 3, 4, 3, 4)]
    lines += [f"step {step} loss 1.2\n" for step in range(1, 6) for _ in range(2)]
    assert _steps(_logged(2, lines)[0]) == [1, 2, 1, 2, 3, 4, 3, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "lines",
    [
        [f"step {step} loss {3 - e - step / 100:.3f}\n" for e in range(3) for step in range(0, 100, 10)],
        [f"{{'loss': {3 - i / 10:.4f}, 'grad_norm': 1.0, 'epoch': {round(i / 400, 2)}}}\n" for i in range(1, 21)],
        [f"Epoch {epoch}/3, loss: {3 - epoch / 2 - b / 100:.3f}\n" for epoch in range(1, 4) for b in range(10)],
        [f"Epoch {epoch} [{b}/10] loss: {3 - epoch / 2 - b / 100:.3f}\n" for epoch in range(1, 4) for b in range(10)],
        [f"{{'loss': {3 - i / 20:.4f}, 'epoch': {round(i / 200, 2)}}}\n" for i in range(1, 41)],
        [f"step {step} loss 1.{i}\n" for step in range(1, 9) for i in range(3 if step == 3 else 2)],  # one more
        [f"step {step} loss 1.{i}\n" for step in range(1, 9) for i in range(1 if step == 3 else 2)],  # one less
        [f"step {step} loss 1.5\n" for _ in range(8) for step in (1, 2)],
    ],
)
@pytest.mark.parametrize("ranks", [2, 8])
def test_what_one_rank_prints_is_kept_whole(lines: list[str], ranks: int) -> None:
    points, codes = _logged(ranks, lines)
    assert (len(points), codes) == (len(lines), [])


def test_what_comes_after_steps_that_are_proven_to_be_of_all_ranks_is_kept_where_it_is_not() -> None:
    lines = [f"step {step} loss 1.5\n" for step in range(1, 5) for _ in range(2)]
    alone = [f"step {step} loss 1.5\n" for _ in range(3) for step in range(5, 9)]
    assert _steps(_logged(2, lines + alone)[0]) == [1, 1, 2, 2, 3, 3, 4, *(list(range(5, 9)) * 3)]


def test_lines_that_name_their_rank_are_all_kept() -> None:
    named = "".join(f"[rank{rank}]: step {step} loss 1.{rank}\n" for step in range(1, 5) for rank in (1, 0))
    log = TrainLog()
    log.feed(_launched(2))
    assert [point.rank for point in log.feed(named) + log.finish()] == [1, 0] * 4
