"""Lines of a known shape: the same words around different numbers, read by one regular expression.

A training prints the same few lines thousands of times. Which number is the step and which the loss is found by
changing each of them and reading the line again. So the readers of lines need not know about shapes, and the short way
finds the same as the long one.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dsgui.core.logs.readings import Form, Reading

_LENGTH_LIMIT = 600
_MOST_NUMBERS = 24
_MOST_BEGINNINGS, _MOST_ALIKE = 64, 8
_MOST_LEARNED = 400
_MOST_SEEN = 512
_SIGHTINGS = 3
_NUMBERS = re.compile(rb"(?<![\w.@])[-+]?(?:\d++\.?+\d*+|\.\d++)(?>(?:[eE][-+]?\d++)?)|(?<![A-Za-z_@\d])\d++")
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0000000000")
_CHANGED = bytes.maketrans(b"0123456789", b"1234567891")
_ANY_NUMBER = rb"([-+]?(?:(?i:nan|inf(?:inity)?)|(?:\d++\.?+\d*+|\.\d++)(?>(?:[eE][-+]?\d++)?)))"
# Where no letter of a number follows, what stands there is taken quickly, and float() says whether it is one.
_IN_NUMBERS = b"+-.0123456789einfatyEINFATY"
_UP_TO_OTHER = rb"([-+.\deinfatyEINFATY]{1,64})"
_ANY_COUNT = rb"(\d{1,15})"
_PASSED_NUMBER = rb"[-+]?(?:\d++\.?+\d*+|\.\d++)(?>(?:[eE][-+]?\d++)?)"
_PASSED_COUNT = rb"\d{1,15}"
_COUNTS = frozenset({"step", "total", "rank"})

Read = Callable[[bytes], Reading | None]


@dataclass(slots=True)
class Shape:
    """One such line: `pattern` matches from its beginning through its newline."""

    pattern: re.Pattern[bytes]
    form: Form
    kind: str
    rank: int | None
    names: tuple[str, ...]  # of the values
    groups: tuple[int, ...]  # those of the values, then those of `fields`
    fields: tuple[str, ...]  # "step", "total", "epoch", "rank": those the line has
    steps: bool = False  # a training's line with its step
    likely: "Shape | None" = None  # what followed it last time

    def __post_init__(self) -> None:
        known = self.kind == "train" and self.form in (Form.PLAIN, Form.DICT) and "step" in self.fields
        self.steps = known and (self.rank is None or "rank" in self.fields)

    def place(self, field: str) -> int | None:
        """The index of a field in the result of `match.group(*groups)`."""
        return len(self.names) + self.fields.index(field) if field in self.fields else None

    def read(self, match: re.Match[bytes]) -> Reading:
        """Raises ValueError if there is no number where one should be."""
        groups = match.group(*self.groups)
        values = dict(zip(self.names, map(float, groups)))  # noqa: B905 — as in TrainLog: it takes as long as a number
        reading = Reading(self.form, values, None, None, None, self.rank, self.kind)
        for place, name in enumerate(self.fields, len(self.names)):
            setattr(reading, name, float(groups[place]) if name == "epoch" else int(groups[place]))
        return reading


class Shapes:
    """Learns shapes from the lines it is shown, and recognises them. Bounded in number."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[Shape]] = {}
        self._seen: dict[bytes, int] = {}
        self._learned = 0
        self.last: Shape | None = None

    def __reduce__(self) -> tuple[type["Shapes"], tuple[()]]:
        """Pickled without its content: shapes only save time and are soon learned again."""
        return Shapes, ()

    def forget(self) -> None:
        """From now on lines are read differently."""
        self._known, self._seen, self.last = {}, {}, None

    def guess(self, block: bytes, start: int) -> re.Match[bytes] | None:
        """Whether the line at `start` has the shape that usually follows the last one."""
        last = self.last
        if last is None or (likely := last.likely) is None:
            return None
        match = likely.pattern.match(block, start)
        if match:
            self.last = likely
        return match

    def find(self, block: bytes, start: int) -> re.Match[bytes] | None:
        """Whether the line at `start` has any known shape; it becomes `last`."""
        for shape in self._known.get(_beginning(block, start), ()):
            if match := shape.pattern.match(block, start):
                if self.last is not None:
                    self.last.likely = shape
                self.last = shape
                return match
        return None

    def show(self, line: bytes, reading: Reading, read: Read) -> None:
        """Shows a line that was read the long way; the third of its kind is learned. `read` reads a line the long
        way."""
        if len(line) > _LENGTH_LIMIT or self._learned >= _MOST_LEARNED:
            return
        key = _NUMBERS.sub(b"#", line)
        count = self._seen[key] = self._seen.get(key, 0) + 1
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        if count != _SIGHTINGS:
            return
        self._learned += 1
        if shape := _learn(line, reading, read):
            if len(self._known) >= _MOST_BEGINNINGS:
                self._known.clear()
            alike = self._known.setdefault(_beginning(line, 0), [])
            alike.insert(0, shape)
            del alike[_MOST_ALIKE:]


def _beginning(block: bytes, start: int) -> bytes:
    """Lines with a different beginning have a different shape."""
    return block[start : start + 3].translate(_SAME_DIGITS)


def _learn(line: bytes, reading: Reading, read: Read) -> Shape | None:
    numbers = list(_NUMBERS.finditer(line))
    if len(numbers) > _MOST_NUMBERS:
        return None
    meant: list[str | None] = []
    for number in numbers:
        changed = read(line[: number.start()] + number[0].translate(_CHANGED) + line[number.end() :])
        meaning = _difference(reading, changed, number[0].translate(_CHANGED))
        if meaning == "?":
            return None
        meant.append(meaning)
    values = [name for name in meant if name and name.startswith("=")]
    if {name[1:] for name in values} != set(reading.values):
        return None
    return _shape(line, reading, numbers, meant)


def _difference(before: Reading, after: Reading | None, spelling: bytes) -> str | None:
    """The one field that changed to the number with this spelling: "step", "=loss"; None for none, "?" for anything
    else."""
    if after is None:
        return "?"
    old, new = dict(_fields(before)), dict(_fields(after))
    if list(old) != list(new):
        return "?"
    changed = [name for name in old if old[name] != new[name]]
    if not changed:
        return None
    return changed[0] if len(changed) == 1 and new[changed[0]] == float(spelling) else "?"


def _fields(reading: Reading) -> Iterator[tuple[str, object]]:
    yield from (("form", reading.form), ("kind", reading.kind))
    yield from (("step", reading.step), ("total", reading.total), ("epoch", reading.epoch), ("rank", reading.rank))
    yield from ((f"={name}", value) for name, value in reading.values.items())


def _shape(line: bytes, reading: Reading, numbers: list[re.Match[bytes]], meant: list[str | None]) -> Shape | None:
    source, end = b"", 0
    groups: dict[str, int] = {}
    for number, meaning in zip(numbers, meant, strict=True):
        source += re.escape(line[end : number.start()]) + _class(
            number[0], meaning, line[number.end() : number.end() + 1]
        )
        end = number.end()
        if meaning:
            groups[meaning] = len(groups) + 1
    source += re.escape(line[end:].rstrip()) + rb"[ \t]*\n"
    known = {"step": reading.step, "total": reading.total, "epoch": reading.epoch}
    if any(value is not None and name not in groups for name, value in known.items()):
        return None
    fields = tuple(name for name in ("step", "total", "epoch", "rank") if name in groups)
    numbers_of = (*(groups[f"={name}"] for name in reading.values), *(groups[name] for name in fields))
    # With one group alone `Match.group` gives no tuple.
    numbers_of = numbers_of if len(numbers_of) > 1 else (*numbers_of, 0)
    return Shape(
        re.compile(source), reading.form, reading.kind, reading.rank, tuple(reading.values), numbers_of, fields
    )


def _class(spelling: bytes, meaning: str | None, after: bytes) -> bytes:
    if meaning:
        return _ANY_COUNT if meaning in _COUNTS else _ANY_NUMBER if after in _IN_NUMBERS else _UP_TO_OTHER
    return _PASSED_COUNT if spelling.isdigit() else _PASSED_NUMBER
