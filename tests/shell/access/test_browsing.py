"""What a person who chooses a file is shown, and never is."""

import os
from pathlib import Path

import pytest

from dsgui.core.access.folder_list import MOST_SHOWN
from dsgui.core.errors import PlaceError
from dsgui.core.texts.languages import CHINESE_TAG, speaking
from dsgui.shell.access import browsing
from dsgui.shell.access.browsing import listing
from dsgui.shell.access.places import Places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "b-folder").mkdir(parents=True)
    (home / ".hidden").mkdir()
    for name in ("train.py", "Another.PY", "ds_config.json", "model.yaml", "notes.txt"):
        (home / name).touch()
    return home


def test_folders_come_first_and_only_what_is_wanted_is_shown(home: Path) -> None:
    found = listing(Places([home]), str(home), "script")
    assert found.folders == ("b-folder", ".hidden")
    assert found.files == ("Another.PY", "train.py")
    assert listing(Places([home]), str(home), "config").files == ("ds_config.json", "model.yaml")
    assert listing(Places([home]), str(home), "folder").files == ()


def test_it_never_leads_out_of_the_places(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (home / "way-out").symlink_to(tmp_path / "secret")
    places = Places([home])
    for path in (
        tmp_path,
        tmp_path / "secret",
        home / "way-out",
        home / ".." / "secret",
        Path("/proc/self"),
        Path("/"),
    ):
        with pytest.raises(PlaceError):
            listing(places, str(path), "script")
    assert listing(places, str(home), "script").parent == ""
    assert listing(places, str(home / "b-folder"), "script").parent == str(home)
    assert listing(places, str(home), "script").starts == (str(home),)


def test_it_begins_at_the_nearest_folder_that_is_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "b-folder")
    places = Places([home])
    begins = {
        str(home / "train.py"): home,
        str(home / "not" / "yet"): home,
        "": home / "b-folder",
        "gone/train.py": home / "b-folder",
        str(tmp_path / "elsewhere.py"): home / "b-folder",
        "~nobody-of-that-name/x": home / "b-folder",
        "a\0b": home / "b-folder",
    }
    assert {path: listing(places, path, "script", near=True).folder for path in begins} == {
        path: str(folder) for path, folder in begins.items()
    }


def test_names_that_no_text_box_holds_are_counted_and_markup_is_only_a_name(home: Path) -> None:
    for name in ("<img src=x onerror=alert(1)>.py", "line\nbreak.py", "escape\x1b[31m.py", "turned\u202eyp.py"):
        (home / name).touch()
    (Path(os.fsdecode(os.fsencode(home) + b"/\xff.py"))).touch()
    found = listing(Places([home]), str(home), "script")
    assert found.files == ("<img src=x onerror=alert(1)>.py", "Another.PY", "train.py")
    assert found.unnamed == 4
    str(found.to_json()).encode("utf-8")


def test_links_in_a_ring_pipes_and_links_to_nothing_are_left_out(home: Path) -> None:
    (home / "ring.py").symlink_to(home / "ring2.py")
    (home / "ring2.py").symlink_to(home / "ring.py")
    (home / "nothing.py").symlink_to(home / "not-there.py")
    os.mkfifo(home / "pipe.py")
    (home / "self").symlink_to(home)  # a folder in itself is one: it leads back
    found = listing(Places([home]), str(home), "script")
    assert found.files == ("Another.PY", "train.py")
    assert listing(Places([home]), str(home / "self" / "self"), "script").folder == str(home)


def test_many_names_are_cut_and_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = home / "many"
    many.mkdir()
    for number in range(MOST_SHOWN + 5):
        (many / f"{number:04}.py").touch()
    (many / "folder").mkdir()
    found = listing(Places([home]), str(many), "script")
    assert (len(found.folders), len(found.files), found.left_out, found.more) == (1, MOST_SHOWN - 1, 6, False)
    monkeypatch.setattr(browsing, "_MOST_READ", 20)
    assert listing(Places([home]), str(many), "script").more


def test_what_is_gone_or_not_permitted_is_said_in_the_language_spoken(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places([home])
    for path in (home / "gone", home / "train.py"):
        with pytest.raises(PlaceError, match="no such folder"):
            listing(places, str(path), "script")

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(browsing.os, "scandir", refuse)
    with speaking(CHINESE_TAG), pytest.raises(PlaceError, match="没有读取此目录的权限"):
        listing(places, str(home), "script")
    with pytest.raises(PlaceError, match="no permission"):
        listing(places, str(home), "script")
