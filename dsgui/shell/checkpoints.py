"""Finds the checkpoints a run has saved: the HF Trainer's `checkpoint-N` folders, and DeepSpeed's own."""

import os
from collections.abc import Iterator
from pathlib import Path

from dsgui.core.checkpoint import HF_FOLDER, STATE_FOLDER, Checkpoint, checkpoint_from
from dsgui.core.plan import Plan
from dsgui.core.words import OUTPUT_OPTIONS, value_of

_MOST_FOLDERS = 300
_DEPTH_WITHOUT_OPTION = 3  # output/translation/checkpoint-10, seen from the working directory


def find_checkpoints(plan: Plan, since: float) -> list[Checkpoint]:
    """Those saved after `since` (unix seconds), the latest step first. Looks where the arguments say that the run
    writes; without such an option in the run's own folder, and nowhere else."""
    given = value_of(plan.arguments, OUTPUT_OPTIONS)
    if given:
        roots = _within(Path(plan.working_directory, given), 1)
    elif plan.working_directory == plan.run_directory:
        roots = _within(Path(plan.run_directory), _DEPTH_WITHOUT_OPTION)
    else:
        roots = _within(Path(plan.working_directory), 1)
    found = {one.path: one for root in roots for one in _in(root) if _modified(one.path) >= since}
    return sorted(found.values(), key=lambda one: (one.step, one.path), reverse=True)


def checkpoint_at(path: Path) -> Checkpoint | None:
    """The HF Trainer's checkpoint in this very folder; None where it is none, or one without DeepSpeed's states."""
    match = HF_FOLDER.match(path.name)
    if not match:
        return None
    names = [name for states in _folders(path) if STATE_FOLDER.match(states.name) for name in _names(states)]
    return checkpoint_from(str(path), int(match[1]), True, names)


def _within(folder: Path, depth: int) -> Iterator[Path]:
    """The folder and those below it, down to `depth`; checkpoints are not entered."""
    yield folder
    if depth:
        for child in _folders(folder):
            if not HF_FOLDER.match(child.name) and not STATE_FOLDER.match(child.name):
                yield from _within(child, depth - 1)


def _in(folder: Path) -> Iterator[Checkpoint]:
    own = (folder / "latest").is_file()
    for child in _folders(folder):
        if HF_FOLDER.match(child.name):
            one = checkpoint_at(child)
        elif own and (match := STATE_FOLDER.match(child.name)):
            one = checkpoint_from(str(child), int(match[1]), False, _names(child))
        else:
            continue
        if one:
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
    except OSError:
        return []


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
