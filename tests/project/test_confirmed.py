"""What the real DeepSpeed confirmed is remembered for just what was asked; and the longest tests begin first."""

from types import SimpleNamespace

import pytest

from tests import distribution
from tests.answers import confirmed
from tests.answers.confirmed import Confirmed


@pytest.fixture
def file(tmp_path):
    """Where one claim was seen to hold."""
    file = tmp_path / "confirmed.json"
    Confirmed(asks_again=True, writes=True, file=file).check("sums", [1, 2], lambda: None)
    return file


def asked(file, claim, **how):
    """Whether a claim is put to the test."""
    calls = []
    options = {"asks_again": False, "writes": False} | how
    Confirmed(**options, file=file).check("sums", claim, lambda: calls.append(claim))
    return bool(calls)


def test_a_claim_that_was_seen_to_hold_is_not_asked_again_unless_all_are(file):
    assert not asked(file, [1, 2])
    assert asked(file, [1, 2], asks_again=True)


def test_another_claim_and_another_release_are_asked(file, monkeypatch):
    assert asked(file, [1, 3])
    monkeypatch.setattr(confirmed, "releases", lambda: "deepspeed 99")
    assert asked(file, [1, 2])
    assert asked(file, [1, 4], writes=True)  # and what the other release said is forgotten with it
    assert not asked(file, [1, 4])
    monkeypatch.undo()
    assert asked(file, [1, 2])


def test_what_does_not_hold_fails_and_is_not_remembered(file):
    def wrong():
        raise AssertionError("no")

    with pytest.raises(AssertionError):
        Confirmed(asks_again=False, writes=True, file=file).check("sums", [5], wrong)
    assert asked(file, [5])


def test_what_takes_longest_begins_first_and_the_tests_of_a_file_stay_together(monkeypatch, tmp_path):
    seconds = tmp_path / "seconds.json"
    seconds.write_text('{"tests/long.py": 60, "tests/runs/test_two_servers.py::test_b": 90}')
    monkeypatch.setattr(distribution, "SECONDS", seconds)
    names = ["tests/a.py::test_1", "tests/long.py::test_1", "tests/long.py::test_2"]
    names += ["tests/runs/test_two_servers.py::test_a", "tests/runs/test_two_servers.py::test_b"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    distribution.order(items)
    assert [item.nodeid for item in items] == [names[4], names[1], names[2], names[0], names[3]]


def test_the_seconds_are_of_tests_that_are_there():
    root = distribution.SECONDS.parents[1]
    for unit in distribution.json.loads(distribution.SECONDS.read_text("utf-8")):
        path, _, test = unit.partition("::")
        assert f"def {test.partition('[')[0]}" in (root / path).read_text("utf-8")
