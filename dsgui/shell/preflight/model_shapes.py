"""The shape of a model that somebody named: of a folder, of a hub id in the local cache, or guessed from a size: one
that was typed, or that the name of a hub id tells."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.errors import PlaceError
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import is_size
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.named_size import planned_size
from dsgui.core.memory.question import Model
from dsgui.core.texts.saying import said
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.files.regular_files import read_whole
from dsgui.shell.preflight.model_files import folder_of

_CONFIG = "config.json"
_CHECKPOINT = re.compile(r"(?:checkpoint|global_step)[-_]?\d", re.ASCII | re.IGNORECASE)
_MOST_BYTES = 4 << 20
_LONGEST = 1000


class ModelShapes:
    """`check` raises `PlaceError` for what may not be read. A config.json is read again when it changes."""

    def __init__(self, check: Callable[[Path], object] = lambda path: None) -> None:
        self._check = check
        self._kept: dict[tuple[str, int, int], Mapping[str, Any]] = {}

    def read(
        self, named: str, working_directory: str = "", environment: Mapping[str, str] | None = None
    ) -> Model | CannotSay:
        """`named` is a folder (relative to `working_directory`), a hub id, or a size such as 7B."""
        named = named.strip()[:_LONGEST]
        if not named:
            return CannotSay(said("memory_cannot", "no_model"))
        try:
            folder = folder_of(_folder_named(named), working_directory, environment or os.environ, self._check)
            if folder is None:
                if is_size(named):
                    return model_of_size(named)
                return _cannot("not_found", named) if self._is_path(named, working_directory) else _by_name(named)
            if not (folder / _CONFIG).is_file():
                return _cannot("no_config", named)
            self._check(folder / _CONFIG)
            return Model(named, self._config(folder / _CONFIG))
        except PlaceError:
            return _cannot("outside", named)
        except (OSError, ValueError, RuntimeError, RecursionError) as error:
            problem = os_reason(error) if isinstance(error, OSError) else str(error)[:200]
            return CannotSay(said("memory_cannot", "bad_config", model=named, problem=problem))

    def _is_path(self, named: str, working_directory: str) -> bool:
        """Whether it means a folder that isn't there, though it might be a hub id."""
        first, _, rest = named.partition("/")
        if _CHECKPOINT.match(named.rpartition("/")[2]):
            return True
        within = Path(working_directory, first).expanduser()
        try:
            self._check(within)
            return bool(rest) and within.is_dir()
        except PlaceError:  # nothing is told of it
            return False

    def _config(self, path: Path) -> Mapping[str, Any]:
        told = path.stat()
        key = (str(path), told.st_mtime_ns, told.st_size)
        if key not in self._kept:
            config = json.loads(read_whole(path, _MOST_BYTES))
            if not isinstance(config, dict):
                raise ValueError(said("files", "no_object"))
            self._kept = {key: config}  # of one model at a time
        return self._kept[key]


def _folder_named(named: str) -> str:
    """Somebody may give the file itself."""
    return named.removesuffix(f"/{_CONFIG}") if named.endswith(f"/{_CONFIG}") else named


def _by_name(named: str) -> Model | CannotSay:
    """Of a hub id that isn't here: a shape of the size that its name tells."""
    size = planned_size(named)
    if size is None or isinstance(size, CannotSay):
        return size or _cannot("not_found", named)
    guessed = model_of_size(size)
    return guessed if isinstance(guessed, CannotSay) else replace(guessed, name=named, planned_as=size)


def _cannot(code: str, named: str) -> CannotSay:
    return CannotSay(said("memory_cannot", code, model=named))
