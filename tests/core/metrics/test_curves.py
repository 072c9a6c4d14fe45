"""Points and samples as they are kept and read back: whole, in order, from any offset, whatever the disk did."""

import errno
import json
import math
import os
from pathlib import Path

import pytest

from dsgui.core.metrics.curves import MOST_SERIES, RECORD, Series, SeriesTable
from dsgui.core.metrics.logged_files import history, history_points
from dsgui.core.metrics.points import Event, Point
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.shell.logs.growing import Appender, RecordFile
from dsgui.shell.logs.records import MOST_EVENTS, MOST_TABLES, Records
from dsgui.shell.runs.curve_reader import read_points, read_samples
from dsgui.shell.runs.store import RunDirectory


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path)


def records(directory: RunDirectory, now: list[float]) -> Records:
    return Records(directory, lambda: 0.0, lambda: now[0])


def test_what_was_logged_is_read_from_where_the_last_reading_stopped(directory: RunDirectory) -> None:
    now = [1.5]
    writer = records(directory, now)
    writer.take_points([Point(1, 0.5, {"loss": 2.0, "learning_rate": 0.1}), Point(1, None, {"loss": 3.0}, rank=1)])
    curves, end = read_points(directory)
    assert [(one.series, one.value.tolist()) for one in curves.values()] == [
        (Series("loss"), [2.0]), (Series("learning_rate"), [0.1]), (Series("loss", rank=1), [3.0]),
    ]  # fmt: skip
    assert (curves[0].step[0], curves[0].epoch[0], curves[0].time[0]) == (1, 0.5, 1.5)
    assert math.isnan(curves[2].epoch[0])

    now[0] = 2.5
    writer.take_points([Point(None, None, {"loss": math.nan})])
    news, last = read_points(directory, end)
    assert list(news) == [0]
    assert math.isnan(news[0].step[0])
    assert math.isnan(news[0].value[0])
    assert last - end == RECORD.size
    assert read_points(directory, last) == ({}, last)


def test_a_record_that_is_being_written_waits_and_a_series_nobody_named_is_left_out(directory: RunDirectory) -> None:
    records(directory, [0.0]).take_points([Point(1, None, {"loss": 2.0})])
    with directory.points_file.open("ab") as file:
        file.write(RECORD.pack(7, 0, 1, 1, 9.0) + b"half")
    curves, end = read_points(directory)
    assert list(curves) == [0]
    assert end == 2 * RECORD.size


def test_more_series_than_are_kept_are_left_out_and_the_others_stay() -> None:
    table = SeriesTable()
    for number in range(MOST_SERIES + 50):
        found = table.encode(Point(1, None, {f"value {number}": 1.0}), 0.0)
        assert len(found) == (RECORD.size if number < MOST_SERIES else 0)
    assert len(table.encode(Point(2, None, {"value 0": 1.0, "another": 2.0}), 0.0)) == RECORD.size


def test_samples_are_columns_and_another_set_of_them_begins_another_table(directory: RunDirectory) -> None:
    writer = records(directory, [0.0])
    writer.take_sample(Sample(100.0, 5, 10, None, 50.0, (), 1.0))
    writer.take_sample(Sample(101.0, 6, 10, 3, 60.0, (), 2.0))
    writer.take_sample(Sample(101.0, 7, 10, 3, 60.0, (), 2.0), node="worker-1")
    writer.take_sample(Sample(102.0, 8, 10, 3, 70.0, (GpuSample(2, "A card", 9),), 3.0))
    tables = directory.sample_tables()
    assert [(table.node, dict(table.gpus)) for table in tables] == [("", {}), ("worker-1", {}), ("", {2: "A card"})]
    curves, ends = read_samples(directory, tables)
    named = {(number, curve.series.name): curve for (number, _), curve in curves.items()}
    assert named[0, "host_used_bytes"].value.tolist() == [5, 6]
    assert named[0, "host_used_bytes"].time.tolist() == [1, 2]
    assert named[1, "host_used_bytes"].series.node == "worker-1"
    assert named[2, "gpu2.used_bytes"].value.tolist() == [9]
    assert (2, "gpu2.total_bytes") not in named  # what a card never told is no curve of zeros
    assert read_samples(directory, tables, ends) == ({}, ends)
    assert directory.last_elapsed_s() == 3.0


def test_readings_that_come_back_go_on_in_their_table(directory: RunDirectory) -> None:
    writer = records(directory, [0.0])
    for second in range(10):
        gpus = (GpuSample(0, "A card", 9),) if second % 2 else ()
        writer.take_sample(Sample(0.0, second, 10, None, None, gpus, float(second)))
    writer.take_sample(Sample(0.0, 10, 10, None, None, (), 10.0))
    tables = directory.sample_tables()
    assert len(tables) == 2
    times = {key: curve.time.tolist() for key, curve in read_samples(directory, tables)[0].items()}
    assert (times[0, 2], times[1, 2]) == ([0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9])
    assert directory.last_elapsed_s() == 10.0
    writer.take_sample(Sample(0.0, 11, 10, None, None, (GpuSample(0, "A card", 9),), 9.5))
    assert directory.last_elapsed_s() == 10.0


def test_the_sets_of_readings_that_are_kept_are_bounded_and_that_is_said_once(
    directory: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = records(directory, [0.0])
    for number in range(MOST_TABLES + 5):
        writer.take_sample(Sample(0.0, 1, 2, None, None, (GpuSample(0, f"card {number}"),), float(number)))
    writer.take_sample(Sample(0.0, 1, 2, None, None, (GpuSample(0, "card 0"),), 999.0))
    assert len(directory.sample_tables()) == MOST_TABLES
    assert directory.last_elapsed_s() == 999.0
    assert capsys.readouterr().err.count("are left out") == 1


def test_a_disk_that_refuses_a_table_costs_no_descriptor(
    directory: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = records(directory, [0.0])

    def refuse(*given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as full:
        full.setattr(RunDirectory, "write_sample_table", refuse)
        for second in range(20):
            writer.take_sample(Sample(0.0, 1, 2, None, None, (), float(second)))
    assert len(os.listdir("/proc/self/fd")) == before
    writer.take_sample(Sample(0.0, 1, 2, None, None, (), 20.0))
    assert directory.last_elapsed_s() == 20.0


def test_a_disk_that_was_full_for_a_while_shifts_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RecordFile(tmp_path / "records", 4)
    file.write(b"aaaa")
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:-1]))
        with pytest.raises(OSError, match="No space") as refused:
            file.write(b"bbbb")
        assert refused.value.errno == errno.ENOSPC
        with pytest.raises(OSError, match="No space"):
            file.write(b"ccccddddeeee")
    file.write(b"ffff")
    file.close()
    # A reader may have seen the whole ones before the part was taken back, and asks for what comes after them.
    assert (tmp_path / "records").read_bytes() == b"aaaaccccddddffff"


def test_a_line_that_a_full_disk_cuts_short_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = Appender(tmp_path / "lines"), os.write

    def cut(descriptor: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(errno.ENOSPC, "No space left")
        return write(descriptor, data[:10])

    file.write_json({"number": 1})
    with monkeypatch.context() as full:
        full.setattr(os, "write", cut)
        with pytest.raises(OSError, match="No space"):
            file.write_json({"number": 2})
    file.write_json({"number": 3})
    file.close()
    lines = (tmp_path / "lines").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 3]


def test_what_a_crash_left_half_written_is_overwritten_by_whole_records(tmp_path: Path) -> None:
    (tmp_path / "records").write_bytes(b"aaaabb")
    file = RecordFile(tmp_path / "records", 4)
    file.write(b"cccc")
    file.close()
    assert (tmp_path / "records").read_bytes() == b"aaaacccc"


def test_events_are_kept_with_their_time_and_their_number_is_bounded(directory: RunDirectory) -> None:
    writer = records(directory, [4.25])
    for number in range(MOST_EVENTS + 10):
        writer.take_event(Event("overflow", f"overflow {number}", number))
    lines = directory.events_file.read_text().splitlines()
    assert len(lines) == MOST_EVENTS
    assert lines[0] == '{"kind": "overflow", "text": "overflow 0", "step": 0, "elapsed_s": 4.25}'


def test_thousands_of_overflows_leave_room_for_what_needs_a_look(directory: RunDirectory) -> None:
    writer = records(directory, [0.0])
    for number in range(MOST_EVENTS + 10):
        writer.take_event(Event("overflow", "overflow", number))
    for number in range(MOST_EVENTS + 10):
        writer.take_event(Event("calm" if number % 2 else "alert", "loss is NaN.", number, "loss 0"))
    writer.take_event(Event("stop", "Stopped.", None))
    kinds = [json.loads(line)["kind"] for line in directory.events_file.read_text().splitlines()]
    assert len(kinds) == 2 * MOST_EVENTS + 11
    assert kinds[-1] == "stop"


def test_the_memory_of_another_machine_is_told_too(directory: RunDirectory) -> None:
    writer = records(directory, [0.0])
    for node in ("worker-1", "worker-2"):
        writer.take_sample(Sample(0.0, 99, 100, None, None, (), 1.0), node)
    subjects = [json.loads(line)["subject"] for line in directory.events_file.read_text().splitlines()]
    assert subjects == ["worker-1 memory", "worker-2 memory"]


def test_a_name_with_half_a_surrogate_pair_can_be_sent_to_the_page(directory: RunDirectory) -> None:
    writer = records(directory, [0.0])
    writer.take_points(history_points(history(r'{"log_history": [{"step": 1, "\ud800x": 1.0}]}')))
    writer.take_sample(Sample(0.0, 1, 2, None, None, (GpuSample(0, "\udc00 card"),), 1.0), "worker\udfff")
    (series,), (table,) = directory.read_series(), directory.sample_tables()
    assert (series.name, table.gpus, table.node) == ("?x", {0: "? card"}, "worker?")
    # A run of before may have kept it.
    assert Series.from_json({"name": "\ud800x"}).name == "?x"


@pytest.mark.parametrize("ticks", [0, 1, 3, 8])
def test_a_pattern_added_just_before_the_end_reads_each_line_once(directory: RunDirectory, ticks: int) -> None:
    clock = iter(range(1_000_000))
    writer = Records(directory, lambda: next(clock) / 10, lambda: 0.0)  # each tick reads a part
    writer.take_output(b"".join(b"it %d : quality=0.5\n" % step for step in range(9000)))
    directory.write_patterns(["it {step} : quality={quality}"])
    for _ in range(ticks):
        writer.look_for_patterns()
    writer.take_output(b"it 9000 : quality=0.5\nit 9001 : quality=0.5")
    writer.finish()
    (curve,) = read_points(directory)[0].values()
    assert (curve.series.name, curve.step.tolist()) == ("quality", list(range(9002)))


def test_an_end_does_not_wait_for_a_pattern_for_long(
    directory: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1_000_000, 3))
    writer = Records(directory, lambda: next(clock), lambda: 0.0)
    writer.take_output(b"".join(b"it %d : quality=0.5\n" % step for step in range(20_000)))
    directory.write_patterns(["it {step} : quality={quality}"])
    writer.finish()
    (curve,) = read_points(directory)[0].values()
    assert 0 < len(curve) < 20_000
    assert "did not read all" in capsys.readouterr().err


def test_the_lr_of_a_loop_of_ones_own_is_the_learning_rate() -> None:
    entries = [{"step": 1, "loss": 2.0, "lr": 1e-4}, {"step": 2, "lr": 3.0, "learning_rate": 1e-5}]
    assert [one.values for one in history_points(entries)] == [
        {"loss": 2.0, "learning_rate": 1e-4},
        {"learning_rate": 1e-5},
    ]
