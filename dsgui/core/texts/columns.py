"""Text in columns of a terminal, where a Chinese character takes two and a line may break after any of them."""

import re
from unicodedata import east_asian_width

_WIDE = ("W", "F")
_PIECES = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+|\s+")
_NEVER_FIRST = frozenset("，。、；：！？）」”%")


def width(text: str) -> int:
    """The columns that it takes."""
    return sum(2 if east_asian_width(character) in _WIDE else 1 for character in text)


def padded(text: str, columns: int) -> str:
    """With spaces behind it."""
    return text + " " * max(columns - width(text), 0)


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, unless one word is longer; never none."""
    lines, line = [], ""
    for piece in _PIECES.findall(text):
        if line and width(line + piece.rstrip()) > columns and piece not in _NEVER_FIRST:
            lines.append(line.rstrip())
            line = ""
        line += " " if piece.isspace() and line else piece.strip()
    return [*lines, line.rstrip()]
