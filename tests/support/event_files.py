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


def write_records(path, rows, at=1_700_000_000.0):
    """Without torch, whose writer takes seconds to import: `rows` as above, a second apart. Returns the file."""
    import struct

    from tensorboard.compat.proto.event_pb2 import Event

    from dsgui.core.metrics.event_file import masked_crc

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for number, (tag, value, step) in enumerate(rows):
            event = Event(wall_time=at + number, step=step)
            event.summary.value.add(tag=tag, simple_value=value)
            body, length = event.SerializeToString(), struct.pack("<Q", event.ByteSize())
            crcs = (struct.pack("<I", masked_crc(part)) for part in (length, body))
            file.write(length + next(crcs) + body + next(crcs))
    return path
