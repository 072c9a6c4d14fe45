"""Reads a YAML mapping of unknown origin: bounded in size and depth, without aliases and duplicate keys."""

from typing import Any

import yaml  # type: ignore[import-untyped] # PyYAML ships no type information

from dsgui.core.config.document import on_lines
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, said

MAX_CHARACTERS = 64_000  # such a file has about a thousand; PyYAML takes seconds for a million
MAX_DEPTH = 32
# What PyYAML's constructors let through for a value that does not fit its tag (`!!bool x`, `!!int ""`).
_BROKEN_TAG = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError, RecursionError)


def load(text: str) -> dict[str, Any]:
    """Raises `DocumentError` for what is no such mapping."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(said("yaml", "too_long", count=str(len(text)), most=str(MAX_CHARACTERS)))
    try:
        _check(text)
        document = yaml.safe_load(text)
        repr(document)  # hexadecimal or sexagesimal, an integer may be longer than can be written: told here, not later
    except yaml.MarkedYAMLError as error:
        raise _problem(said("yaml", "invalid", why=str(error.problem)[:150]), error.problem_mark) from error
    except (yaml.YAMLError, *_BROKEN_TAG) as error:
        why = " ".join(str(error).split()) or said("yaml", "tag")
        raise DocumentError(said("yaml", "unreadable", why=why)) from error
    if not isinstance(document, dict):
        raise DocumentError(said("yaml", "no_mapping"))
    return document


def seen(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)  # as YAML and JSON write it
    return f"“{text if len(text) <= 40 else text[:39] + '…'}”"


def _check(text: str) -> None:
    """Refuses what turns a short text into a huge value, or hides a value: aliases, depth, duplicate keys."""
    depth = 0
    for event in yaml.parse(text):
        if isinstance(event, yaml.AliasEvent):
            raise _problem(said("yaml", "alias"), event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _problem(said("yaml", "too_deep", most=str(MAX_DEPTH)), event.start_mark)
    _check_keys(yaml.compose(text, yaml.SafeLoader))


def _check_keys(node: Any) -> None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    lines: dict[str, int] = {}
    for key, value in pairs:
        line = key.start_mark.line + 1
        if isinstance(key, yaml.ScalarNode):
            if key.value in lines:
                twice = said("yaml", "twice", key=seen(key.value), where=on_lines(lines[key.value], line))
                raise _problem(twice, key.start_mark)
            lines[key.value] = line
        _check_keys(value)


def _problem(what: Said, mark: Any) -> DocumentError:
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return DocumentError(said("reading", "at", line=str(line), column=str(column), what=what), line, column)
