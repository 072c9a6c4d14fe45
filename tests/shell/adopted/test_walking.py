"""A stranger's folder is listed and its files are opened; what a link leads to is not its own."""

import os

import pytest

from dsgui.core.adopted.lying import Kind
from dsgui.shell.adopted import walking
from dsgui.shell.adopted.recognising_files import sorted_out
from dsgui.shell.adopted.walking import open_inside, walked


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "a folder"
    (folder / "inner").mkdir(parents=True)
    return folder


def test_links_pipes_and_hidden_folders_are_not_entered(folder, tmp_path):
    (tmp_path / "secret.log").write_text("x")
    (folder / "inner" / "train.log").write_text("x")
    (folder / "away.log").symlink_to(tmp_path / "secret.log")
    (folder / "up").symlink_to(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".git" / "x.log").write_text("x")
    os.mkfifo(folder / "pipe.log")
    seen = walked(folder)
    assert [one.path for one in seen.files] == ["inner/train.log"]
    assert (seen.links, seen.whole) == (2, True)


def test_a_link_that_comes_in_the_way_later_is_not_followed(folder, tmp_path):
    (folder / "inner" / "train.log").write_text("x")
    outer = tmp_path / "outer"
    outer.mkdir()
    (outer / "train.log").write_text("secret")
    with open_inside(folder, "inner/train.log") as file:
        assert file.read() == b"x"
    (folder / "inner" / "train.log").unlink()
    (folder / "inner").rmdir()
    (folder / "inner").symlink_to(outer)
    with pytest.raises(OSError, match="link"):
        open_inside(folder, "inner/train.log")


def test_no_more_is_listed_than_is_bearable_and_that_is_said(folder, monkeypatch):
    for number in range(30):
        (folder / f"{number}.log").write_text("x")
    monkeypatch.setattr(walking, "_MOST_ENTRIES", 10)
    seen = walked(folder)
    assert len(seen.files) <= 10
    assert not seen.whole


def test_a_run_of_dsguis_is_left_to_dsgui(folder):
    for name in ("plan.json", "points.bin", "output.log"):
        (folder / "inner" / name).write_text("{}")
    assert (walked(folder).own, walked(folder).files) == (1, ())


def test_what_only_has_the_name_of_a_log_or_a_table_is_none(folder):
    (folder / "requirements.txt").write_text("torch==2.0\nnumpy\n")
    (folder / "junk.log").write_bytes(bytes(range(256)) * 100)
    (folder / "data.csv").write_text("name,age\nx,3\n")
    (folder / "Train_Samples_lr.csv").write_text("step,lr\n16,0.1\n")
    (folder / "train.out").write_text("step 1 loss 3.0\nstep 2 loss 2.0\nstep 3 loss 1.0\n")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    (folder / "events.out.tfevents.1.host.1.0").write_text(pointer)
    told = sorted_out(folder, walked(folder).files)
    assert [one.path for one in told.kinds[Kind.CSV]] == ["Train_Samples_lr.csv"]
    assert [one.path for one in told.kinds[Kind.LOG]] == ["train.out"]
    assert sorted(one.path for one in told.silent) == ["junk.log", "requirements.txt"]
    assert [one.path for one in told.pointers] == ["events.out.tfevents.1.host.1.0"]
