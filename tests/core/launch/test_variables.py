"""Environment variables as typed."""

import pytest

from dsgui.core.errors import PlanError
from dsgui.core.launch.variables import parse_variables, plain_and_secret, variables_text
from tests.support.cases import each_case


def test_lines_become_variables() -> None:
    text = "A=1\n\n# a note\nexport B = two words \nC='x=y'\nD="
    assert parse_variables(text) == {"A": "1", "B": "two words", "C": "x=y", "D": ""}


def test_a_line_without_a_sign_is_named_by_its_number_and_never_repeated() -> None:
    with pytest.raises(PlanError, match="line 2") as caught:
        parse_variables("A=1\nhf_secret")
    assert "hf_secret" not in str(caught.value)


def test_secrets_are_told_by_their_names() -> None:
    assert plain_and_secret("HF_TOKEN=x\nA=1\nMY_PASSWORD=y") == ({"A": "1"}, {"HF_TOKEN": "x", "MY_PASSWORD": "y"})


@each_case("value", ["plain", '"quoted"', "'quoted'", '"', "''", " ends ", "a=b", "", 'say "hi"', "# no"])
def test_variables_written_as_lines_are_read_as_they_were(value):
    assert parse_variables(variables_text({"A": value, "B": "2"})) == {"A": value, "B": "2"}
