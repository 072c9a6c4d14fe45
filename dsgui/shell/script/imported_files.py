"""The files beside a script that it imports as soon as it starts, read as far as they go; none of them is run."""

import ast
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from dsgui.core.script.imports import Absent, Import, finds_more, imports_of
from dsgui.core.script.trees import module_tree
from dsgui.shell.script.module_places import Found, absolute, file_of

_DEEPEST, _MOST_FILES = 5, 60
_MOST_BYTES = 1_000_000
_INSTALLED = ("site-packages", "dist-packages")
Find = Callable[[list[str]], Found | None]


@dataclass(frozen=True, slots=True)
class Followed:
    """`taken`: what all of them import, with the file's name ("" for the script's own); `missing`: those whose package
    is not there; `found`: where all their packages are."""

    found: Found
    taken: Sequence[tuple[str, Import]] = ()
    missing: Sequence[Absent] = ()


@dataclass(slots=True)
class _Walk:
    roots: tuple[str, ...]
    found: dict[str, Mapping[str, object] | None]
    seen: set[str] = field(default_factory=set)

    def beside(self, one: Import, place: str) -> Iterator[tuple[str, str]]:
        """The files of an import that are no installed package's, with their dotted names."""
        whole = absolute(one.module, place, self.found)
        parts = whole.split(".")
        for name in (*(".".join(parts[:count]) for count in range(1, len(parts) + 1)), f"{whole}.{one.name}"):
            path = file_of(name, self.found)
            if path.endswith(".py") and path not in self.seen and self._is_beside(path):
                self.seen.add(path)
                yield name, path

    def _is_beside(self, path: str) -> bool:
        return path.startswith(self.roots) and not any(f"{os.sep}{one}{os.sep}" in path for one in _INSTALLED)


def followed(script: Path, folder: str, imports: Sequence[Import], found: Found, find: Find) -> Followed:
    """`found` is where the modules of the script's `imports` are; `find` tells that of others."""
    roots = tuple(f"{os.path.realpath(one).rstrip(os.sep)}{os.sep}" for one in (script.parent, folder))
    walk = _Walk((*roots, f"{script.parent}{os.sep}", f"{folder}{os.sep}"), dict(found))
    taken, missing = [("", one) for one in imports], list[Absent]()
    level = [file for one in imports for file in walk.beside(one, "")]
    for _ in range(_DEEPEST):
        read = [(name, path, one) for name, path in level for one in _imports_in(path)]
        if any(one is None for _, _, one in read):  # modules are found elsewhere from here on
            return Followed(walk.found, taken)
        told = [(name, os.path.basename(path), one) for name, path, one in read if one is not None]
        more = sorted({one.top for _, _, one in told if one.top and one.top not in walk.found})
        walk.found |= (find(more) or {}) if more else {}
        taken += [(file, one) for _, file, one in told if one.top]
        missing += [
            Absent(one.top, file, one.line)
            for _, file, one in told
            if one.top and one.top in walk.found and walk.found[one.top] is None
        ]
        level = [file for name, _, one in told for file in walk.beside(one, name)]
        if not level or len(walk.seen) > _MOST_FILES:
            break
    return Followed(walk.found, taken, missing)


def _imports_in(path: str) -> tuple[Import | None, ...]:
    """None among them where it changes where modules are found."""
    try:
        seen = os.stat(path)
    except OSError:
        return ()
    return _read(path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=256)
def _read(path: str, changed_ns: int, size: int) -> tuple[Import | None, ...]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            tree = module_tree(file.read(_MOST_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return (*imports_of(tree.body), *((None,) if finds_more(ast.walk(tree)) else ()))
