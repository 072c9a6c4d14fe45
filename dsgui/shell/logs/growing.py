"""The files that only grow: lines, records of a fixed length, and a run's output with its middle left out."""

import errno
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dsgui.core.texts.saying import said
from dsgui.shell.files.json_files import FILE_MODE
from dsgui.shell.files.regular_files import kind_of
from dsgui.shell.runs.store import RunDirectory, size_of

_LEFT_OUT = "\n--- dsgui left out {bytes:,} bytes here; the beginning and the end of the output are kept ---\n"


class Appender:
    """An append-only file. Each `write` is one system call: visible at once, kept after a `kill -9`."""

    def __init__(self, path: Path) -> None:
        self._descriptor = _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, data: bytes) -> None:
        """Raises OSError, also when only a part fitted on the disk."""
        while data:
            data = data[os.write(self._descriptor, data) :]

    def write_json(self, value: Mapping[str, Any]) -> None:
        """One value, one line. Raises OSError; of a line that a full disk cuts short nothing stays, for the next one
        would be read as its end."""
        size = self.size
        try:
            self.write(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
        except OSError:
            self.go_back(size)
            raise

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def go_back(self, size: int) -> None:
        """What was written after that goes. Raises OSError."""
        os.ftruncate(self._descriptor, min(size, self.size))

    def close(self) -> None:
        os.close(self._descriptor)


class RecordFile:
    """An append-only file of records of `width` bytes. The record that a full disk cuts short is taken back, so that
    those after it are still where a reader looks for them; whole ones, which somebody may have read by then, stay."""

    def __init__(self, path: Path, width: int) -> None:
        self._descriptor = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._width, self._end = width, os.fstat(self._descriptor).st_size
        self._cut()

    def write(self, records: bytes) -> None:
        """Whole records, in one system call. Raises OSError when they don't all fit on the disk: the first may have."""
        written = os.write(self._descriptor, records)
        self._end += written
        if written < len(records):
            self._cut()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @property
    def size(self) -> int:
        return self._end

    def go_back(self, size: int) -> bytes:
        """What was written after that goes, and is returned. Raises OSError."""
        size = min(size, self._end)
        gone = os.pread(self._descriptor, self._end - size, size)
        os.ftruncate(self._descriptor, size)
        self._end = size
        return gone

    def close(self) -> None:
        os.close(self._descriptor)

    def _cut(self) -> None:
        """Takes back the part of a record at the end."""
        if part := self._end % self._width:
            self._end -= part
            os.ftruncate(self._descriptor, self._end)


def _open(path: Path, flags: int) -> int:
    """Raises OSError, also for what is there and is not a regular file: a pipe is neither waited for nor filled."""
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, FILE_MODE)
    if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(said("troubles", "no_file", file=str(path), kind=kind_of(mode)))
    return descriptor


class OutputFile:
    """A run's output: kept whole up to `head_bytes`; of a longer one, that and one to two `piece_bytes` of its end."""

    def __init__(self, directory: RunDirectory, head_bytes: int = 32 << 20, piece_bytes: int = 16 << 20) -> None:
        self._directory, self._head_bytes, self._piece_bytes = directory, head_bytes, piece_bytes
        self._file, self._begins, self._room = Appender(directory.output_file), 0, head_bytes
        self._written = 0

    def write(self, data: bytes) -> None:
        """Raises OSError, also when only a part fitted on the disk."""
        while data:
            if self._written - self._begins >= self._room:
                self._begin_piece()
            part = data[: self._room - (self._written - self._begins)]
            self._file.write(part)
            self._written += len(part)
            data = data[len(part) :]

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Where it stands, for `go_back`: where the last piece begins, its room and its size, and how much was
        written in all."""
        return self._begins, self._room, self._file.size, self._written

    def go_back(self, place: tuple[int, int, int, int]) -> None:
        """What was written after that goes. Raises OSError."""
        begins, room, size, written = place
        pieces = dict(self._directory.output_pieces)
        if begins and begins in pieces:  # they may have been joined halfway
            os.truncate(pieces[0], min(self._head_bytes, size_of(pieces[0])))
        elif begins:  # they were joined, so the last is gone
            begins, size = 0, size_of(pieces[0])
        for later in pieces:
            if later > begins:
                pieces[later].unlink(missing_ok=True)
        self._file.close()
        self._file, self._begins, self._room, self._written = Appender(pieces[begins]), begins, room, written
        self._file.go_back(size)

    def close(self) -> None:
        """Joins what was kept. Raises OSError."""
        self._file.close()
        (_, head), *tails = self._directory.output_pieces
        if not tails:
            return
        whole = Appender(head)
        try:
            if left_out := tails[0][0] - size_of(head):
                whole.write(_LEFT_OUT.format(bytes=left_out).encode())
            for _, path in tails:
                whole.write(path.read_bytes())
            for _, path in reversed(tails):  # the last first: while it is there, none is missing
                path.unlink()
        finally:
            whole.close()

    def _begin_piece(self) -> None:
        piece = Appender(self._directory.output_tail(self._written))
        self._file.close()
        self._file, self._begins, self._room = piece, self._written, self._piece_bytes
        for _, path in self._directory.output_pieces[1:-2]:
            path.unlink(missing_ok=True)
