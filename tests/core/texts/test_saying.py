"""What is said as a value: put beside each other, changed, and read back."""

from dsgui.core.errors import PlanError
from dsgui.core.machine.verdicts import Check, Row, advise, ok, problem, saw, warning
from dsgui.core.texts.saying import Said, altered, as_told, listed, said, sentences, set_apart, wrong


def rows(*checks: Check[int]) -> list[Row]:
    return [row for row in (check.row(0) for check in checks) if row]


def test_what_is_listed_is_set_apart_as_the_language_does_it() -> None:
    assert str(listed(["a", saw("op.built_in", op="b"), "c"])) == "a, b is built in, c"
    assert str(set_apart(["a, b", "c"])) == "a, b; c"
    assert (listed([]), listed(["a"])) == ("", "a")


def test_a_row_has_its_texts_and_their_codes() -> None:
    seen = (saw("options.unknown", option="--a"), saw("options.more", count="2"))
    (row,) = rows(Check("options", "argparse", lambda subject: warning(seen, advise("options.remove", option="--a"))))
    assert row.to_json() == {
        "check": "options",
        "title": "The script’s options",
        "status": "warning",
        "seen": "--a is not an option of this script. And 2 more.",
        "advice": "Remove --a.",
        "command": "",
        "source": "argparse",
        "code": "options.unknown",
        "advice_code": "options.remove",
    }


def test_a_row_without_advice_has_no_code_of_one() -> None:
    (fine, bad) = rows(
        Check("use_cpu", "", lambda subject: ok(saw("use_cpu.given"))),
        Check("shm", "", lambda subject: problem(saw("shm.none"))),
    )
    assert [(row.to_json()["code"], row.to_json()["advice_code"]) for row in (fine, bad)] == [
        ("use_cpu.given", ""),
        ("shm.none", ""),
    ]


def hidden(text: str) -> str:
    return text.replace("secret", "•")


def test_what_fills_the_places_is_changed_and_the_code_stays() -> None:
    told = saw("takes_config.another_way", argument="secret", because=said("handing", "file", file="a secret"))
    changed = altered(told, hidden)
    assert changed == saw("takes_config.another_way", argument="•", because=said("handing", "file", file="a •"))
    assert altered(saw("shm.none"), hidden) == saw("shm.none")


def test_what_only_the_whole_text_shows_is_changed_in_words() -> None:
    """A secret may stand half in one place and half in the other."""
    told = saw("op.no_because", op="x", why="y")
    whole = altered(told, lambda text: "•" if "compiled: y" in text else text)
    assert (whole, str(whole)) == (as_told("•"), "•")


def test_an_error_says_its_text_and_keeps_its_code() -> None:
    error = PlanError(wrong("ranks.few", ranks="0"))
    assert str(error) == "Ranks: 0 is too few. Enter 1 or more, or select a GPU."
    assert error.args == (Said("errors", "ranks.few", (("ranks", "0"),)),)
    assert sentences([error.args[0]]) == str(error)


def test_a_thousand_things_are_listed() -> None:
    assert str(listed(map(str, range(1000)))) == ", ".join(map(str, range(1000)))
