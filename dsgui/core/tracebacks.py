"""Python's tracebacks in a run's output, told apart by rank and bounded in size.

After `init_process_group` torch puts `[rank1]: ` before each line of a traceback (torch/distributed/c10d_logger.py and
its excepthook), so the tracebacks of ranks that fail together can be taken apart; without it they can't.
"""

import re
from collections import deque
from dataclasses import dataclass, field

MOST_TRACEBACKS = 8
LINE_LIMIT = 1000
_HEAD_LINES, _TAIL_LINES = 60, 100
# A message goes on for a few lines after the exception's own: pydantic's list, the mismatches of the HF Trainer.
_MESSAGE_LINES = 30
_HEADER = "Traceback (most recent call last):"
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:: |:?\Z)")
_CHAINED = re.compile(
    r"(?:During handling of the above exception, another exception occurred|"
    r"The above exception was the direct cause of the following exception):\s*\Z"
)
# What no exception's message begins a line with: other programs' log lines.
_LOG_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d|\[rank\d+\]:\[[EWIF]\d|\[[EWIF]\d{3,4} |[EWIF]\d{4} \d\d:|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|=====|"
    r"[-=*]{20}|Killing subprocess|Exception ignored in|\s*\d{1,3}%\|"
)
# Python says of these that it goes on all the same.
_IGNORED = re.compile(r"Exception ignored in|--- Logging error ---")


@dataclass(slots=True)
class Traceback:
    """One traceback: its rank (None where the output does not tell), its lines, and what it ended with. A chain of
    exceptions is one traceback; `causes` are the messages of those before the last."""

    rank: int | None
    head: list[str] = field(default_factory=lambda: [_HEADER])
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    left_out: int = 0
    message: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)

    @property
    def error(self) -> str:
        """The exception's own line, or "" while it has none."""
        return self.message[0] if self.message else ""

    @property
    def text(self) -> str:
        """All of it; of a very long one the beginning and the end."""
        gap = [f"    … {self.left_out} lines are left out here; the output has them …"] if self.left_out else []
        return "\n".join([*self.head, *gap, *self.tail]).rstrip()

    @property
    def messages(self) -> tuple[str, ...]:
        """What was raised, each with the lines that belong to it: what ended it first, then what led there."""
        return ("\n".join(self.message).rstrip(), *reversed(self.causes))

    def add(self, line: str) -> None:
        if len(self.head) < _HEAD_LINES:
            self.head.append(line)
            return
        self.left_out += len(self.tail) == _TAIL_LINES
        self.tail.append(line)

    def chain(self) -> None:
        """What was raised led to another exception."""
        self.causes.append("\n".join(self.message).rstrip())
        self.message = []


class Tracebacks:
    """Feed it the output's lines; it keeps the first tracebacks, whole ones and the one that is still being written."""

    def __init__(self) -> None:
        self._kept: list[Traceback] = []
        self._open: dict[int | None, Traceback] = {}
        self._ignoring: set[int | None] = set()

    @property
    def found(self) -> tuple[Traceback, ...]:
        """Those that say what was raised, in the order in which they began."""
        return tuple(one for one in self._kept if one.error)

    @property
    def any(self) -> bool:
        """Whether one has begun since the last were forgotten."""
        return bool(self._kept or self._open)

    @property
    def writing(self) -> bool:
        """Whether one has begun and may go on in the next line."""
        return bool(self._open)

    def forget(self) -> None:
        """They ended nothing: the run went on."""
        self._kept, self._open = [], {}

    def line(self, rank: int | None, text: str) -> bool:
        """One line, without its rank's prefix. Returns whether it completed the line that says what was raised."""
        if text.strip() == _HEADER:
            self._begin(rank)
            return False
        current = self._open.get(rank)
        if current is None:
            if _IGNORED.match(text):
                self._ignoring.add(rank)
            return False
        if current.message:
            self._message_line(rank, current, text)
            return False
        current.add(text[:LINE_LIMIT])
        if _EXCEPTION.match(text):
            current.message.append(text[:LINE_LIMIT])
            return True
        return False

    def _begin(self, rank: int | None) -> None:
        current = self._open.get(rank)
        if current is not None and not current.message:
            current.add(_HEADER)  # chained, or two ranks that write at once without saying who they are
            return
        if rank in self._ignoring:
            self._ignoring.discard(rank)
            self._open.pop(rank, None)
            return
        new = Traceback(rank)
        self._open[rank] = new
        if len(self._kept) < MOST_TRACEBACKS:
            self._kept.append(new)

    def _message_line(self, rank: int | None, current: Traceback, text: str) -> None:
        if _CHAINED.match(text):
            current.add(text)
            current.chain()
        elif _IGNORED.match(text):
            self._ignoring.add(rank)
            del self._open[rank]
        elif _LOG_LINE.match(text) or len(current.message) >= _MESSAGE_LINES:
            del self._open[rank]
        else:
            current.message.append(text[:LINE_LIMIT])
            current.add(text[:LINE_LIMIT])
