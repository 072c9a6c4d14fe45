"""Searches what is kept of a run's output, and reads it around a place."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dsgui.core.access.ansi import COLOUR
from dsgui.shell.files.regular_files import open_regular
from dsgui.shell.runs.store import RunDirectory

MOST_MATCHES = 200
LINE_SHOWN = 400
_BLOCK_BYTES = 1 << 20
_AROUND_BYTES = 1 << 14
_BEFORE_BYTES, _AFTER_BYTES = 1 << 14, 1 << 16
# Jump to the first error, in the words of Python, DeepSpeed's launcher, CUDA and the C library.
_ERROR = re.compile(
    rb"Traceback \(most recent call last\)|"
    rb"^(?:" + COLOUR + rb"|[ \t])*[\w.]*(?:Error|Exception)(?:" + COLOUR + rb")*: |"
    rb"\bERROR\b|CUDA out of memory|terminate called|Segmentation fault|core dumped|"
    rb"exits with return code = -?[1-9]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A line, and where it is to be opened, in bytes of the output. More of it than is shown: what is cut off may be
    the name before a secret. `number` counts lines from 1, as an editor does; None where output before it was left
    out."""

    offset: int
    line: bytes
    number: int | None = None


def search(directory: RunDirectory, words: str) -> tuple[list[Match], int]:
    """The last lines that have `words`, ASCII letters in either case; and how many there are. What a bar rewrote counts
    as a line of its own, but has the number of the line it is in."""
    wanted = words.encode().lower()
    found: deque[Match] = deque(maxlen=MOST_MATCHES)
    total, line, end = 0, 1, 0
    whole = True
    for begins, block in blocks(directory):
        lowered, place, counted = block.lower(), 0, 0
        whole, end = whole and begins == end, begins + len(block)
        while (hit := lowered.find(wanted, place)) >= 0:
            match, place = _line(begins, block, hit)
            line, counted = line + block.count(b"\n", counted, hit), hit
            found.append(replace(match, number=line if whole else None))
            total += 1
        line += block.count(b"\n", counted)
    return list(found), total


def first_error(directory: RunDirectory) -> Match | None:
    """The first line that reports an error."""
    for begins, block in blocks(directory):
        if match := _ERROR.search(block):
            return _line(begins, block, match.end() - 1)[0]
    return None


def _line(begins: int, block: bytes, hit: int) -> tuple[Match, int]:
    """The line around a place of a block, not without bound, and where the next one begins."""
    begin = max(block.rfind(b"\n", 0, hit), block.rfind(b"\r", 0, hit)) + 1
    ends = [end for end in (block.find(b"\n", hit), block.find(b"\r", hit)) if end >= 0]
    end = min(ends, default=len(block) - 1) + 1
    line = block[max(begin, hit - _AROUND_BYTES) : min(end, hit + _AROUND_BYTES)]
    return Match(begins + max(begin, hit - LINE_SHOWN), line), end


def around(directory: RunDirectory, offset: int) -> tuple[bytes, bytes, bytes]:
    """The line of the output at byte `offset`, with what comes before and after it: whole lines, so that nothing that
    must not be shown is cut in two. All are empty where nothing is kept."""
    for begins, path in reversed(directory.output_pieces):
        if begins > offset:
            continue
        start = max(offset - _BEFORE_BYTES, begins)
        try:
            with open_regular(path) as file:
                file.seek(start - begins)
                block = file.read(offset - start + _AFTER_BYTES)
                complete = not file.read(1)
        except (OSError, OverflowError):  # a place that no file has
            break
        if start > begins:  # from the first whole line on
            cut = block.find(b"\n") + 1
            start, block = start + cut, block[cut:]
        if not complete:
            block = block[: block.rfind(b"\n") + 1]
        begin = block.rfind(b"\n", 0, max(offset - start, 0)) + 1
        line, end, after = block[begin:].partition(b"\n")
        return block[:begin], line + end, after
    return b"", b"", b""


def blocks(directory: RunDirectory) -> Iterator[tuple[int, bytes]]:
    """The output in blocks of whole lines, each with where it begins; a line without end is cut."""
    for begins, path in directory.output_pieces:
        try:
            file = open_regular(path)
        except OSError:
            continue
        with file:
            rest = b""
            while block := file.read(_BLOCK_BYTES):
                block = rest + block
                end = block.rfind(b"\n") + 1 or len(block)
                yield begins, block[:end]
                begins, rest = begins + end, block[end:]
            if rest:
                yield begins, rest
