"""Training output, in chunks cut anywhere, becomes points, progress, a phase and evidence of how it ended.

Read here: the HF Trainer's dict lines and tqdm bars, DeepSpeed's own `[Rank 0] step=…` lines, the tutorials'
`Rank[0]: Epoch 1, step 5 / 9, loss 3.1`, plain `step=10 loss=2.3`. A HF dict holds no step: transformers writes the
dict and then redraws the training bar, so the bar right after it has the step (the one before it may be stale, since
tqdm redraws ten times a second at most).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dsgui.core.ending import Ending
from dsgui.core.points import Event, Point

# A line longer than this is cut: no line worth reading is, and a run may print megabytes without a newline.
LINE_LIMIT_BYTES = 1 << 15
# How many lines (of other ranks, of warnings) may come between a dict and the bar drawn again after it.
BAR_PATIENCE = 12

# Lower-case words, one of which is in every line that has points, a bar, or says how a rank or the launcher ended; a
# traceback is read from its first line to its last. What else there is, last words above all, matters at the end alone.
# (Few words: each is looked for in all of a flood. torchrun's summary comes last.)
_TELLING = (
    *(b"{", b"loss", b"tep=", b"%|", b"traceback (most", b"spawned with", b" exits ", b"killing subprocess"),
    *(b"ssh exited", b"slurm: job"),
)
_PASSED_BYTES = 1 << 16

# ASCII: a dotless ı counts as an i of "inf" otherwise, when case is ignored, and float() knows better.
_NUMBER = r"(?a:[-+]?(?:nan|inf(?:inity)?|(?:\d++\.?+\d*+|\.\d++)(?:e[-+]?\d++)?+))"
_BREAK = re.compile(rb"[\r\n]")
_BAR = re.compile(
    rb"\b\d{1,3}%\|[^|\r\n]*\| *(?P<step>\d{1,15})/(?P<total>\d{1,15}) \[[\d:]+<(?P<left>[\d:?]+),[^\]\r\n]*\]"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DICT = re.compile(r"\{['\"][^{}]*\}")
_DICT_START = re.compile(r"\{['\"](?:loss|eval_loss|train_runtime)['\"]\s*:")
_PAIR = re.compile(rf"['\"]([\w./@-]+)['\"]\s*:\s*(['\"]?)({_NUMBER})\2\s*(?=[,}}])", re.IGNORECASE)
_RANK = re.compile(r"\brank\s*[\[ :=]?\s*(\d{1,9})\b", re.IGNORECASE)
_ENGINE = re.compile(rf"\bstep=(\d{{1,15}}), skipped=(\d{{1,15}}), lr=\[({_NUMBER})", re.IGNORECASE)
_ENGINE_SPEED = re.compile(rf"\bglobal_step=(\d{{1,15}}), RunningAvgSamplesPerSec=({_NUMBER})", re.IGNORECASE)
_STEP = re.compile(r"\b(?:global[_ ])?step\b[\s:=#]*(\d{1,15})(?!\d)(?:\s*(?:/|of)\s*(\d{1,15})(?!\d))?", re.IGNORECASE)
_EPOCH = re.compile(rf"\bepoch\b[\s:=#]*({_NUMBER})", re.IGNORECASE)
_NAMED = re.compile(
    rf"\b(\w*loss|lr|learning[_ ]rate|grad[_ ]?norm|loss[_ ]scale|perplexity|accuracy)\b\s*[:=]?\s*({_NUMBER})(?!\w)",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})\Z")
_TRAINS = re.compile(r"epoch|train|step|iter", re.IGNORECASE)
_COMPILES = re.compile(
    r"building extension module|creating extension directory|emitting ninja build|detected cuda files|"
    r"^\[\d+/\d+\] .*(?:c\+\+|g\+\+|nvcc|clang)",
    re.IGNORECASE,
)
_SLURM = re.compile(r"slurm: job \d+ is (\w+)")  # shell/follow_job.py
_WAITS_IN_SLURM = "waiting in Slurm’s queue"
_COMPILED = re.compile(r"loading extension module|op: [\d.]+ seconds|built successfully|no work to do", re.IGNORECASE)
_SPELLINGS = {
    "lr": "learning_rate",
    "learning rate": "learning_rate",
    "grad norm": "grad_norm",
    "gradnorm": "grad_norm",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the training is. `eta_s` is what the bar said, None where there is no bar."""

    step: int
    total: int | None
    eta_s: float | None = None


@dataclass(slots=True)
class _Bar:
    """The training bar among the bars: the first without a description; evaluation draws others, with other totals."""

    total: int | None = None
    step: int = 0


@dataclass(slots=True)
class _Held:
    """A dict whose step is not known yet."""

    epoch: float | None
    values: dict[str, float]
    kind: str
    lines: int = 0


class TrainLog:
    """Feed it output; it returns the points that became known. Memory is bounded by one line."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.phase = "starting"
        self.bad_lines = 0
        self.ending = Ending()
        self._tail = b""
        self._overflow = False
        self._bar = _Bar()
        self._held: list[_Held] = []
        self._points: list[Point] = []
        self._events: list[Event] = []
        self._trained = False
        self._last_loss: float | None = None
        self._epochs: dict[int | None, _Epochs] = {}
        self._passed = b""

    def feed(self, chunk: bytes | str) -> list[Point]:
        """The points that `chunk` completed. How the output is cut into chunks changes nothing."""
        self._catch_up()
        data = chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk
        self._read(data)
        return self._take()

    def skim(self, chunk: bytes) -> list[Point]:
        """The same points at a multiple of the speed, for output that comes faster than it can be read: of the other
        lines those near the end are read later, when it is slower or over, and those before are passed over."""
        lowered = chunk.lower()
        if any(word in lowered for word in _TELLING) or self.ending.tracebacks.writing:
            self._pass_over(b"".join(line for line in chunk.splitlines(keepends=True) if not self._tells(line)))
        else:
            first, last = _BREAK.search(chunk), max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            self._read(chunk[: first.end() if first else None])  # the end of a line that had begun
            if first:
                self._pass_over(chunk[first.end() : last])
                self._read(chunk[last:])
        return self._take()

    def _tells(self, line: bytes) -> bool:
        """Reads the line where it may tell something, or is only a part of one; whether it did."""
        whole = line.endswith((b"\n", b"\r")) and not self._tail and not self._overflow
        lowered = line.lower()
        if not whole or self.ending.tracebacks.writing or any(word in lowered for word in _TELLING):
            self._read(line)
            return True
        return False

    def _pass_over(self, lines: bytes) -> None:
        self._passed = (self._passed + lines)[-_PASSED_BYTES:]

    def _catch_up(self) -> None:
        """What was passed over last: no points are in it. Its first line may lack its beginning."""
        passed, self._passed = self._passed, b""
        tail, self._tail, overflow, self._overflow = self._tail, b"", self._overflow, False
        if len(passed) == _PASSED_BYTES:
            passed = passed[max(passed.find(b"\n"), 0) :]
        self._read(passed)
        self._tail, self._overflow = tail, overflow

    def _read(self, data: bytes) -> None:
        start = 0
        for match in _BREAK.finditer(data):
            self._grow(data[start : match.start()])
            self._end_line()
            start = match.end()
        self._grow(data[start:])

    def take_events(self) -> list[Event]:
        """What happened besides, since the last call."""
        events, self._events = self._events, []
        return events

    def finish(self) -> list[Point]:
        """The output is over: what was held back, with the best step known."""
        self._catch_up()
        self._end_line()
        self._release(self._bar.step if self._bar.total is not None else None)
        return self._take()

    def _take(self) -> list[Point]:
        points, self._points = self._points, []
        return points

    # -- lines -----------------------------------------------------------------------------------------------------

    def _grow(self, piece: bytes) -> None:
        """More of the current line. A bar is complete at its closing bracket: its line end comes a step later."""
        if self._overflow or not piece:
            return
        room = LINE_LIMIT_BYTES - len(self._tail)
        self._tail += piece[:room]
        self._overflow = len(piece) > room
        if b"]" in piece and b"%|" in self._tail:
            self._tail = self._bars(self._tail)

    def _end_line(self) -> None:
        line, self._tail, self._overflow = self._tail, b"", False
        if line.strip():
            self._line(line)

    def _bars(self, line: bytes) -> bytes:
        """Reads the complete bars of `line`; returns what follows the last."""
        while match := _BAR.search(line):
            before = line[: match.start()]
            if self._take_bar(before, match) and before.strip():
                self._line(before)
            line = line[match.end() :]
        return line

    def _line(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        text = text.rstrip()
        if not text:
            return
        self.ending.line(text)
        for read in (self._read_dicts, self._read_engine, self._read_plain):
            if read(text):
                self.ending.trains(self._last_loss)
                return
        self._read_phase(text)
        self._age_held()

    # -- bars ------------------------------------------------------------------------------------------------------

    def _take_bar(self, text: bytes, match: re.Match[bytes]) -> bool:
        """Reads one bar. Returns whether `text` before it is a line of its own rather than the bar's description."""
        step, total = int(match["step"]), int(match["total"])
        description = _ANSI.sub("", text.decode("utf-8", "replace")).strip()
        described = description.endswith(":")
        if described and not _TRAINS.search(description):
            return False
        if self._is_training_bar(step, total):
            self._progress(step, total, _clock_seconds(match["left"].decode("ascii", "replace")))
        elif self._trained:
            self.phase = "evaluating"
        return not described

    def _is_training_bar(self, step: int, total: int) -> bool:
        bar = self._bar
        # A bar that filled up before anything was trained was an evaluation's or a preparation's.
        if bar.total is None or (bar.total != total and not self._trained and bar.step >= bar.total):
            bar.total = total
        return bar.total == total

    def _progress(self, step: int, total: int, eta_s: float | None) -> None:
        self._bar.step = step
        self.progress = Progress(step, total, eta_s)
        if step >= 1:
            self.phase = "training"
        self._release(step)

    # -- held dicts ------------------------------------------------------------------------------------------------

    def _release(self, step: int | None) -> None:
        held, self._held = self._held, []
        for one in held:
            self._add(Point(step, one.epoch, one.values, one.kind))

    def _age_held(self) -> None:
        for one in self._held:
            one.lines += 1
        if self._held and self._held[0].lines >= BAR_PATIENCE:
            self._release(self._bar.step)

    def _add(self, point: Point) -> None:
        self._points.append(point)
        if point.kind == "train":
            self._trained = True
            self.phase = "training"

    # -- sources ---------------------------------------------------------------------------------------------------

    def _read_dicts(self, text: str) -> bool:
        if "{'" not in text and '{"' not in text:
            return False
        found = [one for one in map(_metrics, _DICT.findall(text)) if one]
        if not found:
            self.bad_lines += bool(_DICT_START.search(text))
            return False
        self._age_held()
        self._held += found
        self._note_loss(found[-1].values)
        if self._bar.total is None:
            self._release(None)
        return True

    def _read_engine(self, text: str) -> bool:
        if "tep=" not in text:
            return False
        if match := _ENGINE.search(text):
            values = {"learning_rate": float(match[3]), "skipped_steps": float(match[2])}
        elif match := _ENGINE_SPEED.search(text):
            values = {"samples_per_second": float(match[2])}
        else:
            return False
        step = int(match[1])
        self._add(Point(step, None, values, rank=_rank(text)))
        if self._bar.total is None and (self.progress is None or self.progress.total is None):
            self.progress = Progress(step, None)
        return True

    def _read_plain(self, text: str) -> bool:
        if "loss" not in text.lower():
            return False
        step, values = _STEP.search(text), _named(text)
        if step is None or not any(name.endswith("loss") for name in values):
            return False
        epoch = _EPOCH.search(text)
        self._plain(int(step[1]), int(step[2]) if step[2] else None, epoch and float(epoch[1]), values, _rank(text))
        return True

    def _plain(
        self, step: int, total: int | None, epoch: float | None, values: dict[str, float], rank: int | None
    ) -> None:
        self._note_loss(values)
        counted = self._epochs.setdefault(rank, _Epochs()).count(step, total, epoch)
        kind = "eval" if all(name.startswith(("eval", "val")) for name in values) else "train"
        self._add(Point(counted, epoch, values, kind, rank))
        if kind == "train" and not rank:
            self.progress = Progress(step, total)

    def _note_loss(self, values: Mapping[str, float]) -> None:
        self._last_loss = values.get("loss", self._last_loss)

    def _read_phase(self, text: str) -> None:
        if match := _SLURM.match(text):
            self.phase = _WAITS_IN_SLURM if match[1] == "PENDING" else "starting"
        elif self.phase == "starting" and _COMPILES.search(text):
            self.phase = "compiling"
        elif self.phase == "compiling" and _COMPILED.search(text):
            self.phase = "starting"


@dataclass(slots=True)
class _Epochs:
    """Steps that begin again with each epoch, made to go on."""

    epoch: float | None = None
    last: int = 0
    total: int | None = None
    base: int = 0

    def count(self, step: int, total: int | None, epoch: float | None) -> int:
        if self.epoch is not None and epoch is not None and epoch > self.epoch and step <= self.last:
            self.base += self.total or self.last
        self.epoch, self.last, self.total = epoch, step, total
        return self.base + step


def _metrics(text: str) -> _Held | None:
    """The dict of one HF log line, or None when it is another dict."""
    values = {name: float(number) for name, _, number in _PAIR.findall(text)}
    epoch = values.pop("epoch", None)
    if "train_runtime" in values:
        return _Held(epoch, values, "final")
    if any(name.startswith("eval_") for name in values):
        return _Held(epoch, values, "eval")
    return _Held(epoch, values, "train") if "loss" in values else None


def _named(text: str) -> dict[str, float]:
    found = {name.lower(): float(number) for name, number in _NAMED.findall(text)}
    return {_SPELLINGS.get(name, name.replace(" ", "_")): value for name, value in found.items()}


def _rank(text: str) -> int | None:
    match = _RANK.search(text)
    return int(match[1]) if match else None


def _clock_seconds(text: str) -> float | None:
    """Seconds of tqdm's `[H:]MM:SS`; None for `?`."""
    match = _CLOCK.match(text)
    if not match:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float((hours * 60 + minutes) * 60 + seconds)
