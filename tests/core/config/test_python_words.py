"""Python's words in a pasted config become JSON's where a value stands, and nowhere else."""

import time

import pytest

from dsgui.core.config.python_words import as_json_words
from tests.support.cases import each_case


@pytest.mark.parametrize(
    ("text", "meant", "lines"),
    [
        (
            '{"a": True,\n "b": [False, None], # True,\n "c":None}',
            '{"a": true,\n "b": [false, null], # True,\n "c":null}',
            (1, 2, 3),
        ),
        ("{'a': True}", "{'a': true}", (1,)),
        ("a: True", "a: true", (1,)),
    ],
)
def test_a_word_of_python_is_the_json_value(text, meant, lines):
    assert as_json_words(text) == (meant, lines)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x: True, "}',
        "{'a': 'is, None]'}",
        "{a: 1, // b: True\n}",
        "/* a: True, */ {}",
        "{a: True story,\n}",
        "{True: 1}",
        '"\\": True,',
    ],
)
def test_elsewhere_it_stays(text):
    assert as_json_words(text) == (text, ())


@each_case("piece", [": ", '"\\', "/*", "'\\\\", ",\n", ": True", "/* *", "[ \t"])
def test_no_text_takes_long(piece):
    begun = time.process_time()
    as_json_words(piece * 40_000)
    assert time.process_time() - begun < 2  # a hundredth of a second here
