"""Event files of the real writer, read by dsgui: every scalar, however the file is cut, and nothing of a broken one."""

import itertools
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.metrics.event_file import EventFile, event_scalars, masked_crc
from tests.support.event_files import read_scalars, write_scalars

VALUES = (3.5, -2.0, math.nan, math.inf, -math.inf, 0.0, 1e-30)
ROWS = [("Train/Samples/train_loss", value, place * 8) for place, value in enumerate(VALUES)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file with scalars of each encoding and, between them, what is none."""
    from torch.utils.tensorboard import SummaryWriter

    folder = tmp_path_factory.mktemp("events")
    writer = SummaryWriter(str(folder))
    for tag, value, step in ROWS:
        writer.add_scalar(tag, value, step)
    writer.add_text("args", "{}")
    writer.add_histogram("weights", np.arange(3000.0), 1, bins=2000)
    writer.add_scalar("new", 1.5, 1 << 40, new_style=True)
    writer.add_scalar("exact", 1.25, 7, double_precision=True)
    writer.close()
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def content(written):
    return written.read_bytes()


def read(content, *cuts):
    reader, found, edges = EventFile(), [], [0, *sorted(cuts), len(content)]
    for begin, end in itertools.pairwise(edges):
        found += reader.feed(content[begin:end])
    return reader, found


def by_tag(scalars):
    tags = {}
    for one in scalars:
        tags.setdefault(one.tag, []).append((one.step, one.value, one.wall_time))
    return tags


def test_every_scalar_is_read_as_tensorboard_reads_it(written, content):
    reader, found = read(content)
    theirs = read_scalars(written.parent)
    assert len(content) > 16_384 * 2  # the histogram is one of those that are passed over
    assert (reader.broken, reader.odd, reader.read_bytes) == ("", 0, len(content))
    ours = by_tag(found)
    assert ours.pop("new") == [(1 << 40, 1.5, ours_wall(found, "new"))]  # TensorBoard counts it among its tensors
    assert repr(ours) == repr(theirs)
    assert [value for _, value, _ in ours["exact"]] == [1.25]


def ours_wall(found, tag):
    return next(one.wall_time for one in found if one.tag == tag)


@given(st.data())
def test_how_the_file_is_cut_changes_nothing(content, data):
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=8))
    reader, found = read(content, *cuts)
    assert repr(found) == repr(read(content)[1])
    assert reader.read_bytes == len(content)


@given(st.data())
def test_a_file_cut_short_gives_its_beginning_and_is_not_called_broken(content, data):
    length = data.draw(st.integers(0, len(content)))
    reader, found = read(content[:length])
    whole = read(content)[1]
    assert reader.broken == ""
    assert repr(found) == repr(whole[: len(found)])
    found += reader.feed(content[length:])
    assert repr(found) == repr(whole)


@given(st.data())
def test_a_flipped_bit_in_a_scalar_ends_the_file_there(content, data):
    start = content.index(b"\x1a\rbrain.Event:2") + 100
    end = content.index(b"args/text_summary") - 40
    place = data.draw(st.integers(start, end))
    bad = bytearray(content)
    bad[place] ^= 1 << data.draw(st.integers(0, 7))
    reader, found = read(bytes(bad))
    assert "checksum" in reader.broken
    assert reader.read_bytes <= place
    assert repr(found) == repr(read(content)[1][: len(found)])
    assert reader.feed(content) == []


@given(st.binary(max_size=400))
def test_any_bytes_harm_nothing(data):
    reader = EventFile()
    reader.feed(data)
    record = struct.pack("<Q", len(data))
    framed = record + struct.pack("<I", masked_crc(record)) + data + struct.pack("<I", masked_crc(data))
    reader = EventFile()
    reader.feed(framed)
    assert reader.read_bytes == len(framed)
    assert reader.broken == ""


def test_a_record_of_any_length_takes_no_memory():
    header = struct.pack("<Q", 1 << 39)
    reader = EventFile()
    for _ in range(50):
        reader.feed(header + struct.pack("<I", masked_crc(header)) if not reader.read_bytes else bytes(1 << 16))
        assert len(reader._rest) == 0
    assert reader.broken == ""


def test_no_scalar_is_a_tensor_with_dimensions_or_words():
    tensor = b"\x08\x01\x12\x04\x12\x02\x08\x01\x2a\x04" + struct.pack("<f", 1.5)  # float, shape [1]
    words = b"\x08\x07\x42\x02{}"
    for body in (tensor, words):
        value = b"\x0a\x01t\x42" + bytes([len(body)]) + body
        summary = b"\x0a" + bytes([len(value)]) + value
        assert event_scalars(b"\x10\x01\x2a" + bytes([len(summary)]) + summary) == []


def test_a_step_below_zero_is_read():
    value = b"\x0a\x01t\x15" + struct.pack("<f", 1.5)
    summary = b"\x0a" + bytes([len(value)]) + value
    step = b"\x10" + b"\xff" * 9 + b"\x01"
    assert event_scalars(step + b"\x2a" + bytes([len(summary)]) + summary)[0].step == -1


def test_a_second_file_of_the_writer_begins_anew(tmp_path):
    path = write_scalars(tmp_path, [("loss", 1.0, 1)])
    assert [one.tag for one in read(path.read_bytes())[1]] == ["loss"]
