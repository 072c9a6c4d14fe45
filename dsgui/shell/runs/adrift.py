"""Runs whose folder is not where it was made: moved, or deleted, while they go on. Their processes tell: the command
line of a run's supervisor names the folder it was given, and it holds that folder open under whatever name it has now;
each process of the training carries the run's marker and that folder in its environment."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dsgui.core.launch.command import MARKER, RUN_FOLDER
from dsgui.core.launch.state import Identity
from dsgui.shell.processes.processes import environment_of, identify, is_alive, our_pids, supervised_folder

RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}\Z")


@dataclass(frozen=True, slots=True)
class Adrift:
    """One such run: the processes that supervise it, and where its folder is now, None where that is deleted or nobody
    tells."""

    run_id: str
    owners: tuple[Identity, ...] = ()  # the supervisor first, its guardians after it
    place: Path | None = None


def adrift(runs_dir: Path) -> dict[str, Adrift]:
    """The runs of this folder that have living processes here, by id. Looks at every process of ours."""
    found: dict[str, Adrift] = {}
    for pid in our_pids():
        if run_id := _run_in(supervised_folder(pid), runs_dir):
            identity = identify(pid)
            if identity and is_alive(identity):
                known = found.get(run_id, Adrift(run_id))
                place = known.place or _held_folder(pid)
                found[run_id] = replace(known, owners=(*known.owners, identity), place=place)
        elif run_id := _run_in(_folder_told(pid), runs_dir):
            found.setdefault(run_id, Adrift(run_id))
    return {run_id: replace(one, owners=_youngest_first(one.owners)) for run_id, one in found.items()}


def _youngest_first(owners: tuple[Identity, ...]) -> tuple[Identity, ...]:
    """A guardian is older than the supervisor that it starts."""
    return tuple(sorted(owners, key=lambda one: (one.start_time, one.pid), reverse=True))


def _run_in(folder: str, runs_dir: Path) -> str:
    """The id of the run that is in a folder of `runs_dir`, or ""."""
    parent, name = os.path.split(folder.rstrip("/"))
    return name if parent == str(runs_dir) and RUN_ID.match(name) else ""


def _folder_told(pid: int) -> str:
    given = environment_of(pid)
    return given.get(RUN_FOLDER, "") if MARKER in given else ""


def _held_folder(pid: int) -> Path | None:
    """The folder that a process has open, by its name of now; None where it is deleted, or none is open."""
    for descriptor in _descriptors(pid):
        try:
            seen, name = os.stat(descriptor), os.readlink(descriptor)
            if stat.S_ISDIR(seen.st_mode) and os.path.samestat(seen, os.stat(name)):  # not so of a deleted one
                return Path(name)
        except OSError:
            continue
    return None


def _descriptors(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    try:
        names = sorted(os.listdir(folder), key=int)
    except OSError:
        return
    for name in names:
        yield f"{folder}/{name}"
