"""Files and folders that a script's arguments name to be read; whether they are there is for the shell to see."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsgui.core.script.words import MODEL_OPTIONS
from dsgui.core.texts.saying import Said

_DATA = r"(?:train|training|valid|validation|val|eval|evaluation|test|dev|data|dataset|input|corpus|vocab)"
_FILE = re.compile(rf"{_DATA}_files?")
# It may be a name on a hub, or a folder that the script makes.
_PATH = re.compile(rf"(?:{_DATA}_)?{_DATA}_(?:paths?|fn|filename)")
_OF_DATA = (".json", ".jsonl", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".bin", ".npy")
_MODELS = {option.removeprefix("--") for option in MODEL_OPTIONS} | {"tokenizer_name", "config_name"}
_A_PLACE = ("/", "./", "../", "~")  # no name on a hub begins so
_SEVERAL = set("*?[]{}, ")  # a pattern, or a list: who expands it is not known


@dataclass(frozen=True, slots=True)
class NamedFile:
    """`option` that names it, or what it is; `path` as given, relative to the working directory."""

    option: str | Said
    path: str


def named_files(given: Mapping[str, tuple[str, ...]]) -> tuple[NamedFile, ...]:
    """Of options with their words, those that name something to read on a disk."""
    return tuple(file for name, words in given.items() for word in words for file in _named(name, word))


def _named(name: str, word: str) -> Iterator[NamedFile]:
    if "://" in word or not word or _SEVERAL & set(word):
        return
    if (
        _FILE.fullmatch(name)
        or (_PATH.fullmatch(name) and word.startswith(_A_PLACE) and word.endswith(_OF_DATA))
        or (name in _MODELS and word.startswith(_A_PLACE))
        or (name == "resume_from_checkpoint" and "/" in word)
    ):
        yield NamedFile(f"--{name}", word)
