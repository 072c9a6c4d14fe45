"""The files beside a script that it imports as soon as it starts, read as far as they go; none of them is run."""

import ast
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from dsgui.core.script.added_folders import added_folders
from dsgui.core.script.imports import (
    EVERY,
    Absent,
    Import,
    finds_later,
    finds_more,
    imports_of,
    names_bound,
    names_computed,
    names_set,
)
from dsgui.core.script.trees import module_tree
from dsgui.shell.script.module_places import Found, absolute, file_of, is_installed

_DEEPEST, _MOST_FILES = 5, 60
_MOST_BYTES = 1_000_000
Find = Callable[[list[str]], Found | None]


@dataclass(frozen=True, slots=True)
class Followed:
    """`taken`: what all of them import, with the file's name ("" for the script's own); `missing`: those whose package
    is not there; `found`: where all their packages are. `finds_more`: one of the files may find others than are found
    without it, so that nothing is known, of the script's imports neither; `finding_later`: those that may find what is
    found nowhere without them; `patches`: names they may set on modules, `unseen`:
    where that is any name."""

    found: Found
    taken: Sequence[tuple[str, Import]] = ()
    missing: Sequence[Absent] = ()
    finds_more: bool = False
    finding_later: tuple[str, ...] = ()
    patches: frozenset[str] = frozenset()
    unseen: tuple[Absent, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    imports: tuple[Import, ...] = ()
    finds_more: bool = False
    finds_later: bool = False
    patches: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    unseen: tuple[Absent, ...] = ()


@dataclass(slots=True)
class _Walk:
    roots: tuple[str, ...]
    found: dict[str, Mapping[str, object] | None]
    seen: set[str] = field(default_factory=set)
    patches: set[str] = field(default_factory=set)
    unseen: list[Absent] = field(default_factory=list)
    finding_later: list[str] = field(default_factory=list)

    def beside(self, one: Import, place: str) -> Iterator[tuple[str, str]]:
        """The files of an import that are no installed package's, with their dotted names."""
        whole = absolute(one.module, place, self.found)
        parts = whole.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        for name in (*names, *([f"{whole}.{one.name}"] if self._may_be_a_file(whole, one.name) else [])):
            path = file_of(name, self.found)
            if path.endswith(".py") and path not in self.seen and self._is_beside(path):
                self.seen.add(path)
                yield name, path

    def _may_be_a_file(self, package: str, name: str) -> bool:
        """Python takes what the package gives itself by that name before it looks for a file."""
        path = file_of(package, self.found)
        if not path.endswith(".py") or not self._is_beside(path):
            return True
        return _in(path).bound.isdisjoint({name, EVERY})

    def _is_beside(self, path: str) -> bool:
        return path.startswith(self.roots) and not is_installed(path)


def followed(script: Path, folders: Sequence[str], imports: Sequence[Import], found: Found, find: Find) -> Followed:
    """`folders` are those with code of one's own, beside the script's; `found` is where the modules of the script's
    `imports` are; `find` tells that of others."""
    own = (str(script.parent), *folders)
    roots = tuple(f"{os.path.realpath(one).rstrip(os.sep)}{os.sep}" for one in own)
    walk = _Walk((*roots, *(f"{one.rstrip(os.sep)}{os.sep}" for one in own)), dict(found))
    taken, missing = [("", one) for one in imports], list[Absent]()
    level = [file for one in imports for file in walk.beside(one, "")]
    for _ in range(_DEEPEST):
        if any(_in(path).finds_more for _, path in level):
            return Followed(walk.found, finds_more=True)
        walk.finding_later += [path for _, path in level if _in(path).finds_later]
        walk.patches.update(*(_in(path).patches for _, path in level))
        walk.unseen += [one for _, path in level for one in _in(path).unseen]
        told = [(name, os.path.basename(path), one) for name, path in level for one in _in(path).imports]
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
    later, patches = tuple(walk.finding_later), frozenset(walk.patches)
    unseen = tuple(walk.unseen)
    return Followed(walk.found, taken, missing, finding_later=later, patches=patches, unseen=unseen)


def folders_added(file: str, folder: str) -> list[str]:
    """Those that a file spells out when it lets sys.path grow, if it runs in `folder`."""
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            nodes = list(ast.walk(module_tree(text.read(_MOST_BYTES))))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return added_folders(nodes, os.path.abspath(file), folder)


def _in(path: str) -> _File:
    try:
        seen = os.stat(path)
    except OSError:
        return _File()
    return _read(path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=256)
def _read(path: str, changed_ns: int, size: int) -> _File:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            tree = module_tree(file.read(_MOST_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return _File()
    nodes = list(ast.walk(tree))
    package = os.path.basename(os.path.dirname(path))
    return _File(
        tuple(imports_of(tree, nodes, as_script=False)),
        finds_more(nodes),
        finds_later(nodes),
        frozenset(names_set(nodes)),
        frozenset(names_bound(tree.body, package)),
        tuple(Absent(ast.unparse(call), os.path.basename(path), call.lineno) for call in names_computed(nodes)),
    )
