"""TensorBoard's event files as its own packages write and read them."""

from pathlib import Path

import pytest

pytest.importorskip("tensorboard", reason="the tensorboard package is in requirements-dev.txt")


def write_scalars(folder, rows, **how):
    """With torch's writer; `rows` are (tag, value, step). Returns the file."""
    from torch.utils.tensorboard import SummaryWriter

    before = set(Path(folder).glob("events.out.tfevents.*"))
    writer = SummaryWriter(str(folder))
    for tag, value, step in rows:
        writer.add_scalar(tag, value, step, **how)
    writer.close()
    (made,) = set(Path(folder).glob("events.out.tfevents.*")) - before
    return made


def read_scalars(folder):
    """As TensorBoard reads them, none left out: tag → [(step, value, wall time)]."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    accumulator.Reload()
    return {
        tag: [(event.step, event.value, event.wall_time) for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }
