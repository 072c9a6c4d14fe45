"""Which of a folder's files tell of a training: by their names, and those of common names by what they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsgui.core.adopted.launch_lines import tells_of_launch
from dsgui.core.adopted.lying import Kind, Lying, might_be
from dsgui.core.diagnosis.ending import Ending, verdict_of_log
from dsgui.core.logs.tables import Table
from dsgui.core.logs.trainlog import TrainLog
from dsgui.shell.adopted.walking import open_inside, read_inside

_MOST_LOGS, _MOST_TABLES = 60, 500
_PROBED_BYTES = 1 << 18
_HEAD_BYTES = 4096
LEAST_POINTS = 2
_POINTER, _MOST_POINTER_BYTES = b"version https://git-lfs.github.com/spec/", 1024


@dataclass(frozen=True, slots=True)
class SortedOut:
    """The files by their kinds; those that look like a `silent` log and tell nothing of a training; and those that are
    `pointers` of Git LFS, whose content is elsewhere."""

    kinds: Mapping[Kind, Sequence[Lying]]
    silent: Sequence[Lying]
    pointers: Sequence[Lying]


def sorted_out(root: Path, files: Iterable[Lying]) -> SortedOut:
    """By their names, and where these tell too little, by what is in them."""
    found: dict[Kind, list[Lying]] = {kind: [] for kind in Kind}
    silent, pointers = list[Lying](), list[Lying]()
    probed = 0
    for one in files:
        kind = might_be(one.path)
        if kind and _is_pointer(root, one):
            pointers.append(one)
            continue
        if kind is Kind.CSV and not _is_monitors(root, one):
            kind = Kind.LOG if _is_table(root, one) else None
        if kind is Kind.CSV and len(found[kind]) >= _MOST_TABLES:
            continue
        if kind is Kind.LOG:
            probed += 1
            if probed > _MOST_LOGS or not (_tells(root, one) or _was_launched(root, one)):
                silent.append(one)
                continue
        if kind:
            found[kind].append(one)
    return SortedOut(found, silent, pointers)


def _is_pointer(root: Path, one: Lying) -> bool:
    """https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"""
    try:
        return one.size < _MOST_POINTER_BYTES and read_inside(root, one.path, len(_POINTER)) == _POINTER
    except OSError:
        return False


def _is_monitors(root: Path, one: Lying) -> bool:
    """Whether it is a table of DeepSpeed's csv_monitor (deepspeed/monitor/csv_monitor.py): two columns, the first of
    which it calls `step`."""
    try:
        head = read_inside(root, one.path, _HEAD_BYTES)
    except OSError:
        return False
    first, _, rest = head.partition(b"\n")
    cells = first.strip().split(b",")
    second = rest.partition(b"\n")[0].strip()
    return len(cells) == 2 and cells[0] == b"step" and (not second or second.count(b",") == 1)


def _is_table(root: Path, one: Lying) -> bool:
    """Whether its first line names the columns of a table of steps, as other tools write them."""
    try:
        head = read_inside(root, one.path, _HEAD_BYTES)
    except OSError:
        return False
    return Table().begins(head.partition(b"\n")[0].decode("utf-8-sig", "replace").strip("\r"))


def _tells(root: Path, one: Lying) -> bool:
    """Whether its beginning or its end has values of a training."""
    try:
        head = read_inside(root, one.path, _PROBED_BYTES)
    except OSError:
        return False
    if b"\0" in head:
        return False
    return points_in(head) >= LEAST_POINTS or (one.size > len(head) and points_in(_end_of(root, one)) >= LEAST_POINTS)


def _was_launched(root: Path, one: Lying) -> bool:
    """Whether it is of a launch that failed before a value was logged. Who names the log itself means it: that may
    still be under way."""
    try:
        head = read_inside(root, one.path, _PROBED_BYTES)
    except OSError:
        return False
    end = _end_of(root, one) if one.size > len(head) else head
    if b"\0" in head or not (tells_of_launch(head) or tells_of_launch(end)):
        return False
    return root.is_file() or verdict_of_log(ending_in(end)) is not None


def _end_of(root: Path, one: Lying) -> bytes:
    try:
        with open_inside(root, one.path) as file:
            file.seek(max(one.size - _PROBED_BYTES, 0))
            return file.read(_PROBED_BYTES)
    except OSError:
        return b""


def ending_in(text: bytes) -> Ending:
    """How a training ended, as a text tells."""
    log = TrainLog()
    log.feed(text)
    log.finish()
    return log.ending


def points_in(text: bytes) -> int:
    """How many values of a training a text tells."""
    log = TrainLog()
    found = [*log.feed(text), *log.finish()]
    placed = [one for one in found if one.step is not None or one.epoch is not None or "loss" in one.values]
    return sum(1 for one in placed if one.kind != "final")
