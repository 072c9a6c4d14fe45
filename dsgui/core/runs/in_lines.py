"""A config that was written in one line, as it is read: indented, each word spelled as it was."""

import re
from collections.abc import Iterator

_WORDS = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+|"')
# Levels that are indented: a damaged file may have a hundred thousand, whose blanks would fill the memory.
_DEEPEST = 32
_OPENS, _CLOSES = ("{", "["), ("}", "]")


def in_lines(text: str) -> str:
    """JSON of one line with two spaces a level; of several lines it is as its author wrote it."""
    return text if "\n" in text.strip() else "".join(_indented(_WORDS.findall(text)))


def _indented(words: list[str]) -> Iterator[str]:
    depth = 0
    for before, word in zip(["", *words], words, strict=False):
        depth -= word in _CLOSES
        is_line = before in _OPENS if word not in _CLOSES else before not in _OPENS
        if is_line or before == ",":
            yield "\n" + "  " * min(depth, _DEEPEST)
        yield ": " if word == ":" else word
        depth += word in _OPENS
