"""What a launch request names on this machine, as absolute paths that are there, or a sentence on what is wrong."""

import os
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from dsgui.core.errors import PlaceError, PlanError
from dsgui.core.launch.plan import LaunchRequest
from dsgui.core.script.script import ScriptFacts, script_facts
from dsgui.core.texts.saying import said, wrong
from dsgui.shell.files.regular_files import read_regular

_SCRIPT_BYTES = 2_000_000


def script_path(request: LaunchRequest) -> str:
    typed = request.script.strip()
    if not typed:
        raise PlanError(wrong("script.none"))
    path = _absolute(typed, request.working_directory)
    if path.is_dir():
        raise PlanError(wrong("script.folder", path=str(path)))
    if not path.is_file():
        raise PlanError(wrong("script.missing", path=str(path)))
    if not os.access(path, os.R_OK):
        raise PlanError(wrong("script.unreadable", path=str(path)))
    return str(path)


def python_path(request: LaunchRequest) -> str:
    found = shutil.which(request.target_python)
    if not found:
        raise PlanError(wrong("python.no_program", path=request.target_python))
    return str(Path(found).absolute())  # not resolved: a virtual environment's python is a link


def working_directory(request: LaunchRequest) -> str:
    """Absolute, or "" for the run's own folder."""
    typed = request.working_directory.strip()
    if not typed:
        return ""
    path = _absolute(typed, "")
    if not path.is_dir():
        raise PlanError(wrong("directory.missing", path=str(path)))
    if not os.access(path, os.X_OK):
        raise PlanError(wrong("directory.unreadable", path=str(path)))
    return str(path)


def _absolute(typed: str, base: str) -> Path:
    try:
        path = Path(typed).expanduser()
        path = path if path.is_absolute() or not base.strip() else Path(base.strip()).expanduser() / path
        path = path.absolute()
        if "\0" in typed:
            raise ValueError(said("files", "null"))
        path.exists()  # raises for a name that no file can have
    except (RuntimeError, ValueError, OSError) as error:
        raise PlanError(wrong("path.unusable", path=typed[:80], why=str(error))) from error
    return path


def allowed_script(path: str, check: Callable[[Path], object]) -> ScriptFacts:
    """The same of a script that a stored plan names: others may have written that, so `check` is asked first. It raises
    `PlaceError`, which is then all that is told."""
    try:
        check(Path(path))
    except PlaceError as error:
        return ScriptFacts(problem=str(error))
    return script_source(path)


def script_source(path: str) -> ScriptFacts:
    """What the script at `path` tells of itself; of a long or unreadable one, nothing."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError) as error:
        return ScriptFacts(problem=str(error))
    return _facts(path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=16)  # asked with every keystroke on the page
def _facts(path: str, changed_ns: int, size: int) -> ScriptFacts:
    try:
        return script_facts(read_regular(path, _SCRIPT_BYTES))
    except OSError as error:
        return ScriptFacts(problem=str(error))
