"""What real trainings print is read: recorded outputs beside the points and events in them, and lines that are none."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.metrics.points import Event, Point, number_to_json
from tests.support.cases import AS_USUAL, each_case

FOLDER = Path(__file__).parents[2] / "outputs"
SAMPLES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def read(output: bytes, sizes: list[int] | None = None, skims: list[bool] | None = None) -> tuple[list, list, int]:
    """The points, the events and the bad lines. `sizes`: how it is cut; `skims`: which pieces come in a rush."""
    log, start, turn, points, events = TrainLog(), 0, 0, [], []
    while start < len(output):
        size = sizes[turn % len(sizes)] if sizes else len(output)
        take = log.skim if skims and skims[turn % len(skims)] else log.feed
        points += take(output[start : start + size])
        events += log.take_events()
        start, turn = start + size, turn + 1
    points += log.finish()
    return points, events + log.take_events(), log.bad_lines


def point_as_json(point: Point) -> dict:
    values = {name: number_to_json(value) for name, value in point.values.items()}
    known = {"step": point.step, "epoch": point.epoch, "rank": point.rank, "kind": point.kind}
    return {name: value for name, value in known.items() if value is not None} | {"values": values}


def as_json(points: list[Point], events: list[Event], bad_lines: int) -> dict:
    return {
        "points": [point_as_json(point) for point in points],
        "events": [event.to_json() for event in events],
        "bad_lines": bad_lines,
    }


def output(name: str) -> bytes:
    return (FOLDER / f"{name}.txt").read_bytes()


@cache
def read_whole(name: str) -> tuple[list, list, int]:
    return read(output(name))


@each_case("name", SAMPLES)
def test_an_output_gives_its_points_and_events(name: str) -> None:
    expected = json.loads((FOLDER / f"{name}.points.json").read_text("utf-8"))
    assert as_json(*read(output(name))) == expected


def test_every_kind_of_source_has_a_sample() -> None:
    assert len(SAMPLES) >= 15
    assert sum(not name.startswith("written-") for name in SAMPLES) >= 9


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=AS_USUAL // 6)
@given(st.lists(st.integers(1, 400) | st.integers(400, 40_000), min_size=1, max_size=12))
def test_how_an_output_is_cut_changes_nothing(name: str, sizes: list[int]) -> None:
    assert as_json(*read(output(name), sizes)) == as_json(*read_whole(name))


def test_what_a_flood_passed_over_ends_no_block_of_metrics_that_began_behind_it() -> None:
    """A rush ends right behind the block's heading."""
    name = "trainer-not-logged-info"
    skimmed, whole = read(output(name), [793], [False, True])[0], read(output(name))[0]
    assert sorted(repr(one.values) for one in skimmed) == sorted(repr(one.values) for one in whole)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=AS_USUAL // 10)
@given(st.lists(st.integers(1, 4000), min_size=1, max_size=8), st.lists(st.booleans(), min_size=1, max_size=8))
def test_in_a_flood_the_same_values_are_found(name: str, sizes: list[int], skims: list[bool]) -> None:
    skimmed, whole = read(output(name), sizes, skims)[0], read_whole(name)[0]
    # A line that is passed over ages no dict, so the order of what waits for a bar may differ.
    assert sorted(repr(one.values) for one in skimmed) == sorted(repr(one.values) for one in whole)


@each_case("name", SAMPLES)
def test_a_shape_that_is_known_is_read_as_the_long_way_reads_it(name: str) -> None:
    """Four times over: by then every line that repeats is read the short way. Without shapes: in pieces of a line."""
    text = output(name) + b"\n"
    short, long = TrainLog(), TrainLog()
    found = [one for _ in range(4) for one in short.feed(text)] + short.finish()
    pieces = [piece + b"\n" for piece in (text * 4).replace(b"\r", b"\n").split(b"\n")]
    expected = [one for piece in pieces for one in long.feed(piece)] + long.finish()
    assert list(map(repr, found)) == list(map(repr, expected))


LINES = {
    "loss: 2.31": (None, {"loss": 2.31}),
    "Loss = 0.0": (None, {"loss": 0.0}),
    "loss=nan": (None, {"loss": "NaN"}),
    "train loss: inf": (None, {"loss": "Infinity"}),
    "step=10 loss=2.3": (10, {"loss": 2.3}),
    "[INFO] loss: 2.5": (None, {"loss": 2.5}),
    "2024-05-01 10:00:00,123 - INFO - __main__ - step 10: loss 2.5": (10, {"loss": 2.5}),
    "2024-05-01 10:00:00.123 | INFO     | __main__:train:33 - step 10 loss 2.5": (10, {"loss": 2.5}),
    "INFO:__main__:step 10 loss 2.5": (10, {"loss": 2.5}),
    "[INFO|trainer.py:2123] 2024-05-01 10:00:00,123 >> step 10 loss 2.5": (10, {"loss": 2.5}),
    "iteration 10 | loss 2.3": (10, {"loss": 2.3}),
    "Iter 10/100, Loss: 2.3, lr: 1e-4": (10, {"loss": 2.3, "learning_rate": 1e-4}),
    "iter 0: loss 4.1, time 12.50ms, mfu 3.2": (0, {"loss": 4.1, "mfu": 3.2}),
    "At step 10, loss = 2.31": (10, {"loss": 2.31}),
    '{"step": 10, "loss": 2.3}': (10, {"loss": 2.3}),
    '{"step": 10, "train": {"loss": 2.3, "lr": 0.1}}': (10, {"loss": 2.3, "learning_rate": 0.1}),
    "{'loss': 0.0}": (None, {"loss": 0.0}),
    "step 100 | loss 2.5 | 1234.5 tokens/s": (100, {"loss": 2.5, "tokens_per_second": 1234.5}),
    "step: 7, samples/sec: 12.5, loss: 1.5": (7, {"samples_per_second": 12.5, "loss": 1.5}),
    "Validation loss: 1.75": (None, {"eval_loss": 1.75}),
    "[rank3]: step=10 loss=2.3": (10, {"loss": 2.3}),
    "100/100 [==============================] - 3s 10ms/step - loss: 0.5 - accuracy: 0.9":
        (100, {"loss": 0.5, "accuracy": 0.9}),
}  # fmt: skip


@each_case("line", LINES)
def test_lines_of_many_loops_are_read(line: str) -> None:
    (point,) = read(line.encode() + b"\n")[0]
    step, values = LINES[line]
    assert (point.step, point_as_json(point)["values"]) == (step, values)


NO_POINTS = """
the loss function is cross entropy with 3 classes
The loss is 2.3 times larger than before
We saw a packet loss of 0.5 percent
loss_scale: 0
  loss_scale ................... 0
loss_fn: 3
loss_weight = 0.5
  "loss": 0.5,
    loss=0.5,
--loss 2.3 --step 10
python train.py --step 3 --loss 0.5
Namespace(step=3, loss=0.5, lr=0.1)
TrainingArguments(step=1, loss=2.0)
  train_loss               =     7.1178
steps_per_print: 10, learning_rate: 0.1
warmup steps: 100, learning rate: 0.001
max_steps=100, loss_scale=1024
max_steps is given, it will override any value given in num_train_epochs
Instantaneous batch size per device = 8
Total optimization steps = 60
Number of trainable parameters = 4,848
Step 1: install the package, step 2: run it
step 3 of 4 of the tutorial
Resuming training from step 100
Loaded checkpoint at step 500 (loss 3 epochs ago)
ValueError: loss: nan is not finite at step
Warning: loss: 3 values were dropped
WARNING - the loss: 2.5 may be wrong
Note: loss = 3
Is loss: 3?
# loss: 2.5
- loss: 2.5
* loss: 0.5
stop loss: 3
weight loss = 3
{'lr': 0.1, 'betas': (0.9, 0.99)}
{"train_batch_size": 8, "fp16": {"enabled": true, "loss_scale": 0}, "steps_per_print": 10}
{'a': {'b': {'loss': 2.0}}}
{'loss': 'high'}
{'fp16': {'loss_scale': 0, 'initial_scale_power': 16}}
loss: 2.3.1
loss: 5%
loss: high
File "loss.py", line 3, in step
  File "train.py", line 10, in loss
    loss = model(x).loss / 4
time (ms) is what the times are in
MA is short for memory allocated
OVERFLOW is what a buffer does
100%|██████████| 3/3 [00:00<00:00, 203.61it/s]
Map: 100%|██████████| 500/500 [00:01<00:00, 400it/s, loss=3]
Epoch 3 step by step
step=
step= loss=
gradient_accumulation_steps ...... 2
[2026-11-21 22:18:44,867] [INFO] [logging.py:83:print_configuration]   skipped_steps ................ 0
wandb: loss ▁▂▃▄▅
wandb: Run summary: 3 loss curves
Epochs: 3, loss: mse
loss: 1e
""".strip("\n").split("\n")


@each_case("line", NO_POINTS)
def test_prose_configs_and_arguments_are_no_points(line: str) -> None:
    assert len(NO_POINTS) >= 40
    assert read(line.encode() + b"\n")[0] == []


def events(*lines: str) -> list[tuple[str, str, int | None]]:
    return [(one.kind, one.text, one.step) for one in read("\n".join(lines).encode() + b"\n")[1]]


def test_a_checkpoint_is_told_once_whatever_files_it_has() -> None:
    assert events(
        "step=5 loss=1",
        "Saving model checkpoint to out/checkpoint-5",
        "[Torch] Saved out/checkpoint-5/global_step5/mp_rank_00_model_states.pt.",
        "[Torch] Saved out/checkpoint-5/global_step5/zero_pp_rank_0_mp_rank_00_optim_states.pt.",
        "Saving model checkpoint to out/best",
        "step=6 loss=1",
        "Saving model checkpoint to out/best",
    ) == [
        ("checkpoint", "Saving model checkpoint to out/checkpoint-5", 5),
        ("checkpoint", "Saving model checkpoint to out/best", 5),
        ("checkpoint", "Saving model checkpoint to out/best", 6),
    ]


def test_a_warning_is_told_once_for_all_ranks_and_a_traceback_by_what_it_raised() -> None:
    assert events(
        "[rank0]: /a/b.py:12: UserWarning: slow",
        "[rank1]: /a/b.py:12: UserWarning: slow",
        "/a/b.py:12: FutureWarning: the default of x will change",
        "/a/b.py:12: DeprecationWarning: use y",
        "[2026-11-21 22:18:27,427] [WARNING] [engine.py:3:f] careful",
        "2026-11-21 22:18:28,427 - WARNING - __main__ - careful",
        "ERROR: it broke",
        "step=3 loss=1",
        "Traceback (most recent call last):",
        '  File "x.py", line 3, in f',
        "ValueError: bad",
    ) == [
        ("warning", "slow", None),
        ("warning", "careful", None),
        ("error", "it broke", None),
        ("error", "ValueError: bad", 3),
    ]


def test_events_are_bounded_in_number_and_length() -> None:
    names = [f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(2000)]
    found = events(*(f"WARNING: {name} {'x' * 1000}" for name in names))
    assert len(found) == 200
    assert {len(text) for _, text, _ in found} == {300}


def test_times_count_on_from_deepspeeds_own_line() -> None:
    time = "[Rank 0] time (ms) | fwd: 1.0 | bwd: 2.0 | step: 3.0"
    engine = "[Rank 0] step={}, skipped=0, lr=[0.1], mom=[0.9]"
    points = read("\n".join([time, engine.format(2), time, time, engine.format(4), time, ""]).encode())[0]
    assert [one.step for one in points if "step_ms" in one.values] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("between", "rates"),
    [
        ("", [0.1]),  # the critic's, beside the actor's
        ("[Rank 0] time (ms) | fwd: 1.0 | bwd: 2.0 | step: 3.0", [0.1]),
        ("loss 2.5", [0.1, 0.2]),
        ("{'loss': 2.5}", [0.1, 0.2]),
        ("step 9 grad_norm 1.5", [0.1, 0.2]),
    ],
)
def test_an_engine_that_trains_after_another_has_its_own_learning_rate(between: str, rates: list[float]) -> None:
    engine = "[Rank 0] step=10, skipped=0, lr=[{}], mom=[0.9]"
    points = read("\n".join([engine.format(0.1), between, engine.format(0.2), ""]).encode())[0]
    assert [one.values["learning_rate"] for one in points if "learning_rate" in one.values] == rates


def test_times_before_a_scripts_own_line_are_of_its_step() -> None:
    time = "[Rank 0] time (ms) | fwd: 1.0 | bwd: 2.0 | step: 3.0"
    points = read("\n".join([time, "step 1 loss 2", time, time, "step 3 loss 2", ""]).encode())[0]
    assert [one.step for one in points if "step_ms" in one.values] == [1, 2, 3]


def test_with_tokens_counted_no_line_but_the_last_is_the_end() -> None:
    log = TrainLog()
    log.feed("{'loss': '4.088', 'epoch': '0.1667', 'train_runtime': '0.0333', 'train_tokens_per_second': '962.2'}\n")
    assert not log.ending.finished
    (point,) = log.finish() or [Point(None, None, {})]
    assert point.kind == "train"


def told(pieces: list[str]) -> dict:
    """All that one reading of an output tells."""
    log = TrainLog()
    points = [point for piece in pieces for point in log.feed(piece)] + log.finish()
    return as_json(points, log.take_events(), log.bad_lines) | {
        "at": (log.progress, log.phase, log.ending.lost_numbers, log.ending.last_line)
    }


_STEP_LINES = (
    "step={n} loss={x} lr={y}",
    "step={n} loss={x} lr={y}",
    "Rank[{r}]: Epoch {e}, step {n} / 900, loss {x}",
    "iteration {n}/ 900 | lm loss: {x} | grad norm: {y}",
    '{{"step": {n}, "loss": {x}}}',
    "saved nothing",
)
_SPELLINGS = st.sampled_from(["0.5", "2.25", "1e-3", "nan", "inf", "-inf", "7", ".5", "3.", "1.2.3", "-", "1e", "0"])


@st.composite
def step_lines(draw: st.DrawFn) -> list[str]:
    """Stretches of lines of one kind, whose numbers are mostly numbers, and whose steps mostly go up."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        template, n = draw(st.sampled_from(_STEP_LINES)), draw(st.integers(0, 800))
        for _ in range(draw(st.integers(1, 12))):
            n += draw(st.sampled_from([1, 1, 1, 1, 0, -n]))
            x, y = draw(_SPELLINGS), draw(_SPELLINGS)
            lines.append(template.format(n=n, x=x, y=y, r=draw(st.integers(0, 1)), e=draw(st.integers(0, 2))))
    return lines


@given(step_lines())
@settings(max_examples=3 * AS_USUAL)
def test_lines_read_together_say_what_each_says_alone(lines: list[str]) -> None:
    known = [f"step={n} loss=0.{n} lr=0.{n}\n" for n in range(1, 9)]
    known += [f"Rank[{n % 2}]: Epoch 1, step {n} / 900, loss 0.{n}\n" for n in range(1, 17)]
    known += [f"iteration {n}/ 900 | lm loss: 0.{n} | grad norm: 0.{n}\n" for n in range(1, 9)]
    known += [f'{{"step": {n}, "loss": 0.{n}}}\n' for n in range(1, 9)]
    pieces = known + [f"{line}\n" for line in lines]
    assert told(["".join(pieces)]) == told(pieces)


_DRAWN = (
    "\r{p:3d}%|██  | {n}/900 [00:10<01:30,  9.9it/s]",
    "\r{p:3d}%|██  | {n}/900 [00:10<01:30,  9.9it/s]",
    "\r{p:3d}%|██  | {n}/900 [00:10<01:30,  9.9it/s, loss={x}]",
    "\r{p:3d}%|██  | {n}/40 [00:10<01:30,  9.9it/s]",
    "\n{{'loss': {x}, 'epoch': 0.1}}\n",
    "\nstep={n} loss={x}\n",
    "\n{{'eval_loss': {x}, 'epoch': 0.1}}\n",
    "\nsaved nothing\n",
)


@st.composite
def drawings(draw: st.DrawFn) -> list[str]:
    """Bars drawn again and again, most of them alike, with dicts, other bars and lines between."""
    pieces: list[str] = []
    for _ in range(draw(st.integers(1, 6))):
        template, n = draw(st.sampled_from(_DRAWN)), draw(st.integers(0, 900))
        for _ in range(draw(st.integers(1, 8))):
            n = max(n + draw(st.sampled_from([1, 1, 1, 0, -n])), 0)
            pieces.append(template.format(p=min(n // 9, 100), n=n, x=draw(st.sampled_from(["0.5", "2.25", "nan"]))))
    return pieces


@given(drawings())
@settings(max_examples=3 * AS_USUAL)
def test_bars_read_together_say_what_each_says_alone(pieces: list[str]) -> None:
    assert told(["".join(pieces)]) == told(pieces)
