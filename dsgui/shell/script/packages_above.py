"""The code of one's own that lies in the folders above a script, where Python does not look for it: a script in
`project/examples` that imports `project`'s other folders was started from there, or with PYTHONPATH."""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dsgui.core.script.packages import PACKAGES
from dsgui.shell.files.folders import home, is_anyones

_HIGHEST = 4  # folders above the script's own


def packages_above(script: str, missing: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Of the `missing` modules, each with what is imported from it, those that a folder above the script's has, with
    the nearest such folder."""
    found: dict[str, str] = {}
    beside = Path(script).parent
    for folder in _folders(beside):
        for name, imported in missing.items():
            if not _is_hidden(name, beside) and _has(folder, name, imported):
                found.setdefault(name, str(folder))
    return found


def _folders(beside: Path) -> Iterator[Path]:
    own = home()
    for folder in beside.parents[:_HIGHEST]:
        if (own and folder in own.parents) or folder == Path(folder.anchor) or is_anyones(folder):
            return
        yield folder


def _is_hidden(name: str, beside: Path) -> bool:
    """Python misses `a.b` only where it found an `a`: beside the script, where it looks first, or installed."""
    top = name.partition(".")[0]
    return "." in name and (top in PACKAGES or os.path.isdir(beside / top) or os.path.isfile(beside / f"{top}.py"))


def _has(folder: Path, name: str, imported: Collection[str]) -> bool:
    """A folder without `__init__.py` counts only by a module that is imported from it: any may have the name of a
    package, as a clone's and what a run leaves have. Before another `a`, which Python found where it misses `a.b`, it
    never comes."""
    top = name.partition(".")[0]
    if ("." in name or top in PACKAGES) and not _is_module(folder, top):
        return False
    return any(_is_module(folder, one) for one in (name, *imported) if f"{one}.".startswith(f"{name}."))


def _is_module(folder: Path, name: str) -> bool:
    parts = name.split(".")
    place = folder.joinpath(*parts)
    there = os.path.isfile(place / "__init__.py") or os.path.isfile(f"{place}.py")
    return there and all(part.isidentifier() for part in parts)
