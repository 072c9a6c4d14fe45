"""What is said of a text that is to be a config: where it breaks, and how it was read."""

from collections.abc import Mapping

READING: Mapping[str, str] = {
    "at": "Line {line}, column {column}: {what}.",
    "on_line": "on line {line}",
    "on_lines": "on lines {first} and {second}",
    "line": "line {lines}",
    "lines": "lines {lines}",
    "noted": "{what} ({lines})",
    "text_after": "there is text after the end of the config",
    "no_object": "a config is a JSON object, {{…}}; this is {kind}",
    "starts_otherwise": "a config is a JSON object, {{…}}; this starts with “{seen}”",
    "a_list": "a list",
    "a_text": "text",
    "a_value": "the value {value}",
    "too_deep": "objects are nested more than {most} deep",
    "quoted_key": 'a key in double quotes, such as "zero_optimization"',
    "key": 'a key, such as "zero_optimization", and “:”',
    "value": "a value: a number, true, false, null, or text in double quotes",
    "comma_or": "“,” or “{bracket}”",
    "trailing_comma": "there is a comma before the closing bracket, which JSON doesn't allow",
    "broken_string": "a string is broken here ({why})",
    "long_number": "a number of {digits} digits is more than any key takes",
    "large_number": "{number} is larger than any number a JSON reader holds",
    "ends": "the text ends where {expected} was expected",
    "python_word": "expected {expected}, found “{seen}”; use `{word}`",
    "comment": "expected {expected}, found “{seen}”; JSON has no comments",
    "other": "expected {expected}, found “{seen}”",
    "stands_where": "expected {expected}, found “{seen}”",
    "twice": (
        '"{key}" appears twice, {where}; DeepSpeed refuses that and the HF Trainer silently takes the last. Keep one'
    ),
    "stands_twice": "{key} appears twice, {where}; DeepSpeed refuses that. Keep one",
    "as_in_yaml": (
        "“{inner}” is indented below “{key}” as in YAML. Put {{…}} around what “{key}” contains, or save "
        "the text as a .yaml file of accelerate's"
    ),
    "open_comment": "a comment that starts here is never closed. End it with */",
    "open_text": "a string that starts here has no closing quote",
    "broken_text": "a string is broken here: its quotes contain a line break or control character",
    "escape": "“{seen}” is not an escape sequence. For a backslash, write two",
    "open_triple": "a string that starts with ''' here has no closing '''",
    "not_finite": "{word} is not a JSON number. Write a number, or leave the key out",
    "odd_digits": "“{seen}” has digits other than 0 to 9",
    "swallows": (
        "“{seen}” has no quotes, so it extends to the end of its line, brackets included, and a bracket "
        "is never closed. Put strings in double quotes"
    ),
    "hinted": "{what} (JSON's word is {word})",
    "last_kept": "{what}; the last was kept",
    "bare": "unquoted “{seen}” became the string {text}",
    "more_bare": "{count} more unquoted words became strings",
    "byte_order_mark": "byte order mark at the start removed",
    "comments_one": "comment removed",
    "comments_many": "{count} comments removed",
    "trailing_one": "trailing comma removed",
    "trailing_many": "{count} trailing commas removed",
    "missing_one": "missing comma added",
    "missing_many": "{count} missing commas added",
    "keys_one": "key put in double quotes",
    "keys_many": "{count} keys put in double quotes",
    "quotes_one": "single-quoted string put in double quotes",
    "quotes_many": "{count} single-quoted strings put in double quotes",
    "triple_one": "''' string put on one line in double quotes",
    "triple_many": "{count} ''' strings put on one line in double quotes",
    "braces_one": "braces put around the whole",
    "braces_many": "braces put around the whole",
    "as_hjson": (
        "Native DeepSpeed reads this file (as hjson); the HF Trainer and accelerate reject it. As strict JSON:"
    ),
    "is_accelerate": "This is an accelerate YAML. Its DeepSpeed config as strict JSON:",
    "not_accelerate": "This is not an accelerate YAML.",
    "points_to": "The YAML points to {path}: open that file.",
    "bar_gpus": "GPUs per node",
    "bar_nodes": "Nodes",
    "count_empty": "{name}: it is empty; checked for {count}.",
    "count_outside": "{name}: {seen} is outside 1 to {most}; checked for {count}.",
}
