"""Many cases in one test: none that is wrong is passed over, and each is named (tests/support/cases.py)."""

import inspect

import pytest

from tests.support.cases import each_case


def test_each_wrong_case_is_named_with_what_differs() -> None:
    seen = []

    @each_case(("name", "number"), [("one", 1), ("two", 5), ("three", 3), ("four", 0)])
    def spelled(name: str, number: int) -> None:
        seen.append(name)
        assert number == {"one": 1, "two": 2, "three": 3, "four": 4}[name]

    with pytest.raises(AssertionError, match="2 of 4 cases are wrong") as wrong:
        spelled()
    assert seen == ["one", "two", "three", "four"]
    assert "--- two-5: line" in str(wrong.value)
    assert "assert 5 == 2" in str(wrong.value)
    assert "--- four-0: line" in str(wrong.value)
    assert "--- three" not in str(wrong.value)


def test_what_was_to_be_raised_and_what_was_not_are_told_too() -> None:
    @each_case("text", ["1", "x", "2"], ids=["a number", "a letter", "another"])
    def raises(text: str) -> None:
        with pytest.raises(ValueError, match="is wanted"):
            int(text)

    with pytest.raises(AssertionError) as wrong:
        raises()
    told = str(wrong.value)
    assert "3 of 3" in told
    assert told.count("DID NOT RAISE") == 2
    assert "--- a letter: line" in told


def test_one_above_another_is_each_with_each_and_the_fixtures_are_handed_on() -> None:
    seen = []

    @each_case("x", [1, 2])
    @each_case("y", "ab", ids=str.upper)
    def pairs(x: int, fixture: list[int], y: str) -> None:
        seen.append((x, y, *fixture))
        assert (x, y) != (2, "b")

    assert list(inspect.signature(pairs).parameters) == ["fixture"]
    with pytest.raises(AssertionError, match=r"1 of 2 cases are wrong\n--- 2: 1 of 2 cases are wrong\n--- B: line"):
        pairs(fixture=[7])
    assert seen == [(1, "a", 7), (1, "b", 7), (2, "a", 7), (2, "b", 7)]


def test_a_case_of_any_depth_has_a_name() -> None:
    deep: list = []
    for _ in range(100_000):
        deep = [deep]

    @each_case("value", [deep])
    def fails(value: list) -> None:
        raise ValueError("too deep")

    with pytest.raises(AssertionError, match="ValueError: too deep"):
        fails()


def test_no_case_is_left_out() -> None:
    @each_case("number", [1, 2])
    def skipped(number: int) -> None:
        pytest.skip("not here")

    @each_case("number", [])
    def empty(number: int) -> None:
        raise NotImplementedError

    with pytest.raises(TypeError, match="1: what may be left out is a test of its own"):
        skipped()
    with pytest.raises(AssertionError, match="no case"):
        empty()


def test_cases_that_would_change_what_others_meet_stay_apart() -> None:
    def patches(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        raise NotImplementedError

    with pytest.raises(AssertionError, match="monkeypatch"):
        each_case("number", [1, 2])(patches)
