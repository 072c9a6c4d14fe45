"""The file of a machine's constants: what can't be read is not replaced, and nobody is waited for."""

import fcntl
import os

import pytest

from dsgui.core.memory.answer import Device, Place
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.overhead import exactly
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment
from dsgui.core.sizes import GIB
from dsgui.shell.files.json_files import UNREADABLE
from dsgui.shell.memory.constants import constants_file, learn, sharpened

PARTS = (Segment("weights", Place.HOST, exactly(GIB)), Segment("interpreter", Place.HOST, exactly(GIB // 3)))
SAID = Foretold(Fit.FITS, (Bar(Device.HOST, "step", PARTS, None),), release="0.19.8", on_cpu=True)
PEAK = {"host_bytes": GIB + GIB // 3}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_the_first_run_that_tells_makes_the_file():
    assert learn("a", SAID, PEAK, 5)
    assert [one.run_id for one in sharpened().seen] == ["a"]


@pytest.mark.parametrize("text", ["", "{", '{"runs": 3}', "[]"])
def test_a_file_that_holds_something_else_stays_as_it_is(text):
    learn("a", SAID, PEAK, 5)
    constants_file().write_text(text, "utf-8")
    with pytest.raises(UNREADABLE):
        learn("b", SAID, PEAK, 5)
    assert constants_file().read_text("utf-8") == text


def test_a_run_that_ends_waits_for_nobody():
    learn("a", SAID, PEAK, 5)
    held = os.open(constants_file().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            learn("b", SAID, PEAK, 5)
    finally:
        os.close(held)
    assert [one.run_id for one in sharpened().seen] == ["a"]
