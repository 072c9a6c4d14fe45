"""Many cases in one test: what pytest does around a test costs more than most of them take.

    @each_case("name", EXAMPLES)
    def test_an_example_can_be_read(name): ...

goes through all of them, and fails with the name of each that is wrong and what it says. The fixtures are made once:
a family whose cases change them stays with `pytest.mark.parametrize`, which is called alike.
"""

import functools
import inspect
import reprlib
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings

# The examples Hypothesis makes of a property, as the profile has it: more for a cheap one, fewer for a dear one.
AS_USUAL = settings().max_examples
CHANGED_BY_A_CASE = {"monkeypatch", "tmp_path", "capsys", "capfd", "caplog", "recwarn", "request", "confirmed"}
MOST_CHARACTERS = 200
_SHORT = reprlib.Repr()  # whatever depth a value has
_SHORT.maxother = _SHORT.maxstring = MOST_CHARACTERS

Test = Callable[..., None]


def each_case(
    names: str | tuple[str, ...], values: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test. One above another: each with each."""
    argnames = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    given = [(value,) if len(argnames) == 1 else tuple(value) for value in values]
    called = list(ids) if isinstance(ids, Iterable) else [ids] * len(given)
    cases = [(name, dict(zip(argnames, case, strict=True))) for name, case in zip(called, given, strict=True)]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in argnames]
        changed = {one.name for one in left} & CHANGED_BY_A_CASE
        assert not changed, f"each case needs its own {changed}: pytest.mark.parametrize"

        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            __tracebackhide__ = True
            _go_through(cases, functools.partial(test, **fixtures))

        all_cases.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_cases

    return decorate


def _go_through(cases: list[tuple[Any, dict[str, Any]]], test: Test) -> None:
    __tracebackhide__ = True
    assert cases, "no case: nothing was tested"
    wrong: list[tuple[str, BaseException]] = []
    for called, case in cases:
        try:
            test(**case)
        except pytest.skip.Exception as skipped:
            raise TypeError(f"{_name(called, case)}: what may be left out is a test of its own") from skipped
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 – told, with its case
            wrong.append((_name(called, case), error))
    if wrong:
        told = "\n".join(f"--- {name}: {_told(error)}" for name, error in wrong)
        raise AssertionError(f"{len(wrong)} of {len(cases)} cases are wrong\n{told}") from wrong[0][1]


def _told(error: BaseException) -> str:
    """Where, and what differs; cases within a case have said where."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = "" if where.filename == __file__ else f"line {where.lineno}: {where.line}\n"
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{place}{kind}{error}"


def _name(called: Any, case: dict[str, Any]) -> str:
    """The id that it was given, or what a callable makes of its values, or these."""
    if called is not None and not callable(called):
        return str(called)
    words = [called(value) if called else value for value in case.values()]
    return "-".join(word if isinstance(word, str) else _SHORT.repr(word) for word in words)[:MOST_CHARACTERS]
