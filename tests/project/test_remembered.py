"""A test that is remembered is run again when anything changed that it depends on."""

import pytest

from tests.answers import remembered


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A small one of its own: a test, what it imports, what that imports, and what it names."""
    files = {
        "tests/room/test_it.py": "def test_it():\n    from dsgui.one import a\n",
        "tests/room/conftest.py": "",
        "dsgui/__init__.py": "",
        "dsgui/one.py": "import dsgui.two.three as x\nfrom dsgui.core.texts.english import errors\n",
        "dsgui/core/texts/english/errors.py": "",
        "dsgui/two/__init__.py": "",
        "dsgui/two/three.py": "from . import four\n",
        "dsgui/two/four.py": "",
        "dsgui/apart.py": "",
        "recipes/script.py": "import beside\n",
        "recipes/beside.py": "",
        "presets/one.json": "{}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(remembered, "ROOT", tmp_path)
    return tmp_path


def key(*more):
    for one in (remembered.behind, remembered._hash_of, remembered._imported):
        one.cache_clear()
    return remembered.key_of("tests/room/test_it.py::test_it[x]", ("recipes/script.py", "presets", *more))


@pytest.mark.parametrize(
    "name",
    [
        "tests/room/test_it.py",
        "tests/room/conftest.py",
        "dsgui/__init__.py",
        "dsgui/one.py",
        "dsgui/two/__init__.py",
        "dsgui/two/three.py",
        "dsgui/two/four.py",
        "recipes/script.py",
        "recipes/beside.py",
        "presets/one.json",
        "presets/new.json",
    ],
)
def test_a_change_of_what_it_depends_on_is_seen(checkout, name):
    before = key()
    assert key() == before
    with (checkout / name).open("a") as file:
        file.write(" \n# changed")
    assert key() != before


def test_a_change_of_anything_else_is_none(checkout):
    before = key()
    (checkout / "dsgui/apart.py").write_text("1")
    (checkout / "dsgui/core/texts/english/errors.py").write_text("1")
    (checkout / "README.md").write_text("1")
    assert key() == before


def test_a_sentence_counts_for_a_test_that_says_so(checkout):
    before, without = key(remembered.TEXTS), key()
    (checkout / "dsgui/core/texts/english/errors.py").write_text("1")
    assert key(remembered.TEXTS) != before
    assert key() == without


def test_a_root_that_is_not_there_is_told(checkout):
    (checkout / "recipes/script.py").unlink()
    with pytest.raises(FileNotFoundError, match=r"script\.py"):
        key()


def test_another_release_of_what_serves_is_seen_by_tests_of_whole_servers(checkout, monkeypatch):
    for one in remembered.SERVER:
        (checkout / one).mkdir(parents=True, exist_ok=True)
    alone, whole = key(), key(*remembered.SERVER)
    monkeypatch.setattr(remembered, "version", lambda name: "0.0")
    remembered._served_by.cache_clear()
    assert key() == alone
    assert key(*remembered.SERVER) != whole
    remembered._served_by.cache_clear()
