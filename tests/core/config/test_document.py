"""The document loses nothing: an edit changes the edited value's text and nothing else."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.document import Document
from dsgui.core.config.pointer import MISSING, join, lookup
from dsgui.core.errors import DocumentError
from tests.support.cases import each_case

TEXT = """{
    "train_batch_size": 64,
    "my own key": [1, 2.50, {"x": null}],
    "zero_optimization": {
        "reduce_bucket_size": 5e8,
        "sub_group_size": 1e9
    },

    "lr": 1e-5,
    "zero": 0.0
}
"""

keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())
values = st.recursive(leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=8)
configs = st.dictionaries(keys, values, max_size=5)
indents = st.sampled_from([None, 1, 2, 4, "\t"])


def test_setting_a_value_changes_its_text_alone():
    changed = Document(TEXT).set("/zero_optimization/reduce_bucket_size", "2e8")
    assert changed.text == TEXT.replace("5e8", "2e8")


def test_a_new_key_is_indented_like_its_siblings():
    changed = Document(TEXT).set("/zero_optimization/stage", "2")
    assert changed.text == TEXT.replace('"sub_group_size": 1e9\n', '"sub_group_size": 1e9,\n        "stage": 2\n')


def test_missing_parents_are_made_and_go_again_when_emptied():
    document = Document(TEXT)
    changed = document.set("/fp16/enabled", '"auto"')
    assert changed.value["fp16"] == {"enabled": "auto"}
    assert '    "fp16": {\n        "enabled": "auto"\n    }\n}' in changed.text
    assert changed.clear("/fp16/enabled").text == TEXT


def test_removing_any_member_leaves_valid_json_without_it():
    document = Document(TEXT)
    for pointer in ("/train_batch_size", "/zero_optimization", "/zero", "/zero_optimization/sub_group_size"):
        removed = document.remove(pointer)
        assert lookup(json.loads(removed.text), pointer) is MISSING
        assert len(document.text) - len(removed.text) > 0


def test_a_scalar_gives_way_to_an_object():
    assert Document('{"zero_optimization": true}').set("/zero_optimization/stage", "1").value == {
        "zero_optimization": {"stage": 1}
    }


def test_blank_text_is_an_empty_config_that_can_be_filled():
    assert Document("  \n").value == {}
    assert Document("").set("/fp16/enabled", "true").text == '{\n    "fp16": {\n        "enabled": true\n    }\n}\n'


@each_case(
    ("text", "line", "column", "says"),
    [
        ('{"a": 1,}', 1, 8, "comma"),
        ('{\n  "a": True\n}', 2, 8, "use `true`"),
        ('{\n  "a": 1 // note\n}', 2, 10, "no comments"),
        ('{\n  "a": 1, # note\n}', 2, 11, "no comments"),
        ('{"path": /home/me/out}', 1, 10, "found “/”."),
        ('{\n"a": 1,\n"a": 2}', 3, 1, "lines 2 and 3"),
        ("[1]", 1, 1, "JSON object"),
        ('{"a": 1', 1, 8, "ends"),
        ('{"a": 01}', 1, 8, "“,” or “}”"),
        ('{"a": "x" "b": 1}', 1, 10, "no comma"),
        ('{"a": "x""b": 1}', 1, 10, "no comma"),
        ('{"a": "cpu"", "b": 1}', 1, 12, "“,” or “}”"),  # a quote too many
        ('{"a": NaN}', 1, 7, "NaN"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": "x\ny"}', 1, 9, "string"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ('{"a": ' + "9" * 400 + "}", 1, 7, "400 digits"),
        ('{"a": 1e999}', 1, 7, "larger than any number"),
    ],
)
def test_a_text_that_is_no_config_says_where_it_breaks(text, line, column, says):
    with pytest.raises(DocumentError) as caught:
        Document(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)


def test_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(DocumentError, match="nested"):
        Document('{"a":' * 5000)


@given(configs, indents)
def test_any_json_object_loads_as_the_standard_library_loads_it(config, indent):
    text = json.dumps(config, indent=indent, ensure_ascii=False)
    document = Document(text)
    assert document.text == text
    assert document.value == json.loads(text)


@given(configs, indents, st.data())
def test_setting_one_leaf_changes_one_leaf(config, indent, data):
    document = Document(json.dumps(config, indent=indent))
    before = dict(document.literals())
    if not before:
        return
    pointer = data.draw(st.sampled_from(sorted(before)))
    after = dict(document.set(pointer, "5e8").literals())
    assert {p: after[p] for p in after if p != pointer} == {p: before[p] for p in before if p != pointer}
    assert after[pointer] == "5e8"


@given(configs, indents, st.lists(st.text(string.ascii_letters, min_size=1), min_size=1, max_size=3))
def test_setting_then_removing_a_new_key_restores_the_value(config, indent, parts):
    document = Document(json.dumps(config, indent=indent))
    if parts[0] in config:
        return
    pointer = join(parts)
    assert document.set(pointer, "1").clear(pointer).value == document.value


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n/#', max_size=60))
def test_junk_is_refused_exactly_when_strict_json_refuses_it(text):
    try:
        expected = json.loads(text, parse_constant=float.fromhex)
    except ValueError:
        expected = None
    try:
        value = Document(text).value
    except DocumentError:
        return  # duplicates and non-objects are refused on purpose
    assert value == (expected if text.strip() else {})


def test_what_is_removed_leaves_its_block_and_what_is_cleared_takes_it_along():
    document = Document('{"a": {"b": {"c": 1}}, "d": 2}')
    assert document.remove("/a/b/c").value == {"a": {"b": {}}, "d": 2}
    assert document.clear("/a/b/c").value == {"d": 2}
    assert document.clear("/a/b/c", keep=["/a"]).value == {"a": {}, "d": 2}
    assert document.remove("/a/x/y").text == document.clear("/x").text == document.text


def test_new_lines_end_as_the_others_do():
    text = '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'
    changed = Document(text).set("/a/c", "2").set("/d/e", "3").text
    assert changed.count("\n") == changed.count("\r\n") == 9
