"""Searches what is kept of a run's output, and reads it around a place."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dsgui.shell.store import RunDirectory

MOST_MATCHES = 200
LINE_SHOWN = 400
_BLOCK_BYTES = 1 << 20
_BEFORE_BYTES, _AFTER_BYTES = 1 << 14, 1 << 16
# The first line that tells of an error, in the words of Python, DeepSpeed's launcher, CUDA and the C library.
_COLOUR = rb"\x1b\[[\d;]*m"
_ERROR = re.compile(
    rb"Traceback \(most recent call last\)|"
    rb"^(?:" + _COLOUR + rb"|\s)*[\w.]*(?:Error|Exception)(?:" + _COLOUR + rb")*: |"
    rb"\bERROR\b|CUDA out of memory|terminate called|Segmentation fault|core dumped|"
    rb"exits with return code = -?[1-9]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A line and where it begins, in bytes of the output."""

    offset: int
    line: bytes


def search(directory: RunDirectory, words: str) -> tuple[list[Match], bool]:
    """The last lines that have `words`, in whatever case; and whether there are more."""
    wanted = words.encode().lower()
    found: deque[Match] = deque(maxlen=MOST_MATCHES + 1)
    for begins, block in blocks(directory):
        lowered, place = block.lower(), 0
        while (hit := lowered.find(wanted, place)) >= 0:
            begin = block.rfind(b"\n", 0, hit) + 1
            end = block.find(b"\n", hit)
            place = len(block) if end < 0 else end + 1
            found.append(Match(begins + begin, block[begin:place]))
    return list(islice(found, max(len(found) - MOST_MATCHES, 0), None)), len(found) > MOST_MATCHES


def first_error(directory: RunDirectory) -> Match | None:
    """The first line that tells of an error."""
    for begins, block in blocks(directory):
        if match := _ERROR.search(block):
            begin = block.rfind(b"\n", 0, match.start()) + 1
            end = block.find(b"\n", match.end())
            return Match(begins + begin, block[begin : len(block) if end < 0 else end + 1])
    return None


def around(directory: RunDirectory, offset: int) -> tuple[bytes, bytes, bytes]:
    """What comes before the line that begins at byte `offset`, that line, and what comes after it: whole lines. All are
    empty where nothing is kept."""
    for begins, path in reversed(directory.output_pieces):
        if begins > offset:
            continue
        start = max(offset - _BEFORE_BYTES, begins)
        try:
            with path.open("rb") as file:
                file.seek(start - begins)
                block = file.read(offset - start + _AFTER_BYTES)
        except OSError:
            break
        before, rest = block[: offset - start], block[offset - start :]
        if start > begins:
            before = before[before.find(b"\n") + 1 :]
        line, end, after = rest.partition(b"\n")
        return before, line + end, after
    return b"", b"", b""


def blocks(directory: RunDirectory) -> Iterator[tuple[int, bytes]]:
    """The output in blocks of whole lines, each with where it begins; a line without end is cut."""
    for begins, path in directory.output_pieces:
        try:
            file = path.open("rb")
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
