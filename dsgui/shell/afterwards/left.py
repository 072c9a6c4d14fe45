"""Finds what a training left: its checkpoints, adapters and models, with their sizes; and what is free for more."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from dsgui.core.afterwards.jobs import Contents, Job, Room
from dsgui.core.afterwards.things import Kind, Thing, Verb
from dsgui.core.launch.checkpoint import OF_ACCELERATE, STATE_FOLDER, Checkpoint, SavedBy
from dsgui.shell.afterwards.contents import base_of, contents, model_contents
from dsgui.shell.afterwards.weights_worker import part_of
from dsgui.shell.machine.machine_reader import read_disk
from dsgui.shell.metrics.proc import read_memory

_MOST_FOLDERS, _MOST_FILES = 300, 100_000
_WEIGHTS = (".safetensors", ".bin")
# As transformers and peft name what they load, the one that they prefer first.
_OF_ADAPTERS = (("adapter_model*.safetensors",), ("adapter_model*.bin",))
_OF_MODELS = (("model.safetensors", "model-*.safetensors"), ("pytorch_model.bin", "pytorch_model-*.bin"))


def left_in(folders: Iterable[Path], checkpoints: Iterable[Checkpoint], since: float) -> list[Thing]:
    """The checkpoints, and the adapters and models beside them and in `folders` that were written after `since` (unix
    seconds). The latest step first."""
    found = {one.path: _of_checkpoint(one) for one in checkpoints}
    near = {*folders, *(Path(one.folder) for one in found.values())}
    for path in sorted({below for folder in near for below in (folder, *_below(folder))}):
        if str(path) not in found and (one := _of_folder(path, since)):
            found[one.path] = one
    return sorted(found.values(), key=lambda one: (one.kind is not Kind.CHECKPOINT, -one.step, one.path))


def _of_checkpoint(one: Checkpoint) -> Thing:
    folder = Path(one.path)
    return Thing(
        one.path,
        Kind.CHECKPOINT,
        size_below(folder),
        one.step,
        str(_states(one)),
        _beside(one),
        base_of(folder),
        one,
        _is_file(folder / "adapter_config.json"),
        bool(weights_bytes(folder)),
    )


def _beside(one: Checkpoint) -> str:
    """The Trainer saves the config with each checkpoint; who calls the engine, where the checkpoints are, if at all."""
    near = [one.path] if one.saved_by is SavedBy.TRAINER else [one.path, one.folder]
    return next((path for path in near if _is_file(Path(path, "config.json"))), "")


def _states(one: Checkpoint) -> Path:
    folder = Path(one.path)
    if one.saved_by is SavedBy.ACCELERATE:
        return folder / OF_ACCELERATE
    inside = (path for path in _below(folder) if STATE_FOLDER.match(path.name))
    return next(inside, folder) if one.saved_by is SavedBy.TRAINER else folder


def _of_folder(path: Path, since: float) -> Thing | None:
    """A model of transformers or an adapter of peft; None for anything else."""
    adapter = _is_file(path / "adapter_config.json")
    model = not adapter and _is_file(path / "config.json")
    if not (adapter or model) or not any(_newer(one, since) for one in _weights(path)):
        return None
    kind = Kind.ADAPTER if adapter else Kind.MODEL
    return Thing(
        str(path),
        kind,
        size_below(path, deep=False),
        base=base_of(path),
        adapter=adapter,
        loads=bool(weights_bytes(path)),
    )


def unfinished(to: str) -> Thing | None:
    """What a job that makes `to` has made so far, or has left; None where there is nothing."""
    try:
        path = Path(part_of(to))
        there = path.is_absolute() and path.is_dir() and not path.is_symlink()
    except (OSError, ValueError):
        return None
    return Thing(str(path), Kind.UNFINISHED, size_below(path)) if there else None


def room_for(to: Path) -> Room:
    """What is free for `to` on the disk that will hold it, and of this host's memory. What an earlier try left is
    written over."""
    disk, before = read_disk(to.parent), unfinished(str(to))
    free = None if disk is None else disk.free_bytes + (before.size_bytes if before else 0)
    return replace(memory_free(), disk_bytes=free)


def memory_free() -> Room:
    """What is free of this host's memory."""
    return Room(None, read_memory().available_bytes)


def held_by(job: Job) -> Contents:
    """What the job reads: the checkpoint, or the base model where it is a folder."""
    if job.verb is Verb.MERGE:
        return model_contents(Path(job.base or job.thing.base))
    return contents(job.thing)


def size_below(folder: Path, *, deep: bool = True) -> int:
    """Of all its files, links not followed; of the folder alone unless `deep`."""
    size = count = 0
    for place, inner, files in os.walk(folder, followlinks=False):
        if not deep:
            inner.clear()
        for name in files:
            count += 1
            try:
                size += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
        if count > _MOST_FILES:
            break
    return size


def weights_bytes(folder: Path) -> int:
    """Of the weights that transformers or peft would load from this folder; 0 where there are none."""
    adapter = _is_file(folder / "adapter_config.json")
    if not adapter and not _is_file(folder / "config.json", links=True):
        return 0
    sizes = (_bytes_of(folder, patterns) for patterns in (_OF_ADAPTERS if adapter else _OF_MODELS))
    return next(filter(None, sizes), 0)


def _bytes_of(folder: Path, patterns: Iterable[str]) -> int:
    """A hub's cache holds links."""
    try:
        return sum(path.stat().st_size for pattern in patterns for path in folder.glob(pattern))
    except OSError:
        return 0


def _weights(folder: Path) -> Iterator[Path]:
    return (one for one in _entries(folder) if one.name.endswith(_WEIGHTS) and not one.is_symlink())


def _below(folder: Path) -> list[Path]:
    return [one for one in _entries(folder) if one.is_dir() and not one.is_symlink() and one.name[0] != "."]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[-_MOST_FOLDERS:]
    except (OSError, ValueError):
        return []


def _is_file(path: Path, *, links: bool = False) -> bool:
    try:
        return path.is_file() and (links or not path.is_symlink())
    except (OSError, ValueError):
        return False


def _newer(path: Path, since: float) -> bool:
    try:
        return path.lstat().st_mtime >= since
    except OSError:
        return False
