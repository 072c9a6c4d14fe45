"""JSON as people write it (hjson: comments, trailing commas, bare keys) made strict by cutting and quoting in place.

DeepSpeed reads its file with the hjson package; the HF Trainer and accelerate read strict JSON. What is accepted here
means what hjson 3.1 makes of it; key order, indentation and the spelling of numbers stay as they are.
"""

import bisect
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.config.document import MAX_DEPTH, Document, broken_at, json_text, on_lines
from dsgui.core.errors import DocumentError, DoubleKeyError
from dsgui.core.texts.saying import Said, listed, said, words

_MAX_LISTED = 8  # line numbers in a note, and notes about single texts
_MAX_SHOWN = 40  # characters of the user's text in a message
_MAX_DIGITS = 300  # as `document.py` has it

# Possessive (`++`, `*+`): nothing is tried twice, so no text takes more than linear time.
_COMMENT = re.compile(r"#[^\n\r]*+|//[^\n\r]*+|/\*.*?\*/", re.DOTALL)
_GAP = re.compile(rf"(?>(?:[ \t\n\r]++|{_COMMENT.pattern})*)", re.DOTALL)
_BARE_KEY = re.compile(r"([^{}\[\],: \t\n\r]++)([ \t\n\r]*+)(?=:)")
_CHARS = {'"': re.compile(r'(?>(?:[^"\\\x00-\x1f]++|\\.)*)'), "'": re.compile(r"(?>(?:[^'\\\x00-\x1f]++|\\.)*)")}
_ESCAPES = re.compile(r"\\(u[0-9a-fA-F]{4}|[^u])")
_KNOWN_ESCAPES = set("bfnrt\"'\\/")
_REQUOTED = re.compile(r'\\.|"')
_WORD_END = re.compile(r"[,}\]#\n\r]|/[/*]")
_LINE_END = re.compile(r"[\n\r]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_PUNCTUATION = set("{}[],:")
_WORDS = {"true", "false", "null"}
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_FIRST_WORD = re.compile(r"\w+")

# Kinds of changes; each has a text for one and another for several.
_COMMENTS = "comments"
_TRAILING = "trailing"
_MISSING = "missing"
_KEYS = "keys"
_QUOTES = "quotes"
_TRIPLE = "triple"
_BRACES = "braces"


@dataclass(frozen=True, slots=True)
class Tidied:
    """Strict JSON, and a note for each kind of change that was needed, with line numbers. No notes mean no change."""

    text: str
    notes: tuple[str, ...]


def tidy(text: str) -> Tidied:
    """`text` as strict JSON. What `Document` already accepts is returned byte for byte.

    Raises `DocumentError`, with the line and column in `text`, when hjson would refuse it too, and for NaN and
    infinities; `DoubleKeyError` for a key that appears twice in strict JSON.
    """
    body = text.removeprefix("\ufeff")
    notes = () if body == text else (words("reading", "byte_order_mark"),)
    try:
        return Tidied(Document(body).text, notes)
    except DoubleKeyError:
        raise
    except DocumentError:
        reader = _Reader(body)
        reader.read()
        return Tidied(reader.result(), (*notes, *reader.notes()))


class _Reader:
    """Walks the text as hjson's decoder does (hjson/decoder.py) and collects the edits that make it strict."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._lines = _Lines(text)
        self._edits: list[tuple[int, int, str]] = []
        self._found: dict[str, list[int]] = {}
        self._bare_texts: list[tuple[int, str]] = []
        self._has_braces = True
        self._swallower: int | None = None  # where the first bare text with a closing bracket in it stands

    # ------------------------------------------------------------------------------------------------ what comes out
    def result(self) -> str:
        """The text with every edit made."""
        pieces, done = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2]):
            pieces += [self.text[done:start], new]
            done = end
        return "".join([*pieces, self.text[done:]])

    def notes(self) -> Iterator[str]:
        """One part of a sentence per kind of change, then one per bare text."""
        lines = self._lines
        for kind, positions in self._found.items():
            many = f"{kind}_{'one' if len(positions) == 1 else 'many'}"
            yield noted(said("reading", many, count=str(len(positions))), lines.listed(positions))
        for position, raw in self._bare_texts[:_MAX_LISTED]:
            became = said("reading", "bare", seen=_cut(raw), text=json_text(_cut(raw)))
            yield noted(_hinted(became, raw), lines.listed([position]))
        if len(self._bare_texts) > _MAX_LISTED:
            rest = [position for position, _ in self._bare_texts[_MAX_LISTED:]]
            yield noted(said("reading", "more_bare", count=str(len(rest))), lines.listed(rest))

    def _edit(self, start: int, end: int, new: str, kind: str = "") -> None:
        self._edits.append((start, end, new))
        if kind:
            self._found.setdefault(kind, []).append(start)

    # ------------------------------------------------------------------------------------------------------ structure
    def read(self) -> None:
        """Collects the edits. Raises `DocumentError`."""
        self._gap()
        start = self.at
        if self._char() == "{":
            self._container("}", 0)
        elif self._char() in ('"', "'") or _BARE_KEY.match(self.text, start):
            self._without_braces()
        elif start < len(self.text):
            raise self._error("starts_otherwise", start, seen=_cut(self._rest_of_line(start)))
        self._gap()
        if self.at < len(self.text):
            raise self._error("text_after", self.at)

    def _without_braces(self) -> None:
        self._has_braces = False
        start, break_ = self.at, "\n" if "\n" in self.text.strip() else ""
        end = self._container("", 0)
        self._edit(start, start, "{" + break_, _BRACES)
        self._edit(end, end, break_ + "}")

    def _container(self, closer: str, depth: int) -> int:
        """Members up to `}`, items up to `]`, or members up to the end of the text; returns where the last one ends."""
        self.at += len(closer)
        seen, end = dict[str, int](), self.at
        self._gap()
        while not self._closes(closer):
            if closer == "]":
                self._value(depth + 1)
            else:
                self._member(seen, depth)
            end = self.at
            self._separator(closer)
        self.at += len(closer)
        return end

    def _closes(self, closer: str) -> bool:
        return self._char() == closer

    def _member(self, seen: dict[str, int], depth: int) -> None:
        start = self.at
        key = self._key()
        if key in seen:
            first, second = self._lines.number(seen[key]), self._lines.number(start)
            raise self._error("stands_twice", start, key=json_text(key), where=on_lines(first, second))
        seen[key] = start
        self._gap()
        if self._char() != ":":
            raise self._unexpected("“:”")
        colon = self.at
        self.at += 1
        self._gap()
        self._check_not_yaml(key, colon)
        self._value(depth + 1)

    def _check_not_yaml(self, key: str, colon: int) -> None:
        """hjson takes YAML's `outer:`, line break, `inner: 2` for the text "inner: 2", which nobody intends."""
        inner = _BARE_KEY.match(self.text, self.at)
        if not self._has_braces and inner and "\n" in self.text[colon : self.at]:
            raise self._error("as_in_yaml", self.at, inner=_cut(inner[1]), key=_cut(key))

    def _separator(self, closer: str) -> None:
        """The comma after an element, which hjson does not require, and which it also accepts before the closing
        bracket."""
        end = self.at
        self._gap()
        comma = self.at
        if self._char() == ",":
            self.at += 1
            self._gap()
            if self._closes(closer):
                self._edit(comma, comma + 1, "", _TRAILING)
        elif self._char() and not self._closes(closer):
            self._edit(end, end, ",", _MISSING)

    def _gap(self) -> None:
        """White space and comments; the comments are cut."""
        start, end = self.at, _past(_GAP, self.text, self.at)
        self.at = end
        if self.text.startswith("/*", end):
            raise self._error("open_comment", end)
        comments = [start + comment.start() for comment in _COMMENT.finditer(self.text[start:end])]
        if comments:
            self._found.setdefault(_COMMENTS, []).extend(comments)
            self._edit(start, end, _without_comments(self.text[start:end], start == 0, end == len(self.text)))

    # --------------------------------------------------------------------------------------------------------- values
    def _key(self) -> str:
        if self._char() in ('"', "'"):
            return self._quoted()
        bare = _BARE_KEY.match(self.text, self.at)
        if bare is None:
            raise self._unexpected(said("reading", "key"))
        key = bare[1].rstrip() if bare[2] else bare[1]
        self._edit(self.at, bare.end(1), json_text(key), _KEYS)
        self.at = bare.end()
        return key

    def _value(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._error("too_deep", self.at, most=str(MAX_DEPTH))
        char = self._char()
        if char == "{":
            self._container("}", depth)
        elif char == "[":
            self._container("]", depth)
        elif self.text.startswith("'''", self.at):
            self._triple()
        elif char in ('"', "'"):
            self._quoted()
        else:
            self._bare()

    def _quoted(self) -> str:
        """A string in double or single quotes; rewritten only if JSON would not accept it."""
        start, quote = self.at, self._char()
        end = _past(_CHARS[quote], self.text, start + 1)
        if self.text[end : end + 1] != quote:
            raise self._broken_string(start, end)
        body = self.text[start + 1 : end]
        self._check_escapes(body, start + 1)
        literal = '"' + _REQUOTED.sub(_json_escape, body) + '"'
        if literal != self.text[start : end + 1]:
            self._edit(start, end + 1, literal, _QUOTES)
        self.at = end + 1
        return str(json.loads(literal))

    def _broken_string(self, start: int, end: int) -> DocumentError:
        if end >= len(self.text) - 1:
            return self._error("open_text", start)
        return self._error("broken_text", end)

    def _check_escapes(self, body: str, start: int) -> None:
        done = 0
        while (at := body.find("\\", done)) >= 0:
            escape = _ESCAPES.match(body, at)
            if escape is None or (len(escape[1]) == 1 and escape[1] not in _KNOWN_ESCAPES):
                raise self._error("escape", start + at, seen=_cut(body[at : at + 2]))
            done = escape.end()

    def _triple(self) -> None:
        """'''text''': lines lose the indentation of the opening quotes, and the last line break is dropped."""
        start = self.at
        end = self.text.find("'''", start + 3)
        if end < 0:
            raise self._error("open_triple", start)
        indent = self._lines.column(start) - 1
        first, *lines = self.text[start + 3 : end].lstrip(" \t\r").split("\n")
        value = "\n".join([first, *(_outdented(line, indent) for line in lines)])
        value = value[1:] if not first else value
        self._edit(start, end + 3, json_text(value.replace("\r", "").removesuffix("\n")), _TRIPLE)
        self.at = end + 3

    def _bare(self) -> None:
        """A number, true, false, null; or any other text, which extends to the end of its line."""
        if self._char() in _PUNCTUATION or not self._char():
            raise self._unexpected(said("reading", "value"))
        start = self.at
        raw = self.text[start : _upto(_WORD_END, self.text, start)].rstrip(" \t")
        word = raw.rstrip()
        if word in _NOT_FINITE:
            raise self._error("not_finite", start, word=word)
        if word not in _WORDS and not self._is_number(raw):
            self._bare_text()
            return
        self.at = start + len(raw)
        if word != raw:
            self._edit(start, self.at, word)

    def _is_number(self, raw: str) -> bool:
        if not _NUMBER.fullmatch(raw):
            return False
        if len(raw) > _MAX_DIGITS:
            raise self._error("long_number", self.at, digits=str(len(raw)))
        if not raw.isascii():
            raise self._error("odd_digits", self.at, seen=_cut(raw))
        if math.isinf(float(raw)):
            raise self._error("large_number", self.at, number=raw)
        return True

    def _bare_text(self) -> None:
        start, raw = self.at, self._rest_of_line(self.at).rstrip(" \t")
        if self._swallower is None and re.search(r"[}\]]", raw):
            self._swallower = start
        self._bare_texts.append((start, raw.strip()))
        self.at = start + len(raw)
        self._edit(start, self.at, json_text(raw.strip()))

    # --------------------------------------------------------------------------------------------------------- errors
    def _char(self) -> str:
        return self.text[self.at : self.at + 1]

    def _rest_of_line(self, position: int) -> str:
        return self.text[position : _upto(_LINE_END, self.text, position)]

    def _unexpected(self, expected: str | Said) -> DocumentError:
        if self._char():
            return self._error("stands_where", self.at, seen=_cut(self._rest_of_line(self.at)), expected=expected)
        if self._swallower is None:
            return self._error("ends", self.at, expected=expected)
        raw = self._rest_of_line(self._swallower)
        return self._broken(_hinted(said("reading", "swallows", seen=_cut(raw)), raw), self._swallower)

    def _error(self, code: str, position: int, **given: str | Said) -> DocumentError:
        return self._broken(said("reading", code, **given), position)

    def _broken(self, what: Said, position: int) -> DocumentError:
        return broken_at(self._lines.number(position), self._lines.column(position), what)


class _Lines:
    """Lines and columns (from 1) of positions, for many positions of one text."""

    def __init__(self, text: str) -> None:
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def number(self, position: int) -> int:
        return bisect.bisect_left(self._breaks, position) + 1

    def column(self, position: int) -> int:
        line = self.number(position)
        return position - (self._breaks[line - 2] if line > 1 else -1)

    def listed(self, positions: list[int]) -> Said:
        """`line 3`, `lines 2, 5, 9`; of many, the first few."""
        return lines_told([self.number(position) for position in sorted(positions)])


def lines_told(lines: Sequence[int]) -> Said:
    """`line 3`, `lines 2, 5, 9`; of many, the first few."""
    numbers = list(dict.fromkeys(lines))
    shown = [str(number) for number in numbers[:_MAX_LISTED]] + ["…"] * (len(numbers) > _MAX_LISTED)
    return said("reading", "lines" if len(numbers) > 1 else "line", lines=listed(shown))


def noted(what: Said | str, lines: Said) -> str:
    """What was changed, and where."""
    return words("reading", "noted", what=what, lines=lines)


def _past(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of what `pattern` matches at `position`."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _upto(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Where `pattern` next matches."""
    found = pattern.search(text, position)
    return found.start() if found else len(text)


def _without_comments(gap: str, opens: bool, ends: bool) -> str:
    """The white space that remains of a gap. A line that contained only a comment is removed; `opens` and `ends`: the
    gap is at the start or the end of the text."""
    first, *lines = _COMMENT.sub("\0", gap).split("\n")
    if not lines:
        return "" if opens or ends or len(first) == 1 else " "
    *middle, last = lines
    kept = [line for line in middle if "\0" not in line]
    if "\0" not in first or not opens:
        kept.insert(0, first if "\0" not in first else "\r" * first.endswith("\r"))
    kept.append(last.partition("\0")[0] if not ends else last.replace("\0", "").rstrip(" \t"))
    return "\n".join(kept)


def _json_escape(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


def _outdented(line: str, indent: int) -> str:
    space = len(line) - len(line.lstrip(" \t\r"))
    return line[min(space, indent) :]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def _hinted(what: Said, raw: str) -> Said:
    """With a hint about Python's spelling of JSON's three words."""
    word = _FIRST_WORD.match(raw)
    return said("reading", "hinted", what=what, word=_PYTHON[word[0]]) if word and word[0] in _PYTHON else what
