"""Python's tracebacks in a run's output, told apart by rank and bounded in size.

After `init_process_group` torch prefixes each line of a traceback with `[rank1]: ` (torch/distributed/c10d_logger.py
and its excepthook), so the tracebacks of ranks that fail at the same time can be separated; without the prefix they
can't.
"""

import re
from collections import deque
from dataclasses import dataclass, field

from dsgui.core.texts.saying import said

MOST_TRACEBACKS = 8
LINE_LIMIT = 1000
_HEAD_LINES, _TAIL_LINES = 60, 100
# A message goes on for a few lines after the exception's own: pydantic's list, the mismatches of the HF Trainer.
_MESSAGE_LINES = 30
_HEADER = "Traceback (most recent call last):"
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*)(?:: |:?\Z)")
_ENDINGS = ("error", "exception", "warning", "interrupt", "exit", "iteration", "group", "expired", "timeout", "failure")
_CHAINED = re.compile(
    r"(?:During handling of the above exception, another exception occurred|"
    r"The above exception was the direct cause of the following exception):\s*\Z"
)
# What no exception's message begins a line with: other programs' log lines.
_LOG_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d|\[rank\d+\]:\[[EWIF]\d|\[[EWIF]\d{3,4} |[EWIF]\d{4} \d\d:|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|=====|"
    r"[-=*]{20}|Killing subprocess|Exception ignored in|\s*\d{1,3}%\|"
)
# What a message's further lines look like, where other ranks print into the same stream without saying who they are:
# indented, items of a list, or announced by the line before ("…values:", pydantic's "2 validation errors for …").
_FURTHER = re.compile(r"\s|- |\Z")
_ANNOUNCES = re.compile(r"[^\n]{0,1000}(?::|\bvalidation errors? for \w+)\s*\Z")
# Python says of these that it goes on all the same.
_IGNORED = re.compile(r"Exception ignored in|--- Logging error ---")


@dataclass(slots=True)
class Traceback:
    """One traceback: its rank (None if the output does not tell), its lines, and what it ended with. A chain of
    exceptions is one traceback; `causes` are the messages of those before the last. `after` are lines that followed a
    message and may belong to it or be another rank's print; `doubtful`: what looks like an exception may be a print."""

    rank: int | None
    head: list[str] = field(default_factory=lambda: [_HEADER])
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    left_out: int = 0
    message: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    doubtful: bool = False

    @property
    def error(self) -> str:
        """The exception's own line, or "" while it has none. If that says nothing, like nltk's, the next line is
        added."""
        if not self.message or not self.message[0].rstrip().endswith(":"):
            return self.message[0] if self.message else ""
        said = (line.strip() for line in self.message[1:])
        return f"{self.message[0].rstrip()} {next((one for one in said if one.strip('*-= ')), '')}".rstrip()

    @property
    def text(self) -> str:
        """The whole traceback; of a very long one, the beginning and the end."""
        gap = [f"    {said('diagnosis_parts', 'lines_left_out', count=str(self.left_out))}"] if self.left_out else []
        return "\n".join([*self.head, *gap, *self.tail]).rstrip()

    @property
    def own_message(self) -> str:
        """What was raised, with the lines that certainly belong to it."""
        return "\n".join(self.message).rstrip()

    @property
    def messages(self) -> tuple[str, ...]:
        """What was raised, each with the lines that may belong to it: the final exception first, then what led to
        it."""
        return ("\n".join([*self.message, *self.after]).rstrip(), *reversed(self.causes))

    @property
    def last(self) -> str:
        return self.tail[-1] if self.tail else self.head[-1]

    def add(self, line: str) -> None:
        if len(self.head) < _HEAD_LINES:
            self.head.append(line)
            return
        self.left_out += len(self.tail) == _TAIL_LINES
        self.tail.append(line)

    def chain(self) -> None:
        """What was raised led to another exception."""
        self.causes.append(self.messages[0])
        self.message, self.after, self.doubtful = [], [], False

    def take(self, line: str, doubtful: bool) -> None:
        """The line that says what was raised."""
        self.add(line)
        self.message, self.doubtful = [line], doubtful

    def go_on(self, line: str, alone: bool) -> None:
        """A line after that one; `alone` if nothing else prints here."""
        if alone or self._is_further(line):
            self.message.append(line)
            self.add(line)
        else:
            self.after.append(line)

    def _is_further(self, line: str) -> bool:
        return not self.after and bool(_FURTHER.match(line) or _ANNOUNCES.match(self.message[-1]))

    def begins_with(self, line: str) -> bool:
        """Whether a row of characters opens a message that has been empty so far (nltk/data.py: find)."""
        return len(self.message) == 1 and self.message[0].rstrip().endswith(":") and line.startswith("*****")

    def take_back(self) -> None:
        """What looked like an exception was a print."""
        self.message, self.after, self.doubtful = [], [], False


class Tracebacks:
    """Takes the output's lines; keeps the first tracebacks, both complete ones and the one still being written."""

    def __init__(self) -> None:
        self.alone = False  # whether all that is printed comes from one rank
        self.headers = 0  # how many began, those chained to another or mixed into one among them
        self._kept: list[Traceback] = []
        self._open: dict[int | None, Traceback] = {}
        self._ignoring: set[int | None] = set()

    @property
    def found(self) -> tuple[Traceback, ...]:
        """The tracebacks that say what was raised, in the order in which they began."""
        return tuple(one for one in self._kept if one.error)

    @property
    def any(self) -> bool:
        """Whether one has begun since the last call of `forget`."""
        return bool(self._kept or self._open)

    @property
    def writing(self) -> bool:
        """Whether one has begun and may continue in the next line."""
        return bool(self._open)

    def forget(self) -> None:
        """They ended nothing: the run went on."""
        self._kept, self._open, self.headers = [], {}, 0

    def line(self, rank: int | None, text: str) -> bool:
        """One line, without its rank's prefix. Returns whether it completed the line that says what was raised."""
        if text.strip() == _HEADER:
            self.headers += 1
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
        doubtful = _is_doubtful(text)
        if doubtful is None or (doubtful and not current.last.startswith("    ")):
            current.add(text[:LINE_LIMIT])
            return False
        current.take(text[:LINE_LIMIT], doubtful)
        return True

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

    @staticmethod
    def _ends(current: Traceback, text: str) -> bool:
        """Whether a line after a message does not belong to it."""
        full = len(current.message) + len(current.after) >= _MESSAGE_LINES
        return full or bool(_LOG_LINE.match(text) and not current.begins_with(text))

    def _message_line(self, rank: int | None, current: Traceback, text: str) -> None:
        surely = _is_doubtful(text) is False
        if _CHAINED.match(text):
            current.add(text)
            current.chain()
        elif current.doubtful and (surely or text.startswith('  File "')):
            current.take_back()
            self.line(rank, text)
        elif _IGNORED.match(text):
            self._ignoring.add(rank)
            del self._open[rank]
        elif self._ends(current, text):
            del self._open[rank]
        else:
            current.go_on(text[:LINE_LIMIT], self.alone or rank is not None)


def _is_doubtful(text: str) -> bool | None:
    """For a line that may say what was raised: whether it may also be a print ("Loading: 3 of 7"). None if it says
    nothing of the kind."""
    match = _EXCEPTION.match(text)
    if match is None:
        return None
    name = match[1].rpartition(".")[2]
    if name.lower().endswith(_ENDINGS) and (name[0].isupper() or "." in match[1]):
        return False
    return None if name[:1].islower() else "." not in match[1]
