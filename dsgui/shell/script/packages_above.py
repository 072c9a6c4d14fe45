"""The code of one's own that lies in the folders above a script, where Python does not look for it: a script in
`project/examples` that imports `project`'s other folders was started from there, or with PYTHONPATH."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_HIGHEST = 4  # folders above the script's own
_MOST_ENTRIES = 300  # of one folder: one with more is no project's


def packages_above(script: str) -> dict[str, str]:
    """The modules and packages by their names, each with the nearest folder above the script's that has it."""
    found: dict[str, str] = {}
    home = Path.home()
    for folder in Path(script).parent.parents[:_HIGHEST]:
        if folder in home.parents or folder == Path(folder.anchor):
            break
        for name in _modules(folder):
            found.setdefault(name, str(folder))
    return found


def _modules(folder: Path) -> Iterator[str]:
    for one in _entries(folder):
        if one.name.endswith(".py") and one.name[:-3].isidentifier():
            yield one.name[:-3]
        elif one.name.isidentifier() and _is_folder(one) and _has_code(Path(one.path)):
            yield one.name


def _has_code(folder: Path) -> bool:
    """In it, or in a folder of it: a package needs no `__init__.py`."""
    inside = _entries(folder)
    deeper = (more for one in inside if _is_folder(one) for more in _entries(Path(one.path)))
    return any(one.name.endswith(".py") for one in (*inside, *deeper))


def _is_folder(one: os.DirEntry[str]) -> bool:
    try:
        return one.is_dir() and not one.name.startswith(".")
    except OSError:
        return False


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, _MOST_ENTRIES + 1))
    except OSError:
        return []
    return found if len(found) <= _MOST_ENTRIES else []
