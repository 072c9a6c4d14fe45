"""Watches the files that a run's script writes its points to, beside what it prints.

A thread does the looking: a disk that hangs or a file that takes long to read holds up nobody. What is there before the
run begins is not its own; of that only what is added is read.
"""

import os
import pickle
import socket
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dsgui.core.launch.checkpoint import HF_FOLDER, STATE_FOLDER
from dsgui.core.launch.log_folders import NEWEST, Sources
from dsgui.core.metrics.event_file import EventFile, writer_of
from dsgui.core.metrics.logged_files import Batch, CsvFile, ScalarPoints, history, history_points
from dsgui.core.metrics.points import Point
from dsgui.core.texts.saying import said
from dsgui.shell.files.regular_files import kind_of
from dsgui.shell.logs.records import note

LOOK_S, HURRY_S = 2.0, 0.5
_PIECE_BYTES, _LOOK_BYTES = 1 << 16, 1 << 18  # of one file, of all of them, in one look
_MOST_STATE_BYTES = 64 << 20
_MOST_FOLDERS, _MOST_FILES = 300, 100
_MOST_WAITING = 50_000  # points that nobody has taken yet
_LAST_LOOKS = 1000
# A working directory may hold anything: of what lies there a bounded part is listed, and not with every look.
_SEARCH_EACH = 4
_MOST_ENTRIES = 20_000
_NOT_ENTERED = frozenset({"node_modules", "site-packages", "__pycache__", "wandb", "mlruns"})
_RUN_FILE = "plan.json"  # a run's folder, which is another's unless it is named
_EVENTS, _STATE = "events.out.tfevents.", "trainer_state.json"


@dataclass(slots=True)
class _Growing:
    """A file that is read as it grows; `feed` is given what was added."""

    path: Path
    offset: int
    feed: Callable[[bytes], list[Point]]
    finish: Callable[[], list[Point]]


@dataclass(slots=True)
class _EventReader:
    """TensorBoard's file, up to where it is broken."""

    path: Path
    scalars: ScalarPoints
    file: EventFile = field(default_factory=EventFile)
    done: bool = False

    def feed(self, data: bytes) -> list[Point]:
        if self.done:
            return []
        points = self.scalars.take(self.file.feed(data))
        if self.file.broken:
            self.done = True
            note(f"{self.path}: not read beyond byte {self.file.read_bytes}: {self.file.broken}")
        return points


class Watch:
    """The files of one run, looked at when asked. Made before the run begins. No method raises for what is on the disk;
    memory is bounded whatever the files hold. `is_foreign` tells whether a living process of this machine belongs to
    something else: two runs may write to one folder."""

    def __init__(self, sources: Sources, is_foreign: Callable[[int], bool] = lambda pid: False) -> None:
        self._sources, self._batch, self._is_foreign = sources, Batch(sources.batch), is_foreign
        self._foreign: set[Path] = set()
        self._growing: dict[Path, _Growing] = {}
        self._events = ScalarPoints(self._batch)
        self._seen_states = dict(self._states())
        self._entries = len(history(self._resumed()))
        self._before = dict([*self._files(), *self._search()])
        self._turn = 0
        self.more = False
        self.moved = True  # something is another than it was at the last look

    def look(self) -> list[Point]:
        """What was added since the last look, a bounded part of it; `more` says whether something is left."""
        known = len(self._growing) + len(self._foreign)
        points = self._new_states()
        self.moved = bool(points)
        self._turn += 1
        self._meet_files(self._files())
        if self._turn % _SEARCH_EACH == 1:
            self._meet_files(self._search())
        points += self._read_files()
        self.moved |= known != len(self._growing) + len(self._foreign)
        return points

    def finish(self) -> list[Point]:
        """What was written since the last look, and what waited for something that did not come."""
        points: list[Point] = []
        self._meet_files(self._search())
        for _ in range(_LAST_LOOKS):
            points += self._read_files()
            if not self.more:
                break
        return points + [point for file in self._growing.values() for point in file.finish()] + self._events.finish()

    # -- what grows ------------------------------------------------------------------------------------------------

    def _read_files(self) -> list[Point]:
        points: list[Point] = []
        self.more, read = False, 0
        files = list(self._growing.values())
        first = self._turn % len(files) if files else 0
        for file in files[first:] + files[:first]:
            if read >= _LOOK_BYTES:
                self.more = True
                break
            piece = _read_on(file)
            read += len(piece)
            self.more |= len(piece) == _PIECE_BYTES
            points += file.feed(piece) if piece else []
            self.moved |= bool(piece)
        return points

    def _meet_files(self, files: Iterable[tuple[Path, int]]) -> None:
        for path, size in files:
            if path not in self._growing and path not in self._foreign and len(self._growing) < _MOST_FILES:
                self._meet(path, size)

    def _meet(self, path: Path, size: int) -> None:
        before = self._before.get(path)
        if path.suffix == ".csv":
            csv = CsvFile(path.stem, self._batch)
            # One that is shorter than it was before the run was written anew.
            begin = before if before is not None and before <= size else 0
            self._growing[path] = _Growing(path, begin, csv.feed, csv.finish)
        elif before is None:  # a writer never goes on with another's event file
            writer = writer_of(path.name)
            if writer and writer[0] == socket.gethostname() and self._is_foreign(writer[1]):
                self._foreign.add(path)
            else:
                reader = _EventReader(path, self._events)
                self._growing[path] = _Growing(path, 0, reader.feed, list)

    def state(self) -> bytes:
        """Where each file stands, for `restored`."""
        return pickle.dumps({name: value for name, value in vars(self).items() if name != "_is_foreign"})

    @classmethod
    def restored(cls, state: bytes, is_foreign: Callable[[int], bool]) -> "Watch":
        """One that goes on where another stood."""
        watch = cls.__new__(cls)
        vars(watch).update(pickle.loads(state), _is_foreign=is_foreign)
        return watch

    def _files(self) -> Iterator[tuple[Path, int]]:
        """Each regular file that may hold points, with its size."""
        for folder in self._sources.csv:
            for entry, found in _regular_files(Path(folder)):
                if entry.name.endswith(".csv"):
                    yield Path(entry.path), found.st_size
        for folder, depth in self._sources.events:
            for below in _folders(Path(folder), depth):
                for entry, found in _regular_files(below):
                    if entry.name.startswith(_EVENTS):
                        yield Path(entry.path), found.st_size

    def _search(self) -> Iterator[tuple[Path, int]]:
        for folder, depth in self._sources.searched:
            yield from _event_files(Path(folder), depth)

    # -- what is replaced ------------------------------------------------------------------------------------------

    def _new_states(self) -> list[Point]:
        """From the newest of those that changed: each tells all that was logged until then."""
        changed = [(found, path) for path, found in self._states() if self._seen_states.get(path) != found]
        if not changed:
            return []
        self._seen_states |= {path: found for found, path in changed}  # one that is half written changes again
        (_, size), path = max(changed)
        entries = history(_read_whole(path)) if size <= _MOST_STATE_BYTES else []
        new, self._entries = entries[self._entries :], max(len(entries), self._entries)
        return history_points(new)

    def _states(self) -> Iterator[tuple[Path, tuple[int, int]]]:
        """Each trainer_state.json with when it was changed (ns) and its size."""
        for folder, depth in self._sources.states:
            for below in _folders(Path(folder), depth + 1):
                path = below / _STATE
                with suppress(OSError):
                    found = path.lstat()
                    if stat.S_ISREG(found.st_mode):
                        yield path, (found.st_mtime_ns, found.st_size)

    def _resumed(self) -> bytes:
        """The state of the checkpoint that the run goes on from: what is in it was logged by another run."""
        asked = self._sources.resumes
        if asked != NEWEST:
            return _read_whole(Path(asked, _STATE)) if asked else b""
        before = [(int(match[1]), path) for path in self._seen_states if (match := HF_FOLDER.match(path.parent.name))]
        return _read_whole(max(before)[1]) if before else b""


class SourceReader:
    """A thread that watches, and what it has found."""

    def __init__(self, watch: Watch, look_s: float = LOOK_S, found: Iterable[Point] = ()) -> None:
        self._watch, self._look_s = watch, look_s
        self._found: deque[Point] = deque(found)
        self._watched = watch.state()
        self._giving = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sources", daemon=True)

    def start(self) -> None:
        """Once, when the run has begun."""
        self._thread.start()

    def take(self) -> list[Point]:
        """What was found since the last call; waits for nothing."""
        with self._giving:
            points, self._found = list(self._found), deque()
        return points

    def state(self) -> tuple[bytes, list[Point]]:
        """Of the watch, and what was found until then and not taken."""
        with self._giving:
            return self._watched, list(self._found)

    def finish(self, timeout_s: float = 10.0) -> list[Point]:
        """The last look, after the run's processes have ended; a disk that takes longer is left alone."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return self.take()

    def _work(self) -> None:
        while not self._ending.wait(HURRY_S if self._watch.more else self._look_s):
            if len(self._found) < _MOST_WAITING:
                self._give(self._watch.look())
        for _ in range(_LAST_LOOKS):
            self._give(self._watch.look())
            if not self._watch.more:
                break
        self._give(self._watch.finish())

    def _give(self, points: list[Point]) -> None:
        watched = self._watch.state() if self._watch.moved or points else self._watched
        with self._giving:
            self._found += points
            self._watched = watched


# --- the disk ---------------------------------------------------------------------------------------------------------


def _regular_files(folder: Path) -> Iterator[tuple["os.DirEntry[str]", os.stat_result]]:
    """Those of a folder itself; links, pipes and devices are none."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    yield entry, found
    except OSError:
        return


def _event_files(root: Path, depth: int) -> Iterator[tuple[Path, int]]:
    """TensorBoard's files in a folder and below it, those changed last first, with their sizes. Folders of checkpoints,
    of other runs and of installed packages are not entered."""
    level, left = [root], _MOST_ENTRIES
    for deeper in range(depth, -1, -1):
        below: list[tuple[int, Path]] = []
        for folder in level[:_MOST_FOLDERS]:
            entries = _entries(folder, left)
            left -= len(entries)
            if folder != root and any(entry.name == _RUN_FILE for entry in entries):
                continue
            for entry in entries:
                with suppress(OSError):
                    if entry.name.startswith(_EVENTS):
                        found = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(found.st_mode):
                            yield Path(entry.path), found.st_size
                    elif deeper and _may_hold_events(entry):
                        below.append((-entry.stat(follow_symlinks=False).st_mtime_ns, Path(entry.path)))
        level = [path for _, path in sorted(below)]


def _entries(folder: Path, limit: int) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, max(limit, 0)))
    except OSError:
        return []


def _may_hold_events(entry: "os.DirEntry[str]") -> bool:
    name = entry.name
    skipped = name.startswith(".") or name in _NOT_ENTERED or HF_FOLDER.match(name) or STATE_FOLDER.match(name)
    return not skipped and entry.is_dir(follow_symlinks=False)


def _folders(folder: Path, depth: int) -> list[Path]:
    """The folder and those below it, a bounded number of them, those changed last first."""
    found, level = [folder], [folder]
    for _ in range(depth):
        level = [below for one in level for below in _folders_in(one)][:_MOST_FOLDERS]
        found += level
    return found[:_MOST_FOLDERS]


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            inside = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            changed = sorted((-entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in inside)
    except OSError:
        return []
    return [Path(path) for _, path in changed[:_MOST_FOLDERS]]


def _read_on(file: _Growing) -> bytes:
    """What was added, at most a piece of it."""
    try:
        size = file.path.lstat().st_size
        if size < file.offset and file.path.suffix == ".csv":
            file.offset = 0  # written anew
        if size <= file.offset:
            return b""
        piece = _read(file.path, file.offset, _PIECE_BYTES)
    except OSError:
        return b""
    file.offset += len(piece)
    return piece


def _read_whole(path: Path) -> bytes:
    try:
        return _read(path, 0, _MOST_STATE_BYTES)
    except OSError:
        return b""


def _read(path: Path, offset: int, count: int) -> bytes:
    """Raises OSError, also for what is not a regular file: a pipe would be waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(said("files", "irregular", path=str(path), kind=kind_of(os.fstat(descriptor).st_mode)))
        file.seek(offset)
        return file.read(count) or b""
