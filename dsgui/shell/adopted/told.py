"""What the files of one training tell, read within bounds: its points with their times, and with what it was made."""

import math
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dsgui.core.adopted.found_settings import object_of, step_of, total_of, words_of_state
from dsgui.core.adopted.line_times import Unclear
from dsgui.core.adopted.lying import Group, Kind, Lying
from dsgui.core.adopted.timed import Timed, furthest, lent, timed_points, without_repeated
from dsgui.core.diagnosis.ending import Ending
from dsgui.core.launch.checkpoint import HF_FOLDER
from dsgui.core.launch.state import RunState
from dsgui.core.metrics.event_file import EventFile, Scalar
from dsgui.core.metrics.logged_files import Batch, CsvFile, history_points
from dsgui.core.metrics.points import Point
from dsgui.core.sizes import file_size
from dsgui.core.texts.saying import Said, listed, said
from dsgui.shell.adopted.recognising_files import LEAST_POINTS, points_in
from dsgui.shell.adopted.walking import open_inside, read_inside
from dsgui.shell.files.json_files import UNREADABLE, why_unreadable

_PIECE_BYTES = 1 << 20
_MOST_STATE_BYTES, _MOST_TABLE_BYTES = 32 << 20, 64 << 20
_MOST_EVENT_BYTES, _MOST_EVENT_FILES = 256 << 20, 300  # of one training
MOST_VALUES = 500_000
_MOST_STATES = 5
_MOST_NAMED = 5
_MOST_ALIKE = 3
_PROBED_BYTES = 1 << 20
_MADE = (".jsonl", ".csv")
_UNCLEAR = {Unclear.AMBIGUOUS: "times_ambiguous", Unclear.BACKWARDS: "times_backwards"}


@dataclass(slots=True)
class Told:
    """`points` are in the order in which they are to be kept: what reaches furthest comes last. `log` is the file
    that is its output. `damaged` are those that may be half written. `arguments` and `model` are what the HF
    Trainer logs of them beside its scalars (transformers/integrations, TensorBoardCallback), {} where it does not.
    `read` are the files that were looked at, `notes` what of them was not understood. `span`: when the first and
    the last value was logged, unix seconds; or else `lasted_s`: how long it trained until then. `goes_beyond`: more was
    logged after that, nobody knows when. `ending`, `phase` and `state`: what its log says of how it ended, and how far
    it had come."""

    points: list[Timed] = field(default_factory=list)
    notes: list[Said] = field(default_factory=list)
    read: list[Lying] = field(default_factory=list)
    damaged: list[Lying] = field(default_factory=list)
    log: Lying | None = None
    words: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    total: int | None = None
    step: int = -1
    span: tuple[float, float] | None = None
    lasted_s: float | None = None
    goes_beyond: bool = False
    ending: Ending | None = None
    phase: str = "training"
    state: RunState = RunState.ELSEWHERE

    def note(self, code: str, **given: str | Said) -> None:
        self.notes.append(said("adopted", code, **given))

    def note_unclear(self, why: Unclear, log: Lying) -> None:
        """Why a log's own times are not used."""
        self.note(_UNCLEAR[why], file=log.path)

    @property
    def short_notes(self) -> tuple[Said, ...]:
        """Of many that say the same of one file each, the first few."""
        codes = Counter(note.code for note in self.notes)
        shown: list[Said] = []
        for code, count in codes.items():
            shown += [note for note in self.notes if note.code == code][:_MOST_ALIKE]
            if count > _MOST_ALIKE:
                shown.append(said("adopted", "more_notes", count=str(count - _MOST_ALIKE)))
        return tuple(shown)


class Reader:
    """Of one training, in the folder `root` that was named. `batch` is how many samples a step has, where its config
    says so."""

    def __init__(self, root: Path, group: Group, batch: int | None = None) -> None:
        self._root, self._group, self._batch = root, group, Batch(batch)
        self._told = Told()
        self._left = MOST_VALUES

    def read(self) -> Told:
        """No file raises: what is wrong with one is among the notes."""
        events = self._events()
        states = lent(self._state(), events)
        tables = lent(self._tables(), events)
        for part in sorted((events, tables, states), key=furthest):
            self._told.points += part
        self._told.log = self._log()
        if self._left <= 0:
            self._told.note("many_values", count=f"{MOST_VALUES:,}")
        return self._told

    def _files(self, kind: Kind) -> Sequence[Lying]:
        return self._group.files.get(kind, ())

    def _try(self, one: Lying, read: Callable[[], None]) -> None:
        try:
            read()
        except UNREADABLE as error:
            self._told.note("unreadable", file=one.path, why=why_unreadable(error))
        else:
            self._told.read.append(one)

    # -- trainer_state.json ----------------------------------------------------------------------------------------

    def _state(self) -> list[Point]:
        """Of the state that was written last: each tells all that was logged until then."""
        found = sorted(self._files(Kind.STATE), key=_by_step, reverse=True)
        states = [state for one in found[:_MOST_STATES] if (state := self._state_in(one))]
        if not states:
            return []
        last = max(states, key=step_of)
        self._told.words, self._told.total, self._told.step = words_of_state(last), total_of(last), step_of(last)
        entries = last["log_history"][:MOST_VALUES]
        points = history_points(entries)
        self._left -= sum(len(point.values) for point in points)
        return points

    def _state_in(self, one: Lying) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def read() -> None:
            if one.size > _MOST_STATE_BYTES:
                self._told.note("too_large", file=one.path, size=file_size(one.size), most=file_size(_MOST_STATE_BYTES))
                return
            state = object_of(read_inside(self._root, one.path, _MOST_STATE_BYTES))
            if isinstance(state.get("log_history"), list):
                found.update(state)
            else:
                self._told.note("state_damaged", file=one.path)
                self._told.damaged.append(one)

        self._try(one, read)
        return found

    # -- event files -----------------------------------------------------------------------------------------------

    def _events(self) -> list[Timed]:
        files = sorted(self._files(Kind.EVENTS), key=lambda one: (posixpath.basename(one.path), one.path))
        if len(files) > _MOST_EVENT_FILES:
            self._told.note("many_files", count=str(len(files)), most=str(_MOST_EVENT_FILES))
        scalars, room = list[list[Scalar]](), _MOST_EVENT_BYTES
        for one in files[:_MOST_EVENT_FILES]:
            told = list[Scalar]()
            most = room
            self._try(one, partial(self._scalars, one, told, most))
            room = max(room - one.size, 0)
            if told:
                scalars.append(told)
        begun = sorted(scalars, key=lambda told: told[0].wall_time)
        return list(timed_points(without_repeated(begun), self._batch))

    def _scalars(self, one: Lying, told: list[Scalar], most_bytes: int) -> None:
        reader, read = EventFile(), 0
        with open_inside(self._root, one.path) as file:
            while read < most_bytes and self._left > 0 and (piece := file.read(_PIECE_BYTES)):
                read += len(piece)
                found = reader.feed(piece)
                told += found
                self._left -= len(found)
                if reader.broken:
                    break
        self._told.arguments = object_of(reader.texts.get("args", "")) or self._told.arguments
        self._told.model = object_of(reader.texts.get("model_config", "")) or self._told.model
        if reader.broken:
            self._told.note("events_damaged", file=one.path, byte=f"{reader.read_bytes:,}")
        elif read < one.size and self._left > 0:
            self._told.note("too_large", file=one.path, size=file_size(one.size), most=file_size(read))

    # -- csv_monitor -----------------------------------------------------------------------------------------------

    def _tables(self) -> list[Point]:
        """Those first that tell how many samples a step has."""
        points: list[Point] = []
        for one in sorted(self._files(Kind.CSV), key=lambda one: ("lr" not in one.path, one.path)):
            self._try(one, partial(self._table, one, points))
        return points

    def _table(self, one: Lying, points: list[Point]) -> None:
        stem = posixpath.basename(one.path).removesuffix(".csv")
        table, read = CsvFile(stem, self._batch), 0
        with open_inside(self._root, one.path) as file:
            while read < _MOST_TABLE_BYTES and self._left > 0 and (piece := file.read(_PIECE_BYTES)):
                read += len(piece)
                found = table.feed(piece)
                points += found
                self._left -= len(found)
        points += table.finish()
        if table.bad_rows:
            self._told.note("bad_rows", file=one.path, count=str(table.bad_rows))
        if read < one.size and self._left > 0:
            self._told.note("too_large", file=one.path, size=file_size(one.size), most=file_size(read))

    # -- the log ---------------------------------------------------------------------------------------------------

    def _log(self) -> Lying | None:
        """The one that tells most: several, one after the other, would be one training that begins again."""
        files = self._files(Kind.LOG)
        if len(files) < 2:
            return files[0] if files else None
        best = max(files, key=self._tells)
        others = [one.path for one in files if one is not best]
        shown = listed(others[:_MOST_NAMED])
        self._told.note("other_logs", file=best.path, others=shown, count=str(len(others)))
        return best

    def _tells(self, one: Lying) -> tuple[bool, int, int]:
        """What was printed rather than what a tool has made of it."""
        try:
            points = points_in(read_inside(self._root, one.path, _PROBED_BYTES))
        except OSError:
            return False, 0, 0
        return points >= LEAST_POINTS and not one.path.endswith(_MADE), points, one.size


def _by_step(one: Lying) -> float:
    """The output folder's own state is the last."""
    match = HF_FOLDER.match(posixpath.basename(one.folder))
    return int(match[1]) if match else math.inf


def names_of(files: Iterable[Lying]) -> str | Said:
    """The first of them, for a sentence."""
    return listed([one.path for one in files][:_MOST_NAMED])
