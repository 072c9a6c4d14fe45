"""Files that are replaced as a whole: nothing half, nothing left behind, and never an old one for a new one."""

import json
import os
import time
from pathlib import Path

import pytest

from dsgui.core.decoding import number, sequence, text, whole
from dsgui.core.launch.state import RunStatus
from dsgui.core.texts.languages import speaking
from dsgui.shell.files.json_files import Known, parse_object, replace_file, why_unreadable


def test_a_replaced_file_leaves_nothing_else_behind(tmp_path: Path) -> None:
    replace_file(tmp_path / "x", b"1")
    replace_file(tmp_path / "x", b"2", durable=False)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"2"
    (tmp_path / "dir").mkdir()
    with pytest.raises(OSError, match="dir"):
        replace_file(tmp_path / "dir", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dir", "x"]


def test_a_write_replaces_a_link_instead_of_following_it(tmp_path: Path) -> None:
    outside, path = tmp_path / "outside", tmp_path / "a.json"
    outside.write_text("kept")
    path.symlink_to(outside)
    replace_file(path, b"new")
    assert (outside.read_text(), path.read_text(), path.is_symlink()) == ("kept", "new", False)


@pytest.fixture
def decoded():
    """What was decoded, in order."""
    return []


@pytest.fixture
def known(decoded):
    return Known(lambda value: decoded.append(value) or value["n"])


def write(path: Path, n: int, age_s: float = 10) -> None:
    replace_file(path, json.dumps({"n": n}).encode())
    at = time.time() - age_s
    os.utime(path, (at, at))


@pytest.fixture
def later(monkeypatch):
    """A clock that is some seconds ahead of the files."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 5_000_000_000)


def test_an_unchanged_file_is_decoded_once(tmp_path, known, decoded, later):
    write(tmp_path / "x", 1)
    assert [known.read(tmp_path / "x") for _ in range(3)] == [1, 1, 1]
    assert len(decoded) == 1


def test_a_replaced_file_is_read_anew_even_with_the_same_size_and_date(tmp_path, known, later):
    write(tmp_path / "x", 1)
    at = os.stat(tmp_path / "x").st_mtime_ns
    assert known.read(tmp_path / "x") == 1
    write(tmp_path / "x", 2)
    os.utime(tmp_path / "x", ns=(at, at))
    assert known.read(tmp_path / "x") == 2


def test_one_that_changed_a_moment_ago_is_not_kept(tmp_path, known):
    """Written in place within one tick of the file system's clock, it would look the same."""
    path = tmp_path / "x"
    write(path, 1, age_s=0)
    seen = os.stat(path)
    assert known.read(path) == 1
    path.write_text('{"n": 2}')
    os.utime(path, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    assert known.read(path) == 2


def test_on_a_file_system_of_whole_seconds_two_replacements_in_one_are_seen(tmp_path, known, monkeypatch):
    """The third takes the inode of the first."""
    path = tmp_path / "x"
    at = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: at + 150_000_000)
    for n in (1, 2, 3):
        path.write_text(json.dumps({"n": n}))
        os.utime(path, ns=(at, at))
        assert known.read(path) == n


@pytest.mark.parametrize("text", ["", "{", "[]", '{"m": 1}'])
def test_what_is_no_such_document_is_none_and_said_when_asked_strictly(tmp_path, known, text):
    (tmp_path / "x").write_text(text)
    assert known.read(tmp_path / "x") is None
    with pytest.raises((ValueError, KeyError)):
        known.read_strictly(tmp_path / "x")
    assert known.read(tmp_path / "gone") is None


@pytest.mark.parametrize(
    ("read", "told", "in_chinese"),
    [
        (lambda: text({}), "found an object of 0; expected a text", "应为文本"),
        (lambda: whole("a", 0, 3), "found a; expected a whole number of 0 – 3", "0 – 3 之间的整数"),
        (lambda: number(10**300), "found a long number; expected a number", "过长的数字"),
        (lambda: sequence([1, 2], 1), "found a list of 2; expected a list of at most 1", "最多 1 项的列表"),
        (lambda: parse_object(b'{"a": NaN}'), "found NaN; expected a JSON number", "JSON 数字"),
        (lambda: RunStatus.from_json({"state": "flying"}), "found flying; expected the state of a run", "运行的状态"),
        (lambda: os.stat("/nowhere/at/all"), "No such file or directory", "文件或目录不存在"),
    ],
)
def test_why_a_file_cannot_be_read_is_told_in_the_readers_language(read, told: str, in_chinese: str) -> None:
    with pytest.raises((OSError, ValueError)) as raised:
        read()
    assert told in str(why_unreadable(raised.value))
    with speaking("zh-CN"):
        assert in_chinese in str(why_unreadable(raised.value))
