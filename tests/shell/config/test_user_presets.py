"""A user's presets survive, stay in their folder, and one bad file hides no other."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from dsgui.core.config.context import Integration
from dsgui.core.errors import DocumentError, PresetError
from dsgui.shell.config import user_presets
from dsgui.shell.config.user_presets import UserPresets

TEXT = '{\n  "train_batch_size": 64,\n  "lr": 1e-5, "ключ": "\\ud800"\n}\n'


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data dir" / "presets"


@pytest.fixture
def presets(folder):
    return UserPresets(folder)


def save(presets, title="Mine", text=TEXT, **more):
    return presets.save(title, text, **({"integration": Integration.HF, "gpus": 2, "nodes": 1} | more))


def entry(**changes):
    context = {"gpus": 1, "nodes": 1}
    return {"title": "T", "purpose": "", "integration": "hf", "context": context, "text": "{}"} | changes


def test_a_saved_preset_is_listed_by_every_server_as_it_was_given(presets, folder):
    saved = save(
        presets, " Llama, ZeRO-3 ", integration=Integration.NATIVE, gpus=8, nodes=2, purpose="For the cluster."
    )
    assert UserPresets(folder).list() == (saved,)
    assert (saved.title, saved.text, saved.purpose) == ("Llama, ZeRO-3", TEXT, "For the cluster.")
    assert (saved.integration, saved.gpus, saved.nodes) == (Integration.NATIVE, 8, 2)
    assert (saved.group, saved.source) == ("My presets", "saved here")
    assert presets.problems() == ()


def test_nothing_is_written_before_the_first_is_saved(presets, folder):
    assert (presets.list(), presets.problems()) == ((), ())
    assert not folder.exists()


def test_the_id_is_made_from_the_title_and_is_new(presets):
    titles = ["Größe L", "GROE: L", "моё", "..", "../../etc/passwd", "x" * 60]
    ids = [save(presets, title).id for title in titles]
    assert ids[:5] == ["user-groe-l-1", "user-groe-l-2", "user-preset-1", "user-preset-2", "user-etc-passwd-1"]
    assert ids[5] == f"user-{'x' * 40}-1"
    assert {preset.title for preset in presets.list()} == set(titles)


def test_presets_are_listed_by_title(presets):
    for title in ("b", "C", "a"):
        save(presets, title)
    assert [preset.title for preset in presets.list()] == ["a", "b", "C"]


def test_a_title_is_taken_over_only_when_asked(presets):
    first = save(presets)
    with pytest.raises(PresetError, match="already"):
        save(presets, text="{}")
    assert [preset.text for preset in presets.list()] == [TEXT]
    replaced = save(presets, text="{}", replace=True)
    assert replaced.id == first.id
    assert [preset.text for preset in presets.list()] == ["{}"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"title": ""}, "title: 0 characters"),
        ({"title": " \t "}, "title: 0 characters"),
        ({"title": "x" * 61}, "title: 61 characters"),
        ({"title": "two\nlines"}, "printable"),
        ({"title": "\x1b[2J"}, "printable"),
        ({"title": "\ud800"}, "printable"),
        ({"purpose": "y" * 301}, "purpose: 301 characters"),
        ({"gpus": 0}, "gpus: 0"),
        ({"gpus": True}, "gpus: True"),
        ({"nodes": 1.5}, "nodes: 1.5"),
        ({"text": '{"x": "' + "я" * 180_000 + '"}'}, "at most 1048576"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_written(presets, folder, given, said):
    with pytest.raises(PresetError, match=said):
        save(presets, **given)
    assert not folder.exists()


def test_a_text_that_is_no_config_is_refused_with_its_line(presets):
    with pytest.raises(DocumentError, match="Line 2, column 8"):
        save(presets, text='{\n  "a": oops}')
    assert presets.list() == ()


def test_a_removed_preset_is_gone_and_cannot_be_removed_again(presets):
    kept, gone = save(presets, "kept"), save(presets, "gone")
    presets.remove(gone.id)
    assert presets.list() == (kept,)
    with pytest.raises(PresetError, match="no longer exists"):
        presets.remove(gone.id)


@pytest.mark.parametrize(
    "id",
    ["", "user-", "../outside", "user-../../outside", "user-a/b", "user-A", "zero2-hf", "user-a\n", "user-\0", "/x"],
)
def test_an_id_never_leads_out_of_the_folder(presets, folder, id):
    save(presets)
    (folder.parent / "outside.json").write_text("{}")
    with pytest.raises(PresetError, match="no preset is saved here under this id"):
        presets.remove(id)
    assert (folder.parent / "outside.json").exists()


def test_a_link_is_neither_read_nor_written_through_nor_removed(presets, folder, tmp_path):
    saved = save(presets)
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(entry(title="Mine")))
    path = folder / f"{saved.id}.json"
    path.unlink()
    path.symlink_to(outside)
    assert presets.list() == ()
    assert "link" in presets.problems()[0]
    assert save(presets, replace=True).id == "user-mine-2"
    with pytest.raises(PresetError):
        presets.remove(saved.id)
    assert json.loads(outside.read_text())["text"] == "{}"
    assert path.is_symlink()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("user-x-1.json", b"{", "Expecting"),
        ("user-x-1.json", b"[" * 100_000, ""),
        ("user-x-1.json", b"\xff\xfe\xfa", "decode"),
        ("user-x-1.json", b"[1]", "expected a JSON object"),
        ("user-x-1.json", json.dumps(entry(text=None)).encode(), "text: None"),
        ("user-x-1.json", json.dumps(entry(text="{oops}")).encode(), "Line 1, column 2"),
        ("user-x-1.json", json.dumps(entry(title=7)).encode(), "title: 7"),
        ("user-x-1.json", json.dumps(entry(integration="tf")).encode(), "integration: 'tf'"),
        ("user-x-1.json", json.dumps(entry(context=None)).encode(), "gpus: None"),
        ("user-x-1.json", b" " * (user_presets.MAX_BYTES + 1), "at most 1048576"),
        ("notes.txt", b"my notes", "name such as"),
        ("User-X.json", json.dumps(entry()).encode(), "name such as"),
    ],
)
def test_a_broken_or_foreign_file_is_named_and_hides_no_other(presets, folder, name, content, said):
    saved = save(presets)
    (folder / name).write_bytes(content)
    assert presets.list() == (saved,)
    (problem,) = presets.problems()
    assert str(folder / name) in problem
    assert said in problem


def test_a_pipe_or_a_folder_in_the_way_blocks_nothing(presets, folder):
    saved = save(presets)
    os.mkfifo(folder / "user-pipe-1.json")
    (folder / "user-folder-1.json").mkdir()
    assert presets.list() == (saved,)
    folder_problem, pipe_problem = presets.problems()
    assert "Is a directory" in folder_problem
    assert "expected a plain file" in pipe_problem


def test_files_are_for_the_user_alone(presets, folder):
    path = folder / f"{save(presets).id}.json"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600, 0o600]
    save(presets, replace=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {file.name for file in folder.iterdir()} == {path.name, ".lock"}


def test_a_write_that_fails_leaves_the_old_preset_and_says_so(presets, folder, monkeypatch):
    saved = save(presets)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(user_presets.os, "fsync", full)
    with pytest.raises(PresetError, match="No space left"):
        save(presets, text="{}", replace=True)
    assert presets.list() == (saved,)
    assert {file.name for file in folder.iterdir()} == {f"{saved.id}.json", ".lock"}


def test_a_file_where_the_folder_should_be_is_said(presets, folder):
    folder.parent.mkdir()
    folder.write_text("")
    assert presets.list() == ()
    assert "can't be read" in presets.problems()[0]
    with pytest.raises(PresetError, match="can't be written"):
        save(presets)


def test_there_is_an_end_to_how_many_are_kept(presets, monkeypatch):
    monkeypatch.setattr(user_presets, "MAX_PRESETS", 3)
    for n in range(3):
        save(presets, f"Preset {n}")
    with pytest.raises(PresetError, match="3 presets"):
        save(presets, "one more")
    save(presets, "Preset 1", text="{}", replace=True)
    presets.remove("user-preset-2-1")
    save(presets, "one more")


def test_servers_that_save_at_once_lose_nothing(folder):
    def work(n):
        save(UserPresets(folder), f"Same slug{'!' * n}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    assert len(UserPresets(folder).list()) == 24
