"""A run directory: who owns its paths, what readers see of files that grow."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.errors import RunError
from dsgui.core.launch.plan import ConfigArgument, Plan
from dsgui.core.launch.state import Identity, RunState, RunStatus
from dsgui.core.metrics.samples import SampleTable
from dsgui.core.texts.saying import as_told
from dsgui.shell.logs.growing import Appender, OutputFile
from dsgui.shell.runs import store
from dsgui.shell.runs.store import OUTPUT_TAIL_BYTES, RunDirectory, Store

RUN = "20260131-235959-0a1b"


def plan(run_directory: Path, name: str = "n") -> Plan:
    return Plan(
        run_id=RUN,
        name=name,
        run_directory=str(run_directory),
        script="/s.py",
        arguments=(),
        ranks=1,
        gpu_indices=(),
        master_port=29500,
        working_directory="/w",
        config_argument=ConfigArgument.HF,
        target_python="/py",
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_is_private_to_its_user(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "runs")
    directory = store.create(RUN)
    directory.write_plan(plan(directory.path), "{}")
    Appender(directory.output_file).close()
    assert mode(store.runs_dir) == mode(directory.path) == 0o700
    assert {mode(path) for path in directory.path.iterdir()} == {0o600}


def test_a_plan_and_the_config_come_back_byte_for_byte(tmp_path: Path) -> None:
    directory = Store(tmp_path).create(RUN)
    config = '{"a": 5e8,\r\n "è": 1}'
    directory.write_plan(plan(directory.path, "it's è\n\udcff"), config)
    assert directory.read_plan() == plan(directory.path, "it's è\n\udcff")
    assert directory.config_file.read_bytes() == config.encode()
    assert "deepspeed.launcher.runner" in directory.command_file.read_text()


@pytest.mark.parametrize("run_id", ["", ".", "..", "../x", "/etc", "20260131-235959-0a1b/..", "x" * 300, RUN + "\n"])
def test_an_id_is_never_a_path(tmp_path: Path, run_id: str) -> None:
    store = Store(tmp_path)
    for question in (store.open, store.create, store.directory):
        with pytest.raises(RunError, match="not a run id"):
            question(run_id)


def test_a_run_is_created_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(RUN)
    with pytest.raises(RunError, match="started already"):
        store.create(RUN)


def test_new_ids_are_ids_and_differ(tmp_path: Path) -> None:
    store = Store(tmp_path, clock=lambda: 1_000_000.5)
    ids = {store.new_id() for _ in range(20)}
    assert len(ids) > 15
    assert all(store.directory(run_id).run_id == run_id for run_id in ids)


def test_runs_are_listed_newest_first_and_other_folders_are_not(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for run_id in ("20250101-000000-0000", RUN):
        directory = store.create(run_id)
        directory.write_plan(plan(directory.path), "{}")
    store.create("20270101-000000-ffff")  # nothing in it yet
    (tmp_path / "notes").mkdir()
    assert [directory.run_id for directory in store.list()] == [RUN, "20250101-000000-0000"]


def test_a_runs_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="--runs-dir"):
        Store(tmp_path / "file" / "runs")


def test_a_runs_folder_that_vanishes_says_what_to_do(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    store.runs_dir.rmdir()
    assert store.list() == []
    with pytest.raises(RunError, match="--runs-dir"):
        store.create(RUN)


def test_a_status_comes_back_and_unknown_keys_are_ignored(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    assert directory.read_status() is None
    status = RunStatus(
        RunState.RUNNING, Identity(1, 2, "b"), None, None, (as_told("r"),), 1.5, None, "training", (as_told("note"),)
    )
    directory.write_status(status)
    assert directory.read_status() == status
    assert RunStatus.from_json(status.to_json() | {"later": 1}) == status
    assert RunStatus.from_json({"state": "failed"}).state is RunState.FAILED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "odd"}', '{"supervisor": {"pid": 1}}'])
def test_a_broken_state_file_is_no_status(tmp_path: Path, text: str) -> None:
    directory = RunDirectory(tmp_path)
    directory.state_file.write_text(text)
    assert directory.read_status() is None


def test_a_half_line_waits_for_its_end(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    assert directory.read_lines(directory.events_file, 0) == ([], 0)
    file = Appender(directory.events_file)
    file.write(b'{"a": 1}\n{"b"')
    lines, offset = directory.read_lines(directory.events_file, 0)
    assert (lines, offset) == ([b'{"a": 1}'], 9)
    file.write(b": 2}\n")
    file.close()
    assert directory.read_lines(directory.events_file, offset) == ([b'{"b": 2}'], 18)


def test_a_place_that_no_file_can_have_has_nothing_new(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    directory.events_file.write_bytes(b"{}\n")
    for offset in (1 << 59, 1 << 62):
        assert directory.read_lines(directory.events_file, offset) == ([], offset)
        assert directory.read_output(offset) == ("", offset)


def test_a_run_that_is_deleted_while_it_is_read_fails_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = RunDirectory(tmp_path / "gone")
    assert directory.output_pieces == [(0, directory.output_file)]
    assert directory.read_output(-1) == ("", 0)
    directory.path.mkdir()
    directory.write_sample_table(0, SampleTable(("elapsed_s", "cpu_percent")))
    directory.samples_file(0).write_bytes(bytes(16))
    assert directory.last_elapsed_s() == 0.0
    with monkeypatch.context() as raced:
        raced.setattr(store, "_read_from", lambda *given: b"")  # gone between the look at its size and its reading
        assert directory.last_elapsed_s() is None


@given(st.text(max_size=60), st.integers(1, 5))
def test_output_read_while_it_grows_is_whole(tmp_path_factory: pytest.TempPathFactory, text: str, size: int) -> None:
    directory = RunDirectory(tmp_path_factory.getbasetemp())
    directory.output_file.write_bytes(b"")
    data, seen, offset = text.encode("utf-8"), "", 0
    for start in range(0, len(data), size):
        with directory.output_file.open("ab") as file:
            file.write(data[start : start + size])
        news, offset = directory.read_output(offset)
        seen += news
    assert (seen, offset) == (text, len(data))


def test_the_first_look_at_long_output_is_its_end(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    assert directory.read_output(-1) == ("", 0)
    lines = [f"line {n} è\n" for n in range(50_000)]
    directory.output_file.write_bytes("".join(lines).encode() + b"\xff")
    text, offset = directory.read_output(-1)
    assert len(text.encode()) <= OUTPUT_TAIL_BYTES + 2
    assert text.endswith("line 49999 è\n\ufffd")
    assert text.startswith("line ")
    assert directory.read_output(offset) == ("", os.path.getsize(directory.output_file))


def test_a_run_whose_plan_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    good, bad = (store.create(store.new_id()) for _ in range(2))
    for directory in (good, bad):
        directory.plan_file.write_text("{}")
    bad.plan_file.unlink()
    bad.plan_file.symlink_to(bad.plan_file)  # a loop: every look at it fails, for root too
    assert {directory.run_id for directory in store.list()} == {good.run_id, bad.run_id}
    assert "plan.json can't be read" in str(bad.plan_damage())


def test_of_a_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    lines = [b"line %06d\n" % n for n in range(20_000)]  # 12 bytes each
    whole = b"".join(lines)
    output = OutputFile(directory, head_bytes=12_000, piece_bytes=6_000)
    for start in range(0, len(whole), 5_000):
        output.write(whole[start : start + 5_000])
        text, after = directory.read_output(-1)
        assert after == min(start + 5_000, len(whole))
        assert whole[:after].endswith(text.encode())
        assert len(text) >= min(6_000, after) - 24
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 24_000
    seen, _ = directory.read_output(len(whole) - 600)
    assert seen.encode() == whole[-600:]
    output.close()
    assert [path.name for path in tmp_path.iterdir()] == ["output.log"]
    kept = directory.output_file.read_bytes()
    assert kept.startswith(whole[:12_000])
    assert kept.endswith(whole[-6_000:])
    assert b"dsgui left out" in kept[12_000:12_100]
    assert len(kept) < 24_200
    assert directory.read_output(len(whole)) == ("", len(whole))  # a page that has followed it to the end


def test_an_output_that_fits_is_kept_as_it_is(tmp_path: Path) -> None:
    output = OutputFile(RunDirectory(tmp_path), head_bytes=10, piece_bytes=10)
    for part in (b"123", b"4567890", b"abcdefghij", b"k"):
        output.write(part)
    output.close()
    assert (tmp_path / "output.log").read_bytes() == b"1234567890abcdefghijk"
