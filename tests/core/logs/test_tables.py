"""Tables of steps in a training's output, and in the CSV files of others."""

import pytest

from dsgui.core.logs.trainlog import TrainLog
from tests.support.cases import each_case


def read(text: str) -> list[tuple]:
    log = TrainLog()
    found = [*log.feed(text.encode()), *log.finish()]
    return [(one.kind, one.step, one.epoch, dict(one.values)) for one in found]


@pytest.mark.parametrize("mark", ["\t", ",", ";", " | ", "   "])
def test_lines_of_numbers_under_a_line_of_names_are_read(mark):
    lines = [("step", "loss", "lr", "note"), ("10", "8.46", "1e-4", "a"), ("20", "7.68", "9e-5", "b")]
    assert read("\n".join(mark.join(line) for line in lines) + "\n") == [
        ("train", 10, None, {"loss": 8.46, "learning_rate": 1e-4}),
        ("train", 20, None, {"loss": 7.68, "learning_rate": 9e-5}),
    ]


def test_columns_of_an_evaluation_are_one_and_empty_cells_are_no_values():
    lightning = "epoch,step,train_loss,val_acc,val_loss\n0,49,0.7,,\n0,99,,0.5,0.6\n1,149,0.4,,\n"
    assert read(lightning) == [
        ("train", 49, 0, {"train_loss": 0.7}),
        ("eval", 99, 0, {"val_acc": 0.5, "val_loss": 0.6}),
        ("train", 149, 1, {"train_loss": 0.4}),
    ]
    ultralytics = "  epoch,  train/box_loss,  metrics/mAP50(B),  val/box_loss, lr/pg0\n 1, 1.2, 0.3, 1.4, 0.07\n"
    assert read(ultralytics) == [
        ("train", None, 1, {"train/box_loss": 1.2, "metrics/mAP50(B)": 0.3}),
        ("eval", None, 1, {"val/box_loss": 1.4}),
    ]


def test_a_table_between_other_lines_ends_with_its_last_row():
    skorch = (
        "Loading data\n  epoch    train_loss    valid_loss     dur\n-------  ------------  ------------  ------\n"
        "      1        0.6905        0.6601  0.0210\n      2        0.6648        0.6450  0.0180\nDone: 2 3 4\n3 4 5\n"
    )
    assert [epoch for _, _, epoch, _ in read(skorch)] == [1, 1, 2, 2]


@each_case(
    "text",
    [
        "name,loss\na,3\nb,4\n",  # of no steps
        "step,host\n1,2\n",  # nothing measured
        "In each step, the loss falls\n1, 2\n",
        "step loss\n1 2\n",  # words
        "id,question,epoch\n1,2,3\n",
        "step,step,loss\n1,2,3\n",
        "step,loss\n",
        "step,loss\nhello, world\n",
    ],
)
def test_what_is_no_table_of_steps_is_none(text):
    assert read(text) == []


def test_it_is_read_alike_however_it_is_cut():
    text = "step\tloss\n" + "".join(f"{step}\t{4 / step}\n" for step in range(1, 50))
    whole = TrainLog().feed(text.encode())
    for size in (1, 7, 64):
        log = TrainLog()
        parts = [text.encode()[at : at + size] for at in range(0, len(text), size)]
        assert [point for part in parts for point in log.feed(part)] == whole
