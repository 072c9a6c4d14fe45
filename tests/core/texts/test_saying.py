"""What is said as a value: put beside each other, changed, and read back."""

import re
from pathlib import Path

import dsgui
from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.errors import PlanError
from dsgui.core.machine.verdicts import Check, Row, advise, ok, problem, saw, warning
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import Said, altered, as_told, listed, said, sentences, set_apart, wrong
from dsgui.core.validation.checker import Checker

_OWN_COMMA = re.compile('"[,;] "[.]join')


def rows(*checks: Check[int]) -> list[Row]:
    return [row for row in (check.row(0) for check in checks) if row]


def test_what_is_listed_is_set_apart_as_the_language_does_it() -> None:
    assert str(listed(["a", saw("op.built_in", op="b"), "c"])) == "a, b is built in, c"
    assert str(set_apart(["a, b", "c"])) == "a, b; c"
    assert (listed([]), listed(["a"])) == ("", "a")


def test_a_text_within_another_keeps_the_capitals_of_a_name() -> None:
    moves = [said("memory_moves", code) for code in ("zero_init", "stage_3", "checkpointing")]
    assert [f"{one:inside}" for one in moves[1:]] == ["ZeRO stage 3", "gradient checkpointing"]
    assert f"{moves[0]:inside}".startswith("model built within")


def test_a_row_has_its_texts_and_their_codes() -> None:
    seen = (saw("options.unknown", option="--a"), saw("options.more", count="2"))
    (row,) = rows(Check("options", "argparse", lambda subject: warning(seen, advise("options.remove", option="--a"))))
    assert row.to_json() == {
        "check": "options",
        "title": "The script’s options",
        "status": "warning",
        "seen": "--a is not an option of this script. And 2 more.",
        "items": [],
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
    whole = altered(told, lambda text: "•" if "compiled. DeepSpeed: “y" in text else text)
    assert (whole, str(whole)) == (as_told("•"), "•")


def test_an_error_says_its_text_and_keeps_its_code() -> None:
    error = PlanError(wrong("ranks.few", ranks="0"))
    assert str(error) == "Ranks: 0 is too few. Enter 1 or more, or select a GPU."
    assert error.args == (Said("errors", "ranks.few", (("ranks", "0"),)),)
    assert sentences([error.args[0]]) == str(error)


def test_a_thousand_things_are_listed() -> None:
    assert str(listed(map(str, range(1000)))) == ", ".join(map(str, range(1000)))


# Code, JSON, identifiers and the supervisor's log, which no language changes; or what it is sorted by.
NOT_A_TEXT = {
    "supervise.py": 1,
    "core/config/form.py": 1,
    "core/config/outputs.py": 2,
    "core/launch/places/ssh.py": 1,
    "core/runs/listing.py": 1,
    "ui/access/guard.py": 1,
}


def test_nothing_that_is_told_is_set_apart_by_its_own_comma() -> None:
    package = Path(dsgui.__file__).parent
    own = {str(path.relative_to(package)): len(_OWN_COMMA.findall(path.read_text())) for path in package.rglob("*.py")}
    assert {path: count for path, count in own.items() if count} == NOT_A_TEXT


def test_chinese_lists_are_set_apart_by_its_own_comma(checker: Checker) -> None:
    refused = Document('{"fp16": {"enabled": true, "loss_scale": 8, "initial_scale_power": 4, "hysteresis": 2}}')
    with speaking("zh-CN"):
        (told,) = [str(one.says) for one in checker.findings(refused, Context()) if one.rule == "DS026"]
        assert "initial_scale_power、hysteresis" in told
