"""What differs between a run and its clone."""

import pytest

from dsgui.core.runs.changed import in_environment, in_words


@pytest.mark.parametrize("option", ["--hub_token", "--api-key"])
def test_what_an_option_hides_is_hidden_on_both_sides(option: str) -> None:
    (one,) = in_words([option, "abcdef0123456789"], [option, "zyxwvu9876543210"])
    (new,) = in_words([], [option, "zyxwvu9876543210"])
    (gone,) = in_words([option, "zyxwvu9876543210"], [])
    for told in (one.told, one.short, new.told, new.short, gone.told, gone.short):
        assert option.strip("-") in str(told)
        assert not any(secret in str(told) for secret in ("abcdef", "zyxwvu"))


def test_a_variable_is_hidden_by_its_name_and_another_value_is_told() -> None:
    (token,) = in_environment({"HF_TOKEN": "hf_abcdefgh1"}, {"HF_TOKEN": "hf_zyxwvuts2"})
    assert "hf_" not in str(token.told).lower().replace("hf_token", "")
    (lr,) = in_words(["--lr", "1"], ["--lr", "2"])
    assert str(lr.told) == "--lr: 1 → 2"
