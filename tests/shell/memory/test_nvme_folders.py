"""A folder for offloading to NVMe is looked at before a plan may use it."""

import errno
import os
import shutil

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.errors import PlaceError
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.nvme import Nvme, usable
from dsgui.core.texts.saying import wrong
from dsgui.shell.memory.nvme_folders import NvmeFolders


def test_a_folder_that_can_be_written_to_tells_what_is_free_there_and_stays_as_it_was(tmp_path):
    found = NvmeFolders().read(f" {tmp_path} ")
    assert found.path == str(tmp_path)
    assert found.free_bytes == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.2)
    assert list(tmp_path.iterdir()) == []


def test_nothing_named_is_no_folder():
    assert NvmeFolders().read("  ") is None


def test_bad_input_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    named = ["nvme", str(tmp_path / "none"), str(tmp_path / "file"), "/a\0b", "/proc/1", f"/{'x' * 300}"]
    told = [NvmeFolders().read(one).why for one in named]
    assert [one.code for one in told[:3]] == ["nvme_relative", "nvme_no_folder", "nvme_is_file"]
    assert all(str(one).startswith("NVMe folder: ") for one in told)


def refusing(error, only=0):
    real = os.open

    def opened(path, flags, mode=0o777):
        if flags & os.O_TMPFILE == os.O_TMPFILE and flags & only == only:
            raise OSError(error, os.strerror(error))
        return real(path, flags, mode)

    return opened


@pytest.mark.parametrize(
    ("error", "only", "code"),
    [
        (errno.EINVAL, os.O_DIRECT, "nvme_no_direct"),
        (errno.EOPNOTSUPP, 0, ""),
        (errno.EROFS, 0, "nvme_refused"),
        (errno.ENOSPC, 0, "nvme_refused"),
    ],
)
def test_a_file_system_that_deepspeed_could_not_write_to_is_refused(tmp_path, monkeypatch, error, only, code):
    monkeypatch.setattr(os, "open", refusing(error, only))
    found = NvmeFolders().read(str(tmp_path))
    assert getattr(getattr(found, "why", None), "code", "") == code


def test_what_the_page_may_not_look_at_is_not_looked_at(tmp_path):
    def check(path):
        raise PlaceError(wrong("place.of_the_kernel", path=str(path)))

    assert NvmeFolders(check).read(str(tmp_path)).why.code == "nvme_outside"


def test_where_async_io_can_not_be_compiled_no_folder_helps():
    nvme, context = Nvme("/nvme", 1), Context(Integration.NATIVE)
    assert usable(nvme, context) is nvme
    found = usable(nvme, Context(Integration.NATIVE, missing_ops=frozenset({"async_io"})))
    assert isinstance(found, CannotSay)
    assert "libaio" in str(found.why)
