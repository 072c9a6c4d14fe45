"""What a terminal does not show of a text: the escape sequences for colours, titles and the cursor (ECMA-48)."""

import re
from bisect import bisect_right
from dataclasses import dataclass

COLOUR = rb"\x1b\[[\d;]*m"  # the one kind that begins a line of an error
_LONGEST = 512
# Every part is bounded and no two parts begin alike: the time is linear in the text.
_SEQUENCE = (
    rb"\x1b(?:\[[0-?]{0,64}+[ -/]{0,8}+[@-~]|\][^\x07\x1b\r\n]{0,%d}+(?:\x07|\x1b\\)|[ -/]{1,8}+[0-~]|[0-Z\\^-~])"
    % _LONGEST
)
_ESCAPE = re.compile(_SEQUENCE)
_TEXT_ESCAPE = re.compile(_SEQUENCE.decode("latin-1"))
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]{0,64}+[ -/]{0,8}+|\][^\x07\x1b\r\n]{0,%d}+\x1b?|[ -/]{0,8}+)?\Z" % _LONGEST)


def without_escapes(text: str) -> str:
    """The text as a terminal shows it, but for what overwrites: `\\r` and `\\b` stay."""
    return _TEXT_ESCAPE.sub("", text) if "\x1b" in text else text


@dataclass(frozen=True, slots=True)
class Plain:
    """Bytes without their escape sequences, and where each byte was."""

    text: bytes
    _cuts: tuple[int, ...] = ()  # places in `text` before which something was left out …
    _shifts: tuple[int, ...] = ()  # … and how much was left out up to there

    @classmethod
    def of(cls, raw: bytes) -> "Plain":
        """Linear in `raw`."""
        if b"\x1b" not in raw:
            return cls(raw)
        parts, cuts, shifts, end, length, shift = list[bytes](), list[int](), list[int](), 0, 0, 0
        for match in _ESCAPE.finditer(raw):
            parts.append(raw[end : match.start()])
            length += match.start() - end
            shift += match.end() - match.start()
            cuts.append(length)
            shifts.append(shift)
            end = match.end()
        return cls(b"".join((*parts, raw[end:])), tuple(cuts), tuple(shifts))

    def place(self, index: int) -> int:
        """Where the byte at `index` of the plain text is in the raw one."""
        known = bisect_right(self._cuts, index)
        return index + (self._shifts[known - 1] if known else 0)


def escapes_in(raw: bytes) -> bytes:
    """The escape sequences alone: what follows keeps its colour."""
    return b"".join(_ESCAPE.findall(raw)) if b"\x1b" in raw else b""


def unfinished_escape(raw: bytes) -> int:
    """Where a sequence begins that the end of `raw` cuts short; its length where there is none."""
    begin = raw.rfind(b"\x1b", max(len(raw) - _LONGEST - 80, 0))
    if (
        begin > 0
        and raw[begin - 1 : begin] != b"\x1b"
        and (title := raw.rfind(b"\x1b]", max(begin - _LONGEST, 0), begin)) >= 0
    ):
        begin = title if _UNFINISHED.match(raw, title) else begin
    return begin if begin >= 0 and _UNFINISHED.match(raw, begin) else len(raw)
