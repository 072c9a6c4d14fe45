"""How sizes are said: the command line and the page say one number of one file."""

import re
from pathlib import Path

import pytest

from dsgui.core.sizes import GIB, TIB, about, beside, file_size, gib, roughly, told_apart

SAID_ON_THE_PAGE = Path(__file__).parents[1] / "js" / "common" / "format.test.js"
OF_FILES = re.search(r"tells\(size, \[(.+?)^\]\);", SAID_ON_THE_PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
CASES = re.findall(r"\[([\d_.e]+), \"([^\"]+)\"\]", OF_FILES[1] if OF_FILES else "")


def test_the_page_has_cases():
    assert len(CASES) >= 6


@pytest.mark.parametrize(("count", "said"), CASES)
def test_a_file_has_the_size_that_the_page_says(count, said):
    assert file_size(int(float(count))) == said


def cases_of(name):
    found = re.search(rf"tells\({name}, \[(.+?)^\]\);", SAID_ON_THE_PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return re.findall(r"\[([\d_.* -]+), \"([^\"]+)\"\]", found[1] if found else "")


@pytest.mark.parametrize(("count", "said"), cases_of("gib"))
def test_memory_is_said_as_the_page_says_it(count, said):
    assert gib(number(count), 2) == said


@pytest.mark.parametrize(("count", "said"), cases_of("roughly"))
def test_what_is_missing_is_said_as_roughly_as_on_the_page(count, said):
    assert roughly(number(count)) == said


def number(written):
    """`1.5 * 2 ** 30`, `2 ** 40 - 1`."""
    whole, _, less = written.partition(" - ")
    factor, _, power = whole.rpartition(" * ") if " * 2 **" in whole else ("1", "", whole)
    base, _, exponent = power.partition(" ** ")
    return float(factor) * float(base) ** float(exponent or 1) - float(less or 0)


def test_both_cases_are_read():
    assert len(cases_of("gib")) >= 5
    assert len(cases_of("roughly")) >= 8


def test_beside_another_both_have_their_unit_from_a_tebibyte_on():
    assert beside(TIB / 2, 3 * TIB / 4) == "512.0"
    assert (beside(TIB / 2, TIB - 1), gib(TIB - 1)) == ("512.0 GiB", "1.0 TiB")


def test_two_sizes_that_round_alike_are_told_apart():
    assert told_apart(91.2 * GIB, 79 * GIB) == ("91 GiB", "79 GiB")
    assert told_apart(91.2 * GIB, 90.9 * GIB) == ("91.2 GiB", "90.9 GiB")
    assert told_apart(91.22 * GIB, 91.19 * GIB) == ("91.22 GiB", "91.19 GiB")
    assert told_apart(1.83 * TIB, 1.81 * TIB) == ("1873.9 GiB", "1853.4 GiB")
    assert told_apart(5 * GIB, 5 * GIB) == ("5.0 GiB", "5.0 GiB")


def test_a_prediction_is_rounded_but_never_to_the_other_side_of_its_limit():
    assert about(33.25 * GIB) == "≈ 33 GiB"
    assert about(33.25 * GIB, 78.8 * GIB) == "≈ 33 GiB"
    assert about(23.52 * GIB, 23.64 * GIB) == "≈ 23.5 GiB"
