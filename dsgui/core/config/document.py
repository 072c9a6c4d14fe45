"""The JSON text of a config: parsed with positions, so that one value can change without touching the rest.

Unknown keys, key order, indentation and number spelling (`5e8`, `1e-5`, `0.0`) live in the text, and an edit splices
the text. The parsed value is only a view of it.
"""

import bisect
import json
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from dsgui.core.config import pointer as pointers
from dsgui.core.errors import DocumentError, DoubleKeyError
from dsgui.core.texts.saying import Said, said

MAX_DEPTH = 64
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_PLAIN_STRING = re.compile(r'"[^"\\\x00-\x1f]*"')
_COMMENTS = ("//", "/*", "#")
_WORD = re.compile(r"[A-Za-z_]+")
_PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_PLAIN_SCALAR = re.compile(
    r'(?P<value>(?P<number>-?(?:0|[1-9]\d{0,14}))(?![\d.eE])|(?P<word>true|false|null)(?![A-Za-z_])|"(?P<text>[^"\\\x00-\x1f]*)")'
)
# A whole member and the comma to the next one: most of a config is read by this alone.
_PLAIN_MEMBER = re.compile(rf'{_PLAIN_KEY.pattern}{_PLAIN_SCALAR.pattern}(?P<more>[ \t\n\r]*,[ \t\n\r]*(?="))?')
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder()


class Member(NamedTuple):
    """One `"key": value` of an object; `start` is the position of the key's opening quote."""

    key: str
    start: int
    node: "Node"


class Node(NamedTuple):
    """A value and the span of text it was written as: `text[start:end]`."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()
    items: tuple["Node", ...] = ()

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    def child(self, part: str) -> "Node | None":
        for member in self.members:
            if member.key == part:
                return member.node
        if part.isdecimal() and int(part) < len(self.items):
            return self.items[int(part)]
        return None


class Document:
    """A config's text. Immutable: `set` and `remove` return a new document.

    Raises `DocumentError` (with line and column) when the text is not one JSON object. Blank text is an empty config.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _Parser(text).document()

    @cached_property
    def value(self) -> dict[str, Any]:
        """The parsed config. Treat it as read-only."""
        return dict(self.root.value)

    def node(self, pointer: str) -> Node | None:
        """The node at `pointer`, or None."""
        node: Node | None = self.root
        for part in pointers.split(pointer):
            node = node.child(part) if node else None
        return node

    def literal(self, pointer: str) -> str | None:
        """The text a value is written as (`5e8` stays `5e8`), or None when it is absent."""
        node = self.node(pointer)
        return self.text[node.start : node.end] if node else None

    def line_of(self, pointer: str) -> int | None:
        """The line (from 1) on which the value at `pointer` starts."""
        node = self.node(pointer)
        return self.text.count("\n", 0, node.start) + 1 if node else None

    @cached_property
    def nodes(self) -> tuple[tuple[str, Node], ...]:
        """Every member at any depth of objects, as (pointer, node), each block before its contents."""
        return tuple(self._walk())

    def _walk(self) -> Iterator[tuple[str, Node]]:
        stack = [("", member) for member in reversed(self.root.members)]
        while stack:
            parent, member = stack.pop()
            pointer = pointers.child(parent, member.key)
            yield pointer, member.node
            if member.node.members:
                stack += [(pointer, inner) for inner in reversed(member.node.members)]

    def literals(self) -> Iterator[tuple[str, str]]:
        """Every leaf as (pointer, literal); arrays and empty objects count as leaves."""
        stack: list[tuple[tuple[str, ...], Node]] = [((), self.root)]
        while stack:
            parts, node = stack.pop()
            if node.members:
                stack += [((*parts, member.key), member.node) for member in reversed(node.members)]
            elif parts:
                yield pointers.join(parts), self.text[node.start : node.end]

    def set(self, pointer: str, literal: str) -> "Document":
        """The document with the value at `pointer` written as `literal` (JSON text); missing parents are created."""
        parts = pointers.split(pointer)
        node, depth = self._deepest(parts)
        if depth == len(parts):
            return self._splice(node.start, node.end, literal)
        if not node.is_object:  # `"zero_optimization": true` gives way to an object
            return self._splice(node.start, node.end, self._nested(parts[depth:], literal, node.start))
        if not self.text.strip():
            return Document(self._nested(parts, literal, 0) + "\n")
        return self._insert(node, parts[depth], parts[depth + 1 :], literal)

    def remove(self, pointer: str) -> "Document":
        """The document without the member at `pointer`. A block that becomes empty stays, as `{}`."""
        parts = pointers.split(pointer)
        parent = self.node(pointers.join(parts[:-1]))
        if parent is None or all(member.key != parts[-1] for member in parent.members):
            return self
        members = parent.members
        index = next(i for i, member in enumerate(members) if member.key == parts[-1])
        if len(members) == 1:
            return self._splice(parent.start, parent.end, "{}")
        if index + 1 < len(members):
            return self._splice(members[index].start, members[index + 1].start, "")
        return self._splice(members[index - 1].node.end, members[index].node.end, "")

    def clear(self, pointer: str, keep: Collection[str] = ()) -> "Document":
        """The document without the member at `pointer`, and without blocks that become empty, except those in `keep`
        (pointers)."""
        parts = pointers.split(pointer)
        while len(parts) > 1 and len(self._members(parts[:-1])) == 1 and pointers.join(parts[:-1]) not in keep:
            parts = parts[:-1]
        return self.remove(pointers.join(parts))

    def rename(self, pointer: str, key: str) -> "Document":
        """The document with the member at `pointer` renamed to `key`; its value and position stay."""
        parts = pointers.split(pointer)
        parent = self.node(pointers.join(parts[:-1]))
        for member in parent.members if parent else ():
            if member.key == parts[-1]:
                _, end = _DECODER.raw_decode(self.text, member.start)
                return self._splice(member.start, end, json_text(key))
        return self

    def _members(self, parts: tuple[str, ...]) -> tuple[Member, ...]:
        node = self.node(pointers.join(parts))
        return node.members if node else ()

    def _deepest(self, parts: tuple[str, ...]) -> tuple[Node, int]:
        node, depth = self.root, 0
        for part in parts:
            child = node.child(part)
            if child is None:
                break
            node, depth = child, depth + 1
        return node, depth

    def _splice(self, start: int, end: int, new: str) -> "Document":
        return Document(self.text[:start] + new + self.text[end:])

    def _insert(self, parent: Node, key: str, rest: tuple[str, ...], literal: str) -> "Document":
        if not parent.members:
            return self._splice(parent.start, parent.end, self._nested((key, *rest), literal, parent.start))
        last = parent.members[-1]
        gap = self._gap_before(parent, last)
        value = self._nested(rest, literal, last.start) if rest else literal
        return self._splice(last.node.end, last.node.end, f",{gap}{json.dumps(key)}: {value}")

    def _gap_before(self, parent: Node, member: Member) -> str:
        """The white space to put before a new member, copied from the previous one."""
        before = self.text[parent.start + 1 : member.start]
        white = before[len(before.rstrip()) :]
        return self._break + white.rpartition("\n")[2] if "\n" in white else " "

    def _nested(self, parts: tuple[str, ...], literal: str, position: int) -> str:
        """`{"a": {"b": literal}}`, indented like the line of `position`."""
        if not parts:
            return literal
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        indent = line[: len(line) - len(line.lstrip())]
        if not self._is_multiline:
            return "{" + f"{json.dumps(parts[0])}: {self._nested(parts[1:], literal, position)}" + "}"
        text = literal
        for depth in range(len(parts) - 1, -1, -1):
            outer = indent + self._unit * depth
            text = f"{{{self._break}{outer}{self._unit}{json.dumps(parts[depth])}: {text}{self._break}{outer}}}"
        return text

    @cached_property
    def _is_multiline(self) -> bool:
        return "\n" in self.text.strip() or len(self.text.strip()) <= 2

    @cached_property
    def _break(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def _unit(self) -> str:
        found = re.search(r"\n([ \t]+)\S", self.text)
        return found.group(1) if found else "    "


class _Parser:
    """Strict JSON, as `json.loads` reads it, plus: positions, duplicate keys refused, bounded depth."""

    def __init__(self, text: str, takes_doubles: bool = False) -> None:
        self.text = text
        self.at = 0
        self._takes_doubles = takes_doubles

    def document(self) -> Node:
        if not self.text.strip():
            return Node(0, len(self.text), {})
        self._space()
        start = self.at
        node = self._value(0)
        self._space()
        if self.at < len(self.text):
            raise self._error("text_after", self.at)
        if not node.is_object:
            raise self._error("no_object", start, kind=_kind(node.value))
        return node

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._error("too_deep", self.at, most=str(MAX_DEPTH))
        self._space()
        plain = _PLAIN_SCALAR.match(self.text, self.at)
        if plain:
            return self._plain(plain)
        char = self.text[self.at : self.at + 1]
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char == '"':
            return self._string_node()
        return self._scalar()

    def _plain(self, match: re.Match[str]) -> Node:
        """The usual values in one step: an integer, a word, a string without escapes."""
        self.at = match.end()
        start, end = match.span("value")
        number, word, text = match.group("number", "word", "text")
        if number is not None:
            return Node(start, end, int(number))
        return Node(start, end, _LITERALS[word] if word is not None else text)

    def _string_node(self) -> Node:
        start, value = self.at, self._string()
        return Node(start, self.at, value)

    def _object(self, depth: int) -> Node:
        start, members, seen = self.at, list[Member](), dict[str, int]()
        self.at += 1
        at_member = False
        while at_member or not self._closes("}", bool(members)):
            key_start = self.at
            plain = _PLAIN_MEMBER.match(self.text, self.at) if depth < MAX_DEPTH else None
            key = plain.group(1) if plain else self._key()
            if key in seen and not self._takes_doubles:
                raise self._twice(key, seen[key], key_start)
            seen[key] = key_start
            members.append(Member(key, key_start, self._plain(plain) if plain else self._value(depth + 1)))
            at_member = bool(plain and plain.group("more"))
        return Node(start, self.at, {m.key: m.node.value for m in members}, members=tuple(members))

    def _key(self) -> str:
        """A key and the colon after it."""
        if self.text[self.at : self.at + 1] != '"':
            raise self._unexpected(said("reading", "quoted_key"))
        plain = _PLAIN_KEY.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return plain.group(1)
        key = self._string()
        self._expect(":")
        return key

    def _twice(self, key: str, first: int, second: int) -> DoubleKeyError:
        where = on_lines(self._line(first), self._line(second))
        told = self._error("twice", second, key=key, where=where)
        return DoubleKeyError(told.told, told.line, told.column)

    def _array(self, depth: int) -> Node:
        start, items = self.at, list[Node]()
        self.at += 1
        while not self._closes("]", bool(items)):
            items.append(self._value(depth + 1))
        return Node(start, self.at, [item.value for item in items], items=tuple(items))

    def _closes(self, bracket: str, needs_comma: bool) -> bool:
        """True when the container ends here; otherwise steps over the comma to the next element."""
        end = self.at
        self._space()
        char = self.text[self.at : self.at + 1]
        if char == bracket:
            self.at += 1
            return True
        if not needs_comma:
            return False
        if char == '"' and (self.at > end or _PLAIN_KEY.match(self.text, end)):  # else the text before it ended early
            raise self._error("missing_comma", end)
        if char != ",":
            raise self._unexpected(said("reading", "comma_or", bracket=bracket))
        comma = self.at
        self.at += 1
        self._space()
        if self.text[self.at : self.at + 1] == bracket:
            raise self._error("trailing_comma", comma)
        return False

    def _string(self) -> str:
        plain = _PLAIN_STRING.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return plain.group()[1:-1]
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise self._error("broken_string", error.pos, why=error.msg.lower()) from error
        return str(value)

    def _scalar(self) -> Node:
        start = self.at
        number = _NUMBER.match(self.text, start)
        if number:
            self.at = number.end()
            return Node(start, self.at, self._number(number))
        word = _WORD.match(self.text, start)
        if word and word.group() in _LITERALS:
            self.at = word.end()
            return Node(start, self.at, _LITERALS[word.group()])
        raise self._unexpected(said("reading", "value"))

    def _number(self, match: re.Match[str]) -> int | float:
        digits, is_float = match.group(), bool(match.group(1) or match.group(2))
        if len(digits) > 300:
            raise self._error("long_number", match.start(), digits=str(len(digits)))
        if not is_float:
            return int(digits)
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            raise self._error("large_number", match.start(), number=digits)
        return value

    def _expect(self, char: str) -> None:
        self._space()
        if self.text[self.at : self.at + 1] != char:
            raise self._unexpected(f"“{char}”")
        self.at += 1

    def _space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _unexpected(self, expected: str | Said) -> DocumentError:
        word = _WORD.match(self.text, self.at)
        seen = word.group() if word else self.text[self.at : self.at + 1]
        if not seen:
            return self._error("ends", self.at, expected=expected)
        if seen in _PYTHON:
            return self._error("python_word", self.at, expected=expected, seen=seen, word=_PYTHON[seen])
        is_comment = self.text.startswith(_COMMENTS, self.at)  # a path begins with a slash as well
        return self._error("comment" if is_comment else "other", self.at, expected=expected, seen=seen)

    def _line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def _error(self, code: str, position: int, **given: str | Said) -> DocumentError:
        column = position - self.text.rfind("\n", 0, position)
        return broken_at(self._line(position), column, said("reading", code, **given))


# ------------------------------------------------------------------------------------------- keys that stand twice
class Double(NamedTuple):
    """A key that appears twice in one object, and the lines (from 1) of its first and last occurrence."""

    pointer: str
    lines: tuple[int, int]


def last_kept(text: str) -> tuple[str, tuple[Double, ...]]:
    """`text` with only the last occurrence of each duplicate key, as json.load reads it, and what was cut. Raises
    `DocumentError` for any other error."""
    doubles, cuts = list[Double](), list[tuple[int, int]]()
    breaks = [found.start() for found in re.finditer("\n", text)]
    nodes = [("", _Parser(text, takes_doubles=True).document())]
    while nodes:
        pointer, node = nodes.pop()
        nodes += [(f"{pointer}/{index}", item) for index, item in enumerate(node.items)]
        last = {member.key: member for member in node.members}
        nodes += [(pointers.child(pointer, key), member.node) for key, member in last.items()]
        for member, following in zip(node.members, node.members[1:], strict=False):
            if member is not last[member.key]:
                cuts.append((member.start, following.start))
                lines = tuple(bisect.bisect(breaks, start) + 1 for start in (member.start, last[member.key].start))
                doubles.append(Double(pointers.child(pointer, member.key), (lines[0], lines[1])))
    return _without(text, sorted(cuts)), tuple(sorted(doubles, key=lambda double: double.lines))


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    """`text` without the spans in `cuts`, which are sorted and do not overlap."""
    ends = [0, *(end for _, end in cuts)]
    starts = [*(start for start, _ in cuts), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def broken_at(line: int, column: int, what: Said) -> DocumentError:
    """The error of a text that can't be read from there."""
    return DocumentError(said("reading", "at", line=str(line), column=str(column), what=what), line, column)


def on_lines(first: int, second: int) -> Said:
    if first == second:
        return said("reading", "on_line", line=str(first))
    return said("reading", "on_lines", first=str(first), second=str(second))


def json_text(value: Any) -> str:
    """`value` as JSON, unescaped where its characters can be written to a file (a lone surrogate can't)."""
    text = json.dumps(value, ensure_ascii=False)
    return text if _SURROGATE.search(text) is None else json.dumps(value)


def _kind(value: Any) -> Said:
    if isinstance(value, list):
        return said("reading", "a_list")
    return said("reading", "a_text") if isinstance(value, str) else said("reading", "a_value", value=json.dumps(value))
