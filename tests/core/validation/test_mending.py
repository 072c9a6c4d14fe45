"""Where a text breaks off as JSON it is mended by one edit, as it was meant; by none where that is not certain."""

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.validation.mending import mending
from tests.support.cases import each_case

words = st.text("abcdefgh_ é参数//#,:{}[]", max_size=8)
leaves = st.one_of(st.none(), st.booleans(), st.integers(0, 10**9), st.floats(0, 1), words)
values = st.recursive(leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(words, v, max_size=3), max_leaves=8)
texts = st.builds(
    lambda value, indent, end: json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", end) + end,
    st.dictionaries(words, values, min_size=1, max_size=5),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+|[{}\[\],:]')

# What is written instead of a token that reads as the pattern; \0 is the token, \1 what is in its quotes.
BREAKS = {
    "two commas": (",", ",,"),
    "three commas": (",", ",,,"),
    "a comma before an object ends": ("}", ",}"),
    "a comma before a list ends": ("]", ",]"),
    "two commas before an object ends": ("}", ",,}"),
    "a comma as an object begins": ("{", "{,"),
    "a comma as a list begins": (r"\[", "[,"),
    "text in single quotes": (r'"([^"\\]*)"', r"'\1'"),
    "True": ("true", "True"),
    "False": ("false", "False"),
    "None": ("null", "None"),
    "a comment within a line": (r"[^\s]+", r'/* a, "b": {1} */\g<0>'),
    "a comment of two lines": (r"[^\s]+", "/* a\n b */\\g<0>"),
    "no comma": (",", ""),
}
LINES = {
    "a comment at the end of a line": " // a, 'b': {1",
    "a comment of Python's": "  # one, “two”",
    "a comment as in C": "\t/* a */",
}


@pytest.mark.parametrize("name", BREAKS)
@given(texts, st.data())
def test_a_broken_place_is_mended_to_the_text_that_was_broken_and_by_nothing_else(name, text, data):
    pattern, new = BREAKS[name]
    tokens = [token for token in TOKEN.finditer(text) if re.fullmatch(pattern, token[0])]
    assume(tokens)
    token = data.draw(st.sampled_from(tokens))
    broken = text[: token.start()] + re.sub(pattern, new, token[0], count=1) + text[token.end() :]
    found = mending(broken)
    if name == "no comma" and found is None:
        assert _is_in_list(text, token.start())
        return
    assert found is not None
    assert found.apply(broken) == text
    assert broken[: found.start] + found.new + broken[found.end :] == text


def _is_in_list(text, at):
    """Two items of a list may be one that was broken in two; a key is certain to begin another member."""
    opened = []
    for token in TOKEN.finditer(text[:at]):
        if token[0] in "{[":
            opened.append(token[0])
        elif token[0] in "}]":
            opened.pop()
    return opened[-1] == "["


@pytest.mark.parametrize("name", LINES)
@given(texts, st.data())
def test_a_comment_goes_with_its_line_or_with_the_blanks_before_it(name, text, data):
    assume(text.count("\n") > 1)
    comment = LINES[name]
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    body = lines[at].rstrip("\r\n")
    end = lines[at][len(body) :]
    ended = "".join([*lines[:at], body + comment + end, *lines[at + 1 :]])
    assert mending(ended).apply(ended) == text
    alone = "".join([*lines[:at], comment + end, *lines[at:]])
    assert mending(alone).apply(alone) == text


@given(texts, st.lists(st.sampled_from(sorted(set(BREAKS) - {"no comma"})), max_size=4), st.data())
def test_several_broken_places_are_mended_one_by_one(text, names, data):
    broken = text
    for name in names:
        pattern, new = BREAKS[name]
        tokens = [token for token in TOKEN.finditer(text) if re.fullmatch(pattern, token[0])]
        if tokens and broken == text:
            token = tokens[-1]
            broken = text[: token.start()] + re.sub(pattern, new, token[0], count=1) + text[token.end() :]
            broken = broken.replace("true", "True")
    for _ in range(200):
        found = mending(broken)
        if found is None:
            break
        broken = found.apply(broken)
    assert json.loads(broken) == json.loads(text)


@each_case(
    ("text", "label", "mended"),
    [
        ('config = {"a": 1}', "Remove “config =”", '{"a": 1}'),
        ('\n  args.ds_config={"a": 1}\n', "Remove “args.ds_config=”", '\n  {"a": 1}\n'),
        ('ds: dict[str, Any] = {"a": 1}', "Remove “ds: dict[str, Any] =”", '{"a": 1}'),
        ('{"a": 1_000_000}', "Replace 1_000_000 with 1000000", '{"a": 1000000}'),
        ('{"a": -10_0, "b": 2}', "Replace 10_0 with 100", '{"a": -100, "b": 2}'),
    ],
)
def test_what_python_has_around_a_config_and_in_its_numbers_goes(text, label, mended):
    found = mending(text)
    assert found is not None
    assert (str(found.label), found.apply(text)) == (label, mended)


@each_case(
    "text",
    [
        '{"a": ,}',
        '{"a": 1__0}',
        '{"a": 1_0x}',
        'config = [{"a": 1}]',
        '{"b": 1} config = {"a": 1}',
        '{"a": , "b": 1}',
        '{"a" "b"}',
        '{"a": 1 // x, "b": 2}',  # what ends there, the comment or the line?
        '{"a": 1 # x}',
        '{"a": [1 2]}',
        '{"a": ["b" "c"]}',
        '{"a": [1 "b": 2]}',
        "{'a: 1}",
        '{"a": \'it"s\'}',
        "{\"a\": 'it\\'s'}",
        "{\"a\": 'b' c}",
        '{"a": TRUE}',
        '{"a": Truee}',
        "{a: 1}",
        '{"a": 1',
        '{"a": 1, "a": 2}',
        "[1,,2]",  # no config
        '{"a": 1}}',
        '{"a": 1};',
        "",
        '{"a": 1}',
        "lr: 1",
    ],
)
def test_where_it_is_not_certain_what_was_meant_nothing_is_offered(text):
    assert mending(text) is None


@given(st.text("{}[],:'\"/#*\\ \n\tTrueFalseNone10ab", max_size=30))
def test_any_text_is_mended_nearer_to_its_end_or_not_at_all(junk):
    text = '{"a": ' + junk + "}"
    found = mending(text)
    if found is None:
        return
    mended = found.apply(text)
    rest = re.compile(r"[\s,]|//.*|#.*|/\*.*?\*/", re.DOTALL)
    cut = text[found.start : found.end]
    assert not rest.sub("", cut) or cut in ("True", "False", "None") or cut[0] == cut[-1] == "'"
    assert _stop(mended) > _stop(text) - (found.end - found.start) or _stop(mended) == len(mended)


def _stop(text):
    try:
        Document(text)
    except DocumentError as error:
        return sum(len(line) for line in text.split("\n")[: error.line - 1]) + error.line - 1 + error.column - 1
    return len(text)


@each_case(
    ("text", "mended"),
    [
        ('{"a": 1, // last\n}', '{"a": 1\n}'),
        ('{"a": 1, # x\n}', '{"a": 1\n}'),
        ('{"a": 1,\n  // x\n}\n', '{"a": 1\n}\n'),
        ('{"a": [1, /* c */]}', '{"a": [1 ]}'),
    ],
)
def test_a_comment_takes_the_comma_along_that_is_one_too_many_without_it(text, mended):
    found = mending(text)
    assert found.apply(text) == mended
    assert "comma" in str(found.label)


def test_a_large_broken_text_takes_no_time_at_all_and_a_larger_one_is_not_mended():
    member = '  "key_%d": {"a": [1, 2, 3], "b": "text"},\n'

    def written(members):
        return "{\n" + "".join(member % number for number in range(members)) + '  "last": 1,,\n  "end": 2\n}\n'

    text = written(1400)
    found = mending(text)
    assert found is not None
    assert found.apply(text) == text.replace("1,,", "1,")
    assert len(written(1500)) > 64_000
    assert mending(written(1500)) is None


@each_case(
    ("broken", "after"),
    [
        ('{"a": True/* x */}', '{"a": true/* x */}'),
        ('{"a": None # x\n}', '{"a": null # x\n}'),
        ("{\"a\": 'b'// x\n}", '{"a": "b"// x\n}'),
    ],
)
def test_a_word_is_mended_before_a_comment_too(broken, after):
    assert mending(broken).apply(broken) == after
