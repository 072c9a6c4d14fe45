"""Finds the checkpoints a run has saved: the HF Trainer's `checkpoint-N` folders, DeepSpeed's own, and accelerate's.

Whose a checkpoint is, its files tell: the engine and the Trainer save the path of the config they were given, which is
the run's. Where they save none, it is when it was written.
"""

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dsgui.core.launch.checkpoint import (
    ARGUMENTS_OF_TRAINER,
    HF_FOLDER,
    LATEST,
    LATEST_UNIVERSAL,
    OF_ACCELERATE,
    STATE_FOLDER,
    STATE_OF_TRAINER,
    UNIVERSAL,
    ZERO_OF_UNIVERSAL,
    Checkpoint,
    SavedBy,
    checkpoint_from,
    is_state_file,
    lists_accelerate,
    lists_all_of_trainer,
    runs_named,
)
from dsgui.core.launch.plan import Plan
from dsgui.core.script.words import OUTPUT_OPTIONS, value_of
from dsgui.shell.files.regular_files import open_regular

_MOST_FOLDERS = 300
_DEPTH_WITHOUT_OPTION = 3  # output/translation/checkpoint-10, seen from the working directory
_MOST_TEXT_BYTES = 1024
_MOST_PICKLED_BYTES = 16 << 20  # the structure of what torch saved; the tensors are beside it


@dataclass(frozen=True, slots=True)
class Span:
    """When a run wrote, in unix seconds as its machine's clock told them; `end` None while it goes on."""

    begin: float
    end: float | None = None

    def __contains__(self, at: float) -> bool:
        return self.begin <= at and (self.end is None or at <= self.end)


def written_folders(plan: Plan, options: Sequence[str] = (), preset: Sequence[str] = ()) -> list[Path]:
    """Where a run's arguments say that it writes (`options` are its script's own, also for where it loads from: many go
    on saving there); without such an option the folders that its script has `preset`, and its working directory."""
    given = {value_of(plan.arguments, (option,)) for option in (*options, *OUTPUT_OPTIONS)} - {None, ""}
    return [Path(plan.working_directory, str(one)) for one in sorted(map(str, given)) or ["", *preset]]


def find_checkpoints(plan: Plan, span: Span, folders: Iterable[Path]) -> list[Checkpoint]:
    """The run's own in its `written_folders`, the latest step first."""
    found = {
        one.path: one for root in looked_into(plan, folders) for one in _in(root) if _is_of(one, plan.run_id, span)
    }
    own = (_with_all_ranks(one, plan.ranks) for one in found.values())
    return sorted(own, key=lambda one: (one.step, one.path), reverse=True)


def looked_into(plan: Plan, folders: Iterable[Path]) -> list[Path]:
    """These and those below them: of the run's own folder the deeper ones, too, where a script that was given none
    makes its own."""
    below = plan.working_directory == plan.run_directory
    return [
        root
        for folder in folders
        for root in _within(folder, _DEPTH_WITHOUT_OPTION if below and folder == Path(plan.run_directory) else 1)
    ]


def checkpoint_at(path: Path) -> Checkpoint | None:
    """The checkpoint in this very folder; None where it is none, or one without DeepSpeed's states."""
    names = _names(path)
    if HF_FOLDER.match(path.name):
        return _of_trainer(path, names)
    if lists_accelerate(names):
        return _with_states(path, path / OF_ACCELERATE, SavedBy.ACCELERATE)
    return _with_states(path, path, SavedBy.ENGINE)


def universal_of(one: Checkpoint) -> tuple[str, Checkpoint] | None:
    """The folder of the universal checkpoint that was made of this one, and that as what a script names to go on from
    it, on any number of ranks. DeepSpeed looks for it by `latest_universal` (engine.py, `load_checkpoint`)."""
    if one.saved_by is SavedBy.ACCELERATE:  # it names the states itself
        return None
    own = Path(one.path)
    tag = _text((own if one.saved_by is SavedBy.TRAINER else own.parent) / LATEST_UNIVERSAL).strip()
    states = own if one.saved_by is SavedBy.ENGINE else next(iter(sorted(filter(_has_states, _folders(own)))), own)
    folder = states.with_name(f"{states.name}{UNIVERSAL}")
    if tag != folder.name or not (folder / ZERO_OF_UNIVERSAL).is_dir():
        return None
    path = one.path if one.saved_by is SavedBy.TRAINER else str(folder)
    return str(folder), replace(one, path=path, shards=None, model_ranks=1, newest=True)


def has_universal(path: Path) -> bool:
    """Whether an engine that is told to load a universal checkpoint from this folder, or this one itself, finds it."""
    return bool(_text(path / LATEST_UNIVERSAL).strip()) or (path / ZERO_OF_UNIVERSAL).is_dir()


def saved_at(one: Checkpoint) -> float:
    """When it was written, unix seconds by the date of its files; 0 where it is gone."""
    return _modified(_telling(one))


def newest_in(folder: Path) -> Checkpoint | None:
    """The one that `latest` in this folder names, which an engine loads from it."""
    tag = _text(folder / LATEST).strip()
    states = folder / tag
    named = tag.isprintable() and tag != "" and states.parent == folder  # a power cut leaves a file of nulls
    return _with_states(states, states, SavedBy.ENGINE) if named else None


def _has_states(path: Path) -> bool:
    return STATE_FOLDER.match(path.name) is not None


# --- one checkpoint ---------------------------------------------------------------------------------------------------


def _of_trainer(path: Path, names: Sequence[str]) -> Checkpoint | None:
    states = next((one for one in _folders(path) if STATE_FOLDER.match(one.name)), None)
    found = _with_states(path, states, SavedBy.TRAINER) if states else None
    if found is None:
        return None
    whole = lists_all_of_trainer(names, found.shards) and _end(path / STATE_OF_TRAINER).rstrip().endswith(b"}")
    return replace(found, complete=found.complete and whole)


def _with_states(path: Path, states: Path, saved_by: SavedBy) -> Checkpoint | None:
    """The checkpoint at `path`, which has DeepSpeed's files in `states`."""
    names = _names(states)
    found = checkpoint_from(str(path), saved_by, names)
    if found is None:
        return None
    files = [states / name for name in names if is_state_file(name)]
    latest = states.parent / LATEST
    newest = _text(latest).strip() == states.name
    # `latest` is written after the last rank has saved: states that are newer than another's `latest` were cut off.
    saved = newest or max(map(_modified, files)) <= _modified(latest)
    return replace(found, complete=found.complete and saved and all(map(_is_whole, files)), newest=newest)


def _is_whole(path: Path) -> bool:
    """Of torch's zip files: its directory stands at the end."""
    try:
        with open_regular(path, follow=False) as file:
            head = file.read(2)
            return bool(head) and (head != b"PK" or zipfile.is_zipfile(file))
    except OSError:
        return False


def _with_all_ranks(one: Checkpoint, ranks: int) -> Checkpoint:
    """A run's own has the states of all its ranks, or some were not saved yet."""
    return replace(one, complete=one.complete and (one.shards or ranks) * one.model_ranks >= ranks)


# --- whose it is ------------------------------------------------------------------------------------------------------


def _is_of(one: Checkpoint, run_id: str, span: Span) -> bool:
    named = runs_named(_pickled(_telling(one)))
    return named == {run_id} or ((not named or run_id in named) and _modified(_telling(one)) in span)


def _telling(one: Checkpoint) -> Path:
    """The file that names the config."""
    folder = Path(one.path)
    if one.saved_by is SavedBy.TRAINER:
        return folder / ARGUMENTS_OF_TRAINER
    states = folder / OF_ACCELERATE if one.saved_by is SavedBy.ACCELERATE else folder
    return next((states / name for name in sorted(_names(states)) if is_state_file(name)), states)


def _pickled(path: Path) -> bytes:
    """What stands beside the tensors in a file of torch's. It is searched, never unpickled."""
    try:
        with open_regular(path, follow=False) as opened, zipfile.ZipFile(opened) as file:
            name = next((name for name in file.namelist() if name.endswith("/data.pkl")), None)
            if name is None:
                return b""
            with file.open(name) as pickled:
                return pickled.read(_MOST_PICKLED_BYTES)
    except (OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zipfile.BadZipFile):
        return b""


# --- the disk ---------------------------------------------------------------------------------------------------------


def _within(folder: Path, depth: int) -> Iterator[Path]:
    """The folder and those below it, down to `depth`; checkpoints are not entered."""
    yield folder
    if depth:
        for child in _folders(folder):
            if not HF_FOLDER.match(child.name) and not STATE_FOLDER.match(child.name):
                yield from _within(child, depth - 1)


def _in(folder: Path) -> Iterator[Checkpoint]:
    names = _names(folder)
    if lists_accelerate(names):
        one = checkpoint_at(folder)
        if one:
            yield one
        return
    for child in (one for one in _folders(folder) if not one.name.endswith(UNIVERSAL)):
        if (HF_FOLDER.match(child.name) or LATEST in names) and (one := checkpoint_at(child)):
            yield one


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found)[-_MOST_FOLDERS:]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):  # a null character
        return []


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except (OSError, ValueError):
        return 0.0


def _text(path: Path) -> str:
    """Of a short file; "" where it can't be read."""
    try:
        with open_regular(path, follow=False) as file:
            return file.read(_MOST_TEXT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _end(path: Path) -> bytes:
    try:
        with open_regular(path, follow=False) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _MOST_TEXT_BYTES, 0))
            return file.read(_MOST_TEXT_BYTES)
    except OSError:
        return b""
