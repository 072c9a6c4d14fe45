"""Turns training output, in arbitrary chunks, into points, events, progress, a phase and evidence of how it ended.

`reading_lines.py` reads single lines; this module adds what only the surrounding lines show. An HF dict contains no
step: transformers writes the dict and then redraws the training bar, so the bar right after it has the step (the one
before it may be stale, since tqdm redraws ten times a second at most).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dsgui.core.diagnosis.ending import Ending
from dsgui.core.errors import PatternError
from dsgui.core.logs.bars import (
    BAR,
    BARE_BAR,
    SCALED_BAR,
    bar_count,
    bar_epoch,
    bar_unit,
    bar_values,
    clock_seconds,
    described_values,
)
from dsgui.core.logs.dict_lines import is_broken
from dsgui.core.logs.epochs import MOST_LATE, Bursts, EpochCounts, TrainerSteps
from dsgui.core.logs.happenings import Happenings
from dsgui.core.logs.judgements import PATIENCE, read_judgement
from dsgui.core.logs.metric_blocks import MetricBlock, StepBlock, TrainerHead
from dsgui.core.logs.named_numbers import as_evaluation
from dsgui.core.logs.numerals import is_loss
from dsgui.core.logs.patterns import MOST_PATTERNS, SOURCE, Pattern
from dsgui.core.logs.phases import PREPARATIONS, Doing, Phase
from dsgui.core.logs.reading_lines import as_text, readings
from dsgui.core.logs.readings import Form, Reading
from dsgui.core.logs.shapes import Shape, Shapes
from dsgui.core.logs.step_times import EngineLosses, StepTimes, Timed
from dsgui.core.logs.tables import Table
from dsgui.core.logs.telling import ALL, BEYOND_NUMBERS, IN_A_FLOOD, OF_EPOCHS, OF_PHASES, OF_PREPARATIONS, TellingLines
from dsgui.core.logs.training_bar import EPOCHS, EVALUATING, TRAINING, TrainingBar, counts_bytes, work_of
from dsgui.core.metrics.points import OUTPUT, Event, Point
from dsgui.core.metrics.several_ranks import SeveralRanks
from dsgui.core.texts.saying import wrong

# A line longer than this is cut: no line worth reading is, and a run may print megabytes without a newline.
LINE_LIMIT_BYTES = 1 << 15
# How many lines (of other ranks, of warnings) may come between a dict and the bar drawn again after it.
BAR_PATIENCE = 12

_PASSED_BYTES = 1 << 16
_RANKS_APART = 2  # steps, in what several ranks print
_MOST_DULL, _DULL_BYTES = 1024, 400
_BREAK = re.compile(rb"[\r\n]")
_PLAIN, _PATTERN, _DICT = Form.PLAIN, Form.PATTERN, Form.DICT  # to look up a member takes as long as to read a number
_BESIDE = (Form.MEMORY, Form.BESIDE)
_NO_TRAINING, _WITHOUT_SHAPE = (Form.MEMORY, Form.EPOCH), (Form.OVERFLOW, Form.EPOCH)
_OF_ENGINE = (Form.ENGINE, Form.SPEED)
_NO_VALUES: dict[str, float] = {}
_STEPS_A_SECOND = (b"it/s", b"s/it")
_TOTAL, _SPEED = "Total optimization steps", "samples_per_second"
_STARS, _OF_STEP, _NESTED = "***** ", "[step=", b"\x1b[A"
_ANNOUNCED = re.compile(r"\*{5} (?:Running (?P<what>training|evaluation|prediction|test)|Evaluating\b)", re.IGNORECASE)
# nanoGPT's: a step's loss, and means over many batches.
_ITERATION, _MEANS = re.compile(r"\biter \d++: loss "), re.compile(r"\bstep \d++: train loss \S++ val loss ")
# kohya's and diffusers': a bar of all epochs, whatever line names the epoch.
_OF_ALL_EPOCHS = re.compile(r"\W*+(?:global |total |optimi[sz]ation )?steps?\W*+\Z", re.IGNORECASE)
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0000000000")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the training is, in steps since it began. `eta_s` is from the bar, None if there is no bar or it is an
    epoch's."""

    step: int
    total: int | None
    eta_s: float | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """The epoch that the output named last, and the number of epochs, if known."""

    number: float
    epochs: int | None


@dataclass(slots=True)
class _Held:
    """What a line said whose step is not known yet."""

    reading: Reading
    text: str
    lines: int = 0


class TrainLog:
    """Takes output; returns the points that became known. Memory is bounded by one line."""

    def __init__(self, patterns: Iterable[Pattern] = ()) -> None:
        self.bad_lines = 0
        self.ending = Ending()
        self._phase = Phase()
        self._progress: tuple[int, int | None, str | None] | None = None
        self._leader: int | None = None  # the rank by whose steps progress is told, where none is rank 0
        self._tail = b""
        self._overflow = False
        self._bar = TrainingBar()
        self._bar_at = 0  # its step since the training began
        self._bar_said: int | None = None  # the step at which the bar's postfix was a point
        self._held: list[_Held] = []
        self._held_others = 0  # how many of them are no dicts
        self._dicts_follow = self._waited_in_vain = False  # the bar; for it, since it was drawn
        self._bursts = Bursts()
        self._head = TrainerHead()
        self._trainer: TrainerSteps | None = None
        self._points: list[Point] = []
        self._ranks = SeveralRanks()
        self._happenings = Happenings()
        self._trained = False
        self._last_loss: float | None = None
        self._iterates = self._tells_speed = False  # the script's own lines: as nanoGPT's; samples/s
        self._skipped = self._engine_at = 0
        self._engine_told: tuple[int, int | None] | None = None
        self._overflown = -1 - _RANKS_APART
        self._epochs, self._bar_epochs = EpochCounts(), EpochCounts()
        self._epoch: Epoch | None = None
        self._metrics = MetricBlock()
        self._step_block = StepBlock()
        self._table = Table()
        self._judging = False  # an evaluation was announced, and nothing read since
        self._announcement, self._patience = (
            "",
            0,
        )  # what announced it, and how many lines may come before what it found
        self._told: dict[str, tuple[int | None, dict[str, float]]] = {}  # by kind: the last of evaluations and ends
        self._times, self._losses = StepTimes(), EngineLosses()
        self._passed: list[bytes] = []
        self._passed_bytes = 0
        self._last_plain = b""  # the last of the lines that told nothing
        self._shapes = Shapes()
        self._dull: set[bytes] = set()  # lines that told nothing, with zeros for digits
        self._patterns: list[Pattern] = []
        self._words: tuple[bytes, ...] = ALL
        self._flood_words: tuple[bytes, ...] = IN_A_FLOOD
        self._reads_all = False
        for pattern in patterns:
            self.add_pattern(pattern)

    def add_pattern(self, pattern: Pattern, counted: EpochCounts | None = None) -> None:
        """Tried on each line from here on, before anything else; `counted` is what it has read before. Raises
        PatternError if there are too many."""
        if len(self._patterns) >= MOST_PATTERNS:
            raise PatternError(wrong("pattern.many", most=str(MOST_PATTERNS)))
        self._patterns.append(pattern)
        if counted:
            self._epochs.adopt(counted)
        word = pattern.word.encode("utf-8", "replace").lower()
        if word:
            self._words, self._flood_words = (*self._words, word), (*self._flood_words, word)
        self._reads_all = self._reads_all or not word
        self._shapes.forget()
        self._dull.clear()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return tuple(self._patterns)

    @property
    def phase(self) -> str:
        return self._phase.name

    @property
    def doing(self) -> Doing | None:
        """What is being prepared, before the training."""
        return self._phase.doing if self._phase.name in PREPARATIONS else None

    @property
    def epoch(self) -> Epoch | None:
        """None if neither a script's own line nor a bar named one."""
        return self._epoch

    @property
    def progress(self) -> Progress | None:
        if self._progress is None:
            return None
        step, total, left = self._progress
        return Progress(step, total, clock_seconds(left) if left else None)

    def feed(self, chunk: bytes | str) -> list[Point]:
        """The points that `chunk` completed. How the output is cut into chunks makes no difference."""
        self._catch_up()
        self._read(chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk, in_a_flood=False)
        return self._take()

    def skim(self, chunk: bytes) -> list[Point]:
        """The same points at a multiple of the speed, for output that arrives faster than it can be read: of the
        other lines, those near the end are read later, when the output slows down or ends, and the earlier ones are
        skipped."""
        self._read(chunk, in_a_flood=True)
        return self._take()

    def take_events(self) -> list[Event]:
        """Other events since the last call."""
        return self._happenings.take()

    def finish(self) -> list[Point]:
        """The output has ended: returns what was held back, with the best known step."""
        self._catch_up()
        self._end_line()
        self._add_timed(self._times.finish())
        for point, text in self._losses.finish():
            self._add(point, text)
        self._lets_go()
        return self._take()

    def _take(self) -> list[Point]:
        points, self._points = self._points, []
        if (ranks := len(self.ending.spawned)) < 2:
            return points
        points = self._ranks.first_of_each(points, ranks)
        if self._ranks.mixed:
            self._happenings.mixed_ranks()
        return points

    # -- chunks ----------------------------------------------------------------------------------------------------

    def _read(self, data: bytes, in_a_flood: bool) -> None:
        """The rest of a partial line, whole lines, the beginning of another."""
        first = _BREAK.search(data)
        if not first:
            self._grow(data)
            return
        self._grow(data[: first.start()])
        self._end_line()
        last = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        block = data[first.end() : last]
        if block:
            self._block(block.replace(b"\r", b"\n"), in_a_flood)
            self._tell_last_plain()
        self._grow(data[last:])

    def _block(self, block: bytes, in_a_flood: bool) -> None:
        words = self._flood_words if in_a_flood else self._words
        if not in_a_flood and self._phase.before_training:
            words = (*words, *OF_PHASES, *OF_PREPARATIONS)
        if self._epochs_begin:
            words = (*words, *OF_EPOCHS)
        telling = TellingLines(block.lower(), words)
        shapes, tracebacks = self._shapes, self.ending.tracebacks
        start, end = 0, len(block)
        while start < end:
            if (match := shapes.guess(block, start)) and not tracebacks.writing and self._short_way(match):
                start = self._run(block, match.end())
                continue
            if self._reads_next or (self._held and not in_a_flood):
                begins = start
            else:
                begins = telling.after(start)
                if begins > start:
                    self._pass(block[max(start, begins - _PASSED_BYTES) : begins], in_a_flood)
                if begins == end:
                    return
            start = block.index(b"\n", begins) + 1
            if self._whole_line(block, begins, start):
                start = self._last_bar(block, start)

    @property
    def _reads_next(self) -> bool:
        """Whether the next line is read whatever words it has."""
        return self.ending.tracebacks.writing or self._reads_all or self._goes_on

    @property
    def _goes_on(self) -> bool:
        """Whether the last lines began what the next goes on with."""
        begun = self._metrics.open or self._step_block.open or self._table.open
        return begun or self._patience > 0 or self._head.open

    def _pass(self, lines: bytes, in_a_flood: bool) -> None:
        if not in_a_flood:
            self._last_plain = lines if lines.strip() else self._last_plain
            return
        self._passed.append(lines)
        self._passed_bytes += len(lines)
        if self._passed_bytes > 16 * _PASSED_BYTES:
            self._passed = [b"".join(self._passed)[-_PASSED_BYTES:]]
            self._passed_bytes = len(self._passed[0])

    def _catch_up(self) -> None:
        """Reads what was skipped last: it contains no points, and its first line may lack its beginning."""
        if not self._passed:
            return
        passed, self._passed, self._passed_bytes = b"".join(self._passed), [], 0
        if len(passed) > _PASSED_BYTES:
            passed = passed[-_PASSED_BYTES:]
        if len(passed) == _PASSED_BYTES:
            passed = passed[max(passed.find(b"\n"), 0) :]
        metrics_open, step_open = self._metrics.open, self._step_block.open  # they began after them
        self._metrics.open = self._step_block.open = False
        for line in passed.split(b"\n"):
            if line and not line.isspace():
                self._line(line[:LINE_LIMIT_BYTES])
        self._metrics.open, self._step_block.open = metrics_open, step_open

    # -- lines -----------------------------------------------------------------------------------------------------

    def _whole_line(self, block: bytes, begins: int, after: int) -> bool:
        """Returns whether a bar was drawn in it."""
        line = block[begins : after - 1]
        if not line or line.isspace():
            return False
        if len(line) > LINE_LIMIT_BYTES:
            self._grow(line)
            self._end_line()
            return False
        if b"%|" in line:
            line = self._bars(line)
            if line and not line.isspace():
                self._line(line)
            return True
        if self.ending.tracebacks.writing or self._goes_on:
            self._line(line)
        elif len(line) <= _DULL_BYTES and line.translate(_SAME_DIGITS) in self._dull:
            self._last_plain = line
            self._age_held()
        elif not ((match := self._shapes.find(block, begins)) and self._short_way(match)):
            self._line(line)
        return False

    def _short_way(self, match: re.Match[bytes]) -> bool:
        """A line of a known shape. False if what should be a number is not spelled as one."""
        shape = self._shapes.last
        assert shape is not None
        try:
            reading = shape.read(match)
        except ValueError:
            return False
        self._last_plain = match[0]
        self._apply(reading, "")
        self.ending.trains(self._last_loss)
        return True

    def _run(self, block: bytes, start: int) -> int:
        """The end of a sequence of lines that are consecutive steps of a training. Each has its effect the short way,
        and what only the last one decides is done once."""
        if self._times.begun or self._held or self._judging:
            return start
        begins, shapes = start, self._shapes
        while (last := shapes.last) and (shape := last.likely) and shape.steps:
            before, start = start, self._same(shape, block, start)
            if start == before:
                break
            shapes.last = shape
        if start > begins:
            self._trained = True
            self._phase.name = "training"
        return start

    def _same(self, shape: Shape, block: bytes, start: int) -> int:
        """Reads as many lines of one shape as follow: a few microseconds each, where the long way takes hundreds."""
        matches, names, groups = shape.pattern.match, shape.names, shape.groups
        step_at, total_at, epoch_at, rank_at = map(shape.place, ("step", "total", "epoch", "rank"))
        assert step_at is not None  # it is of steps
        counts, epochs = shape.form is Form.PLAIN, self._epochs
        points, values, total, epoch, rank = self._points, None, None, epochs.epoch if counts else None, None
        before, done = len(points), None
        with suppress(ValueError):  # a number that is none: that line goes the long way
            while match := matches(block, start):
                told = match.group(*groups)
                read = dict(zip(names, map(float, told)))  # noqa: B905 — saying `strict` takes as long as a number
                step = counted = int(told[step_at])
                if total_at:
                    total = int(told[total_at])
                if epoch_at:
                    epoch = float(told[epoch_at])
                if rank_at:
                    rank = int(told[rank_at])
                if counts and (epoch is not None or epochs.of):
                    counted = epochs.count(rank, step, total, epoch)
                points.append(Point(counted, epoch, read, "train", rank))
                if not rank or self._leads(rank):
                    done = counted, total, rank
                values, start, last = read, match.end(), match
        if values is None:
            return start
        self._last_loss = values.get("loss", self._last_loss)
        if done and (counts or self._bar.total is None):
            said = self._whole(done[2], done[1]) if counts else self._progress[1] if self._progress else None
            self._progress = (done[0], said, None)
        if epoch_at and counts and epoch is not None:
            self._in_epoch(epoch, None)
        self._last_plain = last[0]
        self.ending.trains(self._last_loss, len(points) - before)
        return start

    def _grow(self, piece: bytes) -> None:
        """More of the current line. A bar is complete at its closing bracket: the end of its line comes one step
        later."""
        if self._overflow or not piece:
            return
        room = LINE_LIMIT_BYTES - len(self._tail)
        self._tail += piece[:room]
        self._overflow = len(piece) > room
        if b"]" in piece and b"%|" in self._tail:
            self._tail = self._bars(self._tail)

    def _end_line(self) -> None:
        line, self._tail, self._overflow = self._tail, b"", False
        if line and not line.isspace():
            self._line(line)

    def _line(self, raw: bytes) -> None:
        """The long way."""
        self._tell_last_plain()
        text = as_text(raw)
        if not text:
            if _NESTED in raw:
                self._nested()
            return
        raised = self.ending.line(text)
        if (self._metrics.open and self._in_block(text)) or (_STARS in text and self._announced(text)):
            self._age_held()
            return
        if (self._head.open or _TOTAL in text) and self._head.line(text):
            self._knows_total()
            return
        if self._step_block.open and self._in_step(text):
            return
        begins = _OF_STEP in text and self._step_block.begins(text)
        if self._table.open and (rows := self._table.line(text)) is not None:
            for row in rows:
                self._apply(row, text)
            return
        if raised:
            self._happenings.once("error", raised, self._step())
        elif not self.ending.tracebacks.writing:
            self._happenings.line(text, self._step())
        found = readings(text, self._patterns)
        if begins and not any(one.values for one in found):
            return
        if not found:
            self._nothing(raw, text)
            return
        self._patience = 0
        lowered = raw.lower()
        if len(found) == 1 and not _says_more(lowered):
            self._learn(raw, found[0])
        for one in found:
            self._apply(one, text)
        if found[0].form not in _NO_TRAINING:
            self.ending.trains(self._last_loss)

    def _learn(self, raw: bytes, reading: Reading) -> None:
        """Evaluations, overflows and ends are events too, and are rare; so are means over many batches, among steps."""
        read_so = reading.kind == "train" and reading.form not in _WITHOUT_SHAPE
        if read_so and not (self._iterates and "eval_loss" in reading.values and _MEANS.search(as_text(raw))):
            self._shapes.show(raw, reading, self._read_again)

    def _read_again(self, raw: bytes) -> Reading | None:
        found = readings(as_text(raw), self._patterns)
        return found[0] if len(found) == 1 else None

    def _nothing(self, raw: bytes, text: str) -> None:
        if is_broken(text):
            self.bad_lines += 1
        elif self._phase.line(text) or self._judged(text) or self._table.begins(text):
            pass
        elif len(raw) <= _DULL_BYTES and not self._patterns and not self._happenings.saved(text):
            lowered = raw.lower()
            if not _says_more(lowered):
                if len(self._dull) >= _MOST_DULL:
                    self._dull.clear()
                self._dull.add(raw.translate(_SAME_DIGITS))
        self._age_held()

    def _judged(self, text: str) -> bool:
        """Whether the line is what the announced evaluation found. One before the training is of step 0."""
        if not self._patience:
            return False
        self._patience -= 1
        found = read_judgement(text, self._announcement)
        if found is None:
            return False
        self._patience, self._judging = 0, False
        step = self._step() if self._trained or self._progress else 0
        if found.epoch is not None:
            self._in_epoch(found.epoch, found.epochs)
        self._add(Point(step, found.epoch, found.values, found.kind, found.rank), text)
        return True

    def _tell_last_plain(self) -> None:
        """The last of the lines that said nothing may be the very last line."""
        if not self._last_plain:
            return
        last, self._last_plain = self._last_plain.rstrip(), b""
        self.ending.plain(as_text(last[last.rfind(b"\n") + 1 :][:LINE_LIMIT_BYTES]))

    # -- bars ------------------------------------------------------------------------------------------------------

    def _bars(self, line: bytes) -> bytes:
        """Reads the complete bars of `line`; returns what follows the last."""
        while (percent := line.find(b"%|")) >= 0 and (
            match := BAR.search(line, max(percent - 3, 0)) or SCALED_BAR.search(line, max(percent - 3, 0))
        ):
            before = line[: match.start()]
            if self._take_bar(before, match) and before.strip():
                self._line(before)
            line = line[match.end() :]
        return line

    def _take_bar(self, before: bytes, match: re.Match[bytes]) -> bool:
        """Reads one bar. Returns whether the text before it is a line of its own rather than its description."""
        spelled, of, left, rate, postfix = match.groups()
        step, total = (int(spelled), int(of)) if match.re is BAR else (bar_count(spelled), bar_count(of))
        said = as_text(before).strip() if before else ""
        described, counts_steps = said.endswith(":"), rate.endswith(_STEPS_A_SECOND)
        work, values = TRAINING, _NO_VALUES
        if counts_steps and not described and counts_bytes(total, rate):
            return self._downloads(step, total)
        # At 0 a postfix is that of the step being done, or of the epoch before.
        if postfix and (described or (step and step != self._bar_said)):
            values = bar_values(postfix)
        if described or not counts_steps:
            unit = "" if counts_steps else bar_unit(rate)
            work = work_of(said if described else "", unit, any(map(is_loss, values)))
        fits = work is TRAINING and (described or self._head.counts(total))
        if fits and self._bar.is_this(step, total, self._trained):
            self._training_bar(step, total, left, said if described else "", values)
        elif work is EPOCHS:
            self._in_epoch(float(step), total)
        elif work is TRAINING or work is EVALUATING:
            self._phase.name = "evaluating" if self._trained or self._bar.evaluating else self._phase.name
        else:
            unit = "" if counts_steps else bar_unit(rate)
            self._prepares(Doing.of(work, said if described else "", step, total, unit))
        return not described

    def _downloads(self, step: int, total: int) -> bool:
        """Before its rate is known, its bar may have been taken for the training's. Returns what `_take_bar` does."""
        if self._bar.was_none(total, self._trained):
            self._progress, self._bar_at = None, 0
            self._phase.becomes(self._phase.reached)
        self._prepares(Doing.of("downloading", "", step, total, "B"))
        return True

    def _training_bar(self, step: int, total: int, left: bytes, description: str, values: dict[str, float]) -> None:
        bar = self._bar
        if step < bar.step:
            self._bar_said = None  # the next epoch's
        # tqdm.write draws it again, also where what it wrote waits in a buffer. At its total, its end does so as well.
        rewritten = 0 < step == bar.step < total and not description and step != self._bar_said
        self._dicts_follow = self._dicts_follow or rewritten or len(self._held) > self._held_others
        self._waited_in_vain = False
        bar.step = step
        counted, epoch = step, None
        whole: int | None = total
        if description or self._epochs.epoch is not None:
            epoch = self._bar_epoch(description)
        if epoch is not None or self._bar_epochs.of:
            self._bar_epochs.rank(None).redraws(step, total, epoch)
            counted = self._bar_epochs.count(None, step, total, epoch)
            if not (description and _OF_ALL_EPOCHS.match(description)):
                whole = self._bar_epochs.rank(None).whole(total, self._bar_epochs.epochs)
        self._bar_at = self._bar_epochs.rank(None).furthest if self._bar_epochs.of else counted
        self._progress = (counted, whole, left.decode("ascii", "replace") if whole == total else None)
        if step >= 1 and not bar.over:
            self._phase.name = "training"
            if self._times.begun:
                self._add_timed(self._times.script_is_at(counted))
        if self._held:
            self._release(counted)
        if step and step != self._bar_said:
            values = described_values(description) | values if description else values
            if values:
                self._drawn(values, step, counted, epoch)

    def _bar_epoch(self, description: str) -> float | None:
        """The epoch of a training's bar, if the bar or a line before it says so."""
        epoch, epochs = bar_epoch(description) if description else (None, None)
        if epoch is not None:
            self._in_epoch(epoch, epochs)
            self._bar_epochs.named(epoch, epochs)
        elif self._epochs.epoch is not None:
            epoch, self._bar_epochs.epochs = self._epochs.epoch, self._epochs.epochs
        return epoch

    def _prepares(self, doing: Doing) -> None:
        """A bar without a description that filled up before training belonged to a preparation, too."""
        if self._trained:
            return
        if self._bar.total is not None and self._bar.step >= self._bar.total and not self._bar.over:
            self._phase.becomes(self._phase.reached)
        self._phase.prepares(doing)

    def _nested(self) -> None:
        """The last bar was nested in one that continues: an evaluation within a training."""
        if self._bar.was_nested():
            self._progress = (self._bar.step, self._bar.total, None)
            self._phase.name = "evaluating"

    def _drawn(self, values: Mapping[str, float], step: int, counted: int, epoch: float | None) -> None:
        """A bar is redrawn at the same step: the first redraw with numbers counts."""
        self._bar_said = step
        self._note_loss(values)
        self._add(Point(counted, epoch, values), "")
        self.ending.trains(self._last_loss)

    def _last_bar(self, block: bytes, start: int) -> int:
        """The beginning of the last of the following redraws that only advance the training's bar: it says what all of
        them say."""
        step, total = self._bar.step, self._bar.total
        if total is None or self._held or self._times.begun:
            return start
        begins = start
        while match := BARE_BAR.match(block, start):
            if int(match[2]) != total or (drawn := int(match[1])) <= step:
                break
            step, begins, start = drawn, start, match.end()
        return begins

    # -- readings --------------------------------------------------------------------------------------------------

    def _apply(self, reading: Reading, text: str) -> None:
        form = reading.form
        if self._engine_told and self._trains_after(reading, self._engine_told[0]):
            self._engine_told = None  # a line that says the same is of an engine that trains after it
        if form is _PLAIN or form is _PATTERN:
            self._plain(reading, text)
        elif form is _DICT:
            self._dict(reading, text)
        elif form in _OF_ENGINE:
            self._engine(reading)
        elif form is Form.OVERFLOW:
            self._skips_step(reading, text)
        elif form in _BESIDE:
            self._points.append(Point(self._step(), None, reading.values, rank=reading.rank))
        elif form is Form.EPOCH:
            self._begins_epoch(reading)
        else:
            self._timed(reading)

    def _trains_after(self, reading: Reading, since: int) -> bool:
        """Whether it tells that the training has gone on since an engine's line of this step."""
        if reading.form not in _OF_ENGINE and reading.step not in (None, since):
            return True
        return any(is_loss(name) for name in reading.values)

    def _plain(self, reading: Reading, text: str) -> None:
        self._judges(reading)
        self._sets_apart(reading, text)
        values, rank, step = reading.values, reading.rank, reading.step
        self._tells_speed = self._tells_speed or _SPEED in values
        if "loss" in values:
            self._last_loss = values["loss"]
        source = SOURCE if reading.form is _PATTERN else OUTPUT
        if reading.epoch is None:
            reading.epoch = self._epochs.epoch
        else:
            self._in_epoch(reading.epoch, reading.epochs)
            self._epochs.named(reading.epoch, reading.epochs)
        epoch = reading.epoch
        if step is None:
            if self._bar.total is not None and source is OUTPUT:
                self._held_others += 1
                self._hold(reading, text)
            else:
                point = Point(self._step_if_none(reading), epoch, values, reading.kind, rank, source)
                by_engine = reading.kind == "train" and source is OUTPUT and self._leads(rank)
                for one, told in self._losses.takes(point, text) if by_engine else [(point, text)]:
                    self._add(one, told)
            return
        counted = step
        if epoch is not None or self._epochs.of:
            counted = self._epochs.count(rank, step, reading.total, epoch, reading.kind == "train")
        if reading.kind == "train" and self._leads(rank):
            if self._times.begun:
                self._add_timed(self._times.script_is_at(counted))
            self._progress = (counted, self._whole(rank, reading.total), None)
        self._add(Point(counted, epoch, values, reading.kind, rank, source), text)

    def _leads(self, rank: int | None) -> bool:
        """Whether progress is told by what this rank prints: that is rank 0, or the only one that prints its steps, as
        Megatron's last one does."""
        if not rank:
            self._leader = 0
        elif self._leader is None:
            self._leader = rank
        return not rank or self._leader == rank

    def _judges(self, reading: Reading) -> None:
        """`ppl: 7.5, loss: 2.0` right after `***** Evaluating perplexity *****` is the announced evaluation."""
        if self._judging and reading.step is None and reading.kind == "train" and reading.form is _PLAIN:
            reading.kind, reading.values = "eval", as_evaluation(reading.values)
        self._judging = False

    def _sets_apart(self, reading: Reading, text: str) -> None:
        """nanoGPT's `step 250: train loss 2.1, val loss 2.2` among lines `iter 250: loss 2.3`: means over many batches,
        computed as an evaluation is. On the curve of the steps' losses, a step would have two points."""
        if not self._iterates and _ITERATION.search(text):
            self._iterates = True
            self._shapes.forget()  # the one of means
        if self._iterates and "eval_loss" in reading.values and _MEANS.search(text):
            reading.values = {"train_loss" if name == "loss" else name: one for name, one in reading.values.items()}

    def _begins_epoch(self, reading: Reading) -> None:
        """`Epoch 2/5`, on a line of its own: what follows belongs to that epoch."""
        self._judging, self._bar_said = False, None
        if not self._epochs_begin or reading.epoch is None:
            return
        if self._held and all(one.reading.kind == "eval" and one.reading.form is _PLAIN for one in self._held):
            self._release(self._bar_at)  # of the epoch that is over
        self._epochs.epoch = reading.epoch
        self._epochs.named(reading.epoch, reading.epochs)
        self._in_epoch(reading.epoch, reading.epochs)

    @property
    def _epochs_begin(self) -> bool:
        """Whether epochs may begin with a line of their own: not after training has begun without one."""
        return not self._trained or self._epochs.epoch is not None

    def _whole(self, rank: int | None, total: int | None) -> int | None:
        if total is None or rank not in self._epochs.of:
            return total
        epochs = self._epochs.rank(rank)
        return epochs.whole(total, self._epochs.epochs if epochs.begins_again else None)

    def _in_epoch(self, epoch: float, epochs: int | None) -> None:
        if epoch == epoch:  # a number
            known = self._epoch.epochs if self._epoch else None
            self._epoch = Epoch(epoch, epochs if known is None else known)

    def _dict(self, reading: Reading, text: str) -> None:
        if reading.step is not None or self._held_others or not self._dicts_follow:
            self._age_held()
        self._judging = False
        if "loss" in reading.values:
            self._last_loss = reading.values["loss"]
        if self._bar.over:
            if reading.kind == "train":
                self._bar.begins()
        elif reading.kind == "final":
            self._bar.ends()
        if reading.step is not None:
            if reading.kind != "eval" and self._leads(reading.rank):
                if self._times.begun:
                    self._add_timed(self._times.script_is_at(reading.step))
                if self._bar.total is None:
                    whole = reading.total or (self._progress[1] if self._progress else None)
                    self._progress = (reading.step, whole, None)
            self._add(Point(reading.step, reading.epoch, reading.values, reading.kind, reading.rank), text)
            return
        self._hold(reading, text)
        if self._bar.total is None and (self._trainer is None or self._trainer.knows(reading)):
            self._release(None, drawn=False)
        elif self._waited_in_vain:
            self._gives_up()

    def _engine(self, reading: Reading) -> None:
        step = reading.step
        assert step is not None
        if reading.form is Form.SPEED:  # counts from where it was resumed; its step's progress line comes first
            step = max(step, self._engine_at)
        elif step and (step, reading.rank) == self._engine_told:
            return  # of the script's second engine: the critic beside the actor, a GAN's other network
        else:
            self._engine_at, self._engine_told = step, (step, reading.rank)
            self._losses.engine_is_at(step)
        self._skipped = int(reading.values.get("skipped_steps", self._skipped))
        timed = self._times.engine_is_at(step)
        self._add_timed(timed)
        values = reading.values
        if self._tells_speed and _SPEED in values:  # its mean since the beginning, beside what the script says
            values = {name: value for name, value in values.items() if name != _SPEED}
        self._add(Point(step, None, values, rank=reading.rank), "")
        if self._bar.total is None and (self._progress is None or self._progress[1] is None):
            self._progress = (step, None, None)

    def _skips_step(self, reading: Reading, text: str) -> None:
        """`reading.step` is the optimizer's own count, where each rank says it."""
        if (told := reading.step) is not None:
            if self._overflown - _RANKS_APART <= told <= self._overflown:
                return
            self._overflown = told
        self._skipped += 1
        step = self._step()
        values = {**reading.values, "skipped_steps": float(self._skipped)}
        self._points.append(Point(step, None, values, rank=reading.rank))
        self._happenings.overflow(text, step)

    def _timed(self, reading: Reading) -> None:
        """Before the first one there was no need to know the current step."""
        if not self._times.begun and (step := self._step()):
            self._times.script_is_at(step)
        self._add_timed(self._times.takes(reading))

    def _add_timed(self, timed: list[Timed]) -> None:
        for reading, step in timed:
            if step and self._bar.total is None and self._progress and step > self._progress[0]:
                self._progress = (step, *self._progress[1:])
            self._points.append(Point(step, None, reading.values, rank=reading.rank))

    def _add(self, point: Point, text: str) -> None:
        self._points.append(point)
        if point.kind == "train":
            self._trained = True
            self._phase.name = "training"
            return
        if point.kind == "eval":
            self._happenings.add("evaluation", text.strip() or "Evaluation", point.step)
        self._trained = self._trained or point.kind == "final"
        self._remember(point)

    def _remember(self, point: Point) -> None:
        """Remembers what a block of metrics may repeat."""
        step, told = self._told.get(point.kind, (None, {}))
        self._told[point.kind] = point.step, (told if step == point.step else {}) | dict(point.values)

    # -- blocks ----------------------------------------------------------------------------------------------------

    def _announced(self, text: str) -> bool:
        """`***** eval metrics *****`, `***** Running Evaluation *****`."""
        if self._metrics.begins(text):
            return True
        match = _ANNOUNCED.search(text)
        if not match:
            return False
        what = (match["what"] or "").lower()
        self._head.ends()
        self._judging = what != "training"
        self._announcement, self._patience = text, PATIENCE if self._judging else 0
        if not what:
            self._phase.name = "evaluating"
        elif what != "training":
            self._bar.evaluating, self._phase.name = True, "evaluating"
        elif not self._trained or self._bar.over:
            self._lets_go()
            self._bar.begins()
            self._head.begins()
            self._trainer = None
            self._progress = self._progress if self._trained else None
        return True

    def _knows_total(self) -> None:
        """The training's head tells how many steps it will have, and where it goes on."""
        total, per_epoch = self._head.total, self._head.per_epoch
        if total is None:
            return
        if per_epoch:
            self._trainer = TrainerSteps(total, per_epoch, self._head.begun_at)
        if self._bar.total is None and not self._trained:
            self._progress = (self._head.begun_at, total, None)

    def _in_block(self, text: str) -> bool:
        """Whether the line belongs to a block of metrics; what it says for the first time becomes a point."""
        metric = self._metrics.line(text)
        if metric is None:
            return False
        step, (at, told) = self._step(), self._told.get(metric.kind, (None, {}))
        if metric.name == "epoch" or (at == step and metric.repeats(told)):
            return True
        point = Point(step, self._metrics.epoch, {metric.name: metric.value}, metric.kind)
        self._points.append(point)
        if metric.kind == "eval" and not (told and at == step):
            self._happenings.add("evaluation", "Evaluation", step)
        self._remember(point)
        return True

    def _in_step(self, text: str) -> bool:
        """Whether the line belongs to a step's block."""
        reading = self._step_block.line(text)
        if reading and reading.values:
            self._apply(reading, text)
            self.ending.trains(self._last_loss)
        return reading is not None

    def _step(self) -> int | None:
        return self._progress[0] if self._progress else None

    def _step_if_none(self, reading: Reading) -> int | None:
        """The step for a line that has none: an evaluation takes the training's."""
        return None if reading.kind == "train" else self._step()

    def _note_loss(self, values: Mapping[str, float]) -> None:
        self._last_loss = next((value for name, value in values.items() if is_loss(name)), self._last_loss)

    # -- held ------------------------------------------------------------------------------------------------------

    def _hold(self, reading: Reading, text: str) -> None:
        """Until the bar is drawn. Where dicts follow it, they may come late and many at once; elsewhere they age each
        other."""
        self._held.append(_Held(reading, text))
        if len(self._held) > MOST_LATE:
            self._gives_up()

    def _release(self, step: int | None, drawn: bool = True) -> None:
        """`drawn`: the bar shows this step after them."""
        if not self._held:
            return
        held, self._held = self._held, []
        self._held_others = 0
        dicts = [one.reading for one in held if one.reading.form is _DICT]
        late = iter(self._late(dicts, step, drawn))
        for one in held:
            reading = one.reading
            at = self._step_if_none(reading) if step is None else step
            placed = next(late, None) if reading.form is _DICT else None
            at = at if placed is None else placed
            self._add(Point(at, reading.epoch, reading.values, reading.kind, reading.rank), one.text)

    def _late(self, dicts: Sequence[Reading], step: int | None, drawn: bool) -> Sequence[int | None]:
        """The steps of dicts that the bar drawn next does not tell; none where it does."""
        if self._trainer and dicts and not drawn:
            steps = self._trainer.steps(dicts)
            if steps[-1] is not None and (self._progress is None or steps[-1] > self._progress[0]):
                self._progress = (steps[-1], self._trainer.total, None)
            elif steps[-1] is None and self._progress and not self._progress[0]:
                self._progress = None  # the head's 0 is no longer where it is
            return steps
        if self._trainer and step and len(dicts) > 1:
            return self._trainer.steps(dicts, step)
        if self._trainer and step and dicts:
            self._trainer.drawn(dicts[0], step)
        return self._bursts.steps(dicts, step) if step and len(dicts) > 1 else ()

    def _age_held(self) -> None:
        for one in self._held:
            one.lines += 1
        if self._held and self._held[0].lines >= BAR_PATIENCE:
            self._gives_up()

    def _gives_up(self) -> None:
        """The bar wasn't drawn again: no dict waits until it is, so that a live curve isn't late."""
        self._waited_in_vain, self._dicts_follow = True, False
        self._lets_go()

    def _lets_go(self) -> None:
        """No bar will be drawn after what is held."""
        self._release(self._bar_at if self._bar.total is not None else None, drawn=False)


def _says_more(lowered: bytes) -> bool:
    """Whether a line has an effect beyond its numbers."""
    for word in BEYOND_NUMBERS:  # noqa: SIM110 — any() takes twice as long
        if word in lowered:
            return True
    return False
