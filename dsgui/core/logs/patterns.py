"""A user's own patterns for lines that no other reader understands: `iter {step} of {total} * train={loss}`.

A template, not a regular expression: literal text, `{name}` for a number, `*` for any text, a space for any white
space. Each piece between stars is searched for once, from left to right, and taken where it first fits, so that any
output, hostile or not, takes time proportional to its length. A pattern fits anywhere in a line; `{{`, `}}` and `{*}`
are the characters themselves.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dsgui.core.errors import PatternError
from dsgui.core.logs.numerals import NUMBER, evaluates
from dsgui.core.logs.readings import Form, Reading
from dsgui.core.metrics.points import Point
from dsgui.core.texts.saying import wrong

SOURCE = "pattern"
MOST_PATTERNS = 20
LENGTH_LIMIT = 300
# No number is longer; without a bound each place in a long row of digits would be read to its end.
_NUMBER_LIMIT = 64
_NAME = re.compile(r"[^\W\d][\w./@-]{0,63}\Z")
_PART = re.compile(r"\{\{|\}\}|\{\*\}|\{(?P<name>[^{}]*)\}|(?P<star>\*)|(?P<space>\s+)|(?P<brace>[{}])|[^{}*\s]+")
_VALUE = re.compile(rf"(?<![\w.]){NUMBER}", re.IGNORECASE)
_AFTER = re.compile(NUMBER, re.IGNORECASE)
_COUNT = re.compile(r"\d{1,15}(?!\d)")
_SPACE = re.compile(r"\s+")
_COUNTS = frozenset({"step", "rank", "total"})
_SPECIAL = _COUNTS | {"epoch"}


@dataclass(frozen=True, slots=True)
class _Literal:
    text: str


@dataclass(frozen=True, slots=True)
class _Space:
    pass


@dataclass(frozen=True, slots=True)
class _Number:
    name: str


_Piece = tuple[_Literal | _Space | _Number, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A parsed template. `word` is a literal that every matching line contains ("" if there is none)."""

    text: str
    pieces: tuple[_Piece, ...]
    word: str

    @classmethod
    def parse(cls, text: str) -> "Pattern":
        """Raises PatternError, which says where and what to do."""
        if len(text) > LENGTH_LIMIT:
            raise PatternError(wrong("pattern.long", count=str(len(text)), most=str(LENGTH_LIMIT)))
        pieces = tuple(_pieces(text))
        _check(text, [part.name for piece in pieces for part in piece if isinstance(part, _Number)])
        literals = [part.text for piece in pieces for part in piece if isinstance(part, _Literal)]
        return cls(text, pieces, max(literals, key=len, default=""))

    def match(self, line: str) -> Point | None:
        """The point in the line, or None."""
        found = self.read(line)
        if found is None:
            return None
        return Point(found.step, found.epoch, found.values, found.kind, found.rank, SOURCE)

    def read(self, line: str) -> Reading | None:
        """The same with the total, which is not part of a point."""
        numbers: dict[str, str] = {}
        position = 0
        for piece in self.pieces:
            end = _find(piece, line, position, numbers)
            if end is None:
                return None
            position = end
        counts = {name: int(numbers[name]) for name in _COUNTS & numbers.keys()}
        epoch = float(numbers["epoch"]) if "epoch" in numbers else None
        values = {name: float(number) for name, number in numbers.items() if name not in _SPECIAL}
        kind = "eval" if all(map(evaluates, values)) else "train"
        return Reading(Form.PATTERN, values, counts.get("step"), epoch, counts.get("total"), counts.get("rank"), kind)


def matches(pattern: Pattern, text: str, most: int) -> list[tuple[str, Point]]:
    """The first `most` lines of `text` that the pattern matches, each with its point."""
    found: list[tuple[str, Point]] = []
    for line in re.split(r"[\r\n]+", text):
        if len(found) >= most:
            break
        if point := pattern.match(line):
            found.append((line, point))
    return found


def _find(piece: _Piece, line: str, start: int, numbers: dict[str, str]) -> int | None:
    """The end of the piece where it first fits; records its numbers."""
    for place in _places(piece[0], line, start):
        found: dict[str, str] = {}
        end = _fits(piece, line, place, found)
        if end is not None:
            numbers |= found
            return end
    return None


def _places(first: _Literal | _Space | _Number, line: str, start: int) -> Iterator[int]:
    if isinstance(first, _Literal):
        place = line.find(first.text, start)
        while place >= 0:
            yield place
            place = line.find(first.text, place + 1)
    else:
        yield from (match.start() for match in _VALUE.finditer(line, start))


def _fits(piece: _Piece, line: str, place: int, found: dict[str, str]) -> int | None:
    """Each part takes as much as it can: all adjacent white space, the whole number."""
    last = len(piece) - 1
    for index, part in enumerate(piece):
        if isinstance(part, _Literal):
            if not line.startswith(part.text, place):
                return None
            place += len(part.text)
            continue
        pattern = _SPACE if isinstance(part, _Space) else _COUNT if part.name in _COUNTS else _AFTER
        match = pattern.match(line, place) if pattern is _SPACE else pattern.match(line, place, place + _NUMBER_LIMIT)
        if not match or (isinstance(part, _Number) and match.end() - place >= _NUMBER_LIMIT):
            return None
        place = match.end()
        if isinstance(part, _Number):
            if index == last and line[place : place + 1].isalnum():
                return None
            found[part.name] = match[0]
    return place


def _pieces(text: str) -> Iterator[_Piece]:
    parts: list[_Literal | _Space | _Number] = []
    for match in _PART.finditer(text):
        if match["star"]:
            yield from _piece(parts)
            parts = []
        elif match["space"]:
            parts.append(_Space())
        elif match["name"] is not None and match[0] != "{*}":
            parts.append(_Number(_checked_name(match)))
        elif match["brace"]:
            given = {"at": str(match.start() + 1), "brace": match[0], "twice": match[0] * 2}
            raise PatternError(wrong("pattern.unpaired", **given))
        else:
            _append_literal(parts, {"{{": "{", "}}": "}", "{*}": "*"}.get(match[0], match[0]))
    yield from _piece(parts)


def _append_literal(parts: list[_Literal | _Space | _Number], text: str) -> None:
    if parts and isinstance(last := parts[-1], _Literal):
        parts[-1] = _Literal(last.text + text)
    else:
        parts.append(_Literal(text))


def _piece(parts: list[_Literal | _Space | _Number]) -> Iterable[_Piece]:
    """White space next to a star, or at either end, is part of that text."""
    while parts and isinstance(parts[0], _Space):
        parts = parts[1:]
    while parts and isinstance(parts[-1], _Space):
        parts = parts[:-1]
    return [tuple(parts)] if parts else []


def _checked_name(match: re.Match[str]) -> str:
    name = match["name"].strip()
    if not _NAME.match(name):
        raise PatternError(wrong("pattern.bad_name", at=str(match.start() + 1), name=match["name"]))
    return name


def _check(text: str, names: list[str]) -> None:
    if not set(names) - _SPECIAL:
        raise PatternError(wrong("pattern.no_value", text=text[:60]))
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise PatternError(wrong("pattern.twice", name=twice))
    if beside := re.search(r"(?<!\{)\{[^{}*]+\}\{[^{}*]+\}(?!\})", text):
        raise PatternError(wrong("pattern.adjacent", at=str(beside.start() + 1)))
