"""hjson becomes strict JSON of the same value, with its layout kept; what hjson refuses is refused with its place."""

import contextlib
import json
import time

import hjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.document import Document
from dsgui.core.config.loose_json import tidy
from dsgui.core.errors import DocumentError
from tests.support.cases import each_case

COMMENTED = """// for two GPUs
{
    # ZeRO
    "zero_optimization": {
        "stage": 2, // sharded
        "reduce_bucket_size": 5e8, /* elements */
        "note": "a // b, # c, /* d */",
    },
    /* two
       lines */
    "lr": 1e-5,
}
"""
STRICT = """{
    "zero_optimization": {
        "stage": 2,
        "reduce_bucket_size": 5e8,
        "note": "a // b, # c, /* d */"
    },
    "lr": 1e-5
}
"""

PIECES = ["{", "}", "[", "]", ",", ":", "a", '"b"', "'c'", "1", "-2.5e3", "true", "nul", "é", "/x"]
PIECES += ["//", "/*", "*/", "#", "# x\n", '"', "'", "\\", "'''", "\n'''", " ", "\n", "\r\n", "\xa0"]

keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())
values = st.recursive(leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=8)
configs = st.dictionaries(keys, values, max_size=5)
gaps = st.sampled_from(
    ["", "", " ", "\n", "\n    ", "\r\n", " // note\n", "# note\n", "/* note */", "\n/* two\nlines */\n"]
)


@st.composite
def loosely_written(draw, value=None, depth=0):
    """A text that hjson reads as `value`: comments, trailing and missing commas, bare keys and words, other quotes."""
    value = draw(configs) if value is None and depth == 0 else value
    gap, separator = (lambda: draw(gaps)), st.sampled_from([",", ",\n", ",", "\n"])
    if isinstance(value, dict):
        members = [
            gap()
            + _key(draw, key)
            + draw(st.sampled_from(["", " ", "\n"]))
            + ":"
            + gap()
            + draw(loosely_written(item, depth + 1))
            + gap()
            for key, item in value.items()
        ]
        return gap() + "{" + _joined(draw, separator, members) + gap() + "}" + gap()
    if isinstance(value, list):
        return "[" + _joined(draw, separator, [draw(loosely_written(item, depth + 1)) + gap() for item in value]) + "]"
    if isinstance(value, str):
        return _text(draw, value)
    return json.dumps(value) + "\n" * (draw(st.booleans()))


def _joined(draw, separator, elements):
    """A number or bare word is ended by a comma or a line, so a missing comma needs a line break before and after."""
    between = [draw(separator) if element.endswith("\n") else ",\n" for element in elements]
    if between and draw(st.booleans()):
        between[-1] = ""
    return "".join(element + comma for element, comma in zip(elements, between, strict=True))


def _key(draw, key):
    bare = key.isidentifier() and key.isascii()
    return key if bare and draw(st.booleans()) else json.dumps(key, ensure_ascii=draw(st.booleans()))


def _text(draw, value):
    if value.isidentifier() and value not in ("true", "false", "null", "NaN", "Infinity") and draw(st.booleans()):
        return value + "\n"
    if draw(st.booleans()) and not set(value) & set("\\\"'") and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def as_hjson_reads(text):
    """What hjson makes of `text`, or None when it refuses (it raises whatever comes) or finds no object."""
    try:
        value = hjson.loads(text, object_pairs_hook=without_duplicates)
    except (ValueError, IndexError, OverflowError):
        return None
    return value if isinstance(value, dict) else None


def outcome(text):
    try:
        return tidy(text)
    except DocumentError as error:
        return error


def without_duplicates(pairs):
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def test_comments_and_trailing_commas_are_cut_and_the_layout_stays():
    tidied = tidy(COMMENTED)
    assert tidied.text == STRICT
    assert tidied.notes == ("5 comments removed (lines 1, 3, 5, 6, 9)", "2 trailing commas removed (lines 7, 11)")


def test_one_of_a_kind_is_told_in_the_singular():
    assert tidy('{"a": 1, // why\n"b": 2,\n}').notes == ("comment removed (line 1)", "trailing comma removed (line 2)")


def test_strict_text_comes_back_byte_for_byte_without_notes():
    assert tidy(STRICT) == type(tidy(STRICT))(STRICT, ())
    assert tidy("") == type(tidy(""))("", ())


def test_a_byte_order_mark_is_dropped_and_told():
    assert tidy("\ufeff" + STRICT).text == STRICT
    assert tidy("\ufeff" + STRICT).notes == ("byte order mark at the start removed",)
    assert tidy("\ufeff" + COMMENTED).notes[1] == "5 comments removed (lines 1, 3, 5, 6, 9)"


def test_windows_line_ends_stay():
    tidied = tidy(COMMENTED.replace("\n", "\r\n"))
    assert tidied.text == STRICT.replace("\n", "\r\n")


def test_bare_keys_and_words_are_quoted_where_they_stand():
    tidied = tidy("{\n  stage: 3  # three\n  size: 5e8\n  clip: CONFIG_CL_MIN\n  'name': 'it''s'}".replace("''", "\\'"))
    assert tidied.text == '{\n  "stage": 3,\n  "size": 5e8,\n  "clip": "CONFIG_CL_MIN",\n  "name": "it\'s"}'
    assert 'unquoted “CONFIG_CL_MIN” became the string "CONFIG_CL_MIN" (line 4)' in tidied.notes
    assert "3 keys put in double quotes (lines 2, 3, 4)" in tidied.notes
    assert "3 missing commas added (lines 2, 3, 4)" in tidied.notes


def test_a_python_word_is_a_text_as_in_hjson_and_the_note_names_the_json_word():
    tidied = tidy('{\n"a": True,\n"b": 1\n}')
    assert json.loads(tidied.text) == {"a": "True,", "b": 1} == as_hjson_reads('{\n"a": True,\n"b": 1\n}')
    assert "(JSON's word is true)" in tidied.notes[-1]


def test_a_triple_quoted_text_loses_its_indentation():
    text = "{\n  a:\n    '''\n    one\n      two\n    '''\n}"
    assert json.loads(tidy(text).text) == {"a": "one\n  two"} == as_hjson_reads(text)


def test_a_config_without_braces_gets_them():
    assert tidy('"a": 1, "b": {"c": 2,}').text == '{"a": 1, "b": {"c": 2}}'
    assert json.loads(tidy("stage: 2\nname: x\n").text) == {"stage": 2, "name": "x"}


def test_many_places_are_counted_and_the_first_are_listed():
    note = tidy("{" + "\n// c" * 20 + "\n}").notes[0]
    assert note == "20 comments removed (lines 2, 3, 4, 5, 6, 7, 8, 9, …)"
    assert tidy("{a:[\n" + "x\n" * 20 + "]}").notes[-1].startswith("12 more unquoted words became strings")


@each_case(
    ("text", "line", "column", "says"),
    [
        ('{"a": 1, // x\n "b": 2,\n "a": 3}', 3, 2, "lines 1 and 3"),
        ('{"a": 1,\n "a": 3}', 2, 2, "lines 1 and 2"),
        ("{a: 1 // x\n 'a': 2}", 2, 2, "lines 1 and 2"),
        ('{"a": NaN}', 1, 7, "NaN is not a JSON number"),
        ("{a: -Infinity\n}", 1, 5, "-Infinity"),
        ('{"a": 1 /* open', 1, 9, "never closed"),
        ('{"a": True, "b": 2}', 1, 7, "JSON's word is true"),
        ('{\n"a": tru}', 2, 6, "a bracket is never closed"),
        ('{"a": {"b": 1}, // x\n', 2, 1, "ends"),
        ('{"a": "x\ny", }', 1, 9, "line break"),
        ('{"a": "x', 1, 7, "no closing quote"),
        ('{"a": "\\q", }', 1, 8, "backslash"),
        ("{a: '''x", 1, 5, "'''"),
        ("zero_optimization:\n  stage: 2\n", 2, 3, "as in YAML"),
        ("[1, 2,]", 1, 1, "JSON object"),
        ("hello", 1, 1, "JSON object"),
        ('{"a": 1,, }', 1, 9, "key"),
        ('{"a": , }', 1, 7, "value"),
        ('{"a" 1, }', 1, 6, "“:”"),
        ("{a: 1e999\n}", 1, 5, "larger than any number"),
        ("{a: " + "9" * 400 + "\n}", 1, 5, "400 digits"),
        ("{a: 1٣\n}", 1, 5, "0 to 9"),
        ('{"a": 1, } // x\n}', 2, 1, "after the end"),
    ],
)
def test_what_hjson_refuses_or_json_can_not_hold_says_where_it_breaks(text, line, column, says):
    with pytest.raises(DocumentError) as caught:
        tidy(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)


@pytest.mark.parametrize("opening", ["{a:", '{"a":\n', "{a:[", "["])
def test_deep_nesting_is_refused_not_a_crash(opening):
    with pytest.raises(DocumentError):
        tidy("// deep\n" + opening * 20_000)


@each_case(
    ("head", "unit", "tail"),
    [
        ("{a: t", ",", "\n}"),  # hjson looks at the whole line again at each comma
        ("{a: 1", "1,", "\n}"),
        ("{", "/* ", ""),
        ("{", "// c\n", "}"),
        ("{a: [", "'''x''' ", "]}"),  # hjson walks back to the start of the line for each
        ('{"a": "', "\\\\", '", }'),
        ("{", " ", "x"),
        ("{", "k ", "}"),
        ("{", "'", ""),
    ],
)
def test_no_text_takes_more_than_linear_time(head, unit, tail):
    text = head + unit * (200_000 // len(unit)) + tail
    started = time.process_time()
    with contextlib.suppress(DocumentError):
        tidy(text)
    assert time.process_time() - started < 3  # a fifth of a second here; hjson's own reader needs minutes for some


@given(configs, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_any_strict_object_is_unchanged(config, indent, ascii_only):
    text = json.dumps(config, indent=indent, ensure_ascii=ascii_only)
    tidied = tidy(text)
    assert (tidied.text, tidied.notes) == (text, ())


@given(loosely_written())
def test_a_loosely_written_config_keeps_the_value_that_hjson_reads(text):
    value = as_hjson_reads(text)
    assert value is not None
    tidied = tidy(text)
    assert json.loads(tidied.text) == value
    assert Document(tidied.text).value == value
    assert tidied.notes or tidied.text == text


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.booleans())
def test_junk_is_accepted_only_as_hjson_reads_it(junk, braces):
    text = "\n{" + junk + "}" if braces else "\n" + junk
    expected = as_hjson_reads(text)
    tidied = outcome(text)
    if isinstance(tidied, DocumentError):
        assert expected is None or "as in YAML" in str(tidied)
        return
    assert Document(tidied.text).value == (expected if text.strip() else {})
