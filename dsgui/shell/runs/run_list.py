"""The list of runs as pages ask for it, a window at a time: a run that has ended is read once, others when shown."""

import os
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from dsgui.core.errors import RunError
from dsgui.core.runs.filters import unfinished
from dsgui.core.runs.listing import cant_fit, fits, ordered, ordered_by, searched_text
from dsgui.core.runs.news import Listed, RunSummary, Window
from dsgui.core.texts.languages import LANGUAGES, speaking, spoken
from dsgui.shell.files.json_files import SETTLED_NS
from dsgui.shell.runs.run_index import RunIndex
from dsgui.shell.runs.store import RunDirectory, Store

# So many are read before the first answer; what more there is is read meanwhile.
_READ_AT_ONCE = 200

Stamp = tuple[int, int, int] | None
Version = tuple[Stamp, ...]
# A run's line, and whether it stays so until the files change; None for what can't be listed.
Summarise = Callable[[RunDirectory], tuple[RunSummary, bool] | None]
# What a search compares of a run: its arguments, its config.
SettingsOf = Callable[[RunDirectory], Mapping[str, str]]
_MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class _Row:
    """`texts` are what is searched, by the reader's language. `version` is that of the files it was read from; None
    where it may change without them. `revision` counts the changes of all rows."""

    summary: RunSummary
    texts: Mapping[str, str]
    version: Version | None
    revision: int


class RunList:
    """The runs of one store, newest first."""

    def __init__(
        self,
        store: Store,
        index: RunIndex,
        opened: Callable[[str], RunDirectory],
        summarise: Summarise,
        settings: SettingsOf,
        columns: SettingsOf = lambda directory: {},
        name_of: Callable[[RunDirectory], str] = lambda directory: directory.run_id,
    ):
        """`columns` has all that a further column may show of a run, by the column; `name_of` tells what a run is
        called of which nothing else is read."""
        self._store, self._index, self._opened = store, index, opened
        self._summarise, self._settings = summarise, settings
        self._columns, self._name_of = columns, name_of
        self._compared: dict[str, tuple[Stamp, Mapping[str, str]]] = {}
        self._further: dict[str, tuple[Version, Mapping[str, str]]] = {}
        self._lock = threading.Lock()
        self._rows: dict[str, _Row] = {}
        self._rows_of: Sequence[str] = ()
        self._revision = 0
        self._labelled: set[str] = set()  # whose label was looked for
        self._archived: set[str] = set()
        self._tagged: set[str] = set()
        self._server = secrets.token_hex(4)  # what another server told counts for nothing
        self._reader: threading.Thread | None = None

    def all(self) -> list[RunSummary]:
        """Every run. Reads each that was not read before."""
        return [row.summary for row in self._read(self._index.newest_first())]

    def newest(self, count: int) -> list[RunSummary]:
        """Of those that can be read, at most so many."""
        return [row.summary for row in islice(self._read(self._index.newest_first()), count)]

    def window(self, asked: Window) -> Listed:
        """Costs what the window shows and what has changed, not how many runs there are. With words, or in another
        order than that of the launches, those that have been read are looked at; the others are read meanwhile."""
        ids = self._index.newest_first(_READ_AT_ONCE)
        self._forget_all_but(ids)
        kept = self._kept(ids, asked.archived)
        fitting, unread = self._fitting(kept, asked) if asked.words or asked.sort else (kept, 0)
        if unread or not self._index.is_ordered:
            self._read_on(bool(unread))
        held = self._held(asked.held, ids, fitting)
        strange = len(set(held).difference(fitting)) if held else 0
        fitting = [*held, *(one for one in fitting if one not in held)] if held else fitting
        rows = [*self._read(fitting[asked.first : asked.first + asked.count])]
        known, order = self._known(asked.since)
        shown = tuple(row.summary.run_id for row in rows)
        digest = f"{zlib.crc32(' '.join(shown).encode()):08x}"
        return Listed(
            total=len(kept),
            fits=len(fitting),
            unread=unread,
            ids=None if order == digest else shown,
            rows=tuple(row.summary for row in rows if row.revision > known),
            since=f"{self._server}-{max((row.revision for row in rows), default=0)}-{digest}",
            place=fitting.index(asked.find) if asked.find in fitting else None,
            archived=len(self._archived),
            archived_fit=self._archived_fit(asked),
            held=strange,
            baseline=self._baseline(asked.baseline, ids),
            unfinished=unfinished(asked.words),
            misread=None if unread or len(fitting) > strange else cant_fit(asked.words, self._keys(kept)),
            tagged=len(self._tagged if asked.archived else self._tagged - self._archived),
            more={run_id: self._more(run_id, asked.more) for run_id in shown} if asked.more else {},
            bases={one: self._called(one) for row in rows if (one := row.summary.differs_from)},
        )

    def columns(self, asked: Window) -> dict[str, bool]:
        """The further columns of the first runs that fit, and whether these runs differ there; those first that have
        several values, then those that most runs have."""
        ids = self._index.newest_first(_READ_AT_ONCE)
        kept = self._kept(ids, asked.archived)
        fitting = self._fitting(kept, asked)[0] if asked.words else kept
        known = [self._columns_of(run_id) for run_id in fitting[:_READ_AT_ONCE]]
        values: dict[str, list[str]] = {}
        for one in known:
            for code, value in one.items():
                values.setdefault(code, []).append(value)
        codes = sorted(values, key=lambda code: (len(set(values[code])) < 2, -len(values[code])))[:_MOST_COLUMNS]
        return {code: len(set(values[code])) > 1 or len(values[code]) < len(known) for code in codes}

    def _more(self, run_id: str, codes: Sequence[str]) -> dict[str, str]:
        known = self._columns_of(run_id)
        return {code: known[code] for code in codes if code in known}

    def _called(self, run_id: str) -> str:
        """By its name of now; "" of a run that was deleted."""
        if run_id in self._rows and (row := self._row(run_id)):
            return row.summary.name
        try:
            return self._name_of(self._opened(run_id))
        except RunError:
            return ""

    def _columns_of(self, run_id: str) -> Mapping[str, str]:
        """Read once, as long as its files are the same."""
        folder = f"{self._store.runs_dir}/{run_id}"
        version = tuple(_stamp(f"{folder}/{name}") for name in ("plan.json", "points.bin"))
        known = self._further.get(run_id)
        if known is None or known[0] != version:
            try:
                known = version, self._columns(self._opened(run_id))
            except (RunError, OSError):  # deleted meanwhile
                known = version, {}
            self._further[run_id] = known
        return known[1]

    def _baseline(self, run_id: str, ids: Sequence[str]) -> RunSummary | None:
        row = self._row(run_id) if run_id in ids else None
        return row.summary if row else None

    def _held(self, shown: Sequence[str], ids: Sequence[str], fitting: Sequence[str]) -> list[str]:
        """The shown runs that come first: several, to be seen together; one only where the list has it nowhere, so
        that going from run to run moves none."""
        there = [run_id for run_id in shown if run_id in ids]
        return there if len(shown) > 1 else [run_id for run_id in there if run_id not in fitting]

    def _archived_fit(self, asked: Window) -> int:
        """How many that are away fit the words."""
        if asked.archived or not asked.words:
            return 0
        rows = [row for run_id in [*self._archived] if (row := self._rows.get(run_id))]
        return sum(self._fits(row, asked.words, self._settings_of) for row in rows)

    def _fits(self, row: _Row, words: Sequence[str], settings: Callable[[str], Mapping[str, str]]) -> bool:
        return fits(row.summary, row.texts[spoken()], words, lambda: settings(row.summary.run_id))

    def _settings_of(self, run_id: str) -> Mapping[str, str]:
        """Read once, as long as the plan is the same."""
        stamp = _stamp(f"{self._store.runs_dir}/{run_id}/plan.json")
        known = self._compared.get(run_id)
        if known is None or known[0] != stamp:
            try:
                known = stamp, self._settings(self._opened(run_id))
            except RunError:  # deleted meanwhile
                known = stamp, {}
            self._compared[run_id] = known
        return known[1]

    def _keys(self, ids: Sequence[str]) -> set[str] | None:
        """What the settings of these runs, and of those that are away, are called; None where they are too many to be
        read for an answer."""
        every = {*ids, *self._archived}
        if len(every) > _READ_AT_ONCE and not all(run_id in self._compared for run_id in every):
            return None
        return {name for run_id in every for name in self._settings_of(run_id)}

    def _kept(self, ids: Sequence[str], archived: bool) -> Sequence[str]:
        """Without those that were archived, unless they are asked for. A look at whether a run has a label at all is
        taken once; those that are away may come back."""
        for run_id in ids:
            if run_id not in self._labelled:
                self._labelled.add(run_id)
                if os.path.exists(f"{self._store.runs_dir}/{run_id}/label.json"):
                    self._row(run_id)
        for run_id in [*self._archived]:
            self._row(run_id)
        away = self._archived
        return ids if archived or not away else [run_id for run_id in ids if run_id not in away]

    def _known(self, since: str) -> tuple[int, str]:
        """The revision and the order that a page has."""
        server, _, rest = since.partition("-")
        revision, _, order = rest.partition("-")
        return (int(revision), order) if server == self._server and revision.isdecimal() else (-1, "")

    def _fitting(self, ids: Sequence[str], asked: Window) -> tuple[list[str], int]:
        """The runs that fit the words, in the order asked for, and how many are not read yet."""
        unread = [run_id for run_id in ids if run_id not in self._rows]
        moving = [run_id for run_id, row in self._rows.copy().items() if row.version is None]
        for _ in self._read([*moving, *unread[:_READ_AT_ONCE]]):
            pass
        rows = self._rows.copy()
        new, put_off = 0, 0

        def settings(run_id: str) -> Mapping[str, str]:
            nonlocal new, put_off
            if run_id not in self._compared:
                new += 1
                if new > _READ_AT_ONCE:
                    put_off += 1
                    return {}
            return self._settings_of(run_id)

        found = [row.summary for one in ids if (row := rows.get(one)) and self._fits(row, asked.words, settings)]
        if ":" in asked.sort:
            values: dict[str, str] = {}
            for run in found:
                if run.run_id not in self._further:
                    new += 1
                if run.run_id in self._further or new <= _READ_AT_ONCE:
                    if asked.sort in (known := self._columns_of(run.run_id)):
                        values[run.run_id] = known[asked.sort]
                else:
                    put_off += 1
            found = ordered_by(found, values, asked.descending)
        elif asked.sort:
            found = ordered(found, asked.sort, asked.descending)
        return [run.run_id for run in found], max(len(unread) - _READ_AT_ONCE, 0) + put_off

    # -- reading ---------------------------------------------------------------------------------------------------

    def _read(self, ids: Sequence[str]) -> Iterator[_Row]:
        return (row for run_id in ids if (row := self._row(run_id)))

    def _row(self, run_id: str) -> _Row | None:
        """Read again only where its files have changed, or it may change without them."""
        version, settled = _version_of(f"{self._store.runs_dir}/{run_id}")
        known = self._rows.get(run_id)
        if known and known.version == version:
            return known
        found = self._found(run_id)
        with self._lock:
            if found is None:
                self._rows.pop(run_id, None)
                self._archived.discard(run_id)
                self._tagged.discard(run_id)
                return None
            summary, final = found
            (self._archived.add if summary.archived else self._archived.discard)(run_id)
            (self._tagged.add if summary.tags else self._tagged.discard)(run_id)
            same = known is not None and known.summary == summary
            self._revision += not same
            revision = known.revision if known and same else self._revision
            row = _Row(summary, _texts_of(summary), version if final and settled else None, revision)
            self._rows[run_id] = row
            return row

    def _found(self, run_id: str) -> tuple[RunSummary, bool] | None:
        try:
            return self._summarise(self._opened(run_id))
        except RunError:  # deleted meanwhile
            return None

    def _forget_all_but(self, ids: Sequence[str]) -> None:
        """Of runs that were deleted."""
        with self._lock:
            if self._rows_of is not ids:
                self._rows_of = ids
                gone = self._rows.keys() - set(ids)
                for run_id in gone:
                    del self._rows[run_id]
                    self._compared.pop(run_id, None)
                    self._further.pop(run_id, None)
                self._archived -= gone
                self._tagged -= gone
                self._labelled.intersection_update(ids)

    def _read_on(self, rows: bool) -> None:
        """Reads what is unread from a thread, which then ends: the places, and with `rows` the lines as well."""
        with self._lock:
            if self._reader and self._reader.is_alive():
                return
            self._reader = threading.Thread(target=self._read_all, args=(rows,), name="run list", daemon=True)
            self._reader.start()

    def _read_all(self, rows: bool) -> None:
        ids = self._index.newest_first()
        for run_id in ids if rows else ():
            if run_id not in self._rows:
                self._row(run_id)


def _texts_of(run: RunSummary) -> dict[str, str]:
    """The line is read once, for all who search it."""
    found = {}
    for tag in LANGUAGES:
        with speaking(tag):
            found[tag] = searched_text(run)
    return found


def _version_of(folder: str) -> tuple[Version, bool]:
    """Of the files that tell how a run goes, and whether they changed so long ago that they can't change unseen."""
    seen = tuple(_stamp(f"{folder}/{name}") for name in ("plan.json", "state.json", "label.json"))
    settled = time.time_ns() - max((one[0] for one in seen if one), default=0) > SETTLED_NS
    return seen, settled


def _stamp(path: str) -> Stamp:
    """When it was written, its size and its place on the disk; None where there is none."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino
