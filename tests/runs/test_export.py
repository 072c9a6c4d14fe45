"""Exports hold every point, as other programs read them."""

import csv
import io
import math
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.cli import main
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.event_file import EventFile
from dsgui.core.metrics.event_writing import event_file_begin, event_records, tag_of
from dsgui.core.metrics.exporting import Block, cell, csv_rows
from dsgui.core.metrics.points import Point
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.runs.export import Exports
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.logs.records import Records
from dsgui.shell.runs.store import Store
from tests.security.table import bearer, serve
from tests.support.event_files import read_scalars
from tests.support.run_fixtures import bench  # noqa: F401

STARTED_AT = 1_790_000_000.25
NAN = math.nan
POINTS = (
    Point(1, 0.5, {"loss": 3.5, "learning_rate": 1e-3}),
    Point(2, 1.0, {"loss": NAN, "learning_rate": 2e-3}),
    Point(300, None, {"loss": math.inf}, rank=1),
    Point(None, 2.0, {"loss": -0.1}),
    Point(70_000, 3.0, {"eval_loss": 1.25}, "eval"),
    Point(3, 1.5, {"=cmd()": 7.0, "a,\"b\"": 8.0, "loss": 3.0}, source="tensorboard"),
)  # fmt: skip


def make_run(runs_dir, points=POINTS, samples=3):
    """A run as its supervisor leaves it; returns its id."""
    store = Store(runs_dir)
    directory = store.create(store.new_id())
    directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=STARTED_AT, lasted_s=20.0))
    now = [0.5]
    records = Records(directory, lambda: 0.0, lambda: now[0])
    records.take_points(points[:3])
    for number in range(samples):
        gpu = GpuSample(1, "card", used_bytes=100 + number, run_bytes=None)
        records.take_sample(Sample(0.0, 10, 20, 5, None if number else 1.0, (gpu,), 1.0 + number))
    records.take_sample(Sample(0.0, 11, 20, None, None, (), 2.0), "worker-1")
    now[0] = 1.0
    records.take_points(points[3:])
    records.finish()
    return store, directory.run_id


@pytest.fixture
def run(tmp_path):
    """Store, exports and id of a run."""
    store, run_id = make_run(tmp_path / "runs")
    return store, Exports(store, Runs(store, Launcher())), run_id


def csv_rows_of(pieces):
    return list(csv.DictReader(io.StringIO(b"".join(pieces).decode(), newline="")))


def test_csv_has_every_value_with_all_that_is_known_of_it(run):
    _, exports, run_id = run
    rows = csv_rows_of(exports.csv(run_id))
    logged = [row for row in rows if row["kind"] != "sample"]
    assert len(logged) == sum(len(point.values) for point in POINTS)
    assert logged[0] == {
        "step": "1", "epoch": "0.5", "elapsed_s": "0.500", "kind": "train", "rank": "", "source": "output", "node": "",
        "name": "loss", "value": "3.5",
    }  # fmt: skip
    assert [row["value"] for row in logged if row["name"] == "loss"] == ["3.5", "NaN", "Infinity", "-0.1", "3.0"]
    assert [row["step"] for row in logged if row["name"] == "loss"] == ["1", "2", "300", "", "3"]
    assert next(row["rank"] for row in logged if row["value"] == "Infinity") == "1"
    used = [row for row in rows if row["name"] == "gpu1.used_bytes"]
    assert [(row["elapsed_s"], row["value"]) for row in used] == [
        ("1.000", "100.0"),
        ("2.000", "101.0"),
        ("3.000", "102.0"),
    ]
    assert [row["node"] for row in rows if row["name"] == "host_used_bytes"] == ["", "", "", "worker-1"]
    assert "gpu1.run_bytes" not in {row["name"] for row in rows}  # the card did not tell
    assert sum(row["name"] == "cpu_percent" for row in rows) == 1


def test_pandas_reads_it_as_numbers(run):
    import pandas

    _, exports, run_id = run
    table = pandas.read_csv(io.BytesIO(b"".join(exports.csv(run_id))))
    assert table["value"].dtype == float
    assert table["step"].max() == 70_000
    assert np.isinf(table["value"]).sum() == 1


def test_no_name_is_a_formula(run):
    _, exports, run_id = run
    names = [row["name"] for row in csv_rows_of(exports.csv(run_id))]
    assert "'=cmd()" in names
    assert 'a,"b"' in names


@given(st.text(max_size=40))
def test_a_cell_is_one_cell_and_never_begins_a_formula(text):
    read, _ = next(csv.reader(io.StringIO(f"{cell(text)},x\r\n", newline="")))
    assert read in (text, f"'{text}")
    assert not read.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_a_value_in_csv_is_read_back_as_it_was(values):
    count = len(values)
    block = Block([Series("loss")], np.zeros(count, int), *(np.zeros(count),) * 3, np.array(values))
    found = [float(row.rsplit(",", 1)[1]) for row in csv_rows(block).splitlines()]
    assert found == values


# --- TensorBoard ------------------------------------------------------------------------------------------------------


def test_tensorboard_reads_back_exactly_the_same_points(run, tmp_path):
    _, exports, run_id = run
    with zipfile.ZipFile(io.BytesIO(b"".join(exports.tensorboard(run_id)))) as file:
        assert file.testzip() is None
        file.extractall(tmp_path / "out")
    training = read_scalars(tmp_path / "out" / run_id / "training")
    assert training["train/loss"][0] == (1, 3.5, STARTED_AT + 0.5)
    assert [(step, repr(value)) for step, value, _ in training["train/loss"]] == [
        (1, "3.5"), (2, "nan"), (1, repr(float(np.float32(-0.1))))]  # fmt: skip  # of the last no step is known: 1 s
    assert training["train/loss/rank 1"] == [(300, math.inf, STARTED_AT + 0.5)]
    assert training["eval/eval_loss"] == [(70_000, 1.25, STARTED_AT + 1)]
    assert {"train/=cmd()/tensorboard", "train/loss/tensorboard", "train/learning_rate"} <= set(training)
    telemetry = read_scalars(tmp_path / "out" / run_id / "telemetry")
    assert telemetry["gpu1.used_bytes"] == [(n, 99.0 + n, STARTED_AT + n) for n in (1, 2, 3)]
    assert telemetry["worker-1/host_used_bytes"] == [(2, 11.0, STARTED_AT + 2)]


@given(
    st.lists(
        st.tuples(
            st.integers(-5, 1 << 53),
            st.floats(width=32, allow_nan=False),
            st.integers(0, 2),
            st.floats(0, 1e6),
        ),
        max_size=40,
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300),
)
def test_whatever_is_written_is_read_back(rows, name):
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    step, value, number, at = columns
    series = [Series(name), Series("b" * 120, "eval"), Series("c", rank=2)]
    block = Block(
        series, np.array(number, int), np.array(step, float), np.zeros(len(rows)), np.array(at), np.array(value)
    )
    content = event_file_begin(STARTED_AT) + b"".join(event_records(block, STARTED_AT))
    reader = EventFile()
    found = sorted((one.tag, one.step, one.value, one.wall_time) for one in reader.feed(content))
    assert (reader.broken, reader.odd, reader.read_bytes) == ("", 0, len(content))
    wanted = [(tag_of(series[n])[:512], s, v, STARTED_AT + t) for s, v, n, t in rows]
    assert found == sorted((tag.encode()[:512].decode("utf-8", "replace"), *rest) for tag, *rest in wanted)


# --- for the whole run ------------------------------------------------------------------------------------------------


MILLION = 1_000_000


# Cheaper: half as many, with the same limit.
@pytest.fixture(params=[MILLION // 2, pytest.param(MILLION, marks=pytest.mark.complete)])
def long_run(tmp_path, request):
    """Many steps of three curves, as they are kept."""
    store, run_id = make_run(tmp_path / "runs", (), 0)
    directory, count = store.open(run_id), request.param
    directory.write_series([Series("loss"), Series("learning_rate"), Series("grad_norm")])
    kept = np.zeros(
        3 * count, [("number", "<u4"), ("epoch", "<f4"), ("step", "<f8"), ("time", "<f8"), ("value", "<f8")]
    )
    kept["number"], kept["step"] = np.tile(np.arange(3), count), np.repeat(np.arange(1, count + 1), 3)
    kept["time"], kept["value"] = kept["step"] / 10, np.random.default_rng(0).normal(size=3 * count)
    kept.tofile(directory.points_file)
    return store, run_id, count


MEASURED = """
import sys, time
from pathlib import Path
from dsgui.runs.export import Exports
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
def own_kib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
store = Store(Path(sys.argv[1]))
exports = Exports(store, Runs(store, Launcher()))
make = getattr(exports, sys.argv[4])
list(make(sys.argv[3]))
before, begun, size, most = own_kib(), time.monotonic(), 0, 0
for piece in make(sys.argv[2]):
    size, most = size + len(piece), max(most, own_kib())
print(time.monotonic() - begun, size, most - before)
"""


@pytest.mark.parametrize("form", ["csv", "tensorboard"])
def test_a_million_steps_are_exported_in_memory_that_does_not_depend_on_them(long_run, form):
    store, run_id, count = long_run
    _, short = make_run(store.runs_dir)
    command = [sys.executable, "-c", MEASURED, str(store.runs_dir), run_id, short, form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seconds, size, more_kib = map(float, done.stdout.split())
    print(f"{form}: {seconds:.1f} s, {size / 1e6:.0f} MB, {more_kib / 1024:.0f} MiB")
    assert size > 3 * count * 10
    assert more_kib < 40 << 10  # less than the text, or the numbers of a million


def test_the_command_writes_both_and_overwrites_nothing(bench, capfdbinary):  # noqa: F811
    run_id = bench.start("print('step=1 loss=2.5')")
    bench.ended(run_id)
    exports, out = Exports(bench.store, bench.runs), bench.folder / "out"

    def export(form, path):
        return main(["export", run_id[:-2], "--to", form, str(path), "--runs-dir", str(bench.store.runs_dir)])

    assert export("csv", out / "points.csv") == 0
    assert (out / "points.csv").read_bytes() == b"".join(exports.csv(run_id))
    assert export("csv", out / "points.csv") == 2
    assert b"already exists" in capfdbinary.readouterr().err
    assert export("csv", "-") == 0
    assert capfdbinary.readouterr().out == b"".join(exports.csv(run_id))
    assert export("tensorboard", out / "events") == 0
    assert [one[:2] for one in read_scalars(out / "events/training")["train/loss"]] == [(1, 2.5)]
    assert read_scalars(out / "events/telemetry")["host_used_bytes"]
    assert export("tensorboard", out / "points.csv") == 2
    assert main(["export", "last", "--to", "csv", "-", "--runs-dir", str(bench.folder / "none")]) == 2


def test_the_routes_give_what_the_exports_give_and_an_unknown_run_is_a_sentence(tmp_path):
    served = serve(tmp_path)
    _, run_id = make_run(served.runs_dir)
    answer = served.ask("GET", f"/dsgui/runs/{run_id}/points.csv", bearer())
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{run_id}.csv"'
    assert answer.content == b"".join(served.services.exports.csv(run_id))
    answer = served.ask("GET", f"/dsgui/runs/{run_id}/tensorboard.zip", bearer())
    assert zipfile.ZipFile(io.BytesIO(answer.content)).testzip() is None
    for name in ("points.csv", "tensorboard.zip"):
        for wrong in ("20200101-000000-0000", "..%2f..", "x"):
            answer = served.ask("GET", f"/dsgui/runs/{wrong}/{name}", bearer())
            assert answer.status_code == 404
        assert (
            "Run 20200101-000000-0000 was not found"
            in served.ask("GET", f"/dsgui/runs/20200101-000000-0000/{name}", bearer()).json()["detail"]
        )
        assert served.ask("GET", f"/dsgui/runs/{run_id}/{name}").status_code == 401


def test_names_hold_no_secret(tmp_path):
    secret = "a-secret-of-the-owner"
    store, run_id = make_run(tmp_path / "runs", (Point(1, None, {f"loss of {secret}": 1.0}),))
    exports = Exports(store, Runs(store, Launcher(), secrets=(secret,)))
    assert secret.encode() not in b"".join(exports.csv(run_id))
    exports.write_tensorboard(run_id, tmp_path / "out")
    assert all(secret.encode() not in path.read_bytes() for path in (tmp_path / "out").rglob("*tfevents*"))
