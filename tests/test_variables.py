"""Environment variables as typed."""

import pytest

from dsgui.core.errors import PlanError
from dsgui.core.variables import parse_variables


def test_lines_become_variables() -> None:
    text = "A=1\n\n# a note\nexport B = two words \nC='x=y'\nD="
    assert parse_variables(text) == {"A": "1", "B": "two words", "C": "x=y", "D": ""}


def test_a_line_without_a_sign_is_named_by_its_number_and_never_repeated() -> None:
    with pytest.raises(PlanError, match="line 2") as caught:
        parse_variables("A=1\nhf_secret")
    assert "hf_secret" not in str(caught.value)
