"""OLMo's blocks of a step, and LeRobot's lines with rounded counts."""

from collections.abc import Iterator

import pytest

from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.metrics.points import Point

OLMO = """\
2026-02-03 10:01:11.123\tnode:0\tolmo.train:967\tINFO\t[step=1/2000,epoch=0]
    optim/total_grad_norm=0.8125
    train/CrossEntropyLoss=11.02
    train/Perplexity=61,083
    throughput/total_tokens=4,194,304
    throughput/device/tokens_per_second=9,100
    System/Peak GPU Memory (MB)=33,000
Warning: a line of another rank
    train/CrossEntropyLoss=0.5 is what this line does not say
2026-02-03 10:01:14.456\tnode:0\tolmo.train:967\tINFO\t[step=2/2000,epoch=0]
    train/CrossEntropyLoss=10.75
"""
OLMO_CORE = """\
2026-02-03 10:01:11.123\tnode:0\tolmo_core.train.callbacks.console_logger:60\tINFO\t[step=500/2,000,epoch=1]
2026-02-03 10:01:11.123\tnode:0\tolmo_core.train.callbacks.console_logger:60\tINFO\t[step=500/2000,epoch=1,eta=1h]
    optim/LR (group 0)=0.0003
    optim/total grad norm=0.3
    throughput/device/TPS=12,500
    train/CE loss=2.5
    train/eta=1h
"""
LEROBOT = """\
INFO 2026-02-03 10:01:11 ot_train.py:443 step:800 smpl:6K ep:31 epch:0.93 loss:2.500 grdn:23.125 lr:1.0e-05 updt_s:0.120
INFO 2026-02-03 10:02:11 ot_train.py:443 step:1K smpl:8K ep:39 epch:1.24 loss:2.300 grdn:24.125 lr:1.0e-05 updt_s:0.120
INFO 2026-02-03 10:03:11 ot_train.py:443 step:1K smpl:10K ep:47 epch:1.55 loss:2.250 grdn:23.500 lr:1.0e-05 updt_s:0.120
step:2M smpl:16M ep:62K epch:310.00 loss:nan grdn:inf
"""


def points(output: str, size: int = 1 << 20, *, skims: bool = False) -> Iterator[Point]:
    log, raw = TrainLog(), output.encode()
    for at in range(0, len(raw), size):
        yield from (log.skim if skims else log.feed)(raw[at : at + size])
    yield from log.finish()


def read(
    output: str, size: int = 1 << 20, *, skims: bool = False
) -> list[tuple[int | None, float | None, dict[str, float]]]:
    return [(one.step, one.epoch, dict(one.values)) for one in points(output, size, skims=skims)]


@pytest.mark.parametrize("skims", [False, True])
@pytest.mark.parametrize("size", [1, 37, 1 << 20])
def test_the_lines_of_an_olmo_block_are_of_its_step(size: int, skims: bool) -> None:
    assert read(OLMO, size, skims=skims) == [
        (1, 0.0, {"grad_norm": 0.8125}),
        (1, 0.0, {"loss": 11.02}),
        (1, 0.0, {"perplexity": 61083.0}),
        (1, 0.0, {"tokens_per_second_per_gpu": 9100.0}),
        (2, 0.0, {"loss": 10.75}),
    ]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("INFO loss: 0.52 lr: 1e-4 [step=10/1000]", {"loss": 0.52, "learning_rate": 1e-4}),
        ("loss=0.52 [step=10/1000]", {"loss": 0.52}),
        ("{'loss': 0.5, 'learning_rate': 1e-4} [step=10/1000]", {"loss": 0.5, "learning_rate": 1e-4}),
    ],
)
def test_what_another_line_that_ends_in_a_step_says_counts(line: str, values: dict[str, float]) -> None:
    found: dict[str, float] = {}
    for _, _, told in read(f"{line}\n"):
        found |= told
    assert found == values


def test_held_out_values_in_a_block_are_evaluations_and_a_total_may_have_commas() -> None:
    block = "INFO [step=1,500/2,000,epoch=1]\n    eval/loss=0.7\n    train/CE loss=2.5\n"
    assert [(one.step, one.epoch, one.kind) for one in points(block)] == [(1500, 1.0, "eval"), (1500, 1.0, "train")]


def test_olmo_core_spells_them_otherwise() -> None:
    assert read(OLMO_CORE) == [
        (500, 1.0, {"learning_rate": 0.0003}),
        (500, 1.0, {"grad_norm": 0.3}),
        (500, 1.0, {"tokens_per_second_per_gpu": 12500.0}),
        (500, 1.0, {"loss": 2.5}),
    ]


def test_blocks_say_how_far_it_is() -> None:
    log = TrainLog()
    for step in range(1, 60):  # longer than it takes to learn what lines say nothing
        log.feed(f"[step={step}/60]\n    train/CrossEntropyLoss={9 - step / 60:.3f}\n    train/ZLoss=0.1\n")
    assert log.progress is not None
    assert (log.progress.step, log.progress.total, log.phase) == (59, 60, "training")


def test_a_duration_in_tokens_is_no_number_of_steps() -> None:
    log = TrainLog()
    (point,) = log.feed("[step=7/2e12T]\n    train/CrossEntropyLoss=3.5\n")
    assert (point.step, log.progress and log.progress.total) == (7, None)


@pytest.mark.parametrize("size", [1, 37, 1 << 20])
def test_lerobots_counts_are_thousands_and_millions(size: int) -> None:
    found = read(LEROBOT, size)
    assert [(step, epoch, values["loss"]) for step, epoch, values in found[:3]] == [
        (800, 0.93, 2.5),
        (1000, 1.24, 2.3),
        (1000, 1.55, 2.25),
    ]
    assert found[0][2] == {"loss": 2.5, "grad_norm": 23.125, "learning_rate": 1e-05}
    assert (found[3][0], str(found[3][2])) == (2_000_000, "{'loss': nan, 'grad_norm': inf}")


def test_learned_lines_and_others_agree_on_the_step() -> None:
    lines = [f"step:{n * 100} smpl:{n}K ep:1 epch:0.{n} loss:1.{n} grdn:2.5 lr:1.0e-05\n" for n in range(1, 10)]
    lines += [f"step:{n}K smpl:{n * 8}K ep:{n} epch:{n}.50 loss:0.{n} grdn:2.5 lr:1.0e-05\n" for n in range(1, 10)]
    steps = [one.step for one in points("".join(lines))]
    assert steps == [*range(100, 1000, 100), *range(1000, 10000, 1000)]


@pytest.mark.parametrize("line", ["smpl:4 loss:3.5 for each\n", "a step:1K is told\n", "step:1K smpl:8K loss:2.5x\n"])
def test_what_only_looks_like_it_gives_no_step(line: str) -> None:
    assert [one.step for one in points(line) if one.step] == []


@pytest.mark.parametrize("step", ["9999999999999999999", "9,999,999,999,999,999,999"])
@pytest.mark.parametrize(
    "lines",
    [
        "[step={0}/60]\n    train/CrossEntropyLoss=2.5\n",
        "[step=1/{0}]\n    train/CrossEntropyLoss=2.5\n",
        "***** Running training *****\n  Num Epochs = {0}\n  Total optimization steps = {0}\n",
        "***** Running training *****\n  Total optimization steps = 60\n  Continuing training from global step {0}\n",
    ],
)
def test_what_is_too_large_for_a_step_is_none(step: str, lines: str) -> None:
    log = TrainLog()
    points = [*log.feed(lines.format(step).encode()), *log.finish()]
    assert all((point.step or 0) < 10 for point in points)
    assert log.progress is None or (log.progress.step < 10 and log.progress.total in (None, 60))
