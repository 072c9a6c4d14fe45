"""The reader's progress in the tutorials, one file in the folder of the runs that it speaks of."""

import threading
from collections.abc import Callable
from pathlib import Path

from dsgui.core.errors import RunError
from dsgui.core.learn.progress import Progress
from dsgui.core.texts.saying import wrong
from dsgui.shell.files.folders import make_private
from dsgui.shell.files.json_files import UNREADABLE, json_bytes, read_strictly, replace_file

NAME = "learn.json"


class ProgressFile:
    """`learn.json` in `folder`. One that can't be read counts as none, and is replaced by the next change."""

    def __init__(self, folder: Path) -> None:
        self._path, self._changing = folder / NAME, threading.Lock()

    def read(self) -> Progress:
        """Nothing done where there is no file yet."""
        try:
            return Progress.from_json(read_strictly(self._path))
        except UNREADABLE:
            return Progress()

    def change(self, change: Callable[[Progress], Progress]) -> None:
        """Raises `RunError` where it can't be written."""
        with self._changing:
            try:
                make_private(self._path.parent)
                replace_file(self._path, json_bytes(change(self.read()).to_json()))
            except OSError as error:
                why = str(error.strerror or error)
                raise RunError(wrong("learn.not_written", path=str(self._path), why=why)) from error
