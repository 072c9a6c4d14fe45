"""How sizes are said: the command line and the page say one number of one file."""

import re
from pathlib import Path

import pytest

from dsgui.core.sizes import file_size

SAID_ON_THE_PAGE = Path(__file__).parents[1] / "js" / "common" / "format.test.js"
OF_FILES = re.search(r"tells\(size, \[(.+?)^\]\);", SAID_ON_THE_PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
CASES = re.findall(r"\[([\d_.e]+), \"([^\"]+)\"\]", OF_FILES[1] if OF_FILES else "")


def test_the_page_has_cases():
    assert len(CASES) >= 6


@pytest.mark.parametrize(("count", "said"), CASES)
def test_a_file_has_the_size_that_the_page_says(count, said):
    assert file_size(int(float(count))) == said
