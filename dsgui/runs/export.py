"""All points and telemetry of a run for other programs: as CSV, as TensorBoard's event files."""

import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from io import RawIOBase
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.event_writing import event_file_begin, event_records
from dsgui.core.metrics.exporting import CSV_HEADER, Block, csv_rows
from dsgui.core.texts.saying import wrong
from dsgui.runs.runs import Runs
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.runs.curve_reader import point_blocks, sample_blocks, sample_series
from dsgui.shell.runs.store import RunDirectory, Store

Blocks = Callable[[RunDirectory], Iterator[Block]]
_PARTS: dict[str, Blocks] = {"training": point_blocks, "telemetry": sample_blocks}
_COMPRESSION = 1  # the fastest


class Exports:
    """The runs of one store, for other programs. Everything is made piece by piece, in memory that does not depend on
    the run's length. Every method raises `RunError` when there is no such run."""

    def __init__(self, store: Store, runs: Runs) -> None:
        self._store, self._runs = store, runs

    def csv(self, run_id: str, ids: Sequence[str] = ()) -> Iterator[bytes]:
        """One row a value, in the order in which they were logged, then telemetry; of all curves, or of those with
        these ids (as the page knows them)."""
        directory = self._store.open(run_id)
        return self._csv(directory, _series_of(directory, ids) if ids else None)

    def tensorboard(self, run_id: str) -> Iterator[bytes]:
        """A zip file of a folder with two below it, "training" and "telemetry", an event file in each."""
        return self._zip(self._store.open(run_id))

    def write_csv(self, run_id: str, path: Path) -> None:
        """Raises `RunError`, also where the file is there already or can't be written."""
        pieces = self.csv(run_id)
        _write(path, pieces)

    def write_tensorboard(self, run_id: str, folder: Path) -> None:
        """The same two folders below `folder`, which is made. Raises `RunError`."""
        directory = self._store.open(run_id)
        for name, blocks in _PARTS.items():
            _write(folder / name / _event_file_name(directory), self._events(directory, blocks))

    def _csv(self, directory: RunDirectory, wanted: Collection[Series] | None) -> Iterator[bytes]:
        yield CSV_HEADER.encode()
        for blocks in _PARTS.values():
            for block in blocks(directory):
                part = block if wanted is None else block.of(wanted)
                yield csv_rows(self._masked(part)).encode("utf-8", "replace")

    def _zip(self, directory: RunDirectory) -> Iterator[bytes]:
        out = _Taken()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as file:
            for name, blocks in _PARTS.items():
                entry = zipfile.ZipInfo(f"{directory.run_id}/{name}/{_event_file_name(directory)}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                with file.open(entry, "w", force_zip64=True) as inside:
                    for piece in self._events(directory, blocks):
                        inside.write(piece)
                        yield out.take()
        yield out.take()

    def _events(self, directory: RunDirectory, blocks: Blocks) -> Iterator[bytes]:
        began = _began(directory)
        yield event_file_begin(began)
        for block in blocks(directory):
            yield from event_records(self._masked(block), began)

    def _masked(self, block: Block) -> Block:
        """Names come from what scripts print and write."""
        hide = self._runs.masked
        return replace(block, series=[replace(one, name=hide(one.name), node=hide(one.node)) for one in block.series])


def _series_of(directory: RunDirectory, ids: Sequence[str]) -> set[Series]:
    """The curves with these ids: a series' number, or a table's and a column's. Ids that are none are left out."""
    named = {str(number): series for number, series in enumerate(directory.read_series())}
    for number, table in enumerate(directory.sample_tables()):
        for place in range(1, len(table.columns)):
            named[f"{number}.{place}"] = sample_series(table, place)
    return {named[one] for one in ids if one in named}


class _Taken(RawIOBase):
    """A file whose content is taken away as it is written; it can't be gone back in."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self._pieces.append(bytes(data))  # type: ignore[call-overload]
        return len(self._pieces[-1])

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _began(directory: RunDirectory) -> float:
    """When, unix seconds; 0 where the state does not tell."""
    status = directory.read_status()
    return (status.started_at if status else None) or 0.0


def _event_file_name(directory: RunDirectory) -> str:
    return f"events.out.tfevents.{int(_began(directory)):010d}.{directory.run_id}.dsgui"


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            try:
                for piece in pieces:
                    file.write(piece)
            except BaseException:  # half a file is taken for a whole one
                with suppress(OSError):
                    path.unlink()
                raise
    except FileExistsError as error:
        raise RunError(wrong("file.exists", path=str(path))) from error
    except OSError as error:
        raise RunError(wrong("file.not_written", path=str(path), why=os_reason(error))) from error
