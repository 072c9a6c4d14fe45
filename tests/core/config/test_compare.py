"""Two configs are compared by value, leaf by leaf, and shown in the words of each file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.compare import Kind, differences, same
from dsgui.core.config.document import Document
from tests.support.cases import each_case

LEFT = Document("""{
    "train_batch_size": 64,
    "gradient_clipping": 1,
    "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8, "overlap_comm": true},
    "fp16": {"enabled": "auto", "loss_scale": 0},
    "wandb": {"enabled": false}
}
""")
RIGHT = Document("""{
    "bf16": {"enabled": true},
    "zero_optimization": {
        "stage": 3,
        "offload_param": {"device": "cpu", "pin_memory": true},
        "reduce_bucket_size": 500000000
    },
    "fp16": {"enabled": false},
    "gradient_clipping": 1.0,
    "train_batch_size": 64
}
""")

# Few keys and few values, so that two configs share some; some keys need escapes in a pointer or look like an index.
keys = st.sampled_from(["a", "b", "0", "a/b", "~", "", "ключ"])
leaves = st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, 5e8, 500000000, 1e-5, "", "1", "auto"])
values = st.recursive(leaves, lambda v: st.lists(v, max_size=2) | st.dictionaries(keys, v, max_size=3), max_leaves=8)
documents = st.builds(
    lambda value, indent: Document(json.dumps(value, indent=indent)),
    st.dictionaries(keys, values, max_size=4),
    st.sampled_from([None, 4]),
)


def rows(left, right):
    return [(d.pointer, d.kind, d.left, d.right) for d in differences(left, right)]


def test_the_lefts_order_comes_first_and_then_what_only_the_right_has():
    assert rows(LEFT, RIGHT) == [
        ("/zero_optimization/stage", "changed", "2", "3"),
        ("/zero_optimization/overlap_comm", "only left", "true", None),
        ("/fp16/enabled", "changed", '"auto"', "false"),
        ("/fp16/loss_scale", "only left", "0", None),
        ("/wandb/enabled", "only left", "false", None),
        ("/zero_optimization/offload_param/device", "only right", None, '"cpu"'),
        ("/zero_optimization/offload_param/pin_memory", "only right", None, "true"),
        ("/bf16/enabled", "only right", None, "true"),
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5e8", "500000000"),
        ("1e-5", "0.00001"),
        ("0.0", "0"),
        ('"\\u00e9"', '"é"'),
        ("[1, 2.0]", "[1.0,2]"),
        ('[{"a": 1, "b": 2}]', '[{"b": 2, "a": 1e0}]'),
    ],
)
def test_another_spelling_is_no_difference(left, right):
    assert rows(Document(f'{{"x": {left}}}'), Document(f'{{"x": {right}}}')) == []


@each_case(
    ("left", "right"),
    [
        ("true", "1"),
        ("false", "0"),
        ("[true]", "[1]"),
        ('"1"', "1"),
        ("null", "0"),
        ('"auto"', "2"),
        ("[1]", "[1, 2]"),
        ('[{"a": 1}]', '[{"a": 2}]'),
        ("[]", "{}"),
        ('{"stage": 2}', "true"),
        ('{"stage": 2}', "{}"),
        ("9007199254740993", "9007199254740992.0"),
    ],
)
def test_another_value_is_one_change_of_the_whole(left, right):
    found = rows(Document(f'{{"x": {left}}}'), Document(f'{{"x": {right}}}'))
    assert found == [("/x", Kind.CHANGED, left, right)]


def test_an_empty_config_lists_every_key_of_the_other():
    assert [d.pointer for d in differences(Document(""), LEFT)] == [pointer for pointer, _ in LEFT.literals()]
    assert {d.kind for d in differences(LEFT, Document("{}"))} == {Kind.ONLY_LEFT}


@given(documents)
def test_a_config_differs_from_itself_in_nothing(document):
    assert differences(document, document) == ()
    assert differences(document, Document(json.dumps(document.value, indent=1))) == ()


@given(documents, documents)
def test_seen_from_the_other_side_the_same_differences_are_mirrored(left, right):
    turned = {
        Kind.CHANGED: Kind.CHANGED,
        Kind.ONLY_LEFT: Kind.ONLY_RIGHT,
        Kind.ONLY_RIGHT: Kind.ONLY_LEFT,
    }
    mirrored = [(pointer, turned[kind], b, a) for pointer, kind, a, b in rows(left, right)]
    assert sorted(mirrored, key=repr) == sorted(rows(right, left), key=repr)


@given(documents, documents)
def test_the_differences_applied_to_the_left_give_the_values_of_the_right(left, right):
    made = left
    for difference in differences(left, right):
        if difference.right is None:
            made = made.clear(difference.pointer)
        else:
            made = made.set(difference.pointer, difference.right)
    assert same(made.value, right.value)
