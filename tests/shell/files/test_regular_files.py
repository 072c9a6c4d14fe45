"""What lies where a file is expected may be anything: a pipe is not waited for, a broken file is no exception."""

import os
from pathlib import Path

import pytest

from dsgui.core.script.script import script_facts
from dsgui.shell.files.regular_files import open_regular, read_regular
from dsgui.shell.launch.asked_paths import script_source
from dsgui.shell.preflight.scout import read_own_config
from dsgui.shell.runs.checkpoints import newest_in


def test_a_pipe_a_device_and_a_folder_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "none", tmp_path / "a\0b"):
        with pytest.raises(OSError, match=r"."):
            open_regular(path)


def test_a_link_is_followed_unless_it_must_not_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(tmp_path / "link", 2) == "te"
    with pytest.raises(OSError, match=r"."):
        open_regular(tmp_path / "link", follow=False)


def test_a_script_or_its_config_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert script_source(str(tmp_path / "pipe")).problem
    assert script_source("a\0b").problem
    script = script_facts("from transformers import TrainingArguments\nTrainingArguments('o', deepspeed='pipe')")
    assert read_own_config(tmp_path, script) is None


@pytest.mark.parametrize("tag", ["\0" * 20, "a\0b", "..", "", "\x1b[1m"])
def test_a_broken_latest_names_no_checkpoint(tmp_path: Path, tag: str) -> None:
    (tmp_path / "latest").write_text(tag)
    assert newest_in(tmp_path) is None
