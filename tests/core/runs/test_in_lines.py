"""A config of one line in a report."""

from dsgui.core.runs.in_lines import in_lines
from tests.support.cases import each_case


@each_case(
    ("text", "told"),
    [
        ("", ""),
        ("{}", "{}"),
        (
            '{"a":5e8,"b":{"c":[1,2],"d":{}}}\n',
            '{\n  "a": 5e8,\n  "b": {\n    "c": [\n      1,\n      2\n    ],\n    "d": {}\n  }\n}',
        ),
        ('{"a": "x, {y: \\"z\\"}"}', '{\n  "a": "x, {y: \\"z\\"}"\n}'),
        ('{"a": 1,\n"b": 2}', '{"a": 1,\n"b": 2}'),
    ],
)
def test_a_config_of_one_line_is_indented(text, told):
    assert in_lines(text) == told


def test_a_hundred_thousand_levels_take_no_more_room_than_their_lines():
    text = '{"a":' * 100_000 + "1" + "}" * 100_000
    assert len(in_lines(text)) < 100 * len(text)
