"""What a folder holds, for a person who chooses from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What is looked for → how its file's name ends; a folder is looked for where there is no ending. A training is in
# either: in its folder, or in its log.
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "script": (".py",),
    "config": (".json", ".hjson", ".yaml", ".yml"),
    "folder": (),
    "training": (".log", ".out", ".txt", ".err", "trainer_state.json"),
}
MOST_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of the `folders` and `files` in `folder`, as far as `MOST_SHOWN` and what was read of it go; `left_out`
    counts what is more, `more` says that there may be yet more, and `unnamed` counts names that no text box holds.
    `parent` is "" where going up leads outside the places that may be reached; `starts` are those."""

    folder: str
    parent: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    left_out: int = 0
    more: bool = False
    unnamed: int = 0
    starts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def is_typed(name: str) -> bool:
    """Whether one can type it into a text box: no line break, nothing invisible, nothing that is no text in UTF-8."""
    return name.isprintable()


def shown(folder: str, parent: str, folders: list[str], files: list[str], **more: Any) -> Listing:
    """In the order in which people look: folders first, hidden names last. `more` is the rest of a `Listing`."""
    named = [[name for name in names if is_typed(name)] for names in (folders, files)]
    unnamed = len(folders) + len(files) - sum(map(len, named))
    in_order = [sorted(names, key=lambda name: (name.startswith("."), name.casefold(), name)) for names in named]
    inner = tuple(in_order[0][:MOST_SHOWN])
    outer = tuple(in_order[1][: MOST_SHOWN - len(inner)])
    left_out = sum(map(len, in_order)) - len(inner) - len(outer)
    return Listing(folder, parent, inner, outer, left_out, unnamed=unnamed, **more)
